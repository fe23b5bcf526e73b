"""Numbers in base c are the all-max-shifts' own, digit by digit; Python integers are the oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.all_max_shift import AllMaxShifts
from constructions.backends import Backend
from constructions.base_c import Digits, all_max_digits, assemble, digits_dtype
from constructions.cells import cells
from constructions.contextual_mapping import build_mapping
from constructions.mapping import StagedMapping
from constructions.numbers import ProofError, times
from constructions.shift_mapping import ShiftMapping
from constructions.stage import run_fused
from theory import families
from theory.patterns import SparsityPattern


def _oracle(values: list[int], rows: list[list[list[int]]], s: int, c: int) -> list[int] | None:
    """Return the state after s all-max-shifts, in plain Python; None where hardmax is undefined."""
    for step in range(s):
        attended = [[values[j] for j in row] for row in rows[step % len(rows)]]
        if min(values) < 0 or any(not row or row.count(max(row)) > 1 for row in attended):
            return None
        values = [v + c * max(row) for v, row in zip(values, attended, strict=True)]
    return values


@st.composite
def _cases(draw: st.DrawFn) -> tuple[list[list[list[int]]], list[int], int, int]:
    n, p = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    keys = st.sets(st.integers(0, n - 1), min_size=draw(st.sampled_from([0, 1, 1, 1])), max_size=n).map(sorted)
    rows = [[draw(keys) for _ in range(n)] for _ in range(p)]
    least = draw(st.sampled_from([0, 0, 0, -1]))
    values = draw(st.lists(st.integers(least, 40), min_size=n, max_size=n, unique=draw(st.booleans())))
    return rows, values, draw(st.integers(0, 6)), draw(st.integers(2, 60))


@settings(max_examples=400)
@given(_cases(), st.sampled_from([np.int64, object]))
def test_digits_are_those_of_the_run(case: tuple[Any, ...], dtype: type) -> None:
    rows, values, s, c = case
    wanted = _oracle(values, rows, s, c)
    stage, pattern = AllMaxShifts(s, c, len(rows)), SparsityPattern.from_lists(*rows)
    if wanted is None:
        with pytest.raises(ProofError):
            all_max_digits(stage, np.array([values], dtype=dtype), pattern)
        return
    if s == 0 and min(values) < 0:
        return  # no shift, nothing to write in base c
    found = all_max_digits(stage, np.array([values], dtype=dtype), pattern)
    assert all(digit.dtype == dtype for digit in found.digits)
    assert assemble(found).tolist() == [wanted]
    for k, number in enumerate(wanted):
        digits = [int(digit[0, k]) for digit in found.digits]
        assert all(0 <= digit < c for digit in digits)
        assert digits == [number // c**i % c for i in range(len(digits))]


MAPPINGS = (
    (families.star(6, 1), 1, 32),
    (families.strided(5, 3), 1, 16),
    (families.bigbird(6, 1, 1, 1, seed=3), 2, 4),
    (families.window(5, 1), 2, 5),
    (families.ring(7), 1, 7),
)


def _sample(mapping: StagedMapping) -> np.ndarray:
    random = np.random.default_rng(0).integers(mapping.K, size=(50, mapping.d, mapping.pattern.n))
    return np.concatenate((random, cells(mapping.d, mapping.pattern.n, mapping.K, 0, 8)))


@pytest.mark.parametrize(("pattern", "d", "levels"), MAPPINGS)
@pytest.mark.parametrize("construction", ["paper", "merged"])
def test_ids_beyond_int64_are_the_python_integers(
    pattern: SparsityPattern, d: int, levels: int, construction: str
) -> None:
    mapping = build_mapping(pattern, d, levels, construction)
    grids = _sample(mapping)
    assert mapping.in_base_c
    wanted = run_fused(list(mapping.stages), mapping.initial(grids), pattern)
    assert mapping.ids(grids).tolist() == wanted.tolist()
    numbers = mapping.digits(grids)
    assert len(numbers.digits) == mapping.all_max.count + 1
    assert numbers.digits[0].dtype == mapping.run_dtype
    # with the paper's c the lowest digit is z~_k, the highest z~ of gamma(n)
    shifted = mapping.shifts.apply(mapping.initial(grids), pattern)
    last = int(np.argsort(mapping.positions)[-2])
    assert numbers.digits[0].tolist() == shifted.tolist()
    assert numbers.digits[-1].tolist() == [[row[last]] * pattern.n for row in shifted.tolist()]


@pytest.mark.parametrize(("pattern", "d", "levels"), MAPPINGS[:2])
def test_torch_has_the_same_digits(pattern: SparsityPattern, d: int, levels: int) -> None:
    pytest.importorskip("torch")
    mapping = build_mapping(pattern, d, levels, "merged")
    grids = _sample(mapping)
    assert mapping.on(Backend("torch")).ids(grids).tolist() == mapping.ids(grids).tolist()


def test_numbers_that_no_backend_but_numpy_holds_are_refused() -> None:
    wide = build_mapping(families.star(20, 1), 1, 16, "merged")
    assert wide.run_dtype.kind == "O"
    with pytest.raises(ProofError, match="torch holds 63: leave --backend out"):
        wide.on(Backend("torch"))


@settings(max_examples=60)
@given(st.integers(0, 4), st.integers(0, 300), st.integers(1, 9), st.integers(0, 2**32))
def test_any_constants_give_the_same_ids(s: int, c: int, shift: int, seed: int) -> None:
    """Also where the constants break the proof: what the network does is no matter of taste."""
    pattern, levels = families.strided(4, 2), 3
    mapping = build_mapping(pattern, 1, levels, "merged", gamma=range(4), s=s, c=c, shift_factor=shift)
    grids = np.random.default_rng(seed).integers(levels, size=(3, 1, 4))
    try:
        wanted = run_fused(list(mapping.stages), mapping.initial(grids), pattern).tolist()
    except ProofError as error:
        with pytest.raises(ProofError, match=str(error)[:20]):
            mapping.ids(grids)
        return
    assert mapping.ids(grids).tolist() == wanted
    if c >= 2:
        assert assemble(mapping.digits(grids)).tolist() == wanted


def test_a_wrong_digit_shows() -> None:
    mapping = build_mapping(families.star(6, 1), 1, 32, "merged")
    grids = _sample(mapping)
    digits = list(mapping.digits(grids).digits)
    digits[1] = digits[1] + (np.arange(6) == 3)
    wrong = assemble(Digits(tuple(digits), mapping.all_max.factor))
    assert (wrong != mapping.ids(grids)).nonzero()[1].tolist() == [3] * len(grids)


def test_a_factor_that_is_no_base() -> None:
    stage, pattern = AllMaxShifts(1, 1, 1), families.ring(2)
    with pytest.raises(ProofError, match="no digits in base c = 1"):
        all_max_digits(stage, np.array([1, 2]), pattern)


def test_where_digits_fit() -> None:
    limits = [(2**60, 2**61), (2**61 - 1, 5), (2**61, 5), (3, 2**62)]
    assert [digits_dtype(*limit).kind for limit in limits] == ["i", "i", "O", "O"]


def test_products_keep_the_shape_and_share_objects() -> None:
    big = 2**100
    values = np.array([[big, big, 5]], dtype=object)
    for factor in (3**2000, 5 << 3000, 1 << 2500):
        found = times(values, factor)
        assert found.tolist() == [[factor * big, factor * big, 5 * factor]]
        assert found[0, 0] is found[0, 1]
    assert times(np.array([2, 3]), 4).dtype == np.int64


def test_ids_of_a_mapping_are_a_shift_mapping() -> None:
    assert isinstance(build_mapping(families.ring(3), 1, 2), ShiftMapping)
