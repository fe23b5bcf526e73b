"""The hop count with Assumption 1.1, where S_k^t grows with t: bit columns for what is near, searches for the rest."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from theory.hops.bounds import Bounds
from theory.hops.columns import BlockCount, Columns, for_blocks, usable_cores
from theory.hops.results import HopCount, between, exactly, never
from theory.hops.schedule import Schedule

if TYPE_CHECKING:
    from theory.connections import IntArray
    from theory.hops.clock import Clock
    from theory.hops.kernels import Kernels
    from theory.patterns import SparsityPattern

__all__ = ["block_width", "count_monotone", "spread"]

PROBED_KEYS = 64
PROBED_LAYERS = 64
BLOCK_GAIN = 4.0  # a wide block costs this many times less a word than a block of one word
OVERRUN = 4.0  # how much longer than the time left an estimate must be before it is believed


def count_monotone(pattern: SparsityPattern, kernels: Kernels, clock: Clock, memory_limit: int) -> HopCount:
    """Return the hop count of a pattern in which every token attends to itself.

    64 keys are probed first. If all see them within 64 layers, bit columns for all keys settle s; otherwise, or
    where those would take too long, bounds by searches come first, and columns only for the keys still open.
    """
    width = block_width(pattern.n, kernels.block_words, memory_limit)
    columns = None
    if 32 * pattern.connections <= memory_limit:
        clock.say("sorting equal rows")
        columns = Columns(Schedule(pattern, kernels), kernels, pattern.n)
        found = _count_near(columns, width, clock)
        if found is not None:
            return found
    return _count_far(pattern, kernels, columns, width, clock)


def _count_near(columns: Columns, width: int, clock: Clock) -> HopCount | None:
    """Settle s by bit columns for every key if a probe says that s is small and the time will do."""
    keys = columns.schedule.sources
    clock.say("following 64 keys")
    began = time.monotonic()
    probe = columns.count(spread(keys, max(1, keys.size // PROBED_KEYS))[0][:PROBED_KEYS], PROBED_LAYERS, clock)
    if probe.t is None:
        return None
    if keys.size <= PROBED_KEYS:
        return exactly(probe.t, probe.unseen, "bit columns")
    expected = (time.monotonic() - began) * keys.size / (PROBED_KEYS * BLOCK_GAIN * usable_cores())
    if expected > OVERRUN * clock.left:
        return None
    clock.say("following all keys")
    most = 2 * probe.t + 16
    blocks = spread(keys, -(-keys.size // (64 * width)))
    counts = for_blocks(
        lambda some: columns.count(some, most, clock), blocks, lambda count: count.t is None, clock
    )
    if any(count.t is None for count in counts):
        return None
    last = max(counts, key=BlockCount.rank)
    return exactly(last.t or 0, last.unseen, "bit columns")


def _count_far(
    pattern: SparsityPattern, kernels: Kernels, columns: Columns | None, width: int, clock: Clock
) -> HopCount:
    """Bound s by searches, then follow the keys that the bounds leave open."""
    bounds = Bounds(pattern, kernels)
    began = time.monotonic()
    bounds.tighten(clock)
    if bounds.never is not None:
        return never(bounds.never, "searches")
    if bounds.met:
        return exactly(bounds.lower, bounds.unseen, "searches", bounds.pivot)
    search = (time.monotonic() - began) / bounds.searches
    keys, queries = bounds.open_keys, bounds.open_queries
    if columns is not None:
        keys = np.intersect1d(keys, columns.schedule.sources)
    words = min(width, -(-keys.size // 64))
    blocks = spread(keys, -(-keys.size // (64 * words))) if words else []
    # a layer of a block costs about as much as a search costs a layer, for every eight words or so
    wide = len(blocks) * bounds.lower * search / pattern.p * (0.5 + words / 8) / usable_cores()
    narrow = min(keys.size, queries.size) * search
    if columns is None or narrow <= wide or not words:
        if narrow > OVERRUN * clock.left:
            return _left_open(bounds, narrow)
        clock.say("searching from the tokens left open")
        _search_each(bounds, keys, queries, clock)
        return (
            exactly(bounds.lower, bounds.unseen, "searches", bounds.pivot) if bounds.met else _left_open(bounds, 0)
        )
    if wide > OVERRUN * clock.left:
        return _left_open(bounds, wide)
    clock.say("following the keys left open")
    counts = for_blocks(
        lambda some: columns.count(some, None, clock), blocks, lambda count: count.t is None, clock
    )
    for count in counts:
        bounds.raise_lower(count.unseen)
    if any(count.t is None for count in counts):
        return _left_open(bounds, 0)
    return exactly(bounds.lower, bounds.unseen, "bit columns", bounds.pivot)


def _search_each(bounds: Bounds, keys: IntArray, queries: IntArray, clock: Clock) -> None:
    """Settle the open tokens one by one, on the side where they are fewer."""
    by_key = keys.size <= queries.size
    tokens, bound = (keys, bounds.key_bound) if by_key else (queries, bounds.query_bound)
    search = bounds.search_key if by_key else bounds.search_query
    for done, token in enumerate(tokens[np.argsort(-bound[tokens], kind="stable")].tolist()):
        if bounds.met or clock.passed:
            return
        if bound[token] > bounds.lower:
            search(token)
        clock.tell(done / tokens.size)


def _left_open(bounds: Bounds, seconds: float) -> HopCount:
    """Answer with bounds that do not meet."""
    reason = "the bounds do not meet within the time limit"
    if seconds:
        reason = f"the bounds do not meet, and the exact count would take about {seconds:.0f} s"
    return between(bounds.lower, bounds.upper, bounds.unseen, bounds.pivot, reason)


def block_width(n: int, most: int, memory_limit: int) -> int:
    """Return how many words of keys to follow at a time: two buffers a core, at most half of the memory."""
    return max(1, min(most, memory_limit // (2 * 16 * n * usable_cores())))


def spread(keys: IntArray, blocks: int) -> list[IntArray]:
    """Deal the keys out to blocks, so that every block is a sample of all."""
    return [keys[first::blocks] for first in range(min(blocks, keys.size))]
