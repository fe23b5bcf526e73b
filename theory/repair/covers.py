"""Few paths that cover all tokens: what a Hamiltonian path lacks, bounded from both sides.

A cover by c paths becomes a Hamiltonian path with c - 1 edges, and no fewer do with the least c. Each path
leaves one token without a successor, so c >= n - (a largest matching of tokens to successors), which counts a
cycle as no path: the bound is met where the matching has no cycle, on every acyclic digraph for one. Above it
the cycles are patched into paths and into each other as far as edges allow; and h *jokers*, tokens with edges
from and to all, decide exactly: a cover by h + 1 paths exists iff digraph and jokers together have a Hamiltonian
path.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.hamiltonian import hamiltonian_path
from theory.hamiltonian.digraph import usable_edges
from theory.hamiltonian.matching import largest_matching, reverse_matching
from theory.hamiltonian.merging import another_matching
from theory.patterns import Connections, SparsityPattern
from theory.repair.orders import OrderPlan
from theory.repair.strong import Condensation, condense, fewest_strong_additions
from theory.verdicts import Answer

if TYPE_CHECKING:
    from theory.graph import Components
    from theory.hamiltonian.deadline import Deadline
    from theory.patterns import IntArray

__all__ = ["few_paths", "order_by_cover", "path_cover", "with_jokers"]

MATCHINGS = 32
TRIES = 64  # orders of the paths of a cover
MOST_JOKER_EDGES = 1_000_000


def few_paths(union: Connections, deadline: Deadline) -> tuple[list[IntArray], int]:
    """Return a cover by few paths, and a number of paths that no cover goes below.

    Examples
    --------
    >>> from theory.families import hub
    >>> from theory.hamiltonian.deadline import Deadline
    >>> paths, least = few_paths(hub(20).union, Deadline(5))
    >>> len(paths), least
    (18, 18)
    """
    edges = usable_edges(union)
    successor = largest_matching(edges)
    least = max(1, int(np.count_nonzero(successor < 0)))
    paths = path_cover(edges, successor)
    dice, part = np.random.default_rng(0), deadline.part(0.3, np.inf)
    for _ in range(MATCHINGS):  # another largest matching may have its cycles elsewhere
        if len(paths) == least or part.passed:
            break
        paths = min(paths, path_cover(edges, another_matching(edges, dice)), key=len)
    for extra in range(least - 1, len(paths) - 1):
        if deadline.passed or 2 * extra * union.n + union.count > MOST_JOKER_EDGES:
            break
        found = hamiltonian_path(with_jokers(union, extra), time_limit=deadline.part(0.7, np.inf).left)
        if found.path is not None:
            cuts = np.flatnonzero(found.path >= union.n)
            pieces = [piece[piece < union.n] for piece in np.split(found.path, cuts)]
            return [piece for piece in pieces if piece.size], extra + 1
        if found.answer is not Answer.FAILS:
            break
        least = extra + 2
    return paths, least


def with_jokers(union: Connections, jokers: int) -> SparsityPattern:
    """Add tokens with edges from and to all others, behind the tokens of the digraph.

    Examples
    --------
    >>> with_jokers(Connections.from_pairs(2, [0], [1]), 1).to_lists()
    [[[1, 2], [2], [0, 1]]]
    """
    n = union.n
    total = n + jokers
    extra, tokens = np.arange(n, total), np.arange(total)
    one, other = np.repeat(extra, total), np.tile(tokens, jokers)
    loop = one == other
    one, other = one[~loop], other[~loop]
    queries = np.concatenate((union.queries, one, other))
    keys = np.concatenate((union.keys, other, one))
    return SparsityPattern((Connections.from_pairs(total, queries, keys),))


def path_cover(edges: Connections, successor: IntArray) -> list[IntArray]:
    """Turn a matching of tokens to successors into paths: patch its cycles into other pieces, break the rest.

    Parameters
    ----------
    edges
        The digraph without self-loops.
    successor
        For each token its successor, -1 for none; no token follows two.
    """
    cover = _Cover(edges, successor)
    cover.patch_cycles()
    cover.join_ends()
    return cover.paths()


class _Cover:
    """Disjoint paths and cycles through all tokens, as links in both directions and the piece of every token."""

    def __init__(self, edges: Connections, successor: IntArray) -> None:
        self._before, self._after = edges, edges.transposed
        self.next: list[int] = successor.tolist()
        self.last: list[int] = reverse_matching(successor).tolist()
        self.piece = [-1] * edges.n
        self.cycles: list[int] = []
        for start in [*np.flatnonzero(reverse_matching(successor) < 0).tolist(), *range(edges.n)]:
            if self.piece[start] < 0:
                for token in self._walk(start):
                    self.piece[token] = start
                if self.last[start] >= 0:
                    self.cycles.append(start)

    def _walk(self, start: int) -> list[int]:
        """List a piece from `start` on, a cycle once around."""
        tokens, token = [start], self.next[start]
        while token not in (-1, start):
            tokens.append(token)
            token = self.next[token]
        return tokens

    def _link(self, tail: int, head: int) -> None:
        self.next[tail], self.last[head] = head, tail

    def patch_cycles(self) -> None:
        """Patch cycles into other pieces; one that fits nowhere loses the edge into its first token."""
        for start in self.cycles:
            ring = self._walk(start)
            target = self._patch(ring)
            if target < 0:
                self.next[self.last[start]] = -1
                self.last[start] = -1
                continue
            for token in ring:
                self.piece[token] = self.piece[target]

    def _patch(self, ring: list[int]) -> int:
        """Open a cycle and link it into another piece; return a token of that piece, or -1."""
        own = self.piece[ring[0]]
        for token in ring:
            for head in self._after.row(token).tolist():
                if self.last[head] < 0 and self.piece[head] != own:
                    self.last[self.next[token]] = -1
                    self._link(token, head)
                    return int(head)
            end = self.last[token]
            for tail in self._before.row(token).tolist():
                if self.piece[tail] == own:
                    continue
                head = self.next[tail]
                if head < 0:
                    self.next[end] = -1
                elif self._before.contains(np.array([head]), np.array([end]))[0]:
                    self._link(end, head)
                else:
                    continue
                self._link(tail, token)
                return int(tail)
        return -1

    def join_ends(self) -> None:
        """Link the end of a path to the start of another wherever an edge allows it."""
        for tail in [token for token, head in enumerate(self.next) if head < 0]:
            for head in self._after.row(tail).tolist():
                if self.last[head] < 0 and not self._leads(head, tail):
                    self._link(tail, head)
                    break

    def _leads(self, start: int, end: int) -> bool:
        """Return whether the path that starts here ends there."""
        return self._walk(start)[-1] == end

    def paths(self) -> list[IntArray]:
        """Return the paths, in the order of their first tokens."""
        return [np.array(self._walk(start)) for start, tail in enumerate(self.last) if tail < 0]


def order_by_cover(union: Connections, components: Components, *, refuted: bool, deadline: Deadline) -> OrderPlan:
    """Order a cover by few paths so that its links make the digraph strongly connected too, where possible.

    The order stays open when every proper prefix is entered by an edge from the rest (`theory.repair.orders`);
    else one edge closes the ring. `refuted` says that there is known to be no Hamiltonian path.
    """
    paths, least = few_paths(union, deadline)
    labels = components.labels
    graph = Condensation(components.count, *condense(labels, union.keys, union.queries))
    lower = max(least - 1, int(refuted), fewest_strong_additions(graph))
    dice = np.random.default_rng(0)
    tries = [np.arange(len(paths))]
    # Links lead onward, so edges have to lead back: downstream components first.
    tries.append(np.argsort([-int(labels[path[0]]) for path in paths], kind="stable"))
    for trial in range(TRIES):
        turn = tries[trial] if trial < len(tries) else dice.permutation(len(paths))
        order = np.concatenate([paths[i] for i in turn])
        if _prefixes_entered(union, order):
            return OrderPlan(order, False, lower)
        if deadline.passed or lower > len(paths) - 1:
            break
    return OrderPlan(np.concatenate(paths), True, lower)


def _prefixes_entered(union: Connections, order: IntArray) -> bool:
    """Return whether every proper prefix of the order is entered by an edge from the tokens behind it."""
    place = np.empty(union.n, dtype=np.int64)
    place[order] = np.arange(union.n)
    tail, head = place[union.keys], place[union.queries]
    back = tail > head
    opened = np.bincount(head[back], minlength=union.n) - np.bincount(tail[back], minlength=union.n)
    return bool(np.all(np.cumsum(opened)[:-1] > 0))
