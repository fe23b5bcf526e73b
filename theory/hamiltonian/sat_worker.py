"""The solver process: reads a digraph, writes a Hamiltonian path or null. Run as a script, killed by its parent.

One more token, the *gate*, is joined to and from every other, so that a path is a round trip. Every token has
one successor and one predecessor; where every edge runs both ways, two neighbours. Solutions of that alone may
consist of several cycles. Edges are exchanged between them until they are one, or else, for each cycle that misses
the gate, a clause is added that some edge leaves it, and the solver is asked again.

No import from the project, so that this file alone can be run. Input, one JSON object on standard input:
``{"n": n, "tails": [...], "heads": [...], "rank": [...] or null, "seconds": s}`` with n >= 2, no self-loops, no
repeats, and edges that keep the rank or raise it by one. Output: ``{"path": [...] or null}``.
"""

from __future__ import annotations

import json
import math
import signal
import sys
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["find_path", "main"]

WRITTEN_OUT = 6
"""Up to so many literals, a count is written out without auxiliary variables."""


class Trips:
    """The clauses that say "a round trip through the gate, or several cycles", and how to read a solution.

    Variable e + 1 stands for edge e; the edges to and from the gate (token n) come last.
    """

    def __init__(self, n: int, tails: list[int], heads: list[int], rank: list[int] | None = None) -> None:
        edges = set(zip(tails, heads, strict=True))
        self.undirected = all((head, tail) in edges for tail, head in edges)
        chosen = [(tail, head) for tail, head in sorted(edges) if tail < head or not self.undirected]
        self.size = n + 1
        self.rank = rank or [0] * n
        self.edges = [*chosen, *((token, n) for token in range(n) if self.rank[token] == max(self.rank))]
        if not self.undirected:
            self.edges += [(n, token) for token in range(n) if self.rank[token] == 0]
        self.last = len(self.edges)
        self.leaving: list[list[int]] = [[] for _ in range(self.size)]
        self.entering: list[list[int]] = self.leaving if self.undirected else [[] for _ in range(self.size)]
        for variable, (tail, head) in enumerate(self.edges, start=1):
            self.leaving[tail].append(variable)
            self.entering[head].append(variable)
        self.adjacent = [
            {self.other(variable, token) for variable in self.leaving[token]} for token in range(n + 1)
        ]

    def other(self, variable: int, token: int) -> int:
        """Return the other end of an edge."""
        tail, head = self.edges[variable - 1]
        return head if tail == token else tail

    def clauses(self) -> Iterator[list[int]]:
        """Write the degrees of every token, and that the rank rises once by each step."""
        if self.undirected:
            for near in self.leaving:
                yield from self.exactly(2, near)
            return
        for near in (*self.leaving, *self.entering, *self.steps()):
            yield from self.exactly(1, near)
        yield from self.pairs()

    def steps(self) -> list[list[int]]:
        """Return for each rank but the last the edges to the next: the solver would have to count to find this."""
        rising: list[list[int]] = [[] for _ in range(max(self.rank))]
        for variable, (tail, head) in enumerate(self.edges, start=1):
            if self.size - 1 not in (tail, head) and self.rank[tail] < self.rank[head]:
                rising[self.rank[tail]].append(variable)
        return rising

    def pairs(self) -> Iterator[list[int]]:
        """Where most edges run both ways, say also that every token has two neighbours: it rules out 2-cycles."""
        number = {edge: variable for variable, edge in enumerate(self.edges, start=1)}
        if 2 * sum((head, tail) in number for tail, head in self.edges) < len(self.edges):
            return
        near: list[list[int]] = [[] for _ in range(self.size)]
        for (tail, head), variable in number.items():
            back = number.get((head, tail))
            if self.size - 1 in (tail, head) or back is None:
                pair = variable
            elif tail < head:
                self.last += 1
                pair = self.last
                yield from ([-variable, -back], [-variable, pair], [-back, pair], [-pair, variable, back])
            else:
                continue
            near[tail].append(pair)
            near[head].append(pair)
        for literals in near[:-1]:
            yield from self.exactly(2, literals)

    def exactly(self, count: int, literals: list[int]) -> Iterator[list[int]]:
        """Write "exactly `count` of these" (1 or 2)."""
        if count == 1:
            yield literals
            while len(literals) > WRITTEN_OUT:
                # At most one of some and x, at most one of the others and not x (Klieber and Kwon 2007).
                self.last += 1
                yield from ([-a, -b] for a, b in combinations([*literals[: WRITTEN_OUT - 2], self.last], 2))
                literals = [-self.last, *literals[WRITTEN_OUT - 2 :]]
            yield from ([-a, -b] for a, b in combinations(literals, 2))
        elif len(literals) <= WRITTEN_OUT:
            yield from ([-a, -b, -c] for a, b, c in combinations(literals, 3))
            yield from (list(some) for some in combinations(literals, max(0, len(literals) - 1)))
        else:
            from pysat.card import CardEnc, EncType

            written = CardEnc.equals(lits=literals, bound=2, top_id=self.last, encoding=EncType.seqcounter)
            self.last = max(self.last, written.nv)
            yield from written.clauses

    def cycles(self, model: list[int]) -> list[list[int]]:
        """Read a solution: its cycles, the one through the gate first."""
        chosen: list[list[int]] = [[] for _ in range(self.size)]
        for (tail, head), value in zip(self.edges, model, strict=False):
            if value > 0:
                chosen[tail].append(head)
                if self.undirected:
                    chosen[head].append(tail)
        seen = [False] * self.size
        found = []
        for first in reversed(range(self.size)):
            cycle, token = [], first
            while not seen[token]:
                seen[token] = True
                cycle.append(token)
                token = next((near for near in chosen[token] if not seen[near]), first)
            if cycle:
                found.append(cycle)
        return found

    def leave(self, cycle: list[int]) -> Iterator[list[int]]:
        """Write that a round trip leaves these tokens, and that it enters them."""
        inside = set(cycle)
        for near in (self.leaving,) if self.undirected else (self.leaving, self.entering):
            yield [
                variable
                for token in cycle
                for variable in near[token]
                if self.other(variable, token) not in inside
            ]

    def merge(self, cycles: list[list[int]]) -> list[list[int]]:
        """Merge cycles, small ones first, while two of their edges can exchange ends."""
        where = {token: cycle for cycle in cycles for token in cycle}
        place = {token: number for cycle in cycles for number, token in enumerate(cycle)}
        left = sorted(cycles, key=len)
        while (
            found := next(filter(None, (self._exchange(cycle, where, place) for cycle in left)), None)
        ) is not None:
            gone, host, merged = found
            left = sorted([merged, *(cycle for cycle in left if cycle is not gone and cycle is not host)], key=len)
            for number, token in enumerate(merged):
                where[token], place[token] = merged, number
        return left

    def _exchange(
        self, cycle: list[int], where: dict[int, list[int]], place: dict[int, int]
    ) -> tuple[list[int], list[int], list[int]] | None:
        """Put a cycle between two neighbours a -> h of another one: a -> first, ..., last -> h."""
        for number, last in enumerate(cycle):
            forward = cycle[number + 1 :] + cycle[: number + 1]
            ways = (forward, [*forward[-2::-1], last]) if self.undirected else (forward,)
            for head in self.adjacent[last]:
                host = where[head]
                if host is cycle:
                    continue
                for stretch in ways:
                    if stretch[0] in self.adjacent[host[place[head] - 1]]:
                        return cycle, host, host[: place[head]] + stretch + host[place[head] :]
        return None


