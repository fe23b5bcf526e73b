"""Assumption 1.3: how many layers until every token sees every token (paper, §3.2, eq. 3)."""

from theory.hops.claims import check_claimed_hops
from theory.hops.count import hop_count
from theory.hops.growth import growth, seen, seers
from theory.hops.results import ClaimedHops, Growth, HopCount, Pivot, Unseen

__all__ = [
    "ClaimedHops",
    "Growth",
    "HopCount",
    "Pivot",
    "Unseen",
    "check_claimed_hops",
    "growth",
    "hop_count",
    "seen",
    "seers",
]
