"""`sparseuap families`: what `name:key=value,...` accepts."""

from __future__ import annotations

import json

import click

from theory.families import FAMILIES

__all__ = ["command"]


@click.command("families")
@click.option("--json", "json_wanted", is_flag=True, help="Print JSON.")
def command(json_wanted: bool) -> int:
    """List the families, their parameters and formulas."""
    if json_wanted:
        click.echo(json.dumps([_as_json(name) for name in FAMILIES], indent=2))
        return 0
    for name, family in FAMILIES.items():
        arguments = ",".join(
            f"{item.name}={'...' if item.default is None else item.default}" for item in family.parameters
        )
        click.echo(f"{name}:{arguments}")
        click.echo(f"    {family.formula}  [{family.source}]")
        for item in family.parameters:
            click.echo(f"    {item.name:10} {item.meaning}")
    return 0
