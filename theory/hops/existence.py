"""Assumption 1.3 without Assumption 1.1: does any t have S_k^t = [n] for all k? Decided exactly.

Write M_t for the boolean matrix of S^t, P = A^p ... A^1 and B_r = A^r ... A^1, so that M_{qp+r} = B_r P^q.

* If some column of P is empty, that key is lost after p layers: only t < p can be full.
* Otherwise full P = full, so a phase r that is full for some q stays full. Follow key i: after q cycles it is held by
  W_q(i), the tokens at the end of walks of q steps in the digraph of P. In a component C that no edge leaves, of
  period d, W_q(i) becomes a whole cyclic class of C, another one with every step; every walk can be led into such a
  component. So phase r is full for some q iff every row of B_r meets every cyclic class of every such C.

P itself may be dense; the same is read off the graph on (token, layers gone modulo p), linear in the connections.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from theory.connections import MAX_TOKENS, Connections
from theory.hops.bitsets import blank_state, first_open_bit, first_open_row
from theory.hops.kernels import Stack, UnionLists
from theory.hops.results import Unseen

if TYPE_CHECKING:
    import numpy.typing as npt

    from theory.connections import IntArray
    from theory.hops.clock import Clock
    from theory.hops.kernels import Kernels
    from theory.patterns import SparsityPattern

__all__ = ["Existence", "find_phases"]

CLASS_WORDS = 16  # 64 cyclic classes a word are carried through the layers at a time


@dataclass(frozen=True)
class Existence:
    """Which t can be full, beyond any bound.

    Parameters
    ----------
    phases
        The r for which t = qp + r is full for all large q; None if time or memory ran out.
    lost_key
        A key that nobody sees after p or more layers; then only t < p can be full.
    unseen
        When there are no phases: a pair unseen in arbitrarily late layers.
    """

    phases: frozenset[int] | None
    lost_key: int | None
    unseen: Unseen | None


def find_phases(pattern: SparsityPattern, kernels: Kernels, clock: Clock, memory_limit: int) -> Existence:
    """Find the phases that end full."""
    live = _live(pattern)
    lost = np.flatnonzero(~live[0])
    if lost.size:
        key = int(lost[0])
        return Existence(frozenset(), key, Unseen(None, 0, key))
    if pattern.p * pattern.n > MAX_TOKENS or 40 * pattern.connections > memory_limit:
        return Existence(None, None, None)
    classes = _cyclic_classes(pattern, live, kernels)
    return _meeting_phases(pattern, classes, kernels, clock)


def _live(pattern: SparsityPattern) -> npt.NDArray[np.bool_]:
    """Return, shape (p, n): whether key j, with r layers gone, is still seen by anybody when the cycle ends."""
    live = np.ones((pattern.p + 1, pattern.n), dtype=bool)
    for r in range(pattern.p - 1, -1, -1):
        layer = pattern.layers[r]
        live[r] = False
        live[r, layer.keys[np.repeat(live[r + 1], layer.degrees)]] = True
    return live[:-1]


def _cyclic_classes(pattern: SparsityPattern, live: npt.NDArray[np.bool_], kernels: Kernels) -> IntArray:
    """Return the cyclic class of every token in a component of P's digraph that no edge leaves, else -1."""
    from theory.graph import strong_components

    n, p = pattern.n, pattern.p
    unrolled = _unrolled(pattern)
    component = strong_components(unrolled).labels
    alive = live.ravel()
    start, end = unrolled.keys, unrolled.queries
    kept = alive[end]  # an edge to a token that nobody sees later leads nowhere
    start, end = start[kept], end[kept]
    final = np.zeros(int(component.max()) + 1, dtype=bool)
    final[component[:n]] = True  # every live component has tokens at the start of the cycle
    final[component[start][component[start] != component[end]]] = False
    roots = np.unique(component[:n], return_index=True)[1]
    roots = roots[final[component[roots]]]
    when = kernels.arrive(
        Stack.of([kernels.transpose(unrolled.indptr, unrolled.keys, n * p)]), roots, 0, n * p
    ).astype(np.int64)
    inside = final[component[start]] & alive[start]
    start, end = start[inside], end[inside]
    period = np.zeros(final.size, dtype=np.int64)
    np.gcd.at(period, component[start], np.abs(when[start] + 1 - when[end]))
    chosen = np.flatnonzero(final[component[:n]])
    offset = np.concatenate(([0], np.cumsum(np.where(final, period // p, 0))))
    classes = np.full(n, -1, dtype=np.int64)
    own = component[chosen]
    classes[chosen] = offset[own] + when[chosen] % period[own] // p
    return classes


def _unrolled(pattern: SparsityPattern) -> Connections:
    """Return the graph on (token, layers gone modulo p); token k with r layers gone is number r n + k."""
    n, p = pattern.n, pattern.p
    before = [(r - 1) % p for r in range(p)]
    layers = [pattern.layers[r] for r in before]
    starts = np.cumsum([0] + [layer.count for layer in layers])
    indptr = np.concatenate([layer.indptr[:-1] + start for layer, start in zip(layers, starts, strict=False)])
    keys = np.concatenate([layer.keys.astype(np.int64) + r * n for layer, r in zip(layers, before, strict=True)])
    return Connections(np.append(indptr, starts[-1]), keys)


def _meeting_phases(pattern: SparsityPattern, classes: IntArray, kernels: Kernels, clock: Clock) -> Existence:
    """Carry the cyclic classes through the layers of one cycle; keep the phases where every row meets them all."""
    count = int(classes.max()) + 1
    phases, unseen = set(range(pattern.p)), None
    lists = [UnionLists(layer.indptr, layer.keys) for layer in pattern.layers]
    members = np.argsort(classes, kind="stable").astype(np.int32)
    first = np.searchsorted(classes[members], np.arange(count + 1))
    for begin in range(0, count, 64 * CLASS_WORDS):
        some = np.arange(begin, min(count, begin + 64 * CLASS_WORDS))
        state = blank_state(pattern.n, some.size)
        kernels.set_bits(state, first, members, some)
        open_row = first_open_row(state)
        for r in range(pattern.p):
            if clock.passed:
                return Existence(None, None, None)
            if r > 0:
                after = np.empty_like(state)
                open_row = kernels.or_rows(state, after, lists[r - 1])
                state = after
            if r in phases and open_row >= 0:
                phases.discard(r)
                missed = int(some[first_open_bit(state[open_row])])
                unseen = Unseen(None, open_row, int(members[first[missed]]))
        if not phases:
            return Existence(frozenset(), None, unseen)
    return Existence(frozenset(phases), None, None)
