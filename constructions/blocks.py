"""The few kinds of elementary block, as data, each with its literal meaning in exact arithmetic (paper, App. E).

Only the first row of Z changes in the contextual mapping, and only through u^T Z_k: the state is one integer a
token, ``values[..., k]`` = u^T Z_k in units of delta. Thresholds b lie half-way between two such integers and are
kept doubled: ``low2 = 2 b``. Every block is applied as the paper states it, both heads for every token; hardmax
with a tie, or u^T Z_k = b, raises ProofError.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from constructions.numbers import Integers, ProofError

if TYPE_CHECKING:
    from theory.patterns import Connections, SparsityPattern

__all__ = [
    "AffineOnSlot",
    "AllMaxShift",
    "AttentionBlock",
    "FeedForwardBlock",
    "Identity",
    "SelectiveShift",
    "hard_max",
    "hard_min",
    "psi",
]


def _reduced(values: Integers, layer: Connections, reduce: np.ufunc, name: str) -> Integers:
    """Reduce over the attended set of every token; raise on an empty set or a tie."""
    if not layer.degrees.all():
        raise ProofError(f"token {int(np.argmin(layer.degrees))} attends to nothing: hardmax of an empty set")
    starts = layer.indptr[:-1]
    gathered = values[..., layer.keys]
    best = reduce.reduceat(gathered, starts, axis=-1)
    winners = np.add.reduceat(gathered == np.repeat(best, layer.degrees, axis=-1), starts, axis=-1, dtype=np.int64)
    if np.any(winners > 1):
        token = int(np.argwhere(winners > 1)[0][-1])
        raise ProofError(f"hardmax meets a tie: token {token} attends to two tokens of {name} u^T Z_j")
    return np.asarray(best)


def hard_max(values: Integers, layer: Connections) -> Integers:
    """Return max over j in A_k of u^T Z_j for every token; shape as `values`.

    Raises
    ------
    ProofError
        If some A_k is empty, or two attended tokens share the maximum.
    """
    return _reduced(values, layer, np.maximum, "greatest")


def hard_min(values: Integers, layer: Connections) -> Integers:
    """Return min over j in A_k of u^T Z_j for every token; raises as `hard_max`."""
    return _reduced(values, layer, np.minimum, "least")


def psi(values: Integers, layer: Connections, threshold2: int) -> Integers:
    """Return psi(Z; b)_k: the maximum over A_k of u^T Z_j if u^T Z_k > b, the minimum if u^T Z_k < b (App. E.2).

    Parameters
    ----------
    values
        u^T Z in units of delta, shape (..., n).
    threshold2
        2 b, in units of delta.

    Raises
    ------
    ProofError
        If u^T Z_k = b for some token, or hardmax meets a tie.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> window = SparsityPattern.from_lists([[0, 1], [0, 1, 2], [1, 2]]).layers[0]
    >>> psi(np.array([1, 5, 9]), window, 2 * 4 + 1).tolist()
    [1, 9, 9]
    """
    doubled = 2 * values
    if np.any(doubled == threshold2):
        token = int(np.argwhere(doubled == threshold2)[0][-1])
        raise ProofError(f"u^T Z_k = b at token {token}: the selective shift is undefined there")
    return np.where(doubled > threshold2, hard_max(values, layer), hard_min(values, layer))


@dataclass(frozen=True)
class SelectiveShift:
    """Psi^l(Z; c, b, b'): add c (psi(Z;b)_k - psi(Z;b')_k) to row 1, so c (max - min) where b < u^T Z_k < b'."""

    layer: int
    factor: int
    low2: int
    high2: int

    def apply(self, values: Integers, pattern: SparsityPattern) -> Integers:
        """Return the state after the block."""
        layer = pattern.layers[self.layer]
        return np.asarray(values + self.factor * (psi(values, layer, self.low2) - psi(values, layer, self.high2)))


@dataclass(frozen=True)
class AllMaxShift:
    """Omega^l(Z; c): add c psi(Z;0)_k = c max over A_k of u^T Z_j to row 1 of every column."""

    layer: int
    factor: int

    def apply(self, values: Integers, pattern: SparsityPattern) -> Integers:
        """Return the state after the block; u^T Z_k = 0 is psi's excluded case only where the maximum matters.

        Raises
        ------
        ProofError
            If some u^T Z_k is negative (psi(.;0) would return the minimum), or hardmax meets a tie.
        """
        if np.any(values < 0):
            token = int(np.argwhere(values < 0)[0][-1])
            raise ProofError(f"u^T Z_k < 0 at token {token}: psi(.;0) is a minimum there")
        return np.asarray(values + self.factor * hard_max(values, pattern.layers[self.layer]))


@dataclass(frozen=True)
class Identity:
    """An attention block switched off by its residual connection, counted as the paper counts it."""

    layer: int

    def apply(self, values: Integers, pattern: SparsityPattern) -> Integers:
        """Return the state unchanged."""
        return values


@dataclass(frozen=True)
class AffineOnSlot:
    """A feed-forward layer: v -> (multiply v + add) / divide on low <= v <= high, nothing elsewhere.

    Three pieces, the outer two constant zero: the update v' - v is affine on the slot and zero outside. It is
    evaluated from the image of `low`, so that no number on the way is larger than those of the run.
    """

    low: int
    high: int
    multiply: int
    add: int
    divide: int = 1

    def apply(self, values: Integers, pattern: SparsityPattern) -> Integers:
        """Return the state after the layer.

        Raises
        ------
        ProofError
            If the division is not exact: the slot holds a value that the inverse map never produced.
        """
        inside = (values >= self.low) & (values <= self.high)
        start, rest = divmod(self.multiply * self.low + self.add, self.divide)
        image = self.multiply * np.where(inside, values - self.low, 0) + rest
        if np.any((image % self.divide != 0) & inside):
            raise ProofError(f"a value in the slot {self.low}..{self.high} is not divisible by {self.divide}")
        return np.where(inside, image // self.divide + start, values)


AttentionBlock = SelectiveShift | AllMaxShift | Identity
FeedForwardBlock = AffineOnSlot
