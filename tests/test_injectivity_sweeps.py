"""Relay on every small pattern and on random ones, the proof on every input of larger ones."""

from __future__ import annotations

import itertools

import literal_proof
import numpy as np
import pytest

from constructions.contextual_mapping import build_mapping
from constructions.dependence import reach_matrix
from constructions.relay import build_relay
from theory import families
from theory.patterns import SparsityPattern
from theory.verdicts import Answer
from verify.contextual_mapping import check_contextual_mapping
from verify.inputs import AllInputs
from verify.lemmas import check_lemmas


def _holds(pattern: SparsityPattern, levels: int) -> bool:
    reach = _reach(pattern)
    found = check_contextual_mapping(build_relay(pattern, 1, levels), AllInputs(1, pattern.n, levels), reach=reach)
    return found.answer is Answer.HOLDS and found.exhaustive


def _reach(pattern: SparsityPattern) -> np.ndarray:
    """Warshall's closure of the union digraph, by the definition of reach."""
    reach = np.zeros((pattern.n, pattern.n), dtype=bool)
    for rows in pattern.to_lists():
        for k, keys in enumerate(rows):
            reach[k, keys] = True
    for j in range(pattern.n):
        reach |= reach[:, j : j + 1] & reach[j]
    return reach


def _digraphs(n: int) -> itertools.chain[SparsityPattern]:
    pairs = [(k, j) for k in range(n) for j in range(n) if j != k]
    return itertools.chain.from_iterable(
        (
            SparsityPattern.from_lists([[k, *(j for q, j in chosen if q == k)] for k in range(n)])
            for chosen in itertools.combinations(pairs, size)
        )
        for size in range(len(pairs) + 1)
    )


def _random(seed: int) -> SparsityPattern:
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(1, 8)), int(rng.integers(1, 4))
    density = rng.uniform(0.05, 0.4)
    masks = (rng.random((p, n, n)) < density) | np.eye(n, dtype=bool)
    return SparsityPattern.from_lists(*([np.flatnonzero(row).tolist() for row in mask] for mask in masks))


@pytest.mark.parametrize("levels", [2, 3])
def test_relay_on_every_digraph_of_three_tokens(levels: int) -> None:
    assert all(_holds(pattern, levels) for n in (1, 2, 3) for pattern in _digraphs(n))


def test_relay_on_random_patterns() -> None:
    patterns = [_random(seed) for seed in range(60)]
    assert {pattern.p for pattern in patterns} == {1, 2, 3}
    for pattern in patterns:
        assert (reach_matrix(pattern) == _reach(pattern)).all()
        assert _holds(pattern, 2)


@pytest.mark.exhaustive
@pytest.mark.parametrize("levels", [2, 3])
def test_relay_on_every_digraph_of_four_tokens(levels: int) -> None:
    patterns = list(_digraphs(4))
    assert len(patterns) == 2**12
    assert all(_holds(pattern, levels) for pattern in patterns)


@pytest.mark.exhaustive
def test_relay_on_thousands_of_random_patterns() -> None:
    assert all(_holds(_random(seed), 2) for seed in range(60, 3060))


LARGE = [
    (families.dense(4), 2, 4), (families.strided(8, 3), 1, 4), (families.fixed(8, 4), 2, 2),
    (families.star(8, 2), 1, 4), (families.window(8, 1), 2, 2), (families.bigbird(8, 1, 1, 1, seed=5), 1, 4),
    (families.ring(8), 1, 4), (families.window(16, 1), 1, 2),
]  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize(("pattern", "d", "levels"), LARGE, ids=str)
def test_every_statement_on_65536_inputs(pattern: SparsityPattern, d: int, levels: int) -> None:
    s = literal_proof.smallest_s(pattern.to_lists())
    mapping = build_mapping(pattern, d, levels, "merged", gamma=np.arange(pattern.n), s=s)
    for subject in (mapping, build_relay(pattern, d, levels)):
        for check in check_lemmas(subject, AllInputs(d, pattern.n, levels)):
            assert check.answer is Answer.HOLDS, check.why
            assert check.exhaustive
