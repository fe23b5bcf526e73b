"""The answer to Assumption 1.2: a path, a refutation, or an honest undecided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from theory.read_only import ReadOnly

if TYPE_CHECKING:
    from theory.hamiltonian.refutations import Refutation
    from theory.patterns import IntArray
    from theory.verdicts import Answer

__all__ = ["HamiltonianPath"]


@dataclass(frozen=True, eq=False)
class HamiltonianPath(ReadOnly):
    """Whether the union digraph has a Hamiltonian path gamma(1) -> ... -> gamma(n) (paper, Assumption 1.2).

    Parameters
    ----------
    answer
        HOLDS, FAILS or UNDECIDED.
    path
        gamma, length n, tokens from 0; None unless 1.2 holds.
    patterns
        Length n - 1: ``path[i - 1]`` is in A_k^l for k = ``path[i]``, l = ``patterns[i - 1]`` (the first such l).
    refutation
        The evidence when 1.2 fails.
    step
        The step of the attack that decided.
    why
        One sentence, tokens from 0.
    """

    answer: Answer
    path: IntArray | None
    patterns: IntArray | None
    refutation: Refutation | None
    step: str
    why: str
