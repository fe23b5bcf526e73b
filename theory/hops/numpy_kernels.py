"""The inner loops of the hop count in plain NumPy; `numba_kernels` holds the same functions, compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from theory.connections import distinct
from theory.hops.bitsets import ALL, first_open_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from theory.connections import IntArray
    from theory.hops.kernels import Stack, UnionLists, Words
    from theory.hops.runs import Runs

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

name: str = "numpy"
block_words: int = 64
_SLICE = 2**22  # entries handled at a time: bounds the temporaries of the linear passes
_CACHED_ROWS = 1024  # rows of a block whose words stay in the second-level cache
_WORTH_SCIPY = 2**16  # below, sorting is quicker than importing scipy.sparse
_FEW = 64  # below this many edges a Python loop beats NumPy's call overhead


def _slices(indptr: IntArray) -> Iterator[tuple[int, int]]:
    """Cut the rows into runs of at most _SLICE entries (or one row)."""
    first, rows = 0, indptr.size - 1
    while first < rows:
        last = int(np.searchsorted(indptr, indptr[first] + _SLICE, side="right")) - 1
        last = min(max(last, first + 1), rows)
        yield first, last
        first = last


def entries_of(indptr: IntArray, rows: IntArray) -> IntArray:
    """Return the positions of all entries of the given rows, row after row."""
    starts, lengths = indptr[rows], indptr[rows + 1] - indptr[rows]
    ends = np.cumsum(lengths)
    places: IntArray = np.arange(ends[-1] if ends.size else 0) + np.repeat(starts - (ends - lengths), lengths)
    return places


def label_sets(indptr: IntArray, keys: IntArray, labels: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Return the set of labels of every row: CSR, sorted, each label once."""
    lengths = np.zeros(indptr.size - 1, dtype=np.int64)
    parts = []
    for first, last in _slices(indptr):
        begin, end = indptr[first], indptr[last]
        degrees = np.diff(indptr[first : last + 1])
        flat = np.repeat(np.arange(last - first) * count, degrees) + labels[keys[begin:end]]
        flat.sort()
        keep = np.ones(flat.size, dtype=bool)
        keep[1:] = flat[1:] != flat[:-1]
        flat = flat[keep]
        row = flat // count
        lengths[first:last] = np.bincount(row, minlength=last - first)
        parts.append((flat - row * count).astype(np.int32))
    return np.concatenate(([0], np.cumsum(lengths))), np.concatenate(parts)


def row_sums(indptr: IntArray, entries: IntArray, table: Words) -> Words:
    """Return, modulo 2^64, the sum of table[entry] over every row."""
    sums = np.zeros(indptr.size - 1, dtype=np.uint64)
    for first, last in _slices(indptr):
        begin, end = indptr[first], indptr[last]
        some = np.flatnonzero(np.diff(indptr[first : last + 1]))
        if some.size:
            starts = indptr[first:last][some] - begin
            sums[first + some] = np.add.reduceat(table[entries[begin:end]], starts)
    return sums


def same_rows(indptr: IntArray, entries: IntArray, other: IntArray) -> npt.NDArray[np.bool_]:
    """Return, for every row, whether it equals row ``other[row]``, entry by entry."""
    lengths = np.diff(indptr)
    same: npt.NDArray[np.bool_] = lengths == lengths[other]
    rows = np.flatnonzero(same & (other != np.arange(other.size)))
    ends = np.concatenate(([0], np.cumsum(lengths[rows])))
    for first, last in _slices(ends):
        part = rows[first:last]
        differs = entries[entries_of(indptr, part)] != entries[entries_of(indptr, other[part])]
        same[np.repeat(part, lengths[part])[differs]] = False
    return same


def transpose(indptr: IntArray, keys: IntArray, columns: int) -> tuple[IntArray, IntArray]:
    """Return the transposed CSR: row j lists, sorted, the rows that hold j."""
    if keys.size < _WORTH_SCIPY:
        starts = np.concatenate(([0], np.cumsum(np.bincount(keys, minlength=columns))))
        rows = np.repeat(np.arange(indptr.size - 1, dtype=np.int32), np.diff(indptr))
        return starts, rows[np.argsort(keys, kind="stable")]
    from scipy.sparse import csr_array

    shape = (indptr.size - 1, columns)
    turned = csr_array((np.ones(keys.size, dtype=np.int8), keys, indptr), shape=shape).tocsc()
    return turned.indptr.astype(np.int64), turned.indices.astype(np.int32)


def set_bits(state: Words, indptr: IntArray, rows: IntArray, sources: IntArray) -> None:
    """Set bit i of every row listed for sources[i]; bit i is bit i mod 64 of word i // 64."""
    for bit in range(min(64, sources.size)):
        some = sources[bit::64]
        lengths = indptr[some + 1] - indptr[some]
        # a row occurs once a source, so no (row, word) is repeated within one bit
        word = np.repeat(np.arange(some.size), lengths)
        state[rows[entries_of(indptr, some)], word] |= np.uint64(1) << np.uint64(bit)


def or_rows(old: Words, new: Words, lists: UnionLists) -> int:
    """Write into row r of `new` the OR of the rows of `old` listed for r; return the first row not full, or -1.

    Where the lists have runs, `old` is used up.
    """
    if lists.runs is not None:
        return _or_runs(old, new, lists.runs)
    indptr, entries = lists.indptr, lists.entries
    some = int(np.count_nonzero(lists.lengths))
    empty = lists.longest_first[some:]
    new[empty] = 0
    open_rows = [empty]
    scratch = np.empty((min(_CACHED_ROWS, lists.rows), old.shape[1]), dtype=np.uint64)
    for begin in range(0, some, _CACHED_ROWS):
        rows = lists.longest_first[begin : min(some, begin + _CACHED_ROWS)]
        open_rows.append(_or_chunk(old, new, indptr, entries, rows, scratch))
    return min((int(part.min()) for part in open_rows if part.size), default=-1)


