"""Runs selective shifts at once: the same numbers, bit for bit, as their blocks one after another.

A proper run fires one token a stage, so only its row of the pattern is read. Whatever a user's constants do
otherwise (two tokens in one interval, a shifted value in a later window, equal values) is run block by block.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device

from constructions.backends import to_host
from constructions.numbers import Integers, ProofError
from constructions.stage import from_token_rows, run_literal, token_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from constructions.selective_shift import TokenShift
    from theory.patterns import SparsityPattern

__all__ = ["run_shifts", "widen"]


class _Intervals:
    """One interval a token, and which of them meet a span of windows: bisection, O(log n) where one does."""

    def __init__(self, shifts: Sequence[TokenShift], low: list[int], high: list[int]) -> None:
        self.low, self.high = low, high
        self.end = max(shift.high2 for shift in shifts) // 2  # what lies above meets no window
        self.sort()

    def sort(self) -> None:
        """Rank the tokens by their lower ends; an upper end counts as the greatest up to there."""
        self.ranked = sorted(range(len(self.low)), key=self.low.__getitem__)
        self.lows = [self.low[token] for token in self.ranked]
        self.highs = list(accumulate((self.high[token] for token in self.ranked), max))
        self.moved: set[int] = set()
        self.stale = False

    def set(self, token: int, low: int, high: int) -> None:
        """Replace the interval of one token."""
        self.low[token], self.high[token], self.stale = low, high, True
        if low <= self.end:
            self.moved.add(token)

    def meeting(self, shift: TokenShift) -> list[int]:
        """Return the tokens, sorted, whose interval meets the closed span of the windows."""
        first, last = -(-shift.low2 // 2), shift.high2 // 2
        near = self.ranked[bisect_left(self.highs, first) : bisect_right(self.lows, last)]
        return sorted(k for k in self.moved.union(near) if self.low[k] <= last and self.high[k] >= first)

    @property
    def disjoint(self) -> bool:
        """Whether no two intervals meet."""
        if self.stale:
            self.sort()
        return all(high < low for high, low in zip(self.highs, self.lows[1:], strict=False))


class _Fired(NamedTuple):
    """The new row of a token and its ends; `where` it fired, None for every input."""

    token: int
    row: Any
    low: int
    high: int
    where: Any


class _Run:
    """The state of a run: one row a token, one column an input; the intervals are kept on the host."""

    def __init__(self, shifts: Sequence[TokenShift], values: Any, pattern: SparsityPattern) -> None:
        self.shifts, self.pattern, self.xp = shifts, pattern, array_namespace(values)
        self.attending = [bool(layer.degrees.all()) for layer in pattern.layers]
        self.keys: dict[int, Any] = {}
        self.load(values)

    def load(self, values: Any) -> None:
        """Take the state from an array (..., n)."""
        self.rows = token_rows(values)
        low, high = (to_host(reduce(self.rows, axis=1)).tolist() for reduce in (self.xp.min, self.xp.max))
        self.intervals = _Intervals(self.shifts, low, high)
        self.distinct = self.all_distinct()
        self.top, self.peak = self.xp.max(self.rows, axis=0), max(high)

    def all_distinct(self) -> bool:
        """Return whether the tokens of every input have pairwise distinct values."""
        if self.intervals.disjoint:
            return True
        ranked = self.xp.sort(self.rows, axis=0)
        return bool(self.xp.all(ranked[1:, :] != ranked[:-1, :]))

    def step(self, shift: TokenShift) -> None:
        """Apply one token's shifts."""
        regular = self.distinct and self.attending[shift.layer]  # no row can raise
        fired = self.fire(shift) if regular else None
        if fired is None:
            self.load(run_literal(shift, self.rows.T, self.pattern))
            return
        for new in fired:
            self.put(new)
        if not self.distinct:
            self.distinct = self.all_distinct()

    def put(self, new: _Fired) -> None:
        """Replace the row of one token."""
        self.rows[new.token, ...] = new.row
        self.intervals.set(new.token, new.low, new.high)
        if new.low > self.peak:
            self.top = new.row
        else:
            if self.xp.any(_within(new.row <= self.top, new.where)):
                self.distinct = False
            self.top = self.xp.maximum(self.top, new.row)
        self.peak = max(self.peak, new.high)

    def fire(self, shift: TokenShift) -> list[_Fired] | None:
        """Return the new row of every token that may fire; None if blocks must be run."""
        tokens = self.intervals.meeting(shift)
        if shift.count > 1 and len(tokens) > 1:
            return None
        xp, fired = self.xp, []
        for token in tokens:
            values, where = self.rows[token, ...], self.inside(token, shift)
            attended = xp.take(self.rows, self.attended(token, shift.layer), axis=0)
            row = values + shift.factor * (xp.max(attended, axis=0) - xp.min(attended, axis=0))
            if where is not None:
                row = xp.where(where, row, values)
            low, high, last = int(xp.min(row)), int(xp.max(row)), shift.high2 // 2
            if shift.count > 1 and low <= max(last, self.peak):
                again = (row <= last) | (row <= self.top)
                if xp.any(_within(again, where)):
                    return None  # a later window may move it, or meet it as an equal of another token
            fired.append(_Fired(token, row, low, high, where))
        return fired

    def inside(self, token: int, shift: TokenShift) -> Any:
        """Return where the token lies in the span of the windows, None for every input; raise on a threshold."""
        whole = shift.low2 < 2 * self.intervals.low[token] and 2 * self.intervals.high[token] < shift.high2
        between = shift.low2 % 2 == 1 and shift.width2 % 2 == 0  # all thresholds lie between two integers
        if whole and (between or shift.count == 1):
            return None
        values = self.rows[token, ...]
        where = (values >= -(-shift.low2 // 2)) & (values <= shift.high2 // 2)
        if not between and self.xp.any(where & ((2 * values - shift.low2) % shift.width2 == 0)):
            raise ProofError(f"u^T Z_k = b at token {token}: the selective shift is undefined there")
        return where

    def attended(self, token: int, number: int) -> Any:
        """Return the keys of a token in one pattern, on the state's device."""
        layer = self.pattern.layers[number]
        if number not in self.keys:
            self.keys[number] = self.xp.asarray(layer.keys.astype(np.int64), device=device(self.rows))
        return self.keys[number][int(layer.indptr[token]) : int(layer.indptr[token + 1])]


def _within(condition: Any, where: Any) -> Any:
    return condition if where is None else condition & where


def run_shifts(shifts: Sequence[TokenShift], values: Any, pattern: SparsityPattern) -> Any:
    """Apply the shifts one token after another, each at once.

    Parameters
    ----------
    shifts
        In order; factors are not negative.
    values
        u^T Z in units of delta, shape (..., n); an array of any backend, whose dtype and device are kept.

    Raises
    ------
    ProofError
        Exactly where a block would: u^T Z_k = b, a tie, or an empty attended set.
    """
    if not shifts or not prod(values.shape):
        return array_namespace(values).asarray(values, copy=True)
    run = _Run(shifts, values, pattern)
    for shift in shifts:
        run.step(shift)
    return from_token_rows(run.rows, values.shape)


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
    intervals = _Intervals(shifts, low.tolist(), high.tolist())
    for shift in shifts:
        tokens = intervals.meeting(shift)
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
