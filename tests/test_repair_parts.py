"""The parts of a repair by themselves: augmentation, covers, and where the exact and the large method meet."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest

from theory.families import parse_family
from theory.graph import strong_components
from theory.hamiltonian.deadline import Deadline
from theory.hamiltonian.digraph import usable_edges
from theory.hamiltonian.matching import largest_matching
from theory.patterns import Connections
from theory.repair import best_order, causal_plan, covers
from theory.repair.covers import few_paths, order_by_cover, path_cover
from theory.repair.strong import Condensation, condense, fewest_strong_additions, strong_additions


def random_union(dice: np.random.Generator, n: int, edges: int) -> Connections:
    queries, keys = dice.integers(n, size=edges), dice.integers(n, size=edges)
    return Connections.from_pairs(n, np.append(queries, np.arange(n)), np.append(keys, np.arange(n)))


@pytest.mark.parametrize("seed", range(40))
def test_strong_additions_meet_the_bound_on_larger_digraphs(seed: int) -> None:
    dice = np.random.default_rng(seed)
    n = int(dice.integers(2, 200))
    union = random_union(dice, n, int(dice.integers(0, 2 * n)))
    parts = strong_components(union)
    graph = Condensation(parts.count, *condense(parts.labels, union.keys, union.queries))
    added = strong_additions(graph)
    assert len(added) == fewest_strong_additions(graph)
    first = np.unique(parts.labels, return_index=True)[1]
    tails, heads = (first[[edge[end] for edge in added]] if added else np.empty(0, dtype=int) for end in (0, 1))
    more = Connections.from_pairs(n, np.append(union.queries, heads), np.append(union.keys, tails))
    assert strong_components(more).count == 1


def test_a_long_chain_does_not_exhaust_the_stack() -> None:
    n = 20_000
    graph = Condensation(n, np.arange(n - 1), np.arange(1, n))
    assert strong_additions(graph) == [(n - 1, 0)]


def cheapest_cut(union: Connections) -> int:
    """The causal optimum by trying every cut into stretches, each with its own strong components."""
    n = union.n
    best = n * n
    keys, queries = union.keys, union.queries
    for choice in range(1 << (n - 1)):
        starts = [0, *(k for k in range(1, n) if choice >> (k - 1) & 1)]
        stretch = np.searchsorted(starts, np.arange(n), side="right") - 1
        if np.any(stretch[keys] > stretch[queries]):
            continue
        cost = 0
        for number in range(len(starts)):
            members = np.flatnonzero(stretch == number)
            inner = (stretch[keys] == number) & (stretch[queries] == number)
            small = Connections.from_pairs(members.size, queries[inner] - members[0], keys[inner] - members[0])
            parts = strong_components(small)
            if parts.count > 1:
                tails, heads = condense(parts.labels, small.keys, small.queries)
                entered, left = np.unique(heads).size, np.unique(tails).size
                cost += parts.count - min(entered, left)
            cost += number > 0 and not np.any((stretch[keys] == number - 1) & (stretch[queries] == number))
        best = min(best, cost)
    return best


@pytest.mark.parametrize("seed", range(60))
def test_the_causal_plan_is_the_best_of_all_cuts(seed: int) -> None:
    dice = np.random.default_rng(seed)
    n = int(dice.integers(6, 10))
    union = random_union(dice, n, int(dice.integers(0, 2 * n)))
    if seed % 2:  # mostly rising edges leave more cuts to choose from
        queries, keys = np.maximum(union.queries, union.keys), np.minimum(union.queries, union.keys)
        union = Connections.from_pairs(n, queries, keys)
    parts = strong_components(union)
    best = cheapest_cut(union)
    plan = causal_plan(union, parts, rising=False, deadline=Deadline(60))
    assert plan.count == plan.lower_bound == best
    late = causal_plan(union, parts, rising=False, deadline=Deadline(0))
    assert late.lower_bound <= best <= late.count


def test_interleaved_chains_are_best_closed_to_rings() -> None:
    n = 3000
    union = Connections.from_pairs(n, np.arange(7, n), np.arange(n - 7))
    plan = causal_plan(union, strong_components(union), rising=False, deadline=Deadline(60))
    assert plan.count == plan.lower_bound == 7


@pytest.mark.parametrize("seed", range(40))
def test_covers_agree_with_the_exact_search(seed: int) -> None:
    dice = np.random.default_rng(seed)
    n = int(dice.integers(5, 11))
    union = random_union(dice, n, int(dice.integers(0, 2 * n)))
    parts = strong_components(union)
    exact = best_order(union)
    paths, least = few_paths(union, Deadline(20))
    assert sorted(np.concatenate(paths).tolist()) == list(range(n))
    assert all(union.contains(path[1:], path[:-1]).all() for path in paths)
    assert least == len(paths)  # the jokers decide on so few tokens
    cover = path_cover(usable_edges(union), largest_matching(usable_edges(union)))
    assert len(cover) >= least
    large = order_by_cover(union, parts, refuted=False, deadline=Deadline(20))
    cost = int(np.count_nonzero(~union.contains(large.order[1:], large.order[:-1]))) + large.closed
    assert large.lower_bound <= exact.lower_bound <= cost <= exact.lower_bound + 1


@pytest.mark.parametrize("seed", range(12))
def test_jokers_find_the_fewest_paths_by_themselves(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = np.random.default_rng(seed)
    n = int(dice.integers(4, 8))
    union = random_union(dice, n, int(dice.integers(0, 2 * n)))
    monkeypatch.setattr(covers, "MATCHINGS", 0)
    monkeypatch.setattr(covers, "path_cover", lambda edges, _: [np.array([k]) for k in range(edges.n)])
    paths, least = few_paths(union, Deadline(20))
    assert sorted(np.concatenate(paths).tolist()) == list(range(n))
    assert all(union.contains(path[1:], path[:-1]).all() for path in paths)
    edges = set(zip(union.keys.tolist(), union.queries.tolist(), strict=True))
    missing = min(sum(step not in edges for step in pairwise(order)) for order in permutations(range(n)))
    assert len(paths) == least == missing + 1


def test_a_hub_is_covered_without_a_search() -> None:
    paths, least = few_paths(parse_family("hub:n=3000").union, Deadline(0))
    assert len(paths) == least == 2998


def test_trying_every_set_is_for_few_tokens() -> None:
    with pytest.raises(ValueError, match="at most 16 tokens, got 17"):
        best_order(parse_family("ring:n=17").union)
