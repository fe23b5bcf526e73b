"""True certificates of small patterns, by brute force on nested lists; none of the project's finders is called."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
import struct
from typing import Any

import brute_force

Attends = brute_force.Attends
Json = dict[str, Any]


def digest(attends: Attends) -> str:
    """SHA-256 of n, p, and each pattern's row starts (int64) and keys (int32), little-endian."""
    seal = hashlib.sha256(f"sparsity pattern n={len(attends[0])} p={len(attends)}".encode())
    for rows in attends:
        starts = [0, *itertools.accumulate(map(len, rows))]
        keys = list(itertools.chain(*rows))
        seal.update(struct.pack(f"<{len(starts)}q", *starts) + struct.pack(f"<{len(keys)}i", *keys))
    return seal.hexdigest()


def components(attends: Attends) -> list[list[int]]:
    """Strong components in topological order: a component's reach holds those before it, so it is larger."""
    reach = brute_force.reach(attends)
    groups = {frozenset(j for j in reach[k] if k in reach[j]) for k in range(len(reach))}
    return sorted((sorted(group) for group in groups), key=lambda group: (len(reach[group[0]]), group[0]))


def chained(attends: Attends) -> bool:
    return all(k - 1 in seen for k, seen in enumerate(brute_force.reach(attends)) if k)


def usable_edges(attends: Attends, rank: list[int] | None) -> set[tuple[int, int]]:
    edges = {(j, k) for j, k in brute_force.union_edges(attends) if j != k}
    return edges if rank is None else {(j, k) for j, k in edges if 0 <= rank[k] - rank[j] <= 1}


def subsets(n: int) -> list[list[int]]:
    return [list(c) for size in range(n + 1) for c in itertools.combinations(range(n), size)]


def refutations(attends: Attends) -> list[Json]:
    """One refutation of each kind that applies, for a pattern without a Hamiltonian path."""
    n, reach = len(attends[0]), brute_force.reach(attends)
    found: list[Json] = [{"kind": "exhausted"}, {"kind": "solver", "solver": "some", "proved": False}]
    for a, b in itertools.combinations(range(n), 2):
        if a not in reach[b] and b not in reach[a]:
            sets = {"closed_a": sorted(reach[a]), "closed_b": sorted(reach[b])}
            found.append({"kind": "incomparable", "a": a, "b": b, **sets})
            break
    group = components(attends)
    label = [next(i for i, tokens in enumerate(group) if k in tokens) for k in range(n)]
    for rank in (None, label):
        edges = usable_edges(attends, rank)
        found += _shortages(n, edges, rank)[:2] + _cuts(n, edges, rank)[-1:] + _three_ends(n, edges, rank)[:1]
    return found


def _shortages(n: int, edges: set[tuple[int, int]], rank: list[int] | None) -> list[Json]:
    found: list[Json] = []
    for what, side in (("successors", 0), ("predecessors", 1)):
        for chosen in subsets(n):
            others = sorted({edge[1 - side] for edge in edges if edge[side] in chosen})
            if len(others) <= len(chosen) - 2:
                found.append({"kind": f"too_few_{what}", "set": chosen, what: others, "rank": rank})
                break
    return found


def _cuts(n: int, edges: set[tuple[int, int]], rank: list[int] | None) -> list[Json]:
    found: list[Json] = []
    for cut in subsets(n):
        parts = [-1 if k in cut else k for k in range(n)]
        for _ in range(n):
            for j, k in edges:
                if parts[j] >= 0 and parts[k] >= 0:
                    parts[j] = parts[k] = min(parts[j], parts[k])
        if len(set(parts) - {-1}) > len(cut) + 1:
            found.append({"kind": "too_many_parts", "cut": cut, "parts": parts, "rank": rank})
    return found


def _three_ends(n: int, edges: set[tuple[int, int]], rank: list[int] | None) -> list[Json]:
    ends = []
    for chosen in subsets(n)[1:-1]:
        doors = {b if a in chosen else a for a, b in edges if (a in chosen) != (b in chosen)}
        if len(doors) <= 1:
            ends.append({"set": chosen, "door": next(iter(doors), None)})
    return [
        {"kind": "three_ends", "ends": list(three), "rank": rank}
        for three in itertools.combinations(ends, 3)
        if len(set(itertools.chain(*(end["set"] for end in three)))) == sum(len(end["set"]) for end in three)
    ]


