"""Unions of runs of consecutive rows: a window of w rows as two table look-ups, and not as w unions.

The table of height h holds at place i the union of the rows i, ..., i + 2^h - 1; each height is made from the one
below by one pass. A run of length L is the union of two entries at height floor(log2 L), at its two ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from theory.connections import IntArray

__all__ = ["Runs", "find_runs"]

WORTH_IT = 3.0  # look-ups and passes must be this many times fewer than plain unions, which can stop early


@dataclass(frozen=True, eq=False)
class Runs:
    """Row r is the union, over all heights h, of the table's places ``places[indptr[h, r]:indptr[h, r + 1]]``."""

    indptr: IntArray
    places: IntArray

    @property
    def heights(self) -> int:
        """How many heights of the table are used."""
        return int(self.indptr.shape[0])


def find_runs(indptr: IntArray, entries: IntArray, rows: int, worth: float = WORTH_IT) -> Runs | None:
    """Break sorted lists of row numbers below `rows` into runs; None where that does not pay.

    Examples
    --------
    >>> runs = find_runs(np.array([0, 5]), np.array([2, 3, 4, 5, 6]), rows=8, worth=0.0)
    >>> runs.indptr.tolist(), runs.places.tolist()
    ([[0, 0], [0, 0], [0, 2]], [2, 3])
    """
    if not entries.size:
        return None
    begins = np.ones(entries.size, dtype=bool)
    begins[1:] = np.diff(entries) != 1
    begins[indptr[:-1][indptr[:-1] < entries.size]] = True
    first = np.flatnonzero(begins)
    if worth * first.size > entries.size:
        return None
    length = np.diff(np.append(first, entries.size))
    row = np.searchsorted(indptr, first, side="right") - 1
    height = np.frexp(length.astype(np.float64))[1] - 1  # floor(log2(length))
    start = entries[first].astype(np.int64)
    second = np.flatnonzero(length > 1 << height)
    places = np.concatenate((start, start[second] + length[second] - (1 << height[second])))
    row, height = np.concatenate((row, row[second])), np.concatenate((height, height[second]))
    heights = int(height.max()) + 1
    if worth * (places.size + (heights - 1) * rows) > entries.size:
        return None
    count = indptr.size - 1
    cell = height.astype(np.int64) * count + row
    order = np.argsort(cell, kind="stable")
    ends = np.cumsum(np.bincount(cell, minlength=heights * count))
    table = np.empty((heights, count + 1), dtype=np.int64)
    table[:, 1:] = ends.reshape(heights, count)
    table[0, 0] = 0
    table[1:, 0] = table[:-1, -1]
    return Runs(table, places[order].astype(np.int32))
