"""The maps that reach one-hot at a finite t: alpha-entmax, sparsemax, sparselin-gen, and hardmax, their limit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from theory.connections import PatternError
from theory.probability_maps import promise
from theory.probability_maps.base import ShiftInvariantMap
from theory.probability_maps.simplex import entmax
from theory.probability_maps.softmax import softmax

if TYPE_CHECKING:
    from theory.probability_maps.along import Along

__all__ = ["Entmax", "Hardmax", "SparselinGen", "Sparsemax"]


@dataclass(frozen=True)
class Entmax(ShiftInvariantMap):
    """alpha-entmax: p_j = [(alpha - 1) v_j - tau]_+^(1 / (alpha - 1)), tau such that the weights sum to 1.

    The tight t is ((1 - eta)^b - (eta / (m - 1))^b) / (b zeta) with b = alpha - 1; from t = 1 / (b zeta) on the
    result is exactly one-hot, for every m. alpha = 1 is softmax, alpha = 2 sparsemax.

    Parameters
    ----------
    alpha
        A finite number >= 1.

    Raises
    ------
    PatternError
        If alpha is none.

    Examples
    --------
    >>> import numpy as np
    >>> Entmax(1.5)(np.array([0.0, 1.0, 9.0, 10.0])).round(6).tolist()
    [0.0, 0.0, 0.169281, 0.830719]
    >>> Entmax(1.5).exact_t(0.5), round(Entmax(1.5).tight_t(0.5, 0.001, 3), 4)
    (4.0, 3.9086)
    """

    alpha: float

    definition = (
        "argmax over the simplex of p.v + H_alpha(p), H_alpha(p) = sum (p_j - p_j^alpha) / (alpha (alpha - 1))"
    )
    source = "Peters, Niculae and Martins 2019 (arXiv 1905.05702); Yun et al. 2020, Appendix B"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.alpha) and self.alpha >= 1):
            raise PatternError(f"entmax needs a finite alpha >= 1, got {self.alpha}")

    @property
    def name(self) -> str:
        """What `parse_map` reads."""
        return f"entmax:{self.alpha:.15g}"

    def weights_below(self, below: Any, along: Along) -> Any:
        """Return the weights, each group by itself, given every score minus the largest of its group."""
        return softmax(below, along) if self.alpha == 1 else entmax(below, along, self.alpha)

    def sufficient_t(self, zeta: float, eta: float, m: int) -> float:
        """Return 1 / (zeta (alpha - 1)), where it is exactly one-hot; softmax's tight t for alpha = 1."""
        promise.check_promise(zeta, eta, m)
        exact = self.exact_t(zeta)
        return self.tight_t(zeta, eta, m) or promise.ANY if exact is None else exact

    def tight_t(self, zeta: float, eta: float, m: int) -> float:
        """Return ((1 - eta)^b - (eta / (m - 1))^b) / (b zeta), b = alpha - 1; 0.0 where every t > 0 will do."""
        promise.check_promise(zeta, eta, m)
        return promise.tight_t(zeta, eta, m, self.alpha - 1)

    def exact_t(self, zeta: float) -> float | None:
        """Return 1 / (zeta (alpha - 1)); None for alpha = 1."""
        promise.check_promise(zeta, 1.0, 1)
        return None if self.alpha == 1 else promise.exact_t(zeta, self.alpha - 1)

    def lost_mass(self, t: float, zeta: float, m: int) -> float:
        """Return the eta whose tight t is this t, rounded up; 0.0 from `exact_t` on."""
        promise.check_t(t, zeta, m)
        return promise.lost_mass(t, zeta, m, self.alpha - 1)


