"""The K^{dn} cells of the grid G_delta (§4.1), numbered: a grid's entries are the digits, the last one fastest."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

from constructions.numbers import ProofError, exact_dtype

if TYPE_CHECKING:
    import numpy.typing as npt

    from theory.patterns import IntArray

__all__ = ["cell_count", "cells", "check_entries"]

MOST_BITS = 2**21  # of one id, which tells K^{dn} inputs apart: a quarter of a megabyte


def cell_count(d: int, n: int, levels: int) -> int:
    """Return K^{dn}.

    Raises
    ------
    ProofError
        If it has millions of bits: so has every id, and nothing could be run in time.

    Examples
    --------
    >>> cell_count(d=2, n=3, levels=2)
    64
    """
    d, n, levels = int(d), int(n), int(levels)  # NumPy's integers would wrap around
    if d * n * (levels - 1).bit_length() > MOST_BITS:
        raise ProofError(
            f"d n = {d * n} entries with {levels} values make ids of more than {MOST_BITS} bits: take a smaller d,"
            " n or 1/delta"
        )
    return int(levels ** (d * n))


@overload
def cells(d: int, n: int, levels: int, start: int = 0, stop: int | None = None) -> IntArray: ...


@overload
def cells(d: int, n: int, levels: int, start: int = 0, stop: int | None = None, *, like: Any) -> Any: ...


def cells(d: int, n: int, levels: int, start: int = 0, stop: int | None = None, *, like: Any = None) -> Any:
    """Return the grids number start..stop-1, shape (stop - start, d, n), entries in 0..K-1, int64.

    Parameters
    ----------
    like
        An array of the backend and device on which to make them; NumPy when not given.

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
    like = np.empty(0) if like is None else like
    xp, place = array_namespace(like), device(like)
    rest = xp.arange(start, stop, dtype=xp.int64, device=place)
    grids = xp.empty((rest.shape[0], d * n), dtype=xp.int64, device=place)
    for digit in reversed(range(d * n)):
        above = rest // levels
        grids[:, digit] = rest - above * levels
        rest = above
    return xp.reshape(grids, (-1, d, n))


@overload
def check_entries(x: npt.ArrayLike, d: int, n: int, top: int, unit: str = "delta") -> IntArray: ...


@overload
def check_entries(x: Any, d: int, n: int, top: int, unit: str = "delta") -> Any: ...


def check_entries(x: Any, d: int, n: int, top: int, unit: str = "delta") -> Any:
    """Return x as an array after checking that it holds integers 0..top-1 in the shape (..., d, n).

    An array of any backend is returned as it is; anything else becomes a NumPy array.

    Raises
    ------
    ProofError
        If it does not.
    """
    array = x if is_array_api_obj(x) else np.asarray(x)
    xp, shape = array_namespace(array), tuple(array.shape)
    if shape[-2:] != (d, n) or not xp.isdtype(array.dtype, "integral"):
        raise ProofError(f"inputs must be integers of shape (..., {d}, {n}), not {array.dtype} of {shape}")
    if prod(shape) and (xp.min(array) < 0 or xp.max(array) >= top):
        raise ProofError(f"inputs must lie in 0..{top - 1}, in units of {unit}")
    return array
