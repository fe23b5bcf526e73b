"""Successors as a matching: all tokens but the last of a path have different successors (Hall, König).

A matching of tokens to successors that leaves at most one token alone exists, or some set X has at most |X| - 2
successors, and the matching shows it. The matching comes from maximum flow: SciPy's own bipartite matching takes
exponential time on some patterns and errs where entries repeat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.hamiltonian.digraph import gather_rows, usable_edges
from theory.hamiltonian.refutations import TooFewPredecessors, TooFewSuccessors

if TYPE_CHECKING:
    from theory.patterns import Connections, IntArray

__all__ = ["few_choices", "largest_matching", "reverse_matching", "unmatched_shortage"]

Shortage = TooFewSuccessors | TooFewPredecessors
ROOTS_TRIED = 16
TRIMS = 50


def few_choices(edges: Connections, union: Connections, rank: IntArray | None) -> Shortage | None:
    """Look for a shortage among the tokens with the fewest successors, or the fewest predecessors.

    Linear time and one-sided: a shortage found is real, none found means nothing. It settles hubs of any size.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> hub = SparsityPattern.from_lists([[0, 3], [1, 3], [2, 3], [0, 1, 2, 3]]).union
    >>> few_choices(usable_edges(hub), hub, None).to_json()
    {'kind': 'too_few_successors', 'set': [0, 1, 2], 'successors': [3], 'rank': None}
    """
    for forward in (True, False):
        rows = edges.transposed if forward else edges
        tokens = _poorest(rows)
        if tokens is not None:
            return _shortage(rows, tokens, union, rank, forward=forward)
    return None


def _poorest(rows: Connections) -> IntArray | None:
    """Return the shortest prefix X, tokens in order of degree, whose rows hold at most |X| - 2 tokens together."""
    degrees = rows.degrees
    order = np.argsort(degrees, kind="stable")
    met = gather_rows(rows, order)
    first = np.full(rows.n, rows.n)
    # The last write wins, so write the earliest place last.
    first[met[::-1]] = np.repeat(np.arange(rows.n), degrees[order])[::-1]
    distinct = np.cumsum(np.bincount(first, minlength=rows.n + 1)[: rows.n])
    short = np.flatnonzero(distinct <= np.arange(1, rows.n + 1) - 2)
    if not short.size:
        return None
    tokens = order[: short[0] + 1]
    for _ in range(TRIMS):
        met = gather_rows(rows, tokens)
        owner = np.repeat(np.arange(tokens.size), degrees[tokens])
        private = np.bincount(met, minlength=rows.n)[met] == 1
        keep = np.ones(tokens.size, dtype=bool)
        keep[owner[private]] = False
        if keep.all():
            break
        tokens = tokens[keep]
    return tokens


def _shortage(
    rows: Connections, tokens: IntArray, union: Connections, rank: IntArray | None, *, forward: bool
) -> Shortage:
    """Write the refutation; the rank is left out where the shortage does not need it."""
    tokens = np.sort(tokens)
    others = np.unique(gather_rows(rows, tokens))
    if rank is not None:
        edges = usable_edges(union)
        everything = np.unique(gather_rows(edges.transposed if forward else edges, tokens))
        if everything.size <= tokens.size - 2:
            others, rank = everything, None
    return TooFewSuccessors(tokens, others, rank) if forward else TooFewPredecessors(tokens, others, rank)


def largest_matching(edges: Connections) -> IntArray:
    """Return for each token its successor in a largest matching, -1 where it has none.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> largest_matching(usable_edges(SparsityPattern.from_lists([[2], [0], [1]]).union)).tolist()
    [1, 2, 0]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    n, rows = edges.n, edges.transposed
    # Nodes: 0 the source, 1..n the tokens, n+1..2n the same tokens as successors, 2n+1 the sink.
    ends = np.concatenate((np.arange(1, n + 1), rows.keys.astype(np.int64) + n + 1, np.full(n, 2 * n + 1)))
    starts = np.concatenate(([0], rows.indptr + n, rows.count + n + np.arange(1, n + 1), [rows.count + 2 * n]))
    network = csr_array(
        (np.ones(ends.size, dtype=np.int32), ends.astype(np.int32), starts.astype(np.int32)),
        shape=(2 * n + 2, 2 * n + 2),
    )
    flow = maximum_flow(network, 0, 2 * n + 1).flow.tocoo()
    used = (flow.data > 0) & (flow.row > 0) & (flow.row <= n)
    successor = np.full(n, -1, dtype=np.int64)
    successor[flow.row[used] - 1] = flow.col[used] - n - 1
    return successor


def reverse_matching(mate: IntArray) -> IntArray:
    """Return for each token the one matched to it, -1 where there is none."""
    matched = np.flatnonzero(mate >= 0)
    reverse = np.full(mate.size, -1, dtype=np.int64)
    reverse[mate[matched]] = matched
    return reverse


def unmatched_shortage(
    edges: Connections, successor: IntArray, union: Connections, rank: IntArray | None
) -> Shortage | None:
    """Return a small shortage when a largest matching leaves two tokens or more without a successor.

    From an unmatched token, walk to its successors, from those to the tokens matched to them, and on: the tokens
    met are one more than their successors. Two such walks together are two more (König 1931).
    """
    if int(np.count_nonzero(successor < 0)) <= 1:
        return None
    found = []
    for forward in (True, False):
        rows, mate = (edges.transposed, successor) if forward else (edges, reverse_matching(successor))
        owner = reverse_matching(mate)
        trees = [_alternating_tree(rows, owner, int(root)) for root in np.flatnonzero(mate < 0)[:ROOTS_TRIED]]
        trees.sort(key=lambda tree: tree.size)
        found.append(_shortage(rows, np.union1d(trees[0], trees[1]), union, rank, forward=forward))
    return min(found, key=lambda shortage: shortage.tokens.size)


def _alternating_tree(rows: Connections, owner: IntArray, root: int) -> IntArray:
    """Return the tokens met on alternating walks from an unmatched one."""
    met = np.zeros(rows.n, dtype=bool)
    front = np.array([root])
    tokens = [front]
    while front.size:
        others = np.unique(gather_rows(rows, front))
        others = others[~met[others]]
        met[others] = True
        front = owner[others]
        tokens.append(front)
    return np.concatenate(tokens)
