"""Where every token's number lies at every moment of the relay construction: exact, disjoint slots.

A token that codes m inputs holds one of K^{dm} consecutive integers. It starts where the embedding puts it; from
first absorb on it has a home above all of those, as wide as its longest word will ever need, the widest highest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from constructions.positional_embedding import initial_interval
from constructions.relay_absorb import Absorb
from constructions.relay_plan import MoveKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from constructions.relay_plan import Move, Plan
    from theory.patterns import IntArray

__all__ = ["Layout", "Slot", "lay_out", "word_lengths", "words"]


class Slot(NamedTuple):
    """A token's number lies in low <= v < low + K^{d digits}."""

    low: int
    digits: int


@dataclass(frozen=True)
class Layout:
    """The steps of every phase in order, and the slots at the end; all slots at rest lie in 0..top-1."""

    steps: tuple[tuple[Absorb, ...], ...]
    slots: tuple[Slot, ...]
    top: int


def word_lengths(moves: Sequence[Move], n: int) -> Iterator[tuple[Move, int, int]]:
    """Iterate the moves with the number of digits that query and key hold before each.

    Examples
    --------
    >>> from constructions.relay_plan import Move
    >>> chain = [Move(MoveKind.ABSORB, 1, 0), Move(MoveKind.ABSORB, 2, 1), Move(MoveKind.RELEASE, 1, 0)]
    >>> [(own, other) for _, own, other in word_lengths(chain, 3)]
    [(1, 1), (1, 2), (2, 1)]
    """
    digits = [1] * n
    for move in moves:
        own, other = digits[move.query], digits[move.key]
        yield move, own, other
        digits[move.query] = _digits_after(move.kind, own, other)


def _digits_after(kind: MoveKind, own: int, other: int) -> int:
    return {MoveKind.ABSORB: own + other, MoveKind.RELEASE: own - other, MoveKind.COPY: other}[kind]


def lay_out(plan: Plan, layers: Sequence[int], d: int, levels: int, positions: IntArray) -> Layout:
    """Give every move its slots: where the two tokens are before it, and where the query goes.

    Parameters
    ----------
    plan
        What absorbs what.
    layers
        For every move a pattern in which the query attends to the key.
    d, levels
        Embedding size and K.
    positions
        pos(k) of the embedding.
    """
    n = positions.size
    longest = [0] * n  # of the tokens that ever absorb
    for move, own, other in word_lengths(plan.moves, n):
        longest[move.query] = max(longest[move.query], own, _digits_after(move.kind, own, other))
    power = _Powers(levels**d)
    low = [initial_interval(position, d, levels, levels)[0] for position in positions.tolist()]
    top = max(low) + power[1]
    homes = list(low)
    # shortest words first, so that an id is no longer than its own word asks
    for token in sorted(range(n), key=lambda token: (longest[token], positions[token])):
        if longest[token]:
            homes[token] = top
            top += power[longest[token]]
    steps = []
    digits = [1] * n
    for (move, own, other), layer in zip(word_lengths(plan.moves, n), layers, strict=True):
        query, key = move.query, move.key
        step = Absorb(
            move.kind, query, key, layer, low[query], power[own], low[key], power[other], homes[query], top
        )
        step.check()
        steps.append(step)
        low[query], digits[query] = homes[query], _digits_after(move.kind, own, other)
    cuts = iter(steps)
    return Layout(
        tuple(tuple(next(cuts) for _ in phase.moves) for phase in plan.phases),
        tuple(Slot(start, size) for start, size in zip(low, digits, strict=True)),
        top,
    )


def words(plan: Plan, n: int) -> list[tuple[int, ...]]:
    """Return for every token the tokens whose inputs its final id codes, least significant digit first.

    Examples
    --------
    >>> from constructions.relay_plan import plan_relay
    >>> from theory.patterns import SparsityPattern
    >>> words(plan_relay(SparsityPattern.from_lists([[0], [0, 1], [1, 2]]).union), 3)
    [(0,), (1, 0), (2, 1, 0)]
    """
    held: list[tuple[int, ...]] = [(token,) for token in range(n)]
    for phase in plan.phases:
        for kind, query, key in phase.moves:
            if kind is MoveKind.ABSORB:
                held[query] += held[key]
            elif kind is MoveKind.COPY:
                held[query] = held[key]
            else:
                held[query] = held[query][: -len(held[key])]
    return held


class _Powers(dict[int, int]):
    """The powers of K^d, each computed once, from the last one where that is shorter, and shared by its slots."""

    def __init__(self, base: int) -> None:
        super().__init__({0: 1})
        self.base = base
        self.last = 0

    def __missing__(self, exponent: int) -> int:
        start = self.last if self.last < exponent else 0
        power: int = self[start] * self.base ** (exponent - start)
        self[exponent] = power
        self.last = exponent
        return power
