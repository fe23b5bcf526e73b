"""The whole contextual mapping, exact, at the lengths that people use; adversarial pairs stay apart."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from constructions.mapping import StagedMapping
from constructions.network import choose_mapping
from theory.families import parse_family
from theory.patterns import SparsityPattern
from theory.verdicts import Answer
from verify.contextual_mapping import check_contextual_mapping
from verify.inputs import GivenInputs
from verify.lemmas import check_ids, check_lemmas

D, LEVELS = 4, 4


@cache
def _bigbird(n: int) -> SparsityPattern:
    return parse_family(f"bigbird:n={n},window=3,random=3,globals=2,seed=0")


def _adversarial(n: int) -> list[np.ndarray]:
    """A random input; one entry of one token moved by one step; two tokens swapped; all tokens equal."""
    base = np.random.default_rng(n).integers(LEVELS, size=(D, n))
    near, swapped, equal = base.copy(), base.copy(), np.repeat(base[:, :1], n, axis=1)
    near[D - 1, n // 2] = (near[D - 1, n // 2] + 1) % LEVELS
    swapped[:, [n // 3, n // 3 + 1]] = swapped[:, [n // 3 + 1, n // 3]]
    if (swapped == base).all():
        swapped[0, 0] = (swapped[0, 0] + 1) % LEVELS
    return [base, near, swapped, equal]


def _check_apart(mapping: StagedMapping, grids: list[np.ndarray]) -> None:
    n = mapping.pattern.n
    found = check_ids(mapping, GivenInputs(grids, LEVELS))
    assert found.answer is Answer.HOLDS
    assert found.inputs == len(grids)
    # in words of the issue: every id of every input is unlike every other
    ids = mapping.ids(np.array(grids))
    assert len({number for row in ids.tolist() for number in row}) == len(grids) * n


@pytest.mark.parametrize(("construction", "bits"), [("relay", 32_781), ("merged", 98_349), ("paper", 98_349)])
def test_bigbird_with_4096_tokens(construction: str, bits: int) -> None:
    mapping = choose_mapping(_bigbird(4096), D, LEVELS, construction)
    ids = mapping.ids(np.full((1, D, 4096), LEVELS - 1))
    assert max(ids[0].tolist()).bit_length() in range(bits - 2, bits + 1)
    _check_apart(mapping, _adversarial(4096)[: 4 if construction == "relay" else 2])


def test_every_statement_at_1024_tokens() -> None:
    grids = _adversarial(1024)[:2]
    for construction in ("merged", "relay"):
        mapping = choose_mapping(_bigbird(1024), D, LEVELS, construction)
        checks = check_lemmas(mapping, GivenInputs(grids, LEVELS))
        assert [check.name for check in checks if check.answer is not Answer.HOLDS] == []


def test_a_pair_that_does_not_stay_apart_is_seen() -> None:
    """Relay's ids at a length of 4,096 with the last entry of one token dropped: the near pair collides."""
    mapping = choose_mapping(_bigbird(4096), D, LEVELS, "relay")
    base, near, *_ = _adversarial(4096)

    def forgetful(grids: np.ndarray) -> np.ndarray:
        blunt = grids.copy()
        blunt[:, D - 1, 2048] = 0
        return mapping.ids(blunt)

    found = check_contextual_mapping(forgetful, GivenInputs([base, near], LEVELS))
    assert found.distinct_across is Answer.FAILS


@pytest.mark.exhaustive
@pytest.mark.parametrize("construction", ["relay", "merged", "paper"])
def test_bigbird_with_16384_tokens(construction: str) -> None:
    """Half a minute and five gigabytes for `merged` and `paper`, whose ids have 393,267 bits each."""
    mapping = choose_mapping(_bigbird(16384), D, LEVELS, construction)
    _check_apart(mapping, _adversarial(16384)[:2])
