"""One set of numbers: exact integers in units of delta, int64 where a known bound fits, Python integers beyond."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Integers", "ProofError", "exact_dtype"]

Integers = npt.NDArray[Any]  # dtype int64, or object holding Python integers
INT64_BITS = 62  # one bit of headroom for a difference of two ids


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
