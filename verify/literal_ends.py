"""Quantization and the value mapping run as the paper states them, layer after layer, beside their run at once."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from constructions.numbers import ProofError
from constructions.positional_embedding import embed
from constructions.quantization import Quantization
from constructions.value_mapping import RAW
from verify.input_set import first_raising
from verify.lemma_check import Witness, first_bad
from verify.lemma_network import RESOLUTION, cell_numbers, points_in_cells
from verify.literal_budget import LiteralRun, Work, literal_run, share_of, take_inputs

if TYPE_CHECKING:
    from constructions.mapping import StagedMapping
    from constructions.network import Network
    from constructions.value_mapping import ValueMapping
    from theory.patterns import IntArray
    from verify.input_set import InputSet

__all__ = ["run_quantization", "run_values"]

SOME = 64  # inputs whose windows are run where all windows are too many


def run_quantization(mapping: StagedMapping, inputs: InputSet, seed: int = 0) -> LiteralRun:
    """Run the layers of g_q one after another on points of cells: both corners and one inside, in delta/8.

    Where the layers are too many the first ones are run; what later ones cover must be as it was.

    Examples
    --------
    >>> from constructions.network import choose_mapping
    >>> from theory.families import parse_family
    >>> from verify.inputs import AllInputs
    >>> mapping = choose_mapping(parse_family("star:n=4,w=1"), 1, 2, "relay")
    >>> run_quantization(mapping, AllInputs(1, 4, 2)).check.statement
    'the 8 blocks of the quantization, one after another, give what their run at once gives, bit for bit'
    """
    d, n = mapping.d, mapping.pattern.n
    stage = Quantization(d, n, mapping.K, RESOLUTION)
    blocks = stage.feed_forward_layers
    share = share_of(blocks, inputs.count, Work(1e4, n * (d + 8), 16 * d * n))
    grids = take_inputs(inputs, share.inputs, seed)
    for points in points_in_cells(grids):
        embedded = embed(points, mapping.positions, mapping.step * RESOLUTION)
        witness = _quantized(stage, share.blocks, embedded, grids)
        if witness is not None:
            break
    return literal_run("g_q literal", "quantization", blocks, share.blocks, inputs, len(grids), witness)


def _quantized(stage: Quantization, most: int, before: IntArray, grids: IntArray) -> Witness | None:
    """Return the first column that the first `most` layers leave otherwise than the run at once."""
    found, listed = before, 0
    for block in islice(stage.blocks(), most + (most == stage.feed_forward_layers)):  # one too many would be seen
        found, listed = block.apply(found), listed + 1
    if listed != most:
        numbers = {"listed": listed, "counted": stage.feed_forward_layers}
        return Witness(None, None, numbers, "the blocks are not as many as are counted")
    number = np.arange(stage.d)[:, np.newaxis] * (stage.n * stage.levels) + before // stage.resolution
    wanted = np.where(number < most, stage.apply(before), before)
    wrong = found != wanted
    row = wrong.argmax(axis=1)[:, np.newaxis]  # of every column the first wrong entry
    place, own, right = (np.take_along_axis(m, row, axis=1)[:, 0] for m in (number, found, wanted))
    why = f"one after another the blocks give another entry than at once, in units of delta/{stage.resolution}"
    return first_bad(wrong.any(axis=1), grids, why, block=place, literal=own, at_once=right)


def run_values(network: Network, inputs: InputSet, seed: int = 0) -> LiteralRun:
    """Run the layers of g_v one after another on ids.

    Where the windows are too many, those of the cells that wrote the columns of some inputs are run.

    Examples
    --------
    >>> from constructions.network import build_network
    >>> from constructions.targets import TARGETS
    >>> from theory.families import parse_family
    >>> from verify.inputs import AllInputs
    >>> network = build_network(parse_family("star:n=4,w=1"), 1, 2, TARGETS["sort"], "relay")
    >>> found = run_values(network, AllInputs(1, 4, 2))
    >>> found.check.answer.value, found.blocks, found.run
    ('holds', 64, 64)
    """
    values, n = network.values, network.mapping.pattern.n
    blocks = values.feed_forward_layers
    number = 8.0 if values.ids.dtype != object else 70.0
    share = share_of(blocks, inputs.count, Work(1e4, number * n, 32 * n))
    everything = share.blocks == blocks
    grids = take_inputs(inputs, share.inputs if everything else min(SOME, inputs.count), seed)
    ids = values.ids[cell_numbers(grids, network.mapping.K)]

    def both(rows: IntArray) -> tuple[IntArray, IntArray, int]:
        at_once = values.apply(ids[rows])
        cells = None if everything else np.unique(at_once[at_once != RAW] // n).tolist()
        return at_once, *_written(values, ids[rows], cells)

    every, found = np.arange(len(grids)), None
    try:
        at_once, literal, run = both(every)
    except ProofError:
        row, reason = first_raising(both, every)
        run, found = share.blocks, Witness(grids[row].copy(), None, {}, f"the run breaks off: {reason}")
    else:
        why = "one after another the blocks write otherwise than at once: the numbers of their windows"
        found = first_bad(literal != at_once, grids, why, literal=literal, at_once=at_once)
        if found is None and everything and run != blocks:
            why = "the blocks are not as many as are counted"
            found = Witness(None, None, {"listed": run, "counted": blocks}, why)
    return literal_run("g_v literal", "value mapping", blocks, min(run, blocks), inputs, len(grids), found)


def _written(values: ValueMapping, ids: IntArray, cells: list[int] | None) -> tuple[IntArray, int]:
    """Return what the layers of all or some cells write on the ids, and how many layers these are."""
    state, run = values.start(ids), 0
    for block in values.blocks(cells):
        state, run = block.apply(state), run + 1
    return state.references, run
