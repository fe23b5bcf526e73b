"""Quantization with three ReLUs for phi (eq. 15): exact except on the ramp, the last share alpha of every cell.

Entries are float64 arrays of any backend, shape (..., d, n), in units of delta.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from array_api_compat import array_namespace

from constructions.soft_relu import ReluTerms, check_alpha, quantization_terms

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SoftQuantization", "SoftQuantizeRow"]


@dataclass(frozen=True)
class SoftQuantizeRow:
    """One feed-forward layer, Z <- Z + e_i phi~_alpha(e_i^T Z - k delta 1^T); entries in units of delta.

    Parameters
    ----------
    row, level
        i and k, both from 0.
    alpha
        The ramp's share of the cell.
    """

    row: int
    level: int
    alpha: float

    def relu_terms(self) -> ReluTerms:
        """Return (weight, breakpoint) of the three ReLUs, functions of row i of Z, added to row i."""
        return quantization_terms(self.level, self.alpha)

    def apply(self, entries: Any) -> Any:
        """Return the state after the layer, the sum of its ReLUs taken as it stands; shape (..., d, n)."""
        xp = array_namespace(entries)
        x = entries[..., self.row, :]
        zero, row = xp.zeros_like(x), x
        for weight, breakpoint in self.relu_terms():
            row = row + float(weight) * xp.maximum(x - float(breakpoint), zero)
        after = xp.asarray(entries, copy=True)
        after[..., self.row, :] = row
        return after


@dataclass(frozen=True)
class SoftQuantization:
    """The d n/delta layers: row after row, level after level; entries of X + E lie in [0, n).

    Parameters
    ----------
    d, n, levels
        Shape of the input and K = 1/delta.
    alpha
        The ramp's share of every cell, in (0, 1).

    Raises
    ------
    ProofError
        If alpha lies outside (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> stage = SoftQuantization(d=1, n=2, levels=2, alpha=0.25)
    >>> stage.feed_forward_layers, stage.apply(np.array([[1.5, 2.875]])).tolist()
    (4, [[1.0, 2.5]])
    """

    d: int
    n: int
    levels: int
    alpha: float

    def __post_init__(self) -> None:
        check_alpha(self.alpha)

    @property
    def feed_forward_layers(self) -> int:
        """Return dn/delta."""
        return self.d * self.n * self.levels

    def blocks(self) -> Iterator[SoftQuantizeRow]:
        """Iterate the layers in order."""
        for row in range(self.d):
            for level in range(self.n * self.levels):
                yield SoftQuantizeRow(row, level, self.alpha)

    def apply(self, entries: Any) -> Any:
        """Apply all layers at once: the cell's corner, plus how far along its ramp the entry is.

        Parameters
        ----------
        entries
            X + E in units of delta, shape (..., d, n).
        """
        xp = array_namespace(entries)
        corner = xp.floor(entries)
        along = xp.maximum((entries - corner - (1 - self.alpha)) / self.alpha, xp.zeros_like(entries))
        covered = (entries >= 0) & (entries < self.n * self.levels)
        return xp.where(covered, corner + along, entries)

    def good(self, entries: Any) -> Any:
        """Return which inputs (..., d, n) have no coordinate in a ramp: measure (1 - alpha)^{dn}; shape (...)."""
        xp = array_namespace(entries)
        return xp.all(entries - xp.floor(entries) <= 1 - self.alpha, axis=(-2, -1))
