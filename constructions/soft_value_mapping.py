"""The value mapping with windows of four ReLUs (Appendix F): a layer for each cell H and token k, in their order.

    Z <- Z + ((A_{H-E})_k - g_c(H)_k) w(u^T Z - u^T g_c(H)_k 1^T),   w = 1 up to delta/4, 0 from delta/2 on

Every layer acts on what the layers before it left. Ids are integers in units of delta, so the window of one id at
most touches a value: the next layer to act on a column is found by bisection, and those between change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from constructions.soft_relu import ReluTerms, window_terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from constructions.mapping import StagedMapping
    from constructions.value_mapping import ValueMapping
    from theory.patterns import IntArray

    Floats = npt.NDArray[np.float64]

__all__ = ["SoftColumns", "SoftValueMapping", "SoftWindow", "window"]


def window(away: Floats) -> Floats:
    """Return the window of four ReLUs at a distance in units of delta: 1 up to 1/4, 0 from 1/2 on, linear between.

    Examples
    --------
    >>> window(np.array([0.25, -0.375, 0.5])).tolist()
    [1.0, 0.5, 0.0]
    """
    return np.asarray(np.clip(2 - 4 * np.abs(away), 0.0, 1.0))


class SoftColumns(NamedTuple):
    """Columns in the value mapping: `heights` (m,), u^T Z in units of delta; `entries` (m, d), Z in real units."""

    heights: Floats
    entries: Floats


@dataclass(frozen=True, eq=False)
class SoftWindow:
    """The layers of some (H, k), each with its own column; of one (H, k), with all columns.

    Parameters
    ----------
    identifier
        u^T g_c(H)_k in units of delta, lifted if the stage lifts; shape (m,), or () for all columns.
    origin
        H_k, rows 2..d of g_c(H)_k, in real units; shape (m, d - 1) or (d - 1,).
    output
        A; shape (m, d) or (d,).
    levels
        K.
    """

    identifier: Floats
    origin: Floats
    output: Floats
    levels: int

    @property
    def weights(self) -> Floats:
        """K u of rows 2..d: what they add to u^T Z, in units of delta."""
        return float(self.levels) ** np.arange(2, self.output.shape[-1] + 1, dtype=np.float64)

    @property
    def difference(self) -> Floats:
        """A - g_c(H)_k: what the sum of the ReLUs is multiplied by."""
        first = (self.identifier - self.origin @ self.weights) / self.levels
        return np.asarray(self.output - np.concatenate([first[..., np.newaxis], self.origin], axis=-1))

    def relu_terms(self) -> ReluTerms:
        """Return (weight, breakpoint) of the four ReLUs of one (H, k), functions of u^T Z."""
        return window_terms(int(self.identifier))

    def apply(self, state: SoftColumns) -> SoftColumns:
        """Return the columns after the layer: A + (Z - g_c(H)_k) where the window is 1, without cancellation."""
        away = state.heights - self.identifier
        strength = window(away)
        others = state.entries[:, 1:] - self.origin
        rest = np.column_stack([away / self.levels - others @ self.weights / self.levels, others])
        height = away + self.output @ np.concatenate([[self.levels], self.weights])
        blend = strength[:, np.newaxis]
        return SoftColumns(
            (1 - strength) * state.heights + strength * height,
            (1 - blend) * state.entries + blend * (self.output + rest),
        )


@dataclass(frozen=True, eq=False)
class SoftValueMapping:
    """The windows of all cells and tokens, cell after cell.

    Parameters
    ----------
    values
        The value mapping of the hardmax network.
    mapping
        The contextual mapping in front of it.
    """

    values: ValueMapping
    mapping: StagedMapping

    def blocks(self) -> Iterator[SoftWindow]:
        """Iterate the layers in order; before them comes a bias that lifts row 1 by `values.lifted_by` delta."""
        for number in range(self.values.ids.size):
            yield self._windows(np.array(number))

    def enter(self, ids: Floats, quantized: Floats) -> SoftColumns:
        """Return the columns after the lift.

        Parameters
        ----------
        ids
            u^T Z in units of delta before any lift, shape (m,).
        quantized
            The columns of X + E after quantization, in units of delta, shape (m, d): rows 2..d are still there.
        """
        levels = self.mapping.K
        heights = ids + float(self.values.lifted_by)
        entries = quantized / levels
        entries[:, 0] = (heights - quantized[:, 1:] @ self._weights) / levels
        return SoftColumns(heights, entries)

    def apply_literal(self, state: SoftColumns) -> SoftColumns:
        """Apply the layers one by one to all columns."""
        for block in self.blocks():
            state = block.apply(state)
        return state

    def apply(self, state: SoftColumns) -> SoftColumns:
        """Apply all layers at once: for every column only those that touch it, in their order."""
        heights, entries = state.heights.copy(), state.entries.copy()
        active = np.arange(heights.size)
        last: IntArray = np.full(heights.size, -1)
        while active.size:
            found, number = self._next(heights[active], last[active])
            active = active[found]
            last[active] = number[found]
            after = self._windows(last[active]).apply(SoftColumns(heights[active], entries[active]))
            heights[active], entries[active] = after
        return SoftColumns(heights, entries)

    @property
    def _weights(self) -> Floats:
        return float(self.mapping.K) ** np.arange(1, self.mapping.d, dtype=np.float64)

    def _windows(self, numbers: IntArray) -> SoftWindow:
        """Return the layers with these numbers, cell * n + token."""
        mapping, n = self.mapping, self.mapping.pattern.n
        cell, token = np.divmod(numbers, n)
        rows = np.arange(1, mapping.d)
        place = mapping.d * n - 1 - (rows * n + token[..., np.newaxis])  # cells are numbered in base K
        grid = cell[..., np.newaxis] // mapping.K**place % mapping.K
        origin = (grid + mapping.step * mapping.positions[token][..., np.newaxis]) / mapping.K
        identifier = self.values.ids[cell, token].astype(np.float64) + float(self.values.lifted_by)
        return SoftWindow(identifier, origin, self.values.outputs[cell, :, token], mapping.K)

    @cached_property
    def _table(self) -> tuple[Floats, npt.NDArray[np.int64]]:
        """The distinct lifted ids, rising; for every window (place of its id) * windows + number, rising."""
        flat: Floats = self.values.ids.ravel().astype(np.float64) + float(self.values.lifted_by)
        known, place = np.unique(flat, return_inverse=True)
        return known, np.sort(place.ravel() * flat.size + np.arange(flat.size))

    def _next(self, heights: Floats, last: IntArray) -> tuple[npt.NDArray[np.bool_], IntArray]:
        """Return whether a window after number `last` touches each height, and the number of the first one."""
        known, keys = self._table
        nearest = np.rint(heights)
        place = np.minimum(np.searchsorted(known, nearest), known.size - 1)
        touched = (known[place] == nearest) & (window(heights - nearest) > 0)
        where = np.searchsorted(keys, place * keys.size + last, side="right")
        owner, number = np.divmod(keys[np.minimum(where, keys.size - 1)], keys.size)
        return touched & (where < keys.size) & (owner == place), number
