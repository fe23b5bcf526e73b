"""Quantization with three ReLUs for phi (eq. 15): exact except on the ramp, the last share alpha of every cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from constructions.soft_relu import ReluTerms, check_alpha, quantization_terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

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

    def apply(self, entries: Floats) -> Floats:
        """Return the state after the layer, the sum of its ReLUs taken as it stands; shape (..., d, n)."""
        after = entries.copy()
        x = entries[..., self.row, :]
        for weight, breakpoint in self.relu_terms():
            after[..., self.row, :] += float(weight) * np.maximum(x - float(breakpoint), 0.0)
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

    def apply(self, entries: Floats) -> Floats:
        """Apply all layers at once: the cell's corner, plus how far along its ramp the entry is.

        Parameters
        ----------
        entries
            X + E in units of delta, shape (..., d, n).
        """
        corner = np.floor(entries)
        along = np.maximum((entries - corner - (1 - self.alpha)) / self.alpha, 0.0)
        covered = (entries >= 0) & (entries < self.n * self.levels)
        return np.where(covered, corner + along, entries)

    def good(self, entries: Floats) -> npt.NDArray[np.bool_]:
        """Return which inputs (..., d, n) have no coordinate in a ramp: measure (1 - alpha)^{dn}; shape (...)."""
        return np.asarray((entries - np.floor(entries) <= 1 - self.alpha).all(axis=(-2, -1)))
