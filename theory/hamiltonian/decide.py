"""Assumption 1.2: the order of attack, cheapest evidence first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.checks import seconds
from theory.hamiltonian.deadline import Deadline
from theory.hamiltonian.digraph import both_ways, either_way, is_symmetric, joining_patterns, usable_edges
from theory.hamiltonian.orders import bandwidth_order, natural_orders
from theory.hamiltonian.refutations import Exhausted, Refutation, SolverWord
from theory.hamiltonian.result import HamiltonianPath
from theory.hamiltonian.subsets import MOST_TOKENS, path_by_subsets
from theory.verdicts import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from theory.patterns import Connections, IntArray, SparsityPattern

    Finding = tuple[str, IntArray | Refutation | None]

__all__ = ["hamiltonian_path"]

# Connections a second that calls which cannot be stopped manage at least, with room to spare.
FAST, SLOW = 1e7, 1e6
# The same for maximum flow, in connections times the square root of n.
FLOW = 5e7
# Most seconds for each search; on all but large patterns it ends by itself much earlier.
SEARCH = 2.0
SEARCH_PER_TOKEN = 1e-5
SHOWN = 8


def hamiltonian_path(
    pattern: SparsityPattern, *, time_limit: float = 10.0, progress: Callable[[str], None] | None = None
) -> HamiltonianPath:
    """Decide whether the union digraph has a Hamiltonian path (paper, Assumption 1.2).

    The digraph has an edge j -> k whenever j is in A_k^l for some l. Up to 16 tokens the answer is exact, whatever
    the time limit; beyond, it is undecided where neither a path nor a refutation turns up in time. A path is
    checked against the pattern before it is returned.

    Parameters
    ----------
    time_limit
        Seconds for the whole question; a second more may pass before a step notices.
    progress
        Called with the name of each step as it starts.

    Raises
    ------
    PatternError
        If the time limit is negative or not a number.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> ring = hamiltonian_path(SparsityPattern.from_lists([[0, 2], [0, 1], [1, 2]]))
    >>> ring.answer, ring.path.tolist(), ring.patterns.tolist()
    (<Answer.HOLDS: 'holds'>, [0, 1, 2], [0, 0])
    >>> hub = hamiltonian_path(SparsityPattern.from_lists([[0, 3], [1, 3], [2, 3], [0, 1, 2, 3]]))
    >>> hub.answer, hub.refutation.kind
    (<Answer.FAILS: 'fails'>, 'too_few_successors')
    """
    time_limit = seconds(time_limit)
    say = progress or (lambda _: None)
    clock = Deadline(time_limit)
    for step, order in natural_orders(pattern):
        say(step)
        holds = _path_found(pattern, step, order)
        if holds is not None:
            return holds
    step, finding = _search(pattern, clock, say)
    if finding is None:
        why = f"neither a Hamiltonian path nor a refutation was found within {time_limit:g} s: {step}"
        return HamiltonianPath(Answer.UNDECIDED, None, None, None, "undecided", why)
    if isinstance(finding, Refutation):
        return HamiltonianPath(Answer.FAILS, None, None, finding, step, finding.sentence)
    holds = _path_found(pattern, step, finding)
    if holds is None:
        raise RuntimeError(f"{step}: what it found is no Hamiltonian path of the pattern")
    return holds


def _path_found(pattern: SparsityPattern, step: str, path: IntArray) -> HamiltonianPath | None:
    """Check a path against the pattern, and wrap it; None if it is no Hamiltonian path."""
    if not np.array_equal(np.sort(path), np.arange(pattern.n)):
        return None
    path = np.ascontiguousarray(path, dtype=np.int64)
    joined = joining_patterns(pattern, path)
    if np.any(joined < 0):
        return None
    shown = " -> ".join(map(str, path if path.size <= SHOWN else [*path[: SHOWN - 2], "...", path[-1]]))
    why = f"{shown} is a Hamiltonian path ({step})" if path.size > 1 else "a single token is a path by itself"
    return HamiltonianPath(Answer.HOLDS, path, joined, None, step, why)


def _search(pattern: SparsityPattern, clock: Deadline, say: Callable[[str], None]) -> Finding:
    """Return the step that decided and what it found, or the reason for finding nothing and None."""
    from theory.graph import strong_components
    from theory.hamiltonian.chain import broken_chain
    from theory.hamiltonian.matching import few_choices, largest_matching, unmatched_shortage

    small = pattern.n <= MOST_TOKENS
    if not (small or clock.allows(pattern.connections, FAST)):
        return "no time was left after the natural orders", None
    say("strong components")
    union = pattern.union
    components = strong_components(union)
    rank = None if components.count == 1 else components.labels.astype(np.int64)
    if rank is not None:
        broken = broken_chain(union, components)
        if broken is not None:
            return "strong components", broken
        if components.count == pattern.n:
            return "strong components", np.argsort(rank)
    edges = usable_edges(union, rank)
    if small:
        return _search_small(edges, union, rank)

    if not clock.allows(edges.count, FAST):
        return "no time was left after the strong components", None
    say("few choices")
    shortage = few_choices(edges, union, rank)
    if shortage is not None:
        return "few choices", shortage

    if clock.allows(edges.count, SLOW):
        say("reverse Cuthill-McKee order")
        order = bandwidth_order(either_way(edges))
        for path in (order, order[::-1]):
            if edges.contains(path[1:], path[:-1]).all():
                return "reverse Cuthill-McKee order", path

    successor: IntArray | None = None
    if clock.allows(edges.count * edges.n**0.5, FLOW):
        say("largest matching")
        successor = largest_matching(edges)
        shortage = unmatched_shortage(edges, successor, union, rank)
        if shortage is not None:
            return "largest matching", shortage
    return _search_large(edges, rank, successor, clock, say)


def _search_small(edges: Connections, union: Connections, rank: IntArray | None) -> Finding:
    """Decide exactly by trying every set; where there is no path, prefer a refutation that is short to check."""
    from theory.hamiltonian.matching import largest_matching, unmatched_shortage
    from theory.hamiltonian.separators import grown_cut, three_ends, too_many_parts

    path = path_by_subsets(edges)
    if path is not None:
        return "every set of tokens", path
    refutation: Refutation | None = unmatched_shortage(edges, largest_matching(edges), union, rank)
    if refutation is not None:
        return "largest matching", refutation
    graph, clock = either_way(edges), Deadline(np.inf)
    refutation = three_ends(graph, rank, clock)
    if refutation is not None:
        return "blocks", refutation
    refutation = too_many_parts(graph, rank, clock)
    if refutation is not None:
        return "cut sets", refutation
    refutation = grown_cut(graph, rank, clock)
    if refutation is not None:
        return "cut sets", refutation
    return "every set of tokens", Exhausted()


def _search_large(
    edges: Connections,
    rank: IntArray | None,
    successor: IntArray | None,
    clock: Deadline,
    say: Callable[[str], None],
) -> Finding:
    """Search for a cut, then for a path, then ask the solver."""
    from theory.graph import strong_components
    from theory.hamiltonian.growing import grow_path
    from theory.hamiltonian.merging import merge_cover
    from theory.hamiltonian.separators import grown_cut, three_ends, too_many_parts
    from theory.hamiltonian.solver import ask_solver

    most = SEARCH + SEARCH_PER_TOKEN * edges.n
    if clock.allows(edges.count, SLOW):
        graph = either_way(edges)
        say("cut sets")
        parts = too_many_parts(graph, rank, clock)
        if parts is not None:
            return "cut sets", parts
        say("blocks")
        ends = three_ends(graph, rank, clock.part(0.1, most))
        if ends is not None:
            return "blocks", ends
    if clock.allows(edges.count, SLOW):
        core = both_ways(edges)
        if strong_components(core).count == 1 and (
            core is edges or not _plainly_fails(core, clock.part(0.1, most))
        ):
            say("path growing with rotations")
            path = grow_path(core, clock.part(0.5, most))
            if path is not None:
                return "path growing with rotations", path
    if successor is not None and not is_symmetric(edges):
        say("merging cycles")
        path = merge_cover(edges, successor, clock.part(0.5, most))
        if path is not None:
            return "merging cycles", path
    say("SAT solver")
    answer = ask_solver(edges, rank, clock)
    if answer.feasible is None:
        return answer.reason, None
    if answer.feasible:
        return "SAT solver", answer.path
    say("cut sets")
    proof = grown_cut(either_way(edges), rank, clock.part(0.5, SEARCH))
    return ("SAT solver", SolverWord()) if proof is None else ("cut sets", proof)


def _plainly_fails(graph: Connections, clock: Deadline) -> bool:
    """Return whether a quick refutation shows that growing a path in this undirected graph is in vain."""
    from theory.hamiltonian.matching import few_choices
    from theory.hamiltonian.separators import three_ends, too_many_parts

    refutations = (
        few_choices(graph, graph, None),
        too_many_parts(graph, None, clock),
        three_ends(graph, None, clock),
    )
    return any(refutation is not None for refutation in refutations)
