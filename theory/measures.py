"""Measures of the union digraph that the BigBird source compares patterns by: size, distances, spectral gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from theory.graph import strong_components
from theory.hops import growth, hop_count
from theory.patterns import SparsityPattern

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from theory.patterns import Connections

__all__ = ["Distances", "Measures", "distances", "measure", "spectral_gap"]

GROWTH_TOKENS = 8192  # up to here the mean distance is exact: all |R_k^t| are counted on bit sets
GROWTH_LAYERS = 4096
SAMPLED_SOURCES = 64


@dataclass(frozen=True)
class Distances:
    """Shortest paths of the union digraph, self-loops ignored.

    Parameters
    ----------
    diameter
        Longest shortest path; None if some token is never reached, or if it is not known exactly.
    lower, upper
        Proved bounds on the diameter (upper None when unbounded or unknown).
    mean
        Mean over ordered pairs of different tokens; None if infinite.
    mean_error
        0 when `mean` is exact, else the standard error of a sample of `SAMPLED_SOURCES` tokens.
    """

    diameter: int | None
    lower: int
    upper: int | None
    mean: float | None
    mean_error: float


@dataclass(frozen=True)
class Measures:
    """Size and shape of a pattern; degrees are |A_k^l|, counted over all patterns and tokens."""

    connections: int
    density: float
    degree_min: int
    degree_mean: float
    degree_max: int
    distances: Distances
    spectral_gap: float | None
    hub: int | None


def measure(pattern: SparsityPattern, *, time_limit: float = 10.0) -> Measures:
    """Measure a pattern.

    Examples
    --------
    >>> ring = SparsityPattern.from_lists([[0, 2], [0, 1], [1, 2]])
    >>> found = measure(ring)
    >>> found.distances.diameter, found.distances.mean, round(found.spectral_gap, 6)
    (2, 1.5, 1.5)
    """
    degrees = [layer.degrees for layer in pattern.layers]
    union = pattern.union
    return Measures(
        pattern.connections,
        pattern.density,
        min(int(d.min()) for d in degrees),
        pattern.connections / (pattern.p * pattern.n),
        max(int(d.max()) for d in degrees),
        distances(union, time_limit=time_limit),
        spectral_gap(union),
        union.hub,
    )


def distances(union: Connections, *, time_limit: float = 10.0) -> Distances:
    """Return diameter and mean distance of the digraph key -> query.

    With self-loops added, the diameter is the smallest s of Assumption 1.3, and the mean distance is
    sum over t >= 0 of (n^2 - sum_k |R_k^t|) / (n (n - 1)).
    """
    n = union.n
    if n == 1:
        return Distances(0, 0, 0, 0.0, 0.0)
    looped = SparsityPattern((union,)).with_self_loops()
    connected = strong_components(union).count == 1
    if not connected:
        return Distances(None, 1, None, None, 0.0)
    hops = hop_count(looped, strongly_connected=True, time_limit=time_limit)
    if n <= GROWTH_TOKENS and hops.s is not None and hops.s <= GROWTH_LAYERS:
        seen = growth(looped, hops.s)
        unseen_pairs = (n * n - n) + sum(n * n - round(mean * n) for mean in seen.mean)
        return Distances(hops.s, hops.s, hops.s, unseen_pairs / (n * (n - 1)), 0.0)
    mean, error = _sampled_mean(union)
    return Distances(hops.s, hops.lower, hops.upper, mean, error)


def _sampled_mean(union: Connections) -> tuple[float, float]:
    """Estimate the mean distance from breadth-first searches that start at a random sample (seed 0) of tokens."""
    from scipy.sparse.csgraph import breadth_first_order

    n = union.n
    matrix = union.matrix()
    means = []
    for source in np.random.default_rng(0).choice(n, min(n, SAMPLED_SOURCES), replace=False):
        order, parent = breadth_first_order(matrix, int(source))
        depth = np.zeros(n, dtype=np.int64)
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n)
        came_from = place[parent[order[1:]]]
        start, level = 1, 0
        while start < n:  # a level ends where the predecessors leave the level before it
            level += 1
            end = 1 + int(np.searchsorted(came_from, start))
            depth[start:end] = level
            start = end
        means.append(depth.sum() / (n - 1))
    return float(np.mean(means)), float(np.std(means, ddof=1) / np.sqrt(len(means)))


def _undirected(union: Connections) -> csr_array[np.float64]:
    """Return the 0/1 adjacency of the undirected graph under the digraph, without self-loops."""
    from scipy.sparse import csr_array

    matrix = union.matrix()
    both = csr_array(matrix + matrix.T)
    both.setdiag(0)
    both.eliminate_zeros()
    both.data[:] = 1
    return both


def spectral_gap(union: Connections) -> float | None:
    """Return the second smallest eigenvalue of I - D^{-1/2} A D^{-1/2}, A the undirected union graph.

    0 exactly when the graph falls apart; None where the iteration does not converge.
    """
    from scipy.sparse import diags_array
    from scipy.sparse.csgraph import connected_components
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    n = union.n
    if n == 1:
        return None
    adjacency = _undirected(union)
    pieces, _ = connected_components(adjacency, directed=False)
    if pieces > 1:
        return 0.0
    root = diags_array(1 / np.sqrt(adjacency.sum(axis=1)))
    normalised = root @ adjacency @ root
    if n <= 512:
        return float(1 - np.linalg.eigvalsh(normalised.toarray())[-2])
    try:
        largest = eigsh(normalised, k=2, which="LA", v0=np.ones(n), maxiter=2000, return_eigenvectors=False)
    except ArpackNoConvergence:
        return None
    return float(1 - np.sort(largest)[0])
