"""Random keys: exact uniform draws without repetition, and the Random pattern."""

from __future__ import annotations

import numpy as np

from theory.families.rows import admit, merged, whole
from theory.patterns import Connections, IntArray, SparsityPattern

__all__ = ["distinct_ranks", "random"]

_CHUNK = 2**20


def distinct_ranks(rng: np.random.Generator, available: IntArray, wanted: int) -> IntArray:
    """Draw min(wanted, available[k]) distinct ranks of 0..available[k]-1 for every row k, all sets equally likely.

    Parameters
    ----------
    rng
        Source of randomness.
    available
        One bound a row, each >= 0.
    wanted
        Columns of the answer.

    Returns
    -------
    IntArray
        int32, shape (rows, wanted); -1 where a row has fewer ranks than wanted.

    Examples
    --------
    >>> distinct_ranks(np.random.default_rng(0), np.array([2, 0]), wanted=3).max(axis=1).tolist()
    [1, -1]
    """
    ranks = np.full((available.size, wanted), -1, dtype=np.int32)
    if wanted == 0:
        return ranks
    crowded = available < 2 * wanted
    rows = np.flatnonzero(~crowded)
    if rows.size:
        ranks[rows] = _redrawn(rng, available[rows], wanted)
    rows = np.flatnonzero(crowded)
    step = max(1, _CHUNK // (2 * wanted))
    for part in (rows[at : at + step] for at in range(0, rows.size, step)):
        order = _shuffled(rng, available[part])[:, :wanted]
        ranks[part, : order.shape[1]] = order
    return ranks


def _redrawn(rng: np.random.Generator, available: IntArray, wanted: int) -> IntArray:
    """Draw, and draw again whatever repeats: at most half of the ranks are taken, so few rounds are enough."""
    ranks = rng.integers(0, available[:, None], size=(available.size, wanted), dtype=np.int32)
    ranks.sort(axis=1)
    active = np.arange(available.size)
    while active.size:
        part = ranks[active]
        repeats = part[:, 1:] == part[:, :-1]
        again = repeats.any(axis=1)
        active, part, repeats = active[again], part[again], repeats[again]
        bounds = np.repeat(available[active], np.count_nonzero(repeats, axis=1))
        part[:, 1:][repeats] = rng.integers(0, bounds, dtype=np.int32)
        part.sort(axis=1)
        ranks[active] = part
    return ranks


def _shuffled(rng: np.random.Generator, available: IntArray) -> IntArray:
    """Every row is a random order of 0..available[k]-1, then -1 up to the width of the longest row."""
    width = int(available.max())
    column = np.arange(width)
    priority = rng.random((available.size, width))
    priority[column >= available[:, None]] = 2.0
    order = np.argsort(priority, axis=1)
    order[column >= available[:, None]] = -1
    return order


def random(n: int, r: int, seed: int = 0, layers: int = 1) -> SparsityPattern:
    """Random pattern (paper, §5): A_k = {k} and r other tokens, drawn uniformly without repetition.

    Parameters
    ----------
    n, r
        Tokens, and random keys of each: min(r, n - 1) are drawn, which gives p n (1 + min(r, n - 1)) connections.
    seed
        The same seed gives the same pattern under the same NumPy.
    layers
        p: how many patterns, each a new draw; the first is that of ``layers=1``.

    Raises
    ------
    PatternError
        If n < 1, r < 0, seed < 0, layers < 1, or the connections would not fit.

    Examples
    --------
    >>> random(100, r=3, seed=1, layers=2)
    SparsityPattern(n=100, p=2, connections=800, density=4%)
    """
    n, r = whole("n", n, 1), min(whole("r", r), whole("n", n, 1) - 1)
    seed, layers = whole("seed", seed), whole("layers", layers, 1)
    admit(n, layers * n * (r + 1), layers)
    rng = np.random.default_rng(seed)
    return SparsityPattern(tuple(_random_layer(n, r, rng) for _ in range(layers)))


def _random_layer(n: int, r: int, rng: np.random.Generator) -> Connections:
    token = np.arange(n, dtype=np.int32)[:, None]
    ranks = distinct_ranks(rng, np.full(n, n - 1), r)
    ranks += ranks >= token  # the rank among the other tokens
    return merged(n, np.concatenate((token, ranks), axis=1))
