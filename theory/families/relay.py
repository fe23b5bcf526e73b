"""Patterns around one relay token, the last: Star (Star-Transformer, Guo et al. 2019) and the bare hub."""

from __future__ import annotations

import numpy as np

from theory.families.rows import admit, merged, whole
from theory.patterns import SparsityPattern

__all__ = ["hub", "star"]


def star(n: int, w: int) -> SparsityPattern:
    r"""Star pattern (paper, eq. 6), p = 1, relay token n.

    .. math::

        A_k = \{n\} \cup \{((i-1) \bmod (n-1)) + 1 : |i - k| \le w\} \quad (k < n), \qquad A_n = [n].

    The window closes to a ring: with w >= 1 the first token attends to the last one before the relay.

    Raises
    ------
    PatternError
        If n < 1, w < 0, or the connections would not fit.

    Examples
    --------
    >>> star(5, w=1).to_lists()[0]
    [[0, 1, 3, 4], [0, 1, 2, 4], [1, 2, 3, 4], [0, 2, 3, 4], [0, 1, 2, 3, 4]]
    """
    n, w = whole("n", n, 1), whole("w", w)
    spokes = n - 1
    width = min(2 * w + 1, spokes)  # the window closes on itself once it is as long as the ring
    admit(n, spokes * (width + 1) + n)
    token = np.arange(spokes, dtype=np.int32)
    candidates = np.empty((spokes, width + 1), dtype=np.int32)
    if spokes:
        start = 0 if width == spokes else -w
        candidates[:, :-1] = (token[:, None] + np.arange(start, start + width, dtype=np.int32)) % spokes
    candidates[:, -1] = n - 1
    return SparsityPattern((merged(n, candidates, full=np.array([n - 1])),))


def hub(n: int) -> SparsityPattern:
    """Bare star graph (BigBird): A_k = {k, n} for k < n, A_n = [n]; p = 1. Star with w = 0.

    Raises
    ------
    PatternError
        If n < 1, or the connections would not fit.

    Examples
    --------
    >>> hub(4).to_lists()[0]
    [[0, 3], [1, 3], [2, 3], [0, 1, 2, 3]]
    """
    return star(n, w=0)
