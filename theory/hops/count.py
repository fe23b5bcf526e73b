"""The hop count s of Assumption 1.3: the smallest t with S_k^t = [n] for every token k (paper, §3.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.checks import flag, seconds
from theory.connections import SLICE
from theory.hops.bounds import Bounds
from theory.hops.clock import Clock
from theory.hops.cycles import count_cycles
from theory.hops.intervals import count_intervals
from theory.hops.kernels import choose_kernels
from theory.hops.monotone import count_monotone
from theory.hops.results import HopCount, Pivot, Unseen, exactly, never

if TYPE_CHECKING:
    from collections.abc import Callable

    from theory.hops.kernels import Engine
    from theory.patterns import SparsityPattern

__all__ = ["hop_count", "is_self_attending"]

HUBS_TRIED = 8
INTERVAL_BYTES = 512  # a token, for the products of interval rows


def hop_count(
    pattern: SparsityPattern,
    *,
    strongly_connected: bool | None = None,
    time_limit: float | None = 60.0,
    memory_limit: int = 2 << 30,
    engine: Engine = "auto",
    progress: Callable[[str, float | None], None] | None = None,
) -> HopCount:
    """Return the smallest s with S_k^s = [n] for all k (Assumption 1.3), or why there is none.

    S_k^1 = A_k^1 and S_k^t is the union of the S_j^{t-1} over j in A_k^{((t-1) mod p)+1} (paper, eq. 3).
    The steps, cheapest first and all exact: full rows, a hub, interval rows by doubling, bit columns for classes
    of tokens, bounds by searches.

    Parameters
    ----------
    pattern
        The pattern; Assumption 1.1 is not needed.
    strongly_connected
        Whether the union digraph is strongly connected, if known. Assumption 1.3 fails without it, and with
        Assumption 1.1 it is equivalent.
    time_limit
        Seconds; None for no limit. Beyond it, existence is still decided where Assumption 1.1 holds, and bounds
        on s are given.
    memory_limit
        Bytes for working arrays.
    engine
        "numba" needs the extra `fast`; "auto" takes it for large patterns where it is installed.
    progress
        Called with what is being done and the share of it that is done (None where not known).

    Raises
    ------
    PatternError
        If the engine is unknown or not installed.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> found = hop_count(SparsityPattern.from_lists([[0, 3], [0, 1], [1, 2], [2, 3]]))
    >>> found.s, found.unseen
    (3, Unseen(layers=2, query=0, key=1))
    """
    if strongly_connected is not None:
        flag("strongly_connected", strongly_connected)
    clock = Clock(time_limit if time_limit is None else seconds(time_limit), progress)
    choose_kernels(engine)  # refuses an engine that is not there before any work is done
    found = _at_a_glance(pattern)
    if found is not None:
        return found
    self_attending = is_self_attending(pattern)
    if self_attending and INTERVAL_BYTES * pattern.n <= memory_limit:
        intervals = count_intervals(pattern)
        if intervals is not None:
            if intervals.s is None and intervals.unseen is not None:
                return never(intervals.unseen, "interval rows")
            return exactly(intervals.s or 1, intervals.unseen, "interval rows, doubled")
    kernels = choose_kernels(engine, pattern.connections * pattern.n / 64)
    if strongly_connected is False:
        bounds = Bounds(pattern, kernels)
        bounds.start()
        if bounds.never is not None:
            return never(bounds.never, "searches")
    if self_attending:
        return count_monotone(pattern, kernels, clock, memory_limit)
    return count_cycles(pattern, kernels, clock, memory_limit)


def is_self_attending(pattern: SparsityPattern) -> bool:
    """Return whether Assumption 1.1 holds: k in A_k^l for all k and l."""
    return all(bool(layer.self_attending.all()) for layer in pattern.layers)


def _at_a_glance(pattern: SparsityPattern) -> HopCount | None:
    """Return s = 1 if the rows of A^1 are full, s = 2 if a token sees all in layer 1 and all see it in layer 2."""
    first, second = pattern.layers[0], pattern.layers[1 % pattern.p]
    full = first.degrees == pattern.n
    if full.all():
        return exactly(1, None, "full rows")
    query = int(np.flatnonzero(~full)[0])
    row = first.row(query)
    gaps = np.flatnonzero(row != np.arange(row.size))
    unseen = Unseen(1, query, int(gaps[0]) if gaps.size else row.size)
    for hub in np.flatnonzero(full)[:HUBS_TRIED].tolist():
        slices = (second.keys[start : start + SLICE] for start in range(0, second.count, SLICE))
        if sum(np.count_nonzero(keys == hub) for keys in slices) == pattern.n:
            return exactly(2, unseen, "hub", Pivot(hub, 1, 1))
    return None
