"""Merging a cover of disjoint cycles into one directed path.

A largest matching of tokens to successors is a cover by cycles and at most one path. First cycles are patched:
two edges in different cycles exchange their ends (Karp 1979). Then a walk: the path swallows a cycle that its end
has an edge into; where it has none, two stretches of the path change places for a new end, which turns no edge
round (the double rotations of Frieze 1988). Finds paths, never refutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.hamiltonian.digraph import gather_rows
from theory.hamiltonian.matching import largest_matching, reverse_matching
from theory.patterns import Connections

if TYPE_CHECKING:
    from theory.hamiltonian.deadline import Deadline
    from theory.patterns import IntArray

__all__ = ["another_matching", "merge_cover"]

ATTEMPTS = 8
MOVES_PER_TOKEN = 10
MOVES_AT_LEAST = 2000
PIVOTS_TRIED = 8
CLOCK_EVERY = 64


def merge_cover(edges: Connections, successor: IntArray, deadline: Deadline, *, seed: int = 0) -> IntArray | None:
    """Look for a Hamiltonian path that starts from a matching; None means only that none was found.

    Parameters
    ----------
    edges
        The digraph, strongly connected or a chain of components.
    successor
        A largest matching that leaves at most one token without a successor (-1).

    Examples
    --------
    >>> from theory.hamiltonian.deadline import Deadline
    >>> from theory.patterns import Connections
    >>> two_rings = Connections.from_pairs(4, [1, 0, 3, 2, 2], [0, 1, 2, 3, 1])
    >>> merge_cover(two_rings, np.array([1, 0, 3, 2]), Deadline(1.0)).tolist()
    [0, 1, 2, 3]
    """
    rng = np.random.default_rng(seed)
    for attempt in range(ATTEMPTS):
        if attempt:
            successor = another_matching(edges, rng)
        cover = _Cover(edges, *_pieces(_patch(edges, successor, rng)), rng, deadline)
        if cover.run():
            return cover.path
        if deadline.passed or not deadline.allows(edges.count, 2e6):
            break
    return None


def another_matching(edges: Connections, rng: np.random.Generator) -> IntArray:
    """Return a largest matching of the same edges, found with the tokens in another order."""
    name = rng.permutation(edges.n)
    found = largest_matching(Connections.from_pairs(edges.n, name[edges.queries], name[edges.keys]))
    back = np.argsort(name)
    return np.where(found[name] >= 0, back[found[name]], -1)


def _pieces(successor: IntArray) -> tuple[IntArray, list[IntArray]]:
    """Split a matching into its path (the longest cycle, cut open, if there is none) and its cycles."""
    follows = successor.tolist()
    seen = np.zeros(successor.size, dtype=bool)
    starts = np.flatnonzero(reverse_matching(successor) < 0).tolist()
    pieces = []
    for start in [*starts, *range(successor.size)]:
        piece, token = [], start
        while token >= 0 and not seen[token]:
            seen[token] = True
            piece.append(token)
            token = follows[token]
        if piece:
            pieces.append(np.array(piece))
    first = 0 if starts else max(range(len(pieces)), key=lambda number: pieces[number].size)
    return pieces.pop(first), pieces


def _patch(edges: Connections, successor: IntArray, rng: np.random.Generator) -> IntArray:
    """Exchange the ends of two edges of different cycles, t -> b and a -> h for t -> h and a -> b, while possible.

    The path counts as a cycle through one more token, joined to and from every other.
    """
    n = edges.n
    follows = np.append(successor, np.flatnonzero(reverse_matching(successor) < 0)[:1])
    follows = np.append(follows, np.full(n + 1 - follows.size, n))
    follows[:n][successor < 0] = n
    tails, heads = edges.keys, edges.queries
    while True:
        label = _cycle_labels(follows)
        across = label[tails] != label[heads]
        t, h = tails[across], heads[across]
        before = np.argsort(follows)
        a, b = before[h], follows[t]
        free = (a == n) | (b == n)
        free[~free] = edges.contains(b[~free], a[~free])
        possible = rng.permutation(np.flatnonzero(free))
        if not possible.size:
            break
        used = np.zeros(n + 1, dtype=bool)
        merged = np.zeros(int(label.max()) + 1, dtype=bool)
        for tail, head, tail2, head2 in zip(*(v[possible].tolist() for v in (t, h, a, b)), strict=True):
            if used[tail] or used[tail2] or (merged[label[tail]] and merged[label[head]]):
                continue
            merged[label[tail]] = merged[label[head]] = True
            used[tail] = used[tail2] = True
            follows[tail], follows[tail2] = head, head2
    return np.where(follows[:n] == n, -1, follows[:n])


def _cycle_labels(follows: IntArray) -> IntArray:
    """Label every token with its cycle, given the token that follows it."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    size = follows.size
    matrix = csr_array((np.ones(size), (np.arange(size), follows)), shape=(size, size))
    labels: IntArray = connected_components(matrix, directed=False)[1]
    return labels


