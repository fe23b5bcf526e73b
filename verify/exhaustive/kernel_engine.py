"""The compiled engine of a sweep (extra `fast`): regular blocks by the kernel, all others by the array engine."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from constructions.backends import NUMPY
from constructions.base_c import Digits, assemble
from constructions.numbers import ProofError
from verify.exhaustive.arrays import WORD, ArrayEngine, BlockReader, Tally, form_rows, stopped_at
from verify.exhaustive.case import fingerprint_weights
from verify.exhaustive.kernel import NO_GAP, SPARE, TOGETHER, Attended, Grid, sweep
from verify.exhaustive.shard_result import ShardResult

if TYPE_CHECKING:
    import numpy.typing as npt

    from theory.patterns import SparsityPattern
    from verify.exhaustive.case import SweepCase

    Rows = npt.NDArray[np.int64]
    Tables = tuple[Grid, Attended, Rows, int, int, Rows]

__all__ = ["KernelEngine"]

LANES = 64  # inputs that a compiled loop takes at a time: four vectors of 64 bytes, or eight
LINE = 16  # numbers of 32 bits in a cache line, or twice of 64
SHORT = 2**28  # c up to which rows of 32 bits leave room for sums; twice as many fit a vector


class KernelEngine:
    """Sweeps a shard block by block in compiled code, without the interpreter lock: `paper` and `merged`, int64.

    A block that is not regular (see `kernel`), or has an id that is not what its form says, is run again by the
    array engine, which decides.
    """

    name = "numba kernel"

    def shard(self, case: SweepCase, number: int) -> ShardResult:
        """Sweep one shard."""
        tables = _tables(case)
        if tables is None:
            return ArrayEngine().shard(case, number)
        maxima = case.path_stages[1]
        rows = 2 * maxima.count * case.mapping.pattern.n + SPARE
        room = _aligned(np.zeros((rows, tables[0].form.size), dtype=tables[0].form.dtype))
        blocks, total, reader = case.blocks_of(number), Tally(0, None, 0), None
        first = blocks.start
        while first < blocks.stop:
            sums = np.array([0, NO_GAP], dtype=np.int64)
            greatest = np.full(maxima.count + 1, -1, dtype=np.int64)
            done = sweep(first, blocks.stop - first, *tables, room, sums, greatest)
            if done:
                total = total.join(_tally(sums, greatest, maxima.factor))
            first += done
            if first < blocks.stop:
                reader = reader or BlockReader(case, NUMPY)
                part = range(first, first + 1)
                try:
                    total = total.join(reader.read(part))
                except ProofError:
                    return stopped_at(case, number, part)
                first += 1
        return ShardResult(number, len(blocks) * case.block, *total, None)


@lru_cache(maxsize=1)
def _tables(case: SweepCase) -> Tables | None:
    """Return what the kernel reads, or None where no block of the case is regular."""
    mapping = case.mapping
    shifts, maxima = case.path_stages
    form, levels = case.forms[0], mapping.K
    intervals = sorted((start.least(levels), start.greatest(levels)) for start in case.starts)
    apart = all(last < first for (_, last), (first, _) in pairwise(intervals))
    # all windows begin and end between two integers
    between = all(s.count == 1 or (s.low2 % 2 and s.width2 % 2 == 0) for s in shifts.shifts)
    whole = all(layer.degrees.all() for layer in mapping.pattern.layers)
    digit = form.least(levels) >= 0 and form.greatest(levels) < maxima.factor
    if not (apart and between and whole and digit):
        return None
    both = [*case.starts, form]
    low = form_rows(both, case.low_entries(), case, low=True)
    low = np.pad(low, ((0, 0), (0, -case.block % LANES)), mode="edge")
    odd = np.arange(low.shape[1]) * 2 + 1
    odd[case.block :] = 0
    narrow = maxima.factor <= SHORT
    kind, limit = (np.int32, 2**30) if narrow else (np.int64, 2**62)
    grid = Grid(
        levels,
        case.block,
        limit,
        _aligned(low[:-1].astype(kind)),
        _aligned(low[-1].astype(kind)),
        _aligned(odd.astype(kind)),
        np.array([each.constant for each in both], dtype=np.int64),
        np.array([each.weights[: len(each.weights) - case.low] for each in both], dtype=np.int64),
    )
    windows = [(s.layer, s.factor, s.low2, s.high2) for s in shifts.shifts]
    return (
        grid,
        _attended(mapping.pattern),
        np.array(windows, dtype=np.int64).reshape(-1, 4),
        maxima.factor,
        maxima.cycle,
        fingerprint_weights(mapping.pattern.n, maxima.count + 1),
    )


def _attended(pattern: SparsityPattern) -> Attended:
    starts: list[list[int]] = []
    keys: list[int] = []
    for layer in pattern.layers:
        starts.append([len(keys) // TOGETHER])
        for token in range(pattern.n):
            row = layer.row(token).tolist()
            keys += row + row[-1:] * (-len(row) % TOGETHER)
            starts[-1].append(len(keys) // TOGETHER)
    return Attended(np.array(starts, dtype=np.int64), np.array(keys, dtype=np.int64))


def _aligned(array: Rows) -> Rows:
    """Return a copy that starts where a cache line does: vectors that lie across two take twice as long."""
    room = np.empty(array.size + LINE, dtype=array.dtype)
    start = -room.ctypes.data % (LINE * room.itemsize) // room.itemsize
    copy = room[start : start + array.size].reshape(array.shape)
    copy[...] = array
    return copy


def _tally(sums: Rows, greatest: Rows, base: int) -> Tally:
    fingerprint, gap = sums.tolist()
    largest = int(assemble(Digits(tuple(greatest[:, np.newaxis]), base))[0])
    return Tally(fingerprint % WORD, None if gap == NO_GAP else gap, largest)
