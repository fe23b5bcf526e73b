"""Fused equals literal, bit for bit or both raise, for whatever constants, values and patterns a user may try."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.all_max_shift import AllMaxShifts
from constructions.numbers import ProofError
from constructions.selective_shift import SelectiveShifts, TokenShift
from constructions.stage import Stage, run_literal
from theory import families
from theory.patterns import SparsityPattern


@st.composite
def _patterns(draw: st.DrawFn) -> SparsityPattern:
    n, p = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    keys = st.sets(st.integers(0, n - 1), max_size=n)
    own = draw(st.booleans())
    return SparsityPattern.from_lists(
        *([sorted(draw(keys) | ({k} if own else set())) for k in range(n)] for _ in range(p))
    )


@st.composite
def _shifts(draw: st.DrawFn, pattern: SparsityPattern) -> TokenShift:
    return TokenShift(
        token=0,
        layer=draw(st.integers(0, pattern.p - 1)),
        factor=draw(st.integers(0, 4)),
        low2=draw(st.integers(-5, 20)),
        width2=draw(st.sampled_from([1, 2, 2, 2, 3, 4, 10])),
        count=draw(st.integers(1, 5)),
        cycle=pattern.p,
    )


@st.composite
def _cases(draw: st.DrawFn) -> tuple[SparsityPattern, SelectiveShifts, np.ndarray]:
    pattern = draw(_patterns())
    shifts = draw(st.lists(_shifts(pattern), min_size=1, max_size=4))
    rows = st.lists(st.integers(-3, 30), min_size=pattern.n, max_size=pattern.n, unique=draw(st.booleans()))
    values = draw(st.lists(rows, min_size=1, max_size=3))
    dtype = draw(st.sampled_from([np.int64, object]))
    return pattern, SelectiveShifts(tuple(shifts)), np.array(values, dtype=dtype)


def _outcome(stage: Stage, values: np.ndarray, pattern: SparsityPattern, literal: bool) -> list[list[int]] | None:
    try:
        after = run_literal(stage, values, pattern) if literal else stage.apply(values, pattern)
    except ProofError:
        return None
    assert after.dtype == values.dtype
    return after.tolist()


@settings(max_examples=400)
@given(_cases())
def test_selective_shifts(case: tuple[SparsityPattern, SelectiveShifts, np.ndarray]) -> None:
    pattern, stage, values = case
    assert _outcome(stage, values, pattern, literal=False) == _outcome(stage, values, pattern, literal=True)
    for shift in stage.shifts:
        assert _outcome(shift, values, pattern, literal=False) == _outcome(shift, values, pattern, literal=True)


@settings(max_examples=200)
@given(_cases())
def test_the_bound_holds_for_any_constants(case: tuple[SparsityPattern, SelectiveShifts, np.ndarray]) -> None:
    pattern, stage, values = case
    after = _outcome(stage, values, pattern, literal=True)
    if after is None:
        return
    wide = values.astype(object)
    low, high = stage.widen(wide.min(axis=0), wide.max(axis=0), pattern)
    assert np.all(low <= np.min(after, axis=0))
    assert np.all(np.max(after, axis=0) <= high)


@settings(max_examples=100)
@given(_cases(), st.integers(0, 5), st.integers(0, 6))
def test_all_max_shifts(
    case: tuple[SparsityPattern, SelectiveShifts, np.ndarray], count: int, factor: int
) -> None:
    pattern, _, values = case
    stage = AllMaxShifts(count, factor, pattern.p)
    after = _outcome(stage, values, pattern, literal=False)
    assert after == _outcome(stage, values, pattern, literal=True)
    if after is not None:
        wide = values.astype(object)
        low, high = stage.widen(wide.min(axis=0), wide.max(axis=0), pattern)
        assert np.all(low <= np.min(after, axis=0))
        assert np.all(np.max(after, axis=0) <= high)


def test_the_generator_meets_every_branch() -> None:
    """Two tokens in one run of windows, a shifted value in a later window, a late tie: each against its blocks."""
    dense = families.dense(3)
    shift = TokenShift(token=0, layer=0, factor=2, low2=-1, width2=2, count=20, cycle=1)
    for values in ([0, 3, 40], [0, 4, 9], [2, 3, 4]):
        array = np.array([values])
        after = run_literal(shift, array, dense)
        assert after.tolist() != [values]
        assert np.array_equal(shift.apply(array, dense), after)
    twice = SelectiveShifts((TokenShift(0, 0, 1, -1, 2, 1, 1), TokenShift(1, 0, 1, 19, 2, 1, 1)))
    for apply in (twice.apply, lambda values, pattern: run_literal(twice, values, pattern)):
        with pytest.raises(ProofError, match="tie"):
            apply(np.array([[0, 9, 9]]), dense)
        with pytest.raises(ProofError, match="tie"):
            apply(np.array([[0, 5, 4], [-3, 0, 9]]), families.dense(3))


def test_threshold_met_exactly_raises() -> None:
    dense = families.dense(2)
    shift = TokenShift(token=0, layer=0, factor=2, low2=0, width2=2, count=3, cycle=1)
    for apply in (shift.apply, lambda values, pattern: run_literal(shift, values, pattern)):
        with pytest.raises(ProofError, match=r"u\^T Z_k = b at token 1"):
            apply(np.array([[9, 2]]), dense)


def test_empty_attended_set_raises() -> None:
    pattern = SparsityPattern.from_lists([[0, 1], []])
    shift = TokenShift(token=0, layer=0, factor=2, low2=-1, width2=2, count=1, cycle=1)
    for apply in (shift.apply, lambda values, pattern: run_literal(shift, values, pattern)):
        with pytest.raises(ProofError, match="token 1 attends to nothing"):
            apply(np.array([[0, 2]]), pattern)


def test_all_max_shift_raises_on_ties_and_negative_values() -> None:
    dense = families.dense(2)
    with pytest.raises(ProofError, match="tie"):
        AllMaxShifts(1, 2, 1).apply(np.array([[3, 3]]), dense)
    with pytest.raises(ProofError, match="minimum"):
        AllMaxShifts(1, 2, 1).apply(np.array([[-1, 3]]), dense)
