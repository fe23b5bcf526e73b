"""What the report's player shows: u^T Z of every token after every layer of the contextual mapping.

The layers are the literal blocks of the mapping's stages, applied one by one in exact integers, in units of delta.
Numbers are text, because JSON readers lose the digits of large ones; thresholds are doubled, as in the blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from constructions.blocks import AffineOnSlot, AllMaxShift, Identity, SelectiveShift
from constructions.cells import cell_count, cells
from constructions.numbers import ProofError
from constructions.relay_stage import RelayStage
from constructions.selective_shift import SelectiveShifts
from theory.wording import name_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructions.blocks import AttentionBlock, FeedForwardBlock
    from constructions.mapping import StagedMapping
    from theory.patterns import IntArray
    from verify.proof import Proof

__all__ = ["MOST_LAYERS", "MOST_TOKENS", "player_data", "player_inputs"]

MOST_LAYERS = 800
MOST_TOKENS = 32
MOST_CHANGES = 20_000  # of all inputs together: about 300 kB of the page
MOST_INPUTS = 64


def player_data(proof: Proof, seed: int = 0) -> dict[str, Any] | str:
    """Return the player's data, or the sentence that says why there is none.

    Returns
    -------
    dict
        `layers`: for every layer its `stage`, `text`, `kind`, `pattern`, `factor` and doubled `band` (the window
        of a selective shift, the slot of a feed-forward layer). `inputs`: for every input its `grid`, the `start`
        values, for every layer the `changes` [token, value], and the `outputs` that the value mapping writes.

    Examples
    --------
    >>> from theory.families import star
    >>> from verify.proof import prove
    >>> data = player_data(prove(star(4, 1), d=1, delta="1/2", construction="relay"))
    >>> len(data["layers"]), len(data["inputs"]), data["inputs"][0]["start"]
    (30, 16, ['0', '3', '4', '7'])
    """
    mapping = proof.mapping
    n, count = mapping.pattern.n, mapping.attention_layers + mapping.feed_forward_layers
    if n > MOST_TOKENS or count > MOST_LAYERS:
        return (
            f"The player is left out: it is for runs of at most {MOST_LAYERS} layers and {MOST_TOKENS} tokens; "
            f"this one has {name_number(count)} layers and {n} tokens."
        )
    grids = player_inputs(proof, seed)
    try:
        runs = _run(mapping, grids)
    except ProofError as error:
        return f"The player is left out: the run breaks off, {error}."
    written = None if proof.network is None else proof.network.run_cells(grids).columns
    changes, kept = 0, 0
    for run in runs:
        changes += sum(len(moved) for moved in run["changes"])
        if kept and changes > MOST_CHANGES:
            break
        kept += 1
        if written is not None:
            run["outputs"] = [_column(written[kept - 1, :, token]) for token in range(n)]
    return {
        "tokens": n,
        "construction": mapping.construction,
        "attends": [[layer.row(token).tolist() for token in range(n)] for layer in mapping.pattern.layers],
        "layers": [_layer(stage, note, block) for stage, note, block in _blocks(mapping)],
        "inputs": runs[:kept],
        "cells": name_number(cell_count(mapping.d, n, mapping.K)),
        "value_layers": None if proof.network is None else name_number(proof.network.values.feed_forward_layers),
    }


def player_inputs(proof: Proof, seed: int = 0) -> IntArray:
    """Return the inputs to step through: all where they are few, else a handful; a counter-example comes first."""
    mapping = proof.mapping
    d, n, levels = mapping.d, mapping.pattern.n, mapping.K
    rising = np.arange(d * n).reshape(d, n) % levels
    first = [] if proof.ids.collision is None else [proof.ids.collision.first, proof.ids.collision.second]
    first += [check.witness.grid for check in proof.checks if check.witness and check.witness.grid is not None]
    rest: list[IntArray] = [rising]
    if cell_count(d, n, levels) <= MOST_INPUTS:
        rest += list(cells(d, n, levels, 0, cell_count(d, n, levels)))
    else:
        draws = np.random.default_rng(seed).integers(0, levels, size=(4, d, n))
        rest += [np.zeros_like(rising), np.full_like(rising, levels - 1), levels - 1 - rising, *draws]
    chosen = {grid.tobytes(): grid for grid in (np.asarray(grid, dtype=np.int64) for grid in first + rest)}
    return np.array(list(chosen.values()))


def _run(mapping: StagedMapping, grids: IntArray) -> list[dict[str, Any]]:
    values = mapping.initial(grids)
    runs: list[dict[str, Any]] = [
        {"grid": grid.tolist(), "start": [str(value) for value in start], "changes": []}
        for grid, start in zip(grids, values.tolist(), strict=True)
    ]
    for _stage, _note, block in _blocks(mapping):
        after = block.apply(values, mapping.pattern)
        for run, old, new in zip(runs, values.tolist(), after.tolist(), strict=True):
            run["changes"].append(
                [
                    [token, str(value)]
                    for token, (was, value) in enumerate(zip(old, new, strict=True))
                    if was != value
                ]
            )
        values = after
    return runs


def _blocks(mapping: StagedMapping) -> Iterator[tuple[str, str, AttentionBlock | FeedForwardBlock]]:
    """Iterate the literal blocks with the stage's name and what the block is part of."""
    cycle = mapping.pattern.p
    for stage in mapping.stages:
        if isinstance(stage, RelayStage):
            for number, step in enumerate(stage.steps, start=1):
                note = {"absorb": "absorbs", "release": "gives up", "copy": "takes a copy of"}[step.kind.value]
                part = f"step {number} of {len(stage.steps)}, token {step.query} {note} token {step.key}'s code"
                yield from ((stage.name, part, block) for block in step.blocks(cycle))
        elif isinstance(stage, SelectiveShifts):
            for shift in stage.shifts:
                part = f"windows over the interval of token {shift.token}"
                yield from ((stage.name, part, block) for block in shift.blocks())
        else:
            yield from ((stage.name, "", block) for block in stage.blocks())


