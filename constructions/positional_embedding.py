"""The positional embedding of the proof (eq. 7) and what u^T makes of it (eq. 8)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from constructions.numbers import Integers, exact_dtype

if TYPE_CHECKING:
    from theory.patterns import IntArray

__all__ = ["initial_interval", "initial_values", "positions_along", "spread"]


def positions_along(gamma: IntArray) -> IntArray:
    """Return pos(k) with E_k = pos(k) 1: gamma(1) sits at n - 1, gamma(i) at i - 2 for i = 2..n (eq. 7).

    Parameters
    ----------
    gamma
        The Hamiltonian path: ``gamma[i - 1]`` is the token gamma(i), tokens from 0.

    Examples
    --------
    >>> positions_along(np.array([2, 0, 1])).tolist()
    [0, 1, 2]
    """
    positions = np.empty(gamma.size, dtype=np.int64)
    positions[gamma] = np.arange(gamma.size) - 1
    positions[gamma[0]] = gamma.size - 1
    return positions


def spread(d: int, levels: int) -> int:
    """Return Delta = sum_{i=0}^{d-1} K^i = u^T 1.

    Examples
    --------
    >>> spread(3, 10)
    111
    """
    return sum(levels**i for i in range(d))


def initial_interval(position: int, d: int, levels: int, step: int) -> tuple[int, int]:
    """Return the least and greatest z_k of a token at `position`, in units of delta.

    In the paper's units and with its embedding: [pos Delta, pos Delta + delta^{-d+1} - delta] (before eq. 8).

    Examples
    --------
    >>> initial_interval(2, d=2, levels=3, step=3)
    (24, 32)
    """
    low = step * position * spread(d, levels)
    return low, low + levels**d - 1


def initial_values(grids: IntArray, positions: IntArray, levels: int, step: int) -> Integers:
    """Return z_k = u^T H_k = sum_i K^i (grid[i, k] + step pos(k)) in units of delta.

    Parameters
    ----------
    grids
        Shape (..., d, n), entries 0..K-1.
    positions
        pos(k), one a token.
    levels
        K = 1/delta.
    step
        What one position adds to every entry, in units of delta: K in the paper (E_k = pos(k) 1).

    Examples
    --------
    >>> initial_values(np.array([[1, 0], [0, 2]]), np.array([1, 0]), 3, 3).tolist()
    [13, 6]
    """
    d = grids.shape[-2]
    highest = max(initial_interval(position, d, levels, step)[1] for position in positions.tolist())
    dtype = exact_dtype(highest)
    shifts = np.array([step * position * spread(d, levels) for position in positions.tolist()], dtype=dtype)
    values = np.zeros((*grids.shape[:-2], grids.shape[-1]), dtype=dtype)
    for i in range(d):
        values += grids[..., i, :].astype(dtype) * levels**i
    return np.asarray(values + shifts)
