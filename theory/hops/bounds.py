"""Bounds on s from breadth-first searches on (token, layer of the cycle), with Assumption 1.1.

Write F_r(j, k) for the layers that key j needs to be seen by query k when r layers of the cycle are gone; s is the
largest F_0. A search from j gives F_0(j, .), so the largest of them, e(j), exactly; a search back from k gives
F_0(., k). A pivot x gives for every key e(j) <= F_0(j, x) + e_r(x) with r = F_0(j, x) mod p, and the like for
queries. Keys whose bound does not exceed a proved lower bound on s need no further look: the windows of Takes and
Kosters' diameter search, carried over to directed graphs that change in a cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.hops.kernels import Stack
from theory.hops.results import Pivot, Relays, Unseen

if TYPE_CHECKING:
    from theory.connections import IntArray
    from theory.hops.clock import Clock
    from theory.hops.kernels import Kernels
    from theory.patterns import SparsityPattern

__all__ = ["Bounds"]

MOST_ROUNDS = 16
PATIENCE = 4  # rounds without progress before the searches give way to bit columns


class Bounds:
    """What searches have proved about s so far.

    Attributes
    ----------
    p
        Number of patterns in the cycle.
    never
        A pair that is never seen, once the first pivot finds one: then no s exists.
    lower, unseen
        s >= lower, and a pair not seen after lower - 1 layers.
    upper, pivot
        s <= upper, or None; the pivot that proves it, if a single one does.
    searches
        How many searches were made.
    key_bound, query_bound
        No key needs more layers to be seen by all, no query more to see all.
    """

    def __init__(self, pattern: SparsityPattern, kernels: Kernels) -> None:
        self._pattern = pattern
        self._kernels = kernels
        self._n, self.p = pattern.n, pattern.p
        self._back = Stack.of([(layer.indptr, layer.keys) for layer in pattern.layers])
        self._forth = Stack.of(
            [kernels.transpose(layer.indptr, layer.keys, pattern.n) for layer in pattern.layers]
        )
        never_more = max(1, self.p * (self._n - 1))  # with 1.1 every cycle adds a token to a set that is not full
        self.key_bound = np.full(self._n, never_more, dtype=np.int64)
        self.query_bound = np.full(self._n, never_more, dtype=np.int64)
        self.lower = 1
        self.unseen: Unseen | None = None
        self.pivot: Pivot | None = None
        self.never: Unseen | None = None
        self.searches = 0
        self._tried: list[int] = []
        self._keys: list[int] = []
        self._queries: list[int] = []
        self._from_far = np.zeros(self._n, dtype=np.int64)
        self._to_far = np.zeros(self._n, dtype=np.int64)

    @property
    def upper(self) -> int:
        """The least of the bounds."""
        best = min(int(self.key_bound.max()), int(self.query_bound.max()))
        return best if self.pivot is None else min(best, self.pivot.gathers + self.pivot.spreads)

    @property
    def relays(self) -> Relays:
        """The tokens searched from, which prove the least of the bounds."""
        return Relays(tuple(self._tried), tuple(self._keys), tuple(self._queries))

    @property
    def met(self) -> bool:
        """Whether the bounds meet."""
        return self.lower >= self.upper

    @property
    def open_keys(self) -> IntArray:
        """The keys that may need more than `lower` layers."""
        return np.flatnonzero(self.key_bound > self.lower)

    @property
    def open_queries(self) -> IntArray:
        """The queries that may need more than `lower` layers."""
        return np.flatnonzero(self.query_bound > self.lower)

    def raise_lower(self, unseen: Unseen | None) -> None:
        """Take over a pair that was found unseen elsewhere."""
        if unseen is not None and unseen.layers is not None and unseen.layers >= self.lower:
            self.lower, self.unseen = unseen.layers + 1, unseen

    def search_key(self, key: int) -> IntArray:
        """Find F_0(key, .) and settle this key."""
        self._keys.append(key)
        times = self._forward(key, 0)
        self._settle(self.key_bound, key, times, key=key)
        return times

    def search_query(self, query: int) -> IntArray:
        """Find F_0(., query) and settle this query."""
        self._queries.append(query)
        times = self._backward(query)
        self._settle(self.query_bound, query, times, query=query)
        return times

    def _forward(self, key: int, phase: int) -> IntArray:
        """Return F_phase(key, .)."""
        self.searches += 1
        return self._kernels.arrive(self._forth, np.array([key]), phase, self.p * self._n).astype(np.int64)

    def _backward(self, query: int) -> IntArray:
        """Return F_0(., query)."""
        self.searches += 1
        times: IntArray = self._kernels.gather(self._back, query)[0].astype(np.int64)
        return times

    def search_each(self, tokens: IntArray, clock: Clock, *, by_key: bool) -> bool:
        """Settle keys or queries one by one, the least bounded first; return whether all were settled."""
        bound, search = (self.key_bound, self.search_key) if by_key else (self.query_bound, self.search_query)
        for done, token in enumerate(tokens[np.argsort(-bound[tokens], kind="stable")].tolist()):
            if bound[token] <= self.lower:
                break
            if clock.passed:
                return False
            search(token)
            clock.tell(done / tokens.size)
        return True

    def try_pivot(self, token: int) -> None:
        """Bound everything through one token."""
        self._tried.append(token)
        times = self._backward(token)
        if times.min() < 0:
            self.never = Unseen(None, token, int(times.argmin()))
            return
        self._settle(self.query_bound, token, times, query=token)
        phases = times % self.p
        furthest = np.zeros(self.p, dtype=np.int64)
        through = np.zeros(self._n, dtype=np.int64)
        for phase in np.unique(phases).tolist():
            spread = self._forward(token, phase)
            if spread.min() < 0:
                self.never = Unseen(None, int(spread.argmin()), token)
                return
            furthest[phase] = spread.max()
            np.maximum(through, times[phases == phase].max() + spread, out=through)
        self.key_bound = np.minimum(self.key_bound, np.maximum(times + furthest[phases], 1))
        self.query_bound = np.minimum(self.query_bound, np.maximum(through, 1))
        gathers = int(times.max())
        found = Pivot(token, max(gathers, 1), int(furthest[gathers % self.p]))
        if self.pivot is None or found.gathers + found.spreads < self.pivot.gathers + self.pivot.spreads:
            self.pivot = found

    def start(self) -> None:
        """Try the first pivot: it reaches every token and is reached by every token iff a finite s exists."""
        if self.pivot is None and self.never is None:
            self.try_pivot(self._busiest())

    def tighten(self, clock: Clock) -> None:
        """Search from far tokens and central pivots in turn until the bounds meet or stop moving."""
        clock.say("bounding s by searches")
        self.start()
        if self.never is not None:
            return
        idle, best = 0, self._open
        for _ in range(MOST_ROUNDS):
            if self.met or clock.passed or idle == PATIENCE:
                return
            key = int(self.key_bound.argmax())
            times = self.search_key(key)
            np.maximum(self._from_far, times, out=self._from_far)
            query = int(np.where(self.query_bound > self.lower, times, -1).argmax())
            if not self.met and not clock.passed:
                np.maximum(self._to_far, self.search_query(query), out=self._to_far)
            if not self.met and not clock.passed:
                self.try_pivot(self._central())
            idle = 0 if self._open < best else idle + 1
            best = min(best, self._open)

    @property
    def _open(self) -> int:
        return min(self.open_keys.size, self.open_queries.size)

    def _central(self) -> int:
        """Return the token, not tried yet, that is nearest to the far keys and the far queries found."""
        distance = np.maximum(self._from_far, self._to_far) * (self.p * self._n) + self._from_far
        distance[self._tried] = np.iinfo(np.int64).max
        return int(distance.argmin())

    def _busiest(self) -> int:
        """Return the token that sees and is seen the most in the first two layers."""
        sees = self._pattern.layers[0].degrees
        seen = np.diff(self._forth.indptr[1 % self.p])
        return int((sees.astype(np.float64) * seen).argmax())

    def _settle(
        self, bounds: IntArray, token: int, times: IntArray, *, query: int | None = None, key: int | None = None
    ) -> None:
        """Note the exact count of one token; the furthest token is the other half of the pair."""
        furthest = int(times.argmax())
        exact = max(int(times[furthest]), 1)
        bounds[token] = exact
        if exact > self.lower:
            pair = furthest if query is None else query, furthest if key is None else key
            self.lower, self.unseen = exact, Unseen(exact - 1, *pair)
