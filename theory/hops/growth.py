"""S_k^t looked at directly: what one token sees, who sees one token, and how the sets grow (paper, eq. 3).

The paper's recursion replaces S_k^{t-1}; the residual connection keeps it: R_k^t = R_k^{t-1} united with the
R_j^{t-1}, j in A_k^t, from R_k^0 = {k}. With Assumption 1.1 both are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from theory.checks import flag, index, layers_listed, whole
from theory.connections import PatternError
from theory.hops import numpy_kernels
from theory.hops.bitsets import blank_state, count_bits
from theory.hops.clock import Clock
from theory.hops.count import hop_count, is_self_attending
from theory.hops.kernels import Stack, choose_kernels
from theory.hops.results import Growth
from theory.hops.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from theory.hops.kernels import Engine, Kernels
    from theory.patterns import SparsityPattern

__all__ = ["growth", "seen", "seers"]

BoolArray = npt.NDArray[np.bool_]
SHOWN_LAYERS = 16  # of a pattern that never gets full and may shrink


def _checked(pattern: SparsityPattern, token: int, layers: int) -> None:
    index(token, pattern.n)
    whole("a number of layers", layers)


def seen(pattern: SparsityPattern, query: int, layers: int, *, residual: bool = False) -> BoolArray:
    """Return S_query^layers (or R) as a boolean vector over the keys, going back through the layers.

    Linear in the connections where the sets grow (residual, or Assumption 1.1); otherwise each layer costs
    the connections it touches. After 0 layers a token sees itself.

    Raises
    ------
    PatternError
        If there is no such token, or `layers` < 0.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> ring = SparsityPattern.from_lists([[0, 3], [0, 1], [1, 2], [2, 3]])
    >>> seen(ring, query=0, layers=2).tolist()
    [True, False, True, True]
    """
    _checked(pattern, query, layers)
    start = np.array([query])
    if flag("residual", residual) or is_self_attending(pattern):
        backwards = Stack.of([(layer.indptr, layer.keys) for layer in reversed(pattern.layers)])
        return numpy_kernels.arrive(backwards, start, -layers % pattern.p, layers) >= 0
    found = start
    for t in range(layers, 0, -1):
        layer = pattern.layers[(t - 1) % pattern.p]
        found = np.unique(layer.keys[numpy_kernels.entries_of(layer.indptr, found)])
    return _mask(pattern.n, found)


def seers(pattern: SparsityPattern, key: int, layers: int, *, residual: bool = False) -> BoolArray:
    """Return, as a boolean vector over the queries k, whether key is in S_k^layers (or in R).

    Raises
    ------
    PatternError
        If there is no such token, or `layers` < 0.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> ring = SparsityPattern.from_lists([[0, 3], [0, 1], [1, 2], [2, 3]])
    >>> seers(ring, key=0, layers=2).tolist()
    [True, True, True, False]
    """
    _checked(pattern, key, layers)
    start = np.array([key])
    turned = [layer.transposed for layer in pattern.layers]
    if flag("residual", residual) or is_self_attending(pattern):
        forwards = Stack.of([(layer.indptr, layer.keys) for layer in turned])
        return numpy_kernels.arrive(forwards, start, 0, layers) >= 0
    found = start
    for t in range(1, layers + 1):
        layer = turned[(t - 1) % pattern.p]
        found = np.unique(layer.keys[numpy_kernels.entries_of(layer.indptr, found)])
    return _mask(pattern.n, found)


def _mask(n: int, tokens: npt.NDArray[np.integer]) -> BoolArray:
    mask = np.zeros(n, dtype=bool)
    mask[tokens] = True
    return mask


def growth(
    pattern: SparsityPattern,
    layers: int | None = None,
    *,
    residual: bool = False,
    time_limit: float | None = None,
    memory_limit: int = 2 << 30,
    engine: Engine = "auto",
) -> Growth:
    """Return the least and the mean of |S_k^t| (or |R_k^t|) over k, for t = 1, 2, ..., exactly.

    Parameters
    ----------
    pattern
        The pattern.
    layers
        How many layers. None: up to the first full one; if none comes, until a whole cycle adds nothing, or,
        where the sets may shrink, 16 layers (two cycles if those are more).
    residual
        Whether to follow R instead of S; without Assumption 1.1 they differ.
    time_limit
        Seconds after which the list ends, with at least one layer; None: no limit.
    memory_limit
        Bytes for the bits of all S_k^t: about n^2 / 4 where no two rows are equal.
    engine
        As for `hop_count`.

    Raises
    ------
    PatternError
        If the bits do not fit into the memory limit, `layers` is not within 1..2^16, or the engine is not there.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> growth(SparsityPattern.from_lists([[0, 3], [0, 1], [1, 2], [2, 3]]))
    Growth(min=(2, 3, 4), mean=(2.0, 3.0, 4.0), full=True, residual=False)
    """
    if layers is not None:
        layers_listed(layers)
    clock = Clock(time_limit)
    looped = pattern.with_self_loops() if flag("residual", residual) else pattern
    grows = residual or is_self_attending(pattern)
    if layers is None and not grows:
        layers = hop_count(pattern, time_limit=time_limit, memory_limit=memory_limit, engine=engine).s
        layers = layers or max(SHOWN_LAYERS, 2 * pattern.p)
    kernels = choose_kernels(engine, pattern.connections * pattern.n / 64)
    least: list[int] = []
    total: list[int] = []
    for smallest, together in _sizes(looped, kernels, memory_limit):
        least.append(smallest)
        total.append(together)
        settled = smallest == pattern.n or (len(total) > pattern.p and together == total[-1 - pattern.p])
        if settled and grows and layers is not None:  # no later layer adds anything
            least += [smallest] * (layers - len(least))
            total += [together] * (layers - len(total))
        done = len(least) == layers or (layers is None and settled)
        stopped = not done and clock.passed
        if done or stopped:
            break
    mean = tuple(together / pattern.n for together in total)
    return Growth(tuple(least), mean, least[-1] == pattern.n, residual, stopped)


def _sizes(pattern: SparsityPattern, kernels: Kernels, memory_limit: int) -> Iterator[tuple[int, int]]:
    """Yield the least and the sum of |S_k^t|, layer by layer, one row of bits a class of tokens."""
    n = pattern.n
    schedule = Schedule(pattern, kernels)
    _fit(schedule.tokens(1).size, 0, n, memory_limit)
    state = blank_state(schedule.tokens(1).size, n)
    kernels.set_bits(state, *schedule.start, np.arange(n))
    t = 1
    while True:
        sizes = count_bits(state, n)
        yield int(sizes.min()), int(sizes @ schedule.sizes(t))
        t += 1
        lists = schedule.lists(t)
        _fit(lists.rows, state.shape[0], n, memory_limit)
        after = np.empty((lists.rows, state.shape[1]), dtype=np.uint64)
        kernels.or_rows(state, after, lists)
        state = after


def _fit(rows: int, others: int, n: int, memory_limit: int) -> None:
    need = (rows + others) * -(-n // 64) * 8
    if need > memory_limit:
        raise PatternError(
            f"all S_k^t of {n} tokens need {need} bytes of bits, above the memory limit of {memory_limit}: "
            "raise it, or ask for seen() of single tokens"
        )
