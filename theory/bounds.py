"""How far relaxed ids can be from the exact ones: the error recursion of Lemma 4, layer by layer (Appendix F).

Numbers are u^T Z_k in units of delta. e_k bounds the error of token k before a layer, for all inputs at once. With R
the range over an attended set, eta the mass that rho[t .] keeps from the leader, e* the leader's error, c the factor:

    a head                e* + eta R
    other columns         e_k + c eta R                          both heads have one leader, whose error cancels
    the selected column   e_k + c (e*_max + e*_min + (eta + eta') R), and where it is the least of its own row
                          |1 - c| e_k + c (e*_max + (eta + eta') R): its error counts once, as it moves
    all-max-shift         e_k + c (e* + eta R)
    affine map a v + b    |a| e_k

R is the exact range plus twice the greatest error e, and eta what rho can lose at t for the score gap

    zeta = delta^2 (|u^T Z_k - b| - e_k) (lead - e* - e)         at least 9 delta^2 / 32 where e <= 1/8.

Beyond e = 1/8 nothing is claimed: the bound is infinite. It holds for float64 runs too, whose rounding is added layer
by layer, as long as rho's weights are, up to a relative `SLACK`, those of score gaps changed by a relative `SLACK`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt
    import sympy

    from theory.connections import IntArray
    from theory.probability_maps import ProbabilityMap

    Floats = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]

__all__ = [
    "LARGEST_ERROR",
    "AffineRanges",
    "AttentionRanges",
    "ErrorBudget",
    "HeadRanges",
    "LayerBudget",
    "Relaxation",
    "formulas",
    "recursion",
]

LARGEST_ERROR = 0.125
"""e <= delta/8 before every layer, or nothing is claimed."""

UNIT = 2.0**-53  # relative error of one float64 operation
SLACK = 2.0**-40  # however rho is computed; a row of m scores adds 16 m UNIT
INFLATION = 1 + 256 * UNIT  # of every layer's error: the recursion is computed in float64 as well
FINE = 4.0  # a larger lead * distance is rounded down to a power of two: few eta have to be computed


@dataclass(frozen=True)
class LayerBudget:
    """One layer of an `ErrorBudget`.

    Parameters
    ----------
    stage, number
        The stage's name, and the layer's number in the whole mapping, identity blocks not counted.
    error
        Bound on the error of every token after the layer, in units of delta.
    zeta, eta
        The least score gap and the greatest mass lost in the layer's heads; inf and 0 for a feed-forward layer.
    """

    stage: str
    number: int
    error: float
    zeta: float
    eta: float


@dataclass(frozen=True)
class ErrorBudget:
    """A bound on the error of relaxed ids that holds for every input, and how it came about.

    Parameters
    ----------
    t, delta
        Temperature and grid step.
    layers
        The layers in order, up to the end or to where the bound broke down.
    broken
        The layer that could not be entered because the error before it could pass delta/8; None if all is well.
    """

    t: float
    delta: float
    layers: tuple[LayerBudget, ...]
    broken: LayerBudget | None = None

    @property
    def valid(self) -> bool:
        """Whether the error is at most delta/8 before every layer."""
        return self.broken is None

    @property
    def bound(self) -> float:
        """Bound on |relaxed id - id| in units of delta; inf where the recursion broke down."""
        if self.broken is not None:
            return float("inf")
        return self.layers[-1].error if self.layers else 0.0

    @property
    def bound_real(self) -> float:
        """Bound on |u^T Z_k - u^T g_c(H)_k|, in real units."""
        return self.bound * self.delta

    @property
    def zeta(self) -> float:
        """The least score gap of all layers; inf if no token attends to another."""
        return min((layer.zeta for layer in self.layers), default=float("inf"))

    @property
    def eta(self) -> dict[str, float]:
        """The greatest mass lost in the heads of every stage."""
        greatest: dict[str, float] = {}
        for layer in self.layers:
            greatest[layer.stage] = max(layer.eta, greatest.get(layer.stage, 0.0))
        return greatest

    @property
    def why(self) -> str:
        """One sentence."""
        if self.broken is None:
            return f"the ids are within {self.bound:.3g} delta of the exact ones"
        return (
            f"no bound at t = {self.t:g}: before layer {self.broken.number} ({self.broken.stage}) the error can pass"
            " delta/8"
        )


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
        """Return the greatest mass lost at score gaps delta^2 `leads` in rows of `sizes` scores; 1 without a gap."""
        coarse = np.where(leads > FINE, 2.0 ** np.floor(np.log2(np.maximum(leads, FINE))), leads)
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
    spread, largest, after
        The range R, the greatest |u^T Z_j| of the row, and the greatest |u^T Z_k| after the layer.
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
        losses = [c * mass * spread for mass in masses]
        step = self._all_max if len(self.heads) == 1 else self._shift
        after = step(own, greatest, follows, losses, unit) + (self.sizes + 8) * unit * sum(losses)
        result = np.zeros_like(errors)
        np.maximum.at(result, self.target, after * INFLATION)
        zeta = min(float(gap.min(initial=np.inf)) for gap in gaps) * relaxation.delta**2
        return result, zeta, max(float(mass.max(initial=0.0)) for mass in masses)

    def _all_max(
        self, own: Floats, greatest: float, follows: list[Floats], losses: list[Floats], unit: float
    ) -> Floats:
        after = own + self.factor * follows[0] + losses[0]
        rounding = unit * (2 * self.factor * (self.largest + greatest) + self.after + after)
        return after + np.where((greatest == 0) & (losses[0] == 0), 0.0, rounding)  # integers are exact

    def _shift(
        self, own: Floats, greatest: float, follows: list[Floats], losses: list[Floats], unit: float
    ) -> Floats:
        c, (ahead, behind), lost = self.factor, follows, losses[0] + losses[1]
        least = self.heads[1].leader == self.tokens
        moved = np.where(least, abs(1 - c) * own, own + c * behind) + c * ahead + lost
        rounding = unit * (4 * c * (self.spread + 2 * greatest) + self.after + moved)
        moved += np.where((greatest == 0) & (lost == 0), 0.0, rounding)  # integers are exact
        drift = np.maximum(losses[0], losses[1])
        others = own + drift + np.minimum(unit * (self.after + own + drift), drift)
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
    width, after
        Of the slot; the greatest |u^T Z_k| after the layer.
    """

    inside: Mask
    stays: Mask
    slope: float
    width: float
    after: Floats

    def advance(self, errors: Floats, relaxation: Relaxation) -> tuple[Floats, float, float]:
        """Return the errors (2n,) after the layer; no score gap, no mass lost."""
        result = errors.copy()
        own = errors[: self.inside.size]
        image = self.slope * own
        rounding = relaxation.unit * (3 * self.slope * (self.width + own) + self.after + image)
        image = (image + np.where(own == 0, 0.0, rounding)) * INFLATION  # integers are exact
        image = np.where(self.stays, np.maximum(image, own), image)
        result[: self.inside.size] = np.where(self.inside, image, own)
        return result, float("inf"), 0.0


