"""The statements about the network around the contextual mapping: Lemmas 6 (quantization), 8 (values) and 3."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from constructions.positional_embedding import embed
from constructions.quantization import Quantization
from constructions.value_mapping import RAW
from verify.lemma_check import Lemma, Witness, first_bad

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from constructions.network import Network
    from constructions.targets import Floats
    from theory.patterns import IntArray
    from verify.input_set import Bools, InputSet
    from verify.lemma_check import Subject
    from verify.lemma_trace import Trace

__all__ = ["LEMMA_3", "LEMMA_6", "LEMMA_8", "RESOLUTION", "points_in_cells"]

RESOLUTION = 8
"""Points of a cell lie on multiples of delta/8."""

ROUNDING = 1e-9  # how far A_G may be from f(G), relative to 1 + |f(G)|: f is run on another batch


def points_in_cells(grids: IntArray) -> Iterator[IntArray]:
    """Iterate points of the cells G + [0,delta)^{d x n}, in units of delta/8: lower and upper corner, and inside.

    Examples
    --------
    >>> [points.tolist() for points in points_in_cells(np.array([[[0, 1]]]))][:2]
    [[[[0, 8]]], [[[7, 15]]]]
    """
    corners = grids * RESOLUTION
    yield corners
    yield corners + RESOLUTION - 1
    yield corners + np.random.default_rng(0).integers(RESOLUTION, size=grids.shape)


def _quantized(trace: Trace) -> Witness | None:
    """Lemma 6: every point of a cell comes out as the cell's lower corner, embedded."""
    mapping, grids = trace.mapping, trace.grids
    quantization = Quantization(mapping.d, mapping.pattern.n, mapping.K, RESOLUTION)
    wanted = embed(grids * RESOLUTION, mapping.positions, mapping.step * RESOLUTION)
    for points in points_in_cells(grids):
        found = quantization.apply(embed(points, mapping.positions, mapping.step * RESOLUTION))
        wrong = np.asarray(found != wanted)
        if wrong.any():
            row = wrong.argmax(axis=1)[:, None]  # of every column the first wrong entry
            point, own, corner = (np.take_along_axis(m, row, axis=1)[:, 0] for m in (points, found, wanted))
            why = f"not on the corner of its cell (in units of delta/{RESOLUTION}, with the embedding)"
            return first_bad(_columns(wrong), grids, why, point=point, found=own, corner=corner)
    return None


def _written(subject: Subject, inputs: InputSet) -> Witness | None:
    """Lemma 8: from its id, every column becomes A_G bit for bit, and no output meets a later window."""
    network = cast("Network", subject)
    values, n = network.values, inputs.n
    struck = np.flatnonzero(values.overwriting != RAW)
    if struck.size:
        window, later = int(struck[0]), int(values.overwriting[struck[0]])
        numbers = {"window": window, "later": later, "slot": int(values.slots.flat[window])}
        return Witness(None, window % n, numbers, "its output falls in a window still to come")

    def look(trace: Trace) -> Witness | None:
        references = values.apply(trace.q)
        numbers = cell_numbers(trace.grids, trace.mapping.K)
        wrong = _differ(values.read(references), values.outputs[numbers])
        wanted = numbers[:, None] * n + np.arange(n)
        return first_bad(
            wrong, trace.grids, "not A_G after the value mapping", written_by=references, window=wanted
        )

    return _searched(look, network, inputs)


def _composed(subject: Subject, inputs: InputSet) -> Witness | None:
    """Lemma 3: gbar(X) = A_G for points X of the cell of G, and A_G is f(G)."""
    network = cast("Network", subject)

    def look(trace: Trace) -> Witness | None:
        grids = trace.grids
        outputs = network.values.outputs[cell_numbers(grids, trace.mapping.K)]
        target = network.target(grids / trace.mapping.K)
        off = np.abs(outputs - target) > ROUNDING * (1 + np.abs(target))
        witness = first_bad(_columns(off), grids, f"A_G is not {network.target.name} at the corner")
        for points in points_in_cells(grids):
            if witness is None:
                run = network.run(points, RESOLUTION)
                why = "gbar(X) is not fbar(X)"
                witness = first_bad(
                    _differ(run.columns, outputs), grids, why, id=run.ids, written_by=run.references
                )
        return witness

    return _searched(look, network, inputs)


def _searched(look: Callable[[Trace], Witness | None], network: Network, inputs: InputSet) -> Witness | None:
    """Look at the run of every chunk."""
    return Lemma("", "", look=look).search(network, inputs)


def cell_numbers(grids: IntArray, levels: int) -> IntArray:
    """Return the number of every grid among all cells: its entries are the digits, the last one fastest.

    Examples
    --------
    >>> cell_numbers(np.array([[[1, 1]], [[1, 2]]]), 3).tolist()
    [4, 5]
    """
    digits = grids.reshape(len(grids), -1)
    return np.asarray(digits @ levels ** np.arange(digits.shape[1], dtype=np.int64)[::-1])


def _differ(columns: Floats, wanted: Floats) -> Bools:
    """Return which columns are not the wanted ones, bit for bit; NaN, a raw id, is never the wanted one."""
    return _columns(np.asarray(columns != wanted))


def _columns(entries: Bools) -> Bools:
    """Return which columns have a true entry."""
    return np.asarray(np.logical_or.reduce(entries, axis=1), dtype=bool)


LEMMA_6 = Lemma(
    "Lemma 6",
    f"quantization takes X + E to G + E for X in the cell of G (corners and points inside, in delta/{RESOLUTION})",
    look=_quantized,
)
"""The first step of the network."""

LEMMA_8 = Lemma(
    "Lemma 8",
    "the value mapping turns id q(H)_k into column k of A_{H-E}, and no output falls in a window still to come",
    find=_written,
    of_network=True,
)
"""The last step of the network."""

LEMMA_3 = Lemma(
    "Lemma 3",
    f"gbar(X) = fbar(X) = f(G) for X in the cell of G (corners and points inside, in delta/{RESOLUTION})",
    find=_composed,
    of_network=True,
)
"""The composition of all steps."""
