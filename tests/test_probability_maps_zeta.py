"""Appendix F's zeta = delta/2 against the true score gap delta^2/2 of the selective shifts (d = 1)."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from theory.probability_maps import Entmax, Softmax, Sparsemax

K, ETA = 10, 1e-3
DELTA = 1 / K


def leader_weight(rho: Any, zeta: float, ids: Any) -> float:
    """The leader's weight in the head psi(.; b) of a column with u^T Z_k - b = delta/2; ids in units of delta."""
    t = rho.sufficient_t(zeta, ETA, ids.size)
    return float(rho(t * DELTA * ids * (DELTA / 2)).max())


@pytest.mark.parametrize(("m", "kept"), [(2, 0.666), (3, 0.593), (4, 0.574), (5, 0.573), (6, 0.577)])
def test_ids_one_grid_step_apart(m: int, kept: float) -> None:
    """0.57 with four or five keys on consecutive grid values, where 0.999 was asked."""
    ids = np.arange(float(m))
    assert leader_weight(Softmax(), DELTA / 2, ids) == pytest.approx(kept, abs=5e-4)
    assert leader_weight(Softmax(), DELTA**2 / 2, ids) >= 1 - ETA - 1e-15


@pytest.mark.parametrize("rho", [Entmax(1.5), Sparsemax()])
def test_sparse_maps_miss_it_too(rho: Any) -> None:
    ids = np.arange(4.0)
    assert leader_weight(rho, DELTA / 2, ids) < 0.66
    assert leader_weight(rho, DELTA**2 / 2, ids) == 1.0


def closest_ids(n: int, d: int, levels: int) -> tuple[int, list[Any]]:
    """Every state that a selective shift of Lemma 7 meets, exactly: ids in units of delta, dense pattern.

    Returns the smallest distance of two tokens' ids, and the states whose two largest ids are that close.
    """
    spread = sum(levels**i for i in range(d))
    smallest, states = 10**9, []
    for cells in itertools.product(range(levels), repeat=n * d):
        grid = np.array(cells).reshape(n, d) @ levels ** np.arange(d)
        ids = [int(grid[i]) + (i - 1 if i else n - 1) * levels * spread for i in range(n)]
        for token in range(1, n):
            distances = np.diff(sorted(ids))
            if distances.min() < smallest:
                smallest, states = int(distances.min()), []
            if distances[-1] == smallest:
                states.append(np.array(ids, dtype=float))
            ids[token] += levels**d * (max(ids) - min(ids))
    return smallest, states


def test_the_gap_of_the_true_states_for_d_1() -> None:
    """Two ids one grid step apart do occur: the gap is delta^2/2, and softmax with the paper's t gives 0.67."""
    smallest, states = closest_ids(3, 1, K)
    assert smallest == 1
    weights = [leader_weight(Softmax(), DELTA / 2, state) for state in states]
    assert 0.66 < min(weights) < 0.69
    assert all(leader_weight(Softmax(), DELTA**2 / 2, state) >= 1 - ETA - 1e-15 for state in states)


@pytest.mark.parametrize(("n", "d", "levels"), [(3, 2, 2), (3, 2, 3), (4, 2, 2), (3, 3, 2)])
def test_for_larger_d_the_ids_of_two_tokens_lie_further_apart(n: int, d: int, levels: int) -> None:
    """1 + K + ... + K^(d-1) grid steps, at least K for d >= 2: there the paper's zeta = delta/2 is no larger."""
    smallest, states = closest_ids(n, d, levels)
    assert smallest == sum(levels**i for i in range(d)) >= levels
    delta = 1 / levels
    for state in states:
        t = Softmax().sufficient_t(delta / 2, ETA, n)
        assert Softmax()(t * delta * state * (delta / 2)).max() >= 1 - ETA - 1e-15