def true_s(attends: Attends) -> int | None:
    """Return s, found or excluded by the time all sets can be full: p ((n-1)^2 + 2) layers."""
    n, p = len(attends[0]), len(attends)
    seen = [{k} for k in range(n)]
    for t in range(p * ((n - 1) ** 2 + 2)):
        seen = [set().union(*(seen[j] for j in keys)) for keys in attends[t % p]]
        if all(len(members) == n for members in seen):
            return t + 1
    return None


def sees_pivot(attends: Attends, token: int, gathers: int, spreads: int) -> bool:
    rows = [attends[(gathers + step) % len(attends)] for step in range(spreads)]
    n = len(attends[0])
    return len(brute_force.layers_seen(attends, gathers)[token]) == n and all(
        token in seen for seen in (brute_force.layers_seen(rows, spreads) if spreads else [{k} for k in range(n)])
    )


def hops_claim(attends: Attends, dice: random.Random, *, loops: bool) -> Json:
    s, n = true_s(attends), len(attends[0])
    if s is None:
        return {"answer": False, "key": None}
    lower, upper, pivot = s, s, None
    pivots = [
        {"token": h, "gathers": a, "spreads": total - a}
        for total in (s, s + 1)
        for h in range(n)
        for a in range(total + 1)
        if (total == s or loops) and sees_pivot(attends, h, a, total - a)
    ]
    if pivots and dice.random() < 0.7:
        pivot = dice.choice(pivots)
        upper = pivot["gathers"] + pivot["spreads"]
    if s > 1 and loops and dice.random() < 0.3:
        lower -= 1
    unseen = None
    if lower > 1:
        seen = brute_force.layers_seen(attends, lower - 1)
        pairs = [(k, j) for k in range(n) for j in range(n) if j not in seen[k]]
        query, key = dice.choice(pairs)
        unseen = {"layers": lower - 1, "query": query, "key": key}
    meet = lower if lower == upper else None
    relays = None
    if pivot is None and loops and dice.random() < 0.6:
        tried = {"pivots": dice.sample(range(n), dice.randrange(n)), "keys": [], "queries": []}
        tried[dice.choice(("keys", "queries"))] = dice.sample(range(n), dice.randrange(n))
        whole = {"pivots": [], "keys": list(range(n)), "queries": []}
        relays = tried if relays_show(attends, tried, upper) else whole
    claim = {"answer": True, "s": meet, "lower": lower, "upper": upper, "unseen": unseen}
    return claim | {"pivot": pivot, "relays": relays}


def relays_show(attends: Attends, relays: Json, upper: int) -> bool:
    """Whether every key, or every query, is bounded by itself or through a pivot; for 1.1."""
    n, p = len(attends[0]), len(attends)
    after = {
        (r, t): brute_force.layers_seen([attends[(r + i) % p] for i in range(p)], t)
        for r in range(p)
        for t in range(upper + 1)
    }

    def needed(r: int, key: int, query: int) -> int:
        return next((t for t in range(upper + 1) if key in after[r, t][query]), 10**6)

    keys, queries = set(relays["keys"]), set(relays["queries"])
    pairs = itertools.product(range(n), range(n))
    if any(needed(0, j, k) > upper for j, k in pairs if j in keys or k in queries):
        return False
    for x in relays["pivots"]:
        for j in range(n):
            starts = range(needed(0, j, x), upper + 1)
            if any(t + max(needed(t % p, x, k) for k in range(n)) <= upper for t in starts):
                keys.add(j)
        for k in range(n):
            first = [needed(0, j, x) for j in range(n)]
            if all(t <= upper and t + needed(t % p, x, k) <= upper for t in first):
                queries.add(k)
    return len(keys) == n or len(queries) == n


def spine(attends: Attends) -> Json:
    group, edges = components(attends), brute_force.union_edges(attends)
    label = [next(i for i, tokens in enumerate(group) if k in tokens) for k in range(len(attends[0]))]
    root = [tokens[-1] for tokens in group]
    parents: list[list[int]] = []
    for side in (1, 0):  # in_parent: the query of an edge from the token; out_parent: its key
        parent = {r: r for r in root}
        while len(parent) < len(label):
            for edge in sorted(edges):
                child, up = edge[1 - side], edge[side]
                if up in parent and child not in parent and label[up] == label[child]:
                    parent[child] = up
        parents.append([parent[k] for k in range(len(label))])
    links = [
        list(next((j, k) for j, k in sorted(edges) if (label[j], label[k]) == (i, i + 1)))
        for i in range(len(group) - 1)
    ]
    return {"component": label, "root": root, "in_parent": parents[0], "out_parent": parents[1], "links": links}