def recursion(
    layers: Iterable[tuple[str, AttentionRanges | AffineRanges]], n: int, relaxation: Relaxation
) -> ErrorBudget:
    """Carry the error through the layers, from exact ids at the start.

    Parameters
    ----------
    layers
        The stage and what each of its layers meets, in order.
    n
        Tokens.
    """
    errors = np.zeros(2 * n)
    done: list[LayerBudget] = []
    for number, (stage, ranges) in enumerate(layers):
        if not errors.max() <= LARGEST_ERROR:
            done.append(LayerBudget(stage, number, float("inf"), 0.0, 1.0))
            return ErrorBudget(relaxation.t, relaxation.delta, tuple(done), done[-1])
        errors, zeta, eta = ranges.advance(errors, relaxation)
        done.append(LayerBudget(stage, number, float(errors.max()), zeta, eta))
    return ErrorBudget(relaxation.t, relaxation.delta, tuple(done))


def formulas() -> Mapping[str, sympy.Expr]:
    """Return the recursion of this module as SymPy expressions, with one error e for all tokens, for display.

    Examples
    --------
    >>> print(formulas()["selected column"])
    c*(2*R*eta + 2*e) + e
    >>> formulas()["score gap"].subs({"e": "1/8"})
    9*delta**2/32
    """
    import sympy

    e, eta, spread, c, a, delta = sympy.symbols("e eta R c a delta", positive=True)
    return {
        "head": e + eta * spread,
        "other columns": e + c * eta * spread,
        "selected column": e + c * (2 * e + 2 * eta * spread),
        "selected column, least of its row": abs(1 - c) * e + c * (e + 2 * eta * spread),
        "all-max-shift": e + c * (e + eta * spread),
        "affine map": abs(a) * e,
        "score gap": delta**2 * (sympy.Rational(1, 2) - e) * (1 - 2 * e),
    }
