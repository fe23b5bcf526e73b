"""What a repair is: the connections added, and how far it is known to be the smallest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from theory.read_only import ReadOnly

if TYPE_CHECKING:
    from theory.patterns import IntArray, SparsityPattern
    from theory.verdicts import Answer

__all__ = ["Repair"]


@dataclass(frozen=True, eq=False)
class Repair(ReadOnly):
    """Connections to add so that the theorem asked for applies.

    Parameters
    ----------
    answer
        HOLDS with a repair, FAILS when none exists.
    added
        Shape (additions, 3): rows (pattern, query, key), from 0; the self-loops first. Empty if nothing was
        missing.
    lower_bound
        No repair adds fewer connections.
    pattern
        The repaired pattern; None unless `answer` is HOLDS.
    path
        A Hamiltonian path of the repaired union digraph, where one was asked for and is known.
    why
        One sentence: why this many.
    """

    answer: Answer
    added: IntArray
    lower_bound: int
    pattern: SparsityPattern | None
    path: IntArray | None
    why: str

    @property
    def optimal(self) -> bool:
        """Whether no smaller repair exists, proved."""
        return self.pattern is not None and len(self.added) == self.lower_bound
