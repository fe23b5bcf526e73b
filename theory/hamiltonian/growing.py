"""Path growing: step where the fewest choices are left (Warnsdorff), rotate when stuck (Pósa).

Finds paths, never refutes. Rotations turn a stretch of the path round, so they need edges that run both ways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.hamiltonian.digraph import thin

if TYPE_CHECKING:
    from theory.hamiltonian.deadline import Deadline
    from theory.patterns import Connections, IntArray

__all__ = ["grow_path"]

NEIGHBOURS_KEPT = 32
ATTEMPTS = 3
ROTATIONS_PER_TOKEN = 20
ROTATIONS_AT_LEAST = 2000
INSERTED_AT_MOST = 64
CLOCK_EVERY = 64
TURN_EVERY = 16


def grow_path(graph: Connections, deadline: Deadline, *, seed: int = 0) -> IntArray | None:
    """Look for a Hamiltonian path of a connected undirected graph; None means only that none was found.

    Examples
    --------
    >>> from theory.hamiltonian.deadline import Deadline
    >>> from theory.patterns import Connections
    >>> ring = Connections.from_pairs(4, [0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3])
    >>> grow_path(ring, Deadline(1.0)).size
    4
    """
    rng = np.random.default_rng(seed)
    graph = thin(graph, NEIGHBOURS_KEPT, seed=seed)
    for attempt in range(ATTEMPTS):
        growth = _Growth(graph, rng, deadline)
        start = int(np.argmin(graph.degrees)) if attempt == 0 else int(rng.integers(graph.n))
        if growth.run(start):
            return growth.path
        if deadline.passed:
            break
    return None


class _Growth:
    """One path, grown from one token: `path[:length]`, with the place of every token on it (-1: not on it)."""

    def __init__(self, graph: Connections, rng: np.random.Generator, deadline: Deadline) -> None:
        self.graph = graph
        self.rng = rng
        self.deadline = deadline
        self.path = np.empty(graph.n, dtype=np.int64)
        self.length = 0
        self.place = np.full(graph.n, -1, dtype=np.int64)
        # Neighbours not yet on the path; the fraction breaks ties.
        self.fresh = graph.degrees + rng.random(graph.n)
        # When each token was last an end: the longest ago is preferred, so that the search does not circle.
        self.last_end = -rng.random(graph.n)
        self.near_start = np.zeros(graph.n, dtype=bool)

    def run(self, start: int) -> bool:
        """Grow until every token is on the path, or the rotations are used up."""
        self._visit(start, 0)
        self.length = 1
        self.near_start[self.graph.row(start)] = True
        most = max(ROTATIONS_AT_LEAST, ROTATIONS_PER_TOKEN * self.graph.n)
        rotations, steps = 0, 0
        while self.length < self.graph.n:
            steps += 1
            if rotations > most or (steps % CLOCK_EVERY == 0 and self.deadline.passed):
                return False
            if self._extend():
                continue
            if self.fresh[self.path[0]] >= 1:
                self._turn_round()
            elif not self._insert():
                rotations += 1
                if rotations % TURN_EVERY == 0 or not self._rotate(rotations):
                    self._turn_round()
        return True

    def _visit(self, token: int, place: int) -> None:
        self.path[place] = token
        self.place[token] = place
        self.fresh[self.graph.row(token)] -= 1

    def _lay(self, tokens: IntArray, start: int) -> None:
        """Write a stretch of the path anew."""
        self.path[start : start + tokens.size] = tokens
        self.place[tokens] = np.arange(start, start + tokens.size)
        if start == 0:
            self.near_start[:] = False
            self.near_start[self.graph.row(int(tokens[0]))] = True

    def _extend(self) -> bool:
        """Step from the end to the neighbour off the path that has the fewest neighbours off the path."""
        end = self.path[self.length - 1]
        if self.fresh[end] < 1:
            return False
        row = self.graph.row(end)
        row = row[self.place[row] < 0]
        self._visit(int(row[np.argmin(self.fresh[row])]), self.length)
        self.length += 1
        return True

    def _turn_round(self) -> None:
        """Exchange the ends of the path."""
        self._lay(self.path[: self.length][::-1].copy(), 0)

    def _insert(self) -> bool:
        """Put a token off the path between two neighbours on the path that are both joined to it."""
        if self.graph.n - self.length > INSERTED_AT_MOST:
            return False
        off = np.flatnonzero(self.place < 0)
        token = int(off[self.rng.integers(off.size)])
        places = np.sort(self.place[self.graph.row(token)])
        gaps = np.flatnonzero((np.diff(places) == 1) & (places[:-1] >= 0))
        if not gaps.size:
            return False
        after = int(places[gaps[0]]) + 1
        tail = self.path[after : self.length].copy()
        self._visit(token, after)
        self._lay(tail, after + 1)
        self.length += 1
        return True

    def _rotate(self, time: int) -> bool:
        """Join the end to a token on the path and turn the stretch behind that token round: a new end.

        If the end is joined to the start, the path is a ring: open it where a token has neighbours off the path.
        """
        end = int(self.path[self.length - 1])
        self.last_end[end] = time
        if self.near_start[end]:
            ring = self.path[: self.length]
            open_at = np.flatnonzero(self.fresh[ring] >= 1)
            if open_at.size:
                self._lay(np.roll(ring, -int(open_at[0]) - 1), 0)
                return True
        places = self.place[self.graph.row(end)]
        places = places[places < self.length - 2]
        if not places.size:
            return False
        ends = self.path[places + 1]
        useful = np.flatnonzero((self.fresh[ends] >= 1) | self.near_start[ends])
        chosen = int(useful[0]) if useful.size else int(np.argmin(self.last_end[ends]))
        after = int(places[chosen]) + 1
        self._lay(self.path[after : self.length][::-1].copy(), after)
        return True
