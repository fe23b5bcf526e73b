"""Receptive fields: from which layer on a token sees another, residual connections included (paper, eq. 3).

R_k^t = R_k^{t-1} united with the R_j^{t-1}, j in A_k^t, from R_k^0 = {k}: what output k can depend on after t
layers. With Assumption 1.1 these are the paper's S_k^t.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from theory.checks import flag, index, whole
from theory.hops import numpy_kernels
from theory.hops.bitsets import count_bits
from theory.hops.kernels import Stack
from theory.read_only import ReadOnly

if TYPE_CHECKING:
    import numpy.typing as npt

    from theory.patterns import Connections, IntArray, SparsityPattern

    Words = npt.NDArray[np.uint64]

__all__ = ["ReceptiveField", "first_seen_by", "receptive_field", "see_one_layer"]

SOURCES = 1024  # keys followed at once: 16 words a token
GATHERED = 2**22  # words gathered at once, so that memory stays bounded whatever the degrees


@dataclass(frozen=True, eq=False)
class ReceptiveField(ReadOnly):
    """How many tokens each token sees, layer by layer.

    Parameters
    ----------
    sizes
        Shape (layers + 1, n): entry (t, k) is |R_k^t|; row 0 is all ones.
    first_seen
        Shape (n, n): the first t with key j in R_k^t at (k, j), -1 where `layers` do not suffice; None unless
        wanted.
    """

    sizes: IntArray
    first_seen: IntArray | None

    @property
    def full_after(self) -> int | None:
        """The first layer after which every token sees every token, or None."""
        full = np.flatnonzero((self.sizes == self.sizes.shape[1]).all(axis=1))
        return int(full[0]) if full.size else None


def first_seen_by(pattern: SparsityPattern, query: int) -> IntArray:
    """Return for every key the first t with the key in R_query^t; 0 for the query itself, -1 for never.

    Time p times the connections, memory p n.

    Raises
    ------
    PatternError
        If there is no such token.

    Examples
    --------
    >>> from theory.families import ring
    >>> first_seen_by(ring(4), 0).tolist()
    [0, 3, 2, 1]
    """
    query = index(query, pattern.n)
    backwards = Stack.of([(layer.indptr, layer.keys) for layer in pattern.with_self_loops().layers])
    times: IntArray = numpy_kernels.gather(backwards, query)[0].astype(np.int64)
    return times


def receptive_field(pattern: SparsityPattern, layers: int, *, matrix: bool = False) -> ReceptiveField:
    """Follow every token through so many layers, the cycle of patterns starting with pattern 0.

    Parameters
    ----------
    layers
        At least 1.
    matrix
        Whether to keep the first-seen layer of every pair: n^2 numbers.

    Raises
    ------
    PatternError
        If `layers` < 1.

    Examples
    --------
    >>> from theory.families import ring
    >>> field = receptive_field(ring(4), 3, matrix=True)
    >>> field.sizes[:, 0].tolist(), field.full_after
    ([1, 2, 3, 4], 3)
    >>> field.first_seen[0].tolist()
    [0, 3, 2, 1]
    """
    layers = whole("a number of layers", layers, 1)
    looped, n = pattern.with_self_loops(), pattern.n
    sizes = np.zeros((layers + 1, n), dtype=np.int64)
    first = np.full((n, n), -1, dtype=np.int32) if flag("matrix", matrix) else None
    for start in range(0, n, SOURCES):
        keys = np.arange(start, min(start + SOURCES, n))
        words = np.zeros((n, -(-keys.size // 64)), dtype=np.uint64)
        words[keys, (keys - start) // 64] = np.uint64(1) << ((keys - start) % 64).astype(np.uint64)
        size, unchanged = count_bits(words, 64 * words.shape[1]), 0
        for t in range(layers + 1):
            if unchanged == pattern.p:  # no later layer adds anything
                sizes[t:] += size
                break
            if t:
                before, words = words, see_one_layer(looped.layers[(t - 1) % pattern.p], words)
                grown = count_bits(words, 64 * words.shape[1])
                unchanged = unchanged + 1 if np.array_equal(grown, size) else 0
                size = grown
                if first is not None:
                    _note(first[:, start : start + keys.size], words & ~before, t)
            sizes[t] += size
        if first is not None:
            first[keys, keys] = 0
    return ReceptiveField(sizes, first)


def _note(first: npt.NDArray[np.int32], fresh: Words, layer: int) -> None:
    bits = np.unpackbits(fresh.view(np.uint8), axis=1, bitorder="little", count=first.shape[1])
    first[bits == 1] = layer


def see_one_layer(layer: Connections, words: Words) -> Words:
    """OR the words of the keys of every query, in runs of rows whose gathered words fit the budget."""
    after = np.empty_like(words)
    budget = max(1, GATHERED // words.shape[1])
    begin = 0
    while begin < layer.n:
        end = int(np.searchsorted(layer.indptr, layer.indptr[begin] + budget, side="right")) - 1
        end = max(end, begin + 1)
        low, high = layer.indptr[begin], layer.indptr[end]
        np.bitwise_or.reduceat(
            words[layer.keys[low:high]], layer.indptr[begin:end] - low, axis=0, out=after[begin:end]
        )
        begin = end
    return after
