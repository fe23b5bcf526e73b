"""`sparseuap sweep`: the verdict over sequence lengths."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from sparseuap import options
from sparseuap.command_line import command_line
from sparseuap.length_sweep import sweep
from sparseuap.progress import Steps
from theory.graph import Reach
from theory.theorems import FunctionClass
from theory.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["command"]

SHOWN_RANGES = 12
WORDS = {"holds": "universal", "fails": "NOT universal", "undecided": "undecided", "refused": "refused"}


@click.command("sweep")
@click.argument("source")
@click.option(
    "--n", "lengths", required=True, metavar="FIRST:LAST[:STEP]", help="The lengths, both ends included."
)
@options.for_functions
@click.option("--full", is_flag=True, help="Look at every assumption and theorem, as `check` does (slower).")
@options.time_limit(1.0, "With --full: seconds for each hard question at each length.")
@options.json_wanted
def command(source: str, lengths: str, for_: str, full: bool, time_limit: float, json_wanted: bool) -> int:
    """Check the pattern SOURCE at many sequence lengths and say at which it breaks.

    SOURCE is a family (fixed:w=5) or module:callable?w=5; its n is replaced by each length in turn. The verdict is
    that of the reach theorem; --full adds Assumptions 1.2 and 1.3, s and the other theorems.

    Exit status: 0 universal at every length that the source admits, 1 not at some, 2 bad input, 3 undecided.
    """
    functions = FunctionClass.of(for_)
    with Steps() as say:
        found = sweep(source, lengths, for_=for_, full=full, time_limit=time_limit, progress=say)
    rows, summary = found.rows, found.summary
    if json_wanted:
        data = {"source": source, "for": for_, "lengths": len(rows), "summary": summary, "results": rows}
        click.echo(json.dumps(data, indent=2))
    else:
        click.echo("\n".join(_lines(printable(source), functions, rows, summary, full)))
        if functions is FunctionClass.ALL and _for_a_decoder(rows):
            click.echo(f"No key comes after its query; for a decoder ask for {FunctionClass.CAUSAL.functions}:")
            click.echo(f"    {command_line('sweep', source, '--n', lengths, '--for', 'causal')}")
    return options.EXIT[found.answer]


def _lines(
    source: str, functions: FunctionClass, rows: Sequence[dict[str, Any]], summary: dict[str, str], full: bool
) -> Iterator[str]:
    first, last = rows[0]["n"], rows[-1]["n"]
    yield f"{source}: {len(rows)} lengths, n = {first}..{last}; {functions.functions}"
    for state, said in summary.items():
        found = [row for row in rows if row["state"] == state]
        yield f"  {WORDS[state]:14} {said} ({len(found)} of {len(rows)})"
        if state != "holds":
            yield f"                 n = {found[0]['n']}: {found[0]['advice'] or found[0]['why']}"
    yield ""
    groups = [(label, list(members)) for label, members in groupby(rows, key=lambda row: _label(row, full))]
    for label, members in groups[:SHOWN_RANGES]:
        ends = (members[0]["n"], members[-1]["n"])
        span = str(ends[0]) if ends[0] == ends[1] else f"{ends[0]}..{ends[1]}"
        yield f"  n = {span:12} {label}"
    if len(groups) > SHOWN_RANGES:
        yield f"  and {len(groups) - SHOWN_RANGES} more ranges (--json lists every length)"


def _for_a_decoder(rows: Sequence[dict[str, Any]]) -> bool:
    """Return whether some length is not universal, and no key comes after its query at any of those."""
    failing = [row["reach"] for row in rows if row["state"] == "fails"]
    return bool(failing) and set(failing) <= {Reach.CAUSAL.value, Reach.WITHIN_CAUSAL.value}


def _label(row: dict[str, Any], full: bool) -> str:
    if not full or row["state"] == "refused":
        return WORDS[row["state"]]
    marks = {True: "holds", False: "fails", None: "undecided"}
    parts = [f"1.{i} {marks[row[f'assumption_1_{i}']]}" for i in (1, 2, 3)]
    s = "-" if row["s"] is None else row["s"]
    return f"{WORDS[row['state']]:14} {', '.join(parts)}, s = {s}"
