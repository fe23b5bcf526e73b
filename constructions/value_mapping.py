"""The value mapping g_v (Lemma 8): one feed-forward layer for every cell H and token k turns the id into the output.

    Z <- Z + ((A_{H-E})_k - g_c(H)_k) phi(u^T Z - u^T g_c(H)_k 1^T),   phi = 1 on [-delta/2, delta/2), 0 elsewhere

A column is its id, or a written output A carried by reference (window number cell * n + token). The paper does not
say what happens when u^T of a written output falls in the window of a layer still to come; here it raises, and
where it can happen one more layer first lifts every id above all outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import floor
from typing import TYPE_CHECKING, Any

import numpy as np

from constructions.blocks import AffineOnSlot
from constructions.numbers import Integers, ProofError, exact_dtype
from constructions.positional_embedding import spread

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from constructions.targets import Floats
    from theory.patterns import IntArray

__all__ = ["RAW", "Columns", "ValueMapping", "WriteWindow", "build_value_mapping", "output_slots"]

RAW = -1
"""The reference of a column that is no output yet."""

SURE = 2**50  # below this a float64 sum is within a small fraction of a unit


@dataclass(frozen=True, eq=False)
class Columns:
    """The state of the value mapping.

    Parameters
    ----------
    slots
        Shape (..., n): the id, or of a written output A the integer m with u^T A in [m - 1/2, m + 1/2), in units
        of delta: the id whose window it would meet.
    references
        Shape (..., n): the window that wrote the column, RAW where none did.
    """

    slots: Integers
    references: IntArray


@dataclass(frozen=True)
class WriteWindow:
    """The layer of one (H, k).

    Parameters
    ----------
    window
        Its number, cell * n + token.
    identifier
        u^T g_c(H)_k in units of delta, lifted if the stage lifts.
    slot
        Where u^T of its output lies.
    """

    window: int
    identifier: int
    slot: int

    def apply(self, state: Columns) -> Columns:
        """Return the state after the layer.

        Raises
        ------
        ProofError
            If the window meets an output already written.
        """
        met = state.slots == self.identifier
        if np.any(met & (state.references != RAW)):
            raise _overwritten(int(state.references[met & (state.references != RAW)][0]), self.window)
        return Columns(np.where(met, self.slot, state.slots), np.where(met, self.window, state.references))


@dataclass(frozen=True, eq=False)
class ValueMapping:
    """The windows of all cells and tokens, cell after cell.

    Parameters
    ----------
    ids
        Shape (cells, n): g_c's ids before any lift.
    outputs
        Shape (cells, d, n), float64: A_G.
    slots
        Shape (cells, n): where u^T of every output lies (`output_slots`).
    lifted_by
        What the additional first layer adds to every id, in units of delta; 0 where there is none.
    """

    ids: Integers
    outputs: Floats
    slots: Integers
    lifted_by: int

    @property
    def name(self) -> str:
        """What the stage does."""
        return "value mapping"

    @property
    def attention_layers(self) -> int:
        """None: the attention sublayers are identities."""
        return 0

    @property
    def feed_forward_layers(self) -> int:
        """Return n/delta^{dn} when every cell has its windows, and one more to lift."""
        return int(self.ids.size) + (self.lifted_by != 0)

    @property
    def below_ids(self) -> bool:
        """Whether every u^T A stays below every window before any lift: sufficient for Lemma 8."""
        return bool(self.slots.max() < self.ids.min())

    @cached_property
    def table(self) -> tuple[Integers, IntArray, IntArray]:
        """The ids in order, lifted, each with the first and last window that has it."""
        flat = self.ids.ravel()
        order = np.argsort(flat, kind="stable")
        ranked = flat[order]
        first = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
        last = np.append(first[1:], ranked.size) - 1
        return ranked[first] + self.lifted_by, order[first], order[last]

    def look_up(self, identifiers: Integers) -> tuple[npt.NDArray[np.bool_], IntArray]:
        """Return whether each lifted id is in the table, and where it is or would be."""
        known, _, _ = self.table
        place = np.minimum(np.searchsorted(known, identifiers), known.size - 1)
        return np.asarray(known[place] == identifiers, dtype=bool), place

    @cached_property
    def overwriting(self) -> IntArray:
        """For every window the last window that its output would fall into, RAW where it is safe."""
        found, place = self.look_up(self.slots.ravel())
        later = np.where(found, self.table[2][place], RAW)
        return np.where(later > np.arange(later.size), later, RAW)

    @cached_property
    def lift(self) -> AffineOnSlot | None:
        """The additional layer, or None."""
        if not self.lifted_by:
            return None
        return AffineOnSlot(int(self.ids.min()), int(self.ids.max()), 1, self.lifted_by)

    def blocks(self) -> Iterator[AffineOnSlot | WriteWindow]:
        """Iterate the layers in order."""
        if self.lift:
            yield self.lift
        pairs = zip(self.ids.ravel().tolist(), self.slots.ravel().tolist(), strict=True)
        for window, (identifier, slot) in enumerate(pairs):
            yield WriteWindow(window, identifier + self.lifted_by, slot)

    def apply_literal(self, identifiers: Integers) -> IntArray:
        """Apply the layers one by one; returns references, shape (..., n)."""
        state = Columns(self._wide(identifiers), np.full(identifiers.shape, RAW))
        for block in self.blocks():
            state = block.apply(state) if isinstance(block, WriteWindow) else self._lifted(state)
        return state.references

    def apply(self, identifiers: Integers) -> IntArray:
        """Apply all layers at once: one bisection an id.

        Parameters
        ----------
        identifiers
            Ids before any lift, shape (..., n).

        Returns
        -------
        IntArray
            References, shape (..., n); RAW where an id belongs to no window: such a column keeps its raw id.

        Raises
        ------
        ProofError
            If a written output falls in the window of a layer still to come.
        """
        state = self._lifted(Columns(self._wide(identifiers), np.full(identifiers.shape, RAW)))
        found, place = self.look_up(state.slots)
        references = np.where(found, self.table[1][place], RAW)
        written = references[references != RAW]
        struck = written[self.overwriting[written] != RAW]
        if struck.size:
            raise _overwritten(int(struck[0]), int(self.overwriting[struck[0]]))
        return references

    def read(self, references: IntArray) -> Floats:
        """Return the columns A of references (..., n), shape (..., d, n); NaN where a column is raw."""
        n = self.ids.shape[1]
        columns = np.moveaxis(self.outputs, 1, 2).reshape(self.ids.size, -1)[np.maximum(references, 0)]
        columns[references == RAW] = np.nan
        return np.moveaxis(columns, -1, -2) if n else columns

    def _wide(self, identifiers: Integers) -> Integers:
        """Return the ids in a dtype that holds lifted ids and output slots."""
        return identifiers.astype(self.slots.dtype, copy=False)

    def _lifted(self, state: Columns) -> Columns:
        """Apply the additional layer, if any, to columns that are all ids."""
        if not self.lift:
            return state
        inside = (state.slots >= self.lift.low) & (state.slots <= self.lift.high)
        return Columns(np.where(inside, state.slots + self.lifted_by, state.slots), state.references)


def build_value_mapping(ids: Integers, outputs: Floats, levels: int) -> ValueMapping:
    """Build g_v for cells with these ids and outputs; lift the ids where a later window could meet an output.

    Parameters
    ----------
    ids
        Shape (cells, n).
    outputs
        Shape (cells, d, n), float64.
    levels
        K = 1/delta.

    Examples
    --------
    >>> ids = np.array([[5, 6], [8, 7]])
    >>> quiet = build_value_mapping(ids, np.full((2, 1, 2), 0.25), levels=2)
    >>> quiet.lifted_by, quiet.feed_forward_layers, quiet.apply(np.array([7, 4])).tolist()
    (0, 4, [3, -1])
    >>> loud = build_value_mapping(ids, np.full((2, 1, 2), 4.0), levels=2)
    >>> loud.lifted_by, loud.feed_forward_layers, loud.apply(np.array([7, 4])).tolist()
    (4, 5, [3, -1])
    """
    slots = output_slots(outputs, levels)
    least, greatest = int(slots.min()), int(slots.max())
    low, high = int(ids.min()), int(ids.max())
    lift = max(greatest + 1 - low, 0)
    dtype = exact_dtype(max(abs(least), abs(greatest), abs(low), high + lift))
    wide = [array.astype(dtype, copy=False) for array in (ids, slots)]
    mapping = ValueMapping(wide[0], outputs, wide[1], 0)
    if mapping.below_ids or (mapping.overwriting == RAW).all():
        return mapping
    return ValueMapping(wide[0], outputs, wide[1], lift)


def output_slots(outputs: Floats, levels: int) -> Integers:
    """Return floor(K u^T A + 1/2), exactly, for every column: the id whose window the output A would meet.

    Parameters
    ----------
    outputs
        Shape (..., d, n); read as the exact rationals that floats are.

    Examples
    --------
    >>> output_slots(np.array([[0.25, 0.2499999]]), levels=2).tolist()
    [1, 0]
    """
    d = outputs.shape[-2]
    weights = [levels ** (i + 1) for i in range(d)]
    largest = Fraction(float(np.abs(outputs).max(initial=0))) * levels * spread(d, levels) + 1
    if largest >= SURE or weights[-1] >= SURE:
        exact = np.frompyfunc(lambda *column: floor(_units(column, weights) + Fraction(1, 2)), d, 1)
        return np.asarray(exact(*np.moveaxis(outputs, -2, 0)), dtype=object).astype(exact_dtype(floor(largest)))
    units = np.einsum("...ik,i->...k", outputs, np.array(weights, dtype=np.float64)) + 0.5
    slots = np.floor(units).astype(np.int64)
    # The sum's rounding error is below (d + 2) 2^-52 times the sum of the absolute terms.
    margin = float(largest) * (d + 2) * 2.0**-52
    doubtful = np.abs(units - np.rint(units)) <= margin
    for place in np.argwhere(doubtful):
        column = outputs[(*place[:-1], slice(None), place[-1])].tolist()
        slots[tuple(place)] = floor(_units(column, weights) + Fraction(1, 2))
    return slots


def _units(column: Any, weights: list[int]) -> Fraction:
    """Return u^T A of one column, exactly, in units of delta."""
    return sum((weight * Fraction(entry) for weight, entry in zip(weights, column, strict=True)), Fraction(0))


def _overwritten(window: int, later: int) -> ProofError:
    return ProofError(
        f"the output written by window {window} falls in the window {later} of a layer still to come"
    )
