"""What a strong component must absorb from outside to know everything upstream of it (reach theorem).

The components are walked in topological order. Of the components that one component sees directly, only those
are needed that no other one of them already sees: their reach together covers everything upstream.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from constructions.numbers import ProofError

if TYPE_CHECKING:
    from theory.graph import Components
    from theory.patterns import Connections, IntArray

__all__ = ["Upstream", "cover_upstream"]

MAX_MEMBERS = 2**28  # of all lists of upstream components together: a gigabyte


@dataclass(frozen=True)
class Upstream:
    """The links that carry everything upstream into every component, and what they make of its ids.

    Parameters
    ----------
    links
        For every component the connections (query inside, key outside) that it absorbs over.
    digits
        For every component the number of inputs coded in its ids when finished neighbours are absorbed whole:
        shared history counts as often as it arrives.
    reach
        For every component the size of reach(k), the same for all its tokens.
    """

    links: tuple[tuple[tuple[int, int], ...], ...]
    digits: tuple[int, ...]
    reach: tuple[int, ...]


def cover_upstream(connections: Connections, components: Components) -> Upstream:
    """Choose the links: the fewest neighbour components whose reach covers everything upstream.

    Raises
    ------
    ProofError
        If the upstream components of all components together are too many to list (2^28).

    Examples
    --------
    A diamond 0 -> 1, 2 -> 3: token 3 needs both 1 and 2, so token 0 arrives twice; the connection 0 -> 3 is
    not needed.

    >>> from theory.graph import strong_components
    >>> from theory.patterns import SparsityPattern
    >>> diamond = SparsityPattern.from_lists([[0], [0, 1], [0, 2], [0, 1, 2, 3]]).union
    >>> upstream = cover_upstream(diamond, strong_components(diamond))
    >>> upstream.links[3], upstream.digits[3], upstream.reach[3]
    (((3, 2), (3, 1)), 5, 4)
    """
    sizes = components.sizes
    closures: list[IntArray] = []  # of every component: itself and everything upstream, rising
    links: list[tuple[tuple[int, int], ...]] = []
    digits: list[int] = []
    reach: list[int] = []
    members = 0
    for label, (below, queries, keys) in enumerate(_crossings(connections, components)):
        remaining, chosen = below, []
        while remaining.size:
            # the last one in topological order is seen by none of the others
            chosen.append(int(remaining[-1]))
            remaining = np.setdiff1d(remaining, closures[chosen[-1]], assume_unique=True)
        upstream = reduce(np.union1d, [closures[c] for c in chosen]) if chosen else below
        closures.append(np.append(upstream, np.int32(label)).astype(np.int32))
        members += closures[-1].size
        if members > MAX_MEMBERS:
            raise ProofError(f"the upstream lists of {label + 1} components pass {MAX_MEMBERS} entries: reduce n")
        position = np.searchsorted(below, chosen)
        links.append(tuple(zip(queries[position].tolist(), keys[position].tolist(), strict=True)))
        digits.append(int(sizes[label]) + sum(digits[c] for c in chosen))
        reach.append(int(sizes[closures[-1]].sum()))
    return Upstream(tuple(links), tuple(digits), tuple(reach))


def _crossings(connections: Connections, components: Components) -> list[tuple[IntArray, IntArray, IntArray]]:
    """Return for every component the components it sees directly, rising, and one connection to each."""
    labels = components.labels.astype(np.int64)
    queries, keys = connections.queries, connections.keys
    across = np.flatnonzero(labels[queries] != labels[keys])
    queries, keys = queries[across], keys[across]
    pairs, first = np.unique(labels[queries] * components.count + labels[keys], return_index=True)
    upper, below = np.divmod(pairs, components.count)
    ends = np.searchsorted(upper, np.arange(components.count + 1))
    return [
        (below[start:end], queries[first[start:end]], keys[first[start:end]])
        for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)
    ]
