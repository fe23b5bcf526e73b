"""The BigBird source's measures against networkx and the definitions."""

from __future__ import annotations

import brute_force
import networkx as nx
import numpy as np
import pytest

import theory.measures
from theory.families import connection_formula, parse_family
from theory.measures import distances, measure, spectral_gap
from theory.patterns import SparsityPattern

RANDOM = list(brute_force.random_patterns(150, seed=3))


def digraph(lists: brute_force.Attends) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(len(lists[0])))
    graph.add_edges_from(edge for edge in brute_force.union_edges(lists) if edge[0] != edge[1])
    return graph


def test_distances_agree_with_networkx() -> None:
    for lists in RANDOM:
        graph = digraph(lists)
        found = distances(SparsityPattern.from_lists(*lists).union)
        if graph.number_of_nodes() > 1 and not nx.is_strongly_connected(graph):
            assert (found.diameter, found.upper, found.mean) == (None, None, None)
        elif graph.number_of_nodes() > 1:
            assert found.diameter == found.lower == found.upper == nx.diameter(graph)
            assert found.mean == pytest.approx(nx.average_shortest_path_length(graph), abs=1e-12)
            assert found.mean_error == 0


def test_spectral_gap_agrees_with_the_dense_laplacian() -> None:
    for lists in RANDOM:
        graph = digraph(lists).to_undirected()
        found = spectral_gap(SparsityPattern.from_lists(*lists).union)
        if graph.number_of_nodes() == 1:
            assert found is None
        elif not nx.is_connected(graph):
            assert found == 0
        else:
            laplacian = nx.normalized_laplacian_matrix(graph).toarray()
            assert found == pytest.approx(np.linalg.eigvalsh(laplacian)[1], abs=1e-9)


def test_large_graphs_use_the_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    union = parse_family("window:n=600,w=8").union
    iterated = spectral_gap(union)
    laplacian = nx.normalized_laplacian_matrix(
        digraph([parse_family("window:n=600,w=8").to_lists()[0]]).to_undirected()
    )
    assert iterated == pytest.approx(np.linalg.eigvalsh(laplacian.toarray())[1], rel=1e-6)
    exact = distances(union)
    monkeypatch.setattr(theory.measures, "GROWTH_TOKENS", 10)
    sampled = distances(union)
    assert exact.mean is not None
    assert sampled.mean is not None
    assert sampled.mean_error > 0
    assert abs(sampled.mean - exact.mean) < 5 * sampled.mean_error
    assert sampled.diameter == exact.diameter


def test_measures_of_the_hub() -> None:
    found = measure(parse_family("hub:n=8"))
    assert (found.connections, found.degree_min, found.degree_max, found.hub) == (22, 2, 8, 7)
    assert found.distances.diameter == 2
    assert found.spectral_gap == pytest.approx(1)


def test_the_bigbird_explainers_count_is_not_the_exact_one() -> None:
    """n(2w+r+g) misses the self-loop of every row and the full rows of the global tokens, and ignores clipping."""
    spec = "bigbird:n=64,window=1,random=2,globals=1,seed=0"
    assert connection_formula(spec) == 64 * 5
    exact = parse_family(spec).connections
    assert exact == sum(len(row) for row in parse_family(spec).to_lists()[0])
    assert exact > 64 * 5
