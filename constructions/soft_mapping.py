"""A contextual mapping with rho[t .] for hardmax: a run over the connections, in float64, on any array backend."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace

from constructions.backends import NUMPY, Backend
from constructions.numbers import ProofError
from constructions.soft_blocks import SoftBlock, soften_block
from constructions.soft_run import in_chunks

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from constructions.mapping import StagedMapping
    from theory.probability_maps import ProbabilityMap

__all__ = ["LARGEST_T", "MAX_UNITS", "RUNAWAY", "SoftLayer", "SoftMapping", "check_fits"]

MAX_UNITS = 2**53
"""Numbers up to here are exact in float64; beyond, ids a unit apart could not be told apart."""

RUNAWAY = 1e100
"""Where a run is given up: at a small t, shifts that should be off can multiply numbers layer after layer."""

LARGEST_T = 1e100
"""With this, and numbers up to `RUNAWAY`, no score overflows."""


class SoftLayer(NamedTuple):
    """A layer of a soft run: its stage, and the relaxed block."""

    stage: str
    block: SoftBlock


@dataclass(frozen=True, eq=False)
class SoftMapping:
    """A contextual mapping with rho[t .] in both heads of every attention block; `relaxation.soften` makes it.

    Parameters
    ----------
    mapping
        The hardmax mapping.
    rho
        The probability map.
    t
        Its temperature: rho gets t times the scores.
    backend
        Where NumPy arrays are run.
    """

    mapping: StagedMapping
    rho: ProbabilityMap
    t: float
    backend: Backend = NUMPY

    def __post_init__(self) -> None:
        if not 0 < self.t <= LARGEST_T:
            raise ProofError(f"t must be positive and at most {LARGEST_T:g}, got {self.t}")
        check_fits(self.mapping)

    @cached_property
    def layers(self) -> tuple[SoftLayer, ...]:
        """The layers in order, without the identity blocks of the cycle."""
        sharpness = self.t / self.mapping.K**2
        softened = (
            (stage.name, soften_block(block, self.rho, sharpness))
            for stage in self.mapping.stages
            for block in stage.blocks()
        )
        return tuple(SoftLayer(name, block) for name, block in softened if block is not None)

    def ids(self, grids: npt.ArrayLike) -> Any:
        """Return the relaxed ids, shape (..., n), in units of delta; NaN where a run passed `RUNAWAY`.

        Parameters
        ----------
        grids
            Integers 0..K-1 in units of delta, shape (..., d, n).
        """
        return self.run(self.mapping.initial(grids).astype(np.float64))

    def run(self, values: Any) -> Any:
        """Return the state after all layers, given u^T H_k in units of delta; shape (..., n).

        Parameters
        ----------
        values
            A float64 array. NumPy's are run on the backend and come back as NumPy's, those of another library
            stay where they are.
        """
        if isinstance(values, np.ndarray):
            return self.backend.fetch(self._run(self.backend.put(values)))
        return self._run(values)

    def _run(self, values: Any) -> Any:
        return in_chunks(self._end, values, threads=self.rho.proved)  # the user's own map may not bear them

    def _end(self, values: Any) -> Any:
        """Return the state after all layers."""
        for _, after in self.trace(values):
            values = after
        return values

    def trace(self, values: Any) -> Iterator[tuple[SoftLayer, Any]]:
        """Iterate every layer with the state after it; shape (..., n) as `values`, in their library."""
        xp, lost = array_namespace(values), None
        for layer in self.layers:
            values = layer.block.apply(values, self.mapping.pattern)
            if not bool(xp.all(xp.abs(values) < RUNAWAY)):
                away = ~xp.all(xp.abs(values) < RUNAWAY, axis=-1, keepdims=True)
                lost = away if lost is None else lost | away
            if lost is None:
                yield layer, values
            else:
                values = xp.where(lost, xp.zeros_like(values), values)
                yield layer, xp.where(lost, xp.full_like(values, xp.nan), values)


def check_fits(mapping: StagedMapping, largest: int = 0) -> None:
    """Raise ProofError if the numbers of a run, or `largest`, pass 2^53 units of delta."""
    bits = max(mapping.bound, largest).bit_length()
    if max(mapping.bound, largest) > MAX_UNITS:
        remedy = "a coarser grid" if mapping.construction == "relay" else "--construction relay or a coarser grid"
        raise ProofError(f"numbers reach {bits} bits in units of delta, float64 holds 53: {remedy} would fit")
