"""The hop count with Assumption 1.1, where S_k^t grows with t: bit columns first, searches for what is far."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from theory.hops.bounds import Bounds
from theory.hops.columns import Columns, for_blocks, usable_cores
from theory.hops.results import HopCount, between, exactly, never
from theory.hops.schedule import Schedule

if TYPE_CHECKING:
    from theory.connections import IntArray
    from theory.hops.clock import Clock
    from theory.hops.kernels import Kernels
    from theory.hops.results import Unseen
    from theory.patterns import SparsityPattern

__all__ = ["block_width", "count_dominated", "count_far", "count_monotone", "count_near", "spread"]

BYTES_SORTING = 32  # a connection, for the sorting of equal rows
PROBED_KEYS = 64
PROBED_LAYERS = 64
BLOCK_GAIN = 4.0  # a wide block costs this many times less a word than a block of one word
FEWEST_BLOCKS = 8  # of keys, for which the detour by dominating keys is tried
OVERRUN = 4.0  # how much longer than the time left an estimate must be before it is believed


def count_monotone(pattern: SparsityPattern, kernels: Kernels, clock: Clock, memory_limit: int) -> HopCount:
    """Return the hop count of a pattern in which every token attends to itself.

    64 keys are probed first. If all see them within 64 layers, bit columns for all keys settle s; otherwise, or
    where those would take too long, bounds by searches come first, and columns only for the keys still open.
    """
    width = block_width(pattern.n, kernels.block_words, memory_limit)
    if BYTES_SORTING * pattern.connections > memory_limit:
        return count_far(Bounds(pattern, kernels), None, width, clock)
    clock.say("sorting equal rows")
    columns = Columns(Schedule(pattern, kernels), kernels, pattern.n)
    found = count_near(columns, width, clock)
    if isinstance(found, HopCount):
        return found
    bounds = Bounds(pattern, kernels)
    bounds.raise_lower(found)
    return count_far(bounds, columns, width, clock)


def count_near(columns: Columns, width: int, clock: Clock) -> HopCount | Unseen | None:
    """Settle s by bit columns for all keys if a probe says that s is small and the time will do.

    Otherwise return a pair that is not seen for as long as it was followed.
    """
    keys = columns.schedule.sources
    clock.say(f"following {PROBED_KEYS} keys")
    began = time.monotonic()
    probe = columns.count(spread(keys, max(1, keys.size // PROBED_KEYS))[0][:PROBED_KEYS], PROBED_LAYERS, clock)
    if probe.t is None:
        return probe.unseen
    if keys.size <= PROBED_KEYS:
        return exactly(probe.t, probe.unseen, "bit columns")
    expected = (time.monotonic() - began) * keys.size / (PROBED_KEYS * BLOCK_GAIN * usable_cores())
    if expected > OVERRUN * clock.left:
        return probe.unseen
    most = 2 * probe.t + 16
    if columns.schedule.p == 1 and keys.size > FEWEST_BLOCKS * 64 * width:
        found = count_dominated(columns, width, most, clock)
        if found is not None:
            return found
    clock.say("following all keys")
    blocks = spread(keys, -(-keys.size // (64 * width)))
    counts = for_blocks(lambda some: columns.count(some, most, clock), blocks, lambda count: count.is_open, clock)
    last = max(counts, key=lambda count: count.rank)
    return last.unseen if last.t is None else exactly(last.t, last.unseen, "bit columns")


def count_dominated(columns: Columns, width: int, most: int, clock: Clock) -> HopCount | None:
    """Settle s, where there is one pattern, from the keys that few see and from keys that dominate all others.

    If token x sees key j in layer 1, and every token sees key x within t - 1 layers, every token sees j within t.
    So if the rarest keys need t layers and the dominating ones at most t - 1, s = t. None if that is not so.
    """
    schedule = columns.schedule
    clock.say("following the keys that few see")
    order = np.argsort(np.diff(schedule.start[0])[schedule.sources], kind="stable")
    rare = columns.count(schedule.sources[order[: 64 * width]], most, clock)
    if rare.t is None:
        return None
    latest = rare.t - 1
    clock.say("following the keys that dominate the others")
    keys = schedule.dominating_keys()
    counts = for_blocks(
        lambda some: columns.count(some, latest, clock),
        spread(keys, -(-keys.size // (64 * width))),
        lambda count: count.is_open,
        clock,
    )
    return None if any(count.is_open for count in counts) else exactly(rare.t, rare.unseen, "dominating keys")


def count_far(bounds: Bounds, columns: Columns | None, width: int, clock: Clock) -> HopCount:
    """Bound s by searches, then follow the tokens that the bounds leave open."""
    began = time.monotonic()
    bounds.tighten(clock)
    if bounds.never is not None:
        return never(bounds.never, "searches")
    if bounds.met:
        return _searched(bounds)
    search = (time.monotonic() - began) / bounds.searches
    keys, queries = bounds.open_keys, bounds.open_queries
    if columns is not None:
        keys = np.intersect1d(keys, columns.schedule.sources)  # keys seen alike are settled together
    blocks = spread(keys, -(-keys.size // (64 * width)))
    singly = search * min(keys.size, queries.size)
    # a layer of a block costs about what a search spends on a layer, once more for every eight words
    by_block = search * bounds.lower / bounds.p * (len(blocks) / 2 + keys.size / 512) / usable_cores()
    if columns is None or singly <= by_block:
        if singly > OVERRUN * clock.left:
            return _left_open(bounds, singly)
        clock.say("searching from the tokens left open")
        by_key = keys.size <= queries.size
        done = bounds.search_each(keys if by_key else queries, clock, by_key=by_key)
        return _searched(bounds) if done else _left_open(bounds)
    if by_block > OVERRUN * clock.left:
        return _left_open(bounds, by_block)
    clock.say("following the keys left open")
    counts = for_blocks(lambda some: columns.count(some, None, clock), blocks, lambda count: count.is_open, clock)
    for count in sorted(counts, key=lambda count: count.rank):
        bounds.raise_lower(count.unseen)
    if any(count.is_open for count in counts):
        return _left_open(bounds)
    return exactly(bounds.lower, bounds.unseen, "bit columns", bounds.pivot)


def _searched(bounds: Bounds) -> HopCount:
    """Answer with bounds that meet."""
    return replace(exactly(bounds.lower, bounds.unseen, "searches", bounds.pivot), relays=bounds.relays)


def _left_open(bounds: Bounds, seconds: float = 0.0) -> HopCount:
    """Answer with bounds that do not meet."""
    reason = "the bounds do not meet within the time limit"
    if seconds:
        reason = f"the bounds do not meet, and the exact count would take about {seconds:.0f} s"
    return replace(between(bounds.lower, bounds.upper, bounds.unseen, bounds.pivot, reason), relays=bounds.relays)


def block_width(n: int, most: int, memory_limit: int) -> int:
    """Return how many words of keys to follow at a time: two buffers a core, at most half of the memory."""
    return max(1, min(most, memory_limit // (2 * 16 * n * usable_cores())))


def spread(keys: IntArray, blocks: int) -> list[IntArray]:
    """Deal the keys out to blocks, so that every block is a sample of all."""
    return [keys[first::blocks] for first in range(min(blocks, keys.size))]
