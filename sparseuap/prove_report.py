"""The proof of `prove` as a table for a person and as JSON for a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from constructions.relay_absorb import FEED_FORWARD_LAYERS
from theory.verdicts import Answer
from theory.wording import EXACT_BITS, name_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from verify.exhaustive.run import SweepResult
    from verify.lemma_check import LemmaCheck
    from verify.proof import Proof

__all__ = ["LayerRow", "as_json", "as_text", "layer_rows"]

ATTENDS, FEEDS = "attention", "feed-forward"
LAST = {
    Answer.HOLDS: "Everything checked holds.",
    Answer.FAILS: "The proof FAILS on this case.",
    Answer.UNDECIDED: "Nothing fails, but not every statement could be checked.",
}


class LayerRow(NamedTuple):
    """How many layers of one kind a step of the proof has; None where it was not built, or has no counterpart."""

    step: str
    kind: str
    used: int | None
    by_formula: int | None
    dense: int | None

    @property
    def cells(self) -> tuple[str, ...]:
        """What a table shows."""
        built = "not built" if self.used is None else name_number(self.used)
        return self.step, self.kind, built, name_number(self.by_formula), name_number(self.dense)


def layers(proof: Proof) -> tuple[dict[str, int | None], dict[str, int]]:
    """Return layers used and by formula under the paper's four names.

    The relay construction's attention layers, all of them selective shifts, count under that name; its
    feed-forward layers are in `layer_rows`. What was not built (the value mapping of too many cells) is None.
    """
    mapping = proof.mapping
    by_formula = dict(mapping.layers_formula)
    shifts_formula = sum(count for name, count in by_formula.items() if name != "all_max_shift")
    all_max = sum(stage.attention_layers for stage in mapping.stages if stage.name == "all-max-shift")
    used: dict[str, int | None] = {
        "quantization": mapping.d * mapping.pattern.n * mapping.K,
        "selective_shift": mapping.attention_layers - all_max,
        "all_max_shift": all_max,
        "value_mapping": None,
    }
    if proof.network is not None:
        used["quantization"] = proof.network.quantization().feed_forward_layers
        used["value_mapping"] = proof.network.values.feed_forward_layers
    cells = mapping.K ** (mapping.d * mapping.pattern.n)
    formula = {
        "quantization": mapping.d * mapping.pattern.n * mapping.K,
        "selective_shift": shifts_formula,
        "all_max_shift": by_formula.get("all_max_shift", 0),
        "value_mapping": mapping.pattern.n * cells,
    }
    return used, formula


def layer_rows(proof: Proof) -> list[LayerRow]:
    """Return the layers of every step, and the totals of attention layers, feed-forward layers and blocks.

    Blocks are counted as in the paper: one for every layer, whose other sublayer is off.
    """
    mapping, (used, formula), dense = proof.mapping, layers(proof), proof.dense_layers
    relay = mapping.construction == "relay"
    steps = FEED_FORWARD_LAYERS * (formula["selective_shift"] // mapping.pattern.p) if relay else 0
    shifts = "absorb steps" if relay else "selective shifts"
    rows = [
        LayerRow("quantization", FEEDS, used["quantization"], formula["quantization"], dense["quantization"]),
        LayerRow(
            shifts, ATTENDS, used["selective_shift"], formula["selective_shift"], dense["contextual_mapping"]
        ),
        LayerRow(shifts, FEEDS, mapping.feed_forward_layers, steps, None),
        LayerRow("all-max-shifts", ATTENDS, used["all_max_shift"], formula["all_max_shift"], None),
        LayerRow("value mapping", FEEDS, used["value_mapping"], formula["value_mapping"], dense["value_mapping"]),
    ]
    totals = [_total(kind, [row for row in rows if row.kind == kind]) for kind in (ATTENDS, FEEDS)]
    return [*(row for row in rows if row.used != 0 or row.by_formula), *totals, _total("blocks", totals)]


def _total(kind: str, rows: Sequence[LayerRow]) -> LayerRow:
    """Return the sum of some rows: unknown where a number used is, while a missing counterpart has no layers."""
    used = [row.used for row in rows]
    return LayerRow(
        "total",
        kind,
        None if None in used else sum(count or 0 for count in used),
        sum(row.by_formula or 0 for row in rows),
        sum(row.dense or 0 for row in rows),
    )


def plain(number: int | None) -> int | str | None:
    """Return a number for JSON: as it is up to 63 bits, in hexadecimal text beyond, where readers lose digits."""
    return number if number is None or number.bit_length() <= EXACT_BITS else hex(number)


def as_json(proof: Proof, source: str, target: str) -> dict[str, Any]:
    """Return the proof as JSON-ready data; tokens from 0, ids in units of delta."""
    used, formula = layers(proof)
    mapping, ids = proof.mapping, proof.ids
    return {
        "source": source,
        "target": target,
        "counting": "tokens from 0",
        "n": mapping.pattern.n,
        "p": mapping.pattern.p,
        "d": mapping.d,
        "delta": f"1/{mapping.K}",
        "construction": mapping.construction,
        "layers": {name: plain(count) for name, count in used.items()},
        "layers_formula": {name: plain(count) for name, count in formula.items()},
        "layers_dense": {name: plain(count) for name, count in proof.dense_layers.items()},
        "layers_total": {
            row.kind.replace("-", "_"): {
                "used": plain(row.used),
                "by_formula": plain(row.by_formula),
                "dense": plain(row.dense),
            }
            for row in layer_rows(proof)
            if row.step == "total"
        },
        "feed_forward_in_contextual_mapping": mapping.feed_forward_layers,
        "inputs": proof.inputs.count,
        "exhaustive": ids.exhaustive,
        "backend": f"{mapping.backend.name}, {mapping.backend.device}",
        "sweep": _sweep(proof),
        "contextual_mapping": {
            "distinct_within": ids.distinct_within.as_json(),
            "distinct_across": ids.distinct_across.as_json(),
            "depends_on_reach_only": None
            if ids.depends_on_reach_only is None
            else ids.depends_on_reach_only.as_json(),
            "method": ids.method,
            "collision": _collision(proof),
        },
        "exact_on_cells": proof.exact_on_cells,
        "lifted_by": None if proof.network is None else proof.network.values.lifted_by,
        "max_id_bits": ids.max_id_bits,
        "gap": plain(ids.gap.across),
        "gap_within": plain(ids.gap.within),
        "gap_within_exact": _gap_within_exact(proof),
        "checks": [
            {
                "name": check.name,
                "statement": check.statement,
                "holds": check.answer.as_json(),
                "inputs": check.inputs,
                "exhaustive": check.exhaustive,
                "why": check.why,
            }
            for check in proof.checks
        ],
        "literal": [
            {
                "stage": run.stage,
                "blocks": plain(run.blocks),
                "blocks_run": run.run,
                "inputs": run.check.inputs,
                "all_inputs": run.check.exhaustive,
            }
            for run in proof.literal
        ],
        "holds": proof.answer.as_json(),
    }


def _collision(proof: Proof) -> dict[str, Any] | None:
    found = proof.ids.collision
    if found is None:
        return None
    return {
        "kind": found.kind,
        "first": found.first.tolist(),
        "second": found.second.tolist(),
        "tokens": list(found.tokens),
        "ids": [plain(number) for number in found.ids],
        "why": found.why,
    }


def _sweep(proof: Proof) -> dict[str, Any] | None:
    found = proof.sweep
    if found is None:
        return None
    return {
        "digest": found.digest,
        "engine": found.engine,
        "inputs_per_second": None if found.rate is None else round(found.rate),
        "seconds": round(found.seconds, 3),
        "from_checkpoint": found.resumed,
        "stopped": found.stopped,
    }


def _gap_within_exact(proof: Proof) -> bool:
    """Return whether the gap within an input is the least there is: not if a sweep bounded it."""
    return proof.ids.digest is None or proof.mapping.construction == "relay"


def as_text(proof: Proof, source: str, target: str) -> str:
    """Return the proof as a table."""
    return "\n".join(_lines(proof, source, target))


def _lines(proof: Proof, source: str, target: str) -> Iterator[str]:
    mapping, ids = proof.mapping, proof.ids
    yield (
        f"{source}, d = {mapping.d}, delta = 1/{mapping.K}, target {target}, construction {mapping.construction}: "
        f"{proof.inputs.description}"
    )
    yield ""
    rows = [("step", "layers", "used", "by formula", "dense"), *(row.cells for row in layer_rows(proof))]
    yield from _table(rows, "llrrr")
    yield ""
    checks = [("statement", "checked on", "result", "")]
    checks += [(check.name, _inputs(check), check.answer.value, check.statement) for check in proof.checks]
    yield from _table(checks, "llll")
    yield ""
    yield f"largest id {ids.max_id_bits} bits{_gap(proof)} ({ids.method})"
    if proof.sweep is not None and proof.sweep.stopped is None:
        yield _swept(proof.sweep)
    if proof.sample is not proof.inputs:
        yield f"checked on samples where the table says so: {proof.sample.description}"
    runs = [f"{name_number(run.run)} of {name_number(run.blocks)} of the {run.stage}" for run in proof.literal]
    counts = ", ".join(
        f"{run} on {done.check.inputs} inputs" for run, done in zip(runs, proof.literal, strict=True)
    )
    if counts:
        yield f"blocks run literally, one after another, and compared with the run at once: {counts}"
    if proof.network is not None and proof.network.values.lifted_by:
        yield (
            f"the ids were lifted by {proof.network.values.lifted_by} delta in one more layer: some output would "
            "have landed in the window of an id"
        )
    if proof.network is None:
        yield "the value mapping was not built: its table needs every cell, and a target within reach"
    for check in proof.checks:
        if check.answer is not Answer.HOLDS:
            yield f"{check.answer.value.upper()}: {check.name}: {check.why}"
    yield LAST[proof.answer]


def _gap(proof: Proof) -> str:
    """Say how close two ids come, as far as it is known."""
    gap = proof.ids.gap
    if proof.ids.digest is None:
        return f"; smallest gap between two ids {name_number(gap.across)} delta"
    if gap.within is None:
        return ""
    return f"; two ids of one input differ by at least {name_number(gap.within)} delta"


def _swept(found: SweepResult) -> str:
    """Say how fast the sweep was, by which engine, and its digest."""
    again = f", {found.resumed} inputs from the checkpoint" if found.resumed else ""
    rate = "" if found.rate is None else f" at {found.rate:.3g} inputs/s"
    return f"sweep: {found.engine}{rate}{again}; digest {found.digest}"


def _inputs(check: LemmaCheck) -> str:
    if not check.inputs:
        return "-"
    return f"{'all ' if check.exhaustive else ''}{check.inputs}{'' if check.exhaustive else ' samples'}"


def _table(rows: Sequence[tuple[str, ...]], sides: str) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(sides))]
    for row in rows:
        cells = [
            cell.rjust(width) if side == "r" else cell.ljust(width)
            for cell, width, side in zip(row, widths, sides, strict=True)
        ]
        yield "  ".join(cells).rstrip()
