"""`sparseuap compare`: families and files side by side."""

from __future__ import annotations

import json
from typing import Any

import click

from sparseuap import options
from sparseuap.comparison import DEFAULT_TOKENS, compare, default_sources
from sparseuap.progress import Steps
from theory.patterns import PatternError
from theory.theorems import Says

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


@click.command("compare")
@click.argument("sources", nargs=-1)
@click.option("--n", "tokens", type=click.IntRange(min=8), help="Tokens of the default families (64).")
@options.json_wanted
@options.time_limit(10.0, "Seconds for each hard question on each pattern.")
def command(sources: tuple[str, ...], tokens: int | None, json_wanted: bool, time_limit: float) -> int:
    """Compare the patterns SOURCES, or a family of every kind at N tokens.

    Diameter, mean distance and spectral gap (of the normalised Laplacian) are those of the union digraph; a
    mean with +- is sampled.
    """
    if sources and tokens is not None:
        raise PatternError("--n sets the length of the default families: leave it out when SOURCES are given")
    chosen = sources or default_sources(tokens or DEFAULT_TOKENS)
    with Steps() as say:
        rows = compare(*chosen, time_limit=time_limit, progress=say)
    if json_wanted:
        click.echo(json.dumps(rows, indent=2))
    else:
        _print_table(rows)
    return 0


def _print_table(rows: list[dict[str, Any]]) -> None:
    """Print a table that a terminal wraps and a pipe keeps whole."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in HEADINGS.values():
        table.add_column(heading, justify="left" if heading in ("pattern", "reach") else "right", no_wrap=True)
    for heading in THEOREMS.values():
        table.add_column(heading, no_wrap=True)
    for row in rows:
        said = [MARKS[Says(row["theorems"][theorem])] for theorem in THEOREMS]
        table.add_row(*(_cell(key, row) for key in HEADINGS), *said)
    console = Console()
    if not console.is_terminal or console.width < console.measure(table).maximum:
        console.width = console.measure(table, options=console.options.update(max_width=10_000)).maximum
    console.print(table)


def _cell(key: str, row: dict[str, Any]) -> str:
    value = row[key]
    if value is None:
        return "undecided" if key.startswith("assumption") else "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if key == "density":
        return f"{100 * value:.3g} %"
    if key == "mean_distance" and row["mean_distance_error"]:
        return f"{value:.3f}+-{row['mean_distance_error']:.3f}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
