"""Reformer's buckets and Routing's clusters against a double loop over the given assignments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.families import dense, parse_family, reformer, routing, seeded_reformer, seeded_routing
from theory.patterns import PatternError

assignments = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.lists(st.integers(-3, 5), min_size=n, max_size=n), min_size=1, max_size=3)
)


@given(assignments)
def test_tokens_attend_inside_their_group(rounds: list[list[int]]) -> None:
    expected = [[[j for j, other in enumerate(labels) if other == own] for own in labels] for labels in rounds]
    assert reformer(rounds).to_lists() == expected
    assert routing(np.array(rounds)).to_lists() == expected
    assert reformer(rounds[0]).to_lists() == expected[:1]


@given(assignments, st.permutations(range(-3, 6)))
def test_names_of_buckets_do_not_matter(rounds: list[list[int]], names: list[int]) -> None:
    assert reformer([[names[label + 3] for label in labels] for labels in rounds]) == reformer(rounds)


@pytest.mark.parametrize(
    "labels", [[], [[]], 3, [0.0, 1.0], [True, False], ["a"], [[0, 1], [0]], [[[0]]], None, [float("nan")]]
)
def test_what_is_no_assignment_is_refused(labels: object) -> None:
    for build in (reformer, routing):
        with pytest.raises(PatternError, match=r"^(buckets|clusters) must"):
            build(labels)  # type: ignore[arg-type]


def test_given_assignments_that_would_not_fit_are_refused() -> None:
    with pytest.raises(PatternError, match="the limit is 2 GiB"):
        reformer(np.zeros(40_000, dtype=np.int8))


def test_seeded_assignments() -> None:
    assert seeded_reformer(40, 5, rounds=3, seed=1) == seeded_reformer(40, 5, rounds=3, seed=1)
    assert seeded_reformer(40, 5, seed=1) != seeded_reformer(40, 5, seed=2)
    assert seeded_routing(40, 5, seed=1) != seeded_routing(40, 5, seed=2)
    three = seeded_reformer(40, 5, rounds=3, seed=1)
    assert three.p == 3
    assert len({layer.keys.tobytes() for layer in three.layers}) == 3
    assert seeded_reformer(9, 1) == dense(9) == seeded_routing(9, 1)
    assert parse_family("routing:n=40,clusters=5,layers=2,seed=7") == seeded_routing(40, 5, layers=2, seed=7)


@pytest.mark.parametrize(("n", "clusters"), [(1, 1), (7, 3), (12, 4), (5, 9)])
def test_routing_clusters_have_equal_sizes(n: int, clusters: int) -> None:
    for layer in seeded_routing(n, clusters, layers=2).layers:
        assert set(layer.degrees.tolist()) <= {max(1, n // clusters), n // clusters + 1}
        assert len({tuple(layer.row(k).tolist()) for k in range(n)}) == min(n, clusters)
