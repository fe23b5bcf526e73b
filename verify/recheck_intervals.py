"""Rechecking an upper bound on s for windows, rings and blocks of any size: both ends of every S_k^t.

Let every row be an interval of tokens around its query, on the line or around the ring: A_k = lo(k)..hi(k)
modulo n with lo(k) <= k <= hi(k). Then S_k^t is one too: rows of neighbouring tokens overlap or touch. If lo and
hi never fall from k to k + 1, with lo(k + n) = lo(k) + n, the least end over A_k is that of lo(k):

    lo_k^t = lo^1(... lo^(t-1)(lo^t(k))),   hi_k^t likewise,   S_k^t = [n] iff hi_k^t - lo_k^t >= n - 1,

and t layers take about 2 log2(t) compositions, O(n) each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from theory.patterns import Connections, IntArray, SparsityPattern

__all__ = ["Intervals"]


@dataclass(frozen=True, eq=False)
class Intervals:
    """The ends of the rows of every pattern of the cycle, as integers that are not reduced modulo n."""

    low: Sequence[IntArray]
    high: Sequence[IntArray]

    @classmethod
    def read(cls, pattern: SparsityPattern) -> Intervals | None:
        """Read a pattern in which every token attends to itself; None if some row is no interval or an end falls.

        Examples
        --------
        >>> from theory.patterns import SparsityPattern
        >>> ring = Intervals.read(SparsityPattern.from_lists([[0, 2], [0, 1], [1, 2]]))
        >>> ring.low[0].tolist(), ring.unseen(1), ring.unseen(2)
        ([-1, 0, 1], (0, 1), None)
        """
        low, high = [], []
        for layer in pattern.layers:
            ends = _ends(layer)
            if ends is None or not all(_rises(end) for end in ends):
                return None
            low.append(ends[0])
            high.append(ends[1])
        return cls(low, high)

    def unseen(self, layers: int) -> tuple[int, int] | None:
        """Return a query and a key that it does not see after so many layers, or None."""
        n = self.low[0].size
        layers = min(layers, len(self.low) * n)  # by then a set that can grow is full
        low, high = _composed(self.low, layers), _composed(self.high, layers)
        narrow = np.flatnonzero(high - low < n - 1)
        return (int(narrow[0]), int(high[narrow[0]] + 1) % n) if narrow.size else None


def _ends(layer: Connections) -> tuple[IntArray, IntArray] | None:
    """Return lo and hi of rows that contain their query, or None if some row is no interval."""
    n, keys = layer.n, layer.keys
    low, high = keys[layer.indptr[:-1]].astype(np.int64), keys[layer.indptr[1:] - 1].astype(np.int64)
    broken = np.diff(keys, append=keys[-1]) > 1
    broken[layer.indptr[1:] - 1] = False
    place = np.flatnonzero(broken)  # keys[place] ends a run inside a row, keys[place + 1] begins the next
    row = np.searchsorted(layer.indptr, place, side="right") - 1
    around = (low[row] == 0) & (high[row] == n - 1) & (np.bincount(row, minlength=n)[row] == 1)
    if not around.all():
        return None
    left = row <= keys[place]  # the query lies in 0..keys[place], the rest of its row before 0; or the reverse
    low[row] = keys[place + 1] - n * left
    high[row] = keys[place] + n * ~left
    return low, high


def _rises(end: IntArray) -> bool:
    return bool(np.all(np.diff(end, append=end[0] + end.size) >= 0))


def _at(end: IntArray, tokens: IntArray) -> IntArray:
    """Evaluate an end at tokens beyond 0..n-1 too."""
    turns, token = np.divmod(tokens, end.size)
    values: IntArray = end[token] + turns * end.size
    return values


def _composed(ends: Sequence[IntArray], layers: int) -> IntArray:
    """Return the end of S_k^layers for every k: the last layer is applied to k first."""
    cycles, rest = divmod(layers, len(ends))
    tokens: IntArray = np.arange(ends[0].size)
    cycle = tokens
    for end in reversed(ends):
        cycle = _at(end, cycle)
    for end in reversed(ends[:rest]):
        tokens = _at(end, tokens)
    while cycles:
        if cycles % 2:
            tokens = _at(cycle, tokens)
        cycle, cycles = _at(cycle, cycle), cycles // 2
    return tokens
