"""The verdict against brute force, and what it says within a given number of layers."""

from __future__ import annotations

from itertools import chain, islice
from typing import Any

import brute_force
import pytest

from theory.families import parse_family
from theory.patterns import PatternError, SparsityPattern
from theory.repair import repair
from theory.theorems import FunctionClass, Says
from theory.verdicts import Answer
from verify.depth import first_unseen
from verify.pattern_certificate import certificate
from verify.pattern_verdict import PatternVerdict, assess
from verify.reach_verdict import reach_verdict
from verify.recheck import recheck

SMALL = list(chain(*(brute_force.self_attending_digraphs(n) for n in (1, 2, 3))))
RANDOM = list(brute_force.random_patterns(400, seed=2, most_tokens=6))


def expected_universal(lists: brute_force.Attends, target: FunctionClass) -> Answer:
    reach = brute_force.reach(lists)
    n = len(reach)
    needed = [set(range(n if target is FunctionClass.ALL else k + 1)) for k in range(n)]
    if any(not need <= members for need, members in zip(needed, reach, strict=True)):
        return Answer.FAILS
    self_attending = all(k in row for rows in lists for k, row in enumerate(rows))
    return Answer.HOLDS if self_attending else Answer.UNDECIDED


def check_one(lists: brute_force.Attends, target: FunctionClass) -> None:
    pattern = SparsityPattern.from_lists(*lists)
    verdict = assess(pattern, for_=target)
    n, p = pattern.n, pattern.p
    assert verdict.universal is expected_universal(lists, target)
    assert verdict.reach.value == brute_force.reach_kind(lists)
    assert verdict.path.answer.as_json() == brute_force.has_hamiltonian_path(lists)
    if not verdict.violations.size:
        assert verdict.hops.s == brute_force.smallest_s(lists, n * p)
    yun = {item.theorem: item.says for item in verdict.statements}["yun_2020_theorem_1"]
    applies = not verdict.violations.size and verdict.path.answer is Answer.HOLDS and verdict.hops.s is not None
    assert yun is (Says.UNIVERSAL if applies else Says.SILENT)
    result = recheck(certificate(verdict, "a test"))
    assert result.valid, result.failures


@pytest.mark.parametrize("target", list(FunctionClass))
def test_small_and_random_patterns_against_brute_force(target: FunctionClass) -> None:
    for lists in SMALL + RANDOM:
        check_one(lists, target)


@pytest.mark.parametrize("target", list(FunctionClass))
def test_every_self_attending_digraph_on_four_tokens(target: FunctionClass) -> None:
    for lists in brute_force.self_attending_digraphs(4):
        check_one(lists, target)


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(64))
def test_every_self_attending_digraph_on_five_tokens(part: int) -> None:
    """All 2^20 in 64 parts; the certificates of a sixteenth of them are rechecked."""
    for number, lists in enumerate(islice(brute_force.self_attending_digraphs(5), part, None, 64)):
        if number % 16 == 0:
            check_one(lists, FunctionClass.ALL)
            continue
        verdict = assess(SparsityPattern.from_lists(*lists))
        assert verdict.reach.value == brute_force.reach_kind(lists)
        assert verdict.path.answer.as_json() == brute_force.has_hamiltonian_path(lists)
        assert verdict.hops.s == brute_force.smallest_s(lists, 5)


def test_first_unseen_pair_by_the_recursion() -> None:
    for lists in RANDOM:
        looped = [[sorted({*row, k}) for k, row in enumerate(rows)] for rows in lists]
        pattern = SparsityPattern.from_lists(*looped)
        for layers in (1, 2, 3, 5):
            seen = brute_force.layers_seen(looped, layers)
            for causal in (False, True):
                missing = {(k, j) for k in range(pattern.n) for j in range(k + 1 if causal else pattern.n)}
                missing -= {(k, j) for k, members in enumerate(seen) for j in members}
                found = first_unseen(pattern, layers, causal=causal)
                assert found in missing if missing else found is Answer.HOLDS


def test_first_unseen_pair_across_many_blocks_of_columns() -> None:
    rows = [[max(0, k - 1), k, min(2499, k + 1)] for k in range(2500)]
    rows[0] = [0, 2]  # no interval, so that all pairs are followed
    window = SparsityPattern.from_lists([sorted(set(row)) for row in rows])
    assert first_unseen(window, 2498, causal=False) == (2499, 0)
    assert first_unseen(window, 2499, causal=False) is Answer.HOLDS
    assert first_unseen(window, 2498, causal=True) == (2499, 0)
    assert first_unseen(window, 2499, causal=False, deadline=0.0) is Answer.UNDECIDED


