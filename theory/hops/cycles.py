"""The hop count without Assumption 1.1: S_k^t need not grow with t, only from cycle to cycle once it is full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theory.hops.columns import Columns, for_blocks
from theory.hops.existence import find_phases
from theory.hops.monotone import block_width, spread
from theory.hops.powers import first_full
from theory.hops.results import HopCount, Unseen, between, exactly, never, undecided
from theory.hops.schedule import Schedule

if TYPE_CHECKING:
    from theory.connections import IntArray
    from theory.hops.clock import Clock
    from theory.hops.kernels import Kernels
    from theory.patterns import SparsityPattern

__all__ = ["count_cycles"]

STEPPED_LAYERS = 2048  # beyond this many layers, few tokens are counted by powers of the cycle
DOUBLED_TOKENS = 4096
BYTES_UNROLLED = 40  # a connection, for the graph on (token, layers gone)


def count_cycles(pattern: SparsityPattern, kernels: Kernels, clock: Clock, memory_limit: int) -> HopCount:
    """Return the hop count of any pattern."""
    clock.say("deciding whether s exists")
    if BYTES_UNROLLED * pattern.connections > memory_limit:
        return undecided("whether a finite s exists is not decided within the memory limit")
    existence = find_phases(pattern, kernels)
    columns = Columns(Schedule(pattern, kernels), kernels, pattern.n)
    keys = columns.schedule.sources
    blocks = spread(keys, -(-keys.size // (64 * block_width(pattern.n, kernels.block_words, memory_limit))))
    if existence.phases:
        return _count_phases(pattern, existence.phases, columns, blocks, kernels, clock)
    if existence.vanishes and pattern.p > 1:
        clock.say("following all keys through the first cycle")
        full = for_blocks(lambda some: columns.full_layers(some, pattern.p - 1, clock), blocks, _empty, clock)
        if None in full:
            return undecided("whether a finite s exists is not decided within the time limit")
        always = set.intersection(*(layers for layers in full if layers is not None))
        if always:
            return exactly(min(always), _unseen_at(columns, blocks, min(always) - 1), "bit columns")
    if existence.unseen is None:
        raise AssertionError  # no phase ends full only where a pair was found
    return never(existence.unseen, "cyclic classes", self_attending=False)


def _empty(layers: set[int] | None) -> bool:
    return not layers


def _count_phases(
    pattern: SparsityPattern,
    phases: frozenset[int],
    columns: Columns,
    blocks: list[IntArray],
    kernels: Kernels,
    clock: Clock,
) -> HopCount:
    """Find the first full layer among phases that all end full."""
    clock.say("following all keys")
    small = pattern.n <= DOUBLED_TOKENS
    most = STEPPED_LAYERS if small else None
    counts = for_blocks(
        lambda some: columns.phases(some, phases, pattern.p, most, clock),
        blocks,
        lambda count: len(count.first) < len(phases),
        clock,
    )
    if all(len(count.first) == len(phases) for count in counts):
        s = min(max(count.first[r] for count in counts) for r in phases)
        return exactly(s, _unseen_at(columns, blocks, s - 1), "bit columns")
    if small and not clock.passed:
        clock.say("multiplying cycles")
        found = first_full(pattern, phases, kernels, clock)
        if found is not None:
            return exactly(*found, "powers of the cycle")
    late = max((count.unseen for count in counts if count.unseen is not None), key=lambda pair: pair.layers or 0)
    # P is primitive when phase 0 ends full: P^q is full from q = (n - 1)^2 + 1 on (Wielandt 1950)
    upper = pattern.p * ((pattern.n - 1) ** 2 + 1) if 0 in phases else None
    return between(
        (late.layers or 0) + 1, upper, late, None, "the first full layer is not found within the time limit"
    )


def _unseen_at(columns: Columns, blocks: list[IntArray], t: int) -> Unseen | None:
    """Return a pair that is not seen after t layers, given that t >= 1 has one."""
    if t == 0:
        return None
    return next(pair for pair in (columns.unseen_at(keys, t) for keys in blocks) if isinstance(pair, Unseen))
