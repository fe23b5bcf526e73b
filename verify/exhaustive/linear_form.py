"""Linear forms that can be read back: L(x) = constant + sum_j w_j x_j on entries x_j in 0..K-1.

Lemma. Let K^{e_j} be the highest power of K that divides w_j, let w_j / K^{e_j} be coprime to K, and let the e_j
be pairwise different. Then L is one-to-one on {0..K-1}^m.

Proof. Let L(x) = L(y), and of the j with x_j != y_j take the one of least e_j. All other terms of
0 = L(x) - L(y) = sum_j w_j (x_j - y_j) are divisible by K^{e_j + 1}, so K divides (w_j / K^{e_j}) (x_j - y_j),
and, the first factor being coprime to K, x_j - y_j. But 0 < |x_j - y_j| < K.

In the proof of Lemma 7, z~_gamma(i) = (1 - K^d) z_gamma(i) + K^d z~_gamma(i-1): row r of column gamma(i) has the
exponent d (n - i) + r in z~_gamma(n), with unit 1 - K^d for i >= 2 and 1 for gamma(1).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from constructions.numbers import ProofError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from constructions.numbers import Integers
    from theory.patterns import IntArray

__all__ = ["LinearForm", "fit_forms", "is_one_to_one"]


@dataclass(frozen=True)
class LinearForm:
    """L(x) = constant + sum_j w_j x_j over the entries x_j of a (d, n) grid in row-major order, exact integers.

    Parameters
    ----------
    constant
        L(0).
    weights
        w_j, one an entry.

    Examples
    --------
    >>> form = LinearForm(5, (-7, 1))
    >>> form.least(8), form.greatest(8), form.size(8)
    (-44, 12, 61)
    """

    constant: int
    weights: tuple[int, ...]

    def least(self, levels: int) -> int:
        """Return min L over entries 0..K-1."""
        return self.constant + (levels - 1) * sum(min(weight, 0) for weight in self.weights)

    def greatest(self, levels: int) -> int:
        """Return max L over entries 0..K-1."""
        return self.constant + (levels - 1) * sum(max(weight, 0) for weight in self.weights)

    def size(self, levels: int) -> int:
        """Return |constant| + sum_j |w_j| (K - 1): no sum of some of the terms is larger."""
        return abs(self.constant) + (levels - 1) * sum(map(abs, self.weights))


def is_one_to_one(weights: Iterable[int], levels: int) -> bool:
    """Return whether the lemma above shows that sum_j w_j x_j is one-to-one on entries 0..K-1.

    False means that it does not: the form may still be.

    Examples
    --------
    >>> is_one_to_one([4 + 16, -3], 4), is_one_to_one([4, 12], 4), is_one_to_one([1, 0], 4)
    (True, False, False)
    """
    exponents = set()
    count = 0
    for weight in weights:
        unit, exponent = weight, 0
        while unit and unit % levels == 0:
            unit, exponent = unit // levels, exponent + 1
        if gcd(unit, levels) != 1:
            return False
        exponents.add(exponent)
        count += 1
    return len(exponents) == count


def fit_forms(function: Callable[[IntArray], Integers], d: int, n: int) -> tuple[LinearForm, ...]:
    """Return the only linear forms that agree with a function on the grid 0 and the dn grids with a single 1.

    Parameters
    ----------
    function
        Maps grids (m, d, n) to integers (m, rows), int64 or Python integers.
    d, n
        Shape of a grid.

    Returns
    -------
    tuple of LinearForm
        One a row, found from dn + 1 inputs; whether the function is this form on all others is not looked at.

    Raises
    ------
    ProofError
        If the function does, or it returns anything but integers.

    Examples
    --------
    >>> fit_forms(lambda grids: grids[:, 0] * 4 + [0, 9], d=1, n=2)
    (LinearForm(constant=0, weights=(4, 0)), LinearForm(constant=9, weights=(0, 4)))
    """
    probes = np.concatenate((np.zeros((1, d * n), dtype=np.int64), np.eye(d * n, dtype=np.int64)))
    values = np.asarray(function(probes.reshape(-1, d, n)))
    if values.ndim != 2 or not (values.dtype == object or np.issubdtype(values.dtype, np.integer)):
        raise ProofError(f"the mapping returns {values.dtype} of shape {values.shape}, not integers (m, n)")
    exact = values.astype(object)
    return tuple(
        LinearForm(int(row[0]), tuple(int(value - row[0]) for value in row[1:])) for row in exact.T.tolist()
    )
