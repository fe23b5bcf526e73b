"""`sparseuap claims`: the papers' claims, run again."""

from __future__ import annotations

import json
import textwrap

import click

from sparseuap import options
from sparseuap.progress import Steps
from theory.patterns import PatternError
from verify.claims import CLAIMS

__all__ = ["command"]


@click.command("claims")
@click.argument("names", nargs=-1)
@options.json_wanted
def command(names: tuple[str, ...], json_wanted: bool) -> int:
    """Put the papers' claims NAMES (all without one) to the test and print the evidence.

    Exit status: 0 the tests ran, whatever they showed; 2 bad input.
    """
    for name in names:
        if name not in CLAIMS:
            raise PatternError(f"no claim is called {name!r}: choose from {', '.join(CLAIMS)}")
    chosen = [CLAIMS[name] for name in names or CLAIMS]
    findings = []
    with Steps() as say:
        for number, claim in enumerate(chosen):
            say(claim.statement, number / len(chosen))
            findings.append(claim.test())
    if json_wanted:
        rows = [
            {
                "name": claim.name,
                "source": claim.source,
                "statement": claim.statement,
                "outcome": finding.outcome.value,
                "evidence": finding.evidence,
            }
            for claim, finding in zip(chosen, findings, strict=True)
        ]
        click.echo(json.dumps(rows, indent=2))
        return 0
    for claim, finding in zip(chosen, findings, strict=True):
        click.echo(f"{claim.name}: {claim.source}: {claim.statement}: {finding.outcome.value}")
        click.echo(textwrap.fill(finding.evidence, 110, initial_indent="    ", subsequent_indent="    ") + "\n")
    return 0
