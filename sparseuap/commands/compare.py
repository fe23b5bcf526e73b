"""`sparseuap compare`: families and files side by side."""

from __future__ import annotations

import json
from math import isqrt
from typing import Any

import click

from sparseuap import options
from sparseuap.progress import Steps
from theory.families import connection_formula
from theory.measures import measure
from theory.patterns import PatternError
from theory.readers.source import read_source
from theory.theorems import Says
from theory.wording import printable
from verify.pattern_verdict import assess

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
    mean with +- is sampled.
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
        _print_table(rows)
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
    }


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
    console = Console(markup=False, emoji=False)  # a source's name is no markup
    if not console.is_terminal or console.width < console.measure(table).maximum:
        console.width = console.measure(table, options=console.options.update(max_width=10_000)).maximum
    with console.capture() as captured:  # its own answer to a broken pipe would be exit status 1
        console.print(table)
    click.echo(captured.get(), nl=False)


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
