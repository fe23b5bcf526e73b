"""A claimed s put to the test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theory.connections import PatternError
from theory.hops.clock import Clock
from theory.hops.columns import Columns, for_blocks
from theory.hops.count import hop_count, is_self_attending
from theory.hops.kernels import choose_kernels
from theory.hops.monotone import block_width, spread
from theory.hops.results import ClaimedHops, Unseen
from theory.hops.schedule import Schedule
from theory.verdicts import Answer

if TYPE_CHECKING:
    from theory.hops.kernels import Engine
    from theory.patterns import SparsityPattern

__all__ = ["check_claimed_hops"]


def check_claimed_hops(
    pattern: SparsityPattern,
    claimed: int,
    *,
    time_limit: float | None = 60.0,
    memory_limit: int = 2 << 30,
    engine: Engine = "auto",
) -> ClaimedHops:
    """Decide whether S_k^claimed = [n] for all k, as a claim "s = claimed" says.

    With Assumption 1.1 this is s <= claimed. Without it, the layer asked about is looked at itself.

    Parameters
    ----------
    pattern
        The pattern.
    claimed
        The number of layers, at least 1.
    time_limit, memory_limit, engine
        As for `hop_count`.

    Raises
    ------
    PatternError
        If `claimed` < 1, or the engine is not there.

    Examples
    --------
    The paper says that Strided has s = 2 for all w; with n = 9 and w = 4 token 1 does not see token 8.

    >>> from theory.families import parse_family
    >>> check_claimed_hops(parse_family("strided:n=9,w=4"), 2).unseen
    Unseen(layers=2, query=1, key=8)
    """
    if claimed < 1:
        raise PatternError(f"a claimed hop count must be at least 1, got {claimed}")
    if is_self_attending(pattern):
        found = hop_count(pattern, time_limit=time_limit, memory_limit=memory_limit, engine=engine)
        if found.upper is not None and found.upper <= claimed:
            return _holds(claimed)
        if found.unseen is not None and (found.answer is Answer.FAILS or found.lower > claimed):
            return _fails(claimed, found.unseen)
        return _undecided(claimed)
    clock = Clock(time_limit)
    kernels = choose_kernels(engine, pattern.connections * pattern.n / 64)
    columns = Columns(Schedule(pattern, kernels), kernels, pattern.n)
    keys = columns.schedule.sources
    blocks = spread(keys, -(-keys.size // (64 * block_width(pattern.n, kernels.block_words, memory_limit))))
    results = for_blocks(
        lambda some: columns.unseen_at(some, claimed, clock), blocks, lambda result: result is not None, clock
    )
    pairs = [result for result in results if isinstance(result, Unseen)]
    if pairs:
        return _fails(claimed, min(pairs, key=lambda pair: (pair.query, pair.key)))
    return _undecided(claimed) if Answer.UNDECIDED in results else _holds(claimed)


def _holds(claimed: int) -> ClaimedHops:
    return ClaimedHops(claimed, Answer.HOLDS, None, f"every token sees every token after {claimed} layers")


def _fails(claimed: int, pair: Unseen) -> ClaimedHops:
    why = f"token {pair.query} does not see token {pair.key} after {claimed} layers"
    return ClaimedHops(claimed, Answer.FAILS, Unseen(claimed, pair.query, pair.key), why)


def _undecided(claimed: int) -> ClaimedHops:
    return ClaimedHops(claimed, Answer.UNDECIDED, None, f"{claimed} layers are not decided within the time limit")
