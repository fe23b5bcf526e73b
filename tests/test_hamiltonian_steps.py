"""The single steps of the attack on Assumption 1.2: each is sound by itself and works at real sizes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import pytest
from hamiltonian_oracle import (
    COMPLETE_4,
    Rows,
    cliques_at_a_token,
    grid,
    has_path,
    hub,
    petersen_inflated,
    random_attends,
    refutes,
    ring,
    shuffled,
    symmetric,
    union_edges,
    window,
)

from theory.hamiltonian.deadline import Deadline
from theory.hamiltonian.digraph import both_ways, either_way, gather_rows, is_symmetric, thin, usable_edges
from theory.hamiltonian.growing import grow_path
from theory.hamiltonian.matching import few_choices, largest_matching, reverse_matching, unmatched_shortage
from theory.hamiltonian.merging import another_matching, merge_cover
from theory.hamiltonian.orders import bandwidth_order
from theory.hamiltonian.separators import blocks, grown_cut, three_ends, too_many_parts
from theory.hamiltonian.subsets import path_by_subsets
from theory.patterns import Connections, SparsityPattern

if TYPE_CHECKING:
    from theory.patterns import IntArray


def edges_of(rows: Rows) -> Connections:
    return usable_edges(SparsityPattern.from_lists(rows).union)


def pairs(edges: Connections) -> set[tuple[int, int]]:
    return set(zip(edges.keys.tolist(), edges.queries.tolist(), strict=True))


def is_path(path: IntArray | None, edges: Connections) -> bool:
    if path is None or sorted(path.tolist()) != list(range(edges.n)):
        return False
    return set(itertools.pairwise(path.tolist())) <= pairs(edges)


def random_rows(rng: np.random.Generator) -> Rows:
    return random_attends(rng)[0]


def random_undirected(rng: np.random.Generator, *, most: int = 20) -> nx.Graph:
    """A connected graph, sparse enough to have cut tokens."""
    n = int(rng.integers(2, most))
    graph = nx.random_labeled_tree(n, seed=int(rng.integers(2**31)))
    graph.add_edges_from((int(rng.integers(n)), int(rng.integers(n))) for _ in range(int(rng.integers(n))))
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    return graph


def in_and_out(n: int, degree: int, seed: int) -> Connections:
    """Every token with `degree` random successors and as many predecessors."""
    rng = np.random.default_rng(seed)
    own, other = np.tile(np.arange(n), 2 * degree), rng.integers(n, size=2 * degree * n)
    half = degree * n
    queries = np.concatenate((own[:half], other[half:]))
    keys = np.concatenate((other[:half], own[half:]))
    return usable_edges(Connections.from_pairs(n, queries, keys))


# The digraph and its relatives.
def test_relatives_of_the_digraph() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        rows = random_rows(rng)
        edges, truth = edges_of(rows), union_edges([rows])
        back = {(k, j) for j, k in truth}
        assert pairs(edges) == truth
        assert pairs(both_ways(edges)) == truth & back
        assert pairs(either_way(edges)) == truth | back
        assert is_symmetric(edges) == (truth == back)


def test_usable_edges_keep_the_rank_or_raise_it_by_one() -> None:
    rows = [[0], [0, 1], [0, 1, 2], [2, 3]]
    rank = np.array([0, 1, 2, 2])
    assert pairs(usable_edges(SparsityPattern.from_lists(rows).union, rank)) == {(0, 1), (1, 2), (2, 3)}


def test_gathered_rows() -> None:
    edges = edges_of(window(9, 2))
    assert gather_rows(edges, [4, 0]).tolist() == [2, 3, 5, 6, 1, 2]
    assert gather_rows(edges, []).size == 0


def test_thinning_keeps_an_undirected_graph_undirected() -> None:
    edges = edges_of([list(range(300))] * 300)
    thinner = thin(edges, 20, seed=0)
    assert is_symmetric(thinner)
    assert pairs(thinner) < pairs(edges)
    assert thinner.degrees.min() >= 5
    assert thinner.degrees.mean() < 30
    sparse = edges_of(hub(300))
    assert thin(sparse, 20, seed=0).count == sparse.count


# The matching bound.
def brute_matching(n: int, edges: set[tuple[int, int]]) -> int:
    """Size of a largest matching by augmenting paths, one token at a time."""
    owner: dict[int, int] = {}

    def augment(token: int, tried: set[int]) -> bool:
        for j, k in edges:
            if j == token and k not in tried:
                tried.add(k)
                if k not in owner or augment(owner[k], tried):
                    owner[k] = token
                    return True
        return False

    return sum(augment(token, set()) for token in range(n))


def test_largest_matching_against_augmenting_paths() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        rows = random_rows(rng)
        edges = edges_of(rows)
        mate = largest_matching(edges)
        used = [(token, other) for token, other in enumerate(mate.tolist()) if other >= 0]
        assert set(used) <= pairs(edges)
        assert len({other for _, other in used}) == len(used) == brute_matching(edges.n, pairs(edges))
        back = reverse_matching(mate)
        assert all(back[other] == token for token, other in used)


def test_shortages_hold_and_unmatched_tokens_always_give_one() -> None:
    rng = np.random.default_rng(3)
    for _ in range(400):
        rows = random_rows(rng)
        edges = edges_of(rows)
        union, mate = SparsityPattern.from_lists(rows).union, largest_matching(edges)
        exact = unmatched_shortage(edges, mate, union, None)
        assert (exact is not None) == (int((mate < 0).sum()) >= 2)
        for shortage in (exact, few_choices(edges, union, None)):
            if shortage is not None:
                assert refutes([rows], shortage.to_json())
                assert exact is not None


def test_a_shortage_is_cut_down_to_what_it_needs() -> None:
    rows = [*hub(5), *([k, k - 1] for k in range(5, 40))]
    shortage = few_choices(edges_of(rows), SparsityPattern.from_lists(rows).union, None)
    assert shortage is not None
    assert shortage.tokens.size == 3


def test_a_relabelled_strided_pattern_takes_the_matching_no_time() -> None:
    """n = 1024, where SciPy's own bipartite matching took minutes."""
    rows = shuffled([sorted({*range(max(0, k - 1), k + 1), *range(k % 32, 1024, 32)}) for k in range(1024)])
    assert int((largest_matching(edges_of(rows)) < 0).sum()) <= 1


