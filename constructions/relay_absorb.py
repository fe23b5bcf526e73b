"""Absorb: the relay construction's one step, four affine feed-forward layers around one selective shift.

The query k holds low + x with 0 <= x < held, the key j holds key_low + y with 0 <= y < key_held, and every token
at rest lies in 0..top-1. k is moved below 0, j to `top` and above, so in A_k they are the minimum and the maximum
and a selective shift with factor 2 turns v_k into 2 v_j - v_k: the pair (x, y) as the number x + radix y.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from array_api_compat import array_namespace

from constructions.blocks import AffineOnSlot, Identity, SelectiveShift
from constructions.numbers import ProofError
from constructions.relay_plan import MoveKind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructions.blocks import AttentionBlock, FeedForwardBlock

__all__ = ["FEED_FORWARD_LAYERS", "Absorb"]

FEED_FORWARD_LAYERS = 4  # of one step: k down, j up; after the shift j back, k home


@dataclass(frozen=True, slots=True)
class Absorb:
    """One step between two tokens, exact on their slots.

    With base = `radix`, the query's code x and the key's code y:
    ABSORB (radix = held) x -> x + radix y;  RELEASE (radix = held / key_held) x + radix y -> x;  COPY x -> y.

    Parameters
    ----------
    kind, query, key, layer
        The move, and a pattern with key in A_query.
    low, held
        The query's slot before the step: low <= v < low + held.
    key_low, key_held
        The key's slot.
    home
        Where the query's slot starts afterwards.
    top
        Every token at rest lies in 0..top-1.

    Examples
    --------
    >>> step = Absorb(MoveKind.ABSORB, 0, 1, layer=0, low=0, held=3, key_low=3, key_held=3, home=6, top=15)
    >>> step.result, step.bound
    (9, 47)
    """

    kind: MoveKind
    query: int
    key: int
    layer: int
    low: int
    held: int
    key_low: int
    key_held: int
    home: int
    top: int

    @property
    def radix(self) -> int:
        """The weight of the key's code y in the query's code."""
        if self.kind is MoveKind.COPY:
            return 1
        return self.held if self.kind is MoveKind.ABSORB else self.held // self.key_held

    @property
    def result(self) -> int:
        """How many codes the query can hold after the step."""
        if self.kind is MoveKind.RELEASE:
            return self.radix
        return self.radix * self.key_held

    @property
    def scale(self) -> int:
        """The query's code is doubled where radix / 2 is no integer, and halved on the way home."""
        return 1 + self.radix % 2

    @property
    def stretch(self) -> int:
        """M: the key's code is multiplied by scale radix / 2, because the shift doubles it."""
        return self.scale * self.radix // 2

    @property
    def depth(self) -> int:
        """The query is moved to -1 - depth .. -1."""
        return 0 if self.kind is MoveKind.COPY else self.scale * (self.held - 1)

    @property
    def reach(self) -> int:
        """The key is moved to top .. top + reach."""
        return self.stretch * (self.key_held - 1)

    @property
    def landing(self) -> int:
        """Where the query's slot starts right after the shift."""
        return 2 * self.top + 1 + (2 * self.reach if self.kind is MoveKind.RELEASE else 0)

    @property
    def bound(self) -> int:
        """Every number of the step lies in [-bound, bound]: the query's landing is furthest out."""
        return self.landing + self.scale * (self.result - 1)

    def check(self) -> None:
        """Check what makes the step exact; a step that passes turns any two codes into the one it should.

        Raises
        ------
        ProofError
            If a slot leaves the band of the tokens at rest.
        """
        # then the query lands clear of the key too: reach <= radix (key_held - 1) < top, so top + reach < landing
        slots = ((self.low, self.held), (self.key_low, self.key_held), (self.home, self.result))
        if any(low < 0 or low + width > self.top for low, width in slots):
            raise ProofError(
                f"token {self.query} absorbs token {self.key}: a slot leaves the band 0..{self.top - 1}"
            )

    def blocks(self, patterns: int) -> Iterator[AttentionBlock | FeedForwardBlock]:
        """Iterate the layers in order; the other patterns of the cycle get identity blocks."""
        yield self.down
        yield self.up
        for layer in range(patterns):
            yield self.shift if layer == self.layer else Identity(layer)
        yield self.back
        yield self.back_home

    @property
    def down(self) -> AffineOnSlot:
        """The query below everything, its code turned around: low + x -> -1 - scale x, or -1 whatever x was."""
        last = self.low + self.held - 1
        if self.kind is MoveKind.COPY:
            return AffineOnSlot(self.low, last, 0, -1)
        return AffineOnSlot(self.low, last, -self.scale, self.scale * self.low - 1)

    @property
    def up(self) -> AffineOnSlot:
        """The key above everything: key_low + y -> top + M y, turned around for a release."""
        last = self.key_low + self.key_held - 1
        if self.kind is MoveKind.RELEASE:
            return AffineOnSlot(self.key_low, last, -self.stretch, self.top + self.stretch * last)
        return AffineOnSlot(self.key_low, last, self.stretch, self.top - self.stretch * self.key_low)

    @property
    def shift(self) -> SelectiveShift:
        """v_k -> v_k + 2 (max - min) = 2 v_j - v_k; the window is exactly k's slot."""
        return SelectiveShift(self.layer, 2, 2 * (-1 - self.depth) - 1, -1)

    @property
    def back(self) -> AffineOnSlot:
        """The key back to where it was: the inverse of `up`."""
        up, sign = self.up, -1 if self.kind is MoveKind.RELEASE else 1
        return AffineOnSlot(self.top, self.top + self.reach, sign, -sign * up.add, self.stretch)

    @property
    def back_home(self) -> AffineOnSlot:
        """The query into its own slot, every code one unit apart again: landing + scale code -> home + code."""
        start = self.landing
        return AffineOnSlot(start, self.bound, 1, self.scale * self.home - start, self.scale)

    def fuse(self, rows: Any) -> None:
        """Apply the whole step in place to a state with one row a token, shape (n, inputs), of any backend.

        Only its two tokens' rows are read, and the query's is written.

        Raises
        ------
        ProofError
            If one of the two tokens is not in its slot.
        """
        own, other = rows[self.query, ...] - self.low, rows[self.key, ...] - self.key_low
        outside = _outside(own, self.held), _outside(other, self.key_held)
        any_of = array_namespace(rows).any
        if any_of(outside[0] | outside[1]):
            token = self.query if any_of(outside[0]) else self.key
            raise ProofError(f"token {token} is outside its slot: the state is not one that this step meets")
        if self.kind is MoveKind.COPY:
            code = other
        elif self.kind is MoveKind.ABSORB:
            code = own + self.radix * other
        else:
            code = own - self.radix * other
        rows[self.query, ...] = self.home + code


def _outside(code: Any, width: int) -> Any:
    return (code < 0) | (code >= width)
