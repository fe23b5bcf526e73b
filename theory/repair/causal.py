"""The fewest edges that let token k - 1 reach token k for every k: causal functions (the reach theorem).

What a repaired digraph looks like: token 0 reaches 1 reaches 2 ..., so its strong components are stretches of
consecutive tokens, each joined directly to the next, and every edge that falls (key after query) lies inside a
stretch. So the optimum is the best way to cut 0..n-1 into stretches that no given falling edge crosses, at the
cost of (a) making each stretch strongly connected by edges of its own, Eswaran and Tarjan's optimum, and (b) an
edge for each two neighbouring stretches that no edge joins. Conversely any such choice is a repair. Call the
finest stretches *blocks*; all others are runs of blocks. Edges between blocks rise, so the strong components of
a run are strong components of the whole, and the sources of a run a..b are the components in it with no edge
from block a or later: counting them is a matter of prefix sums. Then

    f(a, b) = strong(a, b) + min over a' of ( f(a', a-1) + [no edge from a'..a-1 into a..b] )

with f the cost of blocks 0..b when the last stretch is a..b. The bracket is 0 or 1 and falls as a' moves down, so
the smallest a' with the least f(a', a-1) is as good as any: n^2 steps in all, n at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from theory.repair.strong import Condensation, condense, fewest_strong_additions, strong_additions

if TYPE_CHECKING:
    from theory.graph import Components
    from theory.hamiltonian.deadline import Deadline
    from theory.patterns import Connections, IntArray

__all__ = ["CausalPlan", "causal_plan"]


@dataclass(frozen=True)
class CausalPlan:
    """Where to add edges.

    Parameters
    ----------
    inside
        Edges (component, component), tail to head, that make the stretches strongly connected.
    joints
        Tokens k whose predecessor k - 1 becomes their key.
    lower_bound
        No plan has fewer edges.
    """

    inside: tuple[tuple[int, int], ...]
    joints: tuple[int, ...]
    lower_bound: int

    @property
    def count(self) -> int:
        """Number of edges added."""
        return len(self.inside) + len(self.joints)


def causal_plan(union: Connections, components: Components, *, rising: bool, deadline: Deadline) -> CausalPlan:
    """Return the fewest edges after which token k - 1 reaches token k for every k >= 1.

    Parameters
    ----------
    union, components
        The digraph key -> query and its strong components.
    rising
        Whether only edges with key < query may be added to a digraph that has no other. Paths then rise, so that
        k - 1 reaches k by a direct edge or not at all: every missing one is forced.
    deadline
        Past it, the better of two simple plans is returned with a weaker lower bound.

    Examples
    --------
    Two interleaved chains, 0 -> 2 -> 4 and 1 -> 3 -> 5, are one ring after two additions; rising ones take five.

    >>> from theory.graph import strong_components
    >>> from theory.hamiltonian.deadline import Deadline
    >>> from theory.patterns import SparsityPattern
    >>> union = SparsityPattern.from_lists([[0], [1], [0, 2], [1, 3], [2, 4], [3, 5]]).union
    >>> parts = strong_components(union)
    >>> [causal_plan(union, parts, rising=way, deadline=Deadline(9)).count for way in (False, True)]
    [2, 5]
    """
    later = np.arange(1, union.n)
    missing = later[~union.contains(later, later - 1)]
    if rising:
        return CausalPlan((), tuple(missing.tolist()), missing.size)
    blocks = _Blocks(union, components)
    lower = blocks.lower_bound()
    plans = [blocks.plan(list(range(blocks.count))), blocks.plan([0])]
    if min(map(_cost, plans)) > lower:
        found = blocks.best_starts(deadline)
        if found is not None:
            starts, lower = found
            plans.insert(1, blocks.plan(starts))
    inside, joints = min(plans, key=_cost)
    return CausalPlan(tuple(inside), tuple(joints), lower)


def _cost(plan: tuple[list[tuple[int, int]], list[int]]) -> int:
    return len(plan[0]) + len(plan[1])


class _Blocks:
    """The finest stretches that no falling edge crosses, and what lies in and between them."""

    def __init__(self, union: Connections, components: Components) -> None:
        n, labels = union.n, components.labels
        keys, queries = union.keys.astype(np.int64), union.queries.astype(np.int64)
        falls = keys > queries
        open_steps = np.bincount(queries[falls], minlength=n) - np.bincount(keys[falls], minlength=n)
        self.first = np.concatenate(([0], np.flatnonzero(np.cumsum(open_steps)[:-1] == 0) + 1))
        self.count = self.first.size
        of_token = np.searchsorted(self.first, np.arange(n), side="right") - 1
        self.tails, self.heads = condense(labels, keys, queries)
        self.home = np.empty(components.count, dtype=np.int64)  # the block of every component
        self.home[labels] = of_token
        self.last_in = np.full(components.count, -1, dtype=np.int64)
        np.maximum.at(self.last_in, self.heads, self.home[self.tails])
        self.first_out = np.full(components.count, self.count, dtype=np.int64)
        np.minimum.at(self.first_out, self.tails, self.home[self.heads])
        self.of_ends = labels[0], labels[-1]
        # Edges between blocks, each once, in the order of their tails and then of their heads.
        self.block_tails, self.block_heads = condense(of_token, keys, queries)

    def lower_bound(self) -> int:
        """Return max(sources without token 0, sinks without token n - 1): each needs an edge of its own."""
        sources, sinks = self.last_in < 0, self.first_out == self.count
        sources[self.of_ends[0]] = sinks[self.of_ends[1]] = False
        return int(max(np.count_nonzero(sources), np.count_nonzero(sinks)))

    def best_starts(self, deadline: Deadline) -> tuple[list[int], int] | None:
        """Return the blocks at which the stretches of a best cut start, and its cost; None past the deadline."""
        m = self.count
        components = np.bincount(self.home, minlength=m)
        into = np.argsort(self.last_in, kind="stable")
        into_ends = np.searchsorted(self.last_in[into], np.arange(-1, m), side="right")
        by_home = np.argsort(self.home, kind="stable")
        home_ends = np.concatenate(([0], np.cumsum(components)))
        unseen_in = np.zeros(m, dtype=np.int64)  # components of a block without an edge from block a or later
        np.add.at(unseen_in, self.home[into[: into_ends[0]]], 1)
        out = np.bincount(self.first_out, minlength=m + 1)[:m]  # components of block a or later, by first head
        out_starts = np.searchsorted(self.block_tails, np.arange(m + 1))
        nearest = np.full(m, m, dtype=np.int64)  # the first block >= a that a block before a leads to
        cost = np.full(m, np.iinfo(np.int64).max)  # of blocks 0..b, the last stretch starting at `start[b]`
        start = np.zeros(m, dtype=np.int64)
        for a in range(m):
            if deadline.passed:
                return None
            if a:
                np.add.at(unseen_in, self.home[into[into_ends[a - 1] : into_ends[a]]], 1)
                gone = self.first_out[by_home[home_ends[a - 1] : home_ends[a]]]
                np.subtract.at(out, gone[gone < m], 1)
                self._advance(nearest, out_starts, a)
            strong = np.maximum(np.cumsum(unseen_in[a:]), np.cumsum(components[a:]) - np.cumsum(out[a:]))
            if components[a] == 1:
                strong[0] = 0
            if a:
                strong += cost[a - 1]
                entered = int(nearest[start[a - 1] : a].min())
                strong[: entered - a] += 1
            better = strong < cost[a:]
            cost[a:][better] = strong[better]
            start[a:][better] = a
        starts, end = [], m - 1
        while end >= 0:
            starts.append(int(start[end]))
            end = starts[-1] - 1
        return starts[::-1], int(cost[-1])

    def _advance(self, nearest: IntArray, out_starts: IntArray, a: int) -> None:
        """Move on the blocks before a whose first head has fallen behind a."""
        for block in [*np.flatnonzero(nearest[: a - 1] < a).tolist(), a - 1]:
            begin, end = out_starts[block], out_starts[block + 1]
            place = begin + int(np.searchsorted(self.block_heads[begin:end], a))
            nearest[block] = self.block_heads[place] if place < end else self.count

    def plan(self, starts: list[int]) -> tuple[list[tuple[int, int]], list[int]]:
        """Return the edges inside the stretches that start at these blocks, and the tokens that need a joint."""
        stretch_of = np.searchsorted(starts, np.arange(self.count), side="right") - 1
        stretch = stretch_of[self.home]
        joined = np.zeros(len(starts), dtype=bool)
        tails, heads = stretch_of[self.block_tails], stretch_of[self.block_heads]
        joined[heads[heads == tails + 1]] = True
        joints = [int(self.first[block]) for block, has in zip(starts, joined, strict=True) if block and not has]
        inner = stretch[self.tails] == stretch[self.heads]
        order = np.argsort(stretch, kind="stable")
        place = np.empty(stretch.size, dtype=np.int64)
        sizes = np.bincount(stretch)
        firsts = np.cumsum(sizes) - sizes
        place[order] = np.arange(stretch.size) - np.repeat(firsts, sizes)
        edge_order = np.flatnonzero(inner)[np.argsort(stretch[self.tails[inner]], kind="stable")]
        ends = np.cumsum(np.bincount(stretch[self.tails[edge_order]], minlength=len(starts)))
        inside: list[tuple[int, int]] = []
        for number in np.flatnonzero(sizes > 1).tolist():
            edges = edge_order[(ends[number - 1] if number else 0) : ends[number]]
            graph = Condensation(int(sizes[number]), place[self.tails[edges]], place[self.heads[edges]])
            if fewest_strong_additions(graph):
                names = order[firsts[number] : firsts[number] + sizes[number]].tolist()
                inside += [(names[tail], names[head]) for tail, head in strong_additions(graph)]
        return inside, joints
