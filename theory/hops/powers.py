"""Products of bit matrices, and the first full M_{qp+r} = B_r P^q by doubling P: for few tokens and a large s."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.hops.bitsets import blank_state, first_open_bit, first_open_row
from theory.hops.kernels import UnionLists
from theory.hops.results import Unseen

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from theory.hops.clock import Clock
    from theory.hops.kernels import Kernels, Words
    from theory.patterns import SparsityPattern

__all__ = ["first_full", "multiply"]


def multiply(left: Words, right: Words, n: int) -> Words:
    """Return the boolean product of two n x n bit matrices.

    Eight rows of `right` at a time: all their 256 unions are tabled, and every row of `left` picks one by the byte
    it holds there (Arlazarov, Dinic, Kronrod and Faradzhev's "four Russians").

    Examples
    --------
    >>> shift = np.array([[0b10], [0b01]], dtype=np.uint64)
    >>> multiply(shift, shift, 2).tolist()
    [[1], [2]]
    """
    product = np.zeros((n, right.shape[1]), dtype=np.uint64)
    table = np.zeros((256, right.shape[1]), dtype=np.uint64)
    for group in range(-(-n // 8)):
        for bit in range(8):
            row = 8 * group + bit
            width = 1 << bit
            np.bitwise_or(table[:width], right[row] if row < n else np.uint64(0), out=table[width : 2 * width])
        byte = (left[:, group // 8] >> np.uint64(8 * (group % 8))) & np.uint64(255)
        np.bitwise_or(product, table[byte.astype(np.intp)], out=product)
    return product


class _Cycle:
    """One cycle of layers, applied to a bit matrix from the left."""

    def __init__(self, pattern: SparsityPattern, kernels: Kernels) -> None:
        self._lists = [UnionLists(layer.indptr, layer.keys) for layer in pattern.layers]
        self._kernels = kernels

    def layers(self, state: Words) -> Iterator[Words]:
        """Yield A^1 state, A^2 A^1 state, ..., P state."""
        for lists in self._lists:
            after = np.empty_like(state)
            self._kernels.or_rows(state, after, lists)
            state = after
            yield state

    def first_full_phase(self, state: Words, phases: Collection[int]) -> int | None:
        """Return the least r in `phases` with B_r state full."""
        if 0 in phases and first_open_row(state) < 0:
            return 0
        for r, after in enumerate(self.layers(state), start=1):
            if r in phases and first_open_row(after) < 0:
                return r
        return None


def first_full(
    pattern: SparsityPattern, phases: Collection[int], kernels: Kernels, clock: Clock
) -> tuple[int, Unseen] | None:
    """Return the smallest t = qp + r, r in `phases`, with S_k^t = [n] for all k, and a pair unseen at t - 1.

    Every phase given must end full, and S^1 must not be. None if the time is over first.
    """
    n, p = pattern.n, pattern.p
    identity = blank_state(n, n)
    kernels.set_bits(identity, np.arange(n + 1), np.arange(n, dtype=np.int32), np.arange(n))
    cycle = _Cycle(pattern, kernels)
    powers = []
    reached, q = identity, 0
    if cycle.first_full_phase(identity, phases) is None:
        powers.append(list(cycle.layers(identity))[-1])
        while cycle.first_full_phase(powers[-1], phases) is None:
            if clock.passed:
                return None
            powers.append(multiply(powers[-1], powers[-1], n))
        for exponent in range(len(powers) - 2, -1, -1):  # no phase is full after q cycles; find the largest such q
            if clock.passed:
                return None
            further = multiply(reached, powers[exponent], n)
            if cycle.first_full_phase(further, phases) is None:
                reached, q = further, q + (1 << exponent)
    states = [reached, *cycle.layers(reached), *cycle.layers(list(cycle.layers(reached))[-1])]
    for step in range(1, len(states)):
        if (step % p) in phases and first_open_row(states[step]) < 0:
            row = first_open_row(states[step - 1])
            pair = Unseen(q * p + step - 1, row, first_open_bit(states[step - 1][row]))
            return q * p + step, pair
    raise AssertionError  # every phase given ends full
