"""An exact method, a checker by hand rules, and patterns with known answers: nothing here calls the project."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

Edges = set[tuple[int, int]]
Rows = list[list[int]]


def union_edges(attends: list[Rows]) -> Edges:
    """The edges key -> query of the union, self-loops dropped."""
    return {(j, k) for layer in attends for k, row in enumerate(layer) for j in row if j != k}


def has_path(n: int, edges: Edges) -> bool:
    """Grow sets of (tokens visited, last token), straight from the definition."""
    reached = {(1 << v, v) for v in range(n)}
    for _ in range(n - 1):
        reached = {
            (seen | 1 << k, k) for seen, v in reached for k in range(n) if not seen >> k & 1 and (v, k) in edges
        }
    return bool(reached)


def refutes(attends: list[Rows], claim: dict[str, Any]) -> bool:
    """Check a refutation by the rule that its docstring states."""
    n, edges = len(attends[0]), union_edges(attends)
    kind = claim["kind"]
    if kind == "solver":
        return claim == {"kind": "solver", "solver": "cadical153", "proved": False}
    if kind == "exhausted":
        return n <= 16 and not has_path(n, edges)
    if kind == "incomparable":
        a, b, first, second = claim["a"], claim["b"], set(claim["closed_a"]), set(claim["closed_b"])
        closed = all(j in some for some in (first, second) for j, k in edges if k in some)
        return closed and a in first and b in second and a not in second and b not in first
    rank = claim["rank"]
    if rank is not None:
        if len(rank) != n or set(rank) != set(range(max(rank) + 1)) or any(rank[j] > rank[k] for j, k in edges):
            return False
        edges = {(j, k) for j, k in edges if rank[k] - rank[j] <= 1}
    if kind == "too_few_successors":
        after = {k for j, k in edges if j in claim["set"]}
        return after == set(claim["successors"]) and len(after) <= len(set(claim["set"])) - 2
    if kind == "too_few_predecessors":
        before = {j for j, k in edges if k in claim["set"]}
        return before == set(claim["predecessors"]) and len(before) <= len(set(claim["set"])) - 2
    if kind == "too_many_parts":
        cut, label = set(claim["cut"]), claim["parts"]
        labelled = len(label) == n and {v for v in range(n) if label[v] == -1} == cut
        parts = set(label) - {-1}
        apart = all(label[j] == label[k] for j, k in edges if j not in cut and k not in cut)
        return labelled and apart and parts == set(range(len(parts))) and len(parts) > len(cut) + 1
    if kind == "three_ends":
        sets = [set(end["set"]) for end in claim["ends"]]
        if len(sets) != 3 or not all(sets) or any(a & b for a, b in itertools.combinations(sets, 2)):
            return False
        for inside, door in zip(sets, (end["door"] for end in claim["ends"]), strict=True):
            crossing = {k if j in inside else j for j, k in edges if (j in inside) != (k in inside)}
            if door in inside or not crossing <= {door}:
                return False
        return True
    return False


def random_attends(rng: np.random.Generator) -> list[Rows]:
    """Up to 8 tokens, up to 3 patterns, any density; one in three undirected."""
    n, p, density = int(rng.integers(1, 9)), int(rng.choice([1, 1, 2, 3])), rng.random() ** 1.5
    if rng.random() < 0.3:
        joined = np.triu(rng.random((1, n, n)) < density)
        seen = joined | joined.transpose(0, 2, 1)
    else:
        seen = rng.random((p, n, n)) < density / p
    return [[np.flatnonzero(row).tolist() for row in layer] for layer in seen]


def symmetric(n: int, joined: Iterable[tuple[int, int]]) -> Rows:
    """Key lists of an undirected graph, self-loops kept."""
    rows: list[set[int]] = [{k} for k in range(n)]
    for j, k in joined:
        rows[j].add(k)
        rows[k].add(j)
    return [sorted(row) for row in rows]


def shuffled(rows: Rows, seed: int = 1) -> Rows:
    """The same pattern under other names."""
    name = np.random.default_rng(seed).permutation(len(rows)).tolist()
    out: Rows = [[] for _ in rows]
    for k, row in enumerate(rows):
        out[name[k]] = sorted(name[j] for j in row)
    return out


def hub(n: int) -> Rows:
    """The last token sees and is seen by all, the others see it and themselves."""
    return [[k, n - 1] for k in range(n - 1)] + [list(range(n))]


def ring(n: int) -> Rows:
    return [[k, (k - 1) % n] for k in range(n)]


def window(n: int, w: int) -> Rows:
    return [list(range(max(0, k - w), min(n, k + w + 1))) for k in range(n)]


def grid(height: int, width: int, *, without: Iterable[int] = ()) -> Rows:
    """A grid, tokens row by row, some of them left out."""
    cells = [cell for cell in range(height * width) if cell not in set(without)]
    number = {cell: k for k, cell in enumerate(cells)}
    steps = [(c, c + 1) for c in cells if (c + 1) % width] + [(c, c + width) for c in cells]
    return symmetric(len(cells), ((number[a], number[b]) for a, b in steps if a in number and b in number))


PETERSEN = [(i, (i + 1) % 5) for i in range(5)] + [(i, i + 5) for i in range(5)]
PETERSEN += [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
COMPLETE_4 = list(itertools.combinations(range(4), 2))


def petersen_inflated(base: list[tuple[int, int]]) -> Rows:
    """Put the Petersen graph without token 0 in place of every token of a cubic graph.

    The Petersen graph has no Hamiltonian cycle, so no path crosses such a fragment from one of its three doors to
    another through all nine tokens: every fragment holds an end of the path, and a base of 3 tokens or more fails.
    """
    size = 9
    n = size * len({v for edge in base for v in edge})
    joined = [
        (size * f + a - 1, size * f + b - 1) for f in range(n // size) for a, b in PETERSEN if 0 not in (a, b)
    ]
    doors = {f: iter([b - 1 if a == 0 else a - 1 for a, b in PETERSEN if 0 in (a, b)]) for f in range(n // size)}
    joined += [(size * a + next(doors[a]), size * b + next(doors[b])) for a, b in base]
    return symmetric(n, joined)


def cliques_at_a_token(count: int, size: int) -> Rows:
    """Cliques that share token 0."""
    groups = [[0, *range(1 + size * i, 1 + size * (i + 1))] for i in range(count)]
    return symmetric(1 + size * count, (pair for group in groups for pair in itertools.combinations(group, 2)))


def tailed_triangle(tail: int) -> Rows:
    """A triangle with a clique hung on each corner: one block with three cut tokens."""
    groups = [[corner, *range(3 + tail * corner, 3 + tail * (corner + 1))] for corner in range(3)]
    joined = [pair for group in [[0, 1, 2], *groups] for pair in itertools.combinations(group, 2)]
    return symmetric(3 + 3 * tail, joined)


def dilated_with_globals(n: int, dilation: int, globals_: int) -> Rows:
    """Residue classes, each a window, joined only through the global tokens in front."""
    joined = [(k, k + i * dilation) for i in (1, 2) for k in range(globals_, n - i * dilation)]
    joined += [(g, k) for g in range(globals_) for k in range(n) if g != k]
    return symmetric(n, joined)


def star_before_ring() -> Rows:
    """A chain of two components, the first of which has no path."""
    return [*hub(6), *[[6 + i, 6 + (i - 1) % 6, 0] for i in range(6)]]
