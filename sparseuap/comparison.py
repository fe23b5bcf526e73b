"""Patterns side by side: what `sparseuap compare` prints, row by row."""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, Any, Unpack

from sparseuap.patterns import PatternLike, Reading, as_pattern, name_of
from theory.families import connection_formula
from theory.measures import measure
from verify.pattern_verdict import assess

if TYPE_CHECKING:
    from collections.abc import Callable

    from theory.patterns import SparsityPattern

__all__ = ["DEFAULT_TOKENS", "compare", "default_sources"]

DEFAULT_TOKENS = 64


def default_sources(n: int) -> list[str]:
    """Return one pattern of every kind named in the two papers, of the given length.

    Examples
    --------
    >>> default_sources(64)[1]
    'strided:n=64,w=8'
    """
    w = max(w for w in range(1, isqrt(n) + 1) if n % w == 0)  # Fixed needs a segment length that divides n
    return [
        f"dense:n={n}",
        f"strided:n={n},w={w}",
        f"fixed:n={n},w={w}",
        f"star:n={n},w=1",
        f"hub:n={n}",
        f"ring:n={n}",
        f"window:n={n},w=1",
        f"causal:n={n}",
        f"random:n={n},r=3,seed=0",
        f"longformer:n={n},window=2,globals=1",
        f"bigbird:n={n},window=1,random=2,globals=1,seed=0",
    ]


def compare(
    *patterns: PatternLike,
    time_limit: float = 10.0,
    progress: Callable[[str, float | None], None] | None = None,
    **reading: Unpack[Reading],
) -> list[dict[str, Any]]:
    """Compare patterns, or without any a family of every kind at 64 tokens.

    Parameters
    ----------
    time_limit
        Seconds for each hard question on each pattern.
    progress
        Called with the pattern at work and the share done.
    **reading
        As for `sparseuap.patterns.as_pattern`; for all of the patterns.

    Returns
    -------
    list[dict[str, Any]]
        A row a pattern, as ``sparseuap compare --json`` has it: size, Assumptions 1.1 to 1.3 (None: undecided), s,
        measures of the union digraph, and what each theorem says.

    Examples
    --------
    >>> [(row["connections"], row["s"]) for row in compare("ring:n=4", "star:n=5,w=1")]
    [(8, 3), (21, 2)]
    """
    say = progress or (lambda _step, _share: None)
    given = patterns or tuple(default_sources(DEFAULT_TOKENS))
    rows = []
    for number, pattern in enumerate(given):
        say(name_of(pattern), number / len(given))
        rows.append(_row(name_of(pattern), as_pattern(pattern, **reading), time_limit))
    return rows


def _row(source: str, pattern: SparsityPattern, time_limit: float) -> dict[str, Any]:
    verdict = assess(pattern, time_limit=time_limit)
    found = measure(pattern, time_limit=time_limit)
    return {
        "source": source,
        "n": pattern.n,
        "p": pattern.p,
        "connections": found.connections,
        "connections_formula": connection_formula(source),
        "density": found.density,
        "degree_mean": found.degree_mean,
        "assumption_1_1": not verdict.violations.size,
        "assumption_1_2": verdict.path.answer.as_json(),
        "assumption_1_3": verdict.hops.answer.as_json(),
        "s": verdict.hops.s,
        "reach": verdict.reach.value,
        "diameter": found.distances.diameter,
        "mean_distance": found.distances.mean,
        "mean_distance_error": found.distances.mean_error,
        "spectral_gap": found.spectral_gap,
        "star": found.hub is not None,
        "theorems": {item.theorem: item.says.value for item in verdict.statements},
        "universal_causal": verdict.universal_causal.as_json(),
    }
