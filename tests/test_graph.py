"""1.1, strong components, hubs, closed sets and reach, against the definitions."""

from __future__ import annotations

from itertools import chain

import brute_force
import networkx as nx
import numpy as np

from theory.graph import (
    Components,
    _topological,
    classify_reach,
    closed_set,
    reach_of,
    self_attention_violations,
    strong_components,
    unseen_predecessor,
)
from theory.patterns import SparsityPattern
from theory.spine import build_spine

SMALL = list(chain(*(brute_force.self_attending_digraphs(n) for n in (1, 2, 3))))
RANDOM = list(brute_force.random_patterns(1500, seed=1))


def all_patterns() -> list[brute_force.Attends]:
    return SMALL + RANDOM


def test_violations_of_1_1_are_listed() -> None:
    for lists in all_patterns():
        expected = [[number, k] for number, rows in enumerate(lists) for k, row in enumerate(rows) if k not in row]
        assert self_attention_violations(SparsityPattern.from_lists(*lists)).tolist() == expected


def test_components_and_their_order() -> None:
    for lists in all_patterns():
        union = SparsityPattern.from_lists(*lists).union
        found = strong_components(union)
        reach = brute_force.reach(lists)
        n = union.n
        for a in range(n):
            for b in range(n):
                together = a in reach[b] and b in reach[a]
                assert together == (found.labels[a] == found.labels[b])
        assert set(found.labels.tolist()) == set(range(found.count))
        for key, query in brute_force.union_edges(lists):
            assert found.labels[key] <= found.labels[query]
        assert found.sizes.tolist() == [len(found.members(label)) for label in range(found.count)]


def test_components_are_put_in_order_whatever_the_numbering() -> None:
    dice = np.random.default_rng(0)
    for lists in RANDOM[:300]:
        union = SparsityPattern.from_lists(*lists).union
        found = strong_components(union)
        shuffled = dice.permutation(found.count)[found.labels]
        mended = _topological(shuffled, found.count, union)
        for key, query in brute_force.union_edges(lists):
            assert mended[key] < mended[query] or found.labels[key] == found.labels[query]


def test_hub_is_joined_both_ways_to_every_other_token() -> None:
    for lists in all_patterns():
        edges = brute_force.union_edges(lists)
        n = len(lists[0])
        hubs = [h for h in range(n) if all({(h, k), (k, h)} <= edges for k in range(n) if k != h)]
        assert SparsityPattern.from_lists(*lists).union.hub == (hubs[0] if hubs else None)


def test_reach_and_its_kind() -> None:
    for lists in all_patterns():
        union = SparsityPattern.from_lists(*lists).union
        reach = brute_force.reach(lists)
        assert classify_reach(union, strong_components(union)).value == brute_force.reach_kind(lists)
        for k in range(union.n):
            assert set(np.flatnonzero(reach_of(union, k)).tolist()) == reach[k]


def assert_closed(lists: brute_force.Attends, tokens: set[int], query: int, key: int) -> None:
    """The witness by its definition: proper, closed under keys, the pair cut off."""
    assert tokens < set(range(len(lists[0])))
    assert all(set(rows[k]) <= tokens for rows in lists for k in tokens)
    assert query in tokens
    assert key not in tokens


def test_a_closed_set_exists_exactly_when_the_digraph_falls_apart() -> None:
    for lists in all_patterns():
        union = SparsityPattern.from_lists(*lists).union
        cut = closed_set(union, strong_components(union))
        if brute_force.reach_kind(lists) == "all":
            assert cut is None
        else:
            assert cut is not None
            assert_closed(lists, set(cut.tokens.tolist()), cut.query, cut.key)


def test_a_token_without_its_predecessor_is_found_exactly_when_there_is_one() -> None:
    for lists in all_patterns():
        union = SparsityPattern.from_lists(*lists).union
        reach = brute_force.reach(lists)
        cut = unseen_predecessor(union, strong_components(union))
        if all(set(range(k)) <= members for k, members in enumerate(reach)):
            assert cut is None
        else:
            assert cut is not None
            assert cut.key == cut.query - 1
            assert_closed(lists, set(cut.tokens.tolist()), cut.query, cut.key)


def test_spine_is_made_of_edges_inside_components_that_lead_to_the_root() -> None:
    for lists in all_patterns():
        union = SparsityPattern.from_lists(*lists).union
        components = strong_components(union)
        spine = build_spine(union, components)
        edges = brute_force.union_edges(lists)
        for token in range(union.n):
            root = int(spine.root[spine.component[token]])
            for parents, towards in ((spine.in_parent, True), (spine.out_parent, False)):
                at, steps = token, 0
                while at != root:
                    parent = int(parents[at])
                    assert ((at, parent) if towards else (parent, at)) in edges
                    assert spine.component[parent] == spine.component[at]
                    at, steps = parent, steps + 1
                    assert steps <= union.n
        for key, query in spine.links.tolist():
            assert (key, query) in edges
            assert spine.component[query] == spine.component[key] + 1


def test_components_of_larger_digraphs_agree_with_networkx() -> None:
    for seed in range(20):
        graph = nx.gnp_random_graph(80, 0.015, seed=seed, directed=True)
        lists = [[sorted(set(graph.predecessors(k)) | {k}) for k in range(80)]]
        found = strong_components(SparsityPattern.from_lists(*lists).union)
        expected = {frozenset(members) for members in nx.strongly_connected_components(graph)}
        assert {frozenset(found.members(label).tolist()) for label in range(found.count)} == expected


def test_a_component_knows_its_members() -> None:
    assert Components(np.array([1, 0, 1]), 2).members(1).tolist() == [0, 2]