# Searches.
@pytest.mark.parametrize("w", [2, 3, 8])
def test_bandwidth_order_undoes_the_relabelling_of_a_window(w: int) -> None:
    edges = edges_of(shuffled(window(500, w)))
    assert is_path(bandwidth_order(edges), edges)


GROWN = {
    "grid": grid(20, 20),
    "odd grid": grid(21, 21),
    "window": window(400, 3),
    "hypercube": symmetric(256, [(k, k ^ 1 << bit) for k in range(256) for bit in range(8) if k < k ^ 1 << bit]),
    "axial": symmetric(
        400, ((a, b) for a, b in itertools.combinations(range(400), 2) if a // 20 == b // 20 or a % 20 == b % 20)
    ),
    "two cliques at a token": cliques_at_a_token(2, 60),
    "path": window(3000, 1),
    "cubic": petersen_inflated([(0, 1), (1, 0), (0, 1)]),
}


@pytest.mark.parametrize("name", GROWN)
def test_growing_finds_paths_of_relabelled_graphs(name: str) -> None:
    edges = edges_of(shuffled(GROWN[name]))
    assert is_path(grow_path(edges, Deadline(20.0)), edges)


def test_growing_is_never_wrong() -> None:
    rng = np.random.default_rng(4)
    for _ in range(40):
        graph = random_undirected(rng, most=9)
        rows = symmetric(len(graph), graph.edges)
        edges = edges_of(rows)
        path = grow_path(edges, Deadline(5.0))
        assert is_path(path, edges) if path is not None else True
        if path is None:
            assert not has_path(edges.n, pairs(edges))


@pytest.mark.parametrize("seed", range(6))
def test_growing_finds_paths_of_random_cubic_graphs(seed: int) -> None:
    graph = nx.random_regular_graph(3, 60, seed=seed)
    edges = edges_of(symmetric(60, graph.edges))
    assert is_path(grow_path(edges, Deadline(20.0), seed=seed), edges)


@pytest.mark.parametrize(("n", "degree"), [(100, 2), (400, 3), (1000, 4)])
def test_merging_finds_paths_of_random_digraphs(n: int, degree: int) -> None:
    edges = in_and_out(n, degree, seed=n)
    assert is_path(merge_cover(edges, largest_matching(edges), Deadline(20.0)), edges)


def test_merging_keeps_a_ring_that_is_already_there() -> None:
    edges = edges_of(shuffled(ring(200)))
    assert is_path(merge_cover(edges, largest_matching(edges), Deadline(5.0)), edges)


def test_another_matching_is_as_large_and_as_valid() -> None:
    edges = in_and_out(60, 2, seed=1)
    first, rng = largest_matching(edges), np.random.default_rng(0)
    for _ in range(5):
        mate = another_matching(edges, rng)
        used = [(token, other) for token, other in enumerate(mate.tolist()) if other >= 0]
        assert set(used) <= pairs(edges)
        assert len({other for _, other in used}) == len(used) == int((first >= 0).sum())
    short = another_matching(edges_of(hub(6)), rng)
    assert int((short >= 0).sum()) == 2


def test_merging_is_never_wrong() -> None:
    rng = np.random.default_rng(5)
    tried = 0
    while tried < 40:
        rows = random_rows(rng)
        edges = edges_of(rows)
        mate = largest_matching(edges)
        if not edges.count or int((mate < 0).sum()) > 1:
            continue
        tried += 1
        path = merge_cover(edges, mate, Deadline(0.2))
        if path is not None:
            assert is_path(path, edges)
        elif nx.is_strongly_connected(nx.DiGraph(pairs(edges))):
            assert not has_path(edges.n, pairs(edges))


def test_searches_stop_at_the_deadline() -> None:
    edges = edges_of(petersen_inflated(COMPLETE_4))
    assert grow_path(edges, Deadline(0.0)) is None
    assert merge_cover(edges, largest_matching(edges), Deadline(0.0)) is None
    assert blocks(edges_of(window(3000, 1)), Deadline(0.0)) is None
    assert too_many_parts(edges, None, Deadline(0.0)) is None


# Separators.
def test_blocks_against_networkx() -> None:
    rng = np.random.default_rng(6)
    for _ in range(150):
        graph = nx.disjoint_union(random_undirected(rng), random_undirected(rng, most=6))
        found = blocks(edges_of(symmetric(len(graph), graph.edges)), Deadline(5.0))
        assert found is not None
        assert {frozenset(block.tolist()) for block in found} == {
            frozenset(block) for block in nx.biconnected_components(graph)
        }


def test_separators_hold_and_three_ends_is_exact_on_the_block_tree() -> None:
    rng = np.random.default_rng(7)
    kinds = set()
    for _ in range(300):
        graph = random_undirected(rng)
        rows = symmetric(len(graph), graph.edges)
        edges = edges_of(rows)
        cuts = set(nx.articulation_points(graph))
        leaves = sum(len(cuts & block) == 1 for block in nx.biconnected_components(graph))
        ends, parts = three_ends(edges, None, Deadline(5.0)), too_many_parts(edges, None, Deadline(5.0))
        assert (ends is not None) == (leaves >= 3)
        for refutation in (ends, parts):
            if refutation is not None:
                kinds.add(refutation.kind)
                assert refutes([rows], refutation.to_json())
    assert kinds == {"three_ends", "too_many_parts"}


def test_grown_cuts_hold_and_find_more() -> None:
    rng = np.random.default_rng(8)
    more = 0
    for _ in range(60):
        graph = random_undirected(rng)
        rows = symmetric(len(graph), graph.edges)
        edges = edges_of(rows)
        grown = grown_cut(edges, None, Deadline(5.0))
        if too_many_parts(edges, None, Deadline(5.0)) is None:
            more += grown is not None
        if grown is not None:
            assert refutes([rows], grown.to_json())
    assert more
    assert grown_cut(edges_of(window(1000, 1)), None, Deadline(0.0)) is None


def test_long_graphs_need_no_recursion() -> None:
    n = 6000
    edges = edges_of(shuffled(window(n, 1)))
    found = blocks(edges, Deadline(20.0))
    assert found is not None
    assert len(found) == n - 1


# Few tokens.
def test_subsets_refuse_more_than_they_can_hold() -> None:
    with pytest.raises(ValueError, match="at most 16"):
        path_by_subsets(edges_of(ring(17)))


def test_subsets_at_their_largest() -> None:
    edges = edges_of(shuffled(ring(16)))
    assert is_path(path_by_subsets(edges), edges)
    assert path_by_subsets(edges_of(hub(16))) is None
