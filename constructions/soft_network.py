"""The whole relaxed network: quantization with ramps, relaxed ids, windows of ReLUs (Lemma 4, Appendix F)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device, is_array_api_obj

from constructions.numbers import ProofError
from constructions.soft_mapping import check_fits
from constructions.soft_quantization import SoftQuantization
from constructions.soft_relu import check_alpha
from constructions.soft_value_mapping import SoftValueMapping

if TYPE_CHECKING:
    from constructions.network import Network
    from constructions.soft_mapping import SoftMapping

__all__ = ["SoftNetwork", "SoftOutput"]


class SoftOutput(NamedTuple):
    """What a relaxed network makes of inputs: `ids` (..., n) in units of delta, `columns` g(X) (..., d, n)."""

    ids: Any
    columns: Any


@dataclass(frozen=True, eq=False)
class SoftNetwork:
    """A whole network with rho and ReLU; `relaxation.soften` makes it.

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

    def run(self, x: Any) -> SoftOutput:
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
            xp.asarray(array, device=device(units), copy=True)
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
