"""The blocks of the contextual mapping with rho[t .] in place of hardmax and ReLUs in place of pieces (Lemma 4).

psi~(Z; b)_k = u^T Z_A rho[t (u^T Z_A)^T (u^T Z_k - b)]; the state is v_k = u^T Z_k in units of delta, in float64,
an array of any backend, so the scores are t delta^2 v_j (v_k - b). A block acts on all tokens at once, over the
connections of its pattern.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from array_api_compat import array_namespace, device

from constructions.blocks import AffineOnSlot, AllMaxShift, SelectiveShift, check_attending
from constructions.neighbours import neighbours
from constructions.soft_relu import MARGIN, RAMP, ReluTerms, affine_terms
from constructions.soft_run import runs_on
from theory.probability_maps.along import Along
from theory.probability_maps.base import ShiftInvariantMap

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructions.neighbours import Rows
    from theory.patterns import Connections, SparsityPattern
    from theory.probability_maps import ProbabilityMap

__all__ = ["SoftAffine", "SoftAllMaxShift", "SoftBlock", "SoftSelectiveShift", "soften_block"]

PIECES = {"cpu": 2**17, "cuda": 2**26}
"""Scores computed at once: on a CPU, what is made of them stays in its cache."""


@dataclass(frozen=True)
class _Heads:
    """The heads of a block: psi~(Z; b) of the first threshold b, minus that of the second where there is one."""

    thresholds: tuple[float, ...]
    rho: ProbabilityMap
    sharpness: float

    def over(self, values: Any, layer: Connections) -> Any:
        """Return what they make of every token; shape as `values`, (..., n).

        Raises
        ------
        ProofError
            If some A_k is empty.
        """
        check_attending(layer)
        near = neighbours(layer, values)
        xp, first = near.xp, near.xp.moveaxis(values, -1, 0)
        thresholds = xp.asarray(self.thresholds, dtype=values.dtype, device=device(values))
        thresholds = xp.reshape(thresholds, (-1, *(1,) * values.ndim))
        most = PIECES[runs_on(values)] // len(self.thresholds)
        parts = [
            self._rows(xp, *part, thresholds) for rows in near.rows for part in _pieces(xp, first, rows, most)
        ]
        if len(parts) > len(near.rows) == 1:
            parts = [xp.concat(parts, axis=0)]
        return near.join(parts)

    def _rows(self, xp: Any, attended: Any, own: Any, thresholds: Any) -> Any:
        """Return it for rows of one degree, given u^T Z_A (degree, rows, ...) and u^T Z_k (rows, ...).

        The weights sum to one, so sum_j p_j v_j = v* + sum_j p_j (v_j - v*) with the v* that hardmax would give:
        where rho is nearly one-hot the second sum is small, and so is its rounding.
        """
        away = own[None, ...] - thresholds  # u^T Z_k - b, one more axis in front: the heads
        leader = xp.where(away > 0, xp.max(attended, axis=0), xp.min(attended, axis=0))
        attended, along = attended[:, None, ...], Along(xp, 0)  # both heads read the same
        others, slope = attended - leader, self.sharpness * away
        if isinstance(self.rho, ShiftInvariantMap):  # the largest score is that of the leader: 0 below itself
            rest = self.rho.mean_below(slope * others, others, along)[0, ...]
        else:
            rest = xp.sum(self.rho(slope * attended, axis=0) * others, axis=0)
        if len(self.thresholds) == 1:
            return leader[0, ...] + rest[0, ...]
        return (leader[0, ...] - leader[1, ...]) + (rest[0, ...] - rest[1, ...])


def _pieces(xp: Any, first: Any, rows: Rows, most: int) -> Iterator[tuple[Any, Any]]:
    """Iterate u^T Z_A (degree, rows, ...) and u^T Z_k (rows, ...) of rows of one degree, `most` numbers at a time.

    `first` has the tokens first, (n, ...).
    """
    count, others = rows.queries.shape[0], first.shape[1:]
    step = max(1, most // max(1, rows.degree * prod(others)))
    keys = xp.reshape(rows.keys, (rows.degree, count))
    for a in range(0, count, step):
        b = min(a + step, count)
        attended = xp.take(first, xp.reshape(keys[:, a:b], (-1,)), axis=0)
        own = xp.take(first, rows.queries[a:b], axis=0)
        yield xp.reshape(attended, (rows.degree, b - a, *others)), own


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

    def apply(self, values: Any, pattern: SparsityPattern) -> Any:
        """Return the state after the block; shape (..., n)."""
        heads = _Heads((self.block.low2 / 2, self.block.high2 / 2), self.rho, self.sharpness)
        return values + float(self.block.factor) * heads.over(values, pattern.layers[self.block.layer])


@dataclass(frozen=True)
class SoftAllMaxShift:
    """Omega^l(Z; c) with rho[t .]; parameters as `SoftSelectiveShift`."""

    block: AllMaxShift
    rho: ProbabilityMap
    sharpness: float

    def apply(self, values: Any, pattern: SparsityPattern) -> Any:
        """Return the state after the block; shape (..., n)."""
        heads = _Heads((0.0,), self.rho, self.sharpness)
        return values + float(self.block.factor) * heads.over(values, pattern.layers[self.block.layer])


@dataclass(frozen=True)
class SoftAffine:
    """An affine layer on a slot as a sum of four ReLUs; tokens beyond its ramps are left alone, exactly.

    Evaluated piece by piece from the slot's end, the same function as the sum of `relu_terms`: far from the slot a
    sum of four large terms would lose what is left of it.

    Examples
    --------
    >>> import numpy as np
    >>> layer = SoftAffine(AffineOnSlot(low=2, high=3, multiply=5, add=-1))
    >>> layer.apply(np.array([1.0, 2.0, 3.25, 3.375, 9.0]), None).tolist()
    [1.0, 9.0, 15.25, 9.375, 9.0]
    """

    block: AffineOnSlot

    def relu_terms(self) -> ReluTerms:
        """Return (weight, breakpoint) of the four ReLUs whose sum, a function of u^T Z, is added to row 1."""
        return affine_terms(self.block)

    def apply(self, values: Any, pattern: SparsityPattern) -> Any:
        """Return the state after the layer; shape (..., n)."""
        xp, block, (m, g) = array_namespace(values), self.block, (float(MARGIN), float(RAMP))
        low, high = float(block.low), float(block.high)
        touched = (values > low - m - g) & (values < high + m + g)
        inside = (values >= low - m) & (values <= high + m)
        image, rest = divmod(block.multiply * block.low + block.add, block.divide)
        start, affine = float(image) + rest / block.divide, (values - low) * float(block.multiply)
        if block.divide != 1:
            affine = affine / float(block.divide)
        after = xp.where(inside, affine + start, values)
        if not bool(xp.any(touched != inside)):
            return after
        (rise, first), _, _, (fall, last) = self.relu_terms()
        ramp = xp.where(
            values < low,
            values + float(rise) * (values - float(first)),
            values + float(fall) * (float(last) - values),
        )
        return xp.where(touched & ~inside, ramp, after)


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
