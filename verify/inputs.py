"""Sets of quantized inputs: all K^{dn} grids, or samples that look for trouble; both in chunks of flat memory."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from constructions.cells import cell_count, cells, check_entries
from constructions.contextual_mapping import check_sizes
from constructions.numbers import ProofError
from theory.checks import whole
from theory.read_only import ReadOnly, read_only
from verify.input_set import InputSet, is_exhaustive

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from theory.patterns import IntArray
    from verify.input_set import Bools

__all__ = ["AdversarialInputs", "AllInputs", "GivenInputs", "InputSet", "fitted"]

ENTRIES = 2**18  # entries of a chunk: two megabytes, and a few times that while a mapping runs
MOST_ENTRIES = 2**26  # of all samples together, which are held in memory


@dataclass(frozen=True)
class AllInputs:
    """All K^{dn} grids in lexicographic order: entries are digits, the last one fastest.

    Examples
    --------
    >>> every = AllInputs(d=1, n=3, K=2)
    >>> every.description, [chunk.shape for chunk in every.chunks()]
    ('all 2^3 = 8 inputs', [(8, 1, 3)])
    """

    d: int
    n: int
    K: int
    entries: int | None = field(default=None, repr=False, compare=False)  # of a chunk, where not ENTRIES

    def __post_init__(self) -> None:
        check_sizes(self.d, self.K)
        whole("n", self.n, 1)

    @property
    def count(self) -> int:
        """K^{dn}."""
        return cell_count(self.d, self.n, self.K)

    @property
    def description(self) -> str:
        """What they are, in words."""
        return f"all {self.K}^{self.d * self.n} = {self.count} inputs"

    def chunks(self) -> Iterator[IntArray]:
        """Iterate the grids in order, shape (m, d, n)."""
        rows = max(1, (self.entries or ENTRIES) // (self.d * self.n))
        for start in range(0, self.count, rows):
            yield cells(self.d, self.n, self.K, start, start + rows)

    def first_on(self, reach: Bools, start: int, grids: IntArray) -> Bools:
        """Return ``first[g, k]``: in lexicographic order the first to agree has zeros outside reach(k)."""
        occupied = (grids != 0).any(axis=1)
        return np.asarray(occupied.astype(np.float32) @ (~reach).T.astype(np.float32) == 0)


class _Stored(ReadOnly):
    """Distinct grids held in memory."""

    K: int
    grids: IntArray  # (count, d, n), in the smallest dtype
    entries: int | None = None  # of a chunk, where not ENTRIES

    @property
    def d(self) -> int:
        """Embedding size."""
        return int(self.grids.shape[1])

    @property
    def n(self) -> int:
        """Number of tokens."""
        return int(self.grids.shape[2])

    @property
    def count(self) -> int:
        """Number of distinct inputs."""
        return len(self.grids)

    def chunks(self) -> Iterator[IntArray]:
        """Iterate the grids in order, shape (m, d, n)."""
        rows = max(1, (self.entries or ENTRIES) // (self.d * self.n))
        for start in range(0, self.count, rows):
            yield self.grids[start : start + rows].astype(np.int64)

    def first_on(self, reach: Bools, start: int, grids: IntArray) -> Bools:
        """Return ``first[g, k]``: no earlier input agrees with input start + g on reach(k)."""
        key = reach.tobytes()
        if key not in self._firsts:
            first = np.ones((self.count, self.n), dtype=bool)
            for row in np.unique(reach[~reach.all(axis=1)], axis=0):
                alike = np.zeros((self.count, 1), dtype=bool)
                alike[_first_rows(self.grids[:, :, row].reshape(self.count, -1), set())] = True
                first[:, (reach == row).all(axis=1)] = alike
            self._firsts[key] = first
        return self._firsts[key][start : start + len(grids)]

    @cached_property
    def _firsts(self) -> dict[bytes, Bools]:
        return {}


class GivenInputs(_Stored):
    """Grids that someone chose, duplicates removed.

    Parameters
    ----------
    grids
        Integers 0..K-1, shape (m, d, n) with m >= 1.
    K
        Grid levels, 1/delta.

    Examples
    --------
    >>> GivenInputs([[[0, 1]], [[1, 1]], [[0, 1]]], K=2).description
    '2 given inputs'
    """

    def __init__(self, grids: npt.ArrayLike, K: int) -> None:  # noqa: N803 - the paper's 1/delta
        given = np.asarray(grids)
        if given.ndim != 3 or not given.size:
            raise ProofError(f"inputs must be grids of shape (m, d, n), got shape {given.shape}")
        check_sizes(given.shape[1], K)
        self.K = K
        self.grids = read_only(_new(check_entries(given, given.shape[1], given.shape[2], K), set(), K))

    @property
    def description(self) -> str:
        """What they are, in words."""
        return f"{self.count} given inputs"


class AdversarialInputs(_Stored):
    """At most `count` distinct grids, half of them random, half made from others to be easily confused with them.

    Extremes (one column at 0 or K-1, or all), neighbours that differ from another input in one entry, another
    input's tokens in another order, all tokens equal. All K^{dn} where these are no more than `count`.

    Examples
    --------
    >>> sample = AdversarialInputs(d=2, n=8, K=4, count=1000, seed=1)
    >>> sample.count, sample.description
    (1000, '1000 of 4^16 inputs: random, neighbours, permuted tokens, equal tokens, extremes; seed 1')
    >>> bool((sample.grids == AdversarialInputs(2, 8, 4, 1000, 1).grids).all())
    True
    """

    def __init__(self, d: int, n: int, K: int, count: int, seed: int) -> None:  # noqa: N803
        check_sizes(d, K)
        if count < 1:
            raise ProofError(f"a sample needs at least one input, got {count}")
        self.K, self.seed = K, seed
        total = cell_count(d, n, K)
        if min(count, total) * d * n > MOST_ENTRIES:
            most = MOST_ENTRIES // (d * n)
            raise ProofError(
                f"{count} samples of {d * n} entries do not fit in memory: take at most {most} samples"
            )
        if total <= count:
            self.grids = read_only(_new(cells(d, n, K), set(), K))
            return
        rng = np.random.default_rng(seed)
        seen = set[bytes]()
        found = [_new(_extremes(d, n, K, max(2, count // 4)), seen, K)]
        size = count - len(seen)
        while len(seen) < count:
            found.append(_new(_draft(rng, np.concatenate(found[-3:]), size, K), seen, K))
            size = max(count - len(seen), min(count, 1024))
        self.grids = read_only(np.concatenate(found)[:count])

    @property
    def description(self) -> str:
        """What they are, in words."""
        if is_exhaustive(self):
            return AllInputs(self.d, self.n, self.K).description
        kinds = "random, neighbours, permuted tokens, equal tokens, extremes"
        return f"{self.count} of {self.K}^{self.d * self.n} inputs: {kinds}; seed {self.seed}"


def fitted(inputs: InputSet, bits: int) -> InputSet:
    """Return the same inputs in chunks that keep their size in memory when the ids have so many bits."""
    words = -(-bits // 64)
    if words <= 1 or not isinstance(inputs, (AllInputs, _Stored)):
        return inputs
    entries = max(1, ENTRIES // (words + 4))  # a Python integer takes some words more
    if isinstance(inputs, AllInputs):
        return replace(inputs, entries=entries)
    smaller = copy(inputs)
    smaller.entries = entries
    return smaller


def _new(grids: IntArray, seen: set[bytes], levels: int) -> IntArray:
    """Return the grids not in `seen`, each once and in the smallest dtype that holds 0..K-1; note them there."""
    small = np.ascontiguousarray(grids, dtype=np.min_scalar_type(levels - 1))
    return small[_first_rows(small.reshape(len(small), -1), seen)]


def _first_rows(rows: IntArray, seen: set[bytes]) -> list[int]:
    """Return the numbers of the rows whose bytes are not in `seen`, each once; note them there."""
    width = rows.shape[1] * rows.itemsize
    data = np.ascontiguousarray(rows).tobytes()
    first = []
    for number in range(len(rows)):
        row = data[number * width : (number + 1) * width]
        if row not in seen:
            seen.add(row)
            first.append(number)
    return first


def _extremes(d: int, n: int, levels: int, most: int) -> IntArray:
    """Return all 0, all K-1, and inputs with one column at the other extreme; at most `most` of these 2 n + 2."""
    columns = np.arange(min(n, most))
    one = np.zeros((columns.size, d, n), dtype=np.int64)
    one[columns, :, columns] = levels - 1
    whole = np.stack((np.zeros((d, n), dtype=np.int64), np.full((d, n), levels - 1)))
    return np.concatenate((whole, one, levels - 1 - one))[:most]


def _draft(rng: np.random.Generator, known: IntArray, size: int, levels: int) -> IntArray:
    """Return about `size` inputs, made from each other and from known ones."""
    _, d, n = known.shape
    fresh = rng.integers(levels, size=(size // 2 + 1, d, n))
    bases = np.concatenate((known, fresh))
    near, permuted = (bases[rng.integers(len(bases), size=size // 5 + 1)] for _ in range(2))
    place = np.arange(len(near)), rng.integers(d, size=len(near)), rng.integers(n, size=len(near))
    near[place] = (near[place] + rng.integers(1, levels, size=len(near))) % levels
    order = rng.random((len(permuted), 1, n)).argsort(axis=2)
    permuted = np.take_along_axis(permuted, np.broadcast_to(order, permuted.shape), axis=2)
    equal = np.repeat(rng.integers(levels, size=(size // 10 + 1, d, 1)), n, axis=2)
    return np.concatenate((fresh, near, permuted, equal))