def within(spec: str, layers: int, target: FunctionClass = FunctionClass.ALL) -> PatternVerdict:
    return assess(parse_family(spec), for_=target, layers=layers)


def test_enough_depth_is_told_from_a_depth_that_a_model_has() -> None:
    short, long = within("window:n=16,w=1", 14), within("window:n=16,w=1", 15)
    assert short.hops.s == long.hops.s == 15
    assert short.universal is long.universal is Answer.HOLDS
    assert short.answer is Answer.FAILS
    assert short.advice == "output 0 does not see token 15 within 14 layers; s = 15 layers are needed"
    assert long.answer is Answer.HOLDS


def test_a_causal_window_needs_layers_too() -> None:
    assert within("causal:n=16,w=3", 5, FunctionClass.CAUSAL).answer is Answer.HOLDS
    short = within("causal:n=16,w=3", 4, FunctionClass.CAUSAL)
    assert short.answer is Answer.FAILS
    assert short.within is not None
    assert (short.within.query, short.within.key) == (13, 0)


def test_layers_must_be_positive() -> None:
    with pytest.raises(PatternError, match=r"attention layers .* must be a whole number of at least 1"):
        within("ring:n=4", 0)


def statements(spec: str) -> dict[str, Says]:
    return {item.theorem: item.says for item in assess(parse_family(spec)).statements}


def test_the_theorems_differ_where_the_papers_differ() -> None:
    assert set(statements("star:n=16,w=1").values()) == {Says.UNIVERSAL}
    hub = statements("hub:n=8")  # no Hamiltonian path for n > 3, yet BigBird's theorem applies
    assert hub["yun_2020_theorem_1"] is Says.SILENT
    assert hub["bigbird_2020_theorem_1"] is Says.UNIVERSAL
    assert hub["reach_theorem"] is Says.UNIVERSAL
    ring = statements("ring:n=8")
    assert ring["yun_2020_theorem_1"] is Says.UNIVERSAL
    assert ring["bigbird_2020_theorem_1"] is Says.SILENT


def test_a_star_spread_over_two_patterns_or_without_its_loops_is_no_star() -> None:
    halves = SparsityPattern.from_lists([[0], [0, 1], [0, 2]], [[0, 1, 2], [1], [2]])
    said = {item.theorem: item.says for item in assess(halves).statements}
    assert said["bigbird_2020_theorem_1"] is Says.SILENT
    assert said["reach_theorem"] is Says.UNIVERSAL
    bare = assess(SparsityPattern.from_lists([[0, 1, 2], [0], [0, 2]]))
    assert bare.star is not None
    assert {item.theorem: item.says for item in bare.statements}["bigbird_2020_theorem_1"] is Says.SILENT


def test_silence_is_not_refutation() -> None:
    lonely = assess(SparsityPattern.from_lists([[0, 1], [0]]))
    assert lonely.universal is Answer.UNDECIDED
    assert "token 1 does not attend to itself in pattern 0" in lonely.advice


def test_the_designers_sentence_names_the_segment() -> None:
    assert assess(parse_family("fixed:n=23,w=5")).advice == (
        "tokens 20..22 are never seen from outside: no connection leaves the last segment"
    )
    causal = assess(parse_family("causal:n=4"))
    assert causal.advice == "token 3 is never seen from outside: no connection leaves token 3"
    packed = assess(SparsityPattern.from_lists([[0], [1], [1, 2]]), for_=FunctionClass.CAUSAL)
    assert packed.advice == "token 1 never sees token 0, which comes before it: no path leads there"


def test_progress_names_the_steps() -> None:
    steps: list[str] = []
    assess(parse_family("ring:n=5"), progress=lambda step, share: steps.append(step))
    assert "Hamiltonian path (1.2)" in steps


@pytest.mark.parametrize("decide", [assess, reach_verdict, repair])
def test_function_classes_go_by_name_and_nothing_is_guessed(decide: Any) -> None:
    causal = parse_family("causal:n=4")
    failing = {Answer.FAILS}
    by_name = [
        decide(causal, for_="causal", **more(decide)),
        decide(causal, for_=FunctionClass.CAUSAL, **more(decide)),
    ]
    assert all(found.answer is Answer.HOLDS for found in by_name)
    assert {decide(causal, for_="all", **more(decide)).answer} == failing
    for wrong in ("ALL", "Causal", "", None, True, 1, ["all"]):
        with pytest.raises(PatternError, match="for_ must be 'all' or 'causal'"):
            decide(causal, for_=wrong, **more(decide))


def more(decide: Any) -> dict[str, bool]:
    """A repair of a causal pattern that stays causal can only be universal for causal functions."""
    return {"keep_causal": True} if decide is repair else {}
