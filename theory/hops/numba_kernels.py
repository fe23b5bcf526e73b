"""The inner loops of the hop count, compiled by numba; the same functions as `numpy_kernels`, tested equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable

    from theory.connections import IntArray
    from theory.hops.kernels import Stack, UnionLists, Words

__all__ = [
    "arrive",
    "block_words",
    "gather",
    "label_sets",
    "name",
    "or_rows",
    "row_sums",
    "same_rows",
    "set_bits",
    "transpose",
]

name: str = "numba"
block_words: int = 16
_P = ParamSpec("_P")
_T = TypeVar("_T")


def _compiled(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Compile on first use, without the interpreter lock; the machine code is kept on disk."""
    return cast("Callable[_P, _T]", numba.njit(cache=True, nogil=True)(function))


def label_sets(indptr: IntArray, keys: IntArray, labels: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Return the set of labels of every row: CSR, sorted, each label once."""
    starts = np.zeros(indptr.size, dtype=np.int64)
    entries = np.empty(keys.size, dtype=np.int32)
    used = _label_sets(indptr, keys, labels, count, starts, entries)
    return starts, entries[:used].copy()


@_compiled
def _label_sets(
    indptr: IntArray, keys: IntArray, labels: IntArray, count: int, starts: IntArray, entries: IntArray
) -> int:
    words = (count + 63) // 64
    mark = np.zeros(words, np.uint64)
    one = np.uint64(1)
    used = 0
    for row in range(indptr.size - 1):
        low, high = words, -1
        for place in range(indptr[row], indptr[row + 1]):
            label = labels[keys[place]]
            word = label >> 6
            low, high = min(low, word), max(high, word)
            mark[word] |= one << np.uint64(label & 63)
        degree = indptr[row + 1] - indptr[row]
        if high - low <= 64 + 8 * degree:
            for word in range(low, high + 1):  # the marks come out sorted
                bits = mark[word]
                mark[word] = 0
                label = word << 6
                while bits:
                    if bits & one:
                        entries[used] = label
                        used += 1
                    bits >>= one
                    label += 1
        else:
            begin = used
            for place in range(indptr[row], indptr[row + 1]):
                label = labels[keys[place]]
                bit = one << np.uint64(label & 63)
                if mark[label >> 6] & bit:
                    mark[label >> 6] &= ~bit
                    entries[used] = label
                    used += 1
            entries[begin:used] = np.sort(entries[begin:used])
        starts[row + 1] = used
    return used


@_compiled
def row_sums(indptr: IntArray, entries: IntArray, table: Words) -> Words:
    """Return, modulo 2^64, the sum of table[entry] over every row."""
    sums = np.zeros(indptr.size - 1, np.uint64)
    for row in range(sums.size):
        total = np.uint64(0)
        for place in range(indptr[row], indptr[row + 1]):
            total += table[entries[place]]
        sums[row] = total
    return sums


@_compiled
def same_rows(indptr: IntArray, entries: IntArray, other: IntArray) -> npt.NDArray[np.bool_]:
    """Return, for every row, whether it equals row ``other[row]``, entry by entry."""
    same = np.ones(other.size, np.bool_)
    for row in range(other.size):
        length = indptr[row + 1] - indptr[row]
        first = indptr[other[row]]
        if indptr[other[row] + 1] - first != length:
            same[row] = False
            continue
        if other[row] == row:
            continue
        for place in range(length):
            if entries[indptr[row] + place] != entries[first + place]:
                same[row] = False
                break
    return same


@_compiled
def transpose(indptr: IntArray, keys: IntArray, columns: int) -> tuple[IntArray, IntArray]:
    """Return the transposed CSR: row j lists, sorted, the rows that hold j."""
    starts = np.zeros(columns + 1, np.int64)
    for key in keys:
        starts[key + 1] += 1
    for column in range(columns):
        starts[column + 1] += starts[column]
    place_of = starts[:-1].copy()
    rows = np.empty(keys.size, np.int32)
    for row in range(indptr.size - 1):
        for place in range(indptr[row], indptr[row + 1]):
            key = keys[place]
            rows[place_of[key]] = row
            place_of[key] += 1
    return starts, rows


@_compiled
def set_bits(state: Words, indptr: IntArray, rows: IntArray, sources: IntArray) -> None:
    """Set bit i of every row listed for sources[i]; bit i is bit i mod 64 of word i // 64."""
    for bit in range(sources.size):
        word = bit >> 6
        value = np.uint64(1) << np.uint64(bit & 63)
        source = sources[bit]
        for place in range(indptr[source], indptr[source + 1]):
            state[rows[place], word] |= value


def or_rows(old: Words, new: Words, lists: UnionLists) -> int:
    """Write into row r of `new` the OR of the rows of `old` listed for r; return the first row not full, or -1.

    Where the lists have runs, `old` is used up.
    """
    if lists.runs is not None:
        return _or_runs(old, new, lists.runs.indptr, lists.runs.places)
    return _or_rows(old, new, lists.indptr, lists.entries)


@_compiled
def _or_runs(old: Words, new: Words, indptr: IntArray, places: IntArray) -> int:
    words = old.shape[1]
    heights, rows = indptr.shape[0], indptr.shape[1] - 1
    every = ~np.uint64(0)
    new[:] = 0
    for height in range(heights):
        for row in range(rows):
            total = new[row]
            for place in range(indptr[height, row], indptr[height, row + 1]):
                one = old[places[place]]
                for word in range(words):
                    total[word] |= one[word]
        if height < heights - 1:
            shift = 1 << height
            for place in range(old.shape[0] - shift):  # upwards, so the place above still has the height below
                one, above = old[place], old[place + shift]
                for word in range(words):
                    one[word] |= above[word]
    for row in range(rows):
        for word in range(words):
            if new[row, word] != every:
                return row
    return -1


@_compiled
def _or_rows(old: Words, new: Words, indptr: IntArray, entries: IntArray) -> int:
    words = old.shape[1]
    every = ~np.uint64(0)
    open_row = -1
    for row in range(indptr.size - 1):
        total = new[row]
        begin, end = indptr[row], indptr[row + 1]
        common = np.uint64(0)
        if begin == end:
            for word in range(words):
                total[word] = 0
        else:
            one = old[entries[begin]]
            common = every
            for word in range(words):
                total[word] = one[word]
                common &= one[word]
        place = begin + 1
        while place < end and common != every:
            common = every
            one = old[entries[place]]
            if place + 4 <= end:  # four rows in flight hide the wait for memory
                two, three, four = old[entries[place + 1]], old[entries[place + 2]], old[entries[place + 3]]
                for word in range(words):
                    total[word] |= one[word] | two[word] | three[word] | four[word]
                    common &= total[word]
                place += 4
            else:
                for word in range(words):
                    total[word] |= one[word]
                    common &= total[word]
                place += 1
        if common != every and open_row < 0:
            open_row = row
    return open_row


def arrive(graph: Stack, sources: IntArray, phase: int, limit: int) -> IntArray:
    """Return the step at which every token is first reached from the sources, or -1 beyond `limit` steps.

    Step t follows the edges of layer (phase + t - 1) mod p; what is reached stays reached.
    """
    return _arrive(graph.indptr, graph.keys, np.asarray(sources, dtype=np.int64), phase, limit)


@_compiled
def _arrive(indptr: IntArray, keys: IntArray, sources: IntArray, phase: int, limit: int) -> IntArray:
    p, n = indptr.shape[0], indptr.shape[1] - 1
    when = np.full(n, -1, np.int32)
    queue = np.empty(n, np.int32)
    end = 0
    for source in sources:
        when[source] = 0
        queue[end] = source
        end += 1
    begin = 0
    for step in range(limit):
        layer = (phase + step) % p
        while begin < end and when[queue[begin]] <= step - p:  # followed in every layer
            begin += 1
        if begin == end:
            break
        for place in range(begin, end):
            token = queue[place]
            for edge in range(indptr[layer, token], indptr[layer, token + 1]):
                key = keys[edge]
                if when[key] < 0:
                    when[key] = step + 1
                    queue[end] = key
                    end += 1
    return when


def gather(graph: Stack, target: int) -> IntArray:
    """Return, shape (p, n): the steps from every token to the target when r layers of the cycle are gone.

    An edge of `graph` leads from a query to its key, in the layer that the step uses.
    """
    return _gather(graph.indptr, graph.keys, target)


@_compiled
def _gather(indptr: IntArray, keys: IntArray, target: int) -> IntArray:
    p, n = indptr.shape[0], indptr.shape[1] - 1
    dist = np.full((p, n), -1, np.int32)
    queue = np.empty(p * n, np.int64)
    end = 0
    for phase in range(p):
        dist[phase, target] = 0
        queue[end] = phase * n + target
        end += 1
    begin = 0
    while begin < end:
        after, token = queue[begin] // n, queue[begin] % n
        begin += 1
        phase = (after + p - 1) % p
        for edge in range(indptr[phase, token], indptr[phase, token + 1]):
            key = keys[edge]
            if dist[phase, key] < 0:
                dist[phase, key] = dist[after, token] + 1
                queue[end] = phase * n + key
                end += 1
    return dist
