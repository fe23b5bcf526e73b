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

__all__ = ["both_ways", "either_way", "gather_rows", "is_symmetric", "joining_patterns", "thin", "usable_edges"]


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


def _keep(rows: Connections, kept: npt.NDArray[np.bool_]) -> Connections:
    """Return the connections marked in `kept`."""
    total = np.concatenate(([0], np.cumsum(kept)))
    return Connections(total[rows.indptr], rows.keys[kept])


def usable_edges(union: Connections, rank: IntArray | None = None) -> Connections:
    """Drop self-loops and, given a rank that no edge lowers, the edges that raise it by more than one."""
    kept = union.keys != union.queries
    if rank is not None:
        kept &= rank[union.queries] - rank[union.keys] <= 1
    return _keep(union, kept)


def is_symmetric(edges: Connections) -> bool:
    """Return whether every edge runs both ways."""
    back = edges.transposed
    return np.array_equal(edges.indptr, back.indptr) and np.array_equal(edges.keys, back.keys)


def both_ways(edges: Connections) -> Connections:
    """Keep the edges whose reverse is an edge too."""
    return edges if is_symmetric(edges) else _keep(edges, edges.contains(edges.keys, edges.queries))


def either_way(edges: Connections) -> Connections:
    """Return the undirected graph: j and k are joined if j -> k or k -> j."""
    if is_symmetric(edges):
        return edges
    queries, keys = edges.queries, edges.keys
    return Connections.from_pairs(edges.n, np.concatenate((queries, keys)), np.concatenate((keys, queries)))


def thin(graph: Connections, most: int, rng: np.random.Generator) -> Connections:
    """Drop edges of an undirected graph at random between tokens that both have more than 2 `most` neighbours.

    Each such token keeps `most` of these edges, and those that the other end keeps.
    """
    rich = graph.degrees > 2 * most
    queries = graph.queries
    between = np.flatnonzero(rich[queries] & rich[graph.keys])
    if not between.size:
        return graph
    rows, keys = queries[between], graph.keys[between]
    order = np.lexsort((rng.random(between.size), rows))
    new_row = np.concatenate(([True], np.diff(rows) != 0))
    first = np.flatnonzero(new_row)[np.cumsum(new_row) - 1]
    chosen = order[np.arange(between.size) - first < most]
    kept = np.ones(graph.count, dtype=bool)
    kept[between] = False
    kept[between[chosen]] = True
    rows, keys = queries[kept], graph.keys[kept]
    return Connections.from_pairs(graph.n, np.concatenate((rows, keys)), np.concatenate((keys, rows)))


def gather_rows(graph: Connections, tokens: IntArray | Sequence[int]) -> IntArray:
    """Return the rows of several tokens, one after another."""
    chosen = np.asarray(tokens, dtype=np.int64)
    starts = graph.indptr[chosen]
    sizes = graph.indptr[chosen + 1] - starts
    total = int(sizes.sum())
    return graph.keys[np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(total)]
