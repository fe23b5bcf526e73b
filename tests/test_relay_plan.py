"""Plans of the relay construction: covers, trees and words, against the definitions."""

from __future__ import annotations

import itertools

import brute_force
import pytest

from constructions import relay_cover
from constructions.numbers import ProofError
from constructions.relay_cover import cover_upstream
from constructions.relay_plan import MoveKind, plan_relay
from constructions.relay_slots import word_lengths, words
from theory.families import parse_family
from theory.graph import strong_components
from theory.patterns import SparsityPattern

PATTERNS = [
    *itertools.chain(*(brute_force.self_attending_digraphs(n) for n in (1, 2, 3))),
    *brute_force.random_patterns(500, seed=23, self_attending=True),
]


def test_the_cover_is_complete_and_has_no_member_to_spare() -> None:
    for attends in PATTERNS:
        union = SparsityPattern.from_lists(*attends).union
        components = strong_components(union)
        upstream = cover_upstream(union, components)
        reach, edges = brute_force.reach(attends), brute_force.union_edges(attends)
        for label in range(components.count):
            members = set(components.members(label).tolist())
            needed = reach[min(members)] - members
            links = upstream.links[label]
            assert all(query in members and key not in members and (key, query) in edges for query, key in links)
            assert set().union(*(reach[key] for _, key in links)) == needed
            for left_out in range(len(links)):
                rest = links[:left_out] + links[left_out + 1 :]
                assert set().union(*(reach[key] for _, key in rest)) != needed
            assert upstream.reach[label] == len(members | needed)
            assert upstream.digits[label] == len(members) + sum(
                upstream.digits[components.labels[key]] for _, key in links
            )


@pytest.mark.parametrize("shared", ["repeat", "once"])
def test_the_words_hold_exactly_the_reach(shared: str) -> None:
    for attends in PATTERNS:
        union = SparsityPattern.from_lists(*attends).union
        plan = plan_relay(union, shared=shared)  # type: ignore[arg-type]
        edges = brute_force.union_edges(attends)
        assert all((move.key, move.query) in edges for move in plan.moves)
        lengths = [1] * union.n
        for move, own, other in word_lengths(plan.moves, union.n):
            assert (own, other) == (lengths[move.query], lengths[move.key])
            after = {MoveKind.ABSORB: own + other, MoveKind.RELEASE: own - other, MoveKind.COPY: other}
            lengths[move.query] = after[move.kind]
        for token, word in enumerate(words(plan, union.n)):
            assert set(word) == brute_force.reach(attends)[token]
            assert len(word) == lengths[token]
            if shared == "once":
                assert len(word) == len(set(word))


def test_moves_by_formula() -> None:
    """Repeat: one move a link, and 2 (size - 1) for every component."""
    for attends in PATTERNS:
        union = SparsityPattern.from_lists(*attends).union
        components = strong_components(union)
        links = sum(map(len, cover_upstream(union, components).links))
        repeat, once = plan_relay(union, shared="repeat"), plan_relay(union, shared="once")
        assert len(repeat.moves) == links + 2 * (union.n - components.count)
        assert len(once.moves) <= 2 * union.n**2
        for plan in (repeat, once):
            for name, moves in plan.formula.items():
                assert moves == sum(len(phase.moves) for phase in plan.phases if phase.name == name)
            assert sum(plan.formula.values()) == len(plan.moves)


def test_the_root_and_breadth_first_trees() -> None:
    ring = parse_family("ring:n=5").union
    plan = plan_relay(ring, root=2)
    gather, broadcast = plan.phases
    assert [(move.query, move.key) for move in gather.moves] == [(4, 3), (0, 4), (1, 0), (2, 1)]
    assert [(move.query, move.key) for move in broadcast.moves] == [(3, 2), (4, 3), (0, 4), (1, 0)]
    hub = plan_relay(parse_family("hub:n=5").union)
    assert {move.query for move in hub.phases[0].moves} == {4}
    assert {move.key for move in hub.phases[1].moves} == {4}


def test_too_much_is_refused_before_it_is_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    diamonds = SparsityPattern.from_lists([[0], [0, 1], [0, 2], [1, 2, 3]]).union
    assert plan_relay(diamonds, most_digits=10, shared="repeat").shared == "repeat"
    with pytest.raises(ProofError, match="code shared history once"):
        plan_relay(diamonds, most_digits=9, shared="repeat")
    assert plan_relay(diamonds, most_digits=9, shared="once").shared == "once"
    with pytest.raises(ProofError, match="reduce n, d or K"):
        plan_relay(diamonds, most_digits=8, shared="once")
    monkeypatch.setattr("constructions.relay_plan.MAX_GATHERED", 8)
    with pytest.raises(ProofError, match="more than 9 moves"):
        plan_relay(diamonds, shared="once")
    monkeypatch.setattr(relay_cover, "MAX_MEMBERS", 8)
    with pytest.raises(ProofError, match="pass 8 entries"):
        plan_relay(diamonds)