class _Cover:
    """A path and cycles that cover every token; `mirror` exchanges start and end."""

    def __init__(
        self,
        edges: Connections,
        path: IntArray,
        cycles: list[IntArray],
        rng: np.random.Generator,
        deadline: Deadline,
    ) -> None:
        self.n = edges.n
        self.out, self.into = edges.transposed, edges
        self.path = path
        self.cycles = cycles
        self.rng = rng
        self.deadline = deadline
        self.turned = False
        self.where = np.empty(self.n, dtype=np.int64)
        self.place = np.empty(self.n, dtype=np.int64)
        self.last_end = -rng.random(self.n)
        self._index()

    def _index(self) -> None:
        """Note where every token is (-1: the path, else its cycle), and how many edges it has into cycles."""
        for number, piece in enumerate([self.path, *self.cycles], start=-1):
            self.where[piece] = number
            self.place[piece] = np.arange(piece.size)
        inside = np.concatenate(self.cycles) if self.cycles else np.empty(0, dtype=np.int64)
        self.hits = np.bincount(gather_rows(self.into, inside), minlength=self.n)
        self.near_start = np.zeros(self.n, dtype=bool)
        self.near_start[self.into.row(int(self.path[0]))] = True

    def run(self) -> bool:
        """Merge until the path holds every token, or the moves are used up."""
        banned = -1
        for move in range(max(MOVES_AT_LEAST, MOVES_PER_TOKEN * self.n)):
            if not self.cycles:
                break
            if move % CLOCK_EVERY == 0 and self.deadline.passed:
                return False
            if self._swallow(banned):
                banned = -1
                continue
            self.last_end[self.path[-1]] = move
            if move % 2:
                self._mirror()
                if self._swallow(-1):
                    continue
            if not (self._reopen() or self._exchange()):
                banned = self._cut()
        if self.cycles:
            return False
        if self.turned:
            self._mirror()
        return True

    def _swallow(self, banned: int) -> bool:
        """Append to the path a cycle that its end has an edge into."""
        end = int(self.path[-1])
        if not self.hits[end]:
            return False
        row = self.out.row(end)
        row = row[(self.where[row] >= 0) & (row != banned)]
        if not row.size:
            return False
        entry = int(row[self.rng.integers(row.size)])
        cycle = self.cycles.pop(int(self.where[entry]))
        self.path = np.concatenate((self.path, np.roll(cycle, -int(self.place[entry]))))
        self._index()
        return True

    def _mirror(self) -> None:
        """Look at the digraph with every edge reversed."""
        self.out, self.into = self.into, self.out
        self.path = self.path[::-1].copy()
        self.cycles = [cycle[::-1].copy() for cycle in self.cycles]
        self.turned = not self.turned
        self._index()

    def _reopen(self) -> bool:
        """If the end has an edge to the start, open this ring where a token has an edge into a cycle."""
        if not self.near_start[self.path[-1]]:
            return False
        doors = np.flatnonzero(self.hits[self.path])
        if not doors.size:
            return False
        self.path = np.roll(self.path, -int(doors[self.rng.integers(doors.size)]) - 1)
        self._index()
        return True

    def _exchange(self) -> bool:
        """Let two neighbouring stretches change places, the second up to the end: a new end.

        The end gets an edge to the first token of the stretch path[i:j], and path[i - 1] one to path[j].
        """
        row = self.out.row(int(self.path[-1]))
        pivots = self.place[row[self.where[row] < 0]]
        pivots = pivots[(pivots > 0) & (pivots < self.path.size - 1)]
        best: tuple[float, int, int] | None = None
        for i in self.rng.permutation(pivots)[:PIVOTS_TRIED].tolist():
            row = self.out.row(int(self.path[i - 1]))
            after = self.place[row[self.where[row] < 0]]
            after = after[after > i]
            if not after.size:
                continue
            ends = self.path[after - 1]
            useful = (self.hits[ends] > 0) | self.near_start[ends]
            worth = np.where(useful, -np.inf, self.last_end[ends])
            chosen = int(np.argmin(worth))
            if best is None or worth[chosen] < best[0]:
                best = (float(worth[chosen]), i, int(after[chosen]))
        if best is None:
            return False
        _, i, j = best
        self.path[i:] = np.concatenate((self.path[j:], self.path[i:j]))
        self.place[self.path[i:]] = np.arange(i, self.path.size)
        return True

    def _cut(self) -> int:
        """Close the tail of the path into a cycle; return the token that the new end must not go back to."""
        row = self.out.row(int(self.path[-1]))
        pivots = self.place[row[self.where[row] < 0]]
        pivots = pivots[(pivots > 0) & (pivots < self.path.size - 1)]
        if not pivots.size:
            self._mirror()
            return -1
        i = int(pivots[self.rng.integers(pivots.size)])
        entry = int(self.path[i])
        self.cycles.append(self.path[i:].copy())
        self.path = self.path[:i].copy()
        self._index()
        return entry
