"""The study of `error` as a table for a person and as JSON for a program."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from theory.wording import name_lower, name_upper

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from verify.error_study import ErrorRow, ErrorStudy
    from verify.lp_norm import Distance

__all__ = ["as_json", "as_text", "spread"]

PARTS = ("total", "discretization", "construction", "relaxation", "good", "ramp")
MOST_CARRIED = 0.05
HEADINGS = (
    *("t", "total", "+-", "f - fbar", "+-", "good", "+-", "bound", "ramp", "+-"),
    *("ids off by", "bound", "cells right"),
)


def as_json(study: ErrorStudy, source: str) -> dict[str, Any]:
    """Return the study as JSON-ready data; a number that is not finite is None."""
    mapping = study.network.mapping
    return {
        "source": source,
        "target": study.network.target.name,
        "n": mapping.pattern.n,
        "p_patterns": mapping.pattern.p,
        "d": mapping.d,
        "delta": f"1/{mapping.K}",
        "construction": mapping.construction,
        "backend": f"{study.backend.name}, {study.backend.device}",
        "rho": study.rho.name,
        "alpha": study.alpha,
        "p": study.p,
        "box": list(study.box),
        "seed": study.seed,
        "rows": [_row(row) for row in study.rows],
        "t_guaranteed": _finite(study.t_guaranteed),
        "t_measured": _finite(study.t_measured),
        "zeta": _finite(study.zeta),
        "eta": _finite(study.eta),
        "eta_by_stage": {} if study.guarantee is None else study.guarantee.eta,
        "blocks_hold": None if study.blocks is None else study.blocks.answer.as_json(),
        "holds": study.holds,
        "contradictions": [str(found) for found in study.contradictions],
    }


def _row(row: ErrorRow) -> dict[str, Any]:
    errors = row.errors
    return {
        "t": row.t,
        "error_total": _finite(errors.total.value),
        "error_discretization": _finite(errors.discretization.value),
        "error_construction": _finite(errors.construction.value),
        "error_relaxation": _finite(errors.good.value),
        "error_ramp": _finite(errors.ramp.value),
        "bound": _finite(row.bound.relaxation),
        "why_bound": row.bound.why,
        "cells_right": errors.cells_right,
        "cells": errors.cells[0],
        "every_cell": errors.cells[1],
        "id_error": _finite(errors.id_error),
        "id_bound": _finite(row.bound.ids),
        "ramp_runaway": errors.runaway,
        "details": {part: getattr(errors, part).as_json() for part in PARTS},
    }


def _finite(x: float | None) -> float | None:
    return x if x is not None and math.isfinite(x) else None


def as_text(study: ErrorStudy, source: str) -> str:
    """Return the study as a table."""
    return "\n".join(_lines(study, source))


def _lines(study: ErrorStudy, source: str) -> Iterator[str]:
    mapping, (a, b) = study.network.mapping, study.box
    yield (
        f"{source}, d = {mapping.d}, delta = 1/{mapping.K}, target {study.network.target.name}, "
        f"construction {mapping.construction}, rho {study.rho.name}, alpha = {study.alpha:g}, "
        f"p = {study.p:g}, domain [{a:g}, {b:g})^({mapping.d} x {mapping.pattern.n}), "
        f"run on {study.backend.name}, {study.backend.device}"
    )
    yield ""
    yield from _table([HEADINGS, *(_cells(row) for row in study.rows)])
    yield ""
    yield "total: d_p(f, g); good: d_p(gbar, g) on inputs without a coordinate in a ramp, and its rigorous bound;"
    yield "ramp: d_p(gbar, g) on the others; ids in units of delta, and their bound; -: nothing is claimed."
    yield "+-: half an interval, 0 where the value is a sum over all cells. Bounds and +- are rounded up."
    last = study.rows[-1].errors
    yield f"d_p(fbar, gbar) = {last.construction.value:.6g}: {last.construction.method}"
    yield f"f - fbar: {last.discretization.method}; ramp: {last.ramp.method}; seed {study.seed}, 99% intervals"
    if study.blocks is not None:
        yield f"ids of gbar: {study.blocks.statement}: {study.blocks.answer.value} on {study.blocks.inputs} inputs"
    yield from _ids(study)
    carried = max(row.errors.ramp.largest_share for row in study.rows)
    if carried > MOST_CARRIED:
        yield f"one point of the ramp has {_percent(carried)} of its integral: do not trust that interval"
    for row in study.rows:
        if row.errors.runaway:
            lost = _percent(row.errors.runaway)
            yield f"t = {row.t:.6g}: {lost} of the ramp's runs passed 1e100 and were given up: infinite error"
        if math.isinf(row.errors.id_error):
            yield f"t = {row.t:.6g}: ids passed 1e100 on a cell and were given up: infinite error"
    for found in study.contradictions:
        yield f"FAILS: {found}"
    if study.contradictions:
        yield "The measurement CONTRADICTS the proof on this case."


def _ids(study: ErrorStudy) -> Iterator[str]:
    count, every = study.rows[-1].errors.cells
    where = f"all {count} cells" if every else f"{count} sampled cells"
    if study.t_measured is None:
        yield f"measured t: none found at which the ids of {where} are right"
    else:
        least = name_upper(study.t_measured, 6)
        yield f"measured t: {least}, the least at which the ids of {where} are right (to 0.1%)"
    if study.t_guaranteed is None:
        yield f"guaranteed t: none, {study.rho.name} keeps no promise that the budget of errors could use"
    else:
        gap = ""
        if study.zeta is not None and study.eta is not None:
            zeta, eta = name_lower(study.zeta, 4), name_upper(study.eta)
            gap = f"; score gaps from zeta = {zeta}, lost mass to {eta}"
        yield f"guaranteed t: {name_upper(study.t_guaranteed, 6)}{gap}"


def _cells(row: ErrorRow) -> tuple[str, ...]:
    errors = row.errors
    return (
        name_upper(row.t, 6),
        _number(errors.total.value),
        _spread(errors.total),
        _number(errors.discretization.value),
        _spread(errors.discretization),
        _number(errors.good.value),
        _spread(errors.good),
        _claim(row.bound.relaxation),
        _number(errors.ramp.value),
        _spread(errors.ramp),
        _number(errors.id_error),
        _claim(row.bound.ids),
        _percent(errors.cells_right),
    )


def _number(x: float) -> str:
    return f"{x:.5g}"


def _claim(x: float) -> str:
    return name_upper(x) if math.isfinite(x) else "-"


def _spread(found: Distance) -> str:
    return name_upper(spread(found), 2) if math.isfinite(found.value) else "-"


def spread(found: Distance) -> float:
    """Return how far the ends of an interval are from the value, the farther one."""
    low, high = found.interval
    return max(high - found.value, found.value - low)


def _percent(share: float) -> str:
    """Return a share that is called 0% or 100% only if it is."""
    percent = f"{100 * share:.4g}"
    if share < 1 and percent == "100":
        return "<100%"
    return ">0%" if share > 0 and percent == "0" else f"{percent}%"


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
