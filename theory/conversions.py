"""Sparsity patterns from and to what people have: masks, SciPy matrices, networkx graphs, mask functions.

Every ``from_`` function takes one object, or a list of them with one for each pattern; every ``to_`` function
gives one for each pattern. Rows are queries; an edge is key -> query. Memory follows the connections, except in
the dense masks of `theory.masks`, which are made only where asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theory.dense_masks import to_additive_mask, to_boolean_mask
from theory.mask_functions import from_callable, to_callable
from theory.masks import from_additive_mask, from_boolean_mask
from theory.patterns import MAX_TOKENS, Connections, PatternError, SparsityPattern, ready

if TYPE_CHECKING:
    from collections.abc import Sequence

    import networkx as nx
    import scipy.sparse as sp

__all__ = [
    "from_additive_mask",
    "from_boolean_mask",
    "from_callable",
    "from_networkx",
    "from_scipy",
    "to_additive_mask",
    "to_boolean_mask",
    "to_callable",
    "to_networkx",
    "to_scipy",
]


def from_scipy(matrix: Any) -> SparsityPattern:
    """Read SciPy sparse matrices or arrays of any format: query k attends to key j where entry (k, j) is not 0.

    Explicit zeros are dropped; duplicate entries are summed first, as SciPy does. Nothing is made dense.

    Raises
    ------
    PatternError
        If a matrix is not sparse, not square, or inconsistent, or holds NaN, an infinity or objects.

    Examples
    --------
    >>> from scipy.sparse import coo_array
    >>> from_scipy(coo_array(([1, 1, 2, 0], ([0, 1, 1, 0], [0, 0, 1, 1])))).to_lists()
    [[[0], [0, 1]]]
    """
    matrices = matrix if isinstance(matrix, (list, tuple)) else [matrix]
    return SparsityPattern(tuple(_layer_from_scipy(one, number) for number, one in enumerate(matrices)))


def _layer_from_scipy(given: object, number: int) -> Connections:
    from scipy.sparse import issparse

    if not issparse(given):
        raise PatternError(f"matrix {number} is no SciPy sparse matrix but {type(given).__name__}")
    matrix: Any = given
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise PatternError(f"matrix {number} is not square: shape {matrix.shape}")
    if not 1 <= matrix.shape[0] <= MAX_TOKENS:
        raise PatternError(f"a pattern needs between 1 and {MAX_TOKENS} tokens, got {matrix.shape[0]}")
    if matrix.dtype.kind not in "biufc":
        raise PatternError(f"matrix {number} holds {matrix.dtype}: numbers or booleans are needed")
    if matrix.format in ("csr", "csc", "bsr"):
        try:  # a wrong index would make SciPy read outside its arrays
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise PatternError(f"matrix {number} is inconsistent: {error}") from error
    # Sums of duplicates must neither wrap around nor underflow; those of unsigned numbers never cancel.
    wide = {"b": np.bool_, "u": np.bool_, "i": np.int64}.get(matrix.dtype.kind)
    csr = matrix.astype(wide or np.result_type(matrix.dtype, np.float64)).tocsr(copy=True)
    csr.sum_duplicates()
    strange = np.flatnonzero(~np.isfinite(csr.data))
    if strange.size:
        query = int(np.searchsorted(csr.indptr, strange[0], side="right")) - 1
        raise PatternError(
            f"matrix {number}, entry (query {query}, key {csr.indices[strange[0]]}) is {csr.data[strange[0]]}:"
            " a stored entry means attend, so it must be finite"
        )
    csr.eliminate_zeros()
    return Connections(csr.indptr, csr.indices)


def to_scipy(pattern: SparsityPattern) -> list[sp.csr_array[np.bool_]]:
    """Return one boolean ``csr_array`` for each pattern: entry (k, j) is True where query k attends to key j.

    Examples
    --------
    >>> to_scipy(SparsityPattern.from_lists([[0], [0, 1]]))[0].toarray().tolist()
    [[True, False], [True, True]]
    """
    from scipy.sparse import csr_array

    matrices = []
    for layer in ready(pattern).layers:
        parts = (np.ones(layer.count, dtype=bool), layer.keys.copy(), layer.indptr.copy())
        matrices.append(csr_array(parts, shape=(layer.n, layer.n)))
    return matrices


def from_networkx(graph: nx.Graph[Any] | Sequence[nx.Graph[Any]]) -> SparsityPattern:
    """Read networkx graphs on the nodes 0..n-1: the edge u -> v is key -> query, so u is in A_v.

    An undirected edge counts in both directions, parallel edges once; a self-loop is k in A_k; edge data is not
    read.

    Raises
    ------
    PatternError
        If a graph has no nodes, or its nodes are not exactly the integers 0..n-1.

    Examples
    --------
    >>> import networkx as nx
    >>> from_networkx(nx.DiGraph([(0, 0), (1, 1), (0, 1)])).to_lists()
    [[[0], [0, 1]]]
    """
    graphs = graph if isinstance(graph, (list, tuple)) else [graph]
    return SparsityPattern(tuple(_layer_from_networkx(one, number) for number, one in enumerate(graphs)))


def _layer_from_networkx(graph: Any, number: int) -> Connections:
    import networkx as nx

    if not isinstance(graph, nx.Graph):
        raise PatternError(f"graph {number} is no networkx graph but {type(graph).__name__}")
    n = graph.number_of_nodes()
    for node in graph:
        if isinstance(node, bool) or not isinstance(node, (int, np.integer)) or not 0 <= node < n:
            raise PatternError(
                f"graph {number}: node {node!r} is no integer in 0..{n - 1}: relabel the nodes, for instance with"
                " networkx.convert_node_labels_to_integers"
            )
    ends = np.fromiter((end for u, v in graph.edges() for end in (u, v)), dtype=np.int64).reshape(-1, 2)
    keys, queries = ends[:, 0], ends[:, 1]
    if not graph.is_directed():
        keys, queries = np.concatenate((keys, queries)), np.concatenate((queries, keys))
    return Connections.from_pairs(n, queries, keys)


def to_networkx(pattern: SparsityPattern) -> list[nx.DiGraph[int]]:
    """Return one ``DiGraph`` for each pattern, with the nodes 0..n-1 and the edges key -> query.

    Examples
    --------
    >>> sorted(to_networkx(SparsityPattern.from_lists([[0], [0, 1]]))[0].edges())
    [(0, 0), (0, 1), (1, 1)]
    """
    import networkx as nx

    graphs: list[nx.DiGraph[int]] = []
    for layer in ready(pattern).layers:
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(layer.n))
        graph.add_edges_from(zip(layer.keys.tolist(), layer.queries.tolist(), strict=True))
        graphs.append(graph)
    return graphs
