"""The paper's recursion (eq. 3) on classes of tokens: after t layers, tokens of one class have the same S_k^t.

Tokens whose keys in layer t fall into the same classes of layer t - 1 have equal S_k^t, whatever the bits are. So
the rows of S^t are formed once a class: in Fixed all tokens are one class after two layers, in a block pattern the
tokens of one block are. The partition after t layers is never finer than the one after t - p, so it soon repeats
with period p. Of keys that the same queries see in layer 1, one stands for all.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from theory.hops.classes import distinct_rows, hash_table, take_rows
from theory.hops.kernels import UnionLists
from theory.hops.runs import find_runs

if TYPE_CHECKING:
    from theory.connections import Connections, IntArray
    from theory.hops.kernels import Kernels
    from theory.patterns import SparsityPattern

__all__ = ["Schedule"]

# beyond so many unions, partitions are taken over from p layers before, not found by hashing
MOST_BUILDS = 64
MOST_ENTRIES = 2**22


class _Partition:
    """Classes of tokens; `labels` is None when every token is a class of its own."""

    def __init__(self, labels: IntArray | None, first: IntArray) -> None:
        self.labels = labels
        self.first = first

    @property
    def count(self) -> int:
        return int(self.first.size)


def _same(one: _Partition, other: _Partition) -> bool:
    if one.labels is None or other.labels is None:
        return one.labels is other.labels
    return np.array_equal(one.labels, other.labels)


class Schedule:
    """Which unions of classes form S^t, for every t; built as far as it is asked for, safe to share by threads.

    Parameters
    ----------
    pattern
        The pattern.
    kernels
        The inner loops to use.
    reduce
        Whether to look for equal rows and columns at all.

    Attributes
    ----------
    sources, source_of : IntArray
        One token for every class of keys that all queries see alike in layer 1; that token for every key.
    start : tuple[IntArray, IntArray]
        CSR over all tokens: the classes of S^1 that contain the key.
    """

    def __init__(self, pattern: SparsityPattern, kernels: Kernels, *, reduce: bool = True) -> None:
        self._pattern = pattern
        self._kernels = kernels
        self._reduce = reduce
        self._lock = threading.Lock()
        self._identity = _Partition(None, np.arange(pattern.n))
        self._built: dict[tuple[int, int], tuple[UnionLists, _Partition]] = {}
        self._partitions = [self._identity]
        self._lists: list[UnionLists] = []
        self._repeats_from: int | None = None
        self._extend()
        self.start = kernels.transpose(self._lists[0].indptr, self._lists[0].entries, pattern.n)
        self.sources: IntArray = np.arange(pattern.n)
        self.source_of: IntArray = self.sources
        if reduce:
            alike = distinct_rows(kernels, *self.start, self.tokens(1).size)
            self.sources, self.source_of = alike.first, alike.first[alike.labels]

    def dominating_keys(self) -> IntArray:
        """Return few sources such that every key is in A_x^1 for some token x that is seen like one of them.

        Of the queries that see it (there must be one), every key proposes the one that most queries see as a key.
        """
        indptr, classes = take_rows(*self.start, self.sources)
        popularity = np.diff(self.start[0])[self.tokens(1)]
        order = np.lexsort((hash_table(popularity.size), -popularity))
        rank = np.empty_like(order)
        rank[order] = np.arange(order.size)
        proposed = order[np.unique(np.minimum.reduceat(rank[classes], indptr[:-1]))]
        return np.unique(self.source_of[self.tokens(1)[proposed]])

    def lists(self, t: int) -> UnionLists:
        """Return the unions over the classes of S^{t-1} that form the classes of S^t (t >= 2)."""
        with self._lock:
            while self._repeats_from is None and len(self._lists) < t:
                self._extend()
        return self._lists[self._place(t)]

    @property
    def p(self) -> int:
        """Number of patterns in the cycle."""
        return self._pattern.p

    def tokens(self, t: int) -> IntArray:
        """Return a token of every class of S^t: row i of S^t is the set S_k^t of token k = tokens(t)[i]."""
        return self._partitions[self._place(t) + 1].first

    def sizes(self, t: int) -> IntArray:
        """Return the number of tokens of every class of S^t."""
        partition = self._partitions[self._place(t) + 1]
        if partition.labels is None:
            return np.ones(partition.count, dtype=np.int64)
        return np.bincount(partition.labels, minlength=partition.count)

    def _place(self, t: int) -> int:
        if self._repeats_from is None or t <= self._repeats_from:
            return t - 1
        p = self._pattern.p
        return self._repeats_from - p + (t - 1 - self._repeats_from) % p

    def _extend(self) -> None:
        """Add the layer t = len(lists) + 1, or find that it repeats the one p layers before."""
        p, done = self._pattern.p, len(self._lists)
        before = self._partitions[-1]
        if done >= p and before is self._partitions[-1 - p]:
            self._repeats_from = done
            return
        index = done % p
        earlier = self._partitions[done + 1 - p] if done >= p else None
        known = self._built.get((index, id(before)))
        if known is None:
            if earlier is not None and self._enough_built():
                known = self._taken_over(done, before), earlier
            else:
                known = self._build(self._pattern.layers[index], before)
            if earlier is not None and _same(known[1], earlier):
                known = known[0], earlier
            self._built[index, id(before)] = known
        self._lists.append(known[0])
        self._partitions.append(known[1])

    def _enough_built(self) -> bool:
        entries = sum(lists.entries.size for lists, _ in self._built.values())
        return len(self._built) >= MOST_BUILDS or entries > 4 * self._pattern.connections + MOST_ENTRIES

    def _build(self, layer: Connections, before: _Partition) -> tuple[UnionLists, _Partition]:
        """Sort the tokens into classes by the classes of their keys."""
        if not self._reduce:
            return _union_lists(layer.indptr, layer.keys, self._identity.first, self._pattern.n), self._identity
        rows = distinct_rows(self._kernels, layer.indptr, layer.keys, before.count, before.labels)
        own = rows.first if before.labels is None else before.labels[rows.first]
        lists = _union_lists(rows.indptr, rows.entries, own, before.count)
        return lists, self._identity if rows.count == self._pattern.n else _Partition(rows.labels, rows.first)

    def _taken_over(self, done: int, before: _Partition) -> UnionLists:
        """Express the unions of p layers before in the classes of now, which are never finer."""
        p = self._pattern.p
        old, finer = self._lists[done - p], self._partitions[done - p]
        labels = before.first if before.labels is None else before.labels
        renamed = labels[finer.first].astype(np.int32)
        return UnionLists(old.indptr, renamed[old.entries])


def _union_lists(indptr: IntArray, entries: IntArray, own: IntArray, rows: int) -> UnionLists:
    """Choose how to form the unions: by runs, or one by one with the row's own class first."""
    runs = find_runs(indptr, entries, rows)
    if runs is not None:
        return UnionLists(indptr, entries, runs)
    return _own_class_first(UnionLists(indptr, entries), own)


def _own_class_first(lists: UnionLists, own: IntArray) -> UnionLists:
    """Put the row's own class first in its list where it is there: a row that was full is then full at once."""
    low, high = lists.indptr[:-1].copy(), lists.indptr[1:].copy()
    ends = lists.indptr[1:]
    active = np.flatnonzero(low < high)
    while active.size:  # bisection in all sorted rows at once
        middle = (low[active] + high[active]) // 2
        short = lists.entries[middle] < own[active]
        low[active[short]] = middle[short] + 1
        high[active[~short]] = middle[~short]
        active = active[low[active] < high[active]]
    inside = np.flatnonzero(low < ends)
    row = inside[lists.entries[low[inside]] == own[inside]]
    entries = lists.entries.copy()
    entries[low[row]] = entries[lists.indptr[row]]
    entries[lists.indptr[row]] = own[row]
    return UnionLists(lists.indptr, entries)
