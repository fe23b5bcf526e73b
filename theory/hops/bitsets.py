"""Rows of bits in 64-bit words: bit i is bit i mod 64 of word i // 64.

Unused bits of the last word are ones, so that a row is full iff all its words are ones. An OR of rows keeps them
wherever a row has any bit set at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from theory.hops.kernels import Words

__all__ = ["ALL", "blank_state", "clear", "count_bits", "first_open_bit", "first_open_row"]

ALL = np.uint64(2**64 - 1)


def blank_state(rows: int, bits: int) -> Words:
    """Return rows of `bits` bits, none set but the unused ones.

    Examples
    --------
    >>> first_open_bit(blank_state(1, 3)[0]), first_open_row(blank_state(2, 64))
    (0, 0)
    """
    state = np.empty((rows, -(-bits // 64)), dtype=np.uint64)
    clear(state, bits)
    return state


def clear(state: Words, bits: int) -> None:
    """Clear the first `bits` bits of every row and set the unused ones."""
    state[:] = 0
    if bits % 64:
        state[:, -1] = ALL << np.uint64(bits % 64)


def first_open_row(state: Words) -> int:
    """Return the first row that is not full, or -1."""
    open_rows = np.flatnonzero(np.bitwise_and.reduce(state, axis=1) != ALL)
    return int(open_rows[0]) if open_rows.size else -1


def first_open_bit(row: Words) -> int:
    """Return the first bit that is not set in a row that is not full."""
    word = int(np.flatnonzero(row != ALL)[0])
    missing = ~int(row[word]) & int(ALL)
    return 64 * word + (missing & -missing).bit_length() - 1


def count_bits(state: Words, bits: int) -> npt.NDArray[np.int64]:
    """Count the set bits of every row, the unused ones left out."""
    counts: npt.NDArray[np.int64] = np.bitwise_count(state).sum(axis=1, dtype=np.int64)
    if bits % 64:
        counts -= np.bitwise_count(state[:, -1] & (ALL << np.uint64(bits % 64)))
    return counts
