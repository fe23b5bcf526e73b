"""What every layer of a contextual mapping meets over all inputs: exact ranges, leads and leaders, by intervals.

One interval a token contains its number for every input. While the windows of a selective shift walk through a
token's interval, the interval is kept in two parts: slot k what has not been shifted yet, slot n + k what has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from constructions.blocks import AffineOnSlot, AllMaxShift, SelectiveShift
from constructions.numbers import Integers, ProofError
from constructions.positional_embedding import initial_interval
from constructions.selective_shift import SelectiveShifts
from constructions.soft_rows import Rows
from theory.layer_errors import AffineRanges, AttentionRanges, HeadRanges

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt

    from constructions.blocks import AttentionBlock, FeedForwardBlock
    from constructions.mapping import StagedMapping
    from constructions.stage import Stage
    from theory.patterns import IntArray, SparsityPattern

    Floats = npt.NDArray[np.float64]
    LayerRanges = AttentionRanges | AffineRanges

__all__ = ["layer_ranges"]


def layer_ranges(mapping: StagedMapping) -> Iterator[tuple[str, LayerRanges]]:
    """Iterate the layers of a mapping (identity blocks left out): the stage's name, and what the layer meets.

    Intervals are sharp in the three constructions with the proof's constants; with other constants they may be
    wider than need be, never too narrow for inputs on which hardmax meets no tie.

    Raises
    ------
    ProofError
        If a number that an all-max-shift meets may be negative.
    """
    walk = _Walk.start(mapping)
    for stage in mapping.stages:
        for blocks in _groups(stage):
            moving = [block for block in blocks if isinstance(block, SelectiveShift | AllMaxShift | AffineOnSlot)]
            for place, block in enumerate(moving, 1):
                if isinstance(block, AffineOnSlot):
                    yield stage.name, walk.affine(block)
                else:
                    yield stage.name, walk.attend(block, settle=place == len(moving))


def _groups(stage: Stage) -> Iterator[Iterable[AttentionBlock | FeedForwardBlock]]:
    """Iterate the runs of blocks between which every token is in one part."""
    if isinstance(stage, SelectiveShifts):
        yield from (shift.blocks() for shift in stage.shifts)
    else:
        yield from ([block] for block in stage.blocks())


class _Pieces(NamedTuple):
    """The queries: intervals of their numbers, their slots before and after, and which heads take the maximum."""

    low: Integers
    high: Integers
    source: IntArray
    target: IntArray
    tops: tuple[npt.NDArray[np.bool_], ...]
    distances: tuple[Floats, ...]


@dataclass(eq=False)
class _Walk:
    """The intervals at one moment: `low`, `high` of shape (2n,), and which slots hold a part of a token."""

    pattern: SparsityPattern
    low: Integers
    high: Integers
    held: npt.NDArray[np.bool_]

    @classmethod
    def start(cls, mapping: StagedMapping) -> _Walk:
        intervals = [initial_interval(p, mapping.d, mapping.K, mapping.step) for p in mapping.positions.tolist()]
        sides = np.array(intervals, dtype=object).T
        low, high = (np.concatenate([side, side]) for side in sides)
        return cls(mapping.pattern, low, high, np.arange(low.size) < mapping.pattern.n)

    def attend(self, block: SelectiveShift | AllMaxShift, *, settle: bool) -> AttentionRanges:
        """Return what the block meets and move on; `settle` puts both parts of every token together."""
        pieces = self._cut(block) if isinstance(block, SelectiveShift) else self._whole()
        n = self.pattern.n
        tokens = pieces.source % n
        rows = Rows.of(self.pattern.layers[block.layer], tokens, (pieces.low, pieces.high), self._tokens())
        turned = rows.negated()
        top, bottom, selected = rows.end(), turned.end(), pieces.tops[0] & ~pieces.tops[-1] & (rows.sizes > 1)
        (best, most), (worst, least) = rows.greatest(), turned.greatest()
        low, high = pieces.low, pieces.high
        if isinstance(block, SelectiveShift):
            c = block.factor
            steady = selected & (bottom.leader == tokens) & (c >= 1)  # v -> (1 - c) v + c max falls in v
            change = c * np.maximum(best + worst, 0), c * (most + least)
            after = (
                np.where(selected, np.where(steady, (1 - c) * high + c * best, low + change[0]), low),
                np.where(selected, np.where(steady, (1 - c) * low + c * most, high + change[1]), high),
            )
        else:
            after = low + block.factor * best, high + block.factor * most
        target = pieces.target % n if settle else pieces.target
        self._put(*after, target)
        heads = tuple(
            HeadRanges(
                distance,
                _down(np.where(at_top, top.lead, bottom.lead)),
                np.where(at_top, top.leader, bottom.leader),
            )
            for at_top, distance in zip(pieces.tops, pieces.distances, strict=True)
        )
        return AttentionRanges(
            source=pieces.source,
            target=target,
            tokens=tokens,
            sizes=rows.sizes,
            spread=_up(most + least),
            largest=_magnitude(-least, most),
            least=_least(*after),
            after=_magnitude(*after),
            factor=float(block.factor),
            heads=heads,
            selected=selected,
        )

    def affine(self, block: AffineOnSlot) -> AffineRanges:
        """Return what the layer meets and move on."""
        n = self.pattern.n
        low, high = self.low[:n], self.high[:n]
        inside = (low <= block.high) & (high >= block.low)
        stays = inside & ((low < block.low) | (high > block.high))
        cut = np.maximum(low, block.low), np.minimum(high, block.high)
        ends = [(block.multiply * end + block.add) // block.divide for end in cut]
        image = np.minimum(*ends), np.maximum(*ends)
        self.low[:n] = np.where(inside, np.where(stays, np.minimum(low, image[0]), image[0]), low)
        self.high[:n] = np.where(inside, np.where(stays, np.maximum(high, image[1]), image[1]), high)
        after = self.low[:n], self.high[:n]
        slope = abs(block.multiply) / block.divide
        return AffineRanges(
            inside, stays, slope, float(block.high - block.low), _least(*after), _magnitude(*after)
        )

    def _tokens(self) -> tuple[Integers, Integers]:
        """Return one interval a token around both its parts."""
        n = self.pattern.n
        low = np.where(self.held[n:], np.minimum(self.low[:n], self.low[n:]), self.low[:n])
        high = np.where(self.held[n:], np.maximum(self.high[:n], self.high[n:]), self.high[:n])
        moved = self.held[n:] & ~self.held[:n]
        return np.where(moved, self.low[n:], low), np.where(moved, self.high[n:], high)

    def _whole(self) -> _Pieces:
        """Return every part as it is, for a head whose threshold is 0."""
        source = np.flatnonzero(self.held)
        low, high = self.low[source], self.high[source]
        if np.any(low < 0):
            raise ProofError(f"u^T Z_k may be negative at token {source[np.argmin(low)] % self.pattern.n}")
        return _Pieces(low, high, source, source, (np.ones(source.size, dtype=bool),), (_down(low),))

    def _cut(self, block: SelectiveShift) -> _Pieces:
        """Cut every part at both thresholds: below, between, above; what lies between is going to move."""
        slots, n = np.flatnonzero(self.held), self.pattern.n
        first, last = block.low2 // 2 + 1, -(-block.high2 // 2) - 1
        low, high = self.low[slots], self.high[slots]
        cuts = (
            (low, np.minimum(high, -(-block.low2 // 2) - 1)),
            (np.maximum(low, first), np.minimum(high, last)),
            (np.maximum(low, block.high2 // 2 + 1), high),
        )
        there = [start <= stop for start, stop in cuts]
        low, high = (
            np.concatenate([side[mask] for side, mask in zip(sides, there, strict=True)])
            for sides in zip(*cuts, strict=True)
        )
        source = np.concatenate([slots[mask] for mask in there])
        zone = np.repeat([-1, 0, 1], [int(mask.sum()) for mask in there])
        return _Pieces(
            low,
            high,
            source,
            np.where(zone == 0, n + source % n, source),
            (zone >= 0, zone > 0),
            (
                _down(np.where(zone >= 0, 2 * low - block.low2, block.low2 - 2 * high)) / 2,
                _down(np.where(zone > 0, 2 * low - block.high2, block.high2 - 2 * high)) / 2,
            ),
        )

    def _put(self, low: Integers, high: Integers, target: IntArray) -> None:
        """Put the pieces into their slots."""
        self.held[:] = False
        self.held[target] = True
        order = np.argsort(target, kind="stable")
        starts = np.flatnonzero(np.diff(target[order], prepend=-1))
        slots = target[order][starts]
        self.low[slots] = np.minimum.reduceat(low[order], starts)
        self.high[slots] = np.maximum.reduceat(high[order], starts)


def _least(low: Integers, high: Integers) -> Floats:
    return _down(np.maximum(np.maximum(low, -high), 0))


def _magnitude(low: Integers, high: Integers) -> Floats:
    return _up(np.maximum(abs(low), abs(high)))


def _down(numbers: Integers) -> Floats:
    """Return floats that are no larger."""
    near = numbers.astype(np.float64)
    return np.where(near > numbers, np.nextafter(near, -np.inf), near)


def _up(numbers: Integers) -> Floats:
    """Return floats that are no smaller."""
    near = numbers.astype(np.float64)
    return np.where(near < numbers, np.nextafter(near, np.inf), near)
