"""Rows that are equal need to be formed once: classes of tokens, found by hashing and confirmed entry by entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from theory.hops.numpy_kernels import entries_of

if TYPE_CHECKING:
    from theory.connections import IntArray
    from theory.hops.kernels import Kernels, Words

__all__ = ["RowClasses", "distinct_rows", "hash_table", "take_rows"]


@dataclass(frozen=True, eq=False)
class RowClasses:
    """Rows sorted into classes; rows of one class are equal, and as a rule only they are.

    Parameters
    ----------
    labels
        The class of every row, numbered by first occurrence.
    first
        The first row of every class, rising.
    indptr, entries
        The row of every class, in CSR.
    """

    labels: IntArray
    first: IntArray
    indptr: IntArray
    entries: IntArray

    @property
    def count(self) -> int:
        """Number of classes."""
        return int(self.first.size)


def take_rows(indptr: IntArray, entries: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the CSR of some rows."""
    if rows.size == indptr.size - 1:
        return indptr, entries
    lengths = indptr[rows + 1] - indptr[rows]
    return np.concatenate(([0], np.cumsum(lengths))), entries[entries_of(indptr, rows)]


def hash_table(count: int) -> Words:
    """Return scrambled 64-bit numbers, one an entry (the mixing step of SplitMix64)."""
    mixed = (np.arange(1, count + 1, dtype=np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def distinct_rows(
    kernels: Kernels, indptr: IntArray, entries: IntArray, columns: int, labels: IntArray | None = None
) -> RowClasses:
    """Sort rows into classes by the set of their entries, or of their entries' labels.

    Parameters
    ----------
    kernels
        The inner loops to use.
    indptr, entries
        The rows, sorted, in CSR.
    columns
        Entries, or labels, lie in [0, columns).
    labels
        Label of every entry; None leaves the entries as they are.
    """
    if labels is not None:
        indptr, entries = kernels.label_sets(indptr, entries, labels, columns)
    sums = kernels.row_sums(indptr, entries, hash_table(columns))
    _, first, found = np.unique(sums, return_index=True, return_inverse=True)
    other = first[found]
    if first.size < sums.size:
        other = np.where(kernels.same_rows(indptr, entries, other), other, np.arange(sums.size))
    first = np.flatnonzero(other == np.arange(sums.size))
    number = np.empty(sums.size, dtype=np.int32)
    number[first] = np.arange(first.size)
    return RowClasses(number[other], first, *take_rows(indptr, entries, first))
