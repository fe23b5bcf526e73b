"""`sparseuap map`: whether a probability map is sharp enough for Assumption 2, and from which t on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from sparseuap import options
from sparseuap.progress import Steps
from theory.assumption_2 import check_assumption_2
from theory.probability_maps import parse_map
from theory.wording import name_upper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from theory.assumption_2 import Assumption2
    from theory.probability_maps import ProbabilityMap

__all__ = ["command"]

MOST_SCORES = 10**5
SHOWN = 8


@click.command("map")
@click.argument("name", metavar="NAME|module:callable")
@click.option("--zeta", type=float, required=True, help="The lead of the largest score, > 0.")
@click.option("--eta", type=float, required=True, help="The mass that all others may get together, in (0, 1].")
@click.option("--n", "m", type=click.IntRange(2, MOST_SCORES), required=True, help="Number of scores.")
@options.json_wanted
def command(name: str, zeta: float, eta: float, m: int, json_wanted: bool) -> int:
    """Check Assumption 2 for a probability map: some t makes rho[t v] give the leader at least 1 - eta.

    NAME is softmax, topk:4, sparsemax, sparselin-gen:0.3, entmax:1.5, hardmax, or a counter-example: uniform,
    squared, tanh-capped:50. Your own map is module:callable, from m float64 scores to m weights.

    Exit status: 0 holds, 1 fails, 2 bad input, 3 undecided.
    """
    with Steps() as say:
        say("reading the map")
        rho = parse_map(name)
        say("trying vectors")
        result = check_assumption_2(rho, zeta, eta, m)
    if json_wanted:
        click.echo(json.dumps(_as_json(rho, result), indent=2))
    else:
        click.echo("\n".join(_as_text(rho, result)))
    return options.EXIT[result.answer]


def _as_json(rho: ProbabilityMap, result: Assumption2) -> dict[str, Any]:
    return {
        "map": result.name,
        "definition": rho.definition,
        "source": rho.source,
        "zeta": result.zeta,
        "eta": result.eta,
        "n": result.m,
        "holds": result.holds,
        "proved": result.proved,
        "why": result.why,
        "t_sufficient": result.t_sufficient,
        "t_tight": result.t_tight,
        "t_exact": rho.exact_t(result.zeta),
        "t_found": result.t_found,
        "worst_vector": result.worst_vector,
        "worst_t": result.worst_t,
        "leader_weight": result.leader_weight,
        "vectors": result.vectors,
    }


def _as_text(rho: ProbabilityMap, result: Assumption2) -> Iterator[str]:
    yield f"{result.name}: {rho.definition}  [{rho.source}]"
    yield f"Assumption 2 at zeta = {result.zeta:g}, eta = {result.eta:g}, {result.m} scores: {result.answer.value}"
    yield f"  {result.why}"
    yield ""
    rows = (
        ("t sufficient", result.t_sufficient, "by formula"),
        ("t tight", result.t_tight, "by formula, the smallest (0: every t > 0)"),
        ("t exact", rho.exact_t(result.zeta), "by formula, exactly one-hot from here on"),
        ("t found", result.t_found, f"the smallest that {result.vectors} adversarial vectors leave"),
    )
    for label, value, meaning in rows:
        if value is not None:
            yield f"  {label:14}{name_upper(value, 9):<16}{meaning}"
    if result.worst_vector is not None:
        entries = ", ".join(f"{entry:.6g}" for entry in result.worst_vector[:SHOWN])
        more = ", ..." if result.m > SHOWN else ""
        yield f"  worst vector  [{entries}{more}]"
        yield f"                at t = {result.worst_t:.6g} its leader gets {result.leader_weight:.9g}"
