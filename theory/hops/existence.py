"""Assumption 1.3 without Assumption 1.1: does any t have S_k^t = [n] for all k? Decided exactly, in linear time.

Write M_t for the boolean matrix of S^t, P = A^p ... A^1 and B_r = A^r ... A^1, so that M_{qp+r} = B_r P^q.

* If some column of P is empty, that key is lost after p layers: only t < p can be full, and only if P = 0, as any
  row that keeps one key of a full S^t keeps them all.
* Otherwise P times a full matrix is full, so a phase r that is full for some q stays full. Key i is seen, after q
  cycles, by the ends W_q(i) of all walks of q steps in the digraph of P. In a component C that no edge leaves, of
  period d, W_q(i) becomes a whole cyclic class of C, the next one with every step; every walk can be led into such
  a component. So phase r is full for some q iff every row of B_r meets every cyclic class of every such C.
* Then there is one such class only: for k in C the keys P_k that lie in C belong to one class, no edge leads into
  C from another such component, and P_k contains whole rows of B_r. So phase r ends full iff one component C only
  is left by no edge, its period is 1, and every row of B_r meets it.

P itself may be dense; all this is read off the graph on (token, layers gone modulo p).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from theory.connections import Connections
from theory.hops.kernels import Stack
from theory.hops.results import Unseen

if TYPE_CHECKING:
    from theory.hops.kernels import Kernels
    from theory.patterns import SparsityPattern

__all__ = ["Existence", "find_phases"]

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Existence:
    """Which t can be full.

    Parameters
    ----------
    phases
        The r for which t = qp + r is full for all large q.
    vanishes
        Whether P = 0: then nobody sees anything after p or more layers, but some t < p may be full.
    unseen
        When there are no phases: a pair unseen in arbitrarily late layers.
    """

    phases: frozenset[int]
    vanishes: bool
    unseen: Unseen | None


def find_phases(pattern: SparsityPattern, kernels: Kernels) -> Existence:
    """Find the phases that end full.

    Raises
    ------
    PatternError
        If n p is beyond the largest number of tokens.
    """
    live = _live(pattern)
    lost = np.flatnonzero(~live[0])
    if lost.size:
        return Existence(frozenset(), vanishes=lost.size == pattern.n, unseen=Unseen(None, 0, int(lost[0])))
    classes = _final_classes(pattern, live.ravel(), kernels)
    inside = np.flatnonzero(classes == 0)
    apart = np.flatnonzero(classes != 0)
    phases = set(range(pattern.p)) if classes.max() == 0 else set()
    meets = classes == 0
    for r in range(pattern.p):
        if not meets.all():
            phases.discard(r)
        layer = pattern.layers[r]
        after = np.zeros(pattern.n, dtype=bool)
        after[layer.queries[meets[layer.keys]]] = True
        meets = after
    if phases:
        return Existence(frozenset(phases), vanishes=False, unseen=None)
    # every d cycles the walks from a token of the class are back in the class, and no other token sees it
    return Existence(frozenset(), vanishes=False, unseen=Unseen(None, int(apart[0]), int(inside[0])))


def _live(pattern: SparsityPattern) -> Flags:
    """Return, shape (p, n): whether key j, with r layers gone, is still seen by anybody when the cycle ends."""
    live = np.ones((pattern.p + 1, pattern.n), dtype=bool)
    for r in range(pattern.p - 1, -1, -1):
        layer = pattern.layers[r]
        live[r] = False
        live[r, layer.keys[np.repeat(live[r + 1], layer.degrees)]] = True
    return live[:-1]


def _final_classes(pattern: SparsityPattern, live: Flags, kernels: Kernels) -> npt.NDArray[np.int64]:
    """Return the number of every token's cyclic class in a component of P's digraph that no edge leaves, or -1."""
    from theory.graph import strong_components

    n, p = pattern.n, pattern.p
    unrolled = _unrolled(pattern)
    component = strong_components(unrolled).labels
    start, end = unrolled.keys, unrolled.queries
    kept = live[end]  # an edge to a token that nobody sees later leads nowhere
    start, end = start[kept], end[kept]
    final = np.zeros(int(component.max()) + 1, dtype=bool)
    final[component[:n]] = True  # a component that is not a dead end has tokens where no layer is gone
    final[component[start[component[start] != component[end]]]] = False
    labels, roots = np.unique(component[:n], return_index=True)
    roots = roots[final[labels]]
    forth = Stack.of([kernels.transpose(unrolled.indptr, unrolled.keys, n * p)])
    steps = kernels.arrive(forth, roots, 0, n * p).astype(np.int64)
    within = final[component[start]]
    start, end = start[within], end[within]
    period = np.zeros(final.size, dtype=np.int64)
    np.gcd.at(period, component[start], np.abs(steps[start] + 1 - steps[end]))  # a multiple of p
    offset = np.concatenate(([0], np.cumsum(np.where(final, period // p, 0))))
    tokens = np.flatnonzero(final[component[:n]])
    own = component[tokens]
    classes = np.full(n, -1, dtype=np.int64)
    classes[tokens] = offset[own] + steps[tokens] % period[own] // p
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
