"""The fewest edges for a Hamiltonian path and strong connectivity together, exactly, for few tokens.

Let gamma be an order of the tokens and c(gamma) its steps that are no edge: with them added, gamma is a
Hamiltonian path. Then the strong components are runs of gamma, and all is strongly connected iff every proper
prefix of gamma is entered by an edge from the rest (added steps never do that: they lead onward). If some prefix
is not, the one edge from gamma's last token to its first closes the ring. So with h = min c(gamma) the optimum
is h, if some order with c = h has all its prefixes entered, and h + 1 otherwise: a shortest path over sets of
tokens that avoids the sets which nothing enters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from theory.hamiltonian.subsets import MOST_TOKENS

if TYPE_CHECKING:
    import numpy.typing as npt

    from theory.patterns import Connections, IntArray

__all__ = ["OrderPlan", "best_order"]

NEVER = 100


@dataclass(frozen=True, eq=False)
class OrderPlan:
    """An order of the tokens to make a Hamiltonian path of.

    Parameters
    ----------
    order
        The tokens, a permutation.
    closed
        Whether the edge from the last token to the first is added as well.
    lower_bound
        No repair adds fewer edges.
    """

    order: IntArray
    closed: bool
    lower_bound: int


def best_order(union: Connections) -> OrderPlan:
    """Return the order with the fewest edges to add, ring included; n <= 16, time n^2 2^n.

    Raises
    ------
    ValueError
        If n > 16.

    Examples
    --------
    Five spokes around a hub (token 5), strongly connected: three steps are missing whatever the order.

    >>> from theory.families import hub
    >>> best_order(hub(6).union).lower_bound
    3
    """
    n = union.n
    if n > MOST_TOKENS:
        raise ValueError(f"trying every set needs at most {MOST_TOKENS} tokens, got {n}")
    joined = np.zeros((n, n), dtype=bool)  # joined[key, query]
    joined[union.keys, union.queries] = True
    masks = np.arange(1 << n)
    entering = np.zeros(1 << n, dtype=np.int64)
    for token in range(n):
        keys = int(np.sum(1 << np.flatnonzero(joined[:, token])))
        entering |= np.where((masks >> token) & 1, keys, 0)
    entered = (entering & ~masks) != 0
    entered[-1] = True
    open_order, open_cost = _shortest(joined, entered)
    order, cost = _shortest(joined, np.ones_like(entered))
    if cost + 1 < open_cost:
        return OrderPlan(order, True, cost + 1)
    return OrderPlan(open_order, False, open_cost)


def _shortest(joined: npt.NDArray[np.bool_], allowed: npt.NDArray[np.bool_]) -> tuple[IntArray, int]:
    """Return an order whose prefixes are all allowed with the fewest steps that are no edge, and their number."""
    n = joined.shape[0]
    masks = np.arange(1 << n)
    size = np.bitwise_count(masks)
    cost = np.full((n, 1 << n), NEVER, dtype=np.int8)
    for token in range(n):
        if allowed[1 << token]:
            cost[token, 1 << token] = 0
    step = np.where(joined, 0, 1).astype(np.int8)
    for members in range(2, n + 1):
        layer = masks[(size == members) & allowed]
        for token in range(n):
            has = layer[(layer >> token) & 1 == 1]
            before = cost[:, has ^ (1 << token)] + step[:, token, None]
            cost[token, has] = np.minimum(before.min(axis=0), NEVER)
    mask = (1 << n) - 1
    token = int(cost[:, mask].argmin())
    least = int(cost[token, mask])
    order = [token]
    while mask ^ (1 << token) and least < NEVER:
        mask ^= 1 << token
        token = int((cost[:, mask] + step[:, token]).argmin())
        order.append(token)
    return np.array(order[::-1]), least
