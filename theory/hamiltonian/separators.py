"""Sets whose removal tears a graph into more parts than a path could join.

Both look at the undirected graph: joined means an edge in either direction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.hamiltonian.digraph import keep_edges
from theory.hamiltonian.refutations import End, ThreeEnds, TooManyParts

if TYPE_CHECKING:
    from theory.hamiltonian.deadline import Deadline
    from theory.patterns import Connections, IntArray

__all__ = ["blocks", "grown_cut", "three_ends", "too_many_parts"]

CLOCK_EVERY = 256
CUT_TRIMMED = 512
STARTS, PAIRS = 4, 60


def three_ends(graph: Connections, rank: IntArray | None, deadline: Deadline) -> ThreeEnds | None:
    """Return three blocks that each hang on the rest by one cut token, or None.

    A connected graph with a Hamiltonian path has blocks (largest parts without a cut token) that form a path; if
    they form any other tree, it has three leaves.

    Examples
    --------
    >>> from theory.hamiltonian.deadline import Deadline
    >>> from theory.patterns import SparsityPattern
    >>> spider = SparsityPattern.from_lists([[1, 2, 3], [0], [0], [0]]).union
    >>> three_ends(spider, None, Deadline(1.0)).to_json()["ends"][0]
    {'set': [1], 'door': 0}
    """
    found = blocks(graph, deadline)
    if found is None:
        return None
    times = np.bincount(np.concatenate(found), minlength=graph.n)
    leaves = []
    for block in found:
        cuts = block[times[block] > 1]
        if cuts.size == 1:
            leaves.append(End(np.sort(block[block != cuts[0]]), int(cuts[0])))
    if len(leaves) < 3:
        return None
    leaves.sort(key=lambda leaf: leaf.tokens.size)
    return ThreeEnds((leaves[0], leaves[1], leaves[2]), rank)


def blocks(graph: Connections, deadline: Deadline) -> list[IntArray] | None:
    """Return the blocks of an undirected graph (Hopcroft and Tarjan 1973), or None when time runs out.

    Depth-first search without recursion: ``low[v]`` is the earliest token that v's subtree is joined to; where a
    child has nothing earlier than its parent, the tokens found since, with the parent, are a block.
    """
    number = [-1] * graph.n
    low = [0] * graph.n
    count = 0
    found: list[IntArray] = []
    pending: list[int] = []
    for root in range(graph.n):
        if number[root] >= 0:
            continue
        number[root] = low[root] = count
        count += 1
        walk = [(root, -1, iter(graph.row(root).tolist()))]
        while walk:
            token, parent, neighbours = walk[-1]
            for other in neighbours:
                if number[other] < 0:
                    number[other] = low[other] = count
                    count += 1
                    if count % CLOCK_EVERY == 0 and deadline.passed:
                        return None
                    pending.append(other)
                    walk.append((other, token, iter(graph.row(other).tolist())))
                    break
                if other != parent:
                    low[token] = min(low[token], number[other])
            else:
                walk.pop()
                if parent < 0:
                    break
                low[parent] = min(low[parent], low[token])
                if low[token] >= number[parent]:
                    block = [parent]
                    while block[-1] != token:
                        block.append(pending.pop())
                    found.append(np.array(block))
    return found


def too_many_parts(graph: Connections, rank: IntArray | None, deadline: Deadline) -> TooManyParts | None:
    """Remove the tokens of largest degree one after another; return the first cut S that leaves > |S| + 1 parts.

    All cuts at once: give the edge between the tokens in places i < j of that order the weight n - i; a cheapest
    spanning forest then holds, for every cut, a spanning forest of what is left.

    Examples
    --------
    >>> from theory.hamiltonian.deadline import Deadline
    >>> from theory.patterns import SparsityPattern
    >>> spider = SparsityPattern.from_lists([[1, 2, 3], [0], [0], [0]]).union
    >>> too_many_parts(spider, None, Deadline(1.0)).to_json()
    {'kind': 'too_many_parts', 'cut': [0], 'parts': [-1, 0, 1, 2], 'rank': None}
    """
    from scipy.sparse.csgraph import minimum_spanning_tree

    n = graph.n
    if not deadline.allows(graph.count, 1e6):
        return None
    order = np.argsort(-graph.degrees, kind="stable")
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    weight = n - np.minimum(place[graph.queries], place[graph.keys])
    weighted = graph.matrix()
    weighted.data = weight.astype(np.float64)
    forest = minimum_spanning_tree(weighted)
    earlier = np.bincount(n - forest.data.astype(np.int64), minlength=n)
    joined = earlier[::-1].cumsum()[::-1]
    parts = n - np.arange(n) - joined
    enough = np.flatnonzero(parts > np.arange(n) + 1)
    if not enough.size:
        return None
    return _trimmed(graph, order[: enough[0]], rank)


def grown_cut(
    graph: Connections, rank: IntArray | None, deadline: Deadline, *, seed: int = 0
) -> TooManyParts | None:
    """Grow cuts from small ones: remove again and again the token whose removal tears off the most parts.

    Slower than `too_many_parts` and more thorough: for graphs that are known or suspected to have no path.
    """
    rng = np.random.default_rng(seed)
    starts: list[list[int]] = [[]] * STARTS + [[token] for token in np.argsort(-graph.degrees).tolist()]
    starts += [rng.choice(graph.n, size=2, replace=False).tolist() for _ in range(PAIRS if graph.n > 2 else 0)]
    for start in starts:
        cut = list(start)
        # Parts that are still missing for a refutation.
        missing = len(cut) + 2 - (int(_parts_without(graph, np.array(cut, dtype=np.int64)).max()) + 1)
        while missing > 0:
            found = blocks(_without(graph, cut), deadline)
            if deadline.passed or not found:
                break
            times = np.bincount(np.concatenate(found), minlength=graph.n)
            if times.max() < 2:
                break
            token = int(rng.choice(np.flatnonzero(times == times.max())))
            cut.append(token)
            missing -= int(times[token]) - 2
        if missing <= 0:
            return _trimmed(graph, np.array(cut, dtype=np.int64), rank)
        if deadline.passed:
            break
    return None


def _without(graph: Connections, cut: IntArray | list[int]) -> Connections:
    """Drop every edge at the tokens of the cut."""
    gone = np.zeros(graph.n, dtype=bool)
    gone[cut] = True
    return keep_edges(graph, ~(gone[graph.queries] | gone[graph.keys]))


def _parts_without(graph: Connections, cut: IntArray) -> IntArray:
    """Label the parts that removing the cut leaves, -1 for the cut."""
    from scipy.sparse.csgraph import connected_components

    labels = connected_components(_without(graph, cut).matrix(), directed=False)[1].astype(np.int64)
    labels[cut] = -1
    return _renumbered(labels)


def _renumbered(labels: IntArray) -> IntArray:
    """Return the labels with the parts numbered 0, 1, ... without gaps."""
    back = labels >= 0
    labels[back] = np.unique(labels[back], return_inverse=True)[1]
    return labels


def _trimmed(graph: Connections, cut: IntArray, rank: IntArray | None) -> TooManyParts:
    """Put back the cut tokens that join at most two parts: one part less for one cut token less."""
    labels = _parts_without(graph, cut)
    kept = cut.tolist()
    for token in kept[::-1] if cut.size <= CUT_TRIMMED else ():
        touched = np.unique(labels[graph.row(token)])
        touched = touched[touched >= 0]
        if touched.size <= 2:
            kept.remove(token)
            labels[token] = labels.max() + 1
            labels[np.isin(labels, touched)] = labels[token]
    return TooManyParts(np.sort(np.array(kept, dtype=np.int64)), _renumbered(labels), rank)
