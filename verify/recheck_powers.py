"""The smallest s of Assumption 1.3 by its definition, on all n^2 pairs: for small n, or a known bound.

With A^l also the boolean matrix of pattern l (a row per query), S^t is M_t = A^(l_t) ... A^(l_1), and s is the
smallest t with M_t full. `first_full` forms M_1, M_2, ... in blocks of columns, 64 pairs a machine word;
`smallest_hops` multiplies matrices, which also finds an s that is far larger than n.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from theory.patterns import Connections, IntArray, SparsityPattern

    Words = npt.NDArray[np.uint64]
    Matrix = npt.NDArray[np.bool_]

__all__ = ["MOST_PRODUCTS", "MOST_WORK", "Filled", "first_full", "product_work", "smallest_hops"]

MOST_WORK = 2**32  # machine words joined at most by `first_full`: about ten seconds
STEP_WORK = 2**12  # what one step costs besides, in words
COLUMNS = 1024  # keys followed at a time: 128 bytes a token
MOST_PRODUCTS = 2**36  # products of numbers in `smallest_hops`, at most: about a second
FEW = 64  # rows longer than all but so many others are joined one by one


@dataclass(frozen=True)
class Filled:
    """The smallest t with M_t full, or None and a pair (query, key) that the last M_t asked about lacks."""

    t: int | None
    unseen: tuple[int, int] | None


def first_full(pattern: SparsityPattern, most: int, *, grows: bool, work: int = MOST_WORK) -> Filled:
    """Find the smallest t <= most with M_t full.

    Parameters
    ----------
    grows
        Whether 1.1 holds, so that M_t, once full, stays full.

    Raises
    ------
    OverflowError
        If that takes more than `work` words joined. Memory is some 600 bytes a token, beside the connections.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> ring = SparsityPattern.from_lists([[0, 3], [0, 1], [1, 2], [2, 3]])
    >>> first_full(ring, most=9, grows=True)
    Filled(t=3, unseen=None)
    >>> first_full(ring, most=2, grows=True)
    Filled(t=None, unseen=(0, 1))
    """
    n, p = pattern.n, pattern.p
    if grows:
        most = min(most, p * n)  # by then a set that can grow is full
    if most * STEP_WORK > work or n * n // 64 > work:
        raise OverflowError(f"{most} layers of {n} tokens")
    layers = [_Unions.of(layer) for layer in pattern.layers]
    full = np.ones(most + 1, dtype=bool)  # entry t: whether every block so far is full after t layers
    full[0] = False
    unseen = None
    for first in range(0, n, COLUMNS):
        keys = np.arange(first, min(first + COLUMNS, n))
        place = keys - first
        seen = np.zeros((n, -(-keys.size // 64)), dtype=np.uint64)
        seen[keys, place // 64] = np.uint64(1) << (place % 64).astype(np.uint64)
        whole = np.bitwise_or.reduce(seen, axis=0)
        for t in range(1, most + 1):
            layer = layers[(t - 1) % p]
            work -= layer.work(whole.size)
            if work < 0:
                raise OverflowError(f"given up at layer {t} for the keys {first}..{keys[-1]} of {n} tokens")
            seen = layer.through(seen)
            if np.array_equal(np.bitwise_and.reduce(seen, axis=0), whole):
                if grows:
                    full[:t] = False
                    break
            else:
                full[t] = False
                if t == most and unseen is None:
                    unseen = _missing(seen, whole, first)
        if not full.any() and unseen is not None:
            break
    found = np.flatnonzero(full)
    return Filled(int(found[0]), None) if found.size else Filled(None, unseen)


def _missing(seen: Words, whole: Words, first: int) -> tuple[int, int]:
    """Return a query and a key of the block that it does not see."""
    query = int(np.flatnonzero((seen != whole).any(axis=1))[0])
    word = int(np.flatnonzero(seen[query] != whole)[0])
    lacking = int(whole[word]) & ~int(seen[query, word])
    return query, first + 64 * word + (lacking & -lacking).bit_length() - 1


@dataclass(frozen=True, eq=False)
class _Unions:
    """The unions that form the rows of one layer: equal rows once, a row's own token aside where that saves work.

    Parameters
    ----------
    indptr, keys
        The distinct rows, longest first.
    row_of
        The distinct row of every query.
    own
        The queries whose own token is to be added, beyond their distinct row.
    """

    indptr: IntArray
    keys: IntArray
    row_of: IntArray
    own: IntArray

    @classmethod
    def of(cls, layer: Connections) -> _Unions:
        plain = cls._distinct(layer.indptr, layer.keys, np.zeros(0, dtype=np.int64))
        others = layer.keys != layer.queries
        apart = np.concatenate(([0], np.cumsum(np.bincount(layer.queries[others], minlength=layer.n))))
        split = cls._distinct(apart, layer.keys[others], layer.queries[~others])
        return split if split.keys.size < plain.keys.size else plain

    @classmethod
    def _distinct(cls, indptr: IntArray, keys: IntArray, own: IntArray) -> _Unions:
        number: dict[bytes, int] = {}
        ends = indptr.tolist()
        row_of = np.array(
            [number.setdefault(keys[start:stop].tobytes(), len(number)) for start, stop in pairwise(ends)]
        )
        first = np.unique(row_of, return_index=True)[1]
        lengths = np.diff(indptr)[first]
        order = np.argsort(-lengths, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(order.size)
        rows = [keys[indptr[query] : indptr[query + 1]] for query in first[order].tolist()]
        return cls(np.concatenate(([0], np.cumsum(lengths[order]))), np.concatenate(rows), place[row_of], own)

    @property
    def steps(self) -> int:
        """The position up to which more than `FEW` rows have an entry."""
        lengths = np.diff(self.indptr)
        return int(lengths[FEW]) if lengths.size > FEW else 0

    def work(self, words: int) -> int:
        """Return what `through` costs, in words joined."""
        return (self.keys.size + 2 * self.row_of.size) * words + STEP_WORK * (
            1 + min(FEW, self.indptr.size - 1) + self.steps
        )

    def through(self, seen: Words) -> Words:
        """Return the union of the rows of `seen` over the keys of every query."""
        starts, lengths, steps = self.indptr[:-1], np.diff(self.indptr), self.steps
        joined = np.zeros((starts.size, seen.shape[1]), dtype=np.uint64)
        for step in range(steps):
            count = int(np.searchsorted(-lengths, -step))  # the rows with an entry at this position
            joined[:count] |= seen[self.keys[starts[:count] + step]]
        for row in range(min(FEW, starts.size)):
            rest = self.keys[starts[row] + steps : self.indptr[row + 1]]
            joined[row] |= np.bitwise_or.reduce(seen[rest], axis=0)
        after: Words = joined[self.row_of]
        after[self.own] |= seen[self.own]
        return after


def product_work(pattern: SparsityPattern) -> int:
    """Return how many numbers `smallest_hops` multiplies at most; a product costs as if n were 64 or more."""
    n, p = pattern.n, pattern.p
    return max(n, 64) ** 3 * (p + 1) * (2 * n.bit_length() + 3)


def smallest_hops(pattern: SparsityPattern) -> int | None:
    """Return s, or None if no M_t is full, without 1.1 and however large s is; for n of some hundreds.

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
