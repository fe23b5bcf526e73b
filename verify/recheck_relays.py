"""Rechecking an upper bound on s through relays: tokens followed again, which bound all others.

Write F_r(j, k) for the layers that key j needs to be seen by query k when r layers of the cycle are gone, under
1.1. Key j is seen by all within u layers if it is followed to all, or if for some pivot x and some t >= F_0(j, x)

    t + max_k F_(t mod p)(x, k) <= u.

A query sees all within u layers if it is followed back to all, or if that holds with k fixed and for all j. s <= u
if all keys, or all queries, are bounded in one of these ways.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verify.recheck_follow import STEP, arrivals, back, forth
from verify.recheck_ledger import FalseClaim, Unproved

if TYPE_CHECKING:
    from theory.patterns import IntArray, SparsityPattern

__all__ = ["check_relays"]

MOST_FOLLOWED = 2**30  # connections followed at most: some seconds
NEVER = 2**60


def check_relays(pattern: SparsityPattern, relays: dict[str, Any], upper: int) -> None:
    """Check that the relays show s <= upper, for a pattern in which every token attends to itself.

    Raises
    ------
    FalseClaim
        If some token followed shows s > upper, or the relays leave a key and a query open.
    Unproved
        If there are too many relays to follow.
    """
    n, p = pattern.n, pattern.p
    layers = min(upper, p * n)  # by then a set that can grow is full
    searches = 2 * p * relays["pivots"].size + relays["keys"].size + relays["queries"].size
    if searches * (pattern.connections + STEP * layers) > MOST_FOLLOWED:
        raise Unproved(f"following {searches} times through {layers} layers takes too long")
    keys, queries = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    for key in relays["keys"].tolist():
        unseen = np.flatnonzero(arrivals(pattern, forth, range(layers), key) < 0)
        if unseen.size:
            raise FalseClaim(f"after {upper} layers token {unseen[0]} does not see token {key}")
        keys[key] = True
    for query in relays["queries"].tolist():
        unseen = np.flatnonzero(arrivals(pattern, back, range(layers - 1, -1, -1), query) < 0)
        if unseen.size:
            raise FalseClaim(f"after {upper} layers token {query} does not see token {unseen[0]}")
        queries[query] = True
    for pivot in relays["pivots"].tolist():
        gathers = np.stack([_gathered(pattern, pivot, r, layers) for r in range(p)])
        spreads = np.stack([_spread(pattern, pivot, r, layers) for r in range(p)])
        keys |= (gathers + spreads.max(axis=1)[:, None] <= layers).any(axis=0)
        first = gathers.argmin(axis=0)
        last = np.full(p, -NEVER)  # by phase: when the last key has come to the pivot; none may come
        np.maximum.at(last, first, gathers.min(axis=0))
        queries |= (last[:, None] + spreads <= layers).all(axis=0)
    if not keys.all() and not queries.all():
        key, query = np.flatnonzero(~keys)[0], np.flatnonzero(~queries)[0]
        raise FalseClaim(f"the relays do not show that token {query} sees token {key} within {upper} layers")


def _gathered(pattern: SparsityPattern, pivot: int, r: int, layers: int) -> IntArray:
    """Return for every key the least t = r modulo p at which the pivot sees it."""
    p = pattern.p
    last = layers - (layers - r) % p
    steps = arrivals(pattern, back, range(last - 1, -1, -1), pivot)
    times: IntArray = np.where(steps < 0, NEVER, steps + (r - steps) % p)
    return times


def _spread(pattern: SparsityPattern, pivot: int, r: int, layers: int) -> IntArray:
    """Return for every query the layers in which it sees the pivot when r are gone."""
    steps = arrivals(pattern, forth, range(r, r + layers), pivot)
    return np.where(steps < 0, NEVER, steps)
