"""The K^{dn} cells of the grid G_delta (§4.1), numbered: a grid's entries are the digits, the last one fastest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from constructions.numbers import ProofError, exact_dtype

if TYPE_CHECKING:
    import numpy.typing as npt

    from theory.patterns import IntArray

__all__ = ["cell_count", "cells", "check_entries"]


def cell_count(d: int, n: int, levels: int) -> int:
    """Return K^{dn}.

    Examples
    --------
    >>> cell_count(d=2, n=3, levels=2)
    64
    """
    return int(levels ** (d * n))


def cells(d: int, n: int, levels: int, start: int = 0, stop: int | None = None) -> IntArray:
    """Return the grids number start..stop-1, shape (stop - start, d, n), entries in 0..K-1.

    Raises
    ------
    ProofError
        If a cell number does not fit int64.

    Examples
    --------
    >>> cells(d=1, n=2, levels=3, start=4, stop=6).tolist()
    [[[1, 1]], [[1, 2]]]
    """
    count = cell_count(d, n, levels)
    stop = count if stop is None else min(stop, count)
    if exact_dtype(stop) != np.int64:
        raise ProofError(f"{levels}^{d * n} cells are too many to number")
    rest = np.arange(start, stop, dtype=np.int64)
    grids = np.empty((rest.size, d * n), dtype=np.int64)
    for digit in reversed(range(d * n)):
        rest, grids[:, digit] = np.divmod(rest, levels)
    return grids.reshape(-1, d, n)


def check_entries(x: npt.ArrayLike, d: int, n: int, top: int, unit: str = "delta") -> IntArray:
    """Return x as an array after checking that it holds integers 0..top-1 in the shape (..., d, n).

    Raises
    ------
    ProofError
        If it does not.
    """
    array = np.asarray(x)
    if array.shape[-2:] != (d, n) or not np.issubdtype(array.dtype, np.integer):
        raise ProofError(f"inputs must be integers of shape (..., {d}, {n}), not {array.dtype} of {array.shape}")
    if array.size and (array.min() < 0 or array.max() >= top):
        raise ProofError(f"inputs must lie in 0..{top - 1}, in units of {unit}")
    return array
