"""The slack of the constants: what works works by brute force, and one less does not."""

from __future__ import annotations

import itertools
from typing import Any

import literal_proof
import numpy as np
import pytest

from constructions.contextual_mapping import build_mapping
from constructions.numbers import ProofError
from theory import families
from theory.patterns import SparsityPattern
from verify import slack
from verify.slack import smallest_constants

CASES = [(families.dense(2), 2, 2, 1), (families.ring(4), 1, 2, 3), (families.strided(5, 3), 1, 2, 3)]
KEYS = {
    "c of the all-max-shifts": "c",
    "c of the selective shifts": "shift_factor",
    "number of all-max-shifts": "s",
    "step of the embedding / delta": "step",
}


def _works(pattern: SparsityPattern, d: int, levels: int, constants: dict[str, Any]) -> bool:
    """All ids of all inputs in one set."""
    mapping = build_mapping(pattern, d, levels, "paper", gamma=np.arange(pattern.n), **constants)
    grids = np.array(list(itertools.product(range(levels), repeat=d * pattern.n))).reshape(-1, d, pattern.n)
    try:
        ids = mapping.ids(grids).ravel().tolist()
    except ProofError:
        return False
    return len(set(ids)) == len(ids)


@pytest.mark.parametrize(("pattern", "d", "levels", "s"), CASES, ids=["dense", "ring", "strided"])
def test_the_least_that_works_works_and_one_less_does_not(
    pattern: SparsityPattern, d: int, levels: int, s: int
) -> None:
    assert s == literal_proof.smallest_s(pattern.to_lists())
    rows = smallest_constants(pattern, d, levels, gamma=np.arange(pattern.n), s=s)
    assert [row.constant for row in rows] == [*KEYS, "2 M of relay's first step"]
    c = rows[0].value
    assert c == 2 * s * pattern.n * levels ** (pattern.n * d + 1)
    for row in rows[:4]:
        assert row.smallest is not None
        assert row.reliable is not None
        assert row.smallest <= row.reliable <= row.value
        for value, works in ((row.reliable, True), (row.reliable - 1, False), (row.smallest, True)):
            constants = {"s": s, "c": c, KEYS[row.constant]: value}
            assert value < 0 or _works(pattern, d, levels, constants) is works
        if row.tried == row.value + 1:
            constants = {"s": s, "c": c}
            assert not any(
                _works(pattern, d, levels, {**constants, KEYS[row.constant]: value})
                for value in range(max(0, row.smallest - 5), row.smallest)
            )
    assert rows[0].reliable is not None
    for value in range(rows[0].reliable, rows[0].reliable + 10):
        assert _works(pattern, d, levels, {"s": s, "c": value})
    assert {row.constant: row.slack for row in rows[1:]} == dict.fromkeys([row.constant for row in rows[1:]], 1.0)
    assert rows[0].slack is not None
    assert rows[0].slack > 5


@pytest.mark.parametrize(
    ("pattern", "d", "s", "smallest", "reliable"),
    [(families.dense(3), 1, 1, 13, 13), (families.dense(2), 2, 1, 9, 24)],
)
def test_coarse_scans_find_the_same_edge(
    pattern: SparsityPattern, d: int, s: int, smallest: int, reliable: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    fine = smallest_constants(pattern, d, 2, gamma=range(pattern.n), s=s)[0]
    monkeypatch.setattr(slack, "MOST_VALUES", 50)
    coarse = smallest_constants(pattern, d, 2, gamma=range(pattern.n), s=s)[0]
    assert fine.tried == fine.value + 1 > coarse.tried
    assert (fine.smallest, fine.reliable) == (smallest, reliable)
    assert coarse.reliable == reliable
    assert coarse.smallest is not None
    assert smallest <= coarse.smallest <= reliable  # a lone value that works can lie between those tried


def test_a_hub_at_the_end_of_the_path_needs_fewer_all_max_shifts() -> None:
    """Only gamma(n)'s id has to travel: the star's relay token is seen by all at once, while s = 2."""
    pattern = families.star(5, 1)
    rows = {row.constant: row for row in smallest_constants(pattern, 1, 2, gamma=range(5), s=2)}
    assert (rows["number of all-max-shifts"].value, rows["number of all-max-shifts"].reliable) == (2, 1)


def test_without_theorem_1_only_relay_is_scanned() -> None:
    rows = smallest_constants(families.hub(5), 1, 3, gamma=[0, 1, 2, 3, 4], s=2)
    assert [(row.constant, row.value, row.smallest, row.reliable) for row in rows] == [
        ("2 M of relay's first step", 3, 3, 3)
    ]
    assert smallest_constants(SparsityPattern.from_lists([[0], [1]]), 1, 2, gamma=[0, 1], s=1) == ()
    assert rows[0].slack == 1


def test_a_value_that_does_not_work_itself_is_said_so() -> None:
    row = smallest_constants(families.strided(5, 3), 1, 2, gamma=range(5), s=2)[0]
    assert row.smallest is None
    assert row.reliable is None
    assert row.slack is None


def test_a_coarse_scan_refines_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slack, "MOST_VALUES", 20)
    monkeypatch.setattr(slack, "_one_to_one", lambda _build, value: value >= 57 or 8 <= value < 20)
    row = slack._scan("", "", 100, build_mapping)
    assert (row.smallest, row.reliable) == (8, 57)
    assert row.tried < 35
