"""Whether a certificate of a small pattern is true, claim by claim, from the definitions on Python sets."""

from __future__ import annotations

import itertools
from typing import Any

import brute_force
from certificates_by_hand import (
    Attends,
    Json,
    chained,
    digest,
    hub_claim,
    relays_show,
    sees_pivot,
    true_s,
    usable_edges,
)


def is_true(certificate: Json) -> bool:
    """Return whether every claim is true and every piece of evidence shows what it is there to show."""
    try:
        return _pattern(certificate["pattern"]) and all(_parts(certificate))
    except (LookupError, TypeError, ValueError):
        return False


def _pattern(claim: Json) -> bool:
    attends = claim["attends"]
    sizes = (len(attends[0]), len(attends), sum(len(row) for rows in attends for row in rows))
    return sizes == (claim["n"], claim["p"], claim["connections"]) and claim["digest"] == digest(attends)


def _parts(certificate: Json) -> Any:
    attends, claims, evidence = certificate["pattern"]["attends"], certificate["claims"], certificate["evidence"]
    n, reach = len(attends[0]), brute_force.reach(attends)
    lonely = [[number, k] for number, rows in enumerate(attends) for k in range(n) if k not in rows[k]]
    loops, strong = not lonely, all(len(seen) == n for seen in reach)
    one = claims["assumption_1_1"]
    yield one == {"answer": loops, "violations": lonely[:1000], "violation_count": len(lonely)}
    path = claims["assumption_1_2"]
    yield _path(attends, path)
    hops = claims["assumption_1_3"]
    yield _hops(attends, hops, loops=loops)
    yield claims["strongly_connected"]["answer"] is strong
    yield claims["reach"]["answer"] == brute_force.reach_kind(attends)
    universal = claims["universal"]
    needed = {"all": strong, "causal": chained(attends)}[universal["for"]]
    right = False if not needed else True if loops else None
    yield universal["answer"] is right
    theorems = claims["theorems"]
    applies = loops and strong and path["answer"] is not False
    undecided = "undecided" if path["answer"] is None else "universal"
    yield theorems["yun_2020_theorem_1"]["answer"] == (undecided if applies else "silent")
    yield theorems["cheng_2025_corollary_2"]["answer"] == ("universal" if loops and strong else "silent")
    said = {True: "universal", False: "not universal", None: "silent"}[right]
    yield theorems["reach_theorem"]["answer"] == said
    yield _hub(attends, theorems["bigbird_2020_theorem_1"])
    spine, cut, causal_cut = evidence["spine"], evidence["cut"], evidence["causal_cut"]
    yield spine is not None or not (strong or (universal["for"] == "causal" and needed))
    yield spine is None or _spine(attends, spine, run=universal["for"] == "causal")
    yield strong or cut is not None
    yield cut is None or _cut(attends, cut)
    yield universal["for"] == "all" or needed or causal_cut is not None
    yield causal_cut is None or (_cut(attends, causal_cut) and causal_cut["query"] == causal_cut["key"] + 1)


def _tokens(values: list[int], n: int) -> bool:
    return len(set(values)) == len(values) and set(values) <= set(range(n))


def _closed(attends: Attends, members: list[int]) -> bool:
    return _tokens(members, len(attends[0])) and all(
        set(rows[k]) <= set(members) for rows in attends for k in members
    )


def _cut(attends: Attends, cut: Json) -> bool:
    inside = cut["closed_set"]
    outside = set(range(len(attends[0]))) - set(inside)
    return _closed(attends, inside) and cut["query"] in inside and cut["key"] in outside


def _spine(attends: Attends, spine: Json, *, run: bool) -> bool:
    n, edges = len(attends[0]), brute_force.union_edges(attends)
    label, root = spine["component"], spine["root"]
    for parent, forward in ((spine["in_parent"], True), (spine["out_parent"], False)):
        for k in range(n):
            at, visited = k, {k}
            while parent[at] not in visited:
                if (
                    label[parent[at]] != label[k]
                    or ((at, parent[at]) if forward else (parent[at], at)) not in edges
                ):
                    return False
                at = parent[at]
                visited.add(at)
            if at != root[label[k]] or parent[at] != at or label[k] < 0 or parent[at] < 0:
                return False
    links = all((j, k) in edges and (label[j], label[k]) == (i, i + 1) for i, (j, k) in enumerate(spine["links"]))
    runs = label[0] == 0 and all(b - a in (0, 1) for a, b in itertools.pairwise(label))
    sizes = len(label) == len(spine["in_parent"]) == len(spine["out_parent"]) == n
    return (
        links
        and sizes
        and len(spine["links"]) == len(root) - 1
        and set(label) == set(range(len(root)))
        and (len(root) == 1 or (run and runs))
    )


