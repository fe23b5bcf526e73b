"""Quantization g_q (Lemma 6): dn/delta feed-forward layers that take X + E down to the grid.

Inputs are exact: integers in units of delta/R for any resolution R, so that the grid is the multiples of R.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import array_namespace

from constructions.numbers import ProofError, exact_dtype

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Quantization", "QuantizeRow"]


@dataclass(frozen=True)
class QuantizeRow:
    """One feed-forward layer (eq. 14): Z <- Z + e_i phi(e_i^T Z - k delta 1^T), phi(t) = -t on [0, delta), else 0.

    Parameters
    ----------
    row, level
        i and k, both from 0.
    resolution
        R: entries are integers in units of delta/R.
    """

    row: int
    level: int
    resolution: int

    def apply(self, entries: Any) -> Any:
        """Return the state after the layer; shape (..., d, n), any backend."""
        xp = array_namespace(entries)
        after = xp.asarray(entries, copy=True)
        row = entries[..., self.row, :]
        t = row - self.level * self.resolution
        after[..., self.row, :] = row - xp.where((t >= 0) & (t < self.resolution), t, xp.zeros_like(t))
        return after


@dataclass(frozen=True)
class Quantization:
    """The d n/delta layers, row after row, level after level: entries of X + E lie in [0, n).

    Parameters
    ----------
    d, n
        Shape of the input.
    levels
        K = 1/delta.
    resolution
        R: entries are integers in units of delta/R.

    Raises
    ------
    ProofError
        If R < 1, or n K R does not fit int64.

    Examples
    --------
    >>> stage = Quantization(d=1, n=2, levels=2, resolution=10)
    >>> stage.feed_forward_layers, stage.apply(np.array([[19, 38]])).tolist()
    (4, [[10, 30]])
    """

    d: int
    n: int
    levels: int
    resolution: int = 1

    def __post_init__(self) -> None:
        if self.resolution < 1 or exact_dtype(self.n * self.levels * self.resolution) != np.int64:
            raise ProofError(f"resolution {self.resolution} does not fit: the entries of X + E must fit int64")

    @property
    def name(self) -> str:
        """What the stage does."""
        return "quantization"

    @property
    def attention_layers(self) -> int:
        """None: the attention sublayers are identities."""
        return 0

    @property
    def feed_forward_layers(self) -> int:
        """Return dn/delta, one layer for each row i and each k = 0..n/delta - 1."""
        return self.d * self.n * self.levels

    def blocks(self) -> Iterator[QuantizeRow]:
        """Iterate the layers in order."""
        for row in range(self.d):
            for level in range(self.n * self.levels):
                yield QuantizeRow(row, level, self.resolution)

    def apply(self, entries: Any) -> Any:
        """Round every entry in [0, n) down to the grid at once; other entries meet no layer."""
        covered = (entries >= 0) & (entries < self.n * self.levels * self.resolution)
        return array_namespace(entries).where(covered, entries - entries % self.resolution, entries)

    def on_grid(self, entries: Any) -> Any:
        """Return quantized entries in units of delta.

        Raises
        ------
        ProofError
            If an entry is no multiple of delta: it lay outside [0, n).
        """
        if array_namespace(entries).any(entries % self.resolution != 0):
            raise ProofError(f"an entry outside [0, {self.n}) was not quantized")
        return entries // self.resolution
