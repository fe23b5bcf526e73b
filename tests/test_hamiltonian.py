"""Assumption 1.2: the answers, against an independent exact method and patterns with known answers."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hamiltonian_oracle import (
    COMPLETE_4,
    PETERSEN,
    Rows,
    cliques_at_a_token,
    dilated_with_globals,
    grid,
    has_path,
    hub,
    petersen_inflated,
    random_attends,
    refutes,
    ring,
    shuffled,
    star_before_ring,
    symmetric,
    tailed_triangle,
    union_edges,
    window,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.hamiltonian import HamiltonianPath, decide, hamiltonian_path
from theory.patterns import PatternError, SparsityPattern
from theory.verdicts import Answer

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))


def decide_lists(*attends: Rows, **options: Any) -> HamiltonianPath:
    return hamiltonian_path(SparsityPattern.from_lists(*attends), **options)


def check(attends: list[Rows], found: HamiltonianPath, *, truth: bool | None = None) -> None:
    """The answer is right (if the truth is known), and its evidence holds by the rules above."""
    n = len(attends[0])
    assert found.why
    assert found.step
    if truth is not None:
        assert found.answer is (Answer.HOLDS if truth else Answer.FAILS)
    if found.answer is Answer.HOLDS:
        assert found.path is not None
        assert found.patterns is not None
        assert found.refutation is None
        path, patterns = found.path.tolist(), found.patterns.tolist()
        assert sorted(path) == list(range(n))
        assert len(patterns) == n - 1
        for before, token, number in zip(path[:-1], path[1:], patterns, strict=True):
            assert before in attends[number][token]
            assert not any(before in attends[earlier][token] for earlier in range(number))
    else:
        assert found.path is None
        assert found.patterns is None
        assert (found.refutation is not None) == (found.answer is Answer.FAILS)
    if found.refutation is not None:
        claim = found.refutation.to_json()
        assert json.loads(json.dumps(claim)) == claim
        assert claim["kind"] == found.refutation.kind
        assert refutes(attends, claim), claim


@pytest.mark.parametrize("seed", range(4))
def test_random_digraphs_agree_with_the_oracle(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(750):
        attends = random_attends(rng)
        check(attends, decide_lists(*attends), truth=has_path(len(attends[0]), union_edges(attends)))


@pytest.mark.parametrize("seed", range(2))
def test_the_large_steps_agree_with_the_oracle(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps that decide beyond 16 tokens, on patterns that the oracle can decide."""
    monkeypatch.setattr(decide, "MOST_TOKENS", 0)
    rng = np.random.default_rng(100 + seed)
    for _ in range(500):
        attends = random_attends(rng)
        found = decide_lists(*attends)
        assert found.step != "every set of tokens"
        check(attends, found, truth=has_path(len(attends[0]), union_edges(attends)))


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_digraph_of_few_tokens(n: int) -> None:
    pairs = [(j, k) for j in range(n) for k in range(n) if j != k]
    for chosen in itertools.product([False, True], repeat=len(pairs)):
        attends: list[Rows] = [[[] for _ in range(n)]]
        for (j, k), present in zip(pairs, chosen, strict=True):
            if present:
                attends[0][k].append(j)
        check(attends, decide_lists(*attends), truth=has_path(n, union_edges(attends)))


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_relabelling_changes_no_answer(seed: int, order_seed: int) -> None:
    attends = random_attends(np.random.default_rng(seed))
    pattern = SparsityPattern.from_lists(*attends)
    relabelled = pattern.relabel(np.random.default_rng(order_seed).permutation(pattern.n))
    assert hamiltonian_path(pattern).answer is hamiltonian_path(relabelled).answer


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_patterns_in_use(file: Path) -> None:
    case = json.loads(file.read_text())
    found = decide_lists(*case["attends"])
    check(case["attends"], found)
    assert found.answer.as_json() == case["expected"]["assumption_1_2"]


FAILING = {
    "hub of 4": (hub(4), "too_few_successors"),
    "hub of 40": (hub(40), "too_few_successors"),
    "two tokens that see nothing": ([[0], [1], [0, 1, 2], [2, 3]], "incomparable"),
    "separate windows": (symmetric(40, [(k, k + 1) for k in range(39) if k != 19]), "incomparable"),
    "grid without two corners of one colour": (grid(6, 6, without=[0, 35]), "too_few_successors"),
    "grid of 7 by 7 without a border token": (grid(7, 7, without=[1]), "too_few_successors"),
    "a star before a ring": (star_before_ring(), "too_few"),
    "three cliques at a token": (cliques_at_a_token(3, 3), "t"),
    "three big cliques at a token": (cliques_at_a_token(3, 9), "t"),
    "tailed triangle": (tailed_triangle(2), "three_ends"),
    "big tailed triangle": (tailed_triangle(8), "three_ends"),
    "dilated window with globals": (dilated_with_globals(60, 8, 2), "too_many_parts"),
    "inflated K4": (petersen_inflated(COMPLETE_4), "solver"),
    "inflated Petersen graph": (petersen_inflated(PETERSEN), "solver"),
}


