"""`sparseuap compare`: families and files side by side."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING, Any

import click

from sparseuap import options
from sparseuap.comparison import DEFAULT_TOKENS, compare, default_sources
from sparseuap.progress import Steps
from sparseuap.text_table import Column, fit, terminal_width
from theory.patterns import PatternError
from theory.theorems import Says
from theory.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["command"]

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
    chosen = sources or default_sources(tokens or DEFAULT_TOKENS)
    with Steps() as say:
        rows = compare(*chosen, time_limit=time_limit, progress=say)
    if json_wanted:
        click.echo(json.dumps(rows, indent=2))
    else:
        click.echo("\n".join(_lines(rows, terminal_width())))
    return 0


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
