"""Runs selective shifts at once: the same numbers, bit for bit, as their blocks one after another.

A proper run fires one token a stage, so only its row of the pattern is read. Whatever a user's constants do
otherwise (two tokens in one interval, a shifted value in a later window, equal values) is run block by block.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from constructions.numbers import Integers, ProofError, exact_dtype
from constructions.stage import run_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from constructions.selective_shift import TokenShift
    from theory.patterns import IntArray, SparsityPattern

__all__ = ["run_shifts", "widen"]


class _Intervals:
    """One interval a token, clipped to the span of all windows so that small integers do."""

    def __init__(self, shifts: Sequence[TokenShift], low: Integers, high: Integers) -> None:
        self.floor = min(shift.low2 for shift in shifts) // 2 - 1
        self.ceiling = max(shift.high2 for shift in shifts) // 2 + 1
        dtype = exact_dtype(max(abs(self.floor), abs(self.ceiling)) * 2)
        self.low = np.clip(low, self.floor, self.ceiling).astype(dtype)
        self.high = np.clip(high, self.floor, self.ceiling).astype(dtype)

    def set(self, token: int, low: int, high: int) -> None:
        """Replace the interval of one token."""
        self.low[token] = min(max(low, self.floor), self.ceiling)
        self.high[token] = min(max(high, self.floor), self.ceiling)

    def meeting(self, shift: TokenShift) -> IntArray:
        """Return the tokens whose interval meets the closed span of the windows."""
        return np.flatnonzero((2 * self.high >= shift.low2) & (2 * self.low <= shift.high2))


def _distinct(columns: Integers) -> bool:
    """Return whether the tokens of every input have pairwise distinct values; `columns` has shape (n, batch)."""
    low, high = columns.min(axis=1), columns.max(axis=1)
    order = np.argsort(low)
    if np.all(high[order[:-1]] < low[order[1:]]):
        return True
    ranked = np.sort(columns, axis=0)
    return bool(np.all(ranked[1:] != ranked[:-1]))


class _Run:
    """The state of a run: one row a token, one column an input."""

    def __init__(self, shifts: Sequence[TokenShift], values: Integers, pattern: SparsityPattern) -> None:
        self.shifts, self.pattern = shifts, pattern
        self.load(values)

    def load(self, values: Integers) -> None:
        """Take the state from an array (batch, n)."""
        self.columns = np.array(values.T, order="C")
        self.intervals = _Intervals(self.shifts, self.columns.min(axis=1), self.columns.max(axis=1))
        self.distinct = _distinct(self.columns)
        self.top = self.columns.max(axis=0)

    def step(self, shift: TokenShift) -> None:
        """Apply one token's shifts."""
        fired = self.fire(shift) if self.regular(shift) else None
        if fired is None:
            self.load(run_literal(shift, self.columns.T, self.pattern))
            return
        for token, (moved, shifted) in fired.items():
            self.columns[token] = shifted
            self.intervals.set(token, int(shifted.min()), int(shifted.max()))
            if np.any(moved & (shifted <= self.top)):
                self.distinct = False
            self.top = np.maximum(self.top, shifted)
        if not self.distinct:
            self.distinct = _distinct(self.columns)

    def regular(self, shift: TokenShift) -> bool:
        """Return whether no row of the pattern can raise: nothing empty, no two values equal."""
        return self.distinct and bool(self.pattern.layers[shift.layer].degrees.all())

    def fire(self, shift: TokenShift) -> dict[int, tuple[npt.NDArray[np.bool_], Integers]] | None:
        """Return, for every token that may fire, where it does and its new values; None if blocks must be run."""
        tokens = self.intervals.meeting(shift).tolist()
        if shift.count > 1 and len(tokens) > 1:
            return None
        layer = self.pattern.layers[shift.layer]
        fired = {}
        for token in tokens:
            values = self.columns[token]
            above = 2 * values - shift.low2
            inside = (above >= 0) & (2 * values <= shift.high2)
            if np.any(inside & (above % shift.width2 == 0)):
                raise ProofError(f"u^T Z_k = b at token {token}: the selective shift is undefined there")
            attended = self.columns[layer.row(token)]
            shifted = values + shift.factor * (attended.max(axis=0) - attended.min(axis=0)) * inside
            again = (2 * shifted <= shift.high2) | (shifted <= self.top)
            if shift.count > 1 and np.any(inside & again):
                return None  # a later window may move it, or meet it as an equal of another token
            fired[token] = (inside, shifted)
        return fired


def run_shifts(shifts: Sequence[TokenShift], values: Integers, pattern: SparsityPattern) -> Integers:
    """Apply the shifts one token after another, each at once.

    Parameters
    ----------
    shifts
        In order; factors are not negative.
    values
        u^T Z in units of delta, shape (..., n).

    Raises
    ------
    ProofError
        Exactly where a block would: u^T Z_k = b, a tie, or an empty attended set.
    """
    if not shifts or not values.size:
        return values.copy()
    run = _Run(shifts, values.reshape(-1, pattern.n), pattern)
    for shift in shifts:
        run.step(shift)
    return np.ascontiguousarray(run.columns.T).reshape(values.shape)


def widen(
    shifts: Sequence[TokenShift], low: Integers, high: Integers, pattern: SparsityPattern
) -> tuple[Integers, Integers]:
    """Return intervals that contain the values after the shifts, given one interval a token before them.

    Sharp where one token fires alone and is the least of its row, as in the proof; wider otherwise.

    Parameters
    ----------
    low, high
        Python integers (object arrays), shape (n,).
    """
    low, high = low.copy(), high.copy()
    if not shifts:
        return low, high
    intervals = _Intervals(shifts, low, high)
    for shift in shifts:
        tokens = intervals.meeting(shift).tolist()
        for _ in range(
            len(tokens) if shift.count > 1 else 1
        ):  # a token that left can raise the next one's maximum
            images = [_image(token, shift, low, high, pattern, alone=len(tokens) == 1) for token in tokens]
            for token, (least, greatest) in zip(tokens, images, strict=True):
                low[token], high[token] = least, greatest
        for token in tokens:
            intervals.set(token, low[token], high[token])
    return low, high


def _image(
    token: int, shift: TokenShift, low: Integers, high: Integers, pattern: SparsityPattern, *, alone: bool
) -> tuple[int, int]:
    """Return an interval around the values of one token after it may have fired."""
    row = pattern.layers[shift.layer].row(token)
    others = row[row != token]
    if not others.size:
        return low[token], high[token]
    first, last = max(low[token], -(-shift.low2 // 2)), min(high[token], shift.high2 // 2)
    whole = first == low[token] and last == high[token]
    factor, end = shift.factor, shift.high2 // 2
    if alone and others.size < row.size and last <= low[others].min() and factor >= 1:
        # The token is the least of its row: v -> (1 - c) v + c max falls in v.
        least = (1 - factor) * last + factor * max(low[others].max(), last)
        greatest = (1 - factor) * first + factor * high[others].max()
        if least > end or shift.count == 1:
            return (least, greatest) if whole else (min(low[token], least), max(high[token], greatest))
    greatest = end + factor * (max(high[others].max(), end) - min(low[others].min(), low[token]))
    return low[token], max(high[token], greatest)
