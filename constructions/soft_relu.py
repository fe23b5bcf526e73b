"""The ReLUs that replace the discontinuous activations (Lemma 4, Appendix F, eq. 15): at most four a layer.

A feed-forward layer of the relaxed network adds sum_i w_i ReLU(x - b_i) times a fixed column, x being a row of Z
or u^T Z. The terms (w_i, b_i) are exact fractions, x and b_i in units of delta. ReLU is homogeneous: in real units
the weights are the same and every breakpoint is multiplied by delta. Four hidden units hold them.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from constructions.numbers import ProofError

if TYPE_CHECKING:
    from constructions.blocks import AffineOnSlot

__all__ = [
    "MARGIN",
    "RAMP",
    "ReluTerms",
    "affine_terms",
    "check_alpha",
    "quantization_terms",
    "relu_sum",
    "window_terms",
]

ReluTerms = tuple[tuple[Fraction, Fraction], ...]
"""(weight, breakpoint) of every ReLU, breakpoints rising and in units of delta."""

MARGIN = Fraction(1, 4)
"""m: how far beyond its slot the affine layer is still affine, in units of delta: room for a soft run's errors."""

RAMP = Fraction(1, 4)
"""g: over how much more it fades to nothing. The next slot is a unit away, so m + g + (room for errors) < 1."""


def check_alpha(alpha: float) -> None:
    """Raise ProofError unless 0 < alpha < 1: the share of every cell that is ramp."""
    if not 0 < alpha < 1:
        raise ProofError(f"alpha must lie between 0 and 1, got {alpha}: it is the ramp's share of every cell")


def quantization_terms(level: int, alpha: float) -> ReluTerms:
    """Return phi~_alpha(x - level), eq. (15): -(x - level) on the cell's first 1 - alpha, back to 0 at its end.

    Parameters
    ----------
    level
        k of eq. (14): the cell [k delta, (k+1) delta).
    alpha
        In (0, 1).

    Examples
    --------
    >>> [(str(weight), str(breakpoint)) for weight, breakpoint in quantization_terms(3, 0.25)]
    [('-1', '3'), ('4', '15/4'), ('-3', '4')]
    """
    check_alpha(alpha)
    share = Fraction(alpha)
    ramp = (1 - share) / share
    return (
        (Fraction(-1), Fraction(level)),
        (1 / share, level + 1 - share),
        (-ramp, Fraction(level + 1)),
    )


def window_terms(identifier: int) -> ReluTerms:
    """Return the window of the value mapping: 1 up to a quarter of a unit from the id, 0 from half a unit on.

    Examples
    --------
    >>> [relu_sum(window_terms(7), Fraction(x)) == y for x, y in (("6.5", 0), ("6.75", 1), ("7.25", 1), ("9", 0))]
    [True, True, True, True]
    """
    quarter = Fraction(1, 4)
    return tuple(
        (Fraction(4 * sign), identifier + steps * quarter) for sign, steps in ((1, -2), (-1, -1), (-1, 1), (1, 2))
    )


def affine_terms(block: AffineOnSlot) -> ReluTerms:
    """Return the update v' - v of an affine layer on a slot, made continuous beyond the slot by two ramps.

    With f(v) = (a - 1) v + b the update on the slot [lo, hi]: f on [lo - m, hi + m], 0 outside
    [lo - m - g, hi + m + g], linear between. Slopes change by s1, (a - 1) - s1, s2 - (a - 1), -s2, where
    s1 = f(lo - m) / g and s2 = -f(hi + m) / g.

    Examples
    --------
    >>> from constructions.blocks import AffineOnSlot
    >>> terms = affine_terms(AffineOnSlot(low=2, high=3, multiply=5, add=-1))
    >>> [str(relu_sum(terms, Fraction(v))) for v in (1, 2, 3, 4)]
    ['0', '7', '11', '0']
    """
    slope = Fraction(block.multiply, block.divide) - 1
    offset = Fraction(block.add, block.divide)
    first, last = block.low - MARGIN, block.high + MARGIN
    rise, fall = (slope * first + offset) / RAMP, -(slope * last + offset) / RAMP
    return (
        (rise, first - RAMP),
        (slope - rise, first),
        (fall - slope, last),
        (-fall, last + RAMP),
    )


def relu_sum(terms: ReluTerms, x: Fraction) -> Fraction:
    """Return sum_i w_i ReLU(x - b_i), exactly."""
    return sum((weight * max(x - breakpoint, Fraction(0)) for weight, breakpoint in terms), Fraction(0))
