"""Patterns of the near and of everything: dense, causal, window, ring."""

from __future__ import annotations

import numpy as np

from theory.families.rows import admit, merged, progressions, whole
from theory.patterns import Connections, SparsityPattern

__all__ = ["causal", "causal_part", "dense", "ring", "window"]


def dense(n: int) -> SparsityPattern:
    """Every token attends to every token: A_k = [n], p = 1.

    Raises
    ------
    PatternError
        If n < 1, or n^2 connections would not fit.

    Examples
    --------
    >>> dense(3)
    SparsityPattern(n=3, p=1, connections=9, density=100%)
    """
    n = whole("n", n, 1)
    admit(n, n * n)
    return SparsityPattern((progressions(np.zeros(n, dtype=np.int64), np.full(n, n)),))


def window(n: int, w: int) -> SparsityPattern:
    """Sliding window: A_k = {j : |k - j| <= w}, p = 1.

    Raises
    ------
    PatternError
        If n < 1, w < 0, or the connections would not fit.

    Examples
    --------
    >>> window(4, w=1).to_lists()[0]
    [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]]
    """
    n, w = whole("n", n, 1), whole("w", w)
    admit(n, interval_count(n, w, w))
    return SparsityPattern((interval(n, before=w, after=w),))


def interval_count(n: int, before: int, after: int) -> int:
    """Return the connections of `interval`."""
    before, after = min(before, n - 1), min(after, n - 1)
    return n * (before + after + 1) - (before * (before + 1) + after * (after + 1)) // 2


def interval(n: int, before: int, after: int) -> Connections:
    """A_k = {k - before, ..., k + after}, cut to the n tokens."""
    token = np.arange(n)
    start = np.maximum(token - min(before, n), 0)
    return progressions(start, np.minimum(token + min(after, n), n - 1) - start + 1)


def segments_count(n: int, width: int) -> int:
    """Return the connections of `segments`, not causal."""
    return n // width * width**2 + (n % width) ** 2


def segments(n: int, width: int, causal: bool = False) -> Connections:
    """A_k is k's segment of `width` tokens, the last one cut at n; or with `causal` that segment up to k."""
    token = np.arange(n)
    start = token - token % min(width, n)
    return progressions(start, token - start + 1 if causal else np.minimum(min(width, n), n - start))


def causal(n: int, w: int | None = None) -> SparsityPattern:
    """Causal attention: A_k = {j : j <= k}, or with a window {j : k - w <= j <= k}; p = 1.

    Raises
    ------
    PatternError
        If n < 1, w < 0, or the connections would not fit.

    Examples
    --------
    >>> causal(3).to_lists()[0]
    [[0], [0, 1], [0, 1, 2]]
    >>> causal(3, w=1).to_lists()[0]
    [[0], [0, 1], [1, 2]]
    """
    n = whole("n", n, 1)
    before = n - 1 if w is None else whole("w", w)
    admit(n, interval_count(n, before, 0))
    return SparsityPattern((interval(n, before, after=0),))


def ring(n: int) -> SparsityPattern:
    """Directed ring: A_k = {k, k - 1 mod n}, p = 1.

    Raises
    ------
    PatternError
        If n < 1, or the connections would not fit.

    Examples
    --------
    >>> ring(3).to_lists()[0]
    [[0, 2], [0, 1], [1, 2]]
    """
    n = whole("n", n, 1)
    admit(n, 2 * n)
    token = np.arange(n, dtype=np.int32)
    return SparsityPattern((merged(n, np.stack((token, np.roll(token, 1)), axis=1)),))


def causal_part(pattern: SparsityPattern) -> SparsityPattern:
    """Keep the keys j <= k of every query k, in every pattern.

    Examples
    --------
    >>> causal_part(window(5, w=2)) == causal(5, w=2)
    True
    """
    return SparsityPattern(tuple(_lower(layer) for layer in pattern.layers))


def _lower(layer: Connections) -> Connections:
    queries = layer.queries
    kept = layer.keys <= queries
    counts = np.bincount(queries[kept], minlength=layer.n)
    return Connections(np.concatenate(([0], np.cumsum(counts))), layer.keys[kept])
