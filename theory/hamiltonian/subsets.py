"""The exact answer for few tokens: every set of tokens, one by one (Held and Karp 1962)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from theory.patterns import Connections, IntArray

__all__ = ["MOST_TOKENS", "path_by_subsets"]

MOST_TOKENS = 16


def path_by_subsets(edges: Connections) -> IntArray | None:
    """Return a Hamiltonian path, or None if there is none; n <= 16.

    ends[M], for a set M of tokens as a bit mask, is the set of tokens at which a path through exactly M can end:
    v is in ends[M] iff v is in M and some in-neighbour of v is in ends[M - v]. Time n 2^n, all sets of one size at
    once.

    Raises
    ------
    ValueError
        If n > 16.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> path_by_subsets(SparsityPattern.from_lists([[0, 1], [1, 2], [2]]).union).tolist()
    [2, 1, 0]
    """
    n = edges.n
    if n > MOST_TOKENS:
        raise ValueError(f"trying every set needs at most {MOST_TOKENS} tokens, got {n}")
    into = [sum(1 << key for key in edges.row(k).tolist() if key != k) for k in range(n)]
    masks = np.arange(1 << n)
    size = np.zeros(1 << n, dtype=np.int64)
    for token in range(n):
        size += (masks >> token) & 1
    ends = np.where(size == 1, masks, 0)
    for members in range(2, n + 1):
        layer = masks[size == members]
        for token in range(n):
            has = layer[(layer >> token) & 1 == 1]
            ends[has] |= ((ends[has ^ (1 << token)] & into[token]) != 0).astype(np.int64) << token
    mask, choice = (1 << n) - 1, int(ends[-1])
    if not choice:
        return None
    path = []
    while choice:
        token = choice.bit_length() - 1
        path.append(token)
        mask ^= 1 << token
        choice = int(ends[mask]) & into[token]
    return np.array(path[::-1])
