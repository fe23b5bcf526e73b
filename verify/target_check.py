"""The statement about the target of a relay network: its output k depends on reach(k) only (reach theorem)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constructions.cells import cell_count
from constructions.dependence import EXHAUSTIVE, dependence_violation, reach_matrix
from theory.verdicts import Answer
from verify.lemma_check import LemmaCheck, Witness

if TYPE_CHECKING:
    from constructions.targets import Target
    from theory.patterns import SparsityPattern

__all__ = ["target_within_reach"]

SAMPLES = 2**12  # grids where all are too many


def target_within_reach(target: Target, pattern: SparsityPattern, d: int, levels: int) -> LemmaCheck:
    """Check that output k of a target depends on the columns in reach(k) only.

    On all K^{dn} grids up to 2^16, else on a sample: the statement is about the target and has inputs of its own.

    Examples
    --------
    >>> from constructions.targets import parse_target
    >>> from theory.patterns import SparsityPattern
    >>> causal = SparsityPattern.from_lists([[0], [0, 1]])
    >>> target_within_reach(parse_target("mean"), causal, d=1, levels=2).why
    'token 0 of input [[0, 1]]: output 0 depends on token 1, which cannot reach it'
    """
    statement = f"output k of the target {target.name} depends on the columns in reach(k) only"
    reach = reach_matrix(pattern)
    if reach.all():
        return LemmaCheck("target", statement, Answer.HOLDS, 0, True, None, "every token reaches every other")
    cells = cell_count(d, pattern.n, levels)
    exhaustive = cells <= EXHAUSTIVE
    count = cells if exhaustive else SAMPLES
    violation = dependence_violation(target, reach, d, levels, samples=SAMPLES)
    if violation is None:
        why = "no grid showed a dependence on another column"
        return LemmaCheck("target", statement, Answer.HOLDS, count, exhaustive, None, why)
    witness = Witness(violation.first, violation.token, {}, violation.why)
    return LemmaCheck("target", statement, Answer.FAILS, count, exhaustive, witness, str(witness))
