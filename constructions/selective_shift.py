"""The sparse selective shifts Psi^l of the contextual mapping (Lemma 7, App. E.2), token after token along gamma.

For i = 2..n the column of gamma(i), and it alone, lies in the interval of eq. (8). Shifting over that interval
adds delta^{-d} (max - min) over A_k^l: z~_{gamma(i)} = z_{gamma(i)} + delta^{-d} (z~_{gamma(i-1)} - z_{gamma(i)}).
The paper takes one block for each of the delta^{-d} values b of the interval; one block whose window is the
whole interval does the same (`merged`). A block sits in a whole cycle of the p patterns, the others identity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from constructions.blocks import Identity, SelectiveShift
from constructions.shift_run import run_shifts, widen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructions.numbers import Integers
    from theory.patterns import SparsityPattern

__all__ = ["SelectiveShifts", "TokenShift"]


@dataclass(frozen=True)
class TokenShift:
    """The shifts of one token: `count` adjacent windows (b, b'), each in one whole cycle of the p patterns.

    Parameters
    ----------
    token
        gamma(i), whose interval the windows cover (for the name; every token meets every block).
    layer
        l_i, the pattern with gamma(i - 1) in A^{l_i} of gamma(i).
    factor
        c of Psi(Z; c, b, b'); delta^{-d} in the paper.
    low2
        Twice the first threshold b, in units of delta.
    width2
        Twice the width of a window: 2 for the paper's b -+ delta/2.
    count
        Number of windows: delta^{-d} in the paper, 1 merged.
    cycle
        p, the number of patterns.

    Examples
    --------
    >>> shift = TokenShift(token=3, layer=1, factor=4, low2=-1, width2=2, count=4, cycle=2)
    >>> shift.attention_layers, shift.high2
    (8, 7)
    """

    token: int
    layer: int
    factor: int
    low2: int
    width2: int
    count: int
    cycle: int

    @property
    def name(self) -> str:
        """What the stage does."""
        return f"selective shift of token {self.token}"

    @property
    def high2(self) -> int:
        """Twice the last threshold b'."""
        return self.low2 + self.count * self.width2

    @property
    def attention_layers(self) -> int:
        """One cycle of p blocks a window."""
        return self.cycle * self.count

    @property
    def feed_forward_layers(self) -> int:
        """None: the feed-forward sublayers are identities."""
        return 0

    def blocks(self) -> Iterator[SelectiveShift | Identity]:
        """Iterate the blocks: for every window one cycle, the shift at pattern l_i, identities elsewhere."""
        for low2 in range(self.low2, self.high2, self.width2):
            for layer in range(self.cycle):
                if layer == self.layer:
                    yield SelectiveShift(layer, self.factor, low2, low2 + self.width2)
                else:
                    yield Identity(layer)

    def apply(self, values: Any, pattern: SparsityPattern) -> Any:
        """Apply all windows at once; shape, dtype, backend and device as `values`."""
        return run_shifts((self,), values, pattern)

    def widen(self, low: Integers, high: Integers, pattern: SparsityPattern) -> tuple[Integers, Integers]:
        """Return intervals that contain the values after the stage, given intervals before it; one a token."""
        return widen((self,), low, high, pattern)


@dataclass(frozen=True)
class SelectiveShifts:
    """The shifts of gamma(2), ..., gamma(n), in order, as one stage.

    Fused, all of them together cost O(connections) numbers for every input.
    """

    shifts: tuple[TokenShift, ...]

    @property
    def name(self) -> str:
        """What the stage does."""
        return "selective shift"

    @property
    def attention_layers(self) -> int:
        """In the paper p (n - 1) delta^{-d}, merged p (n - 1)."""
        return sum(shift.attention_layers for shift in self.shifts)

    @property
    def feed_forward_layers(self) -> int:
        """None: the feed-forward sublayers are identities."""
        return 0

    def blocks(self) -> Iterator[SelectiveShift | Identity]:
        """Iterate the blocks of all tokens in order."""
        for shift in self.shifts:
            yield from shift.blocks()

    def apply(self, values: Any, pattern: SparsityPattern) -> Any:
        """Apply all shifts at once; shape, dtype, backend and device as `values`."""
        return run_shifts(self.shifts, values, pattern)

    def widen(self, low: Integers, high: Integers, pattern: SparsityPattern) -> tuple[Integers, Integers]:
        """Return intervals that contain the values after the stage, given intervals before it; one a token."""
        return widen(self.shifts, low, high, pattern)
