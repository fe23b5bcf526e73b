"""Spanning trees of the strong components: the evidence that tokens do see each other, checkable edge by edge.

The same trees carry the relay construction: gather along the in-tree, broadcast along the out-tree (§10 of the
notes). Edges run key -> query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from theory.read_only import ReadOnly

if TYPE_CHECKING:
    from theory.graph import Components
    from theory.patterns import Connections, IntArray

__all__ = ["Spine", "build_spine"]


@dataclass(frozen=True, eq=False)
class Spine(ReadOnly):
    """An in-tree and an out-tree for every strong component, and the edges that chain the components.

    Parameters
    ----------
    component
        The component of every token, in topological order.
    root
        One token per component.
    in_parent
        A query of the same component that attends to the token; following it ends at the root.
    out_parent
        A key of the same component in A_k; following it ends at the root. A root is its own parent.
    links
        Shape (links, 2): edges (key, query) from component i to component i + 1, at most one for every i.
    """

    component: IntArray
    root: IntArray
    in_parent: IntArray
    out_parent: IntArray
    links: IntArray


def build_spine(connections: Connections, components: Components) -> Spine:
    """Build the trees by breadth-first search inside the components; a hub gives them without a search.

    Examples
    --------
    >>> from theory.graph import strong_components
    >>> from theory.patterns import SparsityPattern
    >>> ring = SparsityPattern.from_lists([[0, 2], [0, 1], [1, 2]]).union
    >>> trees = build_spine(ring, strong_components(ring))
    >>> trees.in_parent.tolist(), trees.out_parent.tolist()
    ([0, 2, 0], [0, 0, 1])
    """
    n = connections.n
    hub = connections.hub
    if hub is not None:
        star = np.full(n, hub)
        return Spine(np.zeros(n, dtype=np.int64), np.array([hub]), star, star, np.empty((0, 2), dtype=np.int64))
    labels = components.labels
    root = np.unique(labels, return_index=True)[1]
    in_parent = _forest(connections, labels, root)
    out_parent = _forest(connections.transposed, labels, root)
    return Spine(labels, root, in_parent, out_parent, _links(connections, labels))


def _forest(rows: Connections, labels: IntArray, root: IntArray) -> IntArray:
    """Return the predecessors of a breadth-first search from all roots at once that stays inside components."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order

    n = rows.n
    if root.size == 1:
        _, parent = breadth_first_order(rows.matrix(), int(root[0]))
    else:
        inside = labels[rows.queries] == labels[rows.keys]
        start = np.concatenate((rows.queries[inside], np.full(root.size, n)))
        end = np.concatenate((rows.keys[inside], root))
        graph = coo_array((np.ones(start.size), (start, end)), shape=(n + 1, n + 1)).tocsr()
        _, parent = breadth_first_order(graph, n)
    parent = parent[:n].astype(np.int64)
    parent[root] = root
    return parent


def _links(connections: Connections, labels: IntArray) -> IntArray:
    """Pick the first edge from every component to the next one in topological order."""
    keys, queries = connections.keys, connections.queries
    next_one = np.flatnonzero(labels[queries] == labels[keys] + 1)
    _, first = np.unique(labels[keys[next_one]], return_index=True)
    chosen = next_one[first]
    return np.column_stack((keys[chosen], queries[chosen])).astype(np.int64)
