"""The contextual mapping run as the paper states it, block after block, beside the run of whole stages at once.

The blocks must follow the cycle (attention block l of the network uses pattern l mod p), be as many as the layers
that are counted, and give the numbers of the fused stage, bit for bit. Where a stage differs, halves of it are run
until the shifts of one token, or one absorb step, are left.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from constructions.all_max_shift import AllMaxShifts
from constructions.base_c import all_max_digits, assemble
from constructions.blocks import AffineOnSlot
from constructions.numbers import ProofError
from constructions.relay_stage import RelayStage
from constructions.selective_shift import SelectiveShifts
from constructions.shift_mapping import pays_in_base_c
from verify.input_set import first_raising
from verify.lemma_check import Witness, first_bad
from verify.literal_budget import LiteralRun, Work, literal_run, share_of, take_inputs

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructions.mapping import StagedMapping
    from constructions.numbers import Integers
    from constructions.stage import Stage
    from theory.patterns import IntArray
    from verify.input_set import InputSet

__all__ = ["run_mapping"]

SHORT, LONG = 8.0, 70.0  # nanoseconds a number in int64, and as a Python integer
BITS = 40  # of a Python integer that take another nanosecond


def run_mapping(mapping: StagedMapping, inputs: InputSet, seed: int = 0) -> LiteralRun:
    """Run the blocks of a contextual mapping one after another, as far as the budget goes.

    Where the blocks are too many, the shifts of some tokens, or some absorb steps, spread over every stage, are
    run, each on what the fused run hands to it.

    Parameters
    ----------
    inputs
        What the proof was run on.
    seed
        Of adversarial samples where all inputs are too many.

    Examples
    --------
    >>> from constructions.network import choose_mapping
    >>> from theory.families import parse_family
    >>> from verify.inputs import AllInputs
    >>> found = run_mapping(choose_mapping(parse_family("star:n=4,w=1"), 1, 2, "relay"), AllInputs(1, 4, 2))
    >>> found.check.answer.value, found.check.inputs, found.blocks, found.run
    ('holds', 16, 30, 30)
    """
    blocks = mapping.attention_layers + mapping.feed_forward_layers
    share = share_of(blocks, inputs.count, _work(mapping))
    run = _Run(mapping, take_inputs(inputs, share.inputs, seed))
    witness = None
    try:
        run.through(share.blocks, everything=share.blocks == blocks)
    except _Differs as found:
        witness = found.witness
    return literal_run("g_c literal", "contextual mapping", blocks, run.done, inputs, share.inputs, witness)


def _work(mapping: StagedMapping) -> Work:
    """Return what a selective shift costs, the dearest block."""
    n, bits = mapping.pattern.n, mapping.bound.bit_length()
    connections = mapping.pattern.connections / mapping.pattern.p
    long = not np.issubdtype(mapping.run_dtype, np.integer)
    number, each = (LONG, LONG + bits / BITS) if long else (SHORT, SHORT)
    return Work(6e4, number * connections + each * n, 8 * connections + n * bits / 8)


class _Differs(Exception):
    """The blocks went another way than the fused run."""

    def __init__(self, witness: Witness) -> None:
        super().__init__(str(witness))
        self.witness = witness


class _Run:
    """A literal run of some inputs; `done` counts the blocks."""

    def __init__(self, mapping: StagedMapping, grids: IntArray) -> None:
        self.mapping, self.grids, self.done = mapping, grids, 0

    def through(self, most: int, *, everything: bool) -> None:
        """Run everything, or at most so many blocks of some parts of every stage; raise _Differs."""
        mapping, number = self.mapping, 0
        values = mapping.project(self.grids).astype(mapping.run_dtype, copy=False)
        for left, stage in zip(range(len(mapping.stages), 0, -1), mapping.stages, strict=True):
            if everything:
                values = self.compare(stage, values, number)
                self.done += _size(stage)
            else:
                values = self.sample(stage, values, number, (most - self.done) // left)
            number += _size(stage)
        self.agree(values, mapping.ids(self.grids), "the stages, run one by one, do not give the ids of the run")
        counted, formula = mapping.attention_layers, sum(mapping.layers_formula.values())
        if counted != formula:
            why = "there are not as many attention layers as by formula"
            raise _Differs(Witness(None, None, {"attention_layers": counted, "by_formula": formula}, why))

    def compare(self, stage: Stage, values: Integers, number: int) -> Integers:
        """Return the values after a stage whose first block has this number, run both ways."""
        wanted, found = self.at_once(stage, values), self.literally(stage, values, number)
        last = number + _size(stage) - 1
        where = f"{stage.name}, block {number}" if last == number else f"{stage.name}, blocks {number}..{last}"
        if np.any(found != wanted) and _parts(stage) > 1:
            after, start = values, number
            for half in _halves(stage):
                after, start = self.compare(half, after, start), start + _size(half)
        self.agree(found, wanted, f"{where}: one after another the blocks give another number than at once")
        return wanted

    def at_once(self, stage: Stage, values: Integers) -> Integers:
        """Return the values after a stage by its fused run; that of few all-max-shifts is the one in base c."""
        pattern = self.mapping.pattern

        def run(rows: IntArray) -> Integers:
            if not isinstance(stage, AllMaxShifts):
                return np.asarray(stage.apply(values[rows], pattern))
            if stage.factor > 1 and pays_in_base_c(stage, self.mapping.backend):
                return assemble(all_max_digits(stage, values[rows], pattern))
            return np.asarray(stage.apply(values[rows].astype(self.mapping.dtype, copy=False), pattern))

        return self.checked(run, f"{stage.name}: the run breaks off")

    def literally(self, stage: Stage, values: Integers, number: int) -> Integers:
        """Return the values after the blocks of a stage, each in its turn of the cycle; `number` is the first."""
        pattern, turns, feed_forward = self.mapping.pattern, 0, 0
        if isinstance(stage, AllMaxShifts):
            values = values.astype(self.mapping.dtype, copy=False)
        for place, block in enumerate(stage.blocks(), number):
            where = f"{stage.name}, block {place}"
            if isinstance(block, AffineOnSlot):
                feed_forward += 1
            else:
                turn, turns = turns % pattern.p, turns + 1
                if block.layer != turn:
                    why = f"{where}: it uses pattern {block.layer} where the cycle is at pattern {turn}"
                    raise _Differs(Witness(None, None, {}, why))
            before = values
            values = self.checked(lambda rows: block.apply(before[rows], pattern), where)  # noqa: B023
        if (turns, feed_forward) != (stage.attention_layers, stage.feed_forward_layers):
            why = (
                f"{stage.name}: {turns} attention and {feed_forward} feed-forward blocks, counted as"
                f" {stage.attention_layers} and {stage.feed_forward_layers}"
            )
            raise _Differs(Witness(None, None, {}, why))
        return values

    def sample(self, stage: Stage, values: Integers, number: int, most: int) -> Integers:
        """Return the values after a stage of which parts, spread evenly, with at most so many blocks are run."""
        parts, at = _parts(stage), 0
        each = _size(stage) // max(parts, 1)
        count = min(parts, max(1, most // max(each, 1)))
        for part in sorted({round(place) for place in np.linspace(0, parts - 1, count)}):
            if part > at:
                values = self.at_once(_cut(stage, at, part), values)
            piece, at = _shortened(_cut(stage, part, part + 1), most), part
            if piece is not None:
                self.compare(piece, values, number + part * each)
                self.done += _size(piece)
        return self.at_once(_cut(stage, at, parts), values)

    def checked(self, run: Callable[[IntArray], Integers], where: str) -> Integers:
        """Return what a function of rows makes of all; raise _Differs with the input that it breaks off on."""
        every = np.arange(len(self.grids))
        try:
            return run(every)
        except ProofError:
            row, reason = first_raising(run, every)
            raise _Differs(Witness(self.grids[row].copy(), None, {}, f"{where}: {reason}")) from None

    def agree(self, found: Integers, wanted: Integers, why: str) -> None:
        """Raise _Differs with the first token whose numbers differ."""
        witness = first_bad(np.asarray(found != wanted), self.grids, why, literal=found, at_once=wanted)
        if witness is not None:
            raise _Differs(witness)


def _size(stage: Stage) -> int:
    return stage.attention_layers + stage.feed_forward_layers


def _parts(stage: Any) -> int:
    """Return into how many parts a stage can be cut: token shifts, absorb steps."""
    match stage:
        case SelectiveShifts():
            return len(stage.shifts)
        case RelayStage():
            return len(stage.steps)
    return 1


def _cut(stage: Any, start: int, stop: int) -> Stage:
    """Return parts start..stop-1 of a stage as a stage."""
    match stage:
        case SelectiveShifts():
            return SelectiveShifts(stage.shifts[start:stop])
        case RelayStage():
            return replace(stage, steps=stage.steps[start:stop])
    return stage  # type: ignore[no-any-return]  # the whole: it has one part


def _halves(stage: Stage) -> tuple[Stage, Stage]:
    middle, end = _parts(stage) // 2, _parts(stage)
    return _cut(stage, 0, middle), _cut(stage, middle, end)


def _shortened(part: Any, most: int) -> Stage | None:
    """Return a part with at most so many blocks: its first windows, or first shifts; None where it has no such."""
    match part:
        case SelectiveShifts(shifts=(shift,)):
            windows = min(shift.count, most // shift.cycle)
            return SelectiveShifts((replace(shift, count=windows),)) if windows else None
        case AllMaxShifts():
            return replace(part, count=min(part.count, most)) if most else None
    return part if _size(part) <= most else None
