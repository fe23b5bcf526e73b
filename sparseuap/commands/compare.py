"""`sparseuap compare`: families and files side by side."""

from __future__ import annotations

import json
import textwrap
from math import isqrt
from typing import TYPE_CHECKING, Any

import click

from sparseuap import options
from sparseuap.progress import Steps
from sparseuap.text_table import Column, fit, terminal_width
from theory.families import connection_formula
from theory.measures import measure
from theory.patterns import PatternError
from theory.readers.source import read_source
from theory.theorems import Says
from theory.wording import printable
from verify.pattern_verdict import assess

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["command", "default_sources"]

DEFAULT_TOKENS = 64
MARKS = {Says.UNIVERSAL: "yes", Says.NOT_UNIVERSAL: "NO", Says.SILENT: "silent", Says.UNDECIDED: "undecided"}
THEOREMS = {
    "yun_2020_theorem_1": "Yun",
    "bigbird_2020_theorem_1": "BigBird",
    "cheng_2025_corollary_2": "Cheng",
    "reach_theorem": "universal",
}
HEADINGS = {
    "source": "pattern",
    "n": "n",
    "p": "p",
    "connections": "connections",
    "connections_formula": "n(2w+r+g)",
    "density": "density",
    "degree_mean": "mean degree",
    "assumption_1_1": "1.1",
    "assumption_1_2": "1.2",
    "assumption_1_3": "1.3",
    "s": "s",
    "reach": "reach",
    "diameter": "diameter",
    "mean_distance": "mean distance",
    "spectral_gap": "gap",
    "star": "star",
}
LEAST = (
    "n(2w+r+g)",
    "gap",
    "star",
    "mean degree",
    "mean distance",
    "BigBird",
    "Cheng",
    "diameter",
    "connections",
    "Yun",
    "density",
    "reach",
    "p",
    "n",
    "1.1",
    "s",
    "1.3",
    "1.2",
)
"""Columns in the order in which a narrow terminal does without them; the verdict always stays."""


def default_sources(n: int) -> list[str]:
    """Return one pattern of every kind named in the two papers, of the given length.

    Examples
    --------
    >>> default_sources(64)[1]
    'strided:n=64,w=8'
    """
    w = max(w for w in range(1, isqrt(n) + 1) if n % w == 0)  # Fixed needs a segment length that divides n
    return [
        f"dense:n={n}",
        f"strided:n={n},w={w}",
        f"fixed:n={n},w={w}",
        f"star:n={n},w=1",
        f"hub:n={n}",
        f"ring:n={n}",
        f"window:n={n},w=1",
        f"causal:n={n}",
        f"random:n={n},r=3,seed=0",
        f"longformer:n={n},window=2,globals=1",
        f"bigbird:n={n},window=1,random=2,globals=1,seed=0",
    ]


@click.command("compare")
@click.argument("sources", nargs=-1)
@click.option("--n", "tokens", type=click.IntRange(min=8), help="Tokens of the default families (64).")
@options.json_wanted
@options.time_limit(10.0, "Seconds for each hard question on each pattern.")
def command(sources: tuple[str, ...], tokens: int | None, json_wanted: bool, time_limit: float) -> int:
    """Compare the patterns SOURCES, or a family of every kind at N tokens.

    Diameter, mean distance and spectral gap (of the normalised Laplacian) are those of the union digraph; a
    mean with +- is sampled. The last column is the reach theorem's: yes, for all continuous functions; causal, for
    all causal ones only; NO, for neither. A terminal that is too narrow gets the most telling columns, and is told
    which are left out; a pipe and --json get all.
    """
    if sources and tokens is not None:
        raise PatternError("--n sets the length of the default families: leave it out when SOURCES are given")
    rows = []
    with Steps() as say:
        chosen = list(sources) or default_sources(tokens or DEFAULT_TOKENS)
        for number, source in enumerate(chosen):
            say(source, number / len(chosen))
            rows.append(_row(source, time_limit))
    if json_wanted:
        click.echo(json.dumps(rows, indent=2))
    else:
        click.echo("\n".join(_lines(rows, terminal_width())))
    return 0


def _row(source: str, time_limit: float) -> dict[str, Any]:
    pattern = read_source(source)
    verdict = assess(pattern, time_limit=time_limit)
    found = measure(pattern, time_limit=time_limit)
    return {
        "source": source,
        "n": pattern.n,
        "p": pattern.p,
        "connections": found.connections,
        "connections_formula": connection_formula(source),
        "density": found.density,
        "degree_mean": found.degree_mean,
        "assumption_1_1": not verdict.violations.size,
        "assumption_1_2": verdict.path.answer.as_json(),
        "assumption_1_3": verdict.hops.answer.as_json(),
        "s": verdict.hops.s,
        "reach": verdict.reach.value,
        "diameter": found.distances.diameter,
        "mean_distance": found.distances.mean,
        "mean_distance_error": found.distances.mean_error,
        "spectral_gap": found.spectral_gap,
        "star": found.hub is not None,
        "theorems": {item.theorem: item.says.value for item in verdict.statements},
        "universal_causal": verdict.universal_causal.as_json(),
    }


def _lines(rows: list[dict[str, Any]], width: int | None) -> Iterator[str]:
    """Yield the table; a terminal too narrow for it gets the most telling columns, and the names of the others."""
    columns = [
        Column(heading, [_cell(key, row) for row in rows], right=key not in ("source", "reach"))
        for key, heading in HEADINGS.items()
    ]
    columns += [Column(heading, [_mark(theorem, row) for row in rows]) for theorem, heading in THEOREMS.items()]
    lines, left_out = fit(columns, LEAST, width)
    yield from lines
    if left_out and width is not None:
        yield ""
        text = f"Left out on {width} columns: {', '.join(left_out)}. A wider terminal, a pipe or --json shows all."
        yield from textwrap.wrap(text, width)


def _mark(theorem: str, row: dict[str, Any]) -> str:
    says = Says(row["theorems"][theorem])
    return "causal" if says is Says.NOT_UNIVERSAL and row["universal_causal"] else MARKS[says]


def _cell(key: str, row: dict[str, Any]) -> str:
    value = row[key]
    if key == "source":
        return printable(str(value))
    if value is None:
        return "undecided" if key.startswith("assumption") else "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key == "density":
        return f"{100 * value:.3g} %"
    if key == "mean_distance" and row["mean_distance_error"]:
        return f"{value:.3f}+-{row['mean_distance_error']:.3f}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
