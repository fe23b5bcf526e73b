"""Rechecking what follows from the assumptions: reach, universality, and what each theorem says.

Every claim here has one right answer once self-attention, connectivity and the Hamiltonian path are settled.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verify.recheck_ledger import FalseClaim, Outcome, Unproved
from verify.recheck_trees import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from theory.patterns import IntArray, SparsityPattern

__all__ = [
    "Facts",
    "check_bigbird",
    "check_connected",
    "check_connectivity_corollary",
    "check_reach",
    "check_reach_theorem",
    "check_universal",
    "check_yun",
]


@dataclass(frozen=True, eq=False)
class Facts:
    """What has been settled so far, None where the certificate shows neither yes nor no.

    Parameters
    ----------
    lonely
        Pattern by pattern, the tokens that do not attend to themselves.
    connected
        Whether the union digraph is strongly connected.
    chained
        Whether every token k >= 1 has k - 1 in reach(k), that is 0..k inside reach(k) for all k.
    """

    pattern: SparsityPattern
    lonely: Sequence[IntArray]
    connected: bool | None
    chained: bool | None

    @property
    def loops(self) -> bool:
        """Whether 1.1 holds."""
        return not any(tokens.size for tokens in self.lonely)


def _expect(claimed: object, right: object, why: str) -> str:
    if claimed != right:
        raise FalseClaim(f"{json.dumps(claimed)} is claimed, right is {json.dumps(right)}: {why}")
    return f"{json.dumps(claimed)}: {why}"


def _known(fact: bool | None, shown_by: str) -> bool:
    if fact is None:
        raise FalseClaim(f"the certificate has no valid {shown_by} to show it")
    return fact


def check_connected(facts: Facts, claim: dict[str, Any]) -> str:
    """Check strong connectivity of the union digraph: a spine of one component shows it, a cut refutes it."""
    connected = _known(facts.connected, "spine of one component and no valid cut")
    return _expect(claim["answer"], connected, "shown by the spine" if connected else "refuted by the cut")


def check_reach(facts: Facts, claim: dict[str, Any]) -> str:
    """Check the class of reach(k): without keys after their query, paths only rise, so k - 1 joins k directly."""
    pattern = facts.pattern
    falling = all(layer.is_lower_triangular for layer in pattern.layers)
    if pattern.n > 1 and falling:
        later = np.arange(1, pattern.n)
        alone = later[~joined(pattern, later, later - 1)]
        if alone.size:
            why = f"no key comes after its query, and token {alone[0]} never sees token {alone[0] - 1}"
            return _expect(claim["answer"], "within causal", why)
        return _expect(claim["answer"], "causal", "no key comes after its query, each token sees the one before")
    if _known(facts.connected, "spine of one component and no valid cut"):
        return _expect(claim["answer"], "all", "strongly connected")
    return _expect(claim["answer"], "other", "not strongly connected, and some key comes after its query")


def check_universal(facts: Facts, claim: dict[str, Any]) -> str:
    """Check the answer for the class of functions asked for."""
    if claim["for"] == "all":
        seen = _known(facts.connected, "spine of one component and no valid cut")
        whole, part = "every token reaches every other", "some token never sees another"
    else:
        seen = _known(facts.chained, "spine of consecutive stretches and no valid causal_cut")
        whole, part = "every token sees the one before it", "some token never sees the one before it"
    if not seen:
        return _expect(claim["answer"], False, part)
    if not facts.loops:
        return _expect(claim["answer"], None, f"{whole}, but some token does not attend to itself")
    return _expect(claim["answer"], True, f"{whole} and attends to itself")


def check_yun(facts: Facts, claim: dict[str, Any], path: bool | None, outcome: Outcome) -> str:
    """Check the word of the paper's Theorem 1; `path` is the answer claimed for 1.2, `outcome` how it ended."""
    answer = claim["answer"]
    if not facts.loops:
        return _expect(answer, "silent", "1.1 fails")
    if not _known(facts.connected, "spine of one component and no valid cut"):
        return _expect(answer, "silent", "1.3 fails")
    if outcome is Outcome.FALSE:
        raise FalseClaim("it rests on assumption_1_2, which is not confirmed")
    if path is None:
        return _expect(answer, "undecided", "1.1 and 1.3 hold, 1.2 is undecided")
    if path:
        return _expect(answer, "universal", "1.1, 1.2 and 1.3 hold")
    said = _expect(answer, "silent", "1.2 fails")
    if outcome is Outcome.UNPROVED:
        raise Unproved("silent, if the solver's word on 1.2 is right")
    return said


def check_bigbird(facts: Facts, claim: dict[str, Any]) -> str:
    """Check the star subgraph: one pattern in which a hub is joined to and from all, the others to themselves."""
    n, hub = facts.pattern.n, claim["hub"]
    hubs, full = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    for layer, lonely in zip(facts.pattern.layers, facts.lonely, strict=True):
        own = np.ones(n, dtype=np.int64)
        own[lonely] = 0
        here = (layer.degrees - own >= n - 1) & (layer.key_counts - own >= n - 1)
        hubs |= here
        if lonely.size == 0:
            full |= here
        elif lonely.size == 1:
            full[lonely[0]] |= here[lonely[0]]
    if hub is None:
        if hubs.any():
            raise FalseClaim(f"token {np.flatnonzero(hubs)[0]} is a hub, claimed is that there is none")
        return _expect(claim["answer"], "silent", "no token is joined to and from all others in one pattern")
    if not hubs[hub]:
        raise FalseClaim(f"token {hub} is not joined to and from all others in any one pattern")
    if not full.any():
        return _expect(
            claim["answer"], "silent", f"{hub} is a hub, but some other token does not attend to itself"
        )
    best = hub if full[hub] else int(np.flatnonzero(full)[0])
    said = _expect(
        claim["answer"], "universal", f"token {best} is joined to and from all others, they to themselves"
    )
    if not full[hub]:
        raise FalseClaim(f"with token {hub} as the hub, some other token does not attend to itself")
    return said


def check_connectivity_corollary(facts: Facts, claim: dict[str, Any]) -> str:
    """Check the word of Cheng et al. 2025, Corollary 2: self-attention and strong connectivity."""
    if not facts.loops:
        return _expect(claim["answer"], "silent", "1.1 fails")
    if _known(facts.connected, "spine of one component and no valid cut"):
        return _expect(claim["answer"], "universal", "1.1 holds and the union digraph is strongly connected")
    return _expect(claim["answer"], "silent", "the union digraph is not strongly connected")


def check_reach_theorem(facts: Facts, claim: dict[str, Any], universal: dict[str, Any]) -> str:
    """Check the word of the reach theorem on the class of functions asked for."""
    seen = facts.connected if universal["for"] == "all" else facts.chained
    if not _known(seen, "evidence on who sees whom"):
        return _expect(claim["answer"], "not universal", "some token never sees what it would have to")
    if not facts.loops:
        return _expect(claim["answer"], "silent", "1.1 fails")
    return _expect(claim["answer"], "universal", "1.1 holds and every token sees what it has to")
