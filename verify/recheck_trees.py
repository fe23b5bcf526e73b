"""Rechecking who reaches whom: trees for strong connectivity, closed sets against it (linear time, no search).

All edges are of the union digraph, key -> query, tried layer by layer so that no union is built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verify.recheck_ledger import FalseClaim

if TYPE_CHECKING:
    import numpy.typing as npt

    from theory.patterns import IntArray, SparsityPattern

__all__ = ["check_closed", "check_cut", "check_run", "check_spine", "joined", "members"]


def joined(pattern: SparsityPattern, queries: IntArray, keys: IntArray) -> npt.NDArray[np.bool_]:
    """Return, pair by pair, whether the key is in A_query of some pattern."""
    found = np.zeros(queries.size, dtype=bool)
    for layer in pattern.layers:
        left = np.flatnonzero(~found)
        if not left.size:
            break
        found[left] = layer.contains(queries[left], keys[left])
    return found


def members(tokens: IntArray, n: int, what: str) -> npt.NDArray[np.bool_]:
    """Return the membership vector of a list of distinct tokens."""
    inside = np.zeros(n, dtype=bool)
    inside[tokens] = True
    if np.count_nonzero(inside) != tokens.size:
        raise FalseClaim(f"{what} lists a token twice")
    return inside


def check_closed(pattern: SparsityPattern, inside: npt.NDArray[np.bool_], what: str) -> None:
    """Check A_k^l inside C for every k in C and every l."""
    for number, layer in enumerate(pattern.layers):
        queries = layer.queries
        leaks = np.flatnonzero(inside[queries] & ~inside[layer.keys])
        if leaks.size:
            query, key = queries[leaks[0]], layer.keys[leaks[0]]
            raise FalseClaim(
                f"{what} is not closed: token {query} in it attends to token {key} outside, in pattern {number}"
            )


def check_cut(pattern: SparsityPattern, cut: dict[str, Any], *, causal: bool) -> str:
    """Check a closed set with `query` inside and `key` outside; for the causal cut, key = query - 1."""
    query, key = cut["query"], cut["key"]
    inside = members(cut["closed_set"], pattern.n, "the closed set")
    if not inside[query]:
        raise FalseClaim(f"the closed set does not hold its query {query}")
    if inside[key]:
        raise FalseClaim(f"the closed set holds token {key}, which it is to leave out")
    if causal and query != key + 1:
        raise FalseClaim(f"token {key} does not come directly before token {query}")
    check_closed(pattern, inside, "the set")
    return f"token {query} lies in a closed set of {cut['closed_set'].size} tokens and never sees token {key}"


def check_spine(pattern: SparsityPattern, spine: dict[str, Any]) -> str:
    """Check an in-tree and an out-tree inside every component, and an edge from each component to the next."""
    n, component, root = pattern.n, spine["component"], spine["root"]
    if not component.size == spine["in_parent"].size == spine["out_parent"].size == n:
        raise FalseClaim(f"component, in_parent and out_parent must have {n} entries each")
    if np.any((component < 0) | (component >= root.size)):
        raise FalseClaim(f"a component label lies outside 0..{root.size - 1}, the labels that have a root")
    if not np.array_equal(component[root], np.arange(root.size)):
        raise FalseClaim("the root of some component lies in another one")
    goal = root[component]
    for name, arrow in (("in_parent", "is attended to by"), ("out_parent", "attends to")):
        parent = spine[name]
        child = np.flatnonzero(parent != np.arange(n))
        if np.any(component[parent] != component):
            token = int(np.flatnonzero(component[parent] != component)[0])
            raise FalseClaim(f"{name} of token {token} lies in another component")
        pairs = (parent[child], child) if name == "in_parent" else (child, parent[child])
        missing = np.flatnonzero(~joined(pattern, *pairs))
        if missing.size:
            token = int(child[missing[0]])
            raise FalseClaim(f"{name} says that token {token} {arrow} token {parent[token]}: in no pattern")
        lost = np.flatnonzero(_followed(parent, goal) != goal)
        if lost.size:
            raise FalseClaim(f"{name} followed from token {lost[0]} does not end at the root {goal[lost[0]]}")
    _check_links(pattern, component, root.size, spine["links"])
    if root.size == 1:
        return f"every token reaches token {root[0]} and is reached from it"
    return f"{root.size} strong components, each joined to the next"


def _followed(parent: IntArray, goal: IntArray) -> IntArray:
    """Follow the parents n steps or more by doubling: every tree path has ended by then, a cycle never does."""
    steps = 1
    while steps < parent.size and not np.array_equal(parent, goal):
        parent, steps = parent[parent], 2 * steps
    return parent


def _check_links(pattern: SparsityPattern, component: IntArray, count: int, links: IntArray) -> None:
    if len(links) != count - 1:
        raise FalseClaim(f"{count} components need {count - 1} links, there are {len(links)}")
    keys, queries, number = links[:, 0], links[:, 1], np.arange(count - 1)
    wrong = np.flatnonzero((component[keys] != number) | (component[queries] != number + 1))
    if wrong.size:
        raise FalseClaim(f"link {wrong[0]} does not join component {wrong[0]} to component {wrong[0] + 1}")
    missing = np.flatnonzero(~joined(pattern, queries, keys))
    if missing.size:
        key, query = links[missing[0]]
        raise FalseClaim(f"link {missing[0]} says that token {query} attends to token {key}: in no pattern")


def check_run(spine: dict[str, Any]) -> str:
    """Check that the components are consecutive stretches of tokens, so that k - 1 reaches k for every k."""
    component = spine["component"]
    rise = np.diff(component)
    broken = np.flatnonzero((rise < 0) | (rise > 1))
    if component[0] != 0 or broken.size:
        where = f"between tokens {broken[0]} and {broken[0] + 1}" if broken.size else "at token 0"
        raise FalseClaim(f"the components of the spine are not consecutive stretches of tokens {where}")
    return f"every token sees the one before it: {spine['root'].size} stretches, each joined to the next"
