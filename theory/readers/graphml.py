"""Patterns saved as GraphML, the XML of networkx, Gephi and yEd, and as GML."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.patterns import Connections, PatternError
from theory.readers.graphs import GRAPH_OPTIONS, as_graph
from theory.readers.guard import check_options, check_tokens, regular_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from theory.readers.heads import HeadPatterns

__all__ = ["read_gml", "read_graphml"]

GRAPHML_LIMIT = 16 * 2**20
GML_LIMIT = 4 * 2**20
TOKEN_NAME = re.compile(r"n?(0|[1-9]\d{0,9})", re.ASCII)


def read_graphml(path: str, options: Mapping[str, str]) -> HeadPatterns:
    """Read one GraphML graph: the edge source -> target is key -> query; an undirected edge is both.

    Node ids must be 0..n-1, or n0..n(n-1). ``directed=false`` and ``loops=true`` as in
    `theory.readers.graphs.as_graph`.

    Raises
    ------
    PatternError
        If the file is over 16 MiB, no XML, declares a document type or entities, or holds another kind of graph.
    """
    check_options(options, GRAPH_OPTIONS, "a GraphML file")
    regular_file(path, GRAPHML_LIMIT)
    declared = _declared_nodes(path)
    import networkx as nx

    graph: Any = nx.read_graphml(path)
    if declared != set(graph):
        raise PatternError("an edge ends at a node that is not declared, or a node lies inside another")
    return _from_graph(graph, {name: str(name) for name in graph}, options)


def read_gml(path: str, options: Mapping[str, str]) -> HeadPatterns:
    """Read one GML graph: the edge source -> target is key -> query; an undirected edge is both.

    A node's token is its label, as networkx writes it, where all labels are 0..n-1 or n0..n(n-1); else its id.
    ``directed=false`` and ``loops=true`` as in `theory.readers.graphs.as_graph`.

    Raises
    ------
    PatternError
        If the file is over 4 MiB, no GML, or its nodes are numbered otherwise.
    """
    check_options(options, GRAPH_OPTIONS, "a GML file")
    regular_file(path, GML_LIMIT)
    import networkx as nx

    read: Any = nx.read_gml  # its stubs know no label=None, which leaves the nodes their ids
    graph = read(path, label=None)  # no destringizer: values stay text
    labels = {node: str(label) for node, label in graph.nodes(data="label")}
    if all(TOKEN_NAME.fullmatch(label) for label in labels.values()):
        return _from_graph(graph, labels, options)
    named = any(label is not None for _, label in graph.nodes(data="label"))
    note = ("tokens are the ids of the nodes: the labels are no numbers 0..n-1",) if named else ()
    return _from_graph(graph, {node: str(node) for node in graph}, options, note)


def _from_graph(
    graph: Any, names: dict[Any, str], options: Mapping[str, str], notes: tuple[str, ...] = ()
) -> HeadPatterns:
    """Read the graph whose nodes have these names, numbers or ``n`` and a number."""
    n = graph.number_of_nodes()
    check_tokens(n)
    tokens: dict[Any, int] = {}
    for node, name in names.items():
        match = TOKEN_NAME.fullmatch(name)
        if match is None:
            raise PatternError(f"node {name!r} is no token: the ids must be 0..n-1 or n0..n(n-1)")
        tokens[node] = int(match[1])
        if tokens[node] >= n:
            raise PatternError(f"node {name!r} lies outside 0..{n - 1}: number the {n} nodes from 0")
    if len(set(tokens.values())) < len(tokens):
        raise PatternError("two nodes name one token: use ids of one style")
    ends = np.fromiter((tokens[end] for edge in graph.edges() for end in edge), dtype=np.int64)
    keys, queries = ends[0::2], ends[1::2]
    if not graph.is_directed():
        keys, queries = np.concatenate((keys, queries)), np.concatenate((queries, keys))
    layer = Connections.from_pairs(n, queries, keys)
    return as_graph([layer], options, declared=graph.is_directed(), notes=notes)


def _declared_nodes(path: str) -> set[str]:
    """Return the ids of the nodes; refuse a second graph, and document types, which an XML bomb needs."""
    from xml.parsers import expat

    parser = expat.ParserCreate()
    graphs = 0
    nodes: set[str] = set()

    def refuse(*_: object) -> None:
        raise PatternError("declares a document type, which GraphML does not need and an XML bomb does")

    def enter(tag: str, attributes: dict[str, str]) -> None:
        nonlocal graphs
        kind = tag.rpartition(":")[2]
        graphs += kind == "graph"
        if graphs > 1:
            raise PatternError("holds several graphs: write one graph a file and join the files with +")
        if kind == "node":
            name = attributes.get("id", "")
            if name in nodes:
                raise PatternError(f"node {name!r} is declared twice")
            nodes.add(name)

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = enter
    with open(path, "rb") as file:
        parser.ParseFile(file)
    if not graphs:
        raise PatternError("holds no <graph>")
    return nodes
