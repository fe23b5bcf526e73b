"""The statements about the network around the contextual mapping: Lemmas 6 (quantization), 8 (values) and 3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from constructions.positional_embedding import embed
from constructions.quantization import Quantization
from constructions.value_mapping import RAW
from verify.lemma_check import Lemma, Witness, first_bad

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from theory.patterns import IntArray
    from verify.input_set import Bools
    from verify.lemma_trace import Trace

__all__ = ["LEMMA_3", "LEMMA_6", "LEMMA_8", "RESOLUTION", "points_in_cells"]

RESOLUTION = 8
"""Points of a cell lie on multiples of delta/8."""

ROUNDING = 1e-9  # how far A_G may be from f(G), relative to 1 + |f(G)|: f is run on another batch


def points_in_cells(grids: IntArray) -> Iterator[IntArray]:
    """Iterate points of the cells G + [0,delta)^{d x n}, in units of delta/8: lower corner, upper corner, any.

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


def _written(trace: Trace) -> Witness | None:
    """Lemma 8: from its id, every column becomes A_G bit for bit, and no output meets a later window."""
    values, n = trace.network.values, trace.mapping.pattern.n
    struck = np.flatnonzero(values.overwriting != RAW)
    if struck.size:
        window, later = int(struck[0]), int(values.overwriting[struck[0]])
        numbers = {"window": window, "later": later, "slot": int(values.slots.flat[window])}
        return Witness(None, window % n, numbers, "its output falls in a window still to come")
    references = values.apply(trace.q)
    numbers_of_cells = cell_numbers(trace.grids, trace.mapping.K)
    wrong = _columns(values.read(references) != values.outputs[numbers_of_cells])
    wanted = numbers_of_cells[:, None] * n + np.arange(n)
    return first_bad(wrong, trace.grids, "not A_G after the value mapping", written_by=references, window=wanted)


def _composed(trace: Trace) -> Witness | None:
    """Lemma 3: gbar(X) = A_G, bit for bit, for a point X of the cell of G, and A_G is f(G)."""
    network, grids = trace.network, trace.grids
    outputs = network.values.outputs[cell_numbers(grids, trace.mapping.K)]
    target = network.target(grids / trace.mapping.K)
    off = _columns(np.abs(outputs - target) > ROUNDING * (1 + np.abs(target)))
    *_, points = points_in_cells(grids)
    run = network.run(points, RESOLUTION)
    # a column that is still a raw id reads as NaN, which is unlike every output
    wrong = _columns(run.columns != outputs)
    return first_bad(off, grids, f"A_G is not {network.target.name} at the corner") or first_bad(
        wrong, grids, "gbar(X) is not fbar(X)", id=run.ids, written_by=run.references
    )


def cell_numbers(grids: IntArray, levels: int) -> IntArray:
    """Return the number of every grid among all cells: its entries are the digits, the last one fastest.

    Examples
    --------
    >>> cell_numbers(np.array([[[1, 1]], [[1, 2]]]), 3).tolist()
    [4, 5]
    """
    digits = grids.reshape(len(grids), -1)
    return np.asarray(digits @ levels ** np.arange(digits.shape[1], dtype=np.int64)[::-1])


def _columns(entries: npt.ArrayLike) -> Bools:
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
    look=_written,
    of_network=True,
)
"""The last step of the network."""

LEMMA_3 = Lemma(
    "Lemma 3",
    f"gbar(X) = fbar(X) = f(G) for X in the cell of G (a point of every cell, entries in delta/{RESOLUTION})",
    look=_composed,
    of_network=True,
)
"""The composition of all steps."""
