"""The all-max-shifts Omega^l that end the contextual mapping (Lemma 7, App. E.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from constructions.blocks import AllMaxShift, check_attending
from constructions.neighbours import neighbours
from constructions.numbers import times

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructions.numbers import Integers
    from theory.patterns import SparsityPattern

__all__ = ["AllMaxShifts", "all_max_factor", "tighter_s"]


def all_max_factor(s: int, n: int, d: int, levels: int) -> int:
    """Return c = 2 s n delta^{-nd-1}, a plain factor.

    Examples
    --------
    >>> all_max_factor(s=2, n=3, d=1, levels=2)
    192
    """
    return int(2 * s * n * levels ** (n * d + 1))


@dataclass(frozen=True)
class AllMaxShifts:
    """Omega^{i mod p}(.; c) for i = 0..count-1: every token adds c times the greatest id that it attends to.

    Parameters
    ----------
    count
        s, the number of blocks.
    factor
        c, a plain factor.
    cycle
        p; the cycle starts with pattern 0, because the shifts before it fill whole cycles.
    """

    count: int
    factor: int
    cycle: int

    @property
    def name(self) -> str:
        """What the stage does."""
        return "all-max-shift"

    @property
    def attention_layers(self) -> int:
        """One block a step."""
        return self.count

    @property
    def feed_forward_layers(self) -> int:
        """None: the feed-forward sublayers are identities."""
        return 0

    def blocks(self) -> Iterator[AllMaxShift]:
        """Iterate the blocks in order."""
        for number in range(self.count):
            yield AllMaxShift(number % self.cycle, self.factor)

    def apply(self, values: Any, pattern: SparsityPattern) -> Any:
        """Apply all blocks, each a reduction over the connections of one pattern; raises as `AllMaxShift` does."""
        for block in self.blocks():
            values = block.apply(values, pattern)
        return values

    def widen(self, low: Integers, high: Integers, pattern: SparsityPattern) -> tuple[Integers, Integers]:
        """Return intervals that contain the values after the stage, given intervals before it; one a token.

        Parameters
        ----------
        low, high
            Python integers (object arrays), shape (n,).
        """
        for block in self.blocks():
            layer = pattern.layers[block.layer]
            check_attending(layer)
            near = neighbours(layer, low)
            low, high = (
                side + times(near.join([attended.max(axis=0) for attended in near.gather(side)]), self.factor)
                for side in (low, high)
            )
        return low, high


def tighter_s(pattern: SparsityPattern, token: int) -> int | None:
    """Return after how many steps every token has seen `token`, the cycle starting with pattern 0.

    At most the s of Assumption 1.3, and all that the proof needs of it with token = gamma(n): the greatest of
    the shifted ids has to reach every token. One step at least, None if some token never sees it; every
    connection is followed once.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> path = SparsityPattern.from_lists([[0, 1], [0, 1, 2], [1, 2]])
    >>> tighter_s(path, 0), tighter_s(path, 1)
    (2, 1)
    """
    seen = np.zeros(pattern.n, dtype=bool)
    seen[token] = True
    waiting = [[token] for _ in pattern.layers]
    step = still = 0
    while not seen.all() and still < pattern.p:
        turn = step % pattern.p
        keys, waiting[turn] = waiting[turn], []
        step, still = step + 1, still + 1
        for key in keys:
            queries = pattern.layers[turn].transposed.row(key)
            fresh = queries[~seen[queries]].tolist()
            if fresh:
                still = 0
                seen[fresh] = True
                for line in waiting:
                    line.extend(fresh)
    return max(step, 1) if seen.all() else None
