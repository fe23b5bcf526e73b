"""The certificate of a pattern verdict: everything needed to check it again without any search.

The format is read by `verify.recheck`, which shares no code with the searches behind the verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theory.graph import Reach
from theory.hamiltonian.refutations import SolverWord
from theory.spine import Spine, build_spine
from theory.theorems import FunctionClass
from theory.verdicts import Answer

if TYPE_CHECKING:
    from theory.graph import ClosedSet
    from theory.hamiltonian import HamiltonianPath
    from theory.hops import HopCount
    from theory.patterns import SparsityPattern
    from verify.pattern_verdict import PatternVerdict

__all__ = ["EMBEDDED_CONNECTIONS", "certificate"]

EMBEDDED_CONNECTIONS = 2**21  # a larger pattern is named by its digest only; the checker then asks for it
LISTED_VIOLATIONS = 1000

Json = dict[str, Any]


def certificate(verdict: PatternVerdict, source: str) -> Json:
    """Return the certificate as JSON-ready data.

    Parameters
    ----------
    source
        Where the pattern came from, for the reader.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> from verify.pattern_verdict import assess
    >>> made = certificate(assess(SparsityPattern.from_lists([[0, 1], [0, 1]])), "dense:n=2")
    >>> made["claims"]["assumption_1_2"]
    {'answer': True, 'gamma': [0, 1], 'patterns': [0]}
    """
    return {
        "format": "sparseuap pattern certificate",
        "version": 2,
        "counting": "tokens from 0",
        "orientation": "attends[pattern][query] lists the keys",
        "source": source,
        "pattern": _pattern(verdict.pattern),
        "claims": {
            "assumption_1_1": {
                "answer": not verdict.violations.size,
                "violations": verdict.violations[:LISTED_VIOLATIONS].tolist(),
                "violation_count": len(verdict.violations),
            },
            "assumption_1_2": _path(verdict.path),
            "assumption_1_3": _hops(verdict.hops),
            "strongly_connected": {"answer": verdict.strongly_connected},
            "reach": {"answer": verdict.reach.value},
            "universal": {"for": verdict.for_.value, "answer": verdict.universal.as_json()},
            "theorems": _theorems(verdict),
        },
        "evidence": {
            "spine": _spine(verdict),
            "cut": _cut(verdict.cut),
            "causal_cut": _cut(verdict.causal_cut),
        },
    }


def _pattern(pattern: SparsityPattern) -> Json:
    embedded = pattern.to_lists() if pattern.connections <= EMBEDDED_CONNECTIONS else None
    return {
        "n": pattern.n,
        "p": pattern.p,
        "connections": pattern.connections,
        "digest": pattern.digest,
        "attends": embedded,
    }


def _path(path: HamiltonianPath) -> Json:
    if path.path is not None and path.patterns is not None:
        return {"answer": True, "gamma": path.path.tolist(), "patterns": path.patterns.tolist()}
    if path.refutation is not None:
        proved = not isinstance(path.refutation, SolverWord)
        return {"answer": False, "proved": proved, "refutation": path.refutation.to_json()}
    return {"answer": None}


def _hops(hops: HopCount) -> Json:
    unseen, pivot, relays = hops.unseen, hops.pivot, hops.relays
    if hops.answer is Answer.UNDECIDED:
        return {"answer": None}
    if hops.answer is Answer.FAILS:
        return {"answer": False, "key": None if unseen is None else unseen.key}
    return {
        "answer": True,
        "s": hops.s,
        "lower": hops.lower,
        "upper": hops.upper,
        "unseen": None if unseen is None else {"layers": unseen.layers, "query": unseen.query, "key": unseen.key},
        "pivot": None
        if pivot is None
        else {"token": pivot.token, "gathers": pivot.gathers, "spreads": pivot.spreads},
        "relays": None
        if relays is None or pivot is not None
        else {"pivots": [*relays.pivots], "keys": [*relays.keys], "queries": [*relays.queries]},
    }


def _theorems(verdict: PatternVerdict) -> Json:
    said: Json = {statement.theorem: {"answer": statement.says.value} for statement in verdict.statements}
    said["bigbird_2020_theorem_1"]["hub"] = None if verdict.star is None else verdict.star.hub
    return said


def _spine(verdict: PatternVerdict) -> Json | None:
    """Return the trees where a claim needs them: strong connectivity, or every 0..k inside reach(k)."""
    chained = verdict.for_ is FunctionClass.CAUSAL and verdict.causal_cut is None
    if verdict.reach is not Reach.ALL and not chained:
        return None
    spine: Spine = build_spine(verdict.pattern.union, verdict.components)
    return {
        "component": spine.component.tolist(),
        "root": spine.root.tolist(),
        "in_parent": spine.in_parent.tolist(),
        "out_parent": spine.out_parent.tolist(),
        "links": spine.links.tolist(),
    }


def _cut(cut: ClosedSet | None) -> Json | None:
    return None if cut is None else {"closed_set": cut.tokens.tolist(), "query": cut.query, "key": cut.key}
