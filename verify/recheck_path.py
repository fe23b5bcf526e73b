"""Rechecking Assumption 1.2: a Hamiltonian path edge by edge, or a refutation set by set.

A Hamiltonian path visits every token once along edges key -> query of the union digraph. Every refutation counts
something that no such path can have; `rank` narrows the edges that count: when all edges keep or raise the rank
and every rank 0..m-1 is used, a path takes only the *usable* ones, which keep the rank or raise it by one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verify.certificate_kinds import shown
from verify.recheck_ledger import FalseClaim, Undecided, Unproved
from verify.recheck_trees import check_closed, members

if TYPE_CHECKING:
    from collections.abc import Iterator

    from theory.patterns import IntArray, SparsityPattern

__all__ = ["SMALL", "check_path", "has_path"]

SMALL = 16  # tokens up to which all orders are tried: 2^16 sets


def check_path(pattern: SparsityPattern, claim: dict[str, Any]) -> str:
    """Check the claim on Assumption 1.2."""
    if claim["answer"] is None:
        raise Undecided("left undecided: no claim")
    if claim["answer"]:
        return _check_order(pattern, claim["gamma"], claim["patterns"])
    refutation = claim["refutation"]
    kind = refutation["kind"]
    if claim["proved"] == (kind == "solver"):
        raise FalseClaim(f"a refutation of kind {kind} cannot have proved = {str(claim['proved']).lower()}")
    check = {
        "incomparable": _check_incomparable,
        "too_few_successors": _check_neighbours,
        "too_few_predecessors": _check_neighbours,
        "too_many_parts": _check_parts,
        "three_ends": _check_ends,
        "exhausted": _check_exhausted,
        "solver": _check_solver,
    }[kind]
    return check(pattern, refutation)


def _check_order(pattern: SparsityPattern, gamma: IntArray, patterns: IntArray) -> str:
    n = pattern.n
    if gamma.size != n or patterns.size != n - 1:
        raise FalseClaim(f"gamma needs {n} tokens and patterns {n - 1} entries, got {gamma.size}, {patterns.size}")
    members(gamma, n, "gamma")
    keys, queries = gamma[:-1], gamma[1:]
    for number in np.unique(patterns):
        steps = np.flatnonzero(patterns == number)
        missing = steps[~pattern.layers[number].contains(queries[steps], keys[steps])]
        if missing.size:
            key, query = keys[missing[0]], queries[missing[0]]
            raise FalseClaim(f"gamma steps from token {key} to token {query}, not attended to in pattern {number}")
    return f"gamma visits all {n} tokens, every step attended to in the pattern named"


def _usable(pattern: SparsityPattern, rank: IntArray | None) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield, pattern by pattern, the keys and the queries of the edges between two tokens that a path can take."""
    if rank is not None:
        if rank.size != pattern.n:
            raise FalseClaim(f"rank needs {pattern.n} entries, has {rank.size}")
        present = np.unique(rank)
        if not np.array_equal(present, np.arange(present.size)):
            raise FalseClaim("rank does not use every number from 0 to its largest")
    for number, layer in enumerate(pattern.layers):
        keys, queries = layer.keys, layer.queries
        usable = keys != queries
        if rank is not None:
            rise = rank[queries] - rank[keys]
            if np.any(rise < 0):
                edge = np.flatnonzero(rise < 0)[0]
                raise FalseClaim(
                    f"rank falls from token {keys[edge]} to token {queries[edge]} in pattern {number}"
                )
            usable &= rise <= 1
        yield keys[usable], queries[usable]


def _check_incomparable(pattern: SparsityPattern, claim: dict[str, Any]) -> str:
    a, b = claim["a"], claim["b"]
    for name, own, other in (("closed_a", a, b), ("closed_b", b, a)):
        inside = members(claim[name], pattern.n, name)
        if not inside[own] or inside[other]:
            raise FalseClaim(f"{name} must hold token {own} and not token {other}")
        check_closed(pattern, inside, name)
    return f"no path: neither of the tokens {a} and {b} ever sees the other, so no order has both"


