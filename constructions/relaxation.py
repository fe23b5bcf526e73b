"""Step 3 of the proof as something one can run: rho[t .] for hardmax, ReLUs for the pieces (Lemma 4, Appendix F).

`soften` turns a contextual mapping or a whole network, of any construction, into a Transformer with softmax (or
another map with Assumption 2) and ReLU. Runs are float64, over the connections only, on any array backend.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

from constructions.backends import NUMPY, Backend
from constructions.network import Network
from constructions.numbers import ProofError
from constructions.soft_blocks import SoftBlock, runs_on, soften_block
from constructions.soft_quantization import SoftQuantization
from constructions.soft_relu import check_alpha
from constructions.soft_value_mapping import SoftValueMapping
from theory.hops.columns import usable_cores

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from constructions.mapping import StagedMapping
    from theory.probability_maps import ProbabilityMap

__all__ = ["MAX_UNITS", "RUNAWAY", "SoftMapping", "SoftNetwork", "SoftOutput", "check_fits", "soften"]

MAX_UNITS = 2**53
"""Numbers up to here are exact in float64; beyond, ids a unit apart could not be told apart."""

RUNAWAY = 1e100
"""Where a run is given up: at a small t, shifts that should be off can multiply numbers layer after layer."""

LARGEST_T = 1e100
"""With this, and numbers up to `RUNAWAY`, no score overflows."""

SHARE = 2**13  # numbers of a state that are worth a thread of their own

STATES = {"numpy": 2**16, "torch": 2**15 - 1, "cuda": 2**22}
"""Numbers of a state run at once: on a CPU, it stays in its cache."""

WORKERS = usable_cores()
"""Threads of a NumPy run; PyTorch has its own."""


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
        _keep_freed_memory()
        xp, place, n = array_namespace(values), runs_on(values), self.mapping.pattern.n
        flat = xp.reshape(values, (-1, n))
        workers = WORKERS if place == "numpy" and self.rho.proved else 1  # the user's own map may not bear threads
        size = max(1, min(STATES[place] // n, max(-(-flat.shape[0] // workers), SHARE // n)))
        ends = [*range(0, flat.shape[0], size), flat.shape[0]]
        chunks = [flat[a:b, :] for a, b in pairwise(ends)]
        if workers > 1 and len(chunks) > 1:
            with ThreadPoolExecutor(workers) as pool:
                done = list(pool.map(self._end, chunks))
        else:
            done = [self._end(chunk) for chunk in chunks]
        return xp.reshape(xp.concat(done, axis=0), values.shape) if done else values

    def _end(self, values: Any) -> Any:
        """Return the state after all layers."""
        values = _tokens_first(values)
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


@cache
def _keep_freed_memory() -> None:
    """Free a large block once: up to then glibc hands freed arrays back to the system, and takes them anew."""
    np.empty(31 * 2**20, dtype=np.uint8)


def _tokens_first(values: Any) -> Any:
    """Return a state (..., n) whose memory has the tokens first, as the blocks read and write it."""
    xp = array_namespace(values)
    first = xp.moveaxis(values, -1, 0)
    copied = xp.take(first, xp.arange(first.shape[0], device=device(values)), axis=0)
    return xp.moveaxis(copied, 0, -1)


class SoftOutput(NamedTuple):
    """What a relaxed network makes of inputs: `ids` (..., n) in units of delta, `columns` g(X) (..., d, n)."""

    ids: Any
    columns: Any


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
        return self.run_units(_floats(x) * self.mapping.mapping.K)

    def run_units(self, y: Any) -> SoftOutput:
        """Run the network on inputs y = X/delta in [0, K)^{d x n}, shape (..., d, n).

        Parameters
        ----------
        y
            Lists and NumPy arrays are run on the backend and come back as NumPy arrays, arrays of another library
            stay where they are.

        Raises
        ------
        ProofError
            If the shape is not (..., d, n), or an input lies outside [0, K).
        """
        units, backend = _floats(y), self.mapping.backend
        if isinstance(units, np.ndarray):
            return SoftOutput(*map(backend.fetch, self._run(backend.put(units))))
        return self._run(units)

    def _run(self, units: Any) -> SoftOutput:
        xp, hard = array_namespace(units), self.mapping.mapping
        d, n, levels = hard.d, hard.pattern.n, hard.K
        if units.shape[-2:] != (d, n):
            raise ProofError(f"inputs must have shape (..., {d}, {n}), not {tuple(units.shape)}")
        if not bool(xp.all((units >= 0) & (units < levels))):
            raise ProofError("inputs must lie in [0, 1)")
        place, weights = (
            xp.asarray(array, device=device(units))
            for array in (hard.positions * float(hard.step), float(levels) ** np.arange(d)[:, np.newaxis])
        )
        quantized = self.quantization.apply(units + place)
        ids = self.mapping.run(xp.sum(quantized * weights, axis=-2))
        columns = xp.moveaxis(quantized, -2, -1)
        entered = self.values.enter(xp.reshape(ids, (-1,)), xp.reshape(columns, (-1, d)))
        written = self.values.apply(entered)
        return SoftOutput(ids, xp.moveaxis(xp.reshape(written.entries, columns.shape), -1, -2))


def _floats(x: Any) -> Any:
    """Return lists and NumPy arrays as float64, other arrays as they are."""
    return x if is_array_api_obj(x) and not isinstance(x, np.ndarray) else np.asarray(x, dtype=np.float64)


@overload
def soften(
    subject: StagedMapping, rho: ProbabilityMap, t: float, *, backend: Backend | None = None
) -> SoftMapping: ...
@overload
def soften(
    subject: Network, rho: ProbabilityMap, t: float, alpha: float, *, backend: Backend | None = None
) -> SoftNetwork: ...
def soften(
    subject: StagedMapping | Network,
    rho: ProbabilityMap,
    t: float,
    alpha: float | None = None,
    *,
    backend: Backend | None = None,
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
    backend
        Where NumPy arrays are run; results come back as NumPy arrays. None takes the mapping's.

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
        mapping = subject.mapping
        return SoftNetwork(subject, SoftMapping(mapping, rho, t, backend or mapping.backend), alpha)
    return SoftMapping(subject, rho, t, backend or subject.backend)


def check_fits(mapping: StagedMapping, largest: int = 0) -> None:
    """Raise ProofError if the numbers of a run, or `largest`, pass 2^53 units of delta."""
    bits = max(mapping.bound, largest).bit_length()
    if max(mapping.bound, largest) > MAX_UNITS:
        remedy = "a coarser grid" if mapping.construction == "relay" else "--construction relay or a coarser grid"
        raise ProofError(f"numbers reach {bits} bits in units of delta, float64 holds 53: {remedy} would fit")
