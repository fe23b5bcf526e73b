"""The door: what the floors below do for a `SparsityPattern`, for whatever a caller has for one.

Every function takes the keywords of `sparseuap.patterns.as_pattern` beside its own.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from sparseuap.patterns import PatternLike, Reading, as_pattern, name_of
from theory import hamiltonian, hops, measures
from theory import repair as finder
from theory.checks import PatternError
from theory.theorems import FunctionClass
from verify import pattern_certificate, pattern_verdict
from verify import recheck as checker
from verify.pattern_verdict import PatternVerdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from theory.hamiltonian import HamiltonianPath
    from theory.hops import Growth, HopCount
    from theory.measures import Measures
    from theory.repair import Repair, Theorem
    from verify.recheck import Recheck

    Say = Callable[[str, float | None], None]

__all__ = ["assess", "certificate", "growth", "hamiltonian_path", "hop_count", "measure", "recheck", "repair"]


def assess(
    pattern: PatternLike,
    *,
    for_: FunctionClass | str = FunctionClass.ALL,
    layers: int | None = None,
    time_limit: float = 10.0,
    progress: Say | None = None,
    **reading: Unpack[Reading],
) -> PatternVerdict:
    """Check every assumption and theorem on a pattern: `verify.pattern_verdict.assess`.

    Raises
    ------
    PatternError
        As there, or as `as_pattern`.

    Examples
    --------
    >>> import networkx as nx
    >>> assess(nx.cycle_graph(4)).advice
    'token 0 does not attend to itself in pattern 0: no theorem here covers that; add it'
    >>> assess(lambda b, h, q, k: q >= k, n=4, for_="causal").answer.value
    'holds'
    """
    read = as_pattern(pattern, **reading)
    return pattern_verdict.assess(read, for_=for_, layers=layers, time_limit=time_limit, progress=progress)


def certificate(
    verdict: PatternVerdict | PatternLike, source: str | None = None, **reading: Unpack[Reading]
) -> dict[str, Any]:
    """Return the certificate of a verdict, or of a pattern that is assessed for it.

    Parameters
    ----------
    verdict
        What `assess` found, or a pattern.
    source
        Where the pattern came from, for the reader; by default what was given.

    Examples
    --------
    >>> certificate("ring:n=3")["source"]
    'ring:n=3'
    """
    if isinstance(verdict, PatternVerdict):
        if reading:
            raise PatternError(f"{next(iter(reading))} has no effect here: the verdict knows its pattern")
        name = repr(verdict.pattern)
    else:
        verdict, name = assess(verdict, **reading), name_of(verdict)
    return pattern_certificate.certificate(verdict, name if source is None else source)


def recheck(
    certificate: Mapping[str, Any] | str | os.PathLike[str],
    pattern: PatternLike | None = None,
    **reading: Unpack[Reading],
) -> Recheck:
    """Check every claim of a certificate, given itself or as a file: `verify.recheck.recheck`.

    Examples
    --------
    >>> recheck(certificate("ring:n=3"), "ring:n=3").valid, recheck(certificate("ring:n=3"), "ring:n=4").valid
    (True, False)
    """
    if isinstance(certificate, (str, os.PathLike)):
        certificate = checker.read_certificate(Path(certificate))
    return checker.recheck(certificate, None if pattern is None else as_pattern(pattern, **reading))


def repair(
    pattern: PatternLike,
    *,
    for_: FunctionClass | str = FunctionClass.ALL,
    theorem: Theorem = "reach",
    keep_causal: bool | None = None,
    layer: int | None = None,
    time_limit: float = 10.0,
    **reading: Unpack[Reading],
) -> Repair:
    """Find a smallest set of connections to add so that a theorem applies: `theory.repair.repair`.

    Examples
    --------
    >>> repair("fixed:n=23,w=5").added.tolist()
    [[1, 19, 22]]
    """
    read = as_pattern(pattern, **reading)
    return finder.repair(
        read, for_=for_, theorem=theorem, keep_causal=keep_causal, layer=layer, time_limit=time_limit
    )


def measure(pattern: PatternLike, *, time_limit: float = 10.0, **reading: Unpack[Reading]) -> Measures:
    """Return size, distances and spectral gap: `theory.measures.measure`.

    Examples
    --------
    >>> measure("ring:n=5").distances.diameter
    4
    """
    return measures.measure(as_pattern(pattern, **reading), time_limit=time_limit)


def hop_count(
    pattern: PatternLike,
    *,
    time_limit: float | None = 60.0,
    progress: Say | None = None,
    **reading: Unpack[Reading],
) -> HopCount:
    """Return the smallest s of Assumption 1.3, or why there is none: `theory.hops.hop_count`.

    Examples
    --------
    >>> hop_count("window:n=9,w=2").s
    4
    """
    return hops.hop_count(as_pattern(pattern, **reading), time_limit=time_limit, progress=progress)


def growth(
    pattern: PatternLike,
    layers: int | None = None,
    *,
    residual: bool = False,
    time_limit: float | None = 60.0,
    **reading: Unpack[Reading],
) -> Growth:
    """Return the least and the mean of |S_k^t| layer by layer, as far as the time allows: `theory.hops.growth`.

    Examples
    --------
    >>> growth("ring:n=4").min
    (2, 3, 4)
    """
    return hops.growth(as_pattern(pattern, **reading), layers, residual=residual, time_limit=time_limit)


def hamiltonian_path(
    pattern: PatternLike,
    *,
    time_limit: float = 10.0,
    progress: Callable[[str], None] | None = None,
    **reading: Unpack[Reading],
) -> HamiltonianPath:
    """Decide Assumption 1.2: `theory.hamiltonian.hamiltonian_path`.

    Examples
    --------
    >>> hamiltonian_path("ring:n=4").path.tolist()
    [0, 1, 2, 3]
    """
    return hamiltonian.hamiltonian_path(as_pattern(pattern, **reading), time_limit=time_limit, progress=progress)
