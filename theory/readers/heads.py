"""One pattern for every attention head: what libraries hold whose masks may differ from head to head."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from theory.patterns import PatternError, SparsityPattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from theory.patterns import Connections

__all__ = ["MAX_LAYERS", "HeadPatterns", "cycled", "joined"]

MAX_LAYERS = 4096
"""Layers of one model: a short hostile configuration must not ask for more."""


@dataclass(frozen=True)
class HeadPatterns:
    """The patterns of heads 0, 1, .. of the same layers; one pattern where every head attends alike.

    Parameters
    ----------
    heads
        One pattern a head, all with the same n and p.
    notes
        How the reader read them, a sentence each without its full stop; `check` prints them.

    Raises
    ------
    PatternError
        If there is no head, or the heads differ in n or p.

    Examples
    --------
    >>> both = HeadPatterns((SparsityPattern.from_lists([[0], [1]]), SparsityPattern.from_lists([[0], [0]])))
    >>> both.union().to_lists()
    [[[0], [0, 1]]]
    >>> [numbers for numbers, _ in both.distinct()]
    [[0], [1]]
    """

    heads: tuple[SparsityPattern, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.heads:
            raise PatternError("a layer needs at least one head, got none")
        first = self.heads[0]
        for number, head in enumerate(self.heads):
            if (head.n, head.p) != (first.n, first.p):
                raise PatternError(
                    f"head {number} has n={head.n}, p={head.p}, head 0 n={first.n}, p={first.p}: make all equal"
                )

    def distinct(self) -> list[tuple[list[int], SparsityPattern]]:
        """Return the different patterns in order, each with the numbers of the heads that have it."""
        groups: dict[SparsityPattern, list[int]] = {}
        for number, head in enumerate(self.heads):
            groups.setdefault(head, []).append(number)
        return [(numbers, pattern) for pattern, numbers in groups.items()]

    def only(self) -> SparsityPattern:
        """Return the pattern that all heads share.

        Raises
        ------
        PatternError
            If two heads differ; the message names them and what to choose.
        """
        for number, head in enumerate(self.heads[1:], 1):
            if head != self.heads[0]:
                raise PatternError(
                    f"head {number} attends otherwise than head 0: add head=0 (one head) or head=union (what a"
                    " token sees through all heads of a layer) to the source, or `check --heads each`"
                )
        return self.heads[0]

    def union(self) -> SparsityPattern:
        """Return, layer by layer, the union of the heads: the keys on which an output depends (paper, §5)."""
        patterns = [pattern for _, pattern in self.distinct()]
        if len(patterns) == 1:
            return patterns[0]
        layers = zip(*(pattern.layers for pattern in patterns), strict=True)
        return SparsityPattern(tuple(SparsityPattern(layer).union for layer in layers))

    def chosen(self, head: str | None) -> HeadPatterns:
        """Return one head, ``"2"``, or their ``"union"``, as heads of their own; all of them for None.

        Raises
        ------
        PatternError
            If there is no such head, or one pattern for all heads, so that there is nothing to choose.
        """
        if head is None:
            return self
        if len(self.heads) == 1:
            raise PatternError(
                f"head={head} chooses among heads, but this has one pattern for all: leave head out"
            )
        if head == "union":
            return replace(self, heads=(self.union(),))
        if not (head.isascii() and head.isdigit() and int(head) < len(self.heads)):
            raise PatternError(f"head must be union or one of 0..{len(self.heads) - 1}, got {head!r}")
        return replace(self, heads=(self.heads[int(head)],))


def cycled(layers: Sequence[Connections]) -> SparsityPattern:
    """Return the cycle of these layers, without repetition: 48 layers that repeat every 6 are a cycle of 6.

    Examples
    --------
    >>> a, b = SparsityPattern.from_lists([[0]], [[]]).layers
    >>> cycled([a, b, a, b]).p, cycled([a, b, a]).p
    (2, 3)
    """
    if len(layers) > MAX_LAYERS:
        raise PatternError(f"a model of {len(layers)} layers is over the limit of {MAX_LAYERS}")
    numbers: dict[int, int] = {}
    kinds = [numbers.setdefault(id(layer), len(numbers)) for layer in layers]
    for period in range(1, len(kinds) + 1):
        if len(kinds) % period == 0 and kinds == kinds[:period] * (len(kinds) // period):
            return SparsityPattern(tuple(layers[:period]))
    raise PatternError("a model needs at least one layer, got none")


def joined(parts: Sequence[HeadPatterns]) -> HeadPatterns:
    """Return the layers of the parts, in order, as one cycle; a part with one head for all stands for every head.

    The notes of the parts follow each other, equal ones once.

    Raises
    ------
    PatternError
        If the parts differ in n, or in the number of their heads.

    Examples
    --------
    >>> one = HeadPatterns((SparsityPattern.from_lists([[0]]),))
    >>> joined([one, HeadPatterns(one.heads * 3)]).heads[2].p
    2
    """
    most = max(len(part.heads) for part in parts)
    for number, part in enumerate(parts):
        if len(part.heads) not in (1, most):
            raise PatternError(f"part {number} has {len(part.heads)} heads, another {most}: make all equal")
    spread = [part.heads * (most // len(part.heads)) for part in parts]
    heads = tuple(
        SparsityPattern(tuple(layer for pattern in patterns for layer in pattern.layers))
        for patterns in zip(*spread, strict=True)
    )
    return HeadPatterns(heads, tuple(dict.fromkeys(note for part in parts for note in part.notes)))
