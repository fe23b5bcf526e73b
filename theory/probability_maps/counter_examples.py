"""Maps into the simplex that break Assumption 2: scaling the scores up does not sharpen them.

They keep the promise only where it asks for nothing they do not do at every t: eta >= 1 - 1/m, or eta = 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from theory.connections import PatternError
from theory.probability_maps import promise
from theory.probability_maps.base import GroupMap
from theory.probability_maps.softmax import softmax

if TYPE_CHECKING:
    from theory.probability_maps.along import Along

__all__ = ["SquaredNormalisation", "TanhCappedSoftmax", "Uniform"]

SATURATED = 40.0  # tanh(40) is 1 in float64


class NeverSharp(GroupMap):
    """A map that loses the same mass in the worst case at every t."""

    def worst(self, m: int) -> float:
        """Return the mass lost in the worst case, the supremum over all vectors, for m scores: 1 - 1/m."""
        return 1 - 1 / m

    def sufficient_t(self, zeta: float, eta: float, m: int) -> float | None:
        """Return None: no t is sufficient; 1.0 where eta allows the mass that is lost at every t."""
        promise.check_promise(zeta, eta, m)
        return promise.ANY if eta >= self.worst(m) else None

    def tight_t(self, zeta: float, eta: float, m: int) -> float | None:
        """Return None: no t is sufficient; 0.0 where every t > 0 is."""
        promise.check_promise(zeta, eta, m)
        return 0.0 if eta >= self.worst(m) else None

    def exact_t(self, zeta: float) -> None:
        """Return None: the result is never one-hot for every vector with that lead."""

    def lost_mass(self, t: float, zeta: float, m: int) -> float:
        """Return the mass lost in the worst case, whatever t is."""
        promise.check_t(t, zeta, m)
        return self.worst(m)


@dataclass(frozen=True)
class Uniform(NeverSharp):
    """Uniform weights: p_j = 1/m.

    Examples
    --------
    >>> import numpy as np
    >>> Uniform()(np.array([5.0, 1.0])).tolist(), Uniform().sufficient_t(0.5, 0.001, 2)
    ([0.5, 0.5], None)
    """

    name = "uniform"
    definition = "p_j = 1/m"
    source = "counter-example: the scores are ignored"

    def weights(self, scores: Any, along: Along) -> Any:
        """Return the weights, each group by itself."""
        return along.xp.ones_like(scores) / along.size(scores)


@dataclass(frozen=True)
class SquaredNormalisation(NeverSharp):
    """Squared normalisation: p_j = v_j^2 / sum_i v_i^2, uniform where every score is 0.

    rho[t v] = rho[v]; and a leader at 0 whose competitors are negative gets nothing.

    Examples
    --------
    >>> import numpy as np
    >>> SquaredNormalisation()(np.array([0.0, -2.0])).tolist()
    [0.0, 1.0]
    """

    name = "squared"
    definition = "p_j = v_j^2 / sum_i v_i^2"
    source = "counter-example: scale-invariant, so t cancels"

    def weights(self, scores: Any, along: Along) -> Any:
        """Return the weights, each group by itself."""
        xp = along.xp
        size = xp.abs(scores)
        largest = along.top(size)
        squares = (size / xp.where(largest > 0, largest, xp.ones_like(largest))) ** 2
        squares = xp.where(largest > 0, squares, xp.ones_like(squares))
        return squares / along.total(squares)

    def worst(self, m: int) -> float:
        """Return 1: the leader's own score may be 0; no mass is lost by a single score."""
        return 0.0 if m == 1 else 1.0


@dataclass(frozen=True)
class TanhCappedSoftmax(NeverSharp):
    """Softmax of scores capped to (-cap, cap): softmax(cap tanh(v / cap)).

    The leader's weight stays below 1 / (1 + (m - 1) exp(-2 cap)); and where all scores are large, tanh levels
    them, so that it comes as close to 1/m as one likes.

    Parameters
    ----------
    cap
        A positive number; 50 in Gemma 2's attention.

    Raises
    ------
    PatternError
        If cap is no finite positive number.

    Examples
    --------
    >>> import numpy as np
    >>> TanhCappedSoftmax(1.0)(np.array([1e9, 1e6])).tolist()
    [0.5, 0.5]
    """

    cap: float

    definition = "softmax(cap tanh(v / cap))"
    source = "counter-example: Bello et al. 2016 (arXiv 1611.09940); Gemma 2, 2024 (arXiv 2408.00118)"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.cap) and self.cap > 0):
            raise PatternError(f"tanh-capped needs a finite cap > 0, got {self.cap}")

    @property
    def name(self) -> str:
        """What `parse_map` reads."""
        return f"tanh-capped:{self.cap:.15g}"

    def weights(self, scores: Any, along: Along) -> Any:
        """Return the weights, each group by itself."""
        along.top(scores)  # refuses what no map takes
        clipped = along.xp.clip(scores, -SATURATED * self.cap, SATURATED * self.cap)
        capped = self.cap * along.xp.tanh(clipped / self.cap)
        return softmax(capped - along.top(capped), along)
