"""Slow answers straight from the definitions, on nested lists and Python sets; nothing here calls the project."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Attends = list[list[list[int]]]  # attends[pattern][query] lists the keys


def union_edges(attends: Attends) -> set[tuple[int, int]]:
    """Edges (key, query) of the union digraph."""
    return {(key, query) for rows in attends for query, keys in enumerate(rows) for key in keys}


def reach(attends: Attends) -> list[set[int]]:
    """reach(k): tokens with a path to k, k included, by closing under the definition until nothing changes."""
    n = len(attends[0])
    found = [{k} for k in range(n)]
    changed = True
    while changed:
        changed = False
        for key, query in union_edges(attends):
            if not found[key] <= found[query]:
                found[query] |= found[key]
                changed = True
    return found


def reach_kind(attends: Attends) -> str:
    found = reach(attends)
    n = len(found)
    if all(len(members) == n for members in found):
        return "all"
    if all(members == set(range(k + 1)) for k, members in enumerate(found)):
        return "causal"
    if all(max(members) <= k for k, members in enumerate(found)):
        return "within causal"
    return "other"


def has_hamiltonian_path(attends: Attends) -> bool:
    """Try every order of the tokens."""
    edges = union_edges(attends)
    n = len(attends[0])
    return any(
        all(step in edges for step in itertools.pairwise(order)) for order in itertools.permutations(range(n))
    )


def layers_seen(attends: Attends, layers: int, *, residual: bool = False) -> list[set[int]]:
    """S_k^t (or R_k^t) for t = layers, by the recursion of eq. (3)."""
    n, p = len(attends[0]), len(attends)
    seen = [{k} for k in range(n)]
    for step in range(layers):
        rows = attends[step % p]
        seen = [set().union(*(seen[j] for j in rows[k]), seen[k] if residual else ()) for k in range(n)]
    return seen


def smallest_s(attends: Attends, limit: int) -> int | None:
    """The smallest s <= limit with S_k^s = [n] for all k."""
    n = len(attends[0])
    for s in range(1, limit + 1):
        if all(len(members) == n for members in layers_seen(attends, s)):
            return s
    return None


def self_attending_digraphs(n: int) -> Iterator[Attends]:
    """Every pattern with p = 1 on n tokens in which each token attends to itself."""
    others = [(k, j) for k in range(n) for j in range(n) if j != k]
    for chosen in itertools.product((False, True), repeat=len(others)):
        rows = [[k] for k in range(n)]
        for (k, j), taken in zip(others, chosen, strict=True):
            if taken:
                rows[k].append(j)
        yield [rows]


def random_patterns(
    count: int, seed: int, *, most_tokens: int = 7, self_attending: bool | None = None
) -> Iterator[Attends]:
    """Random patterns of varied density with p <= 3; self_attending None mixes both."""
    dice = random.Random(seed)  # noqa: S311
    for _ in range(count):
        n, p = dice.randint(1, most_tokens), dice.randint(1, 3)
        density = dice.choice((0.1, 0.2, 0.35, 0.6))
        loops = dice.random() < 0.6 if self_attending is None else self_attending
        yield [
            [
                sorted({j for j in range(n) if dice.random() < density} | ({k} if loops else set()))
                for k in range(n)
            ]
            for _ in range(p)
        ]
