"""The value mapping with windows of four ReLUs (Appendix F): a layer for each cell H and token k, in their order.

    Z <- Z + ((A_{H-E})_k - g_c(H)_k) w(u^T Z - u^T g_c(H)_k 1^T),   w = 1 up to delta/4, 0 from delta/2 on

Every layer acts on what the layers before it left. Ids are integers in units of delta, so the window of one id at
most touches a value: the next layer to act on a column is found by bisection, and those between change nothing.
Columns are float64 arrays of any backend.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device

from constructions.soft_relu import ReluTerms, window_terms

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from constructions.mapping import StagedMapping
    from constructions.value_mapping import ValueMapping

    Floats = npt.NDArray[np.float64]

__all__ = ["SoftColumns", "SoftValueMapping", "SoftWindow", "window"]


def window(away: Any) -> Any:
    """Return the window of four ReLUs at a distance in units of delta: 1 up to 1/4, 0 from 1/2 on, linear between.

    Examples
    --------
    >>> window(np.array([0.25, -0.375, 0.5])).tolist()
    [1.0, 0.5, 0.0]
    """
    xp = array_namespace(away)
    return xp.clip(2 - 4 * xp.abs(away), 0.0, 1.0)


class SoftColumns(NamedTuple):
    """Columns in the value mapping: `heights` (m,), u^T Z in units of delta; `entries` (m, d), Z in real units."""

    heights: Any
    entries: Any


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

    identifier: Any
    origin: Any
    output: Any
    levels: int

    @property
    def weights(self) -> Any:
        """K u: what the rows of a column add to u^T Z, in units of delta."""
        return self.levels * _u(self.levels, self.output.shape[-1], self.output)

    @property
    def difference(self) -> Any:
        """A - g_c(H)_k: what the sum of the ReLUs is multiplied by."""
        first = (self.identifier - self.origin @ self.weights[1:]) / self.levels
        return self.output - _column(first, self.origin)

    def relu_terms(self) -> ReluTerms:
        """Return (weight, breakpoint) of the four ReLUs of one (H, k), functions of u^T Z."""
        return window_terms(int(self.identifier))

    def apply(self, state: SoftColumns) -> SoftColumns:
        """Return the columns after the layer: A + (Z - g_c(H)_k) where the window is 1, without cancellation."""
        away = state.heights - self.identifier
        strength = window(away)
        others = state.entries[:, 1:] - self.origin
        rest = _column(away / self.levels - others @ self.weights[1:] / self.levels, others)
        height = away + self.output @ self.weights
        blend = strength[:, None]
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
            yield self._tables(np.array(0.0)).windows(np.array(number))

    def enter(self, ids: Any, quantized: Any) -> SoftColumns:
        """Return the columns after the lift.

        Parameters
        ----------
        ids
            u^T Z in units of delta before any lift, shape (m,).
        quantized
            The columns of X + E after quantization, in units of delta, shape (m, d): rows 2..d are still there.
        """
        levels, others = self.mapping.K, quantized[:, 1:]
        heights = ids + float(self.values.lifted_by)
        first = (heights - others @ _u(levels, self.mapping.d, ids)[1:]) / levels
        return SoftColumns(heights, _column(first, others / levels))

    def apply_literal(self, state: SoftColumns) -> SoftColumns:
        """Apply the layers one by one to all columns."""
        for block in self.blocks():
            state = block.apply(state)
        return state

    def apply(self, state: SoftColumns) -> SoftColumns:
        """Apply all layers at once: for every column only those that touch it, in their order."""
        heights, entries = state
        xp, tables = array_namespace(heights), self._tables(heights)
        index = xp.arange(heights.shape[0], device=device(heights))
        last = xp.full_like(index, -1)
        done = []
        while index.shape[0]:
            found, number = tables.next_window(heights, last)
            done.append((index[~found], heights[~found], entries[~found]))
            index, last = index[found], number[found]
            heights, entries = tables.windows(last).apply(SoftColumns(heights[found], entries[found]))
        if not done:
            return state
        order, heights, entries = (xp.concat(parts, axis=0) for parts in zip(*done, strict=True))
        place = xp.argsort(order)
        return SoftColumns(xp.take(heights, place), xp.take(entries, place, axis=0))

    def _tables(self, like: Any) -> _Tables:
        """Return the tables for the backend and device of an array; made once for each."""
        key = array_namespace(like).__name__, str(device(like))
        if key not in self._made:
            self._made[key] = _Tables(self.values, self.mapping, like)
        return self._made[key]

    @cached_property
    def _made(self) -> dict[tuple[str, str], _Tables]:
        return {}


class _Tables:
    """The windows by number, cell * n + token, and by id, as arrays of one backend."""

    def __init__(self, values: ValueMapping, mapping: StagedMapping, like: Any) -> None:
        self.xp, self.d, self.n, self.levels = array_namespace(like), mapping.d, mapping.pattern.n, mapping.K

        def put(array: npt.NDArray[Any]) -> Any:
            return self.xp.asarray(array, device=device(like), copy=True)  # PyTorch shares no read-only memory

        ids: Floats = values.ids.ravel().astype(np.float64) + float(values.lifted_by)
        known, place = np.unique(ids, return_inverse=True)
        rows, tokens = np.arange(1, self.d), np.arange(self.n)[:, np.newaxis]
        # flatten copies: PyTorch shares memory, and warns of arrays that are read-only
        self.ids, self.outputs, self.known = put(ids), put(values.outputs.flatten()), put(known)
        # rising: (place of its id) * windows + number of every window
        self.keys = put(np.sort(place.ravel() * ids.size + np.arange(ids.size)))
        self.shift = put((mapping.step * mapping.positions).astype(np.int64))
        self.place = put(self.levels ** (self.d * self.n - 1 - (rows * self.n + tokens)))  # of a digit of the cell
        self.row = put(self.n * np.arange(self.d))

    def windows(self, numbers: Any) -> SoftWindow:
        """Return the layers with these numbers."""
        xp, cell, token = self.xp, numbers // self.n, numbers % self.n
        grid = cell[..., None] // xp.take(self.place, token, axis=0) % self.levels
        units = xp.astype(grid + xp.take(self.shift, token)[..., None], xp.float64)
        entry = (cell * (self.d * self.n) + token)[..., None] + self.row
        output = xp.reshape(xp.take(self.outputs, xp.reshape(entry, (-1,))), entry.shape)
        return SoftWindow(xp.take(self.ids, numbers), units / self.levels, output, self.levels)

    def next_window(self, heights: Any, last: Any) -> tuple[Any, Any]:
        """Return whether a window after number `last` touches each height, and the number of the first one."""
        xp, windows = self.xp, self.keys.shape[0]
        nearest = xp.round(heights)
        place = xp.clip(xp.searchsorted(self.known, nearest), 0, self.known.shape[0] - 1)
        touched = (xp.take(self.known, place) == nearest) & (window(heights - nearest) > 0)
        where = xp.searchsorted(self.keys, place * windows + last, side="right")
        key = xp.take(self.keys, xp.clip(where, 0, windows - 1))
        return touched & (where < windows) & (key // windows == place), key % windows


def _u(levels: int, d: int, like: Any) -> Any:
    """Return u = (1, K, ..., K^{d-1}) as floats."""
    xp = array_namespace(like)
    return xp.asarray(float(levels) ** np.arange(d), device=device(like))


def _column(first: Any, others: Any) -> Any:
    """Put row 1 in front of rows 2..d: shapes (...), (..., d - 1)."""
    return array_namespace(others).concat([first[..., None], others], axis=-1)
