"""Rechecking where a certificate says that its pattern comes from: a named family is built again."""

from __future__ import annotations

import re
from itertools import chain

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
    try:
        named = SparsityPattern(tuple(chain.from_iterable(parse_family(part).layers for part in parts)))
    except PatternError as error:
        raise Unchecked(f"{shown(source)} cannot be built again: {error}") from error
    if named != pattern:
        raise FalseClaim(f"{shown(source)} names another pattern, with the digest {named.digest}")
    return f"{shown(source)} names this pattern"
