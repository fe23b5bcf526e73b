"""The smallest repairs of all digraphs on n tokens, from the definitions: every set of edges is a number.

Bit b of a mask is the b-th pair (key, query), key != query; nothing here calls the project.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise, permutations

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]

FAR = 99


def pairs(n: int) -> list[tuple[int, int]]:
    """List the possible edges (key, query)."""
    return [(key, query) for key in range(n) for query in range(n) if key != query]


def rows_of(n: int, mask: int) -> list[list[int]]:
    """Return the key lists of a mask, self-loops included."""
    rows = [[k] for k in range(n)]
    for bit, (key, query) in enumerate(pairs(n)):
        if mask >> bit & 1:
            rows[query].append(key)
    return rows


def mask_of(rows: list[list[int]]) -> int:
    n = len(rows)
    return sum(1 << bit for bit, (key, query) in enumerate(pairs(n)) if key in rows[query])


@cache
def good(n: int, wanted: str) -> Bools:
    """Mark the masks that need nothing more: wanted is all, causal or paper."""
    masks = np.arange(1 << (n * (n - 1)))
    has = {pair: (masks >> bit) & 1 == 1 for bit, pair in enumerate(pairs(n))}
    if wanted == "paper":
        some = np.zeros(masks.size, dtype=bool)
        for order in permutations(range(n)):
            some |= np.logical_and.reduce(
                [np.ones(masks.size, dtype=bool), *(has[step] for step in pairwise(order))]
            )
        return some & good(n, "all")
    reached = {pair: bits.copy() for pair, bits in has.items()}
    for middle in range(n):
        for one, other in pairs(n):
            if middle not in (one, other):
                reached[one, other] |= reached[one, middle] & reached[middle, other]
    needed = [(k - 1, k) for k in range(1, n)] if wanted == "causal" else pairs(n)
    enough: Bools = np.logical_and.reduce([np.ones(masks.size, dtype=bool), *(reached[pair] for pair in needed)])
    return enough


@cache
def fewest(n: int, wanted: str, *, rising: bool = False) -> npt.NDArray[np.int8]:
    """Return, mask by mask, the fewest edges (rising ones only, if so asked) to add; FAR where none suffice."""
    left = np.where(good(n, wanted), 0, FAR).astype(np.int8)
    masks = np.arange(left.size)
    bits = [bit for bit, (key, query) in enumerate(pairs(n)) if key < query or not rising]
    while True:
        before = left.copy()
        for bit in bits:
            without = masks[(masks >> bit) & 1 == 0]
            left[without] = np.minimum(left[without], left[without | 1 << bit] + 1)
        if np.array_equal(before, left):
            return np.minimum(left, FAR)


def renamed(n: int, masks: npt.NDArray[np.int64], name: tuple[int, ...], *, turned: bool) -> npt.NDArray[np.int64]:
    """Rename the tokens of many masks at once; `turned` also turns all edges round."""
    place = {pair: bit for bit, pair in enumerate(pairs(n))}
    found = np.zeros_like(masks)
    for bit, (key, query) in enumerate(pairs(n)):
        one, other = name[key], name[query]
        found |= ((masks >> bit) & 1) << place[(other, one) if turned else (one, other)]
    return found


def representatives(n: int, wanted: str) -> list[int]:
    """List one mask of every class of masks that need the same number of edges by symmetry.

    For all functions and for the paper, tokens may be renamed at will; causal reach allows only to count the
    tokens from the other end with all edges turned round.
    """
    masks = np.arange(1 << (n * (n - 1)))
    if wanted == "causal":
        names, turned = [tuple(range(n - 1, -1, -1))], True
    else:
        names, turned = list(permutations(range(n))), False
    for name in names:
        masks = masks[masks <= renamed(n, masks, name, turned=turned)]
    chosen: list[int] = masks.tolist()
    return chosen
