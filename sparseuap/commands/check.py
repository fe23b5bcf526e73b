"""`sparseuap check`: a pattern in, a verdict out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sparseuap.check_report import as_json, as_text
from sparseuap.progress import Steps
from theory.patterns import PatternError
from theory.readers.source import read_source
from theory.theorems import FunctionClass
from theory.verdicts import Answer
from verify.pattern_verdict import assess

if TYPE_CHECKING:
    from verify.pattern_verdict import PatternVerdict

__all__ = ["command"]

EXIT = {Answer.HOLDS: 0, Answer.FAILS: 1, Answer.UNDECIDED: 3}


@click.command("check")
@click.argument("source")
@click.option(
    "--for",
    "target",
    type=click.Choice([item.value for item in FunctionClass]),
    default=FunctionClass.ALL.value,
    show_default=True,
    help="The continuous functions to approximate: all, or causal ones (output k depends on tokens 0..k).",
)
@click.option("--layers", type=click.IntRange(min=1), help="Attention layers of your model: what can they see?")
@click.option("--growth", is_flag=True, help="Show |S_k^t| (min and mean over the tokens) layer by layer.")
@click.option("--json", "json_wanted", is_flag=True, help="Print JSON.")
@click.option("--certificate", "file", type=click.Path(path_type=Path), help="Write a certificate for `recheck`.")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="Seconds for each hard question (Hamiltonian path, hop count); beyond it the answer is undecided.",
)
def command(
    source: str,
    target: str,
    layers: int | None,
    growth: bool,
    json_wanted: bool,
    file: Path | None,
    time_limit: float,
) -> int:
    """Check Assumptions 1.1-1.3 and every theorem on the pattern SOURCE.

    SOURCE is a family (star:n=16,w=1; see `sparseuap families`), a file (.json, .npz, .npy, .mtx, .graphml, edge
    list), or module:callable?n=64.

    Exit status: 0 universal for the functions asked for (and, with --layers, seen within that many layers), 1
    not, 2 bad input, 3 undecided.
    """
    with Steps() as say:
        say("reading the pattern")
        pattern = read_source(source)
        verdict = assess(pattern, target=FunctionClass(target), layers=layers, time_limit=time_limit, progress=say)
        if file is not None:
            say("writing the certificate")
            _write_certificate(verdict, source, file)
    if json_wanted:
        click.echo(json.dumps(as_json(verdict, source, growth=growth), indent=2))
    else:
        click.echo(as_text(verdict, source, growth=growth))
    return EXIT[verdict.answer]


def _write_certificate(verdict: PatternVerdict, source: str, file: Path) -> None:
    from verify.pattern_certificate import certificate

    text = json.dumps(certificate(verdict, source))
    try:
        file.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise PatternError(f"the certificate cannot be written to {file}: {error.strerror}") from error
