"""From which t on are all relaxed ids right: measured, by doubling and bisection.

A t that is too small is mostly found out by the inputs that found out another one: they are tried by themselves.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from constructions.backends import NUMPY
from constructions.error_budget import READ
from constructions.relaxation import soften

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from constructions.backends import Backend
    from constructions.mapping import StagedMapping
    from constructions.numbers import Integers
    from theory.patterns import IntArray
    from theory.probability_maps import ProbabilityMap

__all__ = ["LARGEST_T", "LEAST_T", "ids_right", "measured_t"]

LEAST_T = 2.0**-20
"""Where the search downward ends: hardmax is right at every t."""

LARGEST_T = 2.0**60
"""Where the search upward ends."""

CULPRITS = 64  # inputs tried by themselves to start with, and taken in at a time


def ids_right(
    mapping: StagedMapping,
    rho: ProbabilityMap,
    t: float,
    grids: IntArray,
    ids: Integers,
    backend: Backend = NUMPY,
) -> npt.NDArray[np.bool_]:
    """Return for which inputs all n relaxed ids are within delta/4 of the exact ones.

    Parameters
    ----------
    mapping, rho, t
        What is run.
    grids, ids
        Inputs (m, d, n), and their exact ids (m, n).
    backend
        Where the relaxed mapping is run.
    """
    away = np.abs(soften(mapping, rho, t, backend=backend).ids(grids) - ids.astype(np.float64))
    return np.asarray((away <= READ).all(axis=-1))  # NaN, too, is wrong


def measured_t(
    mapping: StagedMapping,
    rho: ProbabilityMap,
    grids: IntArray,
    ids: Integers,
    *,
    tolerance: float = 1e-3,
    backend: Backend = NUMPY,
    progress: Callable[[str, float | None], None] | None = None,
) -> float | None:
    """Return the smallest t at which all ids are right, to a relative tolerance: doubling, then bisection.

    At the t returned all inputs were run and found right, a little below it some were wrong. That ids stay right
    beyond is what the search goes by, and not checked. None if they are wrong at `LARGEST_T`; `LEAST_T` if they
    are right down to it.

    Parameters
    ----------
    grids, ids, backend
        As for `ids_right`.
    progress
        Is told about every t that is tried on all inputs.

    Examples
    --------
    >>> from constructions.cells import cells
    >>> from constructions.network import choose_mapping
    >>> from theory import families
    >>> from theory.probability_maps import parse_map
    >>> mapping, grids = choose_mapping(families.star(4, 1), 1, 2, "relay"), cells(1, 4, 2)
    >>> round(measured_t(mapping, parse_map("sparsemax"), grids, mapping.ids(grids)), 1)
    2.7
    >>> print(measured_t(mapping, parse_map("uniform"), grids, mapping.ids(grids)))
    None
    """
    some = np.unique(np.linspace(0, len(grids) - 1, CULPRITS).astype(np.int64))
    start = 1.0
    while True:
        few = grids[some], ids[some]
        found = _search(partial(_all_right, mapping, rho, few, backend), start, tolerance)
        if found is None:
            return None
        if progress is not None:
            progress(f"are all ids right at t = {found:.6g}?", None)
        wrong = np.flatnonzero(~ids_right(mapping, rho, found, grids, ids, backend))
        if not wrong.size:
            return found
        some = np.union1d(some, wrong[:: max(1, len(wrong) // CULPRITS)])
        start = found


def _all_right(
    mapping: StagedMapping, rho: ProbabilityMap, few: tuple[IntArray, Integers], backend: Backend, t: float
) -> bool:
    return bool(ids_right(mapping, rho, t, *few, backend).all())


def _search(right: Callable[[float], bool], start: float, tolerance: float) -> float | None:
    """Return the smallest right t in [LEAST_T, LARGEST_T] to a relative tolerance, None if there is none."""
    high = start
    while not right(high):
        high *= 2
        if high > LARGEST_T:
            return None
    while right(high / 2):
        high /= 2
        if high <= LEAST_T:
            return high
    low = high / 2
    while high > low * (1 + tolerance):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if right(middle) else (middle, high)
    return high
