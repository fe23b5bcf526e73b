"""Patterns saved as GraphML, the XML of networkx, Gephi and yEd."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from theory.patterns import PatternError, SparsityPattern
from theory.readers.guard import check_options, check_tokens, regular_file

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["read_graphml"]

GRAPHML_LIMIT = 128 * 2**20
TOKEN_NAME = re.compile(r"n?(0|[1-9]\d{0,9})", re.ASCII)


def read_graphml(path: str, options: Mapping[str, str]) -> SparsityPattern:
    """Read one GraphML graph: the edge source -> target is key -> query; an undirected edge is both.

    Node ids must be 0..n-1, or n0..n(n-1).

    Raises
    ------
    PatternError
        If the file is over 128 MiB, no XML, declares a document type or entities, or holds another kind of graph.
    """
    check_options(options, (), "a GraphML file")
    regular_file(path, GRAPHML_LIMIT)
    declared = _declared_nodes(path)
    import networkx as nx

    from theory.conversions import from_networkx

    graph: Any = nx.read_graphml(path)
    check_tokens(graph.number_of_nodes())
    if declared != set(graph):
        raise PatternError("an edge ends at a node that is not declared, or a node lies inside another")
    names: dict[Any, int] = {}
    for name in graph:
        match = TOKEN_NAME.fullmatch(str(name))
        if match is None:
            raise PatternError(f"node {name!r} is no token: the ids must be 0..n-1 or n0..n(n-1)")
        names[name] = int(match[1])
    if len(set(names.values())) < len(names):
        raise PatternError("two nodes name one token: use ids of one style")
    return from_networkx(nx.relabel_nodes(graph, names))


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
