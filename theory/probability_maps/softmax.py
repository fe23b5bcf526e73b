"""Softmax, and softmax over the k largest scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from theory.connections import PatternError
from theory.probability_maps import promise
from theory.probability_maps.base import GroupMap, ShiftInvariantMap

if TYPE_CHECKING:
    from theory.probability_maps.along import Along

__all__ = ["Softmax", "TopKSoftmax"]

MARGIN = 4.0  # how far above the least normal number powers end, as a difference of logarithms


def softmax(below: Any, along: Along) -> Any:
    """Return exp(v_j) / sum exp(v), given v_j - max v: nothing overflows."""
    shares = powers(below, along)
    return shares / along.total(shares)


def powers(below: Any, along: Along) -> Any:
    """Return exp(v_j - max v), given the exponent; 0 where it would hardly be a normal number.

    Numbers below the normal ones are slow to compute, and next to the largest power, 1, they are nothing.
    """
    xp = along.xp
    least = math.log(float(xp.finfo(below.dtype).smallest_normal)) + MARGIN
    floor = xp.full_like(along.first(below), least)  # an array is faster to compare with than a number
    return xp.exp(xp.maximum(below, floor)) * xp.astype(below > floor, below.dtype)


@dataclass(frozen=True)
class Softmax(ShiftInvariantMap):
    """Softmax: p_j = exp(v_j) / sum_i exp(v_i).

    The tight t is ln((m - 1)(1 - eta) / eta) / zeta, where all others lie exactly zeta below the leader (paper,
    Appendix B). The leader's weight is below 1 at every t.

    Examples
    --------
    >>> import numpy as np
    >>> Softmax()(np.array([0.0, np.log(3.0)])).round(12).tolist()
    [0.25, 0.75]
    >>> round(Softmax().tight_t(0.5, 0.001, 3), 4)
    15.1998
    """

    name = "softmax"
    definition = "p_j = exp(v_j) / sum_i exp(v_i)"
    source = "Bridle 1990; Yun et al. 2020, Appendix B"

    def weights_below(self, below: Any, along: Along) -> Any:
        """Return the weights, each group by itself, given every score minus the largest of its group."""
        return softmax(below, along)

    def mean_below(self, below: Any, values: Any, along: Along) -> Any:
        """Return sum_j p_j x_j of every group, with one division a group, given every score minus the largest."""
        shares = powers(below, along)
        return along.total(shares * values) / along.total(shares)

    def sufficient_t(self, zeta: float, eta: float, m: int) -> float:
        """Return ln((m - 1)(1 - eta) / eta) / zeta, the tight t; 1.0 where every t > 0 will do."""
        return self.tight_t(zeta, eta, m) or promise.ANY

    def tight_t(self, zeta: float, eta: float, m: int) -> float:
        """Return ln((m - 1)(1 - eta) / eta) / zeta, or 0.0 where every t > 0 will do."""
        promise.check_promise(zeta, eta, m)
        return promise.tight_t(zeta, eta, m, 0.0)

    def exact_t(self, zeta: float) -> None:
        """Return None: softmax is never one-hot."""

    def lost_mass(self, t: float, zeta: float, m: int) -> float:
        """Return (m - 1) / (m - 1 + exp(t zeta)), rounded up."""
        promise.check_t(t, zeta, m)
        return promise.lost_mass(t, zeta, m, 0.0)


@dataclass(frozen=True)
class TopKSoftmax(GroupMap):
    """Softmax over the k largest scores, 0 elsewhere; of equal scores the earlier is kept.

    The leader is always kept, so this is softmax of min(k, m) scores; with k = 1 it is one-hot.

    Parameters
    ----------
    k
        How many scores are kept, at least 1.

    Raises
    ------
    PatternError
        If k is no integer >= 1.

    Examples
    --------
    >>> import numpy as np
    >>> TopKSoftmax(2)(np.array([0.0, np.log(3.0), -1.0])).round(12).tolist()
    [0.25, 0.75, 0.0]
    """

    k: int

    definition = "softmax over the k largest scores, 0 elsewhere"
    source = "Zhao et al. 2019 (arXiv 1912.11637)"

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise PatternError(f"topk keeps an integer k >= 1 of scores, got {self.k}")

    @property
    def name(self) -> str:
        """What `parse_map` reads."""
        return f"topk:{self.k}"

    def weights(self, scores: Any, along: Along) -> Any:
        """Return the weights, each group by itself."""
        kept = powers(scores - along.top(scores), along) * along.xp.astype(
            along.largest(scores, self.k), scores.dtype
        )
        return kept / along.total(kept)

    def sufficient_t(self, zeta: float, eta: float, m: int) -> float:
        """Return the tight t; 1.0 where every t > 0 will do."""
        return self.tight_t(zeta, eta, m) or promise.ANY

    def tight_t(self, zeta: float, eta: float, m: int) -> float:
        """Return softmax's tight t for min(k, m) scores."""
        promise.check_promise(zeta, eta, m)
        return promise.tight_t(zeta, eta, min(self.k, m), 0.0)

    def exact_t(self, zeta: float) -> float | None:
        """Return 1.0 (every t > 0) for k = 1, else None: the weights are never one-hot."""
        promise.check_promise(zeta, 1.0, 1)
        return promise.ANY if self.k == 1 else None

    def lost_mass(self, t: float, zeta: float, m: int) -> float:
        """Return softmax's lost mass for min(k, m) scores, rounded up."""
        promise.check_t(t, zeta, m)
        return promise.lost_mass(t, zeta, min(self.k, m), 0.0)
