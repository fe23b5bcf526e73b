"""Families from text: ``name:key=value,...``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from theory.families.heads import HEADS
from theory.families.registry import FAMILIES, Family, Parameter
from theory.patterns import PatternError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from theory.patterns import SparsityPattern

__all__ = ["connection_formula", "parse_family"]

Value = int | bool | str | None

_MAX_DIGITS = 18


def parse_family(spec: str) -> SparsityPattern:
    """Build the pattern that `spec` names.

    Parameters
    ----------
    spec
        ``name:key=value,...`` with the names and keys of `FAMILIES`.

    Raises
    ------
    PatternError
        If the family or a key is unknown, a key is missing or given twice, a value is of the wrong kind or out of
        range, or the connections would not fit; in one line that names the culprit and what is accepted.

    Examples
    --------
    >>> parse_family("star:n=16,w=1")
    SparsityPattern(n=16, p=1, connections=76, density=29.7%)
    >>> parse_family("strided:n=64,w=8,heads=union").p
    1
    >>> parse_family("stride:n=64,w=8")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    theory.connections.PatternError: unknown family 'stride', did you mean 'strided'? there are dense, causal, ...
    """
    family, values = _read(spec)
    try:
        return family.build(**{p.argument: values[p.name] for p in family.parameters if p.name in values})
    except PatternError as error:
        raise PatternError(f"{family.name}: {error}") from None


def connection_formula(spec: str) -> int | None:
    """Evaluate the BigBird explainer's count of connections, |E| = n(2w+r+g), for a family of BigBird's type.

    BigBird, and what it contains: window (r = g = 0), random (w = g = 0), Longformer (r = 0; w counts the
    multiples of the dilation). n counts the tokens of the pattern, extended global ones too; a connection of two
    blocks of B tokens counts B^2; p patterns count p times. The exact count is another number: it has 2w+1 keys
    per row before clipping, full rows for the global tokens, and counts overlaps once.

    Returns
    -------
    int | None
        None for whatever is not a family of that type, a file's name for example.

    Examples
    --------
    >>> connection_formula("bigbird:n=4096,window=3,random=3,globals=2")
    45056
    >>> connection_formula("star:n=16,w=1") is None
    True
    """
    try:
        family, values = _read(spec)
    except PatternError:
        return None
    if family.name not in ("window", "random", "longformer", "bigbird"):
        return None

    def number(key: str, default: int = 0) -> int:
        return int(values.get(key) or default)

    block = number("block", 1)
    n = number("n") + (number("globals") * block if values.get("extended") else 0)
    reach = number("w") + number("window") // number("dilation", 1)
    per_unit = 2 * reach + number("r") + number("random") + number("globals")
    return number("layers", 1) * -(-n // block) * per_unit * block**2


def _read(spec: str) -> tuple[Family, dict[str, Value]]:
    """Return the family and the values given, by key."""
    if not isinstance(spec, str):
        raise PatternError(f"a family is text, such as star:n=16,w=1, got {type(spec).__name__}")
    name, _, rest = spec.partition(":")
    name = name.strip()
    family = FAMILIES.get(name)
    if family is None:
        raise PatternError(
            f"unknown family {_shown(name)}{_nearest(name, FAMILIES)} there are {', '.join(FAMILIES)}"
        )
    known = {key: p for p in family.parameters for key in (p.name, p.alias) if key is not None}
    values: dict[str, Value] = {}
    for item in rest.split(",") if rest.strip() else ():
        key, equals, text = (part.strip() for part in item.partition("="))
        if not equals or not key:
            raise PatternError(f"{name}: expected key=value, got {_shown(item)}; {_accepted(family)}")
        if key not in known:
            raise PatternError(f"{name} has no key {_shown(key)}{_nearest(key, known)} {_accepted(family)}")
        parameter = known[key]
        if parameter.name in values:
            raise PatternError(f"{name}: {parameter.name} is given twice, the second time as {_shown(item)}")
        values[parameter.name] = _value(family, parameter, text)
    missing = [p for p in family.parameters if p.required and p.name not in values]
    if missing:
        named = ", ".join(f"{p.name} ({p.accepts})" for p in missing)
        raise PatternError(f"{name} needs {named}, as in {family.example}; {_accepted(family)}")
    return family, values


def _value(family: Family, parameter: Parameter, text: str) -> Value:
    """Read one value."""
    if parameter.kind == "true/false" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if parameter.kind == "heads" and text in HEADS:
        return text
    if parameter.kind == "whole number" and re.fullmatch(r"[0-9]+", text) and len(text) <= _MAX_DIGITS:
        number = int(text)
        if number >= parameter.least:
            return number
    raise PatternError(f"{family.name}: {parameter.name} must be {parameter.accepts}, got {_shown(text)}")


def _accepted(family: Family) -> str:
    keys = (p.name if p.required else f"[{p.name}]" for p in family.parameters)
    return f"{family.name} accepts {', '.join(keys)}"


def _nearest(word: str, known: Iterable[str]) -> str:
    import difflib  # only on the way out with an error

    near = difflib.get_close_matches(word, list(known), n=1)
    return f", did you mean {near[0]!r}?" if near else ";"


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "...")