def _layer(stage: str, note: str, block: AttentionBlock | FeedForwardBlock) -> dict[str, Any]:
    data: dict[str, Any] = {"stage": stage, "note": note}
    match block:
        case SelectiveShift(layer=layer, factor=factor, low2=low2, high2=high2):
            text = (
                f"selective shift: adds {_number(factor)} (max − min) where {_half(low2)} < uᵀZ < {_half(high2)}"
            )
            data |= {"kind": "shift", "pattern": layer, "factor": str(factor), "band": [str(low2), str(high2)]}
        case AllMaxShift(layer=layer, factor=factor):
            text = f"all-max-shift: adds {_number(factor)} times the greatest value it attends to to every token"
            data |= {"kind": "all-max", "pattern": layer, "factor": str(factor), "band": None}
        case Identity(layer=layer):
            text = "identity: this pattern of the cycle is not needed here"
            data |= {"kind": "identity", "pattern": layer, "band": None}
        case AffineOnSlot():
            text = f"feed-forward layer: {_map(block)} where {_number(block.low)} ≤ v ≤ {_number(block.high)}"
            data |= {"kind": "affine", "pattern": None, "band": [str(2 * block.low - 1), str(2 * block.high + 1)]}
    return {**data, "text": text}


def _map(block: AffineOnSlot) -> str:
    """Write v -> (a v + b) / q as one reads it."""
    sign = "+" if block.add >= 0 else "−"
    by = {1: "v", -1: "−v", 0: ""}.get(block.multiply, f"{_number(block.multiply)} v")
    line = f"{by} {sign} {_number(abs(block.add))}" if by and block.add else by or _number(block.add)
    return f"v → {line}" if block.divide == 1 else f"v → ({line}) / {_number(block.divide)}"


def _number(value: int) -> str:
    return name_number(value).replace("-", "−")


def _half(doubled: int) -> str:
    """Write half of an integer out; of a large one its size."""
    if doubled % 2 == 0 or doubled.bit_length() > 60:
        return _number(doubled // 2)
    return f"{'−' if doubled < 0 else ''}{abs(doubled) // 2}.5"


def _column(column: Any) -> str:
    return ", ".join(f"{value:.6g}" for value in column.tolist())
