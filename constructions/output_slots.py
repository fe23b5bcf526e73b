"""Where u^T of a written output lies among the ids, exactly: floats are read as the rationals that they are."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

import numpy as np

from constructions.numbers import Integers, exact_dtype
from constructions.positional_embedding import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from constructions.targets import Floats

__all__ = ["output_slots"]

SURE = 2**50  # below this a float64 sum is within a small fraction of a unit


def output_slots(outputs: Floats, levels: int) -> Integers:
    """Return floor(K u^T A + 1/2) of every column: the id whose window [id - 1/2, id + 1/2) the output A meets.

    Parameters
    ----------
    outputs
        A, shape (..., d, n).
    levels
        K = 1/delta; u = (1, K, ..., K^{d-1}), and K u^T A is in units of delta.

    Examples
    --------
    >>> output_slots(np.array([[0.25, 0.2499999]]), levels=2).tolist()
    [1, 0]
    """
    d = outputs.shape[-2]
    weights = [levels ** (i + 1) for i in range(d)]
    largest = Fraction(float(np.abs(outputs).max(initial=0))) * levels * spread(d, levels) + 1
    columns = np.moveaxis(outputs, -2, -1)
    if largest >= SURE:
        exact: Integers = np.empty(columns.shape[:-1], dtype=object)
        for index in np.ndindex(exact.shape):
            exact[index] = _slot(columns[index].tolist(), weights)
        return exact.astype(exact_dtype(floor(largest)))
    units = columns @ np.array(weights, dtype=np.float64) + 0.5
    slots: Integers = np.floor(units).astype(np.int64)
    # Rounding errs by less than (d + 2) 2^-52 times the sum of the absolute terms: it matters near an integer.
    margin = float(largest) * (d + 2) * 2.0**-52
    for place in np.argwhere(np.abs(units - np.rint(units)) <= margin):
        slots[tuple(place)] = _slot(columns[tuple(place)].tolist(), weights)
    return slots


def _slot(column: Sequence[float], weights: Sequence[int]) -> int:
    """Return floor(K u^T A + 1/2) of one column."""
    return floor(
        sum((weight * Fraction(entry) for weight, entry in zip(weights, column, strict=True)), Fraction(1, 2))
    )