def _or_chunk(
    old: Words, new: Words, indptr: IntArray, entries: IntArray, rows: IntArray, scratch: Words
) -> IntArray:
    """OR the lists of non-empty rows, longest first; return the rows that are not full."""
    starts = indptr[rows]
    lengths = indptr[rows + 1] - starts
    total = old[entries[starts]]
    slot = 1
    while True:
        if slot in (1, 4) or slot % 16 == 0:  # drop the rows that are full already
            full = np.bitwise_and.reduce(total, axis=1) == ALL
            if full.any():
                new[rows[full]] = ALL
                rows, starts, lengths, total = (part[~full] for part in (rows, starts, lengths, total))
        many = int(np.searchsorted(-lengths, -slot))  # lengths fall, so the rows longer than `slot` come first
        if many == 0:
            break
        if many <= 2 and lengths[0] > slot + 8:  # a few very long rows: one reduction each
            for row in range(many):
                rest = entries[starts[row] + slot : starts[row] + lengths[row]]
                for cut in range(0, rest.size, _CACHED_ROWS):
                    total[row] |= np.bitwise_or.reduce(old[rest[cut : cut + _CACHED_ROWS]], axis=0)
            break
        np.take(old, entries[starts[:many] + slot], axis=0, out=scratch[:many], mode="clip")
        np.bitwise_or(total[:many], scratch[:many], out=total[:many])
        slot += 1
    new[rows] = total
    short: IntArray = rows[np.bitwise_and.reduce(total, axis=1) != ALL]
    return short


def _or_runs(old: Words, new: Words, runs: Runs) -> int:
    """OR by runs: look up what has the present height, then make the table one height taller in place."""
    new[:] = 0
    scratch = np.empty((_CACHED_ROWS, old.shape[1]), dtype=np.uint64)
    for height in range(runs.heights):
        starts, ends = runs.indptr[height, :-1], runs.indptr[height, 1:]
        lengths = ends - starts
        order = np.argsort(-lengths, kind="stable")[: int(np.count_nonzero(lengths))]
        for begin in range(0, order.size, _CACHED_ROWS):
            rows = order[begin : begin + _CACHED_ROWS]
            total = new[rows]
            for slot in range(int(lengths[rows[0]])):
                many = int(np.count_nonzero(lengths[rows] > slot))
                np.take(old, runs.places[starts[rows[:many]] + slot], axis=0, out=scratch[:many], mode="clip")
                np.bitwise_or(total[:many], scratch[:many], out=total[:many])
            new[rows] = total
        shift = 1 << height
        if height < runs.heights - 1:
            for begin in range(0, old.shape[0] - shift, _CACHED_ROWS):  # upwards: what lies above is still old
                end = min(begin + _CACHED_ROWS, old.shape[0] - shift)
                old[begin:end] |= old[begin + shift : end + shift]
    return first_open_row(new)


def _neighbours(indptr: IntArray, keys: IntArray, tokens: IntArray) -> IntArray:
    if tokens.size == 1:
        return keys[indptr[tokens[0]] : indptr[tokens[0] + 1]]
    return keys[entries_of(indptr, tokens)]


def _fresh(found: IntArray, when: IntArray, time: int) -> IntArray:
    """Stamp the tokens found that carry no time yet, and return them once each."""
    if found.size <= _FEW:
        fresh = []
        for token in found.tolist():
            if when[token] < 0:
                when[token] = time
                fresh.append(token)
        return np.array(fresh, dtype=np.int64)
    fresh_ones = found[when[found] < 0]
    if fresh_ones.size > 1:
        fresh_ones = distinct(fresh_ones.astype(np.int64))
    when[fresh_ones] = time
    return fresh_ones.astype(np.int64)


def arrive(graph: Stack, sources: IntArray, phase: int, limit: int) -> IntArray:
    """Return the step at which every token is first reached from the sources, or -1 beyond `limit` steps.

    Step t follows the edges of layer (phase + t - 1) mod p; what is reached stays reached.
    """
    when = np.full(graph.n, -1, dtype=np.int32)
    when[sources] = 0
    waves: list[IntArray] = [np.asarray(sources, dtype=np.int64)]  # those reached in the last p steps
    for step in range(limit):
        layer = (phase + step) % graph.p
        active = np.concatenate(waves) if len(waves) > 1 else waves[0]
        if not active.size:
            break
        wave = _fresh(_neighbours(graph.indptr[layer], graph.keys, active), when, step + 1)
        waves = [*waves, wave][-graph.p :]
    return when


def gather(graph: Stack, target: int) -> IntArray:
    """Return, shape (p, n): the steps from every token to the target when r layers of the cycle are gone.

    An edge of `graph` leads from a query to its key, in the layer that the step uses.
    """
    dist = np.full((graph.p, graph.n), -1, dtype=np.int32)
    dist[:, target] = 0
    waves: list[IntArray] = [np.array([target], dtype=np.int64)] * graph.p
    step = 0
    while any(wave.size for wave in waves):
        step += 1
        after = []
        for phase in range(graph.p):
            wave = waves[(phase + 1) % graph.p]
            found = _neighbours(graph.indptr[phase], graph.keys, wave) if wave.size else wave
            after.append(_fresh(found, dist[phase], step) if found.size else found)
        waves = after
    return dist
