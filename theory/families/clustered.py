"""Tokens that attend inside their group: Reformer's buckets, Routing's clusters, packed documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.checks import flag
from theory.families.local import segments, segments_count
from theory.families.rows import admit, progressions, repeated, whole
from theory.patterns import IntArray, PatternError, SparsityPattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

__all__ = ["documents", "equal_documents", "reformer", "routing", "seeded_reformer", "seeded_routing"]


def reformer(buckets: npt.ArrayLike) -> SparsityPattern:
    """Reformer (Kitaev et al. 2020) for given buckets: A^l_k = {j : bucket^l_j = bucket^l_k}, p = rounds.

    The buckets of a real Reformer depend on the input; for one assignment they are a pattern. The pattern is the
    bucket itself: no chunks, not causal (`theory.families.causal_part` makes it so).

    Parameters
    ----------
    buckets
        Integers, shape (rounds, n), or (n,) for one round: the bucket of every token in every hashing round.

    Raises
    ------
    PatternError
        If `buckets` is no such array, has no token, or the connections would not fit.

    Examples
    --------
    >>> reformer([[0, 1, 0], [5, 5, 2]]).to_lists()
    [[[0, 2], [1], [0, 2]], [[0, 1], [0, 1], [2]]]
    """
    return _grouped(buckets, "buckets")


def routing(clusters: npt.ArrayLike) -> SparsityPattern:
    """Routing Transformer (Roy et al. 2021) for given clusters: A^l_k = {j : cluster^l_j = cluster^l_k}.

    Parameters
    ----------
    clusters
        Integers, shape (n,), or (p, n) for different clusters in p layers: the cluster of every token.

    Raises
    ------
    PatternError
        If `clusters` is no such array, has no token, or the connections would not fit.

    Examples
    --------
    >>> routing([1, 0, 1]).to_lists()
    [[[0, 2], [1], [0, 2]]]
    """
    return _grouped(clusters, "clusters")


def documents(lengths: Sequence[int], causal: bool = False) -> SparsityPattern:
    """Packed documents: A_k holds the tokens of k's document, or with `causal` those up to k; p = 1.

    Parameters
    ----------
    lengths
        Tokens of every document, in order; n is their sum.
    causal
        Keys j <= k only.

    Raises
    ------
    PatternError
        If there is no document, a length is below 1, or the connections would not fit.

    Examples
    --------
    >>> documents([2, 1], causal=True).to_lists()[0]
    [[0], [0, 1], [2]]
    """
    sizes = [whole("a document's length", length, 1) for length in lengths]
    if not sizes:
        raise PatternError("documents need at least one length, got none")
    n = sum(sizes)
    causal = flag("causal", causal)
    admit(n, sum(size * (size + 1) // 2 if causal else size * size for size in sizes))
    size = np.array(sizes)
    start = np.repeat(np.cumsum(size) - size, size)
    return SparsityPattern((progressions(start, np.arange(n) - start + 1 if causal else np.repeat(size, size)),))


def equal_documents(n: int, length: int, causal: bool = False) -> SparsityPattern:
    """Packed documents of `length` tokens, the last one cut at n.

    Examples
    --------
    >>> equal_documents(5, length=2).to_lists()[0]
    [[0, 1], [0, 1], [2, 3], [2, 3], [4]]
    """
    n, length = whole("n", n, 1), whole("length", length, 1)
    admit(n, segments_count(n, length))
    return SparsityPattern((segments(n, length, flag("causal", causal)),))


def seeded_reformer(n: int, buckets: int, rounds: int = 1, seed: int = 0) -> SparsityPattern:
    """Reformer with a bucket drawn uniformly for every token in every round.

    Examples
    --------
    >>> seeded_reformer(64, buckets=1, rounds=2)
    SparsityPattern(n=64, p=2, connections=8192, density=100%)
    """
    n, buckets, rounds = whole("n", n, 1), whole("buckets", buckets, 1), whole("rounds", rounds, 1)
    admit(n, n * rounds, rounds)
    rng = np.random.default_rng(whole("seed", seed))
    return reformer(rng.integers(min(buckets, 2**62), size=(rounds, n)))


def seeded_routing(n: int, clusters: int, layers: int = 1, seed: int = 0) -> SparsityPattern:
    """Routing with clusters drawn uniformly among those of equal size (up to one token), in every layer.

    Examples
    --------
    >>> seeded_routing(64, clusters=8, layers=2)
    SparsityPattern(n=64, p=2, connections=1024, density=12.5%)
    """
    n, clusters, layers = whole("n", n, 1), whole("clusters", clusters, 1), whole("layers", layers, 1)
    admit(n, n * layers, layers)
    rng = np.random.default_rng(whole("seed", seed))
    even = np.tile(np.arange(n) % min(clusters, n), (layers, 1))
    return routing(rng.permuted(even, axis=1))


def _grouped(groups: npt.ArrayLike, what: str) -> SparsityPattern:
    try:
        given = np.asarray(groups)
    except ValueError:
        raise PatternError(f"{what} must have the same number of tokens in every round") from None
    if given.ndim not in (1, 2) or given.size == 0 or not np.issubdtype(given.dtype, np.integer):
        raise PatternError(
            f"{what} must be whole numbers of shape (n,) or (p, n), got {given.dtype} of shape {given.shape}"
        )
    rounds = [_members(labels) for labels in np.atleast_2d(given)]
    admit(given.shape[-1], sum(int(np.dot(sizes, sizes)) for sizes, _, _ in rounds), len(rounds))
    return SparsityPattern(tuple(repeated(*members) for members in rounds))


def _members(labels: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the group sizes, the groups' tokens end to end (each sorted), and the group of every token."""
    _, group, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return sizes, np.argsort(group, kind="stable").astype(np.int32), group