def _check_neighbours(pattern: SparsityPattern, claim: dict[str, Any]) -> str:
    what = "successors" if "successors" in claim else "predecessors"
    inside = members(claim["set"], pattern.n, "set")
    listed = members(claim[what], pattern.n, what)
    found = np.zeros(pattern.n, dtype=bool)
    for keys, queries in _usable(pattern, claim["rank"]):
        near, far = (keys, queries) if what == "successors" else (queries, keys)
        found[far[inside[near]]] = True
    differs = np.flatnonzero(found != listed)
    if differs.size:
        state = "lacks" if found[differs[0]] else "wrongly lists"
        raise FalseClaim(f"{what} {state} token {differs[0]}")
    size, count = claim["set"].size, claim[what].size
    if count > size - 2:
        raise FalseClaim(f"{size} tokens with {count} {what} are no obstacle: at most {size - 2} would be")
    return f"no path: {size} tokens have only {count} {what} between them, a path needs {size - 1}"


def _check_parts(pattern: SparsityPattern, claim: dict[str, Any]) -> str:
    cut, parts = claim["cut"], claim["parts"]
    removed = members(cut, pattern.n, "cut")
    if parts.size != pattern.n or not np.array_equal(parts == -1, removed) or np.any(parts < -1):
        raise FalseClaim("parts must give every token its part, from 0, and -1 exactly on the cut")
    for keys, queries in _usable(pattern, claim["rank"]):
        across = (parts[keys] != parts[queries]) & ~removed[keys] & ~removed[queries]
        if np.any(across):
            edge = np.flatnonzero(across)[0]
            raise FalseClaim(f"the edge from token {keys[edge]} to token {queries[edge]} joins two parts")
    count = np.unique(parts[~removed]).size
    if count <= cut.size + 1:
        raise FalseClaim(f"{count} parts without {cut.size} tokens are no obstacle: it takes {cut.size + 2}")
    return (
        f"no path: without {cut.size} tokens the rest falls into {count} parts, a path would leave {cut.size + 1}"
    )


def _check_ends(pattern: SparsityPattern, claim: dict[str, Any]) -> str:
    ends = claim["ends"]
    side = np.full(pattern.n, -1)
    for number, end in enumerate(ends):
        inside = members(end["set"], pattern.n, f"set {number}")
        if not end["set"].size or np.any(side[inside] >= 0):
            raise FalseClaim("the three sets must be disjoint and none empty")
        if end["door"] is not None and inside[end["door"]]:
            raise FalseClaim(f"the door {end['door']} lies inside its set {number}")
        side[inside] = number
    for keys, queries in _usable(pattern, claim["rank"]):
        for number, end in enumerate(ends):
            for inner, outer in ((keys, queries), (queries, keys)):
                crossing = outer[(side[inner] == number) & (side[outer] != number)]
                past = crossing if end["door"] is None else crossing[crossing != end["door"]]
                if past.size:
                    raise FalseClaim(f"set {number} is joined to token {past[0]}, which is not its door")
    return "no path: each of three disjoint sets has one door at most, so a path would need an end in each"


def _check_exhausted(pattern: SparsityPattern, _: dict[str, Any]) -> str:
    if pattern.n > SMALL:
        raise FalseClaim(f"all orders were tried: not to be checked beyond {SMALL} tokens")
    if has_path(pattern):
        raise FalseClaim("all orders were tried again, and one of them is a path")
    return f"no path: all orders of {pattern.n} tokens were tried again"


def _check_solver(pattern: SparsityPattern, claim: dict[str, Any]) -> str:
    if pattern.n <= SMALL:
        _check_exhausted(pattern, claim)
    raise Unproved(f"no path by the word of the solver {shown(claim['solver'])} only, without a proof")


def has_path(pattern: SparsityPattern) -> bool:
    """Return whether a Hamiltonian path exists, by the ends of paths through every set of tokens (n <= 16).

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> has_path(SparsityPattern.from_lists([[0], [0, 1], [0, 2]]))
    False
    """
    n = pattern.n
    seen = np.zeros(n, dtype=np.int64)
    for layer in pattern.layers:
        np.bitwise_or.at(seen, layer.queries, np.int64(1) << layer.keys.astype(np.int64))
    sets = np.arange(2**n)
    size = sum((sets >> k) & 1 for k in range(n))
    ends = np.where(size == 1, sets, 0)  # bit k of ends[set]: some path through the whole set ends in k
    for count in range(2, n + 1):
        now = sets[size == count]
        for k in range(n):
            own = now[(now >> k) & 1 == 1]
            ends[own] |= np.where(ends[own ^ (1 << k)] & seen[k], 1 << k, 0)
    return bool(ends[-1])