def find_path(n: int, tails: list[int], heads: list[int], rank: list[int] | None = None) -> list[int] | None:
    """Return a Hamiltonian path, or None if the solver finds that there is none.

    Examples
    --------
    >>> find_path(3, [2, 0], [0, 1])
    [2, 0, 1]
    >>> find_path(3, [0, 0], [1, 2]) is None
    True
    """
    from pysat.solvers import Cadical153

    trips = Trips(n, tails, heads, rank)
    with Cadical153(bootstrap_with=trips.clauses()) as solver:
        while solver.solve():
            cycles = trips.cycles(solver.get_model())
            merged = trips.merge(cycles)
            if len(merged) == 1:
                gate = merged[0].index(n)
                return merged[0][gate + 1 :] + merged[0][:gate]
            for cycle in [*cycles[1:], *(cycle for cycle in merged if n not in cycle)]:
                for clause in trips.leave(cycle):
                    solver.add_clause(clause)
    return None


def main() -> None:
    """Answer one question from standard input."""
    question = json.loads(sys.stdin.read())
    if hasattr(signal, "alarm"):
        # Ends this process inside the solver's C code too, should the parent be gone.
        signal.alarm(math.ceil(question["seconds"]) + 5)
    path = find_path(question["n"], question["tails"], question["heads"], question["rank"])
    sys.stdout.write(json.dumps({"path": path}) + "\n")


if __name__ == "__main__":
    main()
