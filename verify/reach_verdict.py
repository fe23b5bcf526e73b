"""The reach theorem's verdict alone: linear in the connections, for many patterns or for a test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from theory.graph import (
    Reach,
    classify_reach,
    closed_set,
    self_attention_violations,
    strong_components,
    unseen_predecessor,
)
from theory.theorems import FunctionClass, Says, designer_sentence, reach_theorem
from theory.verdicts import Answer

if TYPE_CHECKING:
    from theory.patterns import SparsityPattern

__all__ = ["ReachVerdict", "reach_verdict"]

ANSWERS = {Says.UNIVERSAL: Answer.HOLDS, Says.NOT_UNIVERSAL: Answer.FAILS}


@dataclass(frozen=True)
class ReachVerdict:
    """Whether a pattern is universal for the functions asked for, whatever the depth.

    Parameters
    ----------
    answer
        UNDECIDED where the digraph would do but some token does not attend to itself.
    reach
        Which tokens reach which.
    why
        One sentence: the theorem's.
    advice
        One sentence: what is missing; empty if nothing is.
    """

    answer: Answer
    reach: Reach
    why: str
    advice: str


def reach_verdict(pattern: SparsityPattern, for_: FunctionClass | str = FunctionClass.ALL) -> ReachVerdict:
    """Decide universality by Assumption 1.1 and the strong components.

    The answer is that of `verify.pattern_verdict.assess`, which looks at every theorem.

    Examples
    --------
    >>> from theory.families import fixed
    >>> reach_verdict(fixed(23, w=5)).advice
    'tokens 20..22 are never seen from outside: no connection leaves the last segment'
    """
    for_ = FunctionClass.of(for_)
    union = pattern.union
    violations = self_attention_violations(pattern)
    components = strong_components(union)
    reach = classify_reach(union, components)
    causal = for_ is FunctionClass.CAUSAL
    cut = None if causal else closed_set(union, components)
    causal_cut = unseen_predecessor(union, components) if causal else None
    statement = reach_theorem(violations, reach, cut, causal_cut, for_)
    answer = ANSWERS.get(statement.says, Answer.UNDECIDED)
    advice = ""
    if cut is not None:
        advice = designer_sentence(cut, pattern.n)
    elif causal_cut is not None:
        advice = f"token {causal_cut.query} never sees token {causal_cut.key}, which comes before it"
    elif violations.size:
        layer, token = np.asarray(violations[0]).tolist()
        others = len(violations) - 1
        more = f", nor do {others} others" if others > 1 else ", nor does 1 other" if others else ""
        advice = f"token {token} does not attend to itself in pattern {layer}{more}: add what is missing"
    return ReachVerdict(answer, reach, statement.why, advice)
