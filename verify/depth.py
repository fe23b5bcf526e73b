"""What a model with a given number of attention layers sees: universality asks for any depth, a model has one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from theory.checks import seconds, whole
from theory.hops.intervals import Intervals
from theory.receptive_field import see_one_layer
from theory.theorems import FunctionClass
from theory.verdicts import Answer

if TYPE_CHECKING:
    import numpy.typing as npt

    from theory.hops import HopCount
    from theory.patterns import SparsityPattern

    Words = npt.NDArray[np.uint64]

__all__ = ["WithinLayers", "first_unseen", "within_layers"]

SOURCES = 1024  # columns followed at once: 16 words a token


@dataclass(frozen=True)
class WithinLayers:
    """Whether the first `layers` layers, residual connections included, carry every input where it is needed.

    Parameters
    ----------
    answer
        HOLDS when every required pair is seen, FAILS with the pair (query, key) as witness.
    """

    layers: int
    answer: Answer
    query: int | None
    key: int | None
    why: str


def within_layers(
    pattern: SparsityPattern, layers: int, for_: FunctionClass | str, hops: HopCount, *, time_limit: float = 30.0
) -> WithinLayers:
    """Decide whether all pairs that `for_` needs are seen within `layers` attention layers.

    With 1.1 and the class of all functions this is s <= layers; otherwise the residual recursion
    R_k^t = R_k^{t-1} united with the R_j^{t-1}, j in A_k^t, is run, on the ends of the rows where they are
    intervals (`theory.hops.intervals`), on all pairs within `time_limit` seconds where they are not.

    Raises
    ------
    PatternError
        If `layers` < 1, or there is no such class of functions.
    """
    time_limit = seconds(time_limit)
    layers = whole("the number of attention layers (--layers)", layers, 1)
    for_ = FunctionClass.of(for_)
    looped = pattern.with_self_loops()
    if for_ is FunctionClass.ALL and looped is pattern and hops.upper is not None and layers >= hops.upper:
        return WithinLayers(layers, Answer.HOLDS, None, None, f"all tokens are seen within {hops.upper} layers")
    pair: tuple[int, int] | Answer
    unseen = hops.unseen if for_ is FunctionClass.ALL and looped is pattern else None
    if unseen is not None and (unseen.layers is None or layers <= unseen.layers):
        pair = unseen.query, unseen.key  # what more layers do not carry, fewer do not
    else:
        deadline = time.monotonic() + time_limit
        pair = first_unseen(looped, layers, causal=for_ is FunctionClass.CAUSAL, deadline=deadline)
    if isinstance(pair, Answer):
        why = {
            Answer.HOLDS: f"every output sees all it needs within {layers} layers",
            Answer.UNDECIDED: f"not decided within {time_limit:g} s whether {layers} layers are enough",
        }[pair]
        return WithinLayers(layers, pair, None, None, why)
    query, key = pair
    needed = f"; s = {hops.s} layers are needed" if for_ is FunctionClass.ALL and hops.s is not None else ""
    why = f"output {query} does not see token {key} within {layers} layers{needed}"
    return WithinLayers(layers, Answer.FAILS, query, key, why)


def first_unseen(
    pattern: SparsityPattern, layers: int, *, causal: bool, deadline: float = float("inf")
) -> tuple[int, int] | Answer:
    """Return a required pair (query, key) that `layers` layers do not carry, HOLDS if there is none.

    Every token of the pattern must attend to itself. UNDECIDED once the deadline (time.monotonic) has passed.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> ring = SparsityPattern.from_lists([[0, 3], [0, 1], [1, 2], [2, 3]])
    >>> first_unseen(ring, 2, causal=False), first_unseen(ring, 3, causal=False)
    ((0, 1), <Answer.HOLDS: 'holds'>)
    """
    rows = [Intervals.read(layer) for layer in pattern.layers]
    ends = [row for row in rows if row is not None]
    if len(ends) == pattern.p:
        return _first_beyond(ends, layers, causal=causal)
    for start in range(0, pattern.n, SOURCES):
        count = min(SOURCES, pattern.n - start)
        words = np.zeros((pattern.n, -(-count // 64)), dtype=np.uint64)
        sources = np.arange(count)
        words[start + sources, sources // 64] = np.uint64(1) << (sources % 64).astype(np.uint64)
        unchanged = 0
        for step in range(layers):
            if time.monotonic() > deadline:
                return Answer.UNDECIDED
            after = see_one_layer(pattern.layers[step % pattern.p], words)
            unchanged = unchanged + 1 if np.array_equal(after, words) else 0
            words = after
            if unchanged == pattern.p:
                break
        pair = _first_missing(words, start, count, causal=causal)
        if pair is not None:
            return pair
    return Answer.HOLDS


def _first_beyond(cycle: list[Intervals], layers: int, *, causal: bool) -> tuple[int, int] | Answer:
    """Answer as `first_unseen` where every row is an interval: qp + r layers are r after a power."""
    n, p = cycle[0].low.size, len(cycle)
    rounds, rest = divmod(min(layers, p * n), p)  # p n layers carry all that is ever carried
    reached = Intervals(np.arange(n), np.arange(n))
    power = reached
    for layer in cycle if rounds else []:
        power = layer.after(power)
    while rounds:
        reached = power.after(reached) if rounds & 1 else reached
        rounds >>= 1
        power = power.after(power) if rounds else power
    for layer in cycle[:rest]:
        reached = layer.after(reached)
    open_rows = reached.open_rows
    if causal:
        open_rows = open_rows[reached.low[open_rows] > 0]
    if not open_rows.size:
        return Answer.HOLDS
    query = int(open_rows[0])
    return query, int(reached.low[query] - 1) % n


def _first_missing(words: Words, start: int, count: int, *, causal: bool) -> tuple[int, int] | None:
    """Return the first (query, key) whose bit is absent though required (all keys, or those up to the query)."""
    n = words.shape[0]
    for first in range(start if causal else 0, n, SOURCES):
        rows = np.arange(first, min(n, first + SOURCES))
        bits = np.unpackbits(words[rows].view(np.uint8), axis=1, bitorder="little", count=count) == 0
        if causal:
            bits &= rows[:, None] >= start + np.arange(count)
        row, column = np.nonzero(bits)
        if row.size:
            return int(rows[row[0]]), start + int(column[0])
    return None
