"""Rechecking Assumption 1.3: bounds on s by following a few tokens or intervals, or s again by definition.

S_k^t is the union of S_j^(t-1) over j in A_k of layer t, S_k^0 = {k}; s is the smallest t with all S_k^t full
(paper, eq. 3). Layer t, from 1, uses pattern t - 1 mod p. With 1.1 the sets grow with t; without it they need not.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from verify.recheck_follow import arrivals, back, follow_exactly, forth, never_seen_by_all
from verify.recheck_intervals import Intervals
from verify.recheck_ledger import FalseClaim, Ledger, Outcome, Undecided, Unproved
from verify.recheck_powers import MOST_PRODUCTS, Filled, first_full, product_work, smallest_hops
from verify.recheck_relays import check_relays

if TYPE_CHECKING:
    from theory.patterns import SparsityPattern
    from verify.recheck_follow import Flags, Way

__all__ = ["check_hops"]


def check_hops(
    ledger: Ledger, pattern: SparsityPattern, claim: dict[str, Any], *, loops: bool, connected: bool | None
) -> None:
    """Settle the claims on Assumption 1.3.

    Parameters
    ----------
    loops
        Whether 1.1 holds.
    connected
        Whether the union digraph is strongly connected; None if neither was confirmed.
    """
    hops = _Hops(pattern, claim, loops)
    bounded = False
    if claim["answer"] and connected:
        bounded = ledger.settle("assumption_1_3.upper", hops.check_upper) is Outcome.CONFIRMED
        ledger.settle("assumption_1_3.lower", hops.check_lower)
        if claim["s"] is None:
            ledger.settle("assumption_1_3.s", hops.check_open)
    ledger.settle("assumption_1_3", lambda: hops.check_answer(connected, bounded=bounded))


@dataclass(frozen=True, eq=False)
class _Hops:
    pattern: SparsityPattern
    claim: dict[str, Any]
    loops: bool

    @property
    def small(self) -> bool:
        """Whether s is found by matrix powers where 1.1 fails."""
        return not self.loops and product_work(self.pattern) <= MOST_PRODUCTS

    @cached_property
    def least(self) -> int | None:
        """The smallest s, None if there is none; for small patterns."""
        return smallest_hops(self.pattern)

    def filled(self, most: int) -> Filled:
        """Return s by definition, if it is at most `most`."""
        if self.small:
            return Filled(self.least if self.least is not None and self.least <= most else None, None)
        try:
            return first_full(self.pattern, most, grows=self.loops)
        except OverflowError as error:
            raise Unproved(f"recomputing it takes too long: {error}") from None

    def check_answer(self, connected: bool | None, *, bounded: bool) -> str:
        """Check yes or no; `bounded` says that an upper bound on s was confirmed."""
        answer = self.claim["answer"]
        if connected is None:
            raise FalseClaim("neither a spine nor a cut shows whether the union digraph is strongly connected")
        if not connected:
            if answer is not False:
                raise FalseClaim("the union digraph is not strongly connected, so there is no s")
            return self._check_key()
        if self.loops:
            if answer is not True:
                raise FalseClaim("every token attends to itself and reaches every other one, so there is an s")
            return "holds: every token attends to itself and reaches every other one"
        if bounded:
            return "holds: an upper bound on s was confirmed"
        if not self.small:
            if answer is None:
                raise Undecided("left undecided: no claim")
            if answer is False and self.claim["key"] is not None:
                never_seen_by_all(self.pattern, self.claim["key"])
                return f"fails: token {self.claim['key']} is never seen by all, the queries that see it repeat"
            raise Unproved("some token does not attend to itself, and deciding it again takes too long")
        if answer is not (self.least is not None):
            found = "there is no s" if self.least is None else f"s = {self.least}"
            raise FalseClaim(f"recomputed: {found}")
        if self.least is None:
            return "fails: no number of layers fills all S_k^t, recomputed"
        return f"holds: s = {self.least}"

    def _check_key(self) -> str:
        """Check the key that some query never sees, where the cut has shown that there is one."""
        from scipy.sparse.csgraph import breadth_first_order

        key = self.claim["key"]
        if not self.loops or key is None:
            return "fails: some token never sees another one"
        followers = breadth_first_order(self.pattern.union.transposed.matrix(), key, return_predecessors=False)
        if followers.size == self.pattern.n:  # with 1.1 all of them see it from some layer on
            raise FalseClaim(f"every token sees token {key} in the end, which is given as one that some never see")
        return f"fails: token {key} is never seen by all"

    def check_open(self) -> str:
        """Note that the certificate gives bounds only."""
        upper = "is not bounded" if self.claim["upper"] is None else f"is at most {self.claim['upper']}"
        raise Undecided(f"left undecided: s is at least {self.claim['lower']} and {upper}")

    def check_upper(self) -> str:
        """Check that s <= upper, and that the numbers fit each other."""
        s, lower, upper = (self.claim[name] for name in ("s", "lower", "upper"))
        pivot, relays = self.claim["pivot"], self.claim["relays"]
        if upper is not None and upper < lower:
            raise FalseClaim(f"the upper bound {upper} lies below the lower bound {lower}")
        if s != (lower if lower == upper else None):
            meet = "meet" if lower == upper else "do not meet"
            raise FalseClaim(f"s = {json.dumps(s)}, but the bounds {lower} and {json.dumps(upper)} {meet}")
        if pivot is not None:
            if pivot["gathers"] + pivot["spreads"] != upper:
                raise FalseClaim(f"the pivot is to show s <= {pivot['gathers'] + pivot['spreads']}, not {upper}")
            self._check_pivot(pivot["token"], pivot["gathers"], pivot["spreads"])
            return (
                f"s <= {upper}: token {pivot['token']} sees all after {pivot['gathers']} layers, then all see it"
            )
        if upper is None:
            raise Undecided("no upper bound on s is claimed")
        if relays is not None and self.loops:
            check_relays(self.pattern, relays, upper)
            searched = sum(tokens.size for tokens in relays.values())
            return f"s <= {upper}: shown by following {searched} tokens"
        intervals = Intervals.read(self.pattern) if self.loops else None
        filled = self.filled(upper) if intervals is None else Filled(upper, intervals.unseen(upper))
        if filled.unseen is not None:
            query, key = filled.unseen
            raise FalseClaim(f"after {upper} layers token {query} does not see token {key}")
        if filled.t is None:
            raise FalseClaim(f"recomputed: after {upper} layers or fewer some token does not see all")
        how = f"recomputed, s = {filled.t}" if intervals is None else "the two ends of every S_k^t were followed"
        return f"s <= {upper}: {how}"

    def check_lower(self) -> str:
        """Check that s >= lower, by the pair unseen one layer earlier; without 1.1 again by definition."""
        lower, unseen = self.claim["lower"], self.claim["unseen"]
        if lower < 1:
            raise FalseClaim("s is at least 1")
        if self.loops and lower > 1 and unseen is None:
            raise FalseClaim(f"no pair unseen after {lower - 1} layers is given")
        if self.small and self.least is not None and self.least < lower:
            raise FalseClaim(f"recomputed: s = {self.least}")  # before a pair is followed through many layers
        if unseen is not None:
            self._check_unseen(unseen["layers"], unseen["query"], unseen["key"])
        if lower == 1:
            return "s >= 1"
        if self.loops:
            return f"s >= {lower}: token {unseen['query']} does not see {unseen['key']} after {lower - 1} layers"
        s = self.filled(lower - 1).t
        if s is not None:
            raise FalseClaim(f"recomputed: s = {s}")
        return f"s >= {lower}: recomputed"

    def _check_unseen(self, layers: int, query: int, key: int) -> None:
        if layers != self.claim["lower"] - 1:
            raise FalseClaim(
                f"the pair unseen after {layers} layers shows s > {layers}, not {self.claim['lower']}"
            )
        if self._sees(query, layers)[key]:
            raise FalseClaim(f"token {query} does see token {key} after {layers} layers")

    def _check_pivot(self, token: int, gathers: int, spreads: int) -> None:
        missing = np.flatnonzero(~self._sees(token, gathers))
        if missing.size:
            raise FalseClaim(f"the pivot {token} does not see token {missing[0]} after {gathers} layers")
        turns = range(gathers, gathers + spreads)
        missing = np.flatnonzero(~self._follow(forth, turns, token))
        if missing.size:
            raise FalseClaim(
                f"token {missing[0]} does not see the pivot {token} in the {spreads} layers after that"
            )

    def _sees(self, query: int, layers: int) -> Flags:
        """Return S_query^layers: on the way back from the query, the last layer comes first."""
        return self._follow(back, range(layers - 1, -1, -1), query)

    def _follow(self, way: Way, turns: range, start: int) -> Flags:
        """Return the tokens that `start` leads to through the layers with these numbers, from 0, in this order."""
        if self.loops:
            return arrivals(self.pattern, way, turns, start) >= 0
        return follow_exactly(self.pattern, way, turns, start)
