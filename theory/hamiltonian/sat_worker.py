"""The solver process: reads a digraph, writes a Hamiltonian path or null. Run as a script, killed by its parent.

A path is a choice of edges that gives every token exactly one successor, or the path's end, and exactly one
predecessor, or the path's start. Solutions of that alone may hold cycles; each cycle met is answered by two clauses
(some edge leaves it, or the path ends in it; some edge enters it, or the path starts in it) until a solution is one
path or there is none. No import from the project: the parent only needs this file.

Input, one line of JSON: ``{"n": n, "tails": [...], "heads": [...], "seconds": s}``. Output: ``{"path": [...] or null}``.
"""

from __future__ import annotations

import json
import math
import signal
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["find_path", "main"]

GROUP = 4


class _Names:
    """The variables: one an edge, one for each token as start and as end, and auxiliaries beyond."""

    def __init__(self, n: int, tails: list[int], heads: list[int]) -> None:
        self.n, self.edges = n, len(tails)
        self.tails, self.heads = tails, heads
        self.last = self.edges + 2 * n
        self.leaving: list[list[int]] = [[] for _ in range(n)]
        self.entering: list[list[int]] = [[] for _ in range(n)]
        for variable, (tail, head) in enumerate(zip(tails, heads, strict=True), start=1):
            self.leaving[tail].append(variable)
            self.entering[head].append(variable)

    def start(self, token: int) -> int:
        return self.edges + 1 + token

    def end(self, token: int) -> int:
        return self.edges + self.n + 1 + token

    def exactly_one(self, literals: list[int]) -> Iterator[list[int]]:
        """Write "exactly one of these" in small groups, joined by auxiliaries (Klieber and Kwon 2007)."""
        yield literals
        rest = literals
        while len(rest) > GROUP:
            self.last += 1
            yield from _pairs([*rest[: GROUP - 1], self.last])
            rest = [-self.last, *rest[GROUP - 1 :]]
        yield from _pairs(rest)

    def clauses(self) -> Iterator[list[int]]:
        """Write the degree conditions, and that no edge is used both ways."""
        for token in range(self.n):
            yield from self.exactly_one([*self.leaving[token], self.end(token)])
            yield from self.exactly_one([*self.entering[token], self.start(token)])
        yield from self.exactly_one([self.start(token) for token in range(self.n)])
        yield from self.exactly_one([self.end(token) for token in range(self.n)])
        known = {(tail, head): v for v, (tail, head) in enumerate(zip(self.tails, self.heads, strict=True), start=1)}
        for (tail, head), variable in known.items():
            if tail < head and (head, tail) in known:
                yield [-variable, -known[head, tail]]

    def leave_and_enter(self, cycle: list[int]) -> Iterator[list[int]]:
        """Write that a path must leave (or end in) these tokens, and enter (or start in) them."""
        inside = set(cycle)
        yield [
            *(v for token in cycle for v in self.leaving[token] if self.heads[v - 1] not in inside),
            *(self.end(token) for token in cycle),
        ]
        yield [
            *(v for token in cycle for v in self.entering[token] if self.tails[v - 1] not in inside),
            *(self.start(token) for token in cycle),
        ]


def _pairs(literals: list[int]) -> Iterator[list[int]]:
    """Write "at most one of these" pair by pair."""
    for place, first in enumerate(literals):
        for second in literals[:place]:
            yield [-second, -first]


def find_path(n: int, tails: list[int], heads: list[int]) -> list[int] | None:
    """Return a Hamiltonian path, or None if the solver finds that there is none; n >= 2, no self-loops, no repeats.

    Examples
    --------
    >>> find_path(3, [2, 0], [0, 1])
    [2, 0, 1]
    >>> find_path(3, [0, 0], [1, 2]) is None
    True
    """
    from pysat.solvers import Cadical153

    names = _Names(n, tails, heads)
    with Cadical153(bootstrap_with=names.clauses()) as solver:
        while solver.solve():
            model = solver.get_model()
            follows = [-1] * n
            for variable in range(1, names.edges + 1):
                if model[variable - 1] > 0:
                    follows[tails[variable - 1]] = heads[variable - 1]
            start = next(token for token in range(n) if model[names.start(token) - 1] > 0)
            path, cycles = _walk(start, follows)
            if not cycles:
                return path
            for cycle in cycles:
                for clause in names.leave_and_enter(cycle):
                    solver.add_clause(clause)
    return None


def _walk(start: int, follows: list[int]) -> tuple[list[int], list[list[int]]]:
    """Split a solution into its path and its cycles."""
    seen = [False] * len(follows)
    pieces = []
    for first in [start, *range(len(follows))]:
        piece, token = [], first
        while token >= 0 and not seen[token]:
            seen[token] = True
            piece.append(token)
            token = follows[token]
        if piece:
            pieces.append(piece)
    return pieces[0], pieces[1:]


def main() -> None:
    """Answer one question from standard input."""
    question = json.loads(sys.stdin.read())
    if hasattr(signal, "alarm"):
        # Ends this process in the solver's C code too, should the parent be gone.
        signal.alarm(math.ceil(question["seconds"]) + 5)
    path = find_path(question["n"], question["tails"], question["heads"])
    sys.stdout.write(json.dumps({"path": path}) + "\n")


if __name__ == "__main__":
    main()
