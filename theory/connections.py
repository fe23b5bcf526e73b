"""Connections: one pattern A^l in CSR form, the keys of every query (paper, §3.1).

Orientation, said once: rows are queries. ``row(k)`` holds A_k, the keys that token k attends to; the digraph's
edge is key -> query. Tokens count from 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from theory.checks import PatternError, check_tokens, index, whole, wholes
from theory.read_only import read_only

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csr_array

__all__ = ["MAX_TOKENS", "Connections", "IntArray", "PatternError", "distinct"]

IntArray = npt.NDArray[np.integer]
MAX_TOKENS = 2**31 - 1
SLICE = 2**20  # keys handled at once where a whole-array temporary would double the memory
ALL_ROWS = 16  # steps up to which the bisection takes all rows at once
FEW = 8  # candidate hubs up to which one pass over the keys for each beats counting all keys


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


def distinct(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the distinct numbers, sorted; far faster than `numpy.unique`, which hashes integers."""
    if np.all(numbers[1:] > numbers[:-1]):
        return numbers
    ordered = np.sort(numbers)
    return ordered[np.concatenate(([True], ordered[1:] != ordered[:-1]))]


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
            If n < 1, the arrays differ in length, or a token is no integer in [0, n).

        Examples
        --------
        >>> Connections.from_pairs(2, [1, 0, 1, 1], [1, 0, 0, 0]).row(1).tolist()
        [0, 1]
        """
        if not 1 <= whole("n", n) <= MAX_TOKENS:
            raise PatternError(f"a pattern needs between 1 and {MAX_TOKENS} tokens, got {n}")
        query_array, key_array = wholes("a query", queries), wholes("a key", keys)
        if query_array.size != key_array.size:
            raise PatternError(f"{query_array.size} queries for {key_array.size} keys: give them in pairs")
        check_tokens("query", query_array, n)
        check_tokens("key", key_array, n)
        flat = distinct(query_array * n + key_array)
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

    def __getstate__(self) -> dict[str, Any]:
        return {"indptr": self.indptr, "keys": self.keys}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Check and freeze the arrays of a copy or pickle, as the constructor does."""
        for name in ("indptr", "keys"):
            object.__setattr__(self, name, state[name])
        self.__post_init__()

    def row(self, query: int) -> IntArray:
        """A_k: the sorted keys of one query.

        Raises
        ------
        PatternError
            If there is no such token.
        """
        try:  # searches ask for rows by the million: a wrong token shows without a check of its own
            if query >= 0:
                return self.keys[self.indptr[query] : self.indptr[query + 1]]
        except (IndexError, TypeError):
            pass
        return self.row(index(query, self.n))

    @property
    def key_counts(self) -> IntArray:
        """For every key, the number of queries that attend to it; counted in slices, so memory stays O(n)."""
        counts = np.zeros(self.n, dtype=np.int64)
        for _, keys in self.slices():
            counts += np.bincount(keys, minlength=self.n)
        return counts

    @cached_property
    def hubs(self) -> IntArray:
        """The tokens that attend to every other token and are attended to by every other, sorted.

        Such a token is the centre of the star subgraph of BigBird's theorem.

        Examples
        --------
        >>> Connections.from_pairs(3, [0, 0, 1, 2, 2], [0, 2, 2, 0, 1]).hubs.tolist()
        [2]
        """
        candidates = np.flatnonzero(self.degrees >= self.n - 1)
        own = self.contains(candidates, candidates)
        seen_by: IntArray
        if candidates.size <= FEW:
            seen_by = np.array([np.count_nonzero(self.keys == token) for token in candidates], dtype=np.int64)
        else:
            seen_by = self.key_counts[candidates]
        joined = np.minimum(self.degrees[candidates], seen_by) - own
        return read_only(candidates[joined >= self.n - 1])

    @property
    def hub(self) -> int | None:
        """The first of the hubs, or None."""
        return int(self.hubs[0]) if self.hubs.size else None

    def slices(self) -> Iterator[tuple[IntArray, IntArray]]:
        """Iterate all connections as (queries, keys) in slices, so that temporaries stay small."""
        for start in range(0, self.count, SLICE):
            stop = min(start + SLICE, self.count)
            first = int(np.searchsorted(self.indptr, start, side="right")) - 1
            last = int(np.searchsorted(self.indptr, stop, side="left"))
            edges = np.clip(self.indptr[first : last + 1], start, stop)
            yield np.repeat(np.arange(first, last, dtype=np.int32), edges[1:] - edges[:-1]), self.keys[start:stop]

    @cached_property
    def self_attending(self) -> npt.NDArray[np.bool_]:
        """Whether each token attends to itself."""
        found = np.zeros(self.n, dtype=bool)
        for queries, keys in self.slices():
            found[queries[queries == keys]] = True
        return read_only(found)

    @property
    def is_lower_triangular(self) -> bool:
        """Whether no key comes after its query."""
        nonempty = np.flatnonzero(self.degrees)
        return bool(np.all(self.keys[self.indptr[nonempty + 1] - 1] <= nonempty))

    def contains(self, queries: IntArray, keys: IntArray) -> npt.NDArray[np.bool_]:
        """Return, pair by pair, whether the key is in A_query: bisection of the sorted rows, all pairs at once.

        Raises
        ------
        PatternError
            If a token lies outside [0, n).

        Examples
        --------
        >>> some = Connections.from_pairs(3, [0, 1, 1], [0, 0, 2])
        >>> some.contains(np.array([0, 1, 1]), np.array([1, 1, 2])).tolist()
        [False, False, True]
        """
        for name, tokens in (("query", queries), ("key", keys)):
            if tokens.size and not (tokens.min() >= 0 and tokens.max() < self.n):
                check_tokens(name, tokens, self.n)
        places: type[np.integer] = np.int32 if self.count < 2**30 else np.int64
        low: IntArray = self.indptr[queries].astype(places)
        end: IntArray = self.indptr[queries + 1].astype(places)
        size = end - low
        longest = int(size.max(initial=0))
        if not longest:
            return np.zeros(size.shape, dtype=bool)
        step = 1 << (longest.bit_length() - 1)
        while step:  # move `low` past the smaller keys by powers of two; the long steps concern few rows only
            chosen = np.flatnonzero(size >= step) if step > ALL_ROWS else slice(None)
            probe = low[chosen] + places(step - 1)
            smaller = self.keys.take(probe, mode="clip") < keys[chosen]
            smaller &= probe < end[chosen]
            low[chosen] += smaller * places(step)
            step >>= 1
        return np.asarray((self.keys.take(low, mode="clip") == keys) & (low < end))

    @cached_property
    def transposed(self) -> Connections:
        """The reverse pattern: row j lists the queries that attend to key j. Linear time, kept."""
        columns = self.matrix(np.int8).tocsc()
        return Connections(columns.indptr, columns.indices)

    def matrix(self, dtype: type[np.generic] = np.float64) -> csr_array[Any]:
        """Return the SciPy matrix with a one at (query, key); it shares the index arrays."""
        from scipy.sparse import csr_array

        fits = self.count <= np.iinfo(np.int32).max
        starts = self.indptr.astype(np.int32) if fits else self.indptr
        return csr_array((np.ones(self.count, dtype=dtype), self.keys, starts), shape=(self.n, self.n))
