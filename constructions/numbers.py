"""One set of numbers: exact integers in units of delta, int64 where a known bound fits, Python integers beyond."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["INT64_BITS", "Integers", "ProofError", "check_width", "exact_dtype", "times"]

Integers = npt.NDArray[Any]  # dtype int64, or object holding Python integers
LONG = 2048  # bits from which a product costs more than looking up whether it is known
INT64_BITS = 62  # one bit of headroom for a difference of two ids
MOST_ID_BITS = 2**33  # of all ids of one input together: a gigabyte


class ProofError(ValueError):
    """A step of the proof does not apply to these inputs or constants; the message names where."""


def exact_dtype(bound: int) -> np.dtype[Any]:
    """Return int64 when every number of a run lies within +-bound and fits, else object (Python integers).

    The choice is made from the bound, before the run, never by overflow.

    Examples
    --------
    >>> exact_dtype(2**40), exact_dtype(2**80)
    (dtype('int64'), dtype('O'))
    """
    return np.dtype(np.int64) if abs(int(bound)).bit_length() <= INT64_BITS else np.dtype(object)


def check_width(n: int, bits: int) -> None:
    """Raise ProofError where n ids of so many bits, those of one input, do not fit a gigabyte.

    Examples
    --------
    >>> check_width(4096, 16_800_000)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    constructions.numbers.ProofError: ids of 16800000 bits for 4096 tokens are 8.6 GB an input, ...
    """
    if n * bits > MOST_ID_BITS:
        raise ProofError(
            f"ids of {bits} bits for {n} tokens are {n * bits / 8e9:.2g} GB an input, more than 1.1: take a"
            " smaller d, 1/delta or s, or another --construction (relay's ids are the shortest)"
        )


def times(values: Integers, factor: int) -> Integers:
    """Return values * factor; by a long factor, each Python integer that occurs is multiplied once.

    The maxima of a row are often one and the same id, of 10^5 bits, for nearly all rows. And the constants of the
    proof are small numbers times powers of K: where K is even, most of the product is a shift of the bits.

    Examples
    --------
    >>> times(np.array([3, 2**70], dtype=object), 2).tolist() == [6, 2**71]
    True
    """
    if values.dtype != object or factor.bit_length() < LONG:
        return values * factor
    zeros = (factor & -factor).bit_length() - 1
    odd, flat = factor >> zeros, values.ravel().tolist()
    products = {id(number): number for number in flat}
    for key, number in products.items():
        products[key] = number * odd << zeros
    result = np.empty(values.size, dtype=object)
    result[:] = [products[id(number)] for number in flat]
    return result.reshape(values.shape)
