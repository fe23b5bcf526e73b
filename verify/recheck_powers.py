"""The smallest s of Assumption 1.3 by its definition, on all n^2 pairs at once: for small n, or a known bound.

With A^l also the boolean matrix of pattern l (a row per query), S^t is M_t = A^(l_t) ... A^(l_1), and s is the
smallest t with M_t full.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from theory.patterns import Connections, SparsityPattern

    Words = npt.NDArray[np.uint64]
    Matrix = npt.NDArray[np.bool_]

__all__ = ["MOST_WORK", "first_full", "smallest_hops"]

MOST_WORK = 2**30  # machine words joined at most by `first_full`: some seconds
GATHERED = 2**21  # words gathered at once


def first_full(pattern: SparsityPattern, most: int, work: int = MOST_WORK) -> int | None:
    """Return the smallest t <= most with M_t full, None if there is none; 64 pairs a machine word.

    Raises
    ------
    OverflowError
        If that takes more than `work` words joined; memory stays within n^2 / 4 bytes and a constant.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> first_full(SparsityPattern.from_lists([[0, 3], [0, 1], [1, 2], [2, 3]]), most=9)
    3
    """
    n, width = pattern.n, -(-pattern.n // 64)
    full = np.full(width, ~np.uint64(0))
    full[-1] >>= np.uint64(-n % 64)
    tokens = np.arange(n)
    seen = np.zeros((n, width), dtype=np.uint64)
    seen[tokens, tokens // 64] = np.uint64(1) << (tokens % 64).astype(np.uint64)
    for t in range(1, most + 1):
        layer = pattern.layers[(t - 1) % pattern.p]
        work -= (layer.count + n) * width
        if work < 0:
            raise OverflowError(f"more than {t - 1} layers of {n} tokens")
        seen = _through(layer, seen)
        if np.all(seen == full):
            return t
    return None


def _through(layer: Connections, seen: Words) -> Words:
    """Return the union of the rows of `seen` over the keys of every query."""
    after = np.zeros_like(seen)
    most, start = GATHERED // seen.shape[1], 0
    while start < layer.n:
        first = layer.indptr[start]
        stop = max(start + 1, int(np.searchsorted(layer.indptr, first + most, side="right")) - 1)
        filled = start + np.flatnonzero(layer.degrees[start:stop])
        if filled.size:
            rows = seen[layer.keys[first : layer.indptr[stop]]]
            after[filled] = np.bitwise_or.reduceat(rows, layer.indptr[filled] - first, axis=0)
        start = stop
    return after


def smallest_hops(pattern: SparsityPattern) -> int | None:
    """Return s, or None if no M_t is full, without 1.1 and however large s is; for n of a few dozen.

    With P = M_p and t = q p + r, r < p: M_t = M_r P^q. If P has an empty column, so has M_r P^q for every
    q >= 1, and only t < p can be full. Otherwise M_r P^q full makes M_r P^(q+1) full; and because the powers of a
    boolean matrix repeat from exponent (n-1)^2 + 1 on at the latest, that q is reached by then if ever: bisection.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> smallest_hops(SparsityPattern.from_lists([[2, 3], [0], [1], [2]]))
    10
    >>> smallest_hops(SparsityPattern.from_lists([[1], [0]])) is None
    True
    """
    n, p = pattern.n, pattern.p
    product = np.eye(n, dtype=bool)
    for t in range(1, p + 1):
        product = _times(_matrix(pattern.layers[t - 1]), product)
        if product.all():
            return t
    if not product.any(axis=0).all():
        return None
    powers = [product]
    while 2 ** len(powers) <= (n - 1) ** 2:
        powers.append(_times(powers[-1], powers[-1]))
    found: list[int] = []
    start = np.eye(n, dtype=bool)
    for r in range(p):
        now, q = start, 0  # the largest q with M_r P^q not full
        for exponent in reversed(range(len(powers))):
            further = _times(now, powers[exponent])
            if not further.all():
                now, q = further, q + 2**exponent
        if _times(now, product).all():
            found.append((q + 1) * p + r)
        start = _times(_matrix(pattern.layers[r]), start)
    return min(found, default=None)


def _matrix(layer: Connections) -> Matrix:
    dense = np.zeros((layer.n, layer.n), dtype=bool)
    dense[layer.queries, layer.keys] = True
    return dense


def _times(a: Matrix, b: Matrix) -> Matrix:
    product: Matrix = (a.astype(np.float32) @ b.astype(np.float32)) > 0  # sums of at most n ones: exact
    return product
