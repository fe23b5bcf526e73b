"""Bit columns: S^t for a block of keys at a time, as one row of words for every class of queries.

Bit i of row c says whether the i-th key of the block is in S_k^t for the tokens k of class c.
"""

from __future__ import annotations

import os
import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from theory.hops.bitsets import clear, first_open_bit, first_open_row
from theory.hops.results import Unseen
from theory.verdicts import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from theory.connections import IntArray
    from theory.hops.clock import Clock
    from theory.hops.kernels import Kernels, Words
    from theory.hops.schedule import Schedule

__all__ = ["BlockCount", "Columns", "Layer", "PhaseCount", "for_blocks", "usable_cores"]

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Layer:
    """S^t for one block of keys; `open_row` is the first row that is not full, or -1."""

    t: int
    state: Words
    open_row: int


@dataclass(frozen=True)
class BlockCount:
    """How soon a block of keys is seen by all (with Assumption 1.1, where what is seen stays seen).

    Parameters
    ----------
    t
        The first t at which every query sees every key of the block; None if the run stopped before.
    unseen
        A pair of the block that is not seen after the layer before, or at the last layer run.
    """

    t: int | None
    unseen: Unseen | None

    @property
    def is_open(self) -> bool:
        """Whether the run stopped before the block was seen by all."""
        return self.t is None

    @property
    def rank(self) -> tuple[bool, int, int, int]:
        """Order the latest last, and equally late ones by their pair, whichever thread was first."""
        if self.unseen is None:
            return self.is_open, 0, 0, 0
        return self.is_open, self.unseen.layers or 0, self.unseen.query, self.unseen.key


@dataclass(frozen=True)
class PhaseCount:
    """When a block of keys is first seen by all, phase by phase of the cycle.

    Parameters
    ----------
    first
        The first full t of every phase r = t mod p, where it was reached.
    unseen
        A pair of the block not seen after the last layer that came before all of these.
    """

    first: dict[int, int]
    unseen: Unseen | None


class Columns:
    """Runs the recursion for blocks of keys.

    Parameters
    ----------
    schedule
        The unions to form.
    kernels
        The inner loops to use.
    n
        Number of tokens.
    """

    def __init__(self, schedule: Schedule, kernels: Kernels, n: int) -> None:
        self.schedule = schedule
        self._kernels = kernels
        self._n = n
        self._own = threading.local()

    def _buffers(self, words: int) -> tuple[Words, Words]:
        """Return two flat buffers of this thread; pages that the classes do not need are never touched."""
        kept: tuple[Words, Words] | None = getattr(self._own, "buffers", None)
        if kept is None or kept[0].size < self._n * words:
            kept = np.empty(self._n * words, np.uint64), np.empty(self._n * words, np.uint64)
            self._own.buffers = kept
        return kept

    def layers(self, keys: IntArray) -> Iterator[Layer]:
        """Yield S^1, S^2, ... for a block of keys, without end. One run a thread; a state lives until the next."""
        words = -(-keys.size // 64)
        old, new = self._buffers(words)
        rows = self.schedule.tokens(1).size
        state = old[: rows * words].reshape(rows, words)
        clear(state, keys.size)
        self._kernels.set_bits(state, *self.schedule.start, keys)
        yield Layer(1, state, first_open_row(state))
        t = 1
        while True:
            t += 1
            lists = self.schedule.lists(t)
            after = new[: lists.rows * words].reshape(lists.rows, words)
            open_row = self._kernels.or_rows(state, after, lists)
            old, new, state = new, old, after
            yield Layer(t, state, open_row)

    def pair(self, keys: IntArray, t: int, row: int, bits: Words) -> Unseen:
        """Name an unseen pair in a row of S^t that is not full, given its words."""
        return Unseen(t, int(self.schedule.tokens(t)[row]), int(keys[first_open_bit(bits)]))

    def count(self, keys: IntArray, most: int | None, clock: Clock) -> BlockCount:
        """Run a block until all is seen, but not beyond `most` layers or the time limit."""
        row, bits = -1, np.zeros(0, dtype=np.uint64)
        for layer in self.layers(keys):
            if layer.open_row < 0:
                return BlockCount(layer.t, self.pair(keys, layer.t - 1, row, bits) if layer.t > 1 else None)
            row, bits = layer.open_row, layer.state[layer.open_row].copy()
            if layer.t == most or clock.passed:
                return BlockCount(None, self.pair(keys, layer.t, row, bits))
        raise AssertionError  # the layers never end

    def phases(
        self, keys: IntArray, phases: Collection[int], p: int, most: int | None, clock: Clock
    ) -> PhaseCount:
        """Run a block until each of some phases r of the cycle, t = r mod p, was full once, or to a limit."""
        first: dict[int, int] = {}
        last: tuple[int, int, Words] | None = None
        for layer in self.layers(keys):
            r = layer.t % p
            if layer.open_row < 0 and r in phases:
                first.setdefault(r, layer.t)
            if layer.open_row >= 0 and not first:
                last = layer.t, layer.open_row, layer.state[layer.open_row].copy()
            if len(first) == len(phases) or layer.t == most or clock.passed:
                break
        return PhaseCount(first, None if last is None else self.pair(keys, *last))

    def full_layers(self, keys: IntArray, most: int, clock: Clock) -> set[int] | None:
        """Return the t <= `most` after which every query sees every key of the block; None if the time is over."""
        full = set()
        for layer in self.layers(keys):
            if layer.open_row < 0:
                full.add(layer.t)
            if layer.t == most:
                break
            if clock.passed:
                return None
        return full

    def unseen_at(self, keys: IntArray, t: int, clock: Clock | None = None) -> Unseen | Answer | None:
        """Return a pair of the block that is not seen after exactly t layers, or None; UNDECIDED out of time."""
        for layer in self.layers(keys):
            if layer.t == t:
                break
            if clock is not None and clock.passed:
                return Answer.UNDECIDED
        return self.pair(keys, t, layer.open_row, layer.state[layer.open_row]) if layer.open_row >= 0 else None


def for_blocks(
    work: Callable[[IntArray], T], blocks: Sequence[IntArray], enough: Callable[[T], bool], clock: Clock
) -> list[T]:
    """Work on the blocks, as many at a time as there are cores; take no new one after a result that is enough."""
    results: list[T] = []
    queue, lock, stop = iter(blocks), threading.Lock(), threading.Event()

    def worker() -> None:
        while not stop.is_set():
            with lock:
                keys = next(queue, None)
            if keys is None:
                return
            result = work(keys)
            results.append(result)
            if enough(result):
                stop.set()

    workers = min(len(blocks), usable_cores())
    if workers <= 1:
        worker()
        return results
    with ThreadPoolExecutor(workers) as pool:
        running = {pool.submit(worker) for _ in range(workers)}
        try:
            while running:
                done, running = wait(running, timeout=0.1, return_when=FIRST_COMPLETED)
                for task in done:
                    task.result()
                clock.tell(len(results) / len(blocks))
        finally:  # an error or an interrupt: the other threads end with their present block
            stop.set()
    return results


def usable_cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
