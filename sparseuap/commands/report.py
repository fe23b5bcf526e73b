"""`sparseuap report`: verdict, proof, figures, player and error in one HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from constructions.numbers import ProofError
from constructions.targets import TargetError
from sparseuap import options as shared
from sparseuap.progress import Steps
from sparseuap.report_case import SMALL, read_case
from sparseuap.report_run import FILES, write_report
from theory.files import check_folder
from theory.patterns import PatternError
from theory.readers.source import read_source, source_files
from theory.verdicts import Answer
from theory.wording import printable
from verify.error_study import ErrorStudy
from verify.proof import Proof

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command("report")
@click.argument("source")
@click.option("--out", "folder", type=shared.OUTPUT, required=True, help="Folder for index.html.")
@shared.for_functions
@click.option("--layers", type=click.IntRange(min=1), help="Attention layers of your model, as for check.")
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), default=10.0, show_default=True)
@click.option("--d", "d", type=click.IntRange(min=1), help=f"Embedding size; 1 for at most {SMALL} tokens.")
@click.option("--delta", help=f"Grid step 1/K, K >= 2; 1/2 for at most {SMALL} tokens.")
@shared.target
@click.option(
    "--construction",
    type=click.Choice(["auto", "paper", "merged", "relay"]),
    default="auto",
    show_default=True,
    help="As for prove; auto: paper where Theorem 1 applies, else relay.",
)
@click.option("--exhaustive", is_flag=True, help="Run all K^(dn) inputs (the default up to 2^16).")
@click.option("--samples", type=click.IntRange(min=1), help="Run that many adversarial samples instead.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of all samples.")
@click.option("--rho", default="softmax", show_default=True, help="The map, such as entmax:1.5.")
@click.option("--t", "t", default="auto", show_default=True, help="Temperatures 1,2,4, or auto.")
@click.option("--alpha", type=float, help="The ramp's share of a cell, as for error.")
@shared.p_of_norm
@click.option("--box", default="0,1", show_default=True, help="The domain is [A, B)^(d x n), as for error.")
@click.pass_context
def command(context: click.Context, /, source: str, folder: Path, **options: Any) -> int:
    """Write DIR/index.html, a page that needs nothing else: verdict, proof, figures, player, error.

    What a pattern is too large for, or not covered by, is left out with a sentence that says why.

    Exit status: 0 universal and everything checked holds, 1 not, 2 bad input, 3 undecided.
    """
    check_folder(folder, FILES, source_files(source, options["target"], options["rho"]))
    with Steps() as say:
        say("reading the pattern", None)
        pattern = read_source(source)
        try:
            case = read_case(options, pattern.n)
        except (ProofError, TargetError) as error:
            raise PatternError(str(error)) from error
        given = frozenset(
            name
            for name in options
            if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
        )
        written = write_report(
            pattern,
            source,
            case,
            folder,
            for_=options["for_"],
            layers=options["layers"],
            time_limit=options["time_limit"],
            options=options,
            given=given,
            progress=say,
        )
    click.echo(f"The report is in {printable(str(written.page))}")
    proof, study = written.proof, written.study
    answers = [
        written.verdict.answer,
        *([proof.answer] if isinstance(proof, Proof) else []),
        *([Answer.HOLDS if study.holds else Answer.FAILS] if isinstance(study, ErrorStudy) else []),
    ]
    return shared.EXIT[Answer.of_all(answers)]
