"""The proof of Lemma 7 as the paper writes it: whole matrices, real units, exact fractions, tokens from 1, psi as
stated, one block after another. Nothing here calls the project; `attends[pattern][query]` lists keys from 0.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Attends = list[list[list[int]]]
Matrix = list[list[Fraction]]  # Z[i][k]


def hamiltonian_path(attends: Attends) -> list[int] | None:
    """The first gamma (tokens from 0) of the union digraph, by plain search."""
    n = len(attends[0])
    after = [{k for rows in attends for k in range(n) if j in rows[k]} for j in range(n)]

    def extend(path: list[int]) -> list[int] | None:
        if len(path) == n:
            return path
        for k in sorted(after[path[-1]] - set(path)):
            found = extend([*path, k])
            if found:
                return found
        return None

    return next((found for k in range(n) if (found := extend([k]))), None)


def smallest_s(attends: Attends) -> int | None:
    """The smallest s with S_k^s = [n] for all k, by eq. (3)."""
    n, p = len(attends[0]), len(attends)
    seen = [set(keys) for keys in attends[0]]
    for s in range(1, n * p + 1):
        if all(len(tokens) == n for tokens in seen):
            return s
        seen = [set().union(*(seen[j] for j in attends[s % p][k])) for k in range(n)]
    return None


class Proof:
    """One pattern, d and K; everything in real units with delta = 1/K."""

    def __init__(self, attends: Attends, d: int, levels: int, gamma: list[int], s: int) -> None:
        self.attends, self.d, self.gamma, self.s = attends, d, gamma, s
        self.n, self.p = len(attends[0]), len(attends)
        self.delta = Fraction(1, levels)
        self.u = [levels**i for i in range(d)]
        self.spread = sum(self.u)
        self.c = 2 * s * self.n * self.delta ** (-self.n * d - 1)
        self.layers: list[int] = []

    def embed(self, grid: list[list[int]]) -> Matrix:
        position = {self.gamma[0]: self.n - 1} | {self.gamma[i - 1]: i - 2 for i in range(2, self.n + 1)}
        return [[entry * self.delta + position[k] for k, entry in enumerate(row)] for row in grid]

    def project(self, z: Matrix) -> list[Fraction]:
        return [sum(self.u[i] * z[i][k] for i in range(self.d)) for k in range(self.n)]

    def psi(self, values: list[Fraction], pattern: int, b: Fraction) -> list[Fraction]:
        found = []
        for k in range(self.n):
            attended = [values[j] for j in self.attends[pattern][k]]
            if values[k] == b:
                raise ZeroDivisionError("u^T Z_k = b")
            chosen = max(attended) if values[k] > b else min(attended)
            if attended.count(chosen) > 1:
                raise ZeroDivisionError("tie")
            found.append(chosen)
        return found

    def shift(self, z: Matrix, pattern: int, c: Fraction, b: Fraction, b2: Fraction) -> None:
        values = self.project(z)
        for k, (one, other) in enumerate(
            zip(self.psi(values, pattern, b), self.psi(values, pattern, b2), strict=True)
        ):
            z[0][k] += c * (one - other)
        self.layers.append(pattern)

    def windows(self, i: int, merged: bool) -> list[tuple[Fraction, Fraction]]:
        low = Fraction((i - 2) * self.spread)
        high = low + self.delta ** (1 - self.d) - self.delta
        if merged:
            return [(low - self.delta / 2, low + self.delta ** (1 - self.d) - self.delta / 2)]
        count = (high - low) / self.delta + 1
        values = [low + t * self.delta for t in range(int(count))]
        assert values[-1] == high
        return [(b - self.delta / 2, b + self.delta / 2) for b in values]

    def shifted(self, grid: list[list[int]], merged: bool = False) -> Matrix:
        """Z after all selective shifts; `layers` lists the pattern of every block, identities included."""
        z = self.embed(grid)
        self.layers = []
        for i in range(2, self.n + 1):
            token, before = self.gamma[i - 1], self.gamma[i - 2]
            own = next(number for number in range(self.p) if before in self.attends[number][token])
            for b, b2 in self.windows(i, merged):
                for pattern in range(self.p):
                    if pattern == own:
                        self.shift(z, pattern, self.delta**-self.d, b, b2)
                    else:
                        self.layers.append(pattern)
        return z

    def ids(self, grid: list[list[int]], merged: bool = False) -> list[Fraction]:
        """q(H)."""
        z = self.shifted(grid, merged)
        for i in range(1, self.s + 1):
            values = self.project(z)
            pattern = (i - 1) % self.p
            for k in range(self.n):
                attended = [values[j] for j in self.attends[pattern][k]]
                assert attended.count(max(attended)) == 1
                z[0][k] += self.c * max(attended)
            self.layers.append(pattern)
        return self.project(z)


def grids(d: int, n: int, levels: int) -> Iterator[list[list[int]]]:
    """All grids, as lists, the last entry fastest."""
    for entries in itertools.product(range(levels), repeat=d * n):
        yield [list(entries[i * n : (i + 1) * n]) for i in range(d)]
