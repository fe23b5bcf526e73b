"""Receptive fields against the recursion, run on sets."""

from __future__ import annotations

import brute_force
import numpy as np
import pytest

from theory.families import parse_family
from theory.patterns import PatternError, SparsityPattern
from theory.receptive_field import first_seen_by, receptive_field


def test_sizes_and_first_layers_follow_the_residual_recursion() -> None:
    for attends in brute_force.random_patterns(150, 3):
        pattern = SparsityPattern.from_lists(*attends)
        n, layers = pattern.n, 2 * pattern.p + 3
        field = receptive_field(pattern, layers, matrix=True)
        assert field.first_seen is not None
        first = [[-1] * n for _ in range(n)]
        for t in range(layers + 1):
            seen = brute_force.layers_seen(attends, t, residual=True)
            assert field.sizes[t].tolist() == [len(members) for members in seen]
            for query, members in enumerate(seen):
                for key in members:
                    if first[query][key] < 0:
                        first[query][key] = t
        assert field.first_seen.tolist() == first


def test_one_query_is_a_row_of_the_matrix() -> None:
    for attends in brute_force.random_patterns(80, 4):
        pattern = SparsityPattern.from_lists(*attends)
        enough = pattern.p * pattern.n
        whole = receptive_field(pattern, enough, matrix=True).first_seen
        assert whole is not None
        assert [first_seen_by(pattern, query).tolist() for query in range(pattern.n)] == whole.tolist()


def test_more_keys_than_are_followed_at_once() -> None:
    field = receptive_field(parse_family("window:n=1100,w=2"), 3)
    reach = [sum(0 <= j < 1100 for j in range(k - 6, k + 7)) for k in range(1100)]
    assert field.sizes[3].tolist() == reach
    assert field.full_after is None
    assert receptive_field(parse_family("hub:n=1100"), 2).full_after == 2


def test_an_empty_row_sees_itself_through_the_residual_connection() -> None:
    field = receptive_field(SparsityPattern.from_lists([[], [0]]), 2, matrix=True)
    assert field.first_seen is not None
    assert np.array_equal(field.first_seen, [[0, -1], [1, 0]])


def test_bad_questions_are_refused() -> None:
    pattern = parse_family("ring:n=4")
    with pytest.raises(PatternError, match="a whole number of at least 1, got 0"):
        receptive_field(pattern, 0)
    with pytest.raises(PatternError, match=r"no token 4: tokens are 0\.\.3"):
        first_seen_by(pattern, 4)
