"""Which token absorbs which, in which order: the relay construction as a list of moves.

Gather along an in-tree to a root, children before parents; broadcast along an out-tree, nearest first. Between
strong components there are two ways, `repeat` and `once` (see `plan_relay`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from constructions.numbers import ProofError
from constructions.relay_cover import cover_upstream
from theory.graph import strong_components
from theory.spine import build_spine

if TYPE_CHECKING:
    from constructions.relay_cover import Upstream
    from theory.graph import Components
    from theory.patterns import Connections, IntArray

__all__ = ["Move", "MoveKind", "Phase", "Plan", "Shared", "plan_relay"]

Shared = Literal["repeat", "once"]
MAX_GATHERED = 2**21  # moves of `once` towards the roots; a minute of planning


class MoveKind(Enum):
    """What one selective shift does to the word of digits that its query holds."""

    ABSORB = "absorb"  # append the key's word to the query's
    RELEASE = "release"  # undo an absorb: take the key's word off the end
    COPY = "copy"  # forget the query's word and take the key's


class Move(NamedTuple):
    """One selective shift: `query` takes, or gives back, what `key` holds."""

    kind: MoveKind
    query: int
    key: int


@dataclass(frozen=True)
class Phase:
    """A run of moves with one purpose: `upstream`, `gather`, `release` or `broadcast`."""

    name: str
    moves: tuple[Move, ...]


@dataclass(frozen=True)
class Plan:
    """The phases in order, how shared history is coded, and how many moves the formulas give by name of phase."""

    phases: tuple[Phase, ...]
    shared: Shared
    formula: dict[str, int]

    @property
    def moves(self) -> list[Move]:
        """The moves of all phases in order."""
        return [move for phase in self.phases for move in phase.moves]


class _Trees(NamedTuple):
    """Spanning trees of the components: breadth-first in- and out-trees to and from one root each."""

    root: IntArray
    in_parent: IntArray
    out_parent: IntArray


def plan_relay(
    connections: Connections, root: int | None = None, shared: Shared | None = None, most_digits: int = 2**33
) -> Plan:
    """Plan the moves after which every token codes exactly the inputs of its reach.

    Parameters
    ----------
    connections
        The union digraph; its edges run key -> query.
    root
        Gathers the component it lies in; the hub or the first token of every component where not given.
    shared
        `repeat`: components in topological order, each absorbs finished neighbours whole, then gathers and
        broadcasts. Fewest moves (2(n - 1) when strongly connected), but where components form a diamond the
        shared history is coded once for every way it arrives: exponentially long ids in the worst case.
        `once`: components in the reverse order, each gathers its whole reach along one tree, then the tokens
        upstream release what they had absorbed and hold their own input again. Every id codes reach(k) exactly
        once, for at most 2 n^2 moves. Where not given: `repeat` if no id is more than twice as long as needed.
    most_digits
        Of all ids together; each codes one input.

    Raises
    ------
    ProofError
        If the ids would have more digits than that, or `once` would take millions of moves.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> causal = SparsityPattern.from_lists([[0], [0, 1], [1, 2]]).union
    >>> for phase in plan_relay(causal).phases:
    ...     print(phase.name, [(move.query, move.key) for move in phase.moves])
    upstream [(1, 0)]
    upstream [(2, 1)]
    """
    components = strong_components(connections)
    upstream = cover_upstream(connections, components)
    if shared is None:
        shared = "repeat" if max(upstream.digits) <= 2 * max(upstream.reach) else "once"
    _refuse_long(upstream, components.sizes.tolist(), shared, most_digits)
    trees = _trees(connections, components, root)
    gathers, broadcasts = _inside(components, trees)
    inside = connections.n - components.count  # tokens that are no root
    if shared == "once":
        phases = _once(connections, components, trees, broadcasts)
        released = sum(len(phase.moves) for phase in phases if phase.name == "release")  # depends on the trees
        formula = {"gather": sum(upstream.reach) - components.count, "release": released, "broadcast": inside}
    else:
        phases = _repeat(upstream, gathers, broadcasts)
        formula = {"upstream": sum(map(len, upstream.links)), "gather": inside, "broadcast": inside}
    return Plan(phases, shared, formula)


def _refuse_long(upstream: Upstream, sizes: list[int], shared: Shared, most_digits: int) -> None:
    digits = upstream.digits if shared == "repeat" else upstream.reach
    if sum(size * each for size, each in zip(sizes, digits, strict=True)) > most_digits:
        remedy = "code shared history once" if max(digits) > max(upstream.reach) else "reduce n, d or K"
        raise ProofError(f"ids that code up to {max(digits)} inputs are too long to compute with: {remedy}")
    if shared == "once" and sum(upstream.reach) > MAX_GATHERED:
        raise ProofError(f"to code shared history once takes more than {sum(upstream.reach)} moves: reduce n")


def _trees(connections: Connections, components: Components, root: int | None) -> _Trees:
    """Build the trees; only the component of `root`, if given, needs a search of its own."""
    spine = build_spine(connections, components)
    if root is None:
        return _Trees(spine.root, spine.in_parent, spine.out_parent)
    roots, in_parent, out_parent = spine.root.copy(), spine.in_parent.copy(), spine.out_parent.copy()
    label = components.labels[root]
    members = components.members(int(label))
    roots[label] = root
    # a shortest path between two tokens of a component never leaves it
    in_parent[members] = _search(connections, root)[1][members]
    out_parent[members] = _search(connections.transposed, root)[1][members]
    in_parent[root] = out_parent[root] = root
    return _Trees(roots, in_parent, out_parent)


def _search(rows: Connections, start: int) -> tuple[IntArray, IntArray]:
    """Return the tokens that `start` finds along its rows, nearest first, and the predecessor of every one."""
    from scipy.sparse.csgraph import breadth_first_order

    order, parents = breadth_first_order(rows.matrix(), start)
    return order, parents


def _depths(parent: IntArray) -> IntArray:
    """Return the distance of every token from its root, by doubling the parents."""
    depth: IntArray = (parent != np.arange(parent.size)).astype(np.int64)
    jump = parent
    while np.any(depth[jump]):
        depth = depth + depth[jump]
        jump = jump[jump]
    return depth


def _inside(components: Components, trees: _Trees) -> tuple[list[list[Move]], list[list[Move]]]:
    """Return the gather and the broadcast of every component, both without its neighbours."""

    def by_component(depth: IntArray) -> list[list[int]]:
        order = np.lexsort((depth, components.labels))
        ends = np.cumsum(components.sizes)
        return [part.tolist() for part in np.split(order, ends[:-1])]

    up, down = trees.in_parent.tolist(), trees.out_parent.tolist()
    gathers = [
        [Move(MoveKind.ABSORB, up[token], token) for token in part if up[token] != token]
        for part in by_component(-_depths(trees.in_parent))
    ]
    broadcasts = [
        [Move(MoveKind.COPY, token, down[token]) for token in part if down[token] != token]
        for part in by_component(_depths(trees.out_parent))
    ]
    return gathers, broadcasts


def _phases(*named: tuple[str, list[Move]]) -> list[Phase]:
    return [Phase(name, tuple(moves)) for name, moves in named if moves]


def _repeat(upstream: Upstream, gathers: list[list[Move]], broadcasts: list[list[Move]]) -> tuple[Phase, ...]:
    """Walk the components in topological order; finished neighbours are absorbed whole."""
    phases: list[Phase] = []
    for links, gather, broadcast in zip(upstream.links, gathers, broadcasts, strict=True):
        arrivals = [Move(MoveKind.ABSORB, query, key) for query, key in links]
        phases += _phases(("upstream", arrivals), ("gather", gather), ("broadcast", broadcast))
    return tuple(phases)


def _once(
    connections: Connections, components: Components, trees: _Trees, broadcasts: list[list[Move]]
) -> tuple[Phase, ...]:
    """Walk the components in reverse; everything upstream still holds its own input, and does so afterwards."""
    phases: list[Phase] = []
    labels = components.labels.tolist()
    for label in reversed(range(components.count)):
        order, parents = _search(connections, int(trees.root[label]))
        edges = [(int(parents[token]), token) for token in order[1:].tolist()]
        gather = [Move(MoveKind.ABSORB, parent, token) for parent, token in reversed(edges)]
        # the tokens of this component are overwritten by the broadcast; only those upstream must be restored
        release = [Move(MoveKind.RELEASE, parent, token) for parent, token in edges if labels[parent] != label]
        phases += _phases(("gather", gather), ("release", release), ("broadcast", broadcasts[label]))
    return tuple(phases)
