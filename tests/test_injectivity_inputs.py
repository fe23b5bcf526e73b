"""Sets of inputs: all of them in order, or samples that hold what they promise."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.numbers import ProofError
from verify import inputs as module
from verify.input_set import first_raising, is_exhaustive
from verify.inputs import AdversarialInputs, AllInputs, GivenInputs, InputSet

SIZES = [(1, 1, 2), (1, 4, 2), (2, 2, 3), (3, 2, 2), (1, 3, 5)]


def _rows(inputs: InputSet) -> list[tuple[int, ...]]:
    return [tuple(grid.ravel().tolist()) for chunk in inputs.chunks() for grid in chunk]


def _first_on(inputs: InputSet, reach: np.ndarray) -> list[list[bool]]:
    """By the definition: no earlier input agrees on reach(k)."""
    seen: list[set[bytes]] = [set() for _ in range(inputs.n)]
    answers = []
    for chunk in inputs.chunks():
        for grid in chunk:
            row = []
            for k in range(inputs.n):
                part = np.ascontiguousarray(grid[:, reach[k]]).tobytes()
                row.append(part not in seen[k])
                seen[k].add(part)
            answers.append(row)
    return answers


@pytest.mark.parametrize(("d", "n", "levels"), SIZES)
def test_all_inputs_come_in_lexicographic_order(
    d: int, n: int, levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = list(itertools.product(range(levels), repeat=d * n))
    every = AllInputs(d, n, levels)
    assert _rows(every) == expected
    monkeypatch.setattr(module, "ENTRIES", 7 * d * n)
    assert _rows(every) == expected
    assert max(len(chunk) for chunk in every.chunks()) <= 7
    assert every.count == len(expected)
    assert is_exhaustive(every)


@settings(max_examples=40)
@given(st.sampled_from(SIZES), st.data(), st.booleans())
def test_first_on_is_the_first_that_agrees_on_reach(
    size: tuple[int, int, int], data: st.DataObject, sampled: bool
) -> None:
    d, n, levels = size
    bits = data.draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    reach = np.array(bits).reshape(n, n) | np.eye(n, dtype=bool)
    inputs: InputSet = AdversarialInputs(d, n, levels, 9, seed=3) if sampled else AllInputs(d, n, levels)
    found, start = [], 0
    for chunk in inputs.chunks():
        found += inputs.first_on(reach, start, chunk).tolist()
        start += len(chunk)
    assert found == _first_on(inputs, reach)


@pytest.mark.parametrize(
    ("d", "n", "levels", "count"), [(1, 8, 4, 500), (2, 3, 2, 60), (3, 5, 300, 2000), (1, 1, 9, 4)]
)
def test_adversarial_inputs_are_distinct_and_repeatable(d: int, n: int, levels: int, count: int) -> None:
    inputs = AdversarialInputs(d, n, levels, count, seed=7)
    rows = _rows(inputs)
    assert len(rows) == len(set(rows)) == inputs.count == count
    assert min(min(row) for row in rows) >= 0
    assert max(max(row) for row in rows) < levels
    assert rows == _rows(AdversarialInputs(d, n, levels, count, seed=7))
    assert rows != _rows(AdversarialInputs(d, n, levels, count, seed=8)) or n == 1
    assert not is_exhaustive(inputs)
    assert "seed 7" in inputs.description


def test_adversarial_inputs_look_for_trouble() -> None:
    d, n, levels = 2, 5, 4
    rows = set(_rows(AdversarialInputs(d, n, levels, 400, seed=0)))
    grids = [np.array(row).reshape(d, n) for row in rows]
    assert (0,) * 10 in rows
    assert (3,) * 10 in rows
    assert sum((grid == grid[:, :1]).all() for grid in grids) > 10
    stacked = np.array(grids)
    differences = (stacked[:, None] != stacked[None]).sum(axis=(2, 3))
    assert (differences == 1).any(axis=1).sum() > 80
    sorted_columns = [tuple(sorted(map(tuple, grid.T.tolist()))) for grid in grids]
    assert len(sorted_columns) - len(set(sorted_columns)) > 40


def test_a_sample_as_large_as_the_space_is_the_space() -> None:
    assert sorted(_rows(AdversarialInputs(1, 3, 2, 8, seed=0))) == _rows(AllInputs(1, 3, 2))
    assert is_exhaustive(AdversarialInputs(1, 3, 2, 1000, seed=0))
    assert AdversarialInputs(1, 3, 2, 9, seed=0).description == AllInputs(1, 3, 2).description
    assert AdversarialInputs(1, 3, 2, 7, seed=0).count == 7


def test_given_inputs_lose_their_duplicates() -> None:
    given_inputs = GivenInputs([[[1, 0]], [[0, 0]], [[1, 0]]], K=2)
    assert _rows(given_inputs) == [(1, 0), (0, 0)]
    assert next(given_inputs.chunks()).dtype == np.int64


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GivenInputs([[0, 1]], K=2), "shape"),
        (lambda: GivenInputs([[[0, 2]]], K=2), "must lie in 0..1"),
        (lambda: GivenInputs([[[0.5, 1]]], K=2), "integers"),
        (lambda: GivenInputs([[[0, 0]]], K=1), "at least 2"),
        (lambda: AllInputs(0, 2, 2), "at least 1"),
        (lambda: AdversarialInputs(1, 2, 2, 0, seed=0), "at least one"),
    ],
)
def test_what_is_no_input_is_refused(make: object, message: str) -> None:
    with pytest.raises(ProofError, match=message):
        make()  # type: ignore[operator]


def test_the_input_that_breaks_a_run_is_found() -> None:
    grids = np.arange(37).reshape(37, 1, 1)

    def breaks(some: np.ndarray) -> None:
        if (some == 23).any():
            raise ProofError(f"broken among {len(some)}")

    grid, reason = first_raising(breaks, grids)
    assert grid.tolist() == [[23]]
    assert reason == "broken among 1"

    def in_company(some: np.ndarray) -> None:
        if len(some) > 1:
            raise ProofError("too many")

    with pytest.raises(ProofError, match="mixes inputs"):
        first_raising(in_company, grids)