def hub_claim(attends: Attends) -> Json:
    n = len(attends[0])
    hubs, whole = [], []
    for rows in attends:
        for h in range(n):
            if all(h in rows[k] and k in rows[h] for k in range(n) if k != h):
                hubs.append(h)
                whole += [h] if all(k in rows[k] for k in range(n) if k != h) else []
    best = (whole or hubs or [None])[0]
    return {"answer": "universal" if whole else "silent", "hub": best}


def certify(
    attends: Attends,
    target: str = "all",
    dice: random.Random | None = None,
    kind: str = "",
    refutation: Json | None = None,
) -> Json:
    """Return a true certificate; `dice` chooses among true claims, `kind` names a refutation of 1.2.

    With a `refutation` given, no order of the tokens is tried, so that n may be larger.
    """
    dice = dice or random.Random(0)  # noqa: S311
    n, p, reach = len(attends[0]), len(attends), brute_force.reach(attends)
    lonely = [[number, k] for number, rows in enumerate(attends) for k in range(n) if k not in rows[k]]
    loops, strong = not lonely, all(len(seen) == n for seen in reach)
    order = None if refutation else next(_paths(attends), None)
    path: Json
    if order is not None:
        steps = [next(m for m in range(p) if j in attends[m][k]) for j, k in itertools.pairwise(order)]
        path = {"answer": True, "gamma": order, "patterns": steps}
    else:
        known = [refutation] if refutation else refutations(attends)
        chosen = dice.choice([each for each in known if kind in ("", each["kind"])])
        path = {"answer": False, "proved": chosen["kind"] != "solver", "refutation": chosen}
    needed = strong if target == "all" else chained(attends)
    universal = False if not needed else True if loops else None
    words = {True: "universal", False: "not universal", None: "silent"}
    cut = next(
        ({"closed_set": sorted(s), "query": k, "key": _outside(s, n)} for k, s in enumerate(reach) if len(s) < n),
        None,
    )
    blind = next((k for k in range(1, n) if k - 1 not in reach[k]), None)
    causal_cut = None if blind is None else {"closed_set": sorted(reach[blind]), "query": blind, "key": blind - 1}
    made = {
        "format": "sparseuap pattern certificate",
        "version": 2,
        "counting": "tokens from 0",
        "orientation": "attends[pattern][query] lists the keys",
        "source": "by hand",
        "pattern": {
            "n": n,
            "p": p,
            "connections": sum(len(row) for rows in attends for row in rows),
            "digest": digest(attends),
            "attends": attends,
        },
        "claims": {
            "assumption_1_1": {"answer": loops, "violations": lonely[:1000], "violation_count": len(lonely)},
            "assumption_1_2": path,
            "assumption_1_3": hops_claim(attends, dice, loops=loops),
            "strongly_connected": {"answer": strong},
            "reach": {"answer": brute_force.reach_kind(attends)},
            "universal": {"for": target, "answer": universal},
            "theorems": {
                "yun_2020_theorem_1": {"answer": "universal" if loops and strong and order else "silent"},
                "bigbird_2020_theorem_1": hub_claim(attends),
                "cheng_2025_corollary_2": {"answer": "universal" if loops and strong else "silent"},
                "reach_theorem": {"answer": words[universal]},
            },
        },
        "evidence": {
            "spine": spine(attends) if strong or (target == "causal" and needed) else None,
            "cut": cut,
            "causal_cut": causal_cut,
        },
    }
    copied: Json = json.loads(json.dumps(made))
    return copied


def _outside(members: set[int], n: int) -> int:
    return next(k for k in range(n) if k not in members)


def _paths(attends: Attends) -> Any:
    edges = brute_force.union_edges(attends)
    for order in itertools.permutations(range(len(attends[0]))):
        if all(step in edges for step in itertools.pairwise(order)):
            yield list(order)
