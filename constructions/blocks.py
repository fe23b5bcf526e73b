"""The few kinds of elementary block, as data, each with its literal meaning in exact arithmetic (paper, App. E).

Only the first row of Z changes in the contextual mapping, and only through u^T Z_k: the state is one integer a
token, ``values[..., k]`` = u^T Z_k in units of delta, an array of any backend. Thresholds b lie half-way between
two such integers and are kept doubled: ``low2 = 2 b``. Every block is applied as the paper states it, both heads
for every token; hardmax with a tie, or u^T Z_k = b, raises ProofError.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import array_namespace

from constructions.neighbours import neighbours
from constructions.numbers import ProofError, times

if TYPE_CHECKING:
    from constructions.neighbours import Neighbours
    from theory.patterns import Connections, SparsityPattern

__all__ = [
    "AffineOnSlot",
    "AllMaxShift",
    "AttentionBlock",
    "FeedForwardBlock",
    "Identity",
    "SelectiveShift",
    "check_attending",
    "check_no_tie",
    "check_not_negative",
    "hard_max",
    "hard_min",
    "psi",
]


def check_attending(layer: Connections) -> None:
    """Raise ProofError if some A_k is empty: hardmax has no meaning there."""
    degrees = layer.degrees
    if not degrees.all():
        raise ProofError(f"token {int(np.argmin(degrees))} attends to nothing: hardmax of an empty set")


def check_no_tie(near: Neighbours, won: list[Any], name: str) -> None:
    """Raise ProofError if some query has two winners; `won` marks them in the rows of every degree."""
    xp = near.xp
    # a winner a query, unless there is a tie
    if sum(xp.count_nonzero(winner) for winner in won) > sum(prod(winner.shape[1:]) for winner in won):
        ties = near.join([xp.sum(xp.astype(winner, xp.int64), axis=0) > 1 for winner in won])
        raise ProofError(f"hardmax meets a tie: token {_first(ties)} attends to two tokens of {name} u^T Z_j")


def check_not_negative(values: Any) -> None:
    """Raise ProofError if some u^T Z_k is negative: an all-max-shift is not defined there."""
    below = values < 0
    if array_namespace(values).any(below):
        raise ProofError(f"u^T Z_k < 0 at token {_first(below)}: psi(.;0) is a minimum there")


def _heads(values: Any, layer: Connections, *names: str) -> list[Any]:
    """Return the greatest, the least, or both, over every A_k, from one gather; raise on an empty set or a tie."""
    check_attending(layer)
    near = neighbours(layer, values)
    xp = near.xp
    gathered = near.gather(values)
    heads = []
    for name in names:
        reduce = xp.max if name == "greatest" else xp.min
        best = [reduce(attended, axis=0) for attended in gathered]
        check_no_tie(near, [attended == most for attended, most in zip(gathered, best, strict=True)], name)
        heads.append(near.join(best))
    return heads


def _first(where: Any) -> int:
    """Return the token of the first True entry of (..., n)."""
    return int(array_namespace(where).nonzero(where)[-1][0])


def hard_max(values: Any, layer: Connections) -> Any:
    """Return max over j in A_k of u^T Z_j for every token; shape, dtype, backend and device as `values`.

    Raises
    ------
    ProofError
        If some A_k is empty, or two attended tokens share the maximum.
    """
    return _heads(values, layer, "greatest")[0]


def hard_min(values: Any, layer: Connections) -> Any:
    """Return min over j in A_k of u^T Z_j for every token; raises as `hard_max`."""
    return _heads(values, layer, "least")[0]


def psi(values: Any, layer: Connections, threshold2: int) -> Any:
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
    above = _above(values, threshold2)
    most, least = _heads(values, layer, "greatest", "least")
    return array_namespace(values).where(above, most, least)


def _above(values: Any, threshold2: int) -> Any:
    """Return where u^T Z_k > b; raise if u^T Z_k = b somewhere, which no integer is unless 2 b is even."""
    half, odd = divmod(threshold2, 2)
    if not odd:
        met = values == half
        if array_namespace(values).any(met):
            raise ProofError(f"u^T Z_k = b at token {_first(met)}: the selective shift is undefined there")
    return values > half


@dataclass(frozen=True)
class SelectiveShift:
    """Psi^l(Z; c, b, b'): add c (psi(Z;b)_k - psi(Z;b')_k) to row 1, so c (max - min) where b < u^T Z_k < b'."""

    layer: int
    factor: int
    low2: int
    high2: int

    def apply(self, values: Any, pattern: SparsityPattern) -> Any:
        """Return the state after the block; both psi look at the same two heads."""
        where = array_namespace(values).where
        above_low = _above(values, self.low2)
        most, least = _heads(values, pattern.layers[self.layer], "greatest", "least")
        above_high = _above(values, self.high2)
        return values + self.factor * (where(above_low, most, least) - where(above_high, most, least))


@dataclass(frozen=True)
class AllMaxShift:
    """Omega^l(Z; c): add c psi(Z;0)_k = c max over A_k of u^T Z_j to row 1 of every column."""

    layer: int
    factor: int

    def apply(self, values: Any, pattern: SparsityPattern) -> Any:
        """Return the state after the block; u^T Z_k = 0 is psi's excluded case only where the maximum matters.

        Raises
        ------
        ProofError
            If some u^T Z_k is negative (psi(.;0) would return the minimum), or hardmax meets a tie.
        """
        check_not_negative(values)
        return values + times(hard_max(values, pattern.layers[self.layer]), self.factor)


@dataclass(frozen=True)
class Identity:
    """An attention block switched off by its residual connection, counted as the paper counts it."""

    layer: int

    def apply(self, values: Any, pattern: SparsityPattern) -> Any:
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

    def apply(self, values: Any, pattern: SparsityPattern) -> Any:
        """Return the state after the layer.

        Raises
        ------
        ProofError
            If the division is not exact: the slot holds a value that the inverse map never produced.
        """
        xp = array_namespace(values)
        inside = (values >= self.low) & (values <= self.high)
        start, rest = divmod(self.multiply * self.low + self.add, self.divide)
        image = self.multiply * xp.where(inside, values - self.low, xp.zeros_like(values)) + rest
        if self.divide != 1:
            if xp.any((image % self.divide != 0) & inside):
                raise ProofError(f"a value in the slot {self.low}..{self.high} is not divisible by {self.divide}")
            image = image // self.divide
        return xp.where(inside, image + start, values)


AttentionBlock = SelectiveShift | AllMaxShift | Identity
FeedForwardBlock = AffineOnSlot
