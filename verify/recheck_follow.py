"""Following one token through the layers: forward to the queries that see it, or back to the keys that it sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verify.recheck_ledger import Unproved

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from theory.patterns import Connections, IntArray, SparsityPattern

    Flags = npt.NDArray[np.bool_]
    Way = Callable[[Connections], Connections]

__all__ = ["STEP", "arrivals", "back", "follow_exactly", "forth", "never_seen_by_all"]

STEP = 1000  # what one layer costs besides, in connections
MOST_FOLLOWED = 2**26  # connections followed at most without 1.1, where no layer can be skipped
MOST_REPEATED = 2**30  # connections looked at while waiting for a repetition: some seconds
REPEATED_STEP = 2**14  # what one layer costs there besides


def back(layer: Connections) -> Connections:
    """Go from queries to their keys."""
    return layer


def forth(layer: Connections) -> Connections:
    """Go from keys to their queries."""
    return layer.transposed


def arrivals(pattern: SparsityPattern, way: Way, turns: range, start: int) -> IntArray:
    """Return after how many of these layers each token is first found, -1 for never; every token needs 1.1.

    Tokens once found stay found, so each is expanded once a pattern.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> ring = SparsityPattern.from_lists([[0, 3], [0, 1], [1, 2], [2, 3]])
    >>> arrivals(ring, forth, range(2), start=0).tolist()
    [0, 1, 2, -1]
    """
    found = np.full(pattern.n, -1)
    found[start] = 0
    order = np.full(pattern.n, start)  # the tokens found, as they came
    place = np.zeros(pattern.n, dtype=np.int64)
    count, expanded, quiet = 1, [0] * pattern.p, 0
    for step, turn in enumerate(turns, start=1):
        number = turn % pattern.p
        ahead = _rows(way(pattern.layers[number]), order[expanded[number] : count])
        expanded[number] = count
        ahead = ahead[found[ahead] < 0]
        place[ahead] = np.arange(ahead.size)
        fresh = ahead[place[ahead] == np.arange(ahead.size)]  # each once: no sorting, no pass over all tokens
        found[fresh] = step
        order[count : count + fresh.size] = fresh
        count += fresh.size
        quiet = 0 if fresh.size else quiet + 1
        if count == pattern.n or quiet == pattern.p:
            break
    return found


def follow_exactly(
    pattern: SparsityPattern, way: Callable[[Connections], Connections], turns: range, start: int
) -> Flags:
    """Follow without 1.1: every layer replaces the tokens found."""
    now, work = np.array([start]), MOST_FOLLOWED
    for turn in turns:
        ahead = _rows(way(pattern.layers[turn % pattern.p]), now)
        now = np.unique(ahead)
        work -= ahead.size + STEP
        if work < 0:
            raise Unproved("following it through all its layers would take too long")
        if not now.size:
            break
    found = np.zeros(pattern.n, dtype=bool)
    found[now] = True
    return found


def never_seen_by_all(pattern: SparsityPattern, key: int) -> None:
    """Follow the queries that see one key until they repeat: if they never were all, they never will be.

    Raises
    ------
    Unproved
        If all see the key after some layer, which leaves the other layers open, or the repetition is far.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> never_seen_by_all(SparsityPattern.from_lists([[1], [0]]), key=0)
    """
    sees = np.zeros(pattern.n, dtype=bool)
    sees[key] = True
    edges = [(layer.queries, layer.keys) for layer in pattern.layers]
    kept, cycles, again, work = sees, 0, 1, MOST_REPEATED
    while True:
        for queries, keys in edges:
            after = np.zeros(pattern.n, dtype=bool)
            after[queries[sees[keys]]] = True
            sees = after
            work -= REPEATED_STEP + keys.size
            if sees.all():
                raise Unproved(f"token {key} is seen by all after some layer, which leaves other layers open")
        if np.array_equal(sees, kept):
            return
        if work < 0:
            raise Unproved(f"the queries that see token {key} do not repeat soon enough")
        cycles += 1
        if cycles == again:  # Brent: keep a later state now and then
            kept, again = sees, 2 * again


def _rows(connections: Connections, tokens: IntArray) -> IntArray:
    """Return the rows of these tokens, one after the other."""
    starts = connections.indptr[tokens]
    lengths = connections.indptr[tokens + 1] - starts
    before = np.cumsum(lengths) - lengths
    rows: IntArray = connections.keys[np.repeat(starts - before, lengths) + np.arange(lengths.sum())]
    return rows
