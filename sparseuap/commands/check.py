"""`sparseuap check`: a pattern in, a verdict out."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from sparseuap import options
from sparseuap.check_report import judged_as_json, judged_as_text
from sparseuap.command_line import of_head
from sparseuap.progress import Steps
from sparseuap.remedy import find_remedy
from theory.files import check_output, write_text
from theory.patterns import PatternError
from theory.readers.source import read_heads, source_files
from theory.verdicts import Answer
from verify.pattern_verdict import assess

if TYPE_CHECKING:
    from pathlib import Path

    from theory.readers.heads import HeadPatterns
    from verify.pattern_verdict import PatternVerdict

__all__ = ["command"]


@click.command("check")
@click.argument("source")
@options.for_functions
@click.option(
    "--heads",
    "heads_wanted",
    type=click.Choice(["each", "union"]),
    default="each",
    show_default=True,
    help="Where the heads differ: a verdict for each, or one for what a token sees through all heads of a layer.",
)
@click.option("--layers", type=click.IntRange(min=1), help="Attention layers of your model: what can they see?")
@click.option("--growth", is_flag=True, help="Show |S_k^t| (min and mean over the tokens) layer by layer.")
@options.json_wanted
@click.option("--certificate", "file", type=options.OUTPUT, help="Write a certificate for `recheck`.")
@options.time_limit(
    10.0, "Seconds for each hard question (Hamiltonian path, hop count, --layers), then: undecided."
)
def command(
    source: str,
    for_: str,
    heads_wanted: str,
    layers: int | None,
    growth: bool,
    json_wanted: bool,
    file: Path | None,
    time_limit: float,
) -> int:
    """Check Assumptions 1.1-1.3 and every theorem on the pattern SOURCE.

    SOURCE is a family (star:n=16,w=1; see `sparseuap families`), a file (.json, .npz, .npy, .mtx, .graphml, .gml,
    .adjlist, edge list), a library's own form (flex:module:mask_mod?n=64, hf:config.json?n=64,
    layout:module:object?n=64, flash:left,right?n=64), or module:callable?n=64.

    Exit status: 0 universal for the functions asked for (and, with --layers, seen within that many layers), 1
    not, 2 bad input, 3 undecided. Where heads differ: 1 if one of them is not, else 3 if one is undecided.
    """
    if file is not None:
        check_output(file, source_files(source))
    with Steps() as say:
        say("reading the pattern")
        read = read_heads(source)
        chosen = read
        if heads_wanted == "union" and len(read.heads) > 1:
            chosen = read.chosen("union")
        elif heads_wanted == "union":
            chosen = replace(read, notes=(*read.notes, "--heads union changes nothing: all heads attend alike"))
        heads = chosen.distinct()
        if file is not None and len(heads) > 1:
            raise PatternError("a certificate is for one pattern: use --heads union, or add head=0 to the source")
        verdicts = [
            (
                numbers,
                assess(pattern, for_=for_, layers=layers, time_limit=time_limit, progress=say),
            )
            for numbers, pattern in heads
        ]
        say("what would repair it")
        remedies = [
            find_remedy(verdict, _named(source, read, heads_wanted, numbers)) for numbers, verdict in verdicts
        ]
        if file is not None:
            say("writing the certificate")
            _write_certificate(verdicts[0][1], source, file)
        seconds = time_limit if growth else None
        if growth:
            say("following the layers")
        if json_wanted:
            data = judged_as_json(verdicts, source, growth=seconds, remedies=remedies, notes=chosen.notes)
            printed = json.dumps(data, indent=2)
        else:
            printed = judged_as_text(verdicts, source, growth=seconds, remedies=remedies, notes=chosen.notes)
    click.echo(printed)
    return options.EXIT[Answer.of_all(verdict.answer for _, verdict in verdicts)]


def _named(source: str, read: HeadPatterns, wanted: str, numbers: list[int]) -> str | None:
    """Return the source that names one of the patterns judged, as commands that take a single pattern need it."""
    if len(read.distinct()) == 1:
        return source
    return of_head(source, "union" if wanted == "union" else numbers[0])


def _write_certificate(verdict: PatternVerdict, source: str, file: Path) -> None:
    from verify.pattern_certificate import certificate

    write_text(file, json.dumps(certificate(verdict, source)) + "\n")
