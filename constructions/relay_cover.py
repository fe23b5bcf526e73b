"""What a strong component must absorb from outside to know everything upstream of it (reach theorem).

The components are walked in topological order. Of the components that one component sees directly, only those
are needed that no other one of them already sees: their reach together covers everything upstream.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from theory.graph import Components
    from theory.patterns import Connections, IntArray

__all__ = ["Upstream", "cover_upstream"]


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
        For every component |reach(k)|, the same for all its tokens.
    """

    links: tuple[tuple[tuple[int, int], ...], ...]
    digits: tuple[int, ...]
    reach: tuple[int, ...]


def cover_upstream(connections: Connections, components: Components) -> Upstream:
    """Choose the links: the fewest neighbour components whose reach covers everything upstream.

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
    closures: list[int] = []  # one bit a component: itself and everything upstream
    links: list[tuple[tuple[int, int], ...]] = []
    digits: list[int] = []
    reach: list[int] = []
    for label, (below, queries, keys) in enumerate(_crossings(connections, components)):
        remaining = _bits(below, components.count)
        closure, chosen = 1 << label, []
        while remaining:
            # the last one in topological order is seen by none of the others
            highest = remaining.bit_length() - 1
            chosen.append(highest)
            closure |= closures[highest]
            remaining &= ~closures[highest]
        position = np.searchsorted(below, chosen)
        own = int(sizes[label])
        closures.append(closure)
        links.append(tuple(zip(queries[position].tolist(), keys[position].tolist(), strict=True)))
        digits.append(own + sum(digits[c] for c in chosen))
        if len(chosen) > 1:
            reach.append(int(sizes[_members(closure, components.count)].sum()))
        else:
            reach.append(own + sum(reach[c] for c in chosen))
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


def _bits(members: IntArray, count: int) -> int:
    """Return the integer whose set bits are `members`."""
    flags = np.zeros(count, dtype=bool)
    flags[members] = True
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def _members(bits: int, count: int) -> IntArray:
    """Return the set bits of an integer below 2^count."""
    raw = np.frombuffer(bits.to_bytes((count + 7) // 8, "little"), dtype=np.uint8)
    return np.flatnonzero(np.unpackbits(raw, bitorder="little", count=count))
