"""Sparsity patterns: which keys every token attends to, layer by layer (paper, §3.1).

Orientation, said once: rows are queries. ``layers[l].row(k)`` holds A_k^l, the keys that token k
attends to in pattern l; the digraph's edge is key -> query. Tokens and patterns count from 0.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Connections", "PatternError", "SparsityPattern"]

IntArray = npt.NDArray[np.integer]
MAX_TOKENS = 2**31 - 1
SLICE = 2**20  # keys handled at once where a whole-array temporary would double the memory


class PatternError(ValueError):
    """The input is not a sparsity pattern; the message names the culprit and the remedy."""


def _frozen(array: npt.ArrayLike, dtype: type[np.integer], what: str) -> IntArray:
    """Return `array` as a read-only integer array that nobody else can write to."""
    given = np.asarray(array)
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise PatternError(f"{what} must be a flat integer array, got {given.dtype} of shape {given.shape}")
    if given.size and (given.max() > np.iinfo(dtype).max or given.min() < np.iinfo(dtype).min):
        raise PatternError(f"{what} holds a number outside {np.dtype(dtype).name}: a token index out of range")
    own = given.astype(dtype, copy=given.flags.writeable or given.base is not None)
    own.flags.writeable = False
    return own


@dataclass(frozen=True, eq=False, repr=False)
class Connections:
    """One pattern A^l in CSR form: the keys of query k are ``keys[indptr[k]:indptr[k + 1]]``.

    Parameters
    ----------
    indptr
        n + 1 row starts (int64).
    keys
        Key tokens (int32), strictly increasing inside every row.

    Raises
    ------
    PatternError
        If the row starts do not fit the keys, or a row is unsorted, repeats a key, or leaves [0, n).
    """

    indptr: IntArray
    keys: IntArray

    def __post_init__(self) -> None:
        indptr = _frozen(self.indptr, np.int64, "indptr")
        keys = _frozen(self.keys, np.int32, "keys")
        object.__setattr__(self, "indptr", indptr)
        object.__setattr__(self, "keys", keys)
        n = indptr.size - 1
        if not 1 <= n <= MAX_TOKENS:
            raise PatternError(f"a pattern needs between 1 and {MAX_TOKENS} tokens, got {max(n, 0)}")
        if indptr[0] != 0 or indptr[-1] != keys.size or np.any(indptr[1:] < indptr[:-1]):
            raise PatternError("indptr must rise from 0 to the number of keys, one entry a token and one more")
        if keys.size == 0:
            return
        outside = np.flatnonzero((keys < 0) | (keys >= n))
        if outside.size:
            query = int(np.searchsorted(indptr, outside[0], side="right")) - 1
            raise PatternError(f"token {query} attends to key {keys[outside[0]]}, outside 0..{n - 1}")
        falls = np.flatnonzero(keys[1:] <= keys[:-1]) + 1
        starts = np.zeros(keys.size + 1, dtype=bool)
        starts[indptr] = True
        bad = falls[~starts[falls]]
        if bad.size:
            query = int(np.searchsorted(indptr, bad[0], side="right")) - 1
            raise PatternError(f"the keys of token {query} are unsorted or repeated at key {keys[bad[0]]}")

    @classmethod
    def from_pairs(cls, n: int, queries: npt.ArrayLike, keys: npt.ArrayLike) -> Connections:
        """Build from (query, key) pairs in any order; repeated pairs count once.

        Raises
        ------
        PatternError
            If n < 1, the arrays differ in length, or a token lies outside [0, n).

        Examples
        --------
        >>> Connections.from_pairs(2, [1, 0, 1, 1], [1, 0, 0, 0]).row(1).tolist()
        [0, 1]
        """
        if not 1 <= n <= MAX_TOKENS:
            raise PatternError(f"a pattern needs between 1 and {MAX_TOKENS} tokens, got {n}")
        query_array, key_array = (np.asarray(a, dtype=np.int64).ravel() for a in (queries, keys))
        if query_array.size != key_array.size:
            raise PatternError(f"{query_array.size} queries for {key_array.size} keys: give them in pairs")
        for name, array in (("query", query_array), ("key", key_array)):
            outside = np.flatnonzero((array < 0) | (array >= n))
            if outside.size:
                raise PatternError(f"{name} {array[outside[0]]} lies outside 0..{n - 1}")
        flat = query_array * n + key_array
        if np.any(flat[1:] <= flat[:-1]):
            flat = np.unique(flat)
        counts = np.bincount(flat // n, minlength=n)
        return cls(np.concatenate(([0], np.cumsum(counts))), (flat % n).astype(np.int32))

    @property
    def n(self) -> int:
        """Number of tokens."""
        return int(self.indptr.size - 1)

    @property
    def count(self) -> int:
        """Number of connections (query, key)."""
        return int(self.keys.size)

    @property
    def degrees(self) -> IntArray:
        """|A_k| for every query k."""
        return np.diff(self.indptr)

    @property
    def queries(self) -> IntArray:
        """The query of every entry of `keys` (int32, as long as `keys`)."""
        return np.repeat(np.arange(self.n, dtype=np.int32), self.degrees)

    def row(self, query: int) -> IntArray:
        """A_k: the sorted keys of one query."""
        return self.keys[self.indptr[query] : self.indptr[query + 1]]

    @property
    def key_counts(self) -> IntArray:
        """For every key, the number of queries that attend to it; counted in slices, so memory stays O(n)."""
        counts = np.zeros(self.n, dtype=np.int64)
        for start in range(0, self.count, SLICE):
            counts += np.bincount(self.keys[start : start + SLICE], minlength=self.n)
        return counts

    @property
    def is_lower_triangular(self) -> bool:
        """Whether no key comes after its query."""
        nonempty = np.flatnonzero(self.degrees)
        return bool(np.all(self.keys[self.indptr[nonempty + 1] - 1] <= nonempty))

    def contains(self, queries: IntArray, keys: IntArray) -> npt.NDArray[np.bool_]:
        """Return, pair by pair, whether the key is in A_query: bisection of the sorted rows, all pairs at once.

        Examples
        --------
        >>> some = Connections.from_pairs(3, [0, 1, 1], [0, 0, 2])
        >>> some.contains(np.array([0, 1, 1]), np.array([1, 1, 2])).tolist()
        [False, False, True]
        """
        low, end = self.indptr[queries], self.indptr[queries + 1]
        high = end.copy()
        active = np.flatnonzero(low < high)
        while active.size:
            middle = (low[active] + high[active]) // 2
            short = self.keys[middle] < keys[active]
            low[active[short]] = middle[short] + 1
            high[active[~short]] = middle[~short]
            active = active[low[active] < high[active]]
        found = low < end
        found[found] = self.keys[low[found]] == keys[found]
        return found

    @cached_property
    def transposed(self) -> Connections:
        """The reverse pattern: row j lists the queries that attend to key j. Linear time, kept."""
        from scipy.sparse import csr_array

        shape = (self.n, self.n)
        columns = csr_array((np.ones(self.count, dtype=np.int8), self.keys, self.indptr), shape=shape).tocsc()
        return Connections(columns.indptr, columns.indices)


@dataclass(frozen=True, eq=False, repr=False)
class SparsityPattern:
    """The p sparsity patterns A^1..A^p of a sparse Transformer; block number t uses pattern t mod p (from 0).

    Immutable, checked on construction, memory proportional to the connections.

    Parameters
    ----------
    layers
        The p patterns, all of the same n.

    Raises
    ------
    PatternError
        If there is no layer, or the layers differ in n.

    Examples
    --------
    >>> ring = SparsityPattern.from_lists([[0, 2], [0, 1], [1, 2]])
    >>> ring
    SparsityPattern(n=3, p=1, connections=6, density=66.7%)
    >>> ring.keys(query=1).tolist()
    [0, 1]
    >>> ring == SparsityPattern.from_lists([[0, 2], [0, 1], [1, 2]])
    True
    """

    layers: tuple[Connections, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        if not self.layers:
            raise PatternError("a sparsity pattern needs at least one layer, got none")
        sizes = [layer.n for layer in self.layers]
        for number, size in enumerate(sizes):
            if size != sizes[0]:
                raise PatternError(f"pattern {number} has {size} tokens, pattern 0 has {sizes[0]}: make all equal")

    @classmethod
    def from_lists(cls, *attends: Sequence[Sequence[int]]) -> SparsityPattern:
        """Build from nested lists, one a pattern: ``attends[k]`` lists the keys of token k, in any order.

        Raises
        ------
        PatternError
            If the lists differ in length, or a key is no integer in [0, n).
        """
        return cls(tuple(_layer_from_lists(rows, number) for number, rows in enumerate(attends)))

    def to_lists(self) -> list[list[list[int]]]:
        """Return ``attends[pattern][query]``: nested lists of keys."""
        return [[layer.row(k).tolist() for k in range(self.n)] for layer in self.layers]

    @property
    def n(self) -> int:
        """Number of tokens."""
        return self.layers[0].n

    @property
    def p(self) -> int:
        """Number of patterns in the cycle."""
        return len(self.layers)

    @property
    def connections(self) -> int:
        """Number of connections of all p patterns together."""
        return sum(layer.count for layer in self.layers)

    @property
    def density(self) -> float:
        """Connections divided by p n^2, those of p dense patterns."""
        return self.connections / (self.p * self.n**2)

    def keys(self, query: int, layer: int = 0) -> IntArray:
        """A_k^l: the sorted keys of one query in one pattern."""
        if not (0 <= query < self.n and 0 <= layer < self.p):
            raise PatternError(
                f"no token {query} in pattern {layer}: tokens are 0..{self.n - 1}, patterns 0..{self.p - 1}"
            )
        return self.layers[layer].row(query)

    def attends(self, query: int, key: int, layer: int = 0) -> bool:
        """Return whether key is in A_query^layer."""
        row = self.keys(query, layer)
        return bool(np.isin(key, row))

    @cached_property
    def union(self) -> Connections:
        """The union of all patterns: key j of query k when j is in A_k^l for some l (paper, Assumption 1.2)."""
        if self.p == 1:
            return self.layers[0]
        flat = np.concatenate([layer.queries.astype(np.int64) * self.n + layer.keys for layer in self.layers])
        flat = np.unique(flat)
        return Connections.from_pairs(self.n, flat // self.n, flat % self.n)

    def unite(self) -> SparsityPattern:
        """Return the Union head configuration (paper, §5): one pattern, every connection of all p."""
        return SparsityPattern((self.union,))

    def with_self_loops(self) -> SparsityPattern:
        """Add the missing self-loops: what one layer with its residual connection lets a token see."""
        tokens = np.arange(self.n)
        if all(layer.contains(tokens, tokens).all() for layer in self.layers):
            return self
        pairs = [(np.append(layer.queries, tokens), np.append(layer.keys, tokens)) for layer in self.layers]
        return SparsityPattern(tuple(Connections.from_pairs(self.n, *pair) for pair in pairs))

    def rotate(self, steps: int) -> SparsityPattern:
        """Return the cycle started `steps` patterns later."""
        turn = steps % self.p
        return SparsityPattern(self.layers[turn:] + self.layers[:turn])

    def relabel(self, order: npt.ArrayLike) -> SparsityPattern:
        """Rename the tokens: new token i is old token ``order[i]``.

        Raises
        ------
        PatternError
            If `order` is not a permutation of 0..n-1.
        """
        old = np.asarray(order)
        if old.shape != (self.n,) or not np.array_equal(np.sort(old), np.arange(self.n)):
            raise PatternError(f"relabel needs a permutation of 0..{self.n - 1}")
        new = np.empty(self.n, dtype=np.int64)
        new[old] = np.arange(self.n)
        return SparsityPattern(
            tuple(Connections.from_pairs(self.n, new[layer.queries], new[layer.keys]) for layer in self.layers)
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 of n, p and every connection; equal patterns, and only they, have equal digests."""
        seal = hashlib.sha256(f"sparsity pattern n={self.n} p={self.p}".encode())
        for layer in self.layers:
            seal.update(layer.indptr.astype("<i8").tobytes())
            seal.update(layer.keys.astype("<i4").tobytes())
        return seal.hexdigest()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SparsityPattern):
            return NotImplemented
        return self.p == other.p and all(
            np.array_equal(a.indptr, b.indptr) and np.array_equal(a.keys, b.keys)
            for a, b in zip(self.layers, other.layers, strict=True)
        )

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return (
            f"SparsityPattern(n={self.n}, p={self.p}, connections={self.connections}, "
            f"density={100 * self.density:.3g}%)"
        )


def _layer_from_lists(rows: Sequence[Sequence[int]], number: int) -> Connections:
    """Build one pattern from its key lists, naming the pattern and the token in any error."""
    if isinstance(rows, str) or not hasattr(rows, "__len__"):
        raise PatternError(f"pattern {number} must be a list of key lists, got {type(rows).__name__}")
    sorted_rows: list[list[int]] = []
    for query, row in enumerate(rows):
        if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
            raise PatternError(f"pattern {number}, token {query}: expected a list of keys, got {row!r}")
        for key in row:
            if isinstance(key, (bool, np.bool_)) or not isinstance(key, (int, np.integer)):
                raise PatternError(f"pattern {number}, token {query}: key {key!r} is not an integer")
            if not 0 <= key < len(rows):
                raise PatternError(f"pattern {number}, token {query}: key {key} lies outside 0..{len(rows) - 1}")
        sorted_rows.append(sorted({int(key) for key in row}))
    lengths = [len(row) for row in sorted_rows]
    keys = [key for row in sorted_rows for key in row]
    return Connections(np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))), np.array(keys, dtype=np.int32))
