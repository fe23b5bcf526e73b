"""The relaxed network as §8 and eqs. (14), (15) write it: whole matrices, real units, one number a ball.

Ball arithmetic (python-flint) at any precision: the true value lies in every ball. Nothing here calls the project;
blocks are read as plain data: thresholds (doubled) and slots are integers in units of delta.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

Row = list[Any]  # of balls
Matrix = list[Row]  # Z[i][k]
Attends = list[list[list[int]]]
Rho = Callable[[Row], Row]


def ball(x: Fraction | float) -> Any:
    """The ball of one exact number."""
    exact = Fraction(x)
    return arb(fmpq(exact.numerator, exact.denominator))


def relu(x: Any) -> Any:
    return x.max(arb(0))


def softmax(scores: Row) -> Row:
    top = scores[0]
    for score in scores:
        top = top.max(score)
    top = top.mid()
    weights = [(score - top).exp() for score in scores]
    return [weight / sum(weights, arb(0)) for weight in weights]


def sparsemax(scores: Row) -> Row:
    """The threshold is the greatest (sum over S - 1) / |S| of all sets S: no branch, so balls are safe."""
    tau = None
    for size in range(1, len(scores) + 1):
        for some in itertools.combinations(scores, size):
            candidate = (sum(some, arb(0)) - 1) / size
            tau = candidate if tau is None else tau.max(candidate)
    return [relu(score - tau) for score in scores]


def entmax15(scores: Row) -> Row:
    """p_j = ((s_j / 2 - tau)_+)^2 with sum one: tau by bisection, each step decided by balls."""
    halves = [score / 2 for score in scores]
    top = halves[0]
    for half in halves:
        top = top.max(half)
    low, high = top.lower() - 1, top.upper()  # the sum is at least one at low, nought at high

    def total(tau: Any) -> Any:
        return sum((relu(half - tau) ** 2 for half in halves), arb(0))

    for _ in range(2 * ctx.prec):
        middle = ((low + high) / 2).mid()
        if total(middle) >= 1:
            low = middle
        elif total(middle) <= 1:
            high = middle
        else:
            break
    tau = low.union(high)
    return [relu(half - tau) ** 2 for half in halves]


class SoftProof:
    """One pattern, d, K, t and rho; real units, delta = 1/K."""

    def __init__(self, attends: Attends, d: int, levels: int, t: float, rho: Rho) -> None:
        self.attends, self.d, self.rho = attends, d, rho
        self.delta = Fraction(1, levels)
        self.u = [levels**i for i in range(d)]
        self.t = ball(t)

    def embed(self, grid: Sequence[Sequence[int | Fraction]], positions: Sequence[int]) -> Matrix:
        return [
            [ball(Fraction(g) * self.delta + int(p)) for g, p in zip(row, positions, strict=True)] for row in grid
        ]

    def heights(self, z: Matrix) -> Row:
        """u^T Z_k."""
        return [sum((self.u[i] * z[i][k] for i in range(self.d)), arb(0)) for k in range(len(z[0]))]

    def head(self, z: Matrix, layer: int, b: Fraction) -> Row:
        """psi~: u^T Z_A rho[t (u^T Z_A)^T (u^T Z_k - b)], column by column."""
        heights = self.heights(z)
        out = []
        for k, keys in enumerate(self.attends[layer]):
            weights = self.rho([self.t * heights[j] * (heights[k] - ball(b)) for j in keys])
            out.append(sum((w * heights[j] for w, j in zip(weights, keys, strict=True)), arb(0)))
        return out

    def add_to_first_row(self, z: Matrix, added: Row) -> Matrix:
        return [[a + b for a, b in zip(z[0], added, strict=True)], *z[1:]]

    def block(self, z: Matrix, block: Any) -> Matrix:
        """One block, told apart by what it holds."""
        if hasattr(block, "low2"):
            low, high = (Fraction(b2, 2) * self.delta for b2 in (block.low2, block.high2))
            heads = zip(self.head(z, block.layer, low), self.head(z, block.layer, high), strict=True)
            return self.add_to_first_row(z, [block.factor * (one - other) for one, other in heads])
        if hasattr(block, "factor"):
            return self.add_to_first_row(z, [block.factor * h for h in self.head(z, block.layer, Fraction(0))])
        if hasattr(block, "divide"):
            return self.add_to_first_row(z, [self.affine(block, height) for height in self.heights(z)])
        return z

    def affine(self, block: Any, height: Any) -> Any:
        """The update of v -> a v + b on the slot, with ramps of a quarter unit a quarter unit away: four ReLUs."""
        a, b = Fraction(block.multiply, block.divide) - 1, Fraction(block.add, block.divide)
        quarter = Fraction(1, 4)
        points = [block.low - 2 * quarter, block.low - quarter, block.high + quarter, block.high + 2 * quarter]
        rise, fall = (a * points[1] + b) / quarter, (a * points[2] + b) / quarter
        slopes = [rise, a - rise, -fall - a, fall]
        x = height / ball(self.delta)
        return ball(self.delta) * sum(
            (ball(s) * relu(x - ball(p)) for s, p in zip(slopes, points, strict=True)), arb(0)
        )

    def quantize(self, z: Matrix, alpha: Fraction) -> Matrix:
        """Eqs. (14) and (15): layer after layer, three ReLUs each."""
        n, delta = len(z[0]), self.delta
        for i in range(self.d):
            for k in range(int(n / delta)):
                z = [list(row) for row in z]
                for j in range(n):
                    t = z[i][j] - ball(k * delta)
                    z[i][j] += (
                        -relu(t)
                        + relu(t - ball((1 - alpha) * delta)) / ball(alpha)
                        - relu(t - ball(delta)) * ball((1 - alpha) / alpha)
                    )
        return z

    def write(self, z: Matrix, identifier: int, difference: Row) -> Matrix:
        """One layer of the value mapping: A - g_c(H)_k times the window of four ReLUs; identifier in units."""
        out = [list(row) for row in z]
        centre, delta = ball(identifier * self.delta), ball(self.delta)
        for k, height in enumerate(self.heights(z)):
            t = height - centre
            bump = (
                4 / delta * (relu(t + delta / 2) - relu(t + delta / 4) - relu(t - delta / 4) + relu(t - delta / 2))
            )
            for i in range(self.d):
                out[i][k] += difference[i] * bump
        return out

    def units(self, z: Matrix) -> Row:
        """u^T Z_k in units of delta."""
        return [height / ball(self.delta) for height in self.heights(z)]
