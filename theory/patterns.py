"""Sparsity patterns: which keys every token attends to, layer by layer (paper, §3.1).

Orientation, said once: rows are queries. ``layers[l].row(k)`` holds A_k^l, the keys that token k
attends to in pattern l; the digraph's edge is key -> query. Tokens and patterns count from 0.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.checks import index, whole, wholes
from theory.connections import MAX_TOKENS, Connections, IntArray, PatternError
from theory.notebook import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

__all__ = ["MAX_TOKENS", "Connections", "IntArray", "PatternError", "SparsityPattern", "ready"]


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
        for layer in self.layers:
            if not isinstance(layer, Connections):
                raise PatternError(
                    f"a layer is made of Connections, not of {type(layer).__name__}: see from_lists"
                )
        if not self.layers:
            raise PatternError("a sparsity pattern needs at least one layer, got none")
        sizes = [layer.n for layer in self.layers]
        for number, size in enumerate(sizes):
            if size != sizes[0]:
                raise PatternError(f"pattern {number} has {size} tokens, pattern 0 has {sizes[0]}: make all equal")

    def __getstate__(self) -> dict[str, Any]:
        return {"layers": self.layers}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Check the layers of a copy or pickle, as the constructor does; a digest is computed, never carried."""
        object.__setattr__(self, "layers", state["layers"])
        self.__post_init__()

    @classmethod
    def from_lists(cls, *attends: Iterable[Iterable[int]]) -> SparsityPattern:
        """Build from nested lists, one a pattern: ``attends[k]`` lists the keys of token k, in any order.

        Rows, and the list of them, may be any iterables but text; each is read once.

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
        return self.layers[index(layer, self.p, "pattern")].row(query)

    def attends(self, query: int, key: int, layer: int = 0) -> bool:
        """Return whether key is in A_query^layer.

        Raises
        ------
        PatternError
            If there is no such token or pattern.

        Examples
        --------
        >>> SparsityPattern.from_lists([[0], [0, 1]]).attends(query=1, key=0)
        True
        """
        return index(key, self.n) in self.keys(query, layer)

    @cached_property
    def union(self) -> Connections:
        """The union of all patterns: key j of query k when j is in A_k^l for some l (paper, Assumption 1.2)."""
        if self.p == 1:
            return self.layers[0]
        together = self.layers[0].matrix(np.bool_)
        for layer in self.layers[1:]:
            together = together + layer.matrix(np.bool_)
        together.sort_indices()
        return Connections(together.indptr, together.indices)

    def unite(self) -> SparsityPattern:
        """Return the Union head configuration (paper, §5): one pattern, every connection of all p."""
        return SparsityPattern((self.union,))

    def with_self_loops(self) -> SparsityPattern:
        """Add the missing self-loops: what one layer with its residual connection lets a token see."""
        if all(layer.self_attending.all() for layer in self.layers):
            return self
        tokens = np.arange(self.n)
        pairs = [(np.append(layer.queries, tokens), np.append(layer.keys, tokens)) for layer in self.layers]
        return SparsityPattern(tuple(Connections.from_pairs(self.n, *pair) for pair in pairs))

    def rotate(self, steps: int) -> SparsityPattern:
        """Return the cycle started `steps` patterns later."""
        turn = whole("the number of steps", steps, -(2**62)) % self.p
        return SparsityPattern(self.layers[turn:] + self.layers[:turn])

    def relabel(self, order: npt.ArrayLike) -> SparsityPattern:
        """Rename the tokens: new token i is old token ``order[i]``.

        Raises
        ------
        PatternError
            If `order` is not a permutation of 0..n-1.
        """
        old = wholes("a token", order)
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

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return shown([repr(self)], self)


def ready(pattern: object) -> SparsityPattern:
    """Return a pattern as it is; what could only be read as one is refused.

    Raises
    ------
    PatternError
        If it is no SparsityPattern.

    Examples
    --------
    >>> ready("star:n=16,w=1")
    Traceback (most recent call last):
        ...
    theory.connections.PatternError: expected a SparsityPattern, got str: sparseuap.as_pattern makes one of it
    """
    if not isinstance(pattern, SparsityPattern):
        kind = type(pattern).__name__
        raise PatternError(f"expected a SparsityPattern, got {kind}: sparseuap.as_pattern makes one of it")
    return pattern


def _layer_from_lists(rows: Iterable[Iterable[int]], number: int) -> Connections:
    """Build one pattern from its key lists, naming the pattern and the token in any error."""
    if isinstance(rows, (str, bytes)) or not hasattr(rows, "__iter__"):
        raise PatternError(f"pattern {number} must be a list of key lists, got {type(rows).__name__}")
    given = [_read_row(row, number, query) for query, row in enumerate(rows)]
    for query, row in enumerate(given):
        for key in row:
            if isinstance(key, (bool, np.bool_)) or not isinstance(key, (int, np.integer)):
                raise PatternError(f"pattern {number}, token {query}: key {key!r} is not an integer")
            if not 0 <= key < len(given):
                raise PatternError(f"pattern {number}, token {query}: key {key} lies outside 0..{len(given) - 1}")
    sorted_rows = [sorted({int(key) for key in row}) for row in given]
    lengths = [len(row) for row in sorted_rows]
    keys = [key for row in sorted_rows for key in row]
    return Connections(np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))), np.array(keys, dtype=np.int32))


def _read_row(row: Iterable[int], number: int, query: int) -> list[int]:
    """Read the keys of one token once: an iterator has nothing left for a second time."""
    if isinstance(row, (str, bytes)) or not hasattr(row, "__iter__"):
        raise PatternError(f"pattern {number}, token {query}: expected a list of keys, got {row!r}")
    return list(row)
