"""`sparseuap prove`: the construction, built and run in exact arithmetic."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from constructions.backends import choose_backend
from constructions.numbers import ProofError
from constructions.targets import TargetError
from sparseuap import options
from sparseuap.progress import Steps
from sparseuap.prove_report import as_json, as_text
from theory.files import check_output
from theory.patterns import PatternError
from theory.readers.source import read_source, source_files
from theory.wording import printable
from verify.proof import prove

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


@click.command("prove")
@click.argument("source")
@click.option("--d", "d", type=click.IntRange(min=1), required=True, help="Embedding size.")
@click.option("--delta", required=True, help="Grid step 1/K, K >= 2.")
@options.target
@click.option(
    "--construction",
    type=click.Choice(["paper", "merged", "relay"]),
    default="paper",
    show_default=True,
    help="paper: delta^-d shifts a token; merged: one; relay: no Hamiltonian path, any self-attending pattern.",
)
@click.option("--exhaustive", is_flag=True, help="Compare the ids of all K^(dn) inputs (the default up to 2^16).")
@click.option(
    "--checkpoint",
    type=options.OUTPUT,
    metavar="FILE",
    help="Save where an exhaustive run stands; a killed one goes on from FILE.",
)
@click.option("--jobs", type=int, metavar="N", help="Workers of an exhaustive run; -1: all cores.")
@click.option("--dask", metavar="ADDRESS", help="Dask scheduler for an exhaustive run: one that you trust.")
@options.on_backend
@click.option("--samples", type=click.IntRange(min=1), help="Run that many adversarial samples instead.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the samples.")
@click.option("--s", "s", type=click.IntRange(min=1), help="All-max-shift layers, instead of the true s.")
@click.option("--tight", is_flag=True, help="Only as many all-max-shifts as bring gamma(n)'s id to every token.")
@options.json_wanted
def command(
    source: str,
    d: int,
    delta: str,
    target: str,
    construction: str,
    exhaustive: bool,
    checkpoint: Path | None,
    jobs: int | None,
    dask: str | None,
    backend: str,
    device: str,
    samples: int | None,
    seed: int,
    s: int | None,
    tight: bool,
    json_wanted: bool,
) -> int:
    """Run the proof on SOURCE: build every layer, run it exactly, check every lemma.

    Exit status: 0 everything holds, 1 something fails, 2 bad input (also when Theorem 1 does not apply), 3 not all
    could be checked.
    """
    if exhaustive and samples is not None:
        raise PatternError("--exhaustive and --samples exclude each other: leave one out")
    if checkpoint is not None:
        check_output(checkpoint, source_files(source, target))
    constants: dict[str, Any] = {}
    if s is not None or tight:
        if construction == "relay":
            raise PatternError(
                "--s and --tight speak of all-max-shifts, which relay does not have: leave them out"
            )
        constants = {"s": s, "tight": tight}
    try:
        with Steps() as say:
            say("reading the pattern", None)
            pattern = read_source(source)
            proof = prove(
                pattern,
                d=d,
                delta=delta,
                target=target,
                construction=construction,
                exhaustive=exhaustive,
                samples=samples,
                seed=seed,
                backend=choose_backend(backend, device),
                jobs=jobs,
                dask=dask,
                checkpoint=checkpoint,
                progress=say,
                **constants,
            )
    except (ProofError, TargetError) as error:
        raise PatternError(str(error)) from error
    if json_wanted:
        click.echo(json.dumps(as_json(proof, source, target), indent=2))
    else:
        click.echo(as_text(proof, printable(source), target))
    return options.EXIT[proof.answer]
