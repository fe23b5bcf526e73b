"""Rechecking where a certificate says that its pattern comes from: a named family is built again."""

from __future__ import annotations

import re

from theory.families import FAMILIES, parse_family
from theory.patterns import PatternError, SparsityPattern
from verify.certificate_kinds import shown
from verify.recheck_ledger import FalseClaim, Unchecked

__all__ = ["check_source"]

TOKENS = re.compile(r"[:,]\s*n\s*=\s*([0-9]{1,18})\s*(?:,|$)")


def check_source(source: str, pattern: SparsityPattern) -> str:
    """Check that a source of families, joined by ``+`` where there are several layers, names this pattern.

    Files and code are not read again, because reading them may run what they hold.

    Raises
    ------
    FalseClaim
        If the families named give another pattern. Families that draw at random do so with the NumPy installed.
    Unchecked
        If the source names no families, or ones that cannot be built.

    Examples
    --------
    >>> check_source("star:n=16,w=1", parse_family("star:n=16,w=1"))
    "'star:n=16,w=1' names this pattern"
    """
    parts = source.split("+")
    if not all(part.partition(":")[0].strip() in FAMILIES for part in parts):
        raise Unchecked(f"{shown(source)} is not read again: it names no family")
    for part in parts:
        tokens = TOKENS.search(part)
        if tokens and int(tokens[1]) > pattern.n:  # refused before anything of that size is built
            raise FalseClaim(f"{shown(part)} has {tokens[1]} tokens or more, the pattern {pattern.n}")
    done = 0
    for part in parts:  # one at a time, up to the first that differs: many large ones are never held together
        try:
            named = parse_family(part)
        except PatternError as error:
            raise Unchecked(f"{shown(source)} cannot be built again: {error}") from error
        layers = pattern.layers[done : done + named.p]
        if not layers or named != SparsityPattern(layers):
            raise FalseClaim(f"{shown(part)} names another pattern: {named!r}")
        done += named.p
    if done < pattern.p:
        raise FalseClaim(f"{shown(source)} has {done} layers, the pattern {pattern.p}")
    return f"{shown(source)} names this pattern"
