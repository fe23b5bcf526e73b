"""Graphs as patterns: an edge leads from key to query; whether it leads back, and self-loops, have to be said.

The files of most graph tools list an undirected edge once, and no self-loops. Read edge by edge, such a file is
another pattern, of which *not universal* would be a false answer; so what is doubtful becomes a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theory.patterns import Connections, PatternError, SparsityPattern
from theory.readers.guard import check_options, check_tokens, flag, whole_number
from theory.readers.heads import HeadPatterns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

__all__ = ["GRAPH_OPTIONS", "as_graph", "from_edge_index", "is_edge_index", "number_of_tokens"]

GRAPH_OPTIONS = ("directed", "loops")

ONE_WAY = (
    "no edge is listed both ways, and each is read as key -> query alone: if the graph is undirected, add"
    " directed=false (directed=true says that it is not)"
)
NO_LOOPS = (
    "no token is listed with itself: if every token attends to itself, add loops=true (loops=false if none does)"
)
SLICE = 2**20


def as_graph(
    layers: Sequence[Connections],
    options: Mapping[str, str],
    *,
    declared: bool | None = None,
    notes: tuple[str, ...] = (),
) -> HeadPatterns:
    """Return the pattern of the listed edges, with what the options add, and notes on what they leave open.

    Parameters
    ----------
    layers
        The edges as listed, one graph a layer.
    options
        ``directed=false``: every edge leads both ways. ``loops=true``: every token attends to itself.
    declared
        What the file itself says: directed (True), undirected (False, its edges are in `layers` both ways), or
        nothing (None).
    notes
        What the reader has to say already.

    Raises
    ------
    PatternError
        If an option is neither true nor false, or repeats or contradicts what the file says.

    Examples
    --------
    >>> path = Connections.from_pairs(2, queries=[1], keys=[0])
    >>> as_graph([path], {"directed": "false", "loops": "true"}).only().to_lists()
    [[[0, 1], [0, 1]]]
    >>> as_graph([path], {"loops": "false"}).notes[0][:31]
    'no edge is listed both ways, an'
    """
    directed = flag("directed", options["directed"]) if "directed" in options else None
    loops = flag("loops", options["loops"]) if "loops" in options else None
    if directed is not None and declared is False:
        raise PatternError("the file itself says that its edges lead both ways: leave directed out")
    if directed and declared:
        raise PatternError("the file itself says that it is directed: leave directed out, or say directed=false")
    if directed is declared is None and not any(map(_leads_both_ways, layers)) and any(map(_has_edge, layers)):
        notes = (*notes, ONE_WAY)
    if loops is None and not any(_loops(layer).any() for layer in layers):
        notes = (*notes, NO_LOOPS)
    whole = tuple(_completed(layer, both=directed is False, loops=bool(loops)) for layer in layers)
    return HeadPatterns((SparsityPattern(whole),), notes)


def _completed(layer: Connections, *, both: bool, loops: bool) -> Connections:
    if not both and not loops:
        return layer
    tokens = np.arange(layer.n if loops else 0)
    keys, queries = layer.keys, layer.queries
    mirrored = (queries, keys) if both else (queries[:0], keys[:0])
    return Connections.from_pairs(
        layer.n,
        np.concatenate((queries, mirrored[1], tokens)),
        np.concatenate((keys, mirrored[0], tokens)),
    )


def _loops(layer: Connections) -> npt.NDArray[np.bool_]:
    return np.asarray(layer.queries == layer.keys)


def _has_edge(layer: Connections) -> bool:
    return not bool(_loops(layer).all())


def _leads_both_ways(layer: Connections) -> bool:
    """Tell whether some edge between two tokens is listed in both directions."""
    between = ~_loops(layer)
    keys, queries = layer.keys[between].astype(np.int64), layer.queries[between].astype(np.int64)
    listed = queries * layer.n + keys  # sorted, as rows and the keys in them are
    for start in range(0, listed.size, SLICE):
        wanted = np.sort(keys[start : start + SLICE] * layer.n + queries[start : start + SLICE])  # kind to caches
        places = np.minimum(np.searchsorted(listed, wanted), listed.size - 1)
        if (listed[places] == wanted).any():
            return True
    return False


def number_of_tokens(ends: Sequence[npt.NDArray[Any]], said: int | None = None) -> int:
    """Return n: what was said, or one more than the largest of the edges' `ends`; refuse what is far too many.

    Raises
    ------
    PatternError
        If there is no edge, or n is out of proportion to the edges.
    """
    if not ends[0].size:
        raise PatternError("holds no edge")
    n = max(int(end.max()) for end in ends) + 1 if said is None else said
    check_tokens(n, ends[0].size)
    return n


def is_edge_index(shape: tuple[int, ...], options: Mapping[str, str]) -> bool:
    """Tell whether integers of this shape are an edge index, (2, edges), rather than a mask.

    Raises
    ------
    PatternError
        If they may be either: shape (2, 2) without any option.
    """
    if len(shape) != 2 or shape[0] != 2:
        return False
    if shape == (2, 2) and not options:
        raise PatternError(
            "integers of shape (2, 2) may be a mask of 2 tokens (add true=attend or true=masked) or an edge index"
            " of 2 edges (add n=, its number of tokens)"
        )
    return shape[1] != 2 or bool({"n", *GRAPH_OPTIONS} & set(options))


def from_edge_index(edges: npt.NDArray[Any], options: Mapping[str, str]) -> HeadPatterns:
    """Read an edge index as PyTorch Geometric has it: ``edges[0]`` the sources (keys), ``edges[1]`` the targets.

    Parameters
    ----------
    edges
        Integers of shape (2, edges).
    options
        ``n``, where it is not one more than the largest token; ``directed`` and ``loops`` as in `as_graph`.

    Raises
    ------
    PatternError
        If a token lies outside 0..n-1, or an option is none of these.

    Examples
    --------
    >>> from_edge_index(np.array([[0, 1, 1], [1, 0, 2]]), {}).only().to_lists()
    [[[1], [0], [1]]]
    """
    check_options(options, ("n", *GRAPH_OPTIONS), "an edge index")
    n = number_of_tokens(list(edges), whole_number("n", options["n"]) if "n" in options else None)
    note = f"shape {edges.shape} is read as an edge index: row 0 the sources (keys), row 1 the targets (queries)"
    return as_graph([Connections.from_pairs(n, edges[1], edges[0])], options, notes=(note,))
