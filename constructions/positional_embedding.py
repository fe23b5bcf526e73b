"""The positional embedding of the proof (eq. 7) and what u^T makes of it (eq. 8)."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from array_api_compat import array_namespace, device, is_numpy_array

from constructions.numbers import ProofError, exact_dtype

if TYPE_CHECKING:
    from constructions.numbers import Integers
    from theory.patterns import IntArray

__all__ = ["embed", "initial_interval", "positions_along", "project", "spread"]


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
    """Return Delta = u^T 1 = sum_{i=0}^{d-1} K^i.

    Examples
    --------
    >>> spread(3, 10)
    111
    """
    return (levels**d - 1) // (levels - 1) if levels > 1 else d


def initial_interval(position: int, d: int, levels: int, step: int) -> tuple[int, int]:
    """Return the least and greatest u^T H_k of a token at `position`, in units of delta.

    In the paper's units, with its embedding: [pos Delta, pos Delta + delta^{-d+1} - delta] (before eq. 8).

    Parameters
    ----------
    step
        What one position adds to every entry, in units of delta: K in the paper (E_k = pos(k) 1).

    Examples
    --------
    >>> initial_interval(2, d=2, levels=3, step=3)
    (24, 32)
    """
    low = step * position * spread(d, levels)
    return low, low + levels**d - 1


def embed(matrix: Any, positions: IntArray, step: int) -> Any:
    """Return X + E: column k plus ``step * pos(k)`` in every entry, in the units of `matrix`; shape (..., d, n).

    Parameters
    ----------
    matrix
        X, integers of any backend; the result is int64 of the same backend, on the same device.

    Examples
    --------
    >>> embed(np.array([[1, 0], [0, 2]]), np.array([1, 0]), 3).tolist()
    [[4, 0], [3, 2]]
    """
    xp = array_namespace(matrix)
    return xp.astype(matrix, xp.int64) + xp.asarray(positions * step, device=device(matrix))


@overload
def project(matrix: IntArray, levels: int) -> Integers: ...


@overload
def project(matrix: Any, levels: int) -> Any: ...


def project(matrix: Any, levels: int) -> Any:
    """Return u^T Z_k = sum_i K^i Z[i, k] of every column: shape (..., d, n) to (..., n), any backend.

    Raises
    ------
    ProofError
        If the sum may pass int64 on a backend other than NumPy, which alone holds Python integers.

    Examples
    --------
    >>> project(np.array([[4, 0], [3, 2]]), 3).tolist()
    [13, 6]
    """
    d, xp = matrix.shape[-2], array_namespace(matrix)
    greatest = int(xp.max(xp.abs(matrix))) if prod(matrix.shape) else 0
    if exact_dtype(max(greatest, 1) * spread(d, levels)) == np.int64:
        wide = xp.astype(matrix, xp.int64, copy=False)
    elif is_numpy_array(matrix):
        return _project_exactly(matrix.astype(object), levels)
    else:
        raise ProofError(f"u^T Z = sum_i {levels}^i Z_i does not fit int64: run it on NumPy, or take a smaller d")
    result = wide[..., 0, :]
    for i in range(1, d):
        result = result + wide[..., i, :] * levels**i
    return result


def _project_exactly(matrix: Integers, levels: int) -> Integers:
    """Return sum_i K^i Z[i, k] in Python integers: two neighbours become one digit of K^2, until one is left."""
    while matrix.shape[-2] > 1:
        pairs = matrix[..., 0::2, :].copy()
        upper = matrix[..., 1::2, :]
        pairs[..., : upper.shape[-2], :] += upper * levels
        matrix, levels = pairs, levels * levels
    return np.asarray(matrix[..., 0, :])
