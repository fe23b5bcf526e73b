"""The verdict with witnesses, beside scipy's and networkx's strong components alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import networkx as nx
from scipy.sparse.csgraph import connected_components

from benchmarks.measure import Curve, Size, sizes
from theory.families import parse_family
from theory.patterns import Connections, SparsityPattern
from verify.pattern_verdict import assess

if TYPE_CHECKING:
    from benchmarks.measure import Measure

TABLE = "The verdict on `bigbird:n=...,window=3,random=3,globals=2`"
LARGE, QUICK = 2**20, 2**12


def bigbird(n: int) -> SparsityPattern:
    """Return the pattern on n tokens."""
    return parse_family(f"bigbird:n={n},window=3,random=3,globals=2,seed=0")


def fresh(pattern: SparsityPattern) -> SparsityPattern:
    """Return an equal pattern that has nothing cached."""
    return SparsityPattern(tuple(Connections(layer.indptr, layer.keys) for layer in pattern.layers))


@sizes([2**14, 2**16, 2**18, LARGE], [2**10, QUICK])
def test_verdict(measure: Measure, size: int) -> None:
    """The assumptions, the theorems and their witnesses, from nothing but the CSR."""
    pattern, largest = bigbird(size), size in (LARGE, QUICK)
    found = measure(
        assess,
        fresh=lambda: (fresh(pattern),),
        table=TABLE,
        row=f"verdict, n = {size:,}",
        against=f"scipy's strong components, n = {size:,}" if largest else "",
        goal="<= 3" if largest else "",
        size=Size(pattern.connections, "connections"),
        curve=Curve("Verdict", ""),
    )
    measure.note(s=found.hops.s)


@sizes([LARGE], [QUICK])
def test_scipy(measure: Measure, size: int) -> None:
    """Tarjan's components in C on the same CSR."""
    pattern = bigbird(size)
    matrix = pattern.layers[0].matrix()
    measure(
        lambda: connected_components(matrix, directed=True, connection="strong"),
        table=TABLE,
        row=f"scipy's strong components, n = {size:,}",
        size=Size(pattern.connections, "connections"),
    )


@sizes([2**14, 2**17], [2**10])
def test_networkx(measure: Measure, size: int) -> None:
    """The same in Python; at n = 16,384 the graph fits the processor's caches."""
    union, large = bigbird(size).union, QUICK if size == 2**10 else LARGE
    graph = nx.DiGraph()
    graph.add_edges_from(zip(union.keys.tolist(), union.queries.tolist(), strict=True))
    measure(
        lambda: list(nx.strongly_connected_components(graph)),
        table=TABLE,
        row=f"networkx's strong components, n = {size:,}",
        against=f"verdict, n = {large:,}",
        goal=">= 100",
        size=Size(union.count, "connections"),
        rounds=2,
        warm=False,
    )
