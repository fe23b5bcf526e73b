"""Every kind of refutation arises, holds by its hand rule, and is rejected once anything in it is wrong."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from hamiltonian_oracle import (
    COMPLETE_4,
    Rows,
    dilated_with_globals,
    has_path,
    hub,
    petersen_inflated,
    random_attends,
    refutes,
    tailed_triangle,
    union_edges,
)

from theory.hamiltonian import Refutation, hamiltonian_path
from theory.patterns import SparsityPattern


def refutation_of(rows: Rows) -> Refutation:
    found = hamiltonian_path(SparsityPattern.from_lists(rows)).refutation
    assert found is not None
    return found


# Tokens 1..3 see only token 0, and are seen by many.
ONE_SOURCE = [[0, 4, 5, 6], [0, 1], [0, 2], [0, 3], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6]]
# Components {0..3} (a star), {4}, {5, 6, 7}; the edges from 1, 2, 3 to 5, 6, 7 skip the middle one.
SKIPPING = [[0, 1, 2, 3], [0, 1], [0, 2], [0, 3], [0, 4], [1, 4, 5, 7], [2, 5, 6], [3, 6, 7]]


@cache
def exhausted_example() -> tuple[tuple[int, ...], ...]:
    """A digraph of few tokens without a path that no other kind refutes, found by a seeded search."""
    rng = np.random.default_rng(3)
    while True:
        attends = random_attends(rng)
        refutation = hamiltonian_path(SparsityPattern.from_lists(*attends)).refutation
        if len(attends) == 1 and refutation is not None and refutation.kind == "exhausted":
            return tuple(map(tuple, attends[0]))


@cache
def examples() -> dict[str, Rows]:
    return {
        "incomparable": [[0], [0, 1], [0, 2], [0, 3], [1, 2, 3, 4]],
        "too_few_successors": hub(5),
        "too_few_predecessors": ONE_SOURCE,
        "too_many_parts": dilated_with_globals(30, 7, 2),
        "three_ends": tailed_triangle(3),
        "exhausted": [list(row) for row in exhausted_example()],
        "solver": petersen_inflated(COMPLETE_4),
    }


KINDS = [
    "incomparable",
    "too_few_successors",
    "too_few_predecessors",
    "too_many_parts",
    "three_ends",
    "exhausted",
    "solver",
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_arises_and_holds(kind: str) -> None:
    rows = examples()[kind]
    refutation = refutation_of(rows)
    claim = refutation.to_json()
    assert claim["kind"] == refutation.kind == kind
    assert json.loads(json.dumps(claim)) == claim
    assert refutes([rows], claim)
    assert refutation.sentence
    assert len(refutation.sentence) < 300


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "solver"])
def test_no_kind_refutes_a_pattern_with_a_path(kind: str) -> None:
    rows = examples()[kind]
    dense = [list(range(len(rows)))] * len(rows)
    assert not refutes([dense], refutation_of(rows).to_json())


WRONG: dict[str, list[dict[str, Any]]] = {
    "incomparable": [{"b": 0}, {"closed_a": []}, {"closed_b": [2]}],
    "too_few_successors": [{"set": [0, 1]}, {"successors": []}, {"rank": [0, 0, 0, 0, 1]}],
    "too_few_predecessors": [{"set": [1, 2]}, {"predecessors": []}, {"rank": [0, 0]}],
    "too_many_parts": [{"cut": [0]}, {"parts": [0] * 30}, {"rank": [1] * 30}],
    "three_ends": [{"ends": []}],
    "solver": [{"proved": True}],
}


@pytest.mark.parametrize("kind", WRONG)
def test_the_hand_rules_reject_what_is_wrong(kind: str) -> None:
    rows = examples()[kind]
    claim = refutation_of(rows).to_json()
    for change in WRONG[kind]:
        assert not refutes([rows], claim | change), change


def test_the_hand_rules_reject_a_wrong_door() -> None:
    rows = examples()["three_ends"]
    claim = refutation_of(rows).to_json()
    for place in range(3):
        ends = [dict(end) for end in claim["ends"]]
        ends[place]["door"] = None
        assert not refutes([rows], claim | {"ends": ends})


def test_a_shortage_can_need_the_order_of_the_components() -> None:
    claim = refutation_of(SKIPPING).to_json()
    assert not has_path(8, union_edges([SKIPPING]))
    assert refutes([SKIPPING], claim)
    assert claim["rank"] == [0, 0, 0, 0, 1, 2, 2, 2]
    assert not refutes([SKIPPING], claim | {"rank": None})


def test_the_rank_is_left_out_where_it_is_not_needed() -> None:
    rows = [*hub(5), [0, 4, 5]]
    claim = refutation_of(rows).to_json()
    assert claim["kind"] == "too_few_successors"
    assert claim["rank"] is None
    assert refutes([rows], claim)
