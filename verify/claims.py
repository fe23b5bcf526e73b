"""The papers' own claims put to the test: each is run again, and what comes out stands beside what was said."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from constructions.contextual_mapping import build_mapping
from constructions.numbers import ProofError
from constructions.targets import Target
from constructions.value_mapping import ValueMapping, build_value_mapping
from theory import families
from theory.families import connection_formula, parse_family
from theory.hops import hop_count
from theory.probability_maps import Softmax
from theory.verdicts import Answer
from verify.inputs import AllInputs
from verify.pattern_verdict import assess
from verify.proof import run_proof

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CLAIMS", "Claim", "Finding", "Outcome"]

MOST_TOKENS = 40


class Outcome(Enum):
    """How a claim came out of its test."""

    STANDS = "stands"
    REFUTED = "refuted as stated"
    NOT_NEEDED = "stands, but less is enough"


@dataclass(frozen=True)
class Finding:
    """How a claim came out, and the evidence in one or two sentences."""

    outcome: Outcome
    evidence: str


@dataclass(frozen=True)
class Claim:
    """A claim of a paper or an explainer, and how to test it.

    Parameters
    ----------
    name
        Short, for the command line.
    source
        Where it is stated.
    statement
        What is said, in our words.
    test
        Runs it.
    """

    name: str
    source: str
    statement: str
    test: Callable[[], Finding]


def _refuted(counter_example: bool) -> Outcome:
    return Outcome.REFUTED if counter_example else Outcome.STANDS


def _strided() -> Finding:
    cases = [(n, w) for n in range(2, MOST_TOKENS + 1) for w in range(1, n + 1)]
    counts = [hop_count(families.strided(n, w)).s for n, w in cases]
    three = counts.count(3)
    example = hop_count(families.strided(9, 4)).unseen
    pair = "every token sees every token" if example is None else f"token {example.query} misses {example.key}"
    return Finding(
        _refuted(three > 0),
        f"s = 3 in {three} of {len(cases)} cases n <= {MOST_TOKENS}, 1 <= w <= n, and never more (largest "
        f"{max(c or 0 for c in counts)}); n = 9, w = 4: {pair} in two layers (from 0). The theorem stands, the "
        "number does not.",
    )


def _fixed() -> Finding:
    failing = {
        (n, w)
        for n in range(2, MOST_TOKENS + 1)
        for w in range(1, n + 1)
        if assess(families.fixed(n, w)).universal is Answer.FAILS
    }
    predicted = {(n, w) for n in range(2, MOST_TOKENS + 1) for w in range(1, n) if n % w}
    return Finding(
        _refuted(bool(failing)),
        f"not universal in {len(failing)} cases n <= {MOST_TOKENS}, exactly those with w < n not dividing n: "
        f"{failing == predicted}. {assess(families.fixed(23, 5)).advice} (n = 23, w = 5).",
    )


def _score_gap() -> Finding:
    delta, eta = 0.1, 1e-3
    ids = np.arange(5.0)  # five ids one grid step apart; scores (u^T Z_j)(u^T Z_k - b) with u^T Z_k - b = delta/2
    scores = delta * ids * (delta / 2)
    rho = Softmax()
    claimed, true = (
        float(rho(rho.sufficient_t(zeta, eta, 5) * scores).max()) for zeta in (delta / 2, delta**2 / 2)
    )
    return Finding(
        _refuted(claimed < 1 - eta),
        f"softmax, delta = 1/10, five ids one step apart, leader weight {1 - eta} wanted: {claimed:.3f} with t "
        f"from zeta = delta/2, {true:.6f} with t from the gap delta^2/2.",
    )


def _later_windows() -> Finding:
    pattern, inputs = families.ring(3), AllInputs(1, 3, 2)
    ids = np.concatenate([build_mapping(pattern, 1, 2).ids(grids) for grids in inputs.chunks()])
    outputs = np.full((inputs.count, 1, 3), float(ids.max()) / 2)
    lifted = build_value_mapping(ids, outputs, 2)
    try:
        ValueMapping(lifted.ids, outputs, lifted.slots, 0).apply(ids)
    except ProofError as error:
        message = f"ring n = 3 and a constant target as large as the ids, without a lift: {error}."
        return Finding(
            _refuted(True), f"{message} One more layer that lifts all ids by {lifted.lifted_by} delta mends it."
        )
    return Finding(_refuted(False), "no output landed in a window still to come")


def _depth_factor() -> Finding:
    pattern, d, levels = families.star(5, 1), 1, 3
    paper, merged = (build_mapping(pattern, d, levels, name) for name in ("paper", "merged"))
    grids = np.concatenate(list(AllInputs(d, 5, levels).chunks()))
    same = bool(np.array_equal(paper.ids(grids), merged.ids(grids)))
    return Finding(
        Outcome.NOT_NEEDED if same else Outcome.STANDS,
        f"star n = 5, d = 1, delta = 1/3, all {len(grids)} inputs: {paper.attention_layers} attention layers as "
        f"in the paper, {merged.attention_layers} with merged shifts, the same ids bit for bit: {same}.",
    )


def _star_needs_a_path() -> Finding:
    verdict = assess(families.hub(5))
    target = Target("reverse", lambda x: x[..., ::-1], "the tokens in reverse order")
    proof = run_proof(families.hub(5), AllInputs(1, 5, 2), target, "relay")
    return Finding(
        Outcome.NOT_NEEDED if verdict.path.answer is Answer.FAILS and proof.holds else Outcome.STANDS,
        f"hub and spokes, n = 5: 1.2 {verdict.path.answer.value} ({verdict.path.why}), yet the relay construction "
        f"proves it for this case: {proof.holds}.",
    )


def _edge_count() -> Finding:
    spec = "bigbird:n=64,window=3,random=3,globals=2,seed=0"
    formula, exact = connection_formula(spec), parse_family(spec).connections
    return Finding(
        _refuted(formula != exact),
        f"{spec}: n(2w+r+g) = {formula}, counted {exact}: a row has 2w+1 keys before clipping, global rows are "
        "full, overlaps count once.",
    )


CLAIMS: dict[str, Claim] = {
    claim.name: claim
    for claim in (
        Claim("strided-s", "Yun et al., §3.2", "Strided satisfies 1.3 with s = 2 for all w", _strided),
        Claim("fixed", "Yun et al., §3.2", "Fixed satisfies Assumption 1 for all w", _fixed),
        Claim("zeta", "Yun et al., Appendix F", "the scores of a head lead by zeta = delta/2", _score_gap),
        Claim("lemma-8", "Yun et al., Lemma 8", "the value mapping writes every column once", _later_windows),
        Claim(
            "depth", "Yun et al., Lemma 7", "the contextual mapping takes p(n-1)/delta^d + s layers", _depth_factor
        ),
        Claim("star", "Yun et al., Theorem 1", "a Hamiltonian path is asked for", _star_needs_a_path),
        Claim("edges", "BigBird explainer", "BigBird has n(2w+r+g) connections", _edge_count),
    )
}
"""The claims by name."""