@dataclass(frozen=True)
class SparselinGen(ShiftInvariantMap):
    """sparselin-gen: argmin over the simplex of |p - v|^2 - lambda |p|^2, which is sparsemax(v / (1 - lambda)).

    Parameters
    ----------
    weight
        lambda in [0, 1); 0 is sparsemax.

    Raises
    ------
    PatternError
        If lambda is none.

    Examples
    --------
    >>> import numpy as np
    >>> SparselinGen(0.5)(np.array([0.0, 0.25])).tolist()
    [0.25, 0.75]
    >>> SparselinGen(0.5).exact_t(0.5), SparselinGen(0.5).sufficient_t(0.5, 0.25, 2)
    (1.0, 1.5)
    """

    weight: float

    definition = "argmin over the simplex of |p - v|^2 - lambda |p|^2"
    source = "Laha et al. 2018 (arXiv 1810.11975, sparsegen-lin); Yun et al. 2020, Appendix B"

    def __post_init__(self) -> None:
        if not 0 <= self.weight < 1:
            raise PatternError(f"sparselin-gen needs lambda in [0, 1), got {self.weight}")

    @property
    def name(self) -> str:
        """What `parse_map` reads."""
        return f"sparselin-gen:{self.weight:.15g}"

    @property
    def scale(self) -> float:
        """1 - lambda: the scores are divided by it."""
        return 1 - self.weight

    def weights_below(self, below: Any, along: Along) -> Any:
        """Return the weights, each group by itself, given every score minus the largest of its group."""
        return entmax(below, along, 2.0, self.scale)

    def sufficient_t(self, zeta: float, eta: float, m: int) -> float:
        """Return the paper's (1 - eta) / zeta; 1.0 for eta = 1, where every t > 0 will do."""
        promise.check_promise(zeta, eta, m)
        return (1 - eta) / zeta or promise.ANY

    def tight_t(self, zeta: float, eta: float, m: int) -> float:
        """Return (1 - lambda)(1 - eta m / (m - 1)) / zeta, or 0.0 where every t > 0 will do."""
        promise.check_promise(zeta, eta, m)
        return self.scale * promise.tight_t(zeta, eta, m, 1.0)

    def exact_t(self, zeta: float) -> float:
        """Return (1 - lambda) / zeta."""
        promise.check_promise(zeta, 1.0, 1)
        return promise.exact_t(zeta, 1.0, self.scale)

    def lost_mass(self, t: float, zeta: float, m: int) -> float:
        """Return (1 - 1/m)(1 - t zeta / (1 - lambda)), rounded up; 0.0 from `exact_t` on."""
        promise.check_t(t, zeta, m)
        return promise.lost_mass(t, zeta, m, 1.0, self.scale)


@dataclass(frozen=True)
class Sparsemax(SparselinGen):
    """sparsemax: the Euclidean projection onto the simplex, sparselin-gen with lambda = 0 and 2-entmax.

    Examples
    --------
    >>> import numpy as np
    >>> Sparsemax()(np.array([0.0, 0.5, -9.0])).tolist()
    [0.25, 0.75, 0.0]
    """

    weight: float = 0.0

    definition = "argmin over the simplex of |p - v|^2"
    source = "Martins and Astudillo 2016 (arXiv 1602.02068); Yun et al. 2020, Appendix B"

    def __post_init__(self) -> None:
        if self.weight != 0:
            raise PatternError(f"sparsemax has lambda = 0, got {self.weight}: that is sparselin-gen:{self.weight}")

    @property
    def name(self) -> str:
        """What `parse_map` reads."""
        return "sparsemax"

    def sufficient_t(self, zeta: float, eta: float, m: int) -> float:
        """Return 1 / zeta, where it is exactly one-hot."""
        promise.check_promise(zeta, eta, m)
        return self.exact_t(zeta)


@dataclass(frozen=True)
class Hardmax(ShiftInvariantMap):
    """hardmax: 1 at the largest score, 0 elsewhere. A tie for the largest is an error, never a silent choice.

    Examples
    --------
    >>> import numpy as np
    >>> Hardmax()(np.array([1.0, 3.0, 1.0])).tolist()
    [0.0, 1.0, 0.0]
    >>> Hardmax()(np.array([3.0, 3.0, 1.0]))
    Traceback (most recent call last):
        ...
    theory.connections.PatternError: hardmax is not defined on a tie: 2 scores share the maximum of a group
    """

    name = "hardmax"
    definition = "1 at the largest score, 0 elsewhere; not defined on a tie"
    source = "Yun et al. 2020, §3.2: the limit of rho[t v]"

    def weights_below(self, below: Any, along: Along) -> Any:
        """Return the weights, each group by itself, given every score minus the largest of its group."""
        leads = along.xp.astype(below == 0, below.dtype)
        most = int(along.xp.max(along.total(leads)))
        if most > 1:
            raise PatternError(f"hardmax is not defined on a tie: {most} scores share the maximum of a group")
        return leads

    def sufficient_t(self, zeta: float, eta: float, m: int) -> float:
        """Return 1.0: every t > 0 will do."""
        promise.check_promise(zeta, eta, m)
        return promise.ANY

    def tight_t(self, zeta: float, eta: float, m: int) -> float:
        """Return 0.0: every t > 0 will do."""
        promise.check_promise(zeta, eta, m)
        return 0.0

    def exact_t(self, zeta: float) -> float:
        """Return 1.0: every t > 0 will do."""
        promise.check_promise(zeta, 1.0, 1)
        return promise.ANY

    def lost_mass(self, t: float, zeta: float, m: int) -> float:
        """Return 0.0."""
        promise.check_t(t, zeta, m)
        return 0.0
