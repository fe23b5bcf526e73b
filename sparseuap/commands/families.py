"""`sparseuap families`: what `name:key=value,...` accepts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from sparseuap import options
from theory.families import FAMILIES

if TYPE_CHECKING:
    from theory.families import Family, Parameter

__all__ = ["command"]


@click.command("families")
@options.json_wanted
def command(json_wanted: bool) -> int:
    """List the families, their keys and formulas (tokens from 1, as in the papers)."""
    if json_wanted:
        click.echo(json.dumps([_as_json(family) for family in FAMILIES.values()], indent=2))
        return 0
    for family in FAMILIES.values():
        click.echo(f"{family.name}  {family.formula}  [{family.source}]")
        for parameter in family.parameters:
            click.echo(f"    {_key(parameter):22}{parameter.meaning}: {_value(parameter)}")
        click.echo(f"    e.g. {family.example}\n")
    return 0


def _key(parameter: Parameter) -> str:
    return parameter.name if parameter.alias is None else f"{parameter.name} (or {parameter.alias})"


def _value(parameter: Parameter) -> str:
    if parameter.required or parameter.default is None:
        return parameter.accepts
    default = str(parameter.default).lower() if isinstance(parameter.default, bool) else parameter.default
    return f"{parameter.accepts}; default {default}"


def _as_json(family: Family) -> dict[str, Any]:
    return {
        "name": family.name,
        "formula": family.formula,
        "source": family.source,
        "example": family.example,
        "parameters": [
            {
                "name": parameter.name,
                "alias": parameter.alias,
                "meaning": parameter.meaning,
                "accepts": parameter.accepts,
                "required": parameter.required,
                "default": parameter.default,
            }
            for parameter in family.parameters
        ],
    }
