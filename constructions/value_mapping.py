"""The value mapping g_v (Lemma 8): one feed-forward layer for each cell H and token k writes the output.

    Z <- Z + ((A_{H-E})_k - g_c(H)_k) phi(u^T Z - u^T g_c(H)_k 1^T),   phi = 1 on [-delta/2, delta/2), 0 elsewhere

A column is its id, or a written output A carried by reference (window number cell * n + token). The paper is
silent on a written output whose u^T falls in the window of a layer still to come; here it raises, and where it
can happen one more layer first lifts every id above all outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from constructions.backends import to_host
from constructions.numbers import Integers, ProofError, exact_dtype
from constructions.output_slots import output_slots
from theory.read_only import ReadOnly, read_only

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from constructions.targets import Floats
    from theory.patterns import IntArray

__all__ = ["RAW", "Columns", "LiftIds", "ValueMapping", "WriteWindow", "build_value_mapping"]

RAW = -1
"""The reference of a column that is still an id."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The state of the value mapping.

    Parameters
    ----------
    slots
        Shape (..., n), in units of delta: the id; of a written output A the integer m with u^T A in
        [m - 1/2, m + 1/2), the id whose window it would meet.
    references
        Shape (..., n): the window that wrote the column, RAW where none did.
    """

    slots: Integers
    references: IntArray


@dataclass(frozen=True)
class LiftIds:
    """The additional layer: a bias that adds `by` to u^T Z_k of every column."""

    by: int

    def apply(self, state: Columns) -> Columns:
        """Return the state after the layer."""
        return Columns(state.slots + self.by, state.references)


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
        written = state.references[met & (state.references != RAW)]
        if written.size:
            raise _overwritten(int(written[0]), self.window)
        return Columns(np.where(met, self.slot, state.slots), np.where(met, self.window, state.references))


@dataclass(frozen=True, eq=False)
class ValueMapping(ReadOnly):
    """The windows of all cells and tokens, cell after cell; see `build_value_mapping`.

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

    @property
    def sound(self) -> bool:
        """Whether no output that is ever written meets a window still to come; exact."""
        return self.below_ids or bool((self.overwriting[self._table[1]] == RAW).all())

    @property
    def lift(self) -> LiftIds | None:
        """The additional layer, or None."""
        return LiftIds(self.lifted_by) if self.lifted_by else None

    def blocks(self, cells: Sequence[int] | None = None) -> Iterator[LiftIds | WriteWindow]:
        """Iterate the layers in order; of some cells, the lift and their windows, in the order given."""
        if self.lift:
            yield self.lift
        numbers = np.arange(self.ids.size).reshape(self.ids.shape)
        tables = (
            (numbers, self.ids, self.slots)
            if cells is None
            else (table[cells] for table in (numbers, self.ids, self.slots))
        )
        for window, identifier, slot in zip(*(table.ravel().tolist() for table in tables), strict=True):
            yield WriteWindow(window, identifier + self.lifted_by, slot)

    def start(self, identifiers: Any) -> Columns:
        """Return the state before the stage: all columns raw, in a dtype that also holds what is to come.

        The table is on the host, and so is the state: ids of another backend are fetched.
        """
        identifiers = to_host(identifiers)
        wide = identifiers.astype(np.result_type(identifiers, self.slots))
        return Columns(wide, np.full(identifiers.shape, RAW))

    def apply_literal(self, identifiers: Any) -> IntArray:
        """Apply the layers one by one; equal to `apply`, or both raise."""
        state = self.start(identifiers)
        for block in self.blocks():
            state = block.apply(state)
        return state.references

    def apply(self, identifiers: Any) -> IntArray:
        """Apply all layers at once: one bisection an id.

        Parameters
        ----------
        identifiers
            Ids before any lift, shape (..., n), an array of any backend.

        Returns
        -------
        IntArray
            References, shape (..., n), a NumPy array; RAW where an id belongs to no window: such a column keeps
            its raw id.

        Raises
        ------
        ProofError
            If a written output falls in the window of a layer still to come.
        """
        state = self.start(identifiers)
        found, place = self._look_up((self.lift.apply(state) if self.lift else state).slots)
        references = np.where(found, self._table[1][place], RAW)
        written = references[found]
        struck = written[self.overwriting[written] != RAW]
        if struck.size:
            raise _overwritten(int(struck[0]), int(self.overwriting[struck[0]]))
        return references

    def read(self, references: IntArray) -> Floats:
        """Return the columns A of references (..., n), shape (..., d, n); NaN where a column is raw."""
        columns = np.moveaxis(self.outputs, 1, 2).reshape(self.ids.size, -1)[np.maximum(references, 0)]
        columns[references == RAW] = np.nan
        return np.moveaxis(columns, -1, -2)

    @cached_property
    def overwriting(self) -> IntArray:
        """For every window the last later window that its output would meet, RAW where it is safe."""
        found, place = self._look_up(self.slots.ravel())
        later = np.where(found, self._table[2][place], RAW)
        return read_only(np.where(later > np.arange(later.size), later, RAW))

    @cached_property
    def _table(self) -> tuple[Integers, IntArray, IntArray]:
        """The lifted ids in order, each with the first and the last window that has it."""
        flat = self.ids.ravel()
        order = np.argsort(flat, kind="stable")
        ranked = flat[order]
        first = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
        last = np.append(first[1:], ranked.size) - 1
        return read_only((ranked[first] + self.lifted_by, order[first], order[last]))

    def _look_up(self, lifted: Integers) -> tuple[npt.NDArray[np.bool_], IntArray]:
        """Return whether each lifted id has a window, and where in the table it is or would be."""
        known = self._table[0].astype(lifted.dtype, copy=False)
        place = np.minimum(np.searchsorted(known, lifted), known.size - 1)
        return np.asarray(known[place] == lifted, dtype=bool), place


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
    lift = max(int(slots.max()) + 1 - int(ids.min()), 0)
    dtype = exact_dtype(
        max(abs(int(slots.min())), abs(int(slots.max())), abs(int(ids.min())), int(ids.max()) + lift)
    )
    ids, slots = ids.astype(dtype, copy=False), slots.astype(dtype, copy=False)
    plain = ValueMapping(ids, outputs, slots, 0)
    return plain if plain.sound else ValueMapping(ids, outputs, slots, lift)


def _overwritten(window: int, later: int) -> ProofError:
    return ProofError(f"the output of window {window} falls in the window {later} of a layer still to come")
