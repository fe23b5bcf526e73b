"""The proof of `prove` as a table for a person and as JSON for a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparseuap.layer_counts import layer_rows, layers
from theory.verdicts import Answer
from theory.wording import EXACT_BITS, name_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from verify.exhaustive.run import SweepResult
    from verify.lemma_check import LemmaCheck
    from verify.proof import Proof

__all__ = ["as_json", "as_text"]

LAST = {
    Answer.HOLDS: "Everything checked holds.",
    Answer.FAILS: "The proof FAILS on this case.",
    Answer.UNDECIDED: "Nothing fails, but not every statement could be checked.",
}


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
    if proof.literal:
        runs = ", ".join(
            f"{name_number(run.run)} of {name_number(run.blocks)} of the {run.stage} on {run.check.inputs} inputs"
            for run in proof.literal
        )
        yield f"blocks run literally, one after another, and compared with the run at once: {runs}"
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
