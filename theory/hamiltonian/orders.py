"""Orders that are Hamiltonian paths of most patterns in use, tried before any search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.hamiltonian.digraph import joining_patterns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from theory.patterns import Connections, IntArray, SparsityPattern

__all__ = ["bandwidth_order", "natural_orders", "serpentine"]


def natural_orders(pattern: SparsityPattern) -> Iterator[tuple[str, IntArray]]:
    """Yield the tokens as they are numbered, in reverse, and row by row with every second row reversed.

    The rows are the runs in which every token attends to the one before it: in patterns of images, whose last
    token of a row does not see the first of the next, the serpentine is often a path.
    """
    forward = np.arange(pattern.n)
    yield "natural order", forward
    yield "reverse order", forward[::-1]
    joined = joining_patterns(pattern, forward) >= 0
    if not joined.all():
        yield "serpentine order", serpentine(np.flatnonzero(~joined) + 1, pattern.n)


def serpentine(starts: IntArray, n: int) -> IntArray:
    """Return 0..n-1 with every second run reversed; the runs after the first begin at `starts`.

    Examples
    --------
    >>> serpentine(np.array([3, 6]), 9).tolist()
    [0, 1, 2, 5, 4, 3, 6, 7, 8]
    """
    bounds = np.concatenate(([0], starts, [n]))
    run = np.repeat(np.arange(starts.size + 1), np.diff(bounds))
    tokens = np.arange(n)
    return np.where(run % 2 == 0, tokens, bounds[run] + bounds[run + 1] - 1 - tokens)


def bandwidth_order(graph: Connections) -> IntArray:
    """Return the reverse Cuthill-McKee order of an undirected graph, which undoes the relabelling of a window."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    order: IntArray = reverse_cuthill_mckee(graph.matrix(), symmetric_mode=True)
    return order
