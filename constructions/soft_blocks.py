"""The blocks of the contextual mapping with rho[t .] in place of hardmax and ReLUs in place of pieces (Lemma 4).

psi~(Z; b)_k = u^T Z_A rho[t (u^T Z_A)^T (u^T Z_k - b)]; the state is v_k = u^T Z_k in units of delta, in float64,
so the scores are t delta^2 v_j (v_k - b). A block acts on all tokens at once, over the connections of its pattern.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from constructions.blocks import AffineOnSlot, AllMaxShift, SelectiveShift
from constructions.soft_relu import MARGIN, RAMP, ReluTerms, affine_terms

if TYPE_CHECKING:
    import numpy.typing as npt

    from theory.patterns import Connections, SparsityPattern
    from theory.probability_maps import ProbabilityMap

    Floats = npt.NDArray[np.float64]

__all__ = ["SoftAffine", "SoftAllMaxShift", "SoftBlock", "SoftSelectiveShift", "soften_block"]


@dataclass(frozen=True, eq=False)
class _Row:
    """What both heads of a block read: the attended values, and their extremes one a query."""

    layer: Connections
    attended: Floats
    least: Floats
    greatest: Floats

    @classmethod
    def of(cls, values: Floats, layer: Connections) -> _Row:
        attended, starts = values[..., layer.keys], layer.indptr[:-1]
        least, greatest = (extreme.reduceat(attended, starts, axis=-1) for extreme in (np.minimum, np.maximum))
        return cls(layer, attended, least, greatest)

    def psi(self, away: Floats, rho: ProbabilityMap, sharpness: float) -> tuple[Floats, Floats]:
        """Return psi~ in two parts, what hardmax would give and the rest; `away` is u^T Z_k - b.

        The weights sum to one, so sum_j p_j v_j = v* + sum_j p_j (v_j - v*): where rho is nearly one-hot the
        second sum is small, and so is its rounding.
        """
        degrees = self.layer.degrees
        scores = np.repeat(sharpness * away, degrees, axis=-1) * self.attended
        weights = rho.segmented(scores, self.layer.indptr)
        leader = np.where(away > 0, self.greatest, self.least)
        rest = weights * (self.attended - np.repeat(leader, degrees, axis=-1))
        return leader, np.add.reduceat(rest, self.layer.indptr[:-1], axis=-1)


@dataclass(frozen=True)
class SoftSelectiveShift:
    """Psi^l(Z; c, b, b') with rho[t .] in both heads.

    Parameters
    ----------
    block
        The hardmax block.
    rho
        The probability map.
    sharpness
        t delta^2.
    """

    block: SelectiveShift
    rho: ProbabilityMap
    sharpness: float

    def apply(self, values: Floats, pattern: SparsityPattern) -> Floats:
        """Return the state after the block; shape (..., n)."""
        row = _Row.of(values, pattern.layers[self.block.layer])
        first, first_rest = row.psi(values - self.block.low2 / 2, self.rho, self.sharpness)
        second, second_rest = row.psi(values - self.block.high2 / 2, self.rho, self.sharpness)
        difference = (first - second) + (first_rest - second_rest)
        return np.asarray(values + float(self.block.factor) * difference)


@dataclass(frozen=True)
class SoftAllMaxShift:
    """Omega^l(Z; c) with rho[t .]; parameters as `SoftSelectiveShift`."""

    block: AllMaxShift
    rho: ProbabilityMap
    sharpness: float

    def apply(self, values: Floats, pattern: SparsityPattern) -> Floats:
        """Return the state after the block; shape (..., n)."""
        leader, rest = _Row.of(values, pattern.layers[self.block.layer]).psi(values, self.rho, self.sharpness)
        return np.asarray(values + float(self.block.factor) * (leader + rest))


@dataclass(frozen=True)
class SoftAffine:
    """An affine layer on a slot as a sum of four ReLUs; tokens beyond its ramps are left alone, exactly.

    Evaluated piece by piece from the slot's end, the same function as the sum of `relu_terms`: far from the slot a
    sum of four large terms would lose what is left of it.

    Examples
    --------
    >>> layer = SoftAffine(AffineOnSlot(low=2, high=3, multiply=5, add=-1))
    >>> layer.apply(np.array([1.0, 2.0, 3.25, 3.375, 9.0]), None).tolist()
    [1.0, 9.0, 15.25, 9.375, 9.0]
    """

    block: AffineOnSlot

    def relu_terms(self) -> ReluTerms:
        """Return (weight, breakpoint) of the four ReLUs whose sum, a function of u^T Z, is added to row 1."""
        return affine_terms(self.block)

    def apply(self, values: Floats, pattern: SparsityPattern) -> Floats:
        """Return the state after the layer; shape (..., n)."""
        block, (m, g) = self.block, (float(MARGIN), float(RAMP))
        low, high = float(block.low), float(block.high)
        image, rest = divmod(block.multiply * block.low + block.add, block.divide)
        start = float(image) + rest / block.divide
        affine = start + (values - low) * float(block.multiply) / float(block.divide)
        (rise, first), _, _, (fall, last) = self.relu_terms()
        left = values + float(rise) * (values - float(first))
        right = values + float(fall) * (float(last) - values)
        pieces = [
            (values >= low - m) & (values <= high + m),
            (values > low - m - g) & (values < low - m),
            (values > high + m) & (values < high + m + g),
        ]
        return np.select(pieces, [affine, left, right], values)


SoftBlock = SoftSelectiveShift | SoftAllMaxShift | SoftAffine


def soften_block(block: object, rho: ProbabilityMap, sharpness: float) -> SoftBlock | None:
    """Return the relaxed block, None for an identity block."""
    match block:
        case SelectiveShift():
            return SoftSelectiveShift(block, rho, sharpness)
        case AllMaxShift():
            return SoftAllMaxShift(block, rho, sharpness)
        case AffineOnSlot():
            return SoftAffine(block)
        case _:
            return None
