"""seen, seers, growth and claimed hop counts against the recursion by hand."""

from __future__ import annotations

import brute_force
import hops_oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.families import parse_family
from theory.hops import check_claimed_hops, growth, hop_count, seen, seers
from theory.patterns import PatternError, SparsityPattern
from theory.verdicts import Answer

RANDOM = list(brute_force.random_patterns(300, seed=29))


@pytest.mark.parametrize("residual", [False, True])
def test_seen_and_seers(residual: bool) -> None:
    for lists in RANDOM:
        pattern = SparsityPattern.from_lists(*lists)
        for layers in (0, 1, 2, 3, 7):
            expected = brute_force.layers_seen(lists, layers, residual=residual)
            for token in range(pattern.n):
                keys = np.flatnonzero(seen(pattern, token, layers, residual=residual))
                assert set(keys.tolist()) == expected[token]
                queries = np.flatnonzero(seers(pattern, token, layers, residual=residual))
                assert queries.tolist() == [k for k, keys in enumerate(expected) if token in keys]


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), layers=st.integers(1, 8), residual=st.booleans())
def test_growth(seed: int, layers: int, residual: bool) -> None:
    (lists,) = brute_force.random_patterns(1, seed=seed, most_tokens=9)
    found = growth(SparsityPattern.from_lists(*lists), layers, residual=residual)
    sizes = [
        [len(keys) for keys in brute_force.layers_seen(lists, t, residual=residual)] for t in range(1, layers + 1)
    ]
    n = len(lists[0])
    assert found.min == tuple(min(row) for row in sizes)
    assert found.mean == tuple(sum(row) / n for row in sizes)
    assert found.full == (min(sizes[-1]) == n)
    assert found.residual == residual


def test_growth_ends_by_itself() -> None:
    for lists in RANDOM:
        pattern = SparsityPattern.from_lists(*lists)
        found, residual = growth(pattern), growth(pattern, residual=True)
        true = hops_oracle.history(hops_oracle.matrices(lists))
        if true.s is not None:
            assert (len(found.min), found.full) == (true.s, True)
        else:
            assert not found.full
        reach = [len(members) for members in brute_force.reach(lists)]
        assert residual.min[-1] == min(reach)
        assert residual.mean[-1] == sum(reach) / pattern.n


def test_both_recursions_differ_without_self_loops() -> None:
    ring = SparsityPattern.from_lists([[2], [0], [1]])
    assert set(growth(ring).min) == {1}
    assert growth(ring, residual=True).min == (2, 3)


def test_growth_of_many_tokens_in_few_classes() -> None:
    found = growth(parse_family("fixed:n=20000,w=100"))
    assert (found.min, found.mean, found.full) == ((100, 20000), (100.0, 20000.0), True)


def test_growth_refuses_what_does_not_fit() -> None:
    with pytest.raises(PatternError, match=r"need \d+ bytes .* above the memory limit of 1000: raise it"):
        growth(parse_family("random:n=300,r=4,seed=0"), memory_limit=1000)
    with pytest.raises(PatternError, match="a whole number of at least 1, got 0"):
        growth(SparsityPattern.from_lists([[0]]), 0)


def test_bad_tokens_and_layers_are_refused() -> None:
    pattern = SparsityPattern.from_lists([[0], [1]])
    for function in (seen, seers):
        with pytest.raises(PatternError, match=r"no token 2: tokens are 0\.\.1"):
            function(pattern, 2, 1)
        with pytest.raises(PatternError, match="no token -1"):
            function(pattern, -1, 1)
        with pytest.raises(PatternError, match="at least 0, got -3"):
            function(pattern, 0, -3)
    with pytest.raises(PatternError, match="at least 1, got 0"):
        check_claimed_hops(pattern, 0)


def test_claims() -> None:
    answers = set()
    for lists in RANDOM:
        pattern = SparsityPattern.from_lists(*lists)
        for claimed in (1, 2, 3, 5):
            sets = brute_force.layers_seen(lists, claimed)
            found = check_claimed_hops(pattern, claimed)
            assert found.claimed == claimed
            answers.add(found.answer)
            if all(len(keys) == pattern.n for keys in sets):
                assert (found.answer, found.unseen) == (Answer.HOLDS, None)
            else:
                assert found.answer is Answer.FAILS
                assert found.unseen is not None
                assert found.unseen.layers == claimed
                assert found.unseen.key not in sets[found.unseen.query]
    assert answers == {Answer.HOLDS, Answer.FAILS}


def test_claims_without_time() -> None:
    torus = np.arange(400).reshape(20, 20)
    lists = np.stack([torus, np.roll(torus, 1, 0), np.roll(torus, 1, 1)], axis=-1).reshape(400, 3)
    looped = SparsityPattern.from_lists(lists.tolist())
    assert check_claimed_hops(looped, 37, time_limit=0.0).answer is not Answer.HOLDS
    assert check_claimed_hops(looped, 38).answer is Answer.HOLDS
    assert check_claimed_hops(looped, 37).answer is Answer.FAILS
    bare = SparsityPattern.from_lists(lists[:, 1:].tolist())
    assert check_claimed_hops(bare, 10**9, time_limit=0.0).answer is Answer.UNDECIDED


@pytest.mark.parametrize(
    ("n", "w", "query", "key"), [(9, 4, 3, 0), (9, 4, 7, 0)]
)  # the example of the notes, counted from 0
def test_strided_is_not_done_after_two_layers(n: int, w: int, query: int, key: int) -> None:
    pattern = parse_family(f"strided:n={n},w={w}")
    assert check_claimed_hops(pattern, 2).answer is Answer.FAILS
    assert not seen(pattern, query, 2)[key]
    assert seen(pattern, query, 3)[key]
    assert hop_count(pattern).s == 3
