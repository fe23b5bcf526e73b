"""The union digraph of a pattern: Assumption 1.1, strong components, hubs, closed sets and reach (paper, §3.2).

Edges run key -> query: information flows from the key j in A_k to the query k. Because of the residual
connection, the tokens that can ever influence output k are reach(k): all j with a directed path j -> ... -> k
in the union digraph, k included. Everything here is linear in the connections.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from theory.read_only import ReadOnly

if TYPE_CHECKING:
    from theory.patterns import Connections, IntArray, SparsityPattern

__all__ = [
    "ClosedSet",
    "Components",
    "Reach",
    "classify_reach",
    "closed_set",
    "reach_of",
    "self_attention_violations",
    "strong_components",
    "unseen_predecessor",
]


def self_attention_violations(pattern: SparsityPattern) -> IntArray:
    """List the violations of Assumption 1.1: rows (pattern, token) with token k not in A_k^l.

    Returns
    -------
    IntArray
        Shape (violations, 2), in lexicographic order; empty when 1.1 holds.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> self_attention_violations(SparsityPattern.from_lists([[0], [0]], [[0, 1], [1]])).tolist()
    [[0, 1]]
    """
    missing = [np.flatnonzero(~layer.self_attending) for layer in pattern.layers]
    return np.concatenate([np.column_stack((np.full_like(m, number), m)) for number, m in enumerate(missing)])


@dataclass(frozen=True, eq=False)
class Components(ReadOnly):
    """Strong components in topological order: an edge j -> k between two of them has labels[j] < labels[k]."""

    labels: IntArray
    count: int

    def members(self, label: int) -> IntArray:
        """Return the tokens of one component, sorted."""
        return np.flatnonzero(self.labels == label)

    @property
    def sizes(self) -> IntArray:
        """Number of tokens of every component."""
        return np.bincount(self.labels, minlength=self.count)


def strong_components(connections: Connections) -> Components:
    """Return the strong components of the digraph key -> query, topologically ordered, in linear time.

    A hub settles the question without a search.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> strong_components(SparsityPattern.from_lists([[0, 1], [1], [0, 2]]).union).labels.tolist()
    [1, 0, 2]
    """
    if connections.n == 1 or connections.hub is not None:
        return Components(np.zeros(connections.n, dtype=np.int32), 1)
    from scipy.sparse.csgraph import connected_components

    count, labels = connected_components(connections.matrix(), directed=True, connection="strong")
    if count == 1:
        return Components(labels, 1)
    return Components(_topological(labels, int(count), connections), int(count))


def _topological(labels: IntArray, count: int, connections: Connections) -> IntArray:
    """Renumber component labels so that every edge key -> query between two components rises."""
    lower, upper = labels[connections.keys], labels[connections.queries]
    across = lower != upper
    lower, upper = lower[across], upper[across]
    if np.all(lower < upper):
        return labels
    if np.all(lower > upper):
        return (count - 1 - labels).astype(labels.dtype)
    from graphlib import TopologicalSorter

    before: dict[int, list[int]] = {label: [] for label in range(count)}
    for low, high in np.unique(np.column_stack((lower, upper)), axis=0).tolist():
        before[high].append(low)
    rank = np.empty(count, dtype=labels.dtype)
    rank[list(TopologicalSorter(before).static_order())] = np.arange(count)
    return rank[labels]


@dataclass(frozen=True, eq=False)
class ClosedSet(ReadOnly):
    """A proper closed set C: A_k^l lies inside C for every k in C and every l.

    No token of C ever sees a token outside C, whatever the depth: the pattern is not universal.

    Parameters
    ----------
    tokens
        The members of C, sorted.
    query, key
        One cut-off pair: `query` in C never sees `key` outside C.
    unseen
        Whether the complement (tokens never seen from C) is the smaller half and the better description.
    """

    tokens: IntArray
    query: int
    key: int
    unseen: bool


def _close(members: npt.NDArray[np.bool_], n: int, *, unseen: bool) -> ClosedSet:
    """Wrap a boolean membership vector of a closed set."""
    inside, outside = np.flatnonzero(members), np.flatnonzero(~members)
    return ClosedSet(inside, int(inside[0]), int(outside[-1] if unseen else outside[0]), unseen)


def closed_set(connections: Connections, components: Components) -> ClosedSet | None:
    """Return the most telling proper closed set, or None when the digraph is strongly connected.

    Candidates are the components that see nothing outside themselves and the complements of the components
    that nothing outside sees; the one with the fewest tokens to name is returned.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> union = SparsityPattern.from_lists([[0, 1], [0, 1], [0, 2]]).union
    >>> cut = closed_set(union, strong_components(union))
    >>> cut.tokens.tolist(), cut.query, cut.key
    ([0, 1], 0, 2)
    """
    if components.count == 1:
        return None
    lower, upper = components.labels[connections.keys], components.labels[connections.queries]
    across = lower != upper
    sees, seen = np.zeros(components.count, dtype=bool), np.zeros(components.count, dtype=bool)
    sees[upper[across]] = True
    seen[lower[across]] = True
    sizes = components.sizes
    blind = min(np.flatnonzero(~sees).tolist(), key=lambda label: sizes[label])
    hidden = min(np.flatnonzero(~seen).tolist(), key=lambda label: sizes[label])
    if sizes[hidden] <= sizes[blind]:
        return _close(components.labels != hidden, connections.n, unseen=True)
    return _close(components.labels == blind, connections.n, unseen=False)


class Reach(Enum):
    """Which tokens reach which (§10 of the notes): the class of functions that dependence allows."""

    ALL = "all"
    CAUSAL = "causal"
    WITHIN_CAUSAL = "within causal"
    OTHER = "other"


def classify_reach(connections: Connections, components: Components) -> Reach:
    """Classify reach(k) for all k: everything, exactly 0..k, some of 0..k only, or anything else.

    When no key comes after its query, paths only rise, so token k - 1 reaches k by a direct connection or
    not at all: reach is exactly causal iff k - 1 is in A_k for every k >= 1.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> union = SparsityPattern.from_lists([[0], [0, 1], [1, 2]]).union
    >>> classify_reach(union, strong_components(union)).value
    'causal'
    """
    if components.count == 1:
        return Reach.ALL
    if not connections.is_lower_triangular:
        return Reach.OTHER
    later = np.arange(1, connections.n)
    return Reach.CAUSAL if bool(np.all(connections.contains(later, later - 1))) else Reach.WITHIN_CAUSAL


def unseen_predecessor(connections: Connections, components: Components) -> ClosedSet | None:
    """Return evidence that some token k cannot see k - 1, or None when every reach(k) contains 0..k.

    reach(k) contains 0..k for all k iff token k - 1 reaches token k for all k >= 1 (chain the paths). Then the
    components, in topological order, are consecutive stretches of tokens, each joined directly to the next. A
    skipped component would show elsewhere as a fall, so falls and missing joints are all there is to look for.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> union = SparsityPattern.from_lists([[0], [1], [1, 2]]).union
    >>> cut = unseen_predecessor(union, strong_components(union))
    >>> cut.query, cut.key, cut.tokens.tolist()
    (1, 0, [1])
    """
    if components.count == 1:
        return None
    labels = components.labels.astype(np.int64)
    linked = np.zeros(components.count, dtype=bool)
    lower, upper = labels[connections.keys], labels[connections.queries]
    linked[upper[upper == lower + 1]] = True
    rise = np.diff(labels)
    broken = (rise < 0) | ((rise == 1) & ~linked[labels[1:]])
    if not broken.any():
        return None
    query = int(np.flatnonzero(broken)[0]) + 1
    members = reach_of(connections, query)
    return ClosedSet(np.flatnonzero(members), query, query - 1, unseen=False)


def reach_of(connections: Connections, query: int) -> npt.NDArray[np.bool_]:
    """Return reach(query) as a boolean vector: every token with a directed path to the query, itself included."""
    from scipy.sparse.csgraph import breadth_first_order

    order = breadth_first_order(connections.matrix(), query, return_predecessors=False)
    members = np.zeros(connections.n, dtype=bool)
    members[order] = True
    return members