@pytest.mark.parametrize("name", FAILING)
@pytest.mark.parametrize("relabelled", [False, True])
def test_known_failures(name: str, relabelled: bool) -> None:
    rows, kind = FAILING[name]
    rows = shuffled(rows) if relabelled else rows
    found = decide_lists(rows)
    check([rows], found, truth=False)
    assert found.refutation is not None
    assert found.refutation.kind.startswith(kind)


HOLDING = {
    "one token": ([[0]], "natural order"),
    "one token that sees nothing": ([[]], "natural order"),
    "hub of 3": (hub(3), None),
    "ring": (ring(50), "natural order"),
    "reverse ring": ([[k, (k + 1) % 50] for k in range(50)], "reverse order"),
    "grid of 4 by 7": (grid(4, 7), "serpentine order"),
    "shuffled ring": (shuffled(ring(50)), "merging cycles"),
    "shuffled causal window": (
        shuffled([list(range(max(0, k - 2), k + 1)) for k in range(50)]),
        "strong components",
    ),
    "shuffled window": (shuffled(window(60, 3)), "reverse Cuthill-McKee order"),
    "shuffled grid of 6 by 7": (shuffled(grid(6, 7)), "path growing with rotations"),
    "shuffled grid of 7 by 7": (shuffled(grid(7, 7)), "path growing with rotations"),
    "shuffled strided": (
        shuffled([[j for j in range(64) if abs(j - k) <= 1 or (j - k) % 8 == 0] for k in range(64)]),
        "path growing with rotations",
    ),
    "shuffled fixed": (
        shuffled([[j for j in range(64) if j // 8 == k // 8 or j % 8 == 7] for k in range(64)]),
        "merging cycles",
    ),
    "Petersen graph": (symmetric(10, PETERSEN), None),
    "two cliques at a token": (shuffled(cliques_at_a_token(2, 12)), None),
}


@pytest.mark.parametrize("name", HOLDING)
def test_known_paths(name: str) -> None:
    rows, step = HOLDING[name]
    found = decide_lists(rows)
    check([rows], found, truth=True)
    if step is not None:
        assert found.step == step


def test_a_single_token_is_a_path() -> None:
    found = decide_lists([[]], [[0]])
    assert found.path is not None
    assert found.patterns is not None
    assert (found.path.tolist(), found.patterns.tolist()) == ([0], [])


def test_each_edge_names_the_first_pattern_that_has_it() -> None:
    found = decide_lists([[0], [1], [1, 2]], [[0], [0, 1], [1, 2]])
    assert found.patterns is not None
    assert found.patterns.tolist() == [1, 0]


def test_a_path_may_need_several_patterns() -> None:
    evens = [[j for j in (k - 1, k) if j >= 0 and k % 2] or [k] for k in range(30)]
    odds = [[j for j in (k - 1, k) if j >= 0 and not k % 2] or [k] for k in range(30)]
    assert decide_lists(evens).answer is Answer.FAILS
    check([evens, odds], decide_lists(evens, odds), truth=True)


def test_why_names_tokens_from_zero() -> None:
    assert "can only be followed by token 5" in decide_lists(hub(6)).why
    assert decide_lists([[0], [0, 1]]).why == "0 -> 1 is a Hamiltonian path (natural order)"
    assert "-> ... -> 99" in decide_lists([[k, max(0, k - 1)] for k in range(100)]).why
    assert "word, not a proof" in decide_lists(petersen_inflated(PETERSEN)).why


def test_progress_names_the_steps() -> None:
    steps: list[str] = []
    decide_lists(shuffled(grid(7, 7)), progress=steps.append)
    assert steps[:3] == ["natural order", "reverse order", "serpentine order"]
    assert "strong components" in steps


@pytest.mark.parametrize("limit", [-1.0, float("nan")])
def test_a_senseless_time_limit_is_refused(limit: float) -> None:
    with pytest.raises(PatternError, match="time limit"):
        decide_lists([[0], [0]], time_limit=limit)


def test_no_time_is_undecided_not_a_guess() -> None:
    rows = petersen_inflated(PETERSEN)
    found = decide_lists(rows, time_limit=0.0)
    check([rows], found)
    assert found.answer is Answer.UNDECIDED
    assert "within 0 s" in found.why


def test_no_time_still_decides_few_tokens() -> None:
    assert decide_lists(hub(16), time_limit=0.0).answer is Answer.FAILS


def test_an_unlimited_time_is_allowed() -> None:
    assert decide_lists(petersen_inflated(PETERSEN), time_limit=float("inf")).answer is Answer.FAILS
