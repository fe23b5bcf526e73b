"""The fewest edges that make a digraph strongly connected (Eswaran and Tarjan 1976)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from theory.patterns import IntArray

__all__ = ["Condensation", "condense", "fewest_strong_additions", "strong_additions"]

Edge = tuple[int, int]


class Condensation:
    """The acyclic digraph of the strong components, or of some of them, as lists of successors.

    Parameters
    ----------
    count
        Number of nodes.
    tails, heads
        The edges tail -> head between different nodes, without repetition; they must form no cycle.
    """

    def __init__(self, count: int, tails: IntArray, heads: IntArray) -> None:
        self.count = count
        order = np.argsort(tails, kind="stable")
        ends = np.cumsum(np.bincount(tails, minlength=count))[:-1]
        self.successors: list[list[int]] = [part.tolist() for part in np.split(heads[order], ends)]
        has_out = np.bincount(tails, minlength=count) > 0
        has_in = np.bincount(heads, minlength=count) > 0
        self.sources: list[int] = np.flatnonzero(has_out & ~has_in).tolist()
        self.sinks: list[int] = np.flatnonzero(has_in & ~has_out).tolist()
        self.isolated: list[int] = np.flatnonzero(~has_in & ~has_out).tolist()


def condense(labels: IntArray, keys: IntArray, queries: IntArray) -> tuple[IntArray, IntArray]:
    """Return the edges (tails, heads) between different components, each once.

    Examples
    --------
    >>> condense(np.array([0, 0, 1]), np.array([0, 0, 1]), np.array([1, 2, 2]))
    (array([0]), array([1]))
    """
    from theory.connections import distinct

    tails, heads = labels[keys].astype(np.int64), labels[queries].astype(np.int64)
    across = tails != heads
    base = int(labels.max()) + 1
    flat = distinct(tails[across] * base + heads[across])
    return flat // base, flat % base


def fewest_strong_additions(graph: Condensation) -> int:
    """Return the optimum: max(sources, sinks) plus the isolated nodes; 0 for a single node.

    Every source and every isolated node needs an edge that enters it, and an edge enters one node; the like
    holds for sinks. `strong_additions` attains it.
    """
    if graph.count == 1:
        return 0
    return max(len(graph.sources), len(graph.sinks)) + len(graph.isolated)


def strong_additions(graph: Condensation) -> list[Edge]:
    """Return the fewest edges tail -> head that make an acyclic digraph strongly connected, in linear time.

    Pair sources v_1..v_m with sinks w_1..w_m so that v_i reaches w_i, every source reaches some w_i and every
    sink is reached from some v_i (`_pairs`). With isolated nodes x_1..x_q, at most as many sources as sinks
    (else turn all edges round), add

    * the cycle w_1 -> v_2, .., w_{m-1} -> v_m, w_m -> x_1 -> .. -> x_q -> v_1;
    * w_i -> v_i for the other sources i: v_i reaches the cycle, and w_i is reached from it;
    * w_i -> v_1 for the sinks that are left.

    These are m + q, (sources - m) and (sinks - sources) edges, sinks + q together: the lower bound of
    `fewest_strong_additions`. Every node lies between a source and a sink, hence on a closed walk through the
    cycle.

    Examples
    --------
    >>> strong_additions(Condensation(3, np.array([0, 0]), np.array([1, 2])))
    [(1, 0), (2, 0)]
    """
    if graph.count == 1:
        return []
    if len(graph.sources) > len(graph.sinks):
        tails = np.repeat(np.arange(graph.count), [len(heads) for heads in graph.successors])
        heads = np.array([head for heads in graph.successors for head in heads], dtype=np.int64)
        return [(tail, head) for head, tail in strong_additions(Condensation(graph.count, heads, tails))]
    pairs = _pairs(graph)
    paired_sources, paired_sinks = {v for v, _ in pairs}, {w for _, w in pairs}
    other_sources = [v for v in graph.sources if v not in paired_sources]
    other_sinks = [w for w in graph.sinks if w not in paired_sinks]
    ring = [*pairs, *((x, x) for x in graph.isolated)]  # entered at the first, left at the second
    edges = [(ring[i][1], ring[(i + 1) % len(ring)][0]) for i in range(len(ring))]
    edges += zip(other_sinks, other_sources, strict=False)
    edges += [(w, graph.sources[0]) for w in other_sinks[len(other_sources) :]]
    return edges


def _pairs(graph: Condensation) -> list[Edge]:
    """Pair sources with sinks by depth-first searches that share their marks and stop at the first new sink.

    A marked node reaches a paired sink: it lies on the path of a search that succeeded, or it was left with all
    its successors marked before it. So every source reaches a paired sink. Let w be an unpaired sink: on a path
    from a source to w the last marked node was not left behind, since its successor is unmarked, so it lies on
    the path of a search that succeeded, and the source of that search is paired and reaches w.
    """
    marked = bytearray(graph.count)
    remaining = [iter(heads) for heads in graph.successors]
    sinks = set(graph.sinks)
    pairs: list[Edge] = []
    for source in graph.sources:
        marked[source] = 1
        path = [source]
        while path:
            head = next((node for node in remaining[path[-1]] if not marked[node]), None)
            if head is None:
                path.pop()
                continue
            marked[head] = 1
            if head in sinks:
                pairs.append((source, head))
                break
            path.append(head)
    return pairs