def _hops(attends: Attends, claim: Json, *, loops: bool) -> bool:
    s, n = true_s(attends), len(attends[0])
    if s is None or not claim["answer"]:
        return claim["answer"] is (s is not None)
    lower, upper, unseen, pivot = claim["lower"], claim["upper"], claim["unseen"], claim["pivot"]
    if not 1 <= lower <= s or (upper is not None and upper < s) or claim["s"] != (s if lower == upper else None):
        return False
    if unseen is None and lower > 1 and loops:
        return False
    if unseen is not None:
        if unseen["layers"] != lower - 1:
            return False
        seen = brute_force.layers_seen(attends, unseen["layers"])[unseen["query"]]
        if unseen["key"] not in set(range(n)) - seen:
            return False
    if pivot is None:
        return not loops or claim["relays"] is None or _relays(attends, claim)
    token, gathers, spreads = pivot["token"], pivot["gathers"], pivot["spreads"]
    return gathers + spreads == upper and sees_pivot(attends, token, gathers, spreads)


def _relays(attends: Attends, claim: Json) -> bool:
    tokens = [k for part in claim["relays"].values() for k in part]
    return set(tokens) <= set(range(len(attends[0]))) and relays_show(attends, claim["relays"], claim["upper"])


def _hub(attends: Attends, claim: Json) -> bool:
    """Any hub will do, the best answer must be given."""
    right, hub, n = hub_claim(attends), claim["hub"], len(attends[0])
    if hub is None or right["hub"] is None:
        return claim == right
    for rows in attends:
        joined = all(hub in rows[k] and k in rows[hub] for k in range(n) if k != hub)
        leaves = all(k in rows[k] for k in range(n) if k != hub)
        if joined and (leaves or right["answer"] == "silent"):
            return claim["answer"] == right["answer"]
    return False


def _path(attends: Attends, claim: Json) -> bool:
    n = len(attends[0])
    if claim["answer"] is None:
        return True
    if claim["answer"]:
        gamma, steps = claim["gamma"], claim["patterns"]
        return (
            sorted(gamma) == list(range(n))
            and len(steps) == n - 1
            and all(
                0 <= m < len(attends) and j in attends[m][k]
                for m, (j, k) in zip(steps, itertools.pairwise(gamma), strict=True)
            )
        )
    refutation = claim["refutation"]
    if brute_force.has_hamiltonian_path(attends) or claim["proved"] == (refutation["kind"] == "solver"):
        return False
    return refutation["kind"] in ("exhausted", "solver") or _refutes(attends, refutation)


def _refutes(attends: Attends, claim: Json) -> bool:
    n, kind = len(attends[0]), claim["kind"]
    if kind == "incomparable":
        a, b, first, second = claim["a"], claim["b"], claim["closed_a"], claim["closed_b"]
        closed = _closed(attends, first) and _closed(attends, second)
        return closed and a in first and b not in first and b in second and a not in second
    rank = claim["rank"]
    if rank is not None and not (
        len(rank) == n
        and set(rank) == set(range(len(set(rank))))
        and all(rank[j] <= rank[k] for j, k in brute_force.union_edges(attends))
    ):
        return False
    edges = usable_edges(attends, rank)
    if kind == "too_many_parts":
        parts, cut = claim["parts"], claim["cut"]
        return (
            len(parts) == n
            and _tokens(cut, n)
            and all((part == -1) == (k in cut) and part >= -1 for k, part in enumerate(parts))
            and all(parts[j] == parts[k] for j, k in edges if -1 not in (parts[j], parts[k]))
            and len(set(parts) - {-1}) > len(cut) + 1
        )
    if kind == "three_ends":
        sets = [set(end["set"]) for end in claim["ends"]]
        everything = [k for end in claim["ends"] for k in end["set"]]
        return (
            len(sets) == 3
            and all(sets)
            and _tokens(everything, n)
            and all(
                {a, b} - inside == {end["door"]}
                for inside, end in zip(sets, claim["ends"], strict=True)
                for a, b in edges
                if (a in inside) != (b in inside)
            )
            and all(end["door"] is None or end["door"] in set(range(n)) - set(end["set"]) for end in claim["ends"])
        )
    side = 0 if kind == "too_few_successors" else 1
    listed = claim["successors" if side == 0 else "predecessors"]
    others = {edge[1 - side] for edge in edges if edge[side] in claim["set"]}
    return _tokens(claim["set"], n) and sorted(listed) == sorted(others) and len(others) <= len(claim["set"]) - 2
