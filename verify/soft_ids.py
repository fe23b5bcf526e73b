"""From which t on are all relaxed ids right: measured, by doubling and bisection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from constructions.relaxation import soften

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructions.mapping import StagedMapping
    from constructions.numbers import Integers
    from theory.patterns import IntArray
    from theory.probability_maps import ProbabilityMap

__all__ = ["LARGEST_T", "LEAST_T", "READ", "ids_right", "measured_t"]

READ = 0.25
"""Within so many delta of its id a column is read exactly by the value mapping."""

LEAST_T = 2.0**-20
"""Where the search downward ends: hardmax is right at every t."""

LARGEST_T = 2.0**60
"""Where the search upward ends."""

CHUNK = 2**10  # grids run before the first look: a t that is too small is found out early


def ids_right(mapping: StagedMapping, rho: ProbabilityMap, t: float, grids: IntArray, ids: Integers) -> bool:
    """Return whether every relaxed id is within delta/4 of the exact one.

    Parameters
    ----------
    mapping, rho, t
        What is run.
    grids, ids
        Inputs (m, d, n), and their exact ids (m, n).
    """
    soft = soften(mapping, rho, t)
    for start in range(0, len(grids), CHUNK):
        away = np.abs(soft.ids(grids[start : start + CHUNK]) - ids[start : start + CHUNK].astype(np.float64))
        if not (away <= READ).all():  # NaN, too, is wrong
            return False
    return True


def measured_t(
    mapping: StagedMapping,
    rho: ProbabilityMap,
    grids: IntArray,
    ids: Integers,
    *,
    tolerance: float = 1e-3,
    progress: Callable[[str, float | None], None] | None = None,
) -> float | None:
    """Return the smallest t at which all ids are right, to a relative `tolerance`, by doubling and bisection.

    A little less was found wrong. That ids stay right beyond is what the search goes by, and not checked. None if
    they are wrong up to `LARGEST_T`; `LEAST_T` if they are right down to it.

    Parameters
    ----------
    grids, ids
        As for `ids_right`.
    progress
        Is told about every t that is tried.

    Examples
    --------
    >>> from constructions.cells import cells
    >>> from constructions.network import choose_mapping
    >>> from theory import families
    >>> from theory.probability_maps import parse_map
    >>> mapping, grids = choose_mapping(families.star(4, 1), 1, 2, "relay"), cells(1, 4, 2)
    >>> round(measured_t(mapping, parse_map("sparsemax"), grids, mapping.ids(grids)), 1)
    7.9
    >>> print(measured_t(mapping, parse_map("uniform"), grids, mapping.ids(grids)))
    None
    """

    def right(t: float) -> bool:
        if progress is not None:
            progress(f"are all ids right at t = {t:.6g}?", None)
        return ids_right(mapping, rho, t, grids, ids)

    high = 1.0
    if right(high):
        while high > LEAST_T and right(high / 2):
            high /= 2
        if high <= LEAST_T:
            return LEAST_T
    else:
        high = 2.0
        while not right(high):
            high *= 2
            if high > LARGEST_T:
                return None
    low = high / 2
    while high > low * (1 + tolerance):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if right(middle) else (middle, high)
    return high
