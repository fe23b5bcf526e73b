"""The assertions for other people's tests: they pass, fail and explain."""

from __future__ import annotations

import brute_force
import pytest

from sparseuap.testing import assert_sees, assert_universal
from theory.families import parse_family
from theory.patterns import PatternError, SparsityPattern


def test_universal_patterns_pass() -> None:
    assert_universal("star:n=16,w=1")
    assert_universal(parse_family("ring:n=5"))
    assert_universal("causal:n=9", for_="causal")


def test_a_failure_names_the_fault_and_the_repair() -> None:
    with pytest.raises(AssertionError) as failure:
        assert_universal(parse_family("fixed:n=23,w=5"))
    assert str(failure.value).splitlines() == [
        f"{parse_family('fixed:n=23,w=5')!r} is not universal for all continuous functions:",
        "  output 0 can never depend on token 22",
        "  tokens 20..22 are never seen from outside: no connection leaves the last segment",
        "  smallest repair (1 connection): pattern 1: token 19 attends to token 22",
    ]


def test_the_repair_of_a_causal_pattern_stays_causal() -> None:
    rows = [[0], [0, 1], [2], [1, 2, 3]]
    with pytest.raises(AssertionError, match="token 2 never sees token 1, which comes before it") as failure:
        assert_universal(SparsityPattern.from_lists(rows), for_="causal")
    assert "smallest repair (1 connection): pattern 0: token 2 attends to token 1" in str(failure.value)


def test_a_missing_self_loop_is_no_pass() -> None:
    with pytest.raises(AssertionError) as failure:
        assert_universal(SparsityPattern.from_lists([[1], [0]]))
    assert "is not known to be universal" in str(failure.value)
    assert "token 0 does not attend to itself in pattern 0, nor does 1 other" in str(failure.value)
    assert "pattern 0: token 0 attends to itself; pattern 0: token 1 attends to itself" in str(failure.value)


def test_long_repairs_are_cut_short() -> None:
    with pytest.raises(AssertionError, match=r"smallest repair \(20 connections\): .*; and 17 more$"):
        assert_universal("documents:n=40,length=2")


def test_what_is_seen_within_so_many_layers() -> None:
    for attends in brute_force.random_patterns(60, 9, most_tokens=5):
        pattern = SparsityPattern.from_lists(*attends)
        n = pattern.n
        for layers in (0, 1, 2, None):
            seen = (
                brute_force.reach(attends)
                if layers is None
                else brute_force.layers_seen(attends, layers, residual=True)
            )
            for query in range(n):
                assert_sees(pattern, query, sorted(seen[query]), layers)
                for key in set(range(n)) - seen[query]:
                    with pytest.raises(AssertionError, match=f"token {query} does not see token {key} "):
                        assert_sees(pattern, query, key, layers)


def test_a_failure_names_the_layer_that_would_do() -> None:
    with pytest.raises(AssertionError) as failure:
        assert_sees("causal:n=16,w=2", 15, [0, 14, *range(9, 12)], layers=2)
    assert str(failure.value).splitlines() == [
        "causal:n=16,w=2: token 15 does not see tokens 0, 9..10 within 2 layers",
        "  token 10 is seen from layer 3 on, token 9 from layer 3 on, token 0 from layer 8 on",
    ]
    with pytest.raises(AssertionError, match="no path leads from token 9 to token 3: add a connection"):
        assert_sees("causal:n=16,w=2", 3, {9}, layers=1)
    with pytest.raises(AssertionError, match="token 3 does not see token 9 at any depth"):
        assert_sees("causal:n=16,w=2", 3, 9)


def test_bad_questions_are_refused() -> None:
    with pytest.raises(PatternError, match="for_ must be 'all' or 'causal', got 'both'"):
        assert_universal("ring:n=4", for_="both")
    with pytest.raises(PatternError, match=r"no token 4: tokens are 0\.\.3"):
        assert_sees("ring:n=4", 0, 4)
    with pytest.raises(PatternError, match=r"no token -1: tokens are 0\.\.3"):
        assert_sees("ring:n=4", -1, 0)
    with pytest.raises(PatternError, match="at least 0, got -1"):
        assert_sees("ring:n=4", 0, 1, layers=-1)
    with pytest.raises(PatternError, match="int is no pattern"):
        assert_universal(5)  # type: ignore[arg-type]
