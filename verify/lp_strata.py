"""Where the inputs of an L_p error come from: cells, points inside them, and the ramp by itself.

Good inputs have no coordinate in a ramp: measure (1 - alpha)^{dn}, and g depends on their cell only. The rest, of
measure 1 - (1 - alpha)^{dn}, is the ramp stratum: plain sampling never sees it when alpha is small, so it is
drawn by itself, from the exact conditional distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from constructions.cells import cell_count, cells
from verify.lp_norm import Stratum, log_sum_powers
from verify.sobol import digital_shifts, sobol_points

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from constructions.targets import Floats, Target
    from theory.patterns import IntArray

__all__ = ["Plan", "RampPoints", "log_good", "log_ramp", "ramp_points", "sampled"]

EVALUATIONS = 2**20  # of f, in one integral over all cells
CHUNK = 2**20  # numbers at once
CELLS, RAMP, SHIFTS = range(3)  # purposes of random numbers
TINY = 2.0**-60


def log_good(alpha: float, coordinates: int) -> float:
    """Return log (1 - alpha)^{dn}: the measure of the inputs without a coordinate in a ramp."""
    return coordinates * float(np.log1p(-alpha))


def log_ramp(alpha: float, coordinates: int) -> float:
    """Return log(1 - (1 - alpha)^{dn}).

    Examples
    --------
    >>> round(float(np.exp(log_ramp(0.5, 2))), 12), round(float(np.exp(log_ramp(1e-30, 4))) * 1e30, 12)
    (0.75, 4.0)
    """
    return float(np.log(-np.expm1(log_good(alpha, coordinates))))


@dataclass(frozen=True, eq=False)
class Plan:
    """Which cells and points an error is measured on; the same for every t, alpha and p.

    Parameters
    ----------
    d, n, levels
        Shape of the input and K = 1/delta.
    seed
        Of the scramblings.
    scramblings
        R, at least 8 for an interval worth the name.
    points, ramp
        Points a scrambling, in cells where these are sampled, and in the ramp; powers of two.
    most_cells
        Up to so many cells all of them are used, beyond that a sample.
    """

    d: int
    n: int
    levels: int
    seed: int = 0
    scramblings: int = 8
    points: int = 2**10
    ramp: int = 2**11
    most_cells: int = 2**14

    @property
    def every_cell(self) -> bool:
        """Whether all K^{dn} cells are used."""
        return cell_count(self.d, self.n, self.levels) <= self.most_cells

    @cached_property
    def grids(self) -> IntArray:
        """The corners, in units of delta: (1, K^{dn}, d, n) if every cell is used, else (R, points, d, n)."""
        if self.every_cell:
            return cells(self.d, self.n, self.levels)[np.newaxis]
        return np.floor(self._sample).astype(np.int64)

    @cached_property
    def offsets(self) -> Floats:
        """Where in a cell f is looked at, in [0, 1): (R, m, d, n), shifted in every cell; sampled: one a cell."""
        if not self.every_cell:
            return self._sample - self.grids
        share = EVALUATIONS // (self.scramblings * self.grids.shape[1])
        count = 1 << (min(max(share, 4), self.points).bit_length() - 1)
        return self._draw(count)

    @property
    def method(self) -> str:
        """What a sum over cells is taken over."""
        if self.every_cell:
            return f"all {self.levels}^{self.d * self.n} cells"
        return f"{self.scramblings} scramblings of {self.points} Sobol cells"

    @cached_property
    def _sample(self) -> Floats:
        return self.levels * self._draw(self.points)

    def _draw(self, count: int) -> Floats:
        nets = sobol_points(self.d * self.n, count, self.scramblings, self.seed, CELLS)
        return nets.reshape(self.scramblings, count, self.d, self.n)

    def inputs(self, grids: IntArray, offsets: Floats) -> Floats:
        """Return X in [0, 1)^{d x n} of corners and offsets in units of delta."""
        return np.minimum(grids + offsets, np.nextafter(self.levels, 0)) / self.levels

    def over_cells(self, errors: Floats, p: float) -> Stratum:
        """Return the integral of what is constant on every cell; errors of shape `grids`."""
        if not self.every_cell:
            return sampled(errors, p, self.method)
        return Stratum(log_sum_powers(errors, p) - np.log(errors.shape[1]), self.method)

    def inside_cells(self, target: Target, values: Floats, p: float, share: float = 1.0) -> Stratum:
        """Return the integral of |f - values|_p^p, with values constant on every cell.

        Parameters
        ----------
        target
            f on the unit cube.
        values
            Shape of `grids`.
        share
            Only the part [0, share)^{dn} of every cell is seen; the result is divided by that part's measure.
        """
        if not self.every_cell:
            return sampled(target(self.inputs(self.grids, share * self.offsets)) - values, p, self.method)
        logs = [
            np.logaddexp.reduce(
                [log_sum_powers(chunk, p) for chunk in self._differences(target, values[0], share, net)]
            )
            for net in range(self.scramblings)
        ]
        count = self.offsets.shape[1]
        each = f"{count} Sobol points in each, {self.scramblings} scramblings"
        return Stratum(np.concatenate(logs) - np.log(len(values[0]) * count), f"{self.method}, {each}")

    def _differences(self, target: Target, values: Floats, share: float, net: int) -> Iterator[Floats]:
        """Iterate f(X) - value at the points of all cells, in chunks of shape (1, cells, points, d, n)."""
        offsets = self.offsets[net]
        rng = np.random.default_rng([self.seed, SHIFTS, net])
        size = max(1, CHUNK // offsets.size)
        for start in range(0, len(values), size):
            corners = self.grids[0, start : start + size, np.newaxis]
            held = values[start : start + size, np.newaxis]
            places = share * digital_shifts(offsets, len(corners), rng)
            yield (target(self.inputs(corners, places)) - held)[np.newaxis]


def sampled(errors: Floats, p: float, method: str) -> Stratum:
    """Return the mean of |errors|_p^p over points, one estimate a scrambling; errors (R, points, d, n)."""
    count = errors.shape[1]
    each = log_sum_powers(errors.reshape(-1, *errors.shape[2:]), p).reshape(-1, count) - np.log(count)
    return Stratum(np.asarray(np.logaddexp.reduce(each, axis=1)), method, float(each.max()))


@dataclass(frozen=True, eq=False)
class RampPoints:
    """Inputs with a coordinate in a ramp, in three parts; shapes (R, points, d, n).

    Parameters
    ----------
    grids
        Corners, in units of delta.
    offsets
        Where in the cell, in [0, 1).
    along
        How far along its ramp every coordinate is, in [0, 1): 0 on the good part of the cell. Quantization gives
        grids + along.
    """

    grids: IntArray
    offsets: Floats
    along: Floats

    @property
    def in_ramp(self) -> npt.NDArray[np.bool_]:
        """Which coordinates are in a ramp."""
        return self.along > 0


def ramp_points(plan: Plan, alpha: float) -> RampPoints:
    """Draw inputs uniformly from the ramp stratum.

    One number chooses the first coordinate in a ramp, P(first = i) proportional to alpha (1 - alpha)^i. Those
    before it are uniform on the good part of their cell, it is uniform on its ramp, and those after are uniform.

    Parameters
    ----------
    alpha
        The ramp's share of a cell, in (0, 1); however small.

    Examples
    --------
    >>> points = ramp_points(Plan(d=1, n=3, levels=4), alpha=1e-200)
    >>> points.grids.shape, bool((points.in_ramp.sum(axis=(-2, -1)) == 1).all())
    ((8, 2048, 1, 3), True)
    """
    size = plan.d * plan.n
    nets = sobol_points(size + 1, plan.ramp, plan.scramblings, plan.seed, RAMP)
    choice, rest = nets[..., :1], plan.levels * nets[..., 1:]
    grids = np.floor(rest)
    inside = rest - grids
    tiny = alpha < TINY  # all coordinates are equally likely then
    place_of = size * choice if tiny else np.log1p(choice * np.expm1(log_good(alpha, size))) / np.log1p(-alpha)
    first = np.minimum(np.floor(place_of), size - 1)
    place = np.arange(size)
    good = np.where(place < first, (1 - alpha) * inside, inside)
    along = np.where(place > first, np.maximum(inside - (1 - alpha), 0.0) / alpha, 0.0)
    along = np.where(place == first, np.maximum(inside, np.finfo(float).tiny), along)
    offsets = np.where(place == first, np.minimum(1 - alpha * (1 - inside), np.nextafter(1, 0)), good)
    shape = (*nets.shape[:2], plan.d, plan.n)
    return RampPoints(grids.astype(np.int64).reshape(shape), offsets.reshape(shape), along.reshape(shape))
