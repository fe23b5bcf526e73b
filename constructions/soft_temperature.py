"""The t at which relaxed ids are right in fact, on given inputs: the counterpart of the t that is guaranteed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from constructions.error_budget import READ
from constructions.relaxation import SoftMapping

if TYPE_CHECKING:
    import numpy.typing as npt

    from constructions.mapping import StagedMapping
    from theory.probability_maps import ProbabilityMap

__all__ = ["measured_error", "measured_t"]

SMALLEST_T, LARGEST_T = 1e-30, 1e30


def measured_error(soft: SoftMapping, grids: npt.ArrayLike) -> float:
    """Return the largest |relaxed id - id| over these inputs and all tokens, in units of delta; inf past RUNAWAY.

    Parameters
    ----------
    grids
        Integers 0..K-1 in units of delta, shape (..., d, n).
    """
    exact = soft.mapping.ids(grids).astype(np.float64)
    error = float(np.abs(soft.ids(grids) - exact).max(initial=0.0))
    return math.inf if math.isnan(error) else error


def measured_t(
    mapping: StagedMapping,
    rho: ProbabilityMap,
    grids: npt.ArrayLike,
    accuracy: float = READ,
    *,
    start: float | None = None,
) -> float | None:
    """Return the t down to which the ids of these inputs stay within `accuracy` of the exact ones.

    From `start` t is halved as long as they do, and the last step is bisected to a relative 1e-3. None if no t up
    to 1e30 will do.

    Parameters
    ----------
    grids, accuracy
        As for `measured_error` and `guaranteed_t`.
    start
        A t that is large enough, such as `guaranteed_t`; where it is not, t is doubled first.

    Examples
    --------
    >>> from constructions.cells import cells
    >>> from constructions.network import choose_mapping
    >>> from theory import families
    >>> from theory.probability_maps import parse_map
    >>> mapping = choose_mapping(families.star(4, 1), 1, 2, "merged")
    >>> round(measured_t(mapping, parse_map("softmax"), cells(1, 4, 2)))
    77
    """

    def holds(t: float) -> bool:
        return measured_error(SoftMapping(mapping, rho, t), grids) <= accuracy

    high = start or float(mapping.K**2)
    while not holds(high):
        high *= 2
        if high > LARGEST_T:
            return None
    low = high / 2
    while holds(low):
        low, high = low / 2, low
        if high < SMALLEST_T:
            return high
    while high > low * (1 + 1e-3):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
