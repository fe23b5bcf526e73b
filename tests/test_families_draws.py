"""Draws without repetition: distinct, in range, uniform over sets; and the Random pattern."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.families import random
from theory.families.draws import distinct_ranks


@given(st.lists(st.integers(0, 40), max_size=12), st.integers(0, 20), st.integers(0, 2**32))
def test_ranks_are_distinct_in_range_and_as_many_as_exist(available: list[int], wanted: int, seed: int) -> None:
    ranks = distinct_ranks(np.random.default_rng(seed), np.array(available, dtype=np.int64), wanted)
    assert ranks.shape == (len(available), wanted)
    for bound, row in zip(available, ranks.tolist(), strict=True):
        drawn = [rank for rank in row if rank != -1]
        assert len(drawn) == len(set(drawn)) == min(wanted, bound)
        assert all(0 <= rank < bound for rank in drawn)


@pytest.mark.parametrize(("available", "wanted"), [(6, 2), (4, 2), (5, 3), (3, 1), (7, 3), (4, 4)])
def test_every_set_is_equally_likely(available: int, wanted: int) -> None:
    # available >= 2 wanted is drawn with redraws, the rest by shuffling: both must be uniform.
    rows = 30_000
    ranks = distinct_ranks(np.random.default_rng(1), np.full(rows, available), wanted)
    seen = Counter(map(tuple, np.sort(ranks, axis=1).tolist()))
    sets = list(combinations(range(available), wanted))
    assert set(seen) == set(sets)
    share = 1 / len(sets)
    spread = np.sqrt(rows * share * (1 - share))
    assert all(abs(seen[chosen] - rows * share) <= 5 * spread for chosen in sets)


def test_rows_are_independent_of_each_other() -> None:
    ranks = distinct_ranks(np.random.default_rng(2), np.full(20_000, 8), 1).ravel()
    pairs = Counter(zip(ranks[::2].tolist(), ranks[1::2].tolist(), strict=True))
    assert len(pairs) == 64
    assert max(pairs.values()) < 10_000 / 64 + 5 * np.sqrt(10_000 / 64)


@pytest.mark.parametrize("n", range(1, 11))
def test_random_has_a_self_loop_and_r_others(n: int) -> None:
    for r in range(n + 3):
        pattern = random(n, r, seed=r)
        assert pattern.layers[0].degrees.tolist() == [1 + min(r, n - 1)] * n
        assert all(pattern.attends(k, k) for k in range(n))


def test_random_reaches_every_other_token_equally_often() -> None:
    counts = np.zeros((6, 6), dtype=int)
    draws = 3000
    for layer in random(6, 2, seed=3, layers=draws).layers:
        counts[layer.queries, layer.keys] += 1
    assert np.diag(counts).tolist() == [draws] * 6
    others = counts[~np.eye(6, dtype=bool)]
    assert np.all(np.abs(others - draws * 0.4) < 5 * np.sqrt(draws * 0.4 * 0.6))


def test_random_seeds_and_layers() -> None:
    assert random(50, 4, seed=9) == random(50, 4, seed=9)
    assert random(50, 4, seed=9) != random(50, 4, seed=10)
    layers = random(50, 4, seed=9, layers=4).layers
    assert layers[0].keys.tolist() == random(50, 4, seed=9).layers[0].keys.tolist()
    assert all(a.keys.tolist() != b.keys.tolist() for a, b in pairwise(layers))
