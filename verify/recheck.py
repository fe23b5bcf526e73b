"""The independent checker of pattern certificates: nothing is searched for, no solver is asked.

It shares no code with the finders (`theory.graph`, `theory.hops`, `theory.hamiltonian`, ...): from the pattern and
the certificate alone it follows trees, closed sets and paths edge by edge, in about linear time, and recomputes
from the definition what is small enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.verdicts import Answer
from verify.certificate_format import read_certificate, read_form
from verify.certificate_kinds import UnreadableCertificate
from verify.recheck_hops import check_hops
from verify.recheck_ledger import FalseClaim, Ledger, Outcome
from verify.recheck_path import check_path
from verify.recheck_source import check_source
from verify.recheck_theorems import (
    Facts,
    check_bigbird,
    check_connected,
    check_connectivity_corollary,
    check_reach,
    check_reach_theorem,
    check_universal,
    check_yun,
)
from verify.recheck_trees import check_cut, check_run, check_spine

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from theory.patterns import SparsityPattern

__all__ = ["Recheck", "UnreadableCertificate", "read_certificate", "recheck"]

LISTED_VIOLATIONS = 1000


@dataclass(frozen=True)
class Recheck:
    """What became of the claims of a certificate: one sentence each, which begins with the claim's name.

    Parameters
    ----------
    checked
        The claims confirmed.
    failures
        The claims that are false or lack their evidence, and why; tokens from 0.
    unproved
        The claims that could be neither confirmed nor refuted: a solver's word, or an s that no evidence shows
        and that takes too long to recompute.
    undecided
        The questions that the certificate itself leaves open. It claims nothing there, so they do not count.
    unchecked
        The source, where it names a file or code, which are not read again. No answer rests on it.
    """

    checked: tuple[str, ...]
    failures: tuple[str, ...]
    unproved: tuple[str, ...]
    undecided: tuple[str, ...]
    unchecked: tuple[str, ...]

    @property
    def answer(self) -> Answer:
        """FAILS if some claim is false, else UNDECIDED if some claim is unproved, else HOLDS."""
        if self.failures:
            return Answer.FAILS
        return Answer.UNDECIDED if self.unproved else Answer.HOLDS

    @property
    def valid(self) -> bool:
        """Whether every claim of the certificate is confirmed."""
        return self.answer is Answer.HOLDS


def recheck(certificate: Mapping[str, Any], pattern: SparsityPattern | None = None) -> Recheck:
    """Check every claim of a certificate against the pattern.

    Parameters
    ----------
    certificate
        The JSON object as read by `read_certificate`.
    pattern
        The pattern, where the certificate holds only its digest; if both are there, they must agree.

    Raises
    ------
    UnreadableCertificate
        If the format or version is another, a field is missing, unknown or ill-typed, or there is no pattern.

    Examples
    --------
    >>> from theory.families import parse_family
    >>> from verify.pattern_certificate import certificate
    >>> from verify.pattern_verdict import assess
    >>> made = certificate(assess(parse_family("ring:n=3000")), "ring:n=3000")
    >>> recheck(made).answer
    <Answer.HOLDS: 'holds'>
    >>> made["claims"]["assumption_1_3"] |= {"s": 1, "lower": 1, "upper": 1, "unseen": None}
    >>> recheck(made).failures
    ('assumption_1_3.upper: after 1 layers token 0 does not see token 1',)
    """
    form = read_form(certificate)
    subject = pattern if pattern is not None else form.pattern["attends"]
    if subject is None:
        raise UnreadableCertificate("the certificate names its pattern by digest only: give the pattern")
    ledger = Ledger()
    if ledger.settle("pattern", partial(_check_pattern, form.pattern, subject)) is Outcome.CONFIRMED:
        ledger.settle("source", partial(check_source, form.source, subject))
        misplaced = form.misplaced(subject.n, subject.p)
        if misplaced is None:
            _check_claims(ledger, subject, form.claims, form.evidence)
        else:
            ledger.lines[Outcome.FALSE].append(misplaced)
    return Recheck(*(tuple(ledger.lines[outcome]) for outcome in Outcome))


def _check_pattern(claim: dict[str, Any], pattern: SparsityPattern) -> str:
    for name in ("n", "p", "connections"):
        if claim[name] != getattr(pattern, name):
            raise FalseClaim(f"{name} = {claim[name]} is claimed, the pattern has {getattr(pattern, name)}")
    if claim["attends"] is not None and claim["attends"] != pattern:
        raise FalseClaim("the pattern given is not the one in the certificate")
    if claim["digest"] != pattern.digest:
        raise FalseClaim(f"the digest is another: the pattern's is {pattern.digest}")
    return f"n = {pattern.n}, p = {pattern.p}, {pattern.connections} connections, digest {pattern.digest[:12]}..."


def _check_claims(
    ledger: Ledger, pattern: SparsityPattern, claims: dict[str, Any], evidence: dict[str, Any]
) -> None:
    facts = _facts(ledger, pattern, claims, evidence)
    ledger.settle("assumption_1_1", partial(_check_loops, facts, claims["assumption_1_1"]))
    ledger.settle("strongly_connected", partial(check_connected, facts, claims["strongly_connected"]))
    path = claims["assumption_1_2"]
    outcome = ledger.settle("assumption_1_2", partial(check_path, pattern, path))
    check_hops(ledger, pattern, claims["assumption_1_3"], loops=facts.loops, connected=facts.connected)
    ledger.settle("reach", partial(check_reach, facts, claims["reach"]))
    universal, theorems = claims["universal"], claims["theorems"]
    ledger.settle("universal", partial(check_universal, facts, universal))
    for name, check in {
        "yun_2020_theorem_1": lambda claim: check_yun(facts, claim, path["answer"], outcome),
        "bigbird_2020_theorem_1": lambda claim: check_bigbird(facts, claim),
        "cheng_2025_corollary_2": lambda claim: check_connectivity_corollary(facts, claim),
        "reach_theorem": lambda claim: check_reach_theorem(facts, claim, universal),
    }.items():
        ledger.settle(f"theorems.{name}", partial(check, theorems[name]))


def _facts(ledger: Ledger, pattern: SparsityPattern, claims: dict[str, Any], evidence: dict[str, Any]) -> Facts:
    """Settle the evidence, and say what it shows."""
    tokens = np.arange(pattern.n)
    lonely = [np.flatnonzero(~layer.contains(tokens, tokens)) for layer in pattern.layers]
    spine = evidence["spine"]
    run = claims["universal"]["for"] == "causal" and claims["universal"]["answer"] is not False
    sound = spine is not None and _confirmed(ledger, "spine", partial(_check_spine, pattern, spine, run=run))
    cut, causal_cut = (
        evidence[name] is not None
        and _confirmed(ledger, name, partial(check_cut, pattern, evidence[name], causal=name == "causal_cut"))
        for name in ("cut", "causal_cut")
    )
    connected = (sound and spine["root"].size == 1) or (False if cut else None)
    return Facts(pattern, lonely, connected, sound or (False if causal_cut else None))


def _confirmed(ledger: Ledger, name: str, check: Callable[[], str]) -> bool:
    return ledger.settle(f"evidence.{name}", check) is Outcome.CONFIRMED


def _check_spine(pattern: SparsityPattern, spine: dict[str, Any], *, run: bool) -> str:
    """Check a spine; one of several components is evidence only when every token is to see the one before it."""
    said = check_spine(pattern, spine)
    if spine["root"].size == 1:
        return said
    if not run:
        raise FalseClaim(f"no claim rests on a spine of {spine['root'].size} components")
    return check_run(spine)


def _check_loops(facts: Facts, claim: dict[str, Any]) -> str:
    count = sum(tokens.size for tokens in facts.lonely)
    if claim["answer"] is not facts.loops or claim["violation_count"] != count:
        raise FalseClaim(f"{count} times a token does not attend to itself, {claim['violation_count']} is claimed")
    numbers = [np.full_like(tokens, number) for number, tokens in enumerate(facts.lonely)]
    pairs = np.column_stack((np.concatenate(numbers), np.concatenate(facts.lonely)))
    if not np.array_equal(claim["violations"], pairs[:LISTED_VIOLATIONS]):
        raise FalseClaim(f"the violations listed are not the first {min(count, LISTED_VIOLATIONS)}")
    return "every token attends to itself in every pattern" if facts.loops else f"{count} violations"
