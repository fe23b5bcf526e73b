"""A Hamiltonian path visits the strong components one after another, so they must form a chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.graph import Components, reach_of
from theory.hamiltonian.refutations import Incomparable

if TYPE_CHECKING:
    from theory.patterns import Connections

__all__ = ["broken_chain"]


def broken_chain(union: Connections, components: Components) -> Incomparable | None:
    """Return two tokens that do not reach each other, or None if each component has an edge to the next.

    Components c and c + 1, neighbours in topological order, without an edge from c to c + 1: every path from c
    would have to pass a component between them, so no token of either reaches the other.

    Examples
    --------
    >>> from theory.graph import strong_components
    >>> from theory.patterns import SparsityPattern
    >>> union = SparsityPattern.from_lists([[0], [0, 1], [0, 2]]).union
    >>> broken_chain(union, strong_components(union)).to_json()
    {'kind': 'incomparable', 'a': 1, 'b': 2, 'closed_a': [0, 1], 'closed_b': [0, 2]}
    """
    lower, upper = components.labels[union.keys], components.labels[union.queries]
    linked = np.zeros(components.count - 1, dtype=bool)
    linked[lower[upper == lower + 1]] = True
    gaps = np.flatnonzero(~linked)
    if not gaps.size:
        return None
    a, b = (int(np.flatnonzero(components.labels == gaps[0] + side)[0]) for side in (0, 1))
    return Incomparable(a, b, *(np.flatnonzero(reach_of(union, token)) for token in (a, b)))
