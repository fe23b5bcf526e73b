"""The attended numbers of every query as intervals: who can lead the row, and by how much at least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from constructions.numbers import Integers

if TYPE_CHECKING:
    from theory.patterns import Connections, IntArray

__all__ = ["End", "Intervals", "Rows"]

Intervals = tuple[Integers, Integers]
"""Lower and upper ends."""


class End(NamedTuple):
    """One end of every row, greatest or least: the leader (-1 if it depends on the input) and its least lead."""

    leader: IntArray
    lead: Integers


@dataclass(frozen=True, eq=False)
class Rows:
    """The intervals of the attended numbers, row after row; a query's own number is known to be in its piece."""

    low: Integers
    high: Integers
    keys: IntArray
    sizes: IntArray

    @classmethod
    def of(cls, layer: Connections, tokens: IntArray, own: Intervals, others: Intervals) -> Rows:
        """Gather the rows of these queries, their own numbers in `own`; `others` holds one interval a token."""
        sizes = layer.degrees[tokens]
        ends = np.cumsum(sizes)
        keys = layer.keys[np.arange(ends[-1]) + np.repeat(layer.indptr[tokens] - ends + sizes, sizes)]
        self = keys == np.repeat(tokens, sizes)
        low, high = (
            np.where(self, np.repeat(mine, sizes), side[keys]) for mine, side in zip(own, others, strict=True)
        )
        return cls(low, high, keys, sizes)

    @property
    def starts(self) -> IntArray:
        """Where every row starts."""
        return np.cumsum(self.sizes) - self.sizes

    def negated(self) -> Rows:
        """Return the rows of the negative numbers: their greatest is our least."""
        return Rows(-self.high, -self.low, self.keys, self.sizes)

    def greatest(self) -> tuple[Integers, Integers]:
        """Return an interval around the greatest number of every row."""
        return np.maximum.reduceat(self.low, self.starts), np.maximum.reduceat(self.high, self.starts)

    def end(self) -> End:
        """Return who is greatest; numbers are integers and distinct, so a leader leads by one at least."""
        floor = self.greatest()[0]
        first = self.high >= np.repeat(floor, self.sizes)
        certain = np.add.reduceat(first, self.starts, dtype=np.int64) == 1
        leader = np.add.reduceat(np.where(first, self.keys, 0), self.starts, dtype=np.int64)
        bottom = np.minimum.reduceat(self.low, self.starts)
        others = np.where(first, np.repeat(bottom, self.sizes), self.high)
        lead = floor - np.maximum.reduceat(others, self.starts)
        return End(np.where(certain, leader, -1), np.where(certain & (self.sizes > 1), lead, 1))
