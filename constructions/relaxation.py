"""Step 3 of the proof as something one can run: rho[t .] for hardmax, ReLUs for the pieces (Lemma 4, Appendix F).

`soften` turns a contextual mapping or a whole network, of any construction, into a Transformer with softmax (or
another map with Assumption 2) and ReLU. Runs are float64, over the connections only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, overload

import numpy as np

from constructions.network import Network
from constructions.numbers import ProofError
from constructions.soft_blocks import SoftBlock, soften_block
from constructions.soft_quantization import SoftQuantization
from constructions.soft_relu import check_alpha
from constructions.soft_value_mapping import SoftValueMapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from constructions.mapping import StagedMapping
    from theory.probability_maps import ProbabilityMap

    Floats = npt.NDArray[np.float64]

__all__ = ["MAX_UNITS", "RUNAWAY", "SoftMapping", "SoftNetwork", "SoftOutput", "check_fits", "soften"]

MAX_UNITS = 2**53
"""Numbers up to here are exact in float64; beyond, ids a unit apart could not be told apart."""

RUNAWAY = 1e100
"""Where a run is given up: at a small t, shifts that should be off can multiply numbers layer after layer."""

CHUNK = 2**20  # numbers gathered at once


class SoftLayer(NamedTuple):
    """A layer of a soft run: its stage, and the relaxed block."""

    stage: str
    block: SoftBlock


@dataclass(frozen=True, eq=False)
class SoftMapping:
    """A contextual mapping with rho[t .] in both heads of every attention block; see `soften`.

    Parameters
    ----------
    mapping
        The hardmax mapping.
    rho
        The probability map.
    t
        Its temperature: rho gets t times the scores.
    """

    mapping: StagedMapping
    rho: ProbabilityMap
    t: float

    def __post_init__(self) -> None:
        if not 0 < self.t < np.inf:
            raise ProofError(f"t must be positive and finite, got {self.t}")
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

    def ids(self, grids: npt.ArrayLike) -> Floats:
        """Return the relaxed ids, shape (..., n), in units of delta; NaN where a run passed `RUNAWAY`.

        Parameters
        ----------
        grids
            Integers 0..K-1 in units of delta, shape (..., d, n).
        """
        return self.run(self.mapping.initial(grids).astype(np.float64))

    def run(self, values: Floats) -> Floats:
        """Return the state after all layers, given u^T H_k in units of delta; shape (..., n)."""
        n = self.mapping.pattern.n
        flat = values.reshape(-1, n)
        size = max(1, CHUNK // max(layer.count for layer in self.mapping.pattern.layers))
        done = np.empty(flat.shape)
        for start in range(0, len(flat), size):
            state = flat[start : start + size]
            for _, after in self.trace(state):
                state = after
            done[start : start + size] = state
        return done.reshape(values.shape)

    def trace(self, values: Floats) -> Iterator[tuple[SoftLayer, Floats]]:
        """Iterate every layer with the state after it; shape (..., n) as `values`."""
        lost = np.zeros((*values.shape[:-1], 1), dtype=bool)
        for layer in self.layers:
            values = layer.block.apply(values, self.mapping.pattern)
            lost |= ~(np.abs(values) < RUNAWAY).all(axis=-1, keepdims=True)
            if lost.any():
                values = np.where(lost, 0.0, values)
            yield layer, np.where(lost, np.nan, values) if lost.any() else values


class SoftOutput(NamedTuple):
    """What a relaxed network makes of inputs: `ids` (..., n) in units of delta, `columns` g(X) (..., d, n)."""

    ids: Floats
    columns: Floats


@dataclass(frozen=True, eq=False)
class SoftNetwork:
    """A whole network with rho and ReLU; see `soften`.

    Parameters
    ----------
    network
        The hardmax network.
    mapping
        Its contextual mapping, relaxed.
    alpha
        The share of every cell on which quantization is a ramp.
    """

    network: Network
    mapping: SoftMapping
    alpha: float

    def __post_init__(self) -> None:
        values = self.network.values
        check_alpha(self.alpha)
        check_fits(self.mapping.mapping, int(values.ids.max()) + values.lifted_by)

    @cached_property
    def quantization(self) -> SoftQuantization:
        """The relaxed g_q."""
        hard = self.mapping.mapping
        return SoftQuantization(hard.d, hard.pattern.n, hard.K, self.alpha)

    @cached_property
    def values(self) -> SoftValueMapping:
        """The relaxed g_v."""
        return SoftValueMapping(self.network.values, self.mapping.mapping)

    def run(self, x: npt.ArrayLike) -> SoftOutput:
        """Run the network on real inputs X in [0,1)^{d x n}, shape (..., d, n).

        X/delta is rounded to float64 first, so that 0.3 is the corner of a cell at delta = 1/10.
        """
        return self.run_units(np.asarray(x, dtype=np.float64) * self.mapping.mapping.K)

    def run_units(self, y: npt.ArrayLike) -> SoftOutput:
        """Run the network on inputs y = X/delta in [0, K)^{d x n}, shape (..., d, n).

        Raises
        ------
        ProofError
            If the shape is not (..., d, n), or an input lies outside [0, K).
        """
        hard = self.mapping.mapping
        d, n, levels = hard.d, hard.pattern.n, hard.K
        units = np.asarray(y, dtype=np.float64)
        if units.shape[-2:] != (d, n):
            raise ProofError(f"inputs must have shape (..., {d}, {n}), not {units.shape}")
        if not np.all((units >= 0) & (units < levels)):
            raise ProofError("inputs must lie in [0, 1)")
        quantized = self.quantization.apply(units + hard.positions * float(hard.step))
        ids = self.mapping.run(np.einsum("...ik,i->...k", quantized, float(levels) ** np.arange(d)))
        columns = np.moveaxis(quantized, -2, -1)
        written = self.values.apply(self.values.enter(ids.ravel(), columns.reshape(-1, d)))
        return SoftOutput(ids, np.moveaxis(written.entries.reshape(columns.shape), -1, -2))


@overload
def soften(subject: StagedMapping, rho: ProbabilityMap, t: float) -> SoftMapping: ...
@overload
def soften(subject: Network, rho: ProbabilityMap, t: float, alpha: float) -> SoftNetwork: ...
def soften(
    subject: StagedMapping | Network, rho: ProbabilityMap, t: float, alpha: float | None = None
) -> SoftMapping | SoftNetwork:
    """Put rho[t .] for hardmax and ReLUs for the piecewise linear activations.

    Parameters
    ----------
    subject
        A contextual mapping or a network, of any construction.
    rho
        The probability map.
    t
        The temperature, positive.
    alpha
        For a network: the ramp's share of every cell, in (0, 1). Inputs without a coordinate in a ramp, of measure
        (1 - alpha)^{dn}, are quantized exactly.

    Raises
    ------
    ProofError
        If numbers of the run pass 2^53 units of delta (float64 would not tell ids apart), t is not positive, or
        alpha is missing or out of range.

    Examples
    --------
    >>> from constructions.network import choose_mapping
    >>> from theory import families
    >>> from theory.probability_maps import parse_map
    >>> mapping = choose_mapping(families.star(4, 1), 1, 2, "relay")
    >>> soften(mapping, parse_map("sparsemax"), 8.0).ids([[1, 0, 1, 1]]).tolist()
    [21.0, 37.0, 53.0, 69.0]
    >>> mapping.ids([[1, 0, 1, 1]]).tolist()
    [21, 37, 53, 69]
    """
    if isinstance(subject, Network):
        if alpha is None:
            raise ProofError("a network needs alpha, the share of every cell given to the ramp")
        return SoftNetwork(subject, SoftMapping(subject.mapping, rho, t), alpha)
    return SoftMapping(subject, rho, t)


def check_fits(mapping: StagedMapping, largest: int = 0) -> None:
    """Raise ProofError if the numbers of a run, or `largest`, pass 2^53 units of delta."""
    bits = max(mapping.bound, largest).bit_length()
    if max(mapping.bound, largest) > MAX_UNITS:
        remedy = "a coarser grid" if mapping.construction == "relay" else "--construction relay or a coarser grid"
        raise ProofError(f"numbers reach {bits} bits in units of delta, float64 holds 53: {remedy} would fit")
