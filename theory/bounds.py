"""How far relaxed ids can be from the exact ones: the error recursion of Lemma 4, layer by layer (Appendix F).

Numbers are u^T Z_k in units of delta. e_k bounds the error of token k before a layer, for all inputs at once. With
R the range over an attended set, eta the mass that rho[t .] keeps from the leader, e* the leader's error, c the
layer's factor:

    a head                e* + eta R
    other columns         e_k + c eta R                          both heads have one leader, whose error cancels
    the selected column   e_k + c (e*_max + e*_min + (eta + eta') R), and where it is the least of its own row
                          |1 - c| e_k + c (e*_max + (eta + eta') R): its error counts once, as it moves
    all-max-shift         e_k + c (e* + eta R)
    affine map a v + b    |a| e_k

R is the exact range plus twice the greatest error e, and eta what rho can lose at t for the score gap

    zeta = delta^2 (|u^T Z_k - b| - e_k) (lead - e* - e)         at least 9 delta^2 / 32 where e <= 1/8.

Beyond e = 1/8 nothing is claimed: the bound is infinite. It holds for float64 runs too, whose rounding is added
layer by layer, as long as rho's weights are, up to a relative 2^-40, those of score gaps changed by as little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from theory.probability_maps import UserMap
from theory.wording import name_upper

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import sympy

    from theory.layer_errors import AffineRanges, AttentionRanges, Relaxation

__all__ = ["LARGEST_ERROR", "ErrorBudget", "LayerBudget", "formulas", "recursion"]

LARGEST_ERROR = 0.125
"""e <= delta/8 before every layer, or nothing is claimed."""


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
    unproved
        The name of a map of which nothing is proved, so that no bound is claimed; None for any other.
    """

    t: float
    delta: float
    layers: tuple[LayerBudget, ...]
    broken: LayerBudget | None = None
    unproved: str | None = None

    @property
    def valid(self) -> bool:
        """Whether the error is at most delta/8 before every layer."""
        return self.broken is None and self.unproved is None

    @property
    def bound(self) -> float:
        """Bound on |relaxed id - id| in units of delta; inf where the recursion broke down."""
        if not self.valid:
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
        if self.unproved is not None:
            return f"no bound: nothing is proved of the mass that {self.unproved} loses"
        if self.broken is None:
            return f"the ids are within {name_upper(self.bound)} delta of the exact ones"
        return (
            f"no bound at t = {self.t:g}: before layer {self.broken.number} ({self.broken.stage}) the error can"
            " pass delta/8"
        )


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
    if isinstance(relaxation.rho, UserMap):
        return ErrorBudget(relaxation.t, relaxation.delta, (), unproved=relaxation.rho.name)
    errors = np.zeros(2 * n)
    done: list[LayerBudget] = []
    for number, (stage, ranges) in enumerate(layers):
        if not errors.max() <= LARGEST_ERROR:
            broken = LayerBudget(stage, number, float("inf"), 0.0, 1.0)
            return ErrorBudget(relaxation.t, relaxation.delta, tuple(done), broken)
        errors, zeta, eta = ranges.advance(errors, relaxation)
        done.append(LayerBudget(stage, number, float(errors.max()), zeta, eta))
    return ErrorBudget(relaxation.t, relaxation.delta, tuple(done))


def formulas() -> Mapping[str, sympy.Expr]:
    """Return the recursion of this module as SymPy expressions, with one error e for all tokens, for display.

    Examples
    --------
    >>> print(formulas()["selected column"])
    c*(2*R*eta + 2*e) + e
    >>> formulas()["score gap, e = 1/8"]
    9*delta**2/32
    """
    import sympy

    e, eta, spread, c, a, delta = sympy.symbols("e eta R c a delta")
    gap = delta**2 * (sympy.Rational(1, 2) - e) * (1 - 2 * e)
    return {
        "head": e + eta * spread,
        "other columns": e + c * eta * spread,
        "selected column": e + c * (2 * e + 2 * eta * spread),
        "selected column, least of its row": abs(1 - c) * e + c * (e + 2 * eta * spread),
        "all-max-shift": e + c * (e + eta * spread),
        "affine map": abs(a) * e,
        "score gap": gap,
        "score gap, e = 1/8": gap.subs(e, sympy.Rational(LARGEST_ERROR)),
    }
