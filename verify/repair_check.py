"""A repair put to the test: the old pattern with the additions, and the theorem applies to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from theory.checks import choice
from theory.repair import THEOREMS
from theory.theorems import FunctionClass, Says
from theory.verdicts import Answer
from verify.pattern_verdict import PatternVerdict, assess

if TYPE_CHECKING:
    from collections.abc import Callable

    from theory.patterns import SparsityPattern
    from theory.repair import Repair

__all__ = ["RepairCheck", "check_repair"]


@dataclass(frozen=True, eq=False)
class RepairCheck:
    """Whether a repair does what it says.

    Parameters
    ----------
    answer
        HOLDS when the theorem applies to the repaired pattern, FAILS when something is wrong with the repair,
        UNDECIDED when the assumptions could not be decided in time.
    verdict
        The verdict on the repaired pattern.
    why
        One sentence.
    """

    answer: Answer
    verdict: PatternVerdict | None
    why: str


def check_repair(
    original: SparsityPattern,
    found: Repair,
    *,
    for_: FunctionClass | str = FunctionClass.ALL,
    theorem: str = "reach",
    time_limit: float = 10.0,
    progress: Callable[[str, float | None], None] | None = None,
) -> RepairCheck:
    """Check a repair from the patterns before and after, sharing nothing with the search for it.

    A Hamiltonian path that came with the repair is followed edge by edge; that settles 1.2 where `assess` cannot.

    Examples
    --------
    >>> from theory.families import fixed
    >>> from theory.repair import repair
    >>> check_repair(fixed(23, w=5), repair(fixed(23, w=5))).answer
    <Answer.HOLDS: 'holds'>
    """
    choice("theorem", theorem, THEOREMS)
    repaired = found.pattern
    if repaired is None:
        return RepairCheck(Answer.FAILS, None, "there is no repaired pattern")
    wrong = _not_the_additions(original, repaired, found.added)
    if wrong:
        return RepairCheck(Answer.FAILS, None, wrong)
    verdict = assess(repaired, for_=for_, time_limit=time_limit, progress=progress)
    if theorem == "reach":
        return RepairCheck(verdict.universal, verdict, verdict.statements[-1].why)
    yun = verdict.statements[0]
    if yun.says is Says.UNIVERSAL:
        return RepairCheck(Answer.HOLDS, verdict, yun.why)
    if found.path is not None and not verdict.violations.size and verdict.strongly_connected:
        path = found.path
        whole = np.array_equal(np.sort(path), np.arange(repaired.n))
        if whole and repaired.union.contains(path[1:], path[:-1]).all():
            why = "Assumptions 1.1, 1.2 (by the path that came with the repair) and 1.3 hold"
            return RepairCheck(Answer.HOLDS, verdict, why)
    answer = Answer.UNDECIDED if yun.says is Says.UNDECIDED else Answer.FAILS
    return RepairCheck(answer, verdict, yun.why)


def _not_the_additions(original: SparsityPattern, repaired: SparsityPattern, added: object) -> str:
    """Say how the repaired pattern differs from the original with the additions; empty if it does not."""
    rows = {tuple(row) for row in np.asarray(added).tolist()}
    if (original.n, original.p) != (repaired.n, repaired.p):
        return "the repaired pattern has another number of tokens or of patterns"
    for number, (before, after) in enumerate(zip(original.layers, repaired.layers, strict=True)):
        if not after.contains(before.queries, before.keys).all():
            return f"pattern {number} has lost a connection"
        fresh = ~before.contains(after.queries, after.keys)
        pairs = zip(after.queries[fresh].tolist(), after.keys[fresh].tolist(), strict=True)
        if {(number, query, key) for query, key in pairs} != {row for row in rows if row[0] == number}:
            return f"pattern {number} does not differ by the connections listed"
    return ""
