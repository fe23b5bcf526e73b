"""`sparseuap error`: how far the relaxed network is from f, measured and bounded."""

from __future__ import annotations

import json

import click

from constructions.backends import choose_backend
from constructions.numbers import ProofError
from constructions.targets import TargetError, parse_target
from sparseuap import options
from sparseuap.error_report import as_json, as_text
from sparseuap.progress import Steps
from theory.patterns import PatternError
from theory.probability_maps import parse_map
from theory.readers.source import read_source
from theory.wording import printable
from verify.error_study import study_error
from verify.proof import grid_levels

__all__ = ["command"]


def temperatures(text: str) -> list[float] | None:
    """Return the numbers of ``1,2,4``, None for ``auto``."""
    return None if text == "auto" else _numbers(text, "--t", "numbers with commas between, as in 1,2,4, or auto")


def ends(text: str) -> tuple[float, float]:
    """Return the ends of ``A,B``."""
    wanted = "two numbers with a comma between, as in -1,1"
    found = _numbers(text, "--box", wanted)
    if len(found) != 2:
        raise PatternError(f"--box takes {wanted}, got {text!r}")
    return found[0], found[1]


def _numbers(text: str, option: str, wanted: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise PatternError(f"{option} takes {wanted}, got {text!r}") from error


@click.command("error")
@click.argument("source")
@click.option("--d", "d", type=click.IntRange(min=1), required=True, help="Embedding size.")
@click.option("--delta", required=True, help="Grid step 1/K, K >= 2; on a box, this share of its side.")
@options.target
@click.option(
    "--rho", default="softmax", show_default=True, help="The map, such as entmax:1.5, or module:callable."
)
@click.option("--t", "t", default="auto", show_default=True, help="Temperatures 1,2,4, or auto.")
@click.option("--alpha", type=float, help="The ramp's share of a cell; default: so small that it hardly counts.")
@options.p_of_norm
@click.option(
    "--construction",
    type=click.Choice(["paper", "merged", "relay"]),
    default="paper",
    show_default=True,
    help="As for prove; relay's ids are the smallest.",
)
@click.option("--box", default="0,1", show_default=True, help="The domain is [A, B)^(d x n); A,B.")
@options.on_backend
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the samples.")
@options.json_wanted
def command(
    source: str,
    d: int,
    delta: str,
    target: str,
    rho: str,
    t: str,
    alpha: float | None,
    p: float,
    construction: str,
    box: str,
    backend: str,
    device: str,
    seed: int,
    json_wanted: bool,
) -> int:
    """Relax the network of SOURCE and measure d_p(f, g) over the temperature t.

    Exit status: 0 measured, 1 a measured value is above its rigorous bound, 2 bad input (also when ids do not fit
    float64).
    """
    wanted, domain = temperatures(t), ends(box)
    try:
        with Steps() as say:
            say("reading the pattern", None)
            study = study_error(
                read_source(source),
                d=d,
                levels=grid_levels(delta),
                target=parse_target(target),
                rho=parse_map(rho),
                construction=construction,
                t=wanted,
                alpha=alpha,
                p=p,
                box=domain,
                seed=seed,
                backend=choose_backend(backend, device),
                progress=say,
            )
    except (ProofError, TargetError) as error:
        raise PatternError(str(error)) from error
    if json_wanted:
        click.echo(json.dumps(as_json(study, source), indent=2, allow_nan=False))
    else:
        click.echo(as_text(study, printable(source)))
    return 0 if study.holds else 1
