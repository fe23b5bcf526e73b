"""The digraph that a Hamiltonian path lives in, and its undirected relatives.

All are `Connections`: row k lists the tokens with an edge into k, and ``.transposed`` those that k has an edge to.
Self-loops are dropped: no path uses one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.patterns import Connections

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from theory.patterns import IntArray, SparsityPattern

__all__ = [
    "both_ways",
    "either_way",
    "gather_rows",
    "is_symmetric",
    "joining_patterns",
    "keep_edges",
    "thin",
    "usable_edges",
]

# Multipliers and shifts of a 64-bit mixing function (splitmix64, Steele, Lea and Flood 2014).
GOLDEN = 0x9E3779B97F4A7C15
MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))


def joining_patterns(pattern: SparsityPattern, path: IntArray) -> IntArray:
    """Return for i = 1..n-1 the first l with path[i - 1] in A^l of path[i], or -1 where no pattern has that edge.

    A path is Hamiltonian iff it is a permutation and no entry is -1. The union is not built.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> two = SparsityPattern.from_lists([[0], [1], [2]], [[0], [0], [2]])
    >>> joining_patterns(two, np.array([0, 1, 2])).tolist()
    [1, -1]
    """
    found = np.full(pattern.n - 1, -1, dtype=np.int64)
    todo = np.arange(pattern.n - 1)
    for number, layer in enumerate(pattern.layers):
        joined = layer.contains(path[todo + 1], path[todo])
        found[todo[joined]] = number
        todo = todo[~joined]
        if not todo.size:
            break
    return found


def keep_edges(edges: Connections, kept: npt.NDArray[np.bool_]) -> Connections:
    """Return the connections marked in `kept`."""
    total = np.concatenate(([0], np.cumsum(kept)))
    return Connections(total[edges.indptr], edges.keys[kept])


def usable_edges(union: Connections, rank: IntArray | None = None) -> Connections:
    """Drop self-loops and, given a rank that no edge lowers, the edges that raise it by more than one."""
    kept = union.keys != union.queries
    if rank is not None:
        kept &= rank[union.queries] - rank[union.keys] <= 1
    return keep_edges(union, kept)


def is_symmetric(edges: Connections) -> bool:
    """Return whether every edge runs both ways."""
    back = edges.transposed
    return np.array_equal(edges.indptr, back.indptr) and np.array_equal(edges.keys, back.keys)


def both_ways(edges: Connections) -> Connections:
    """Keep the edges whose reverse is an edge too."""
    return edges if is_symmetric(edges) else keep_edges(edges, edges.contains(edges.keys, edges.queries))


def either_way(edges: Connections) -> Connections:
    """Return the undirected graph: j and k are joined if j -> k or k -> j."""
    if is_symmetric(edges):
        return edges
    queries, keys = edges.queries, edges.keys
    return Connections.from_pairs(edges.n, np.concatenate((queries, keys)), np.concatenate((keys, queries)))


def thin(graph: Connections, most: int, *, seed: int) -> Connections:
    """Drop edges of an undirected graph at random where both ends have many; about `most` or more stay.

    An edge is kept with probability `most` / (the smaller degree of its ends), by a hash that is the same for both
    directions, so that no sorting is needed.
    """
    degrees, queries = graph.degrees, graph.queries
    if not np.any(degrees > 2 * most):
        return graph
    low = np.minimum(queries, graph.keys).astype(np.uint64)
    high = np.maximum(queries, graph.keys).astype(np.uint64)
    mixed = ((low << np.uint64(32)) + high + np.uint64(seed)) * np.uint64(GOLDEN)
    for shift, factor in MIX:
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    fewer = np.minimum(degrees[queries], degrees[graph.keys])
    kept = (fewer <= 2 * most) | ((mixed >> np.uint64(32)) * fewer < most * 2.0**32)
    return keep_edges(graph, kept)


def gather_rows(graph: Connections, tokens: IntArray | Sequence[int]) -> IntArray:
    """Return the rows of several tokens, one after another."""
    chosen = np.asarray(tokens, dtype=np.int64)
    starts = graph.indptr[chosen]
    sizes = graph.indptr[chosen + 1] - starts
    total = int(sizes.sum())
    return graph.keys[np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(total)]
