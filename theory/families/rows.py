"""Rows of keys without loops: the few shapes from which every named family is built.

Time and memory are proportional to the connections. Every family asks `admit` before it allocates.
"""

from __future__ import annotations

import numpy as np

from theory.checks import whole
from theory.patterns import Connections, IntArray, PatternError

__all__ = ["MAX_FAMILY_BYTES", "admit", "merged", "progressions", "repeated", "whole"]

MAX_FAMILY_BYTES = 2**31
"""What one family may take: 4 bytes a connection, and 32 a token and pattern while it is built."""


def admit(n: int, connections: int, patterns: int = 1) -> None:
    """Refuse what would not fit, before anything is allocated.

    Parameters
    ----------
    n
        Tokens.
    connections
        An upper bound on the connections of all patterns together.
    patterns
        How many patterns.

    Raises
    ------
    PatternError
        If the connections need more than `MAX_FAMILY_BYTES`.

    Examples
    --------
    >>> admit(10**6, 10**12)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    theory.connections.PatternError: n=1000000 means up to 1000000000000 connections, 3726 GiB; ...
    """
    size = 4 * connections + 32 * n * patterns
    if size > MAX_FAMILY_BYTES:
        raise PatternError(
            f"n={n} means up to {connections} connections, {-(-size // 2**30)} GiB; the limit is "
            f"{MAX_FAMILY_BYTES // 2**30} GiB: take fewer tokens, or fewer keys per token"
        )


def _layer(counts: IntArray, keys: IntArray) -> Connections:
    """Hand arrays that nobody else holds to `Connections`, read-only so that it need not copy them."""
    indptr = np.zeros(counts.size + 1, dtype=np.int64)
    np.cumsum(counts, out=indptr[1:])
    indptr.flags.writeable = False
    keys.flags.writeable = False
    return Connections(indptr, keys)


def _progression_keys(start: IntArray, count: IntArray, step: int) -> IntArray:
    """Return the values start[k], start[k] + step, ... of every row, count[k] >= 1 of them, end to end (int32)."""
    keys = np.full(int(count.sum()), step, dtype=np.int32)
    keys[0] = start[0]
    # A running sum of differences; only the first difference of a row is not the step.
    keys[np.cumsum(count[:-1])] = start[1:] - start[:-1] - step * (count[:-1] - 1)
    np.cumsum(keys, dtype=np.int32, out=keys)
    return keys


def progressions(start: IntArray, count: IntArray, step: int = 1) -> Connections:
    """Row k holds start[k], start[k] + step, ..., count[k] >= 1 keys.

    Examples
    --------
    >>> rows = progressions(np.array([0, 1, 0]), np.array([2, 1, 2]), step=2)
    >>> [rows.row(k).tolist() for k in range(3)]
    [[0, 2], [1], [0, 2]]
    """
    return _layer(count, _progression_keys(start, count, step))


def repeated(counts: IntArray, keys: IntArray, which: IntArray) -> Connections:
    """Row k is a copy of the given row ``which[k]``; the given rows lie end to end in `keys`, none empty.

    Examples
    --------
    >>> rows = repeated(np.array([2, 1]), np.array([0, 2, 1], dtype=np.int32), np.array([0, 1, 0]))
    >>> [rows.row(k).tolist() for k in range(3)]
    [[0, 2], [1], [0, 2]]
    """
    starts = np.cumsum(counts) - counts
    places = _progression_keys(starts[which], counts[which], 1)
    return _layer(counts[which], keys[places])


def merged(n: int, candidates: IntArray, full: IntArray | None = None) -> Connections:
    """Rows from a table of candidate keys, next to rows that hold every key.

    Parameters
    ----------
    n
        Tokens.
    candidates
        int32, one row for every token outside `full`, in token order, at least one column: keys in any order;
        repeats count once, and the number n stands for no key. Overwritten.
    full
        Sorted tokens whose row is [n] (no row of `candidates`).

    Examples
    --------
    >>> rows = merged(3, np.array([[2, 0, 2], [3, 2, 1]], dtype=np.int32), full=np.array([2]))
    >>> [rows.row(k).tolist() for k in range(3)]
    [[0, 2], [1, 2], [0, 1, 2]]
    """
    candidates.sort(axis=1)
    kept = candidates < n
    kept[:, 1:] &= candidates[:, 1:] != candidates[:, :-1]
    own = candidates[kept]
    if full is None or full.size == 0:
        return _layer(np.count_nonzero(kept, axis=1), own)
    is_full = np.zeros(n, dtype=bool)
    is_full[full] = True
    counts = np.full(n, n, dtype=np.int64)
    counts[~is_full] = np.count_nonzero(kept, axis=1)
    in_full_row = np.repeat(is_full, counts)
    keys = np.empty(in_full_row.size, dtype=np.int32)
    keys[in_full_row] = np.tile(np.arange(n, dtype=np.int32), full.size)
    np.logical_not(in_full_row, out=in_full_row)
    keys[in_full_row] = own
    return _layer(counts, keys)
