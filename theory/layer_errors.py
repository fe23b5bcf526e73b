"""What one layer does to the error of every token: a step of the recursion of `theory.bounds`, rounding included.

Everything is in units of delta and holds for all inputs at once. Errors are kept in two places a token, k and
n + k: a token whose number may or may not have been shifted already has a bound for either case.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from theory.connections import IntArray
    from theory.probability_maps import ProbabilityMap

    Floats = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]

__all__ = ["AffineRanges", "AttentionRanges", "HeadRanges", "Relaxation"]

UNIT = 2.0**-53  # relative error of one float64 operation
SLACK = 2.0**-40  # however rho is computed; a row of m scores adds 16 m UNIT
INFLATION = 1 + 256 * UNIT  # of every layer's error: the recursion is computed in float64 as well
FINE = 4.0  # a gap this many times the layer's least is rounded down to a power of two: fewer eta to compute


@dataclass(frozen=True)
class Relaxation:
    """What replaces hardmax, and how it is computed.

    Parameters
    ----------
    rho, t
        The probability map and its temperature.
    delta
        The grid step.
    rounding
        Whether the bound has to cover float64 runs, or exact real arithmetic only.
    """

    rho: ProbabilityMap
    t: float
    delta: float
    rounding: bool = True
    masses: dict[tuple[float, int], float] = field(default_factory=dict, repr=False, compare=False)

    @property
    def unit(self) -> float:
        """The relative error of one operation."""
        return UNIT if self.rounding else 0.0

    def lost(self, leads: Floats, sizes: IntArray) -> Floats:
        """Return the greatest mass lost at score gaps delta^2 `leads` in rows of `sizes`; 1 without a gap."""
        limit = max(FINE * leads.min(initial=np.inf), np.finfo(float).tiny)
        coarse = np.where(leads > limit, 2.0 ** np.floor(np.log2(np.maximum(leads, limit))), leads)
        pairs, place = np.unique(coarse + 1j * sizes, return_inverse=True)
        return np.array([self._lost(pair.real, int(pair.imag)) for pair in pairs.tolist()])[place]

    def _lost(self, lead: float, size: int) -> float:
        if (lead, size) not in self.masses:
            slack = SLACK + 16 * size * UNIT if self.rounding else 0.0
            gap = lead * self.delta**2 * (1 - slack)
            mass = self.rho.lost_mass(self.t, gap, size) if gap > 1e-90 else 1.0
            self.masses[lead, size] = min(1.0, mass * (1 + slack))
        return self.masses[lead, size]


@dataclass(frozen=True, eq=False)
class HeadRanges:
    """What one head meets over all inputs, one entry a query, in units of delta.

    Parameters
    ----------
    distance
        Least |u^T Z_k - b|.
    lead
        Least lead of the leader over the others of its row.
    leader
        The leading token where it is the same for all inputs, -1 where it is not.
    """

    distance: Floats
    lead: Floats
    leader: IntArray


@dataclass(frozen=True, eq=False)
class AttentionRanges:
    """What an attention layer meets over all inputs, one entry a query.

    A token whose number may or may not have been shifted already is kept in two places: `source` and `target` say
    where the error of a query is kept before and after, in 0..2n-1, token k at k and n + k.

    Parameters
    ----------
    source, target
        See above.
    tokens
        The query's token.
    sizes
        |A_k|.
    spread, largest
        The range R and the greatest |u^T Z_j| of the row.
    least, after
        The least and the greatest |u^T Z_k| after the layer.
    factor
        c.
    heads
        Two for a selective shift, one for an all-max-shift.
    selected
        Where the two heads have opposite leaders, the greatest and the least.
    """

    source: IntArray
    target: IntArray
    tokens: IntArray
    sizes: IntArray
    spread: Floats
    largest: Floats
    least: Floats
    after: Floats
    factor: float
    heads: tuple[HeadRanges, ...]
    selected: Mask

    def advance(self, errors: Floats, relaxation: Relaxation) -> tuple[Floats, float, float]:
        """Return the errors (2n,) after the layer, the least score gap, and the greatest mass lost."""
        c, unit, several = self.factor, relaxation.unit, self.sizes > 1
        own, greatest = errors[self.source], float(errors.max(initial=0.0))
        by_token = errors.reshape(2, -1).max(axis=0)
        spread = np.where(several, self.spread + 2 * greatest, 0.0)
        follows, gaps, masses = [], [], []
        for head in self.heads:
            ahead = np.where(head.leader == self.tokens, own, by_token[head.leader])
            follows.append(np.where(head.leader < 0, greatest, ahead))
            lead = head.lead - follows[-1] - greatest - 4 * unit * (self.largest + greatest)
            gap = (np.maximum(head.distance - own, 0.0) * np.maximum(lead, 0.0))[several]
            gaps.append(gap)
            masses.append(np.zeros(own.shape))
            masses[-1][several] = relaxation.lost(gap, self.sizes[several])
        losses = [c * mass * spread * (1 + (self.sizes + 8) * unit) for mass in masses]
        step = self._all_max if len(self.heads) == 1 else self._shift
        after = step(own, greatest, follows, losses, unit)
        result = np.zeros_like(errors)
        np.maximum.at(result, self.target, after * INFLATION)
        zeta = min(float(gap.min(initial=np.inf)) for gap in gaps) * relaxation.delta**2
        return result, zeta, max(float(mass.max(initial=0.0)) for mass in masses)

    def _all_max(
        self, own: Floats, greatest: float, follows: list[Floats], losses: list[Floats], unit: float
    ) -> Floats:
        after = own + self.factor * follows[0] + losses[0]
        most = unit * (2 * self.factor * (self.largest + greatest) + self.after + after)
        return _stored(after, np.minimum(most, 15 * after), self.least, unit)

    def _shift(
        self, own: Floats, greatest: float, follows: list[Floats], losses: list[Floats], unit: float
    ) -> Floats:
        c, (ahead, behind), lost = self.factor, follows, losses[0] + losses[1]
        least = self.heads[1].leader == self.tokens
        moved = np.where(least, abs(1 - c) * own, own + c * behind) + c * ahead + lost
        most = unit * (4 * c * (self.spread + 2 * greatest) + self.after + moved)
        moved = _stored(moved, np.minimum(most, 15 * (own + c * (ahead + behind) + lost)), self.least, unit)
        drift = np.maximum(losses[0], losses[1])
        others = _stored(own + drift, np.minimum(unit * (self.after + own + drift), drift), self.least, unit)
        return np.where(self.selected, moved, others)


@dataclass(frozen=True, eq=False)
class AffineRanges:
    """What a feed-forward layer v -> a v + b on a slot meets over all inputs, one entry a token.

    Parameters
    ----------
    inside
        The tokens whose number the layer can move.
    stays
        Those of them whose number may also lie outside the slot.
    slope
        |a|.
    width
        Of the slot.
    least, after
        The least and the greatest |u^T Z_k| after the layer.
    """

    inside: Mask
    stays: Mask
    slope: float
    width: float
    least: Floats
    after: Floats

    def advance(self, errors: Floats, relaxation: Relaxation) -> tuple[Floats, float, float]:
        """Return the errors (2n,) after the layer; no score gap, no mass lost."""
        result = errors.copy()
        own = errors[: self.inside.size]
        image = self.slope * own
        unit = relaxation.unit
        most = unit * (3 * self.slope * (self.width + own) + self.after + image)
        image = _stored(image, np.minimum(most, 15 * image), self.least, unit) * INFLATION
        image = np.where(self.stays, np.maximum(image, own), image)
        result[: self.inside.size] = np.where(self.inside, image, own)
        return result, float("inf"), 0.0


def _stored(error: Floats, rounding: Floats, least: Floats, unit: float) -> Floats:
    """Return the error of an integer of at least `least`, below 2^53, after it was computed and rounded.

    A result that lies x from a representable number is rounded by at most x, so four operations multiply the error
    by 16 at most; the caller says which is less, that or some units of the numbers' size. An error below a quarter
    of the last place is rounded away: the result is the integer.
    """
    total = error + rounding
    return np.where(total <= unit / 4 * least, 0.0, total)
