"""Targets: their values by formula, what is refused, and the dependence that a pattern allows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import brute_force
import numpy as np
import pytest

from constructions.cells import cells
from constructions.dependence import dependence_violation, reach_matrix
from constructions.targets import TARGETS, Target, TargetError, corner_values, parse_target
from theory import families

if TYPE_CHECKING:
    from pathlib import Path

X = np.array([[0.5, 0.0, 0.75], [0.25, 0.5, 0.0]])
COLUMNS = X.T.tolist()


def _attention(k: int) -> list[float]:
    scores = [math.exp(sum(a * b for a, b in zip(column, COLUMNS[k], strict=True))) for column in COLUMNS]
    return [sum(s * column[i] for s, column in zip(scores, COLUMNS, strict=True)) / sum(scores) for i in range(2)]


EXPECTED = {
    "identity": COLUMNS,
    "reverse": COLUMNS[::-1],
    "shift": [COLUMNS[2], COLUMNS[0], COLUMNS[1]],
    "sort": [[0.0, 0.0], [0.5, 0.25], [0.75, 0.5]],
    "mean": [[1.25 / 3, 0.25]] * 3,
    "softmax-attention": [_attention(k) for k in range(3)],
    "causal-mean": [[0.5, 0.25], [0.25, 0.375], [1.25 / 3, 0.25]],
    "polynomial": [
        [x - 2 * x**2 + sum(column[i] ** 3 for column in COLUMNS) / 3 for i, x in enumerate(column)]
        for column in COLUMNS
    ],
}


def test_every_named_target_has_its_formula_here() -> None:
    assert list(EXPECTED) == list(TARGETS)


@pytest.mark.parametrize("name", EXPECTED)
def test_named_target(name: str) -> None:
    target = parse_target(name)
    assert pytest.approx(np.array(EXPECTED[name])) == target(X).T
    batch = np.stack([X, X / 2, X])
    assert target(batch).shape == batch.shape
    assert np.array_equal(target(batch)[1], target(X / 2))
    assert target.meaning


def test_a_target_cannot_change_its_input() -> None:
    def spoil(x: np.ndarray) -> np.ndarray:
        x[:] = 0
        return x

    before = X.copy()
    Target("spoil", spoil, "")(X)
    assert np.array_equal(X, before)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x[..., :1], r"returned shape \(2, 1\) for an input of \(2, 3\)"),
        (lambda x: x.sum(), r"returned shape \(\)"),
        (lambda x: x + 1j, "returned complex128, not real numbers"),
        (lambda x: x.astype(str), "returned <U32, not real numbers"),
        (lambda x: np.where(x == 0.75, np.nan, x), r"returned nan at \[\[0.5, 0.0, 0.75\]"),
        (lambda x: np.where(x > 0, np.inf, x), "returned inf"),
        (lambda x: x @ x, "failed: ValueError"),
        (lambda: 0, "failed: TypeError"),
    ],
)
def test_what_is_no_function_on_arrays_is_refused(function: object, message: str) -> None:
    with pytest.raises(TargetError, match=f"target mine {message}") as caught:
        Target("mine", function, "")(X)
    assert "\n" not in str(caught.value)


def test_integers_and_booleans_are_real_numbers() -> None:
    assert Target("floor", lambda x: x > 0.4, "")(X).dtype == np.float64


def test_user_module_from_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_target_module.py").write_text(
        "class Inner:\n    @staticmethod\n    def double(x):\n        return 2 * x\nvalue = 3\n"
    )
    (tmp_path / "broken_target_module.py").write_text("raise RuntimeError('two\\nlines')\n")
    monkeypatch.chdir(tmp_path)
    target = parse_target("my_target_module:Inner.double")
    assert np.array_equal(target(X), 2 * X)
    assert target.name == "my_target_module:Inner.double"
    for spec, message in [
        ("my_target_module:value", "is a int, not a callable"),
        ("my_target_module:absent", "has no 'absent'"),
        ("no_such_target_module:f", "no module is called 'no_such_target_module'"),
        ("broken_target_module:f", "RuntimeError: two lines"),
        ("reverze", "no target is called 'reverze': identity, reverse"),
        ("my_target_module:", "is not of the form module:callable"),
    ]:
        with pytest.raises(TargetError, match=message) as caught:
            parse_target(spec)
        assert "\n" not in str(caught.value)


def test_corner_values_are_f_at_the_lower_corner() -> None:
    grids = cells(1, 2, 4)
    assert np.array_equal(corner_values(TARGETS["reverse"], grids, 4), grids[..., ::-1] / 4)


def test_corner_values_by_reach_are_equal_on_cells_that_agree() -> None:
    rounding = Target("rounding", lambda x: np.cumsum(x[..., ::-1], axis=-1)[..., ::-1] * 0 + x, "")
    grids, reach = cells(1, 3, 3), np.tri(3, dtype=bool)
    values = corner_values(rounding, grids, 3, reach)
    assert np.array_equal(values, corner_values(rounding, grids, 3))
    causal = corner_values(TARGETS["causal-mean"], grids, 3, reach)
    for k in range(3):
        for prefix in np.unique(grids[:, 0, : k + 1], axis=0):
            same = (grids[:, 0, : k + 1] == prefix).all(axis=1)
            assert len(np.unique(causal[same, :, k])) == 1


@pytest.mark.parametrize(
    "pattern",
    [families.causal(4), families.ring(4), families.documents([2, 1, 2]), families.fixed(5, 2)],
    ids=str,
)
def test_reach_matrix(pattern: object) -> None:
    found = brute_force.reach(pattern.to_lists())
    assert [set(np.flatnonzero(row)) for row in reach_matrix(pattern)] == found


def test_dependence_witness_is_a_witness() -> None:
    reach = reach_matrix(families.causal(3))
    for name in ("identity", "causal-mean"):
        assert dependence_violation(TARGETS[name], reach, 2, 2) is None
    for name in ("reverse", "shift", "sort", "mean", "softmax-attention", "polynomial"):
        witness = dependence_violation(TARGETS[name], reach, 2, 2)
        assert witness is not None
        k, agree = witness.token, reach[witness.token]
        assert np.array_equal(witness.first[:, agree], witness.second[:, agree])
        assert (witness.first != witness.second).any(axis=0).sum() == 1
        left, right = (TARGETS[name](grid / 2)[:, k] for grid in (witness.first, witness.second))
        assert np.array_equal(np.stack(witness.outputs), np.stack([left, right]))
        assert not np.allclose(left, right)
        assert witness.why.startswith(f"output {k} depends on token ")


def test_everything_is_allowed_where_everything_is_reached() -> None:
    reach = reach_matrix(families.ring(3))
    assert all(dependence_violation(target, reach, 1, 2) is None for target in TARGETS.values())


def test_sampled_dependence() -> None:
    reach = reach_matrix(families.causal(24))
    assert dependence_violation(TARGETS["causal-mean"], reach, 1, 3, samples=64, seed=1) is None
    witness = dependence_violation(TARGETS["mean"], reach, 1, 3, samples=64, seed=1)
    assert witness is not None
    first = dependence_violation(TARGETS["mean"], reach, 1, 3, samples=64, seed=1)
    assert np.array_equal(first.first, witness.first)


def test_exhaustive_dependence_finds_a_single_cell() -> None:
    def sly(x: np.ndarray) -> np.ndarray:
        return x + (x == 2 / 3).all(axis=(-2, -1), keepdims=True)

    reach = np.tri(4, dtype=bool)
    witness = dependence_violation(Target("sly", sly, ""), reach, 1, 3)
    assert witness.first.tolist() == [[2, 2, 2, 2]]
    assert witness.token < 3


def test_witness_names_a_token_that_matters() -> None:
    late = Target("late", lambda x: x + x[..., :, 5:6], "")
    witness = dependence_violation(late, np.eye(24, dtype=bool), 1, 3, samples=16)
    assert witness.why == f"output {witness.token} depends on token 5, which cannot reach it"


def test_rounding_is_no_dependence() -> None:
    blurred = Target("blurred", lambda x: x + 1e-14 * x.sum(axis=-1, keepdims=True), "")
    assert dependence_violation(blurred, np.tri(3, dtype=bool), 1, 3) is None
