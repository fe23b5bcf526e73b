"""Patterns whose rows are intervals of tokens around the query, on a line or on a ring: s by doubling.

With Assumption 1.1 the row of k contains k, so the union of the rows of consecutive tokens is an interval again:
S_k^t is one interval for every k and t, and a product of layers is a range minimum and a range maximum. Windows,
rings and blocks of any size end here after about 2 log2(s) products of O(n) or O(n log n) each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from theory.hops.numpy_kernels import entries_of
from theory.hops.results import Unseen

if TYPE_CHECKING:
    from theory.connections import Connections, IntArray
    from theory.patterns import SparsityPattern

__all__ = ["IntervalCount", "Intervals", "count_intervals"]


@dataclass(frozen=True)
class IntervalCount:
    """The smallest s (None if there is none) and a pair unseen after s - 1 layers, or never seen."""

    s: int | None
    unseen: Unseen | None


@dataclass(frozen=True, eq=False)
class Intervals:
    """Row k is the interval low[k]..high[k] modulo n, with k - n < low[k] <= k <= high[k] < k + n."""

    low: IntArray
    high: IntArray

    @classmethod
    def read(cls, layer: Connections) -> Intervals | None:
        """Read a pattern with self-loops, or return None if some row is no interval."""
        n, token, indptr = layer.n, np.arange(layer.n), layer.indptr
        low = layer.keys[indptr[:-1]].astype(np.int64)
        high = layer.keys[indptr[1:] - 1].astype(np.int64)
        gaps = np.flatnonzero(high - low + 1 != layer.degrees)
        if np.any((low[gaps] > 0) | (high[gaps] < n - 1)):
            return None
        # a row that wraps around holds 0 and n - 1 and has one gap inside
        keys = layer.keys[entries_of(indptr, gaps)].astype(np.int64)
        row = np.repeat(gaps, layer.degrees[gaps])
        breaks = np.flatnonzero((np.diff(keys) > 1) & (row[1:] == row[:-1]))
        if breaks.size != gaps.size:
            return None
        before, after = keys[breaks], keys[breaks + 1]
        left = token[gaps] <= before
        low[gaps] = np.where(left, after - n, after)
        high[gaps] = np.where(left, before, before + n)
        return cls(low, high)

    @property
    def open_rows(self) -> IntArray:
        """The rows that miss a token."""
        return np.flatnonzero(self.high - self.low + 1 < self.low.size)

    @property
    def full(self) -> bool:
        """Whether every row is [n]."""
        return bool(np.all(self.high - self.low + 1 >= self.low.size))

    def missing(self, layers: int | None) -> Unseen:
        """Name a pair that is not seen."""
        query = int(self.open_rows[0])
        return Unseen(layers, query, int(self.high[query] + 1) % self.low.size)

    @property
    def mirrored(self) -> Intervals:
        """The same with token k renamed n - 1 - k."""
        last = self.low.size - 1
        return Intervals(last - self.high[::-1], last - self.low[::-1])

    def after(self, earlier: Intervals) -> Intervals:
        """Return the product: row k is the union of the rows j of `earlier` over all j in row k of this one."""
        token, last = np.arange(self.low.size), self.low.size - 1
        low = _least(earlier.low, self.low, self.high)
        high = last - _least(earlier.mirrored.low, self.mirrored.low, self.mirrored.high)[::-1]
        # an end that is n - 1 tokens away makes the row full: nothing is lost by clipping there
        return Intervals(np.maximum(low, token - last), np.minimum(high, token + last))


def _least(values: IntArray, first: IntArray, last: IntArray) -> IntArray:
    """Return the minimum of values[first[i]..last[i]] for every i, where values[j + n] means values[j] + n."""
    n = values.size
    if np.all(values[1:] >= values[:-1]) and values[-1] <= values[0] + n:
        turn, place = np.divmod(first, n)
        met: IntArray = values[place] + turn * n
        return met
    # a sparse table: at height h, the minimum over 2^h values
    level = np.frexp((last - first + 1).astype(np.float64))[1] - 1  # floor(log2(length)), exact below 2^53
    least = np.empty_like(first)
    table = np.concatenate((values - n, values, values + n))
    for height in range(int(level.max()) + 1):
        rows = np.flatnonzero(level == height)
        ends = last[rows] - (1 << height) + 1
        least[rows] = np.minimum(table[first[rows] + n], table[ends + n])
        table = np.minimum(table[: -(1 << height)], table[1 << height :])
    return least


def count_intervals(pattern: SparsityPattern) -> IntervalCount | None:
    """Return s of a pattern with Assumption 1.1 whose rows are all intervals; None if some row is not.

    M_t stands for S^t as a whole. M_{qp+r} = M_r M_p^q, and all of it grows with t, so q is found by bisection
    over the powers of two.
    """
    p = pattern.p
    layers = []
    for layer in pattern.layers:
        rows = Intervals.read(layer)
        if rows is None:
            return None
        layers.append(rows)
    firsts = [layers[0]]
    for t in range(1, p + 1):
        if firsts[-1].full:
            return IntervalCount(t, firsts[-2].missing(t - 1) if t > 1 else None)
        if t < p:
            firsts.append(layers[t].after(firsts[-1]))
    powers = [firsts[-1]]
    while not powers[-1].full:
        square = powers[-1].after(powers[-1])
        if np.array_equal(square.low, powers[-1].low) and np.array_equal(square.high, powers[-1].high):
            return IntervalCount(None, square.missing(None))
        powers.append(square)
    reached, q = powers[-2], 1 << (len(powers) - 2)
    for exponent in range(len(powers) - 3, -1, -1):
        further = reached.after(powers[exponent])
        if not further.full:
            reached, q = further, q + (1 << exponent)
    before = reached
    for r, first in enumerate(firsts, start=1):
        further = first.after(reached)
        if further.full:
            return IntervalCount(q * p + r, before.missing(q * p + r - 1))
        before = further
    raise AssertionError  # M_p^(q+1) is full
