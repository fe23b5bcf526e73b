"""Distances d_p as sums of strata: the integral of |f - g|_p^p over each part of the domain, with its uncertainty.

d_p(f, g) = (integral of |f(X) - g(X)|_p^p dX)^{1/p}, entrywise p-norm inside (§4.1). Strata are disjoint, so their
p-th powers add up. Powers are kept as logarithms: raw ids to a large p would overflow. A sampled stratum has one
estimate for each of R independent scramblings; their spread gives the interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from constructions.numbers import ProofError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

__all__ = ["CONFIDENCE", "Distance", "Stratum", "check_p", "distance", "log_sum_powers"]

CONFIDENCE = 0.99
"""Of every interval: Student's t over the independent scramblings."""


@dataclass(frozen=True)
class Distance:
    """A measured distance.

    Parameters
    ----------
    name
        What it is between, as ``d_p(f, fbar)``.
    value
        The distance; inf where an output ran away.
    interval
        The lowest and the highest value at confidence `CONFIDENCE`; (value, value) where `exact`.
    exact
        Whether it is a sum over all cells, up to float64 rounding, and no estimate.
    method
        How it was found.
    largest_share
        Of all sampled points, the greatest share that one has of the integral. Where it is not small, few points
        carry the estimate, and its interval is worth little.
    """

    name: str
    value: float
    interval: tuple[float, float]
    exact: bool
    method: str
    largest_share: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Return JSON-ready data; a number that is not finite is None."""
        value, low, high = (x if np.isfinite(x) else None for x in (self.value, *self.interval))
        found = {"value": value, "interval": [low, high], "exact": self.exact, "method": self.method}
        return found if self.exact else {**found, "largest_share": self.largest_share}


@dataclass(frozen=True, eq=False)
class Stratum:
    """The integral of |f - g|_p^p over a part of the unit cube.

    Parameters
    ----------
    logs
        Its logarithm: one estimate a scrambling, shape (R,); a single one, shape (1,), where it is exact.
    method
        How it was found.
    largest
        Logarithm of the greatest summand, on the scale on which the R estimates add up to R times the integral.
    """

    logs: Floats
    method: str
    largest: float = -np.inf

    @property
    def exact(self) -> bool:
        """Whether there is nothing to estimate."""
        return len(self.logs) == 1

    def shifted(self, log_measure: float) -> Stratum:
        """Return the stratum with its integral multiplied by exp(log_measure)."""
        return Stratum(self.logs + log_measure, self.method, self.largest + log_measure)


def check_p(p: float) -> float:
    """Return p.

    Raises
    ------
    ProofError
        Unless 1 <= p < inf.
    """
    if not 1 <= p < np.inf:
        raise ProofError(f"p must be at least 1 and finite, got {p}")
    return float(p)


def log_sum_powers(errors: Floats, p: float) -> Floats:
    """Return log(sum |e|^p) over all axes but the first; inf where an error is not finite, -inf for a sum of 0.

    Examples
    --------
    >>> np.exp(log_sum_powers(np.array([[3.0, -4.0], [1.0, 0.0]]), 2)).round(12).tolist()
    [25.0, 1.0]
    >>> log_sum_powers(np.array([[1e60], [0.0], [np.nan]]), 10).round(6).tolist()
    [1381.551056, -inf, inf]
    """
    sizes = np.abs(errors).reshape(len(errors), -1)
    largest = sizes.max(axis=1, initial=0.0)
    finite = np.isfinite(largest)
    scale = np.where(finite & (largest > 0), largest, 1.0)
    sums = np.where(finite, np.power(sizes / scale[:, np.newaxis], p).sum(axis=1), np.inf)
    with np.errstate(divide="ignore"):
        return np.asarray(p * np.log(scale) + np.log(sums))


def distance(name: str, strata: Sequence[Stratum], p: float, log_volume: float = 0.0) -> Distance:
    """Return the distance whose p-th power is the sum over disjoint strata.

    Parameters
    ----------
    name
        What it is between.
    strata
        Parts of the unit cube, sampled independently of each other.
    p
        In [1, inf).
    log_volume
        log of the domain's volume: the cube is stretched to it.

    Examples
    --------
    >>> parts = [Stratum(np.log([9.0]), "all cells"), Stratum(np.log([15.0, 17.0]), "2 scramblings")]
    >>> found = distance("d_p(f, g)", parts, 2)
    >>> round(found.value, 12), found.exact, found.method
    (5.0, False, 'all cells; 2 scramblings')
    """
    logs = np.asarray(np.logaddexp.reduce(np.broadcast_arrays(*(stratum.logs for stratum in strata)), axis=0))
    top = float(logs.max())
    method = "; ".join(dict.fromkeys(stratum.method for stratum in strata))
    exact = len(logs) == 1
    if not np.isfinite(top):
        value = float(np.exp(top))
        return Distance(name, value, (value, value), exact and value == 0, method)
    powers = np.exp(logs - top)
    mean, half = float(powers.mean()), 0.0
    if not exact:
        from scipy.special import stdtrit

        count = len(powers)
        half = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2) * powers.std(ddof=1) / np.sqrt(count))

    def root(power: float) -> float:
        return float(np.exp((np.log(power) + top + log_volume) / p)) if power > 0 else 0.0

    carried = float(np.exp(max(stratum.largest for stratum in strata) - top) / powers.sum())
    return Distance(name, root(mean), (root(mean - half), root(mean + half)), exact, method, carried)
