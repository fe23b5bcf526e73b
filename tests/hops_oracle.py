"""The recursion of eq. (3) as products of NumPy matrices; nothing here calls the project's hop count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from theory.patterns import Connections, SparsityPattern

if TYPE_CHECKING:
    from brute_force import Attends

Matrix = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class History:
    """S^0, S^1, ... as matrices [query, key], up to the first full one or until the future repeats.

    `s` is the first full t >= 1, or None. `loop` is where the repeating part begins when there is none.
    """

    seen: list[Matrix]
    s: int | None
    loop: int


def matrices(attends: Attends) -> list[Matrix]:
    n = len(attends[0])
    layers = []
    for rows in attends:
        layer = np.zeros((n, n), dtype=bool)
        for query, keys in enumerate(rows):
            layer[query, keys] = True
        layers.append(layer)
    return layers


def product(left: Matrix, right: Matrix) -> Matrix:
    return (left.astype(np.float32) @ right.astype(np.float32)) > 0


def history(layers: list[Matrix]) -> History:
    p = len(layers)
    seen = [np.eye(layers[0].shape[0], dtype=bool)]
    known: dict[tuple[int, bytes], int] = {}
    while True:
        t = len(seen)
        seen.append(product(layers[(t - 1) % p], seen[-1]))
        if seen[-1].all():
            return History(seen, t, t)
        state = t % p, seen[-1].tobytes()
        if state in known:
            return History(seen, None, known[state])
        known[state] = t


def as_pattern(layers: list[Matrix]) -> SparsityPattern:
    return SparsityPattern(tuple(Connections.from_pairs(layer.shape[0], *np.nonzero(layer)) for layer in layers))


def random_matrices(
    rng: np.random.Generator, n: int, p: int, degree: float, *, loops: bool, ring: bool = False
) -> list[Matrix]:
    """Random layers with about `degree` keys a row; `ring` adds k - 1 to the keys of k in the first layer."""
    layers = [rng.random((n, n)) < degree / n for _ in range(p)]
    for layer in layers:
        if loops:
            np.fill_diagonal(layer, val=True)
    if ring:
        layers[0][np.arange(n), np.arange(n) - 1] = True
    return layers


def wielandt(n: int) -> list[Matrix]:
    """Return the digraph with the largest exponent, n^2 - 2n + 2: a ring with one chord, no self-loops."""
    layer = np.zeros((n, n), dtype=bool)
    layer[np.arange(n), np.arange(n) - 1] = True
    layer[0, n - 2] = True
    return [layer]
