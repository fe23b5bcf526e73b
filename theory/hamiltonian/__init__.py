"""Assumption 1.2: a Hamiltonian path of the union digraph, or the evidence that there is none."""

from theory.hamiltonian.decide import hamiltonian_path
from theory.hamiltonian.refutations import (
    End,
    Exhausted,
    Incomparable,
    Refutation,
    SolverWord,
    ThreeEnds,
    TooFewPredecessors,
    TooFewSuccessors,
    TooManyParts,
)
from theory.hamiltonian.result import HamiltonianPath

__all__ = [
    "End",
    "Exhausted",
    "HamiltonianPath",
    "Incomparable",
    "Refutation",
    "SolverWord",
    "ThreeEnds",
    "TooFewPredecessors",
    "TooFewSuccessors",
    "TooManyParts",
    "hamiltonian_path",
]
