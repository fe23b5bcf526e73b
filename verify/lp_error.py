"""The L_p errors of the three steps: f against fbar, gbar and the relaxed network g, each with its uncertainty.

    d_p(f, fbar)     discretization                       cells, Sobol points inside them
    d_p(fbar, gbar)  construction, 0 by Lemma 3           every cell, bit for bit
    d_p(gbar, g)     relaxation: good inputs, and ramp    one input a cell; the ramp by conditional sampling
    d_p(f, g)        total: good inputs, and ramp         as above

The domain is [0, 1)^{d x n} or any box [a, b)^{d x n}, stretched to it: distances scale by (b - a)^{dn/p}.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from constructions.backends import NUMPY
from constructions.error_budget import READ
from constructions.numbers import ProofError
from constructions.relaxation import SoftNetwork, soften
from constructions.soft_relu import check_alpha
from constructions.targets import corner_values
from theory.connections import PatternError
from verify.lp_box import UNIT_BOX, check_box, log_volume, on_box
from verify.lp_norm import Distance, check_p, distance
from verify.lp_strata import Plan, RampPoints, log_good, log_ramp, ramp_points, sampled

if TYPE_CHECKING:
    from constructions.backends import Backend
    from constructions.network import Network
    from constructions.numbers import Integers
    from constructions.targets import Floats, Target
    from theory.probability_maps import ProbabilityMap
    from verify.lp_norm import Stratum

__all__ = ["ErrorMeter", "LpErrors", "discretization_error"]

LEAST_ALPHA, GREATEST_ALPHA = 1e-300, 0.25  # of those chosen here
PILOT = 2**8  # points a scrambling, to choose alpha by
MOST_CHECKED = 2**18  # cells on which gbar is compared with fbar, all of them


def discretization_error(
    target: Target, plan: Plan, p: float = 2.0, box: tuple[float, float] = UNIT_BOX
) -> Distance:
    """Return d_p(f, fbar), with fbar the value of f at the corner of each cell; needs no network.

    If every entry of f moves by at most L |X - X'|_inf it is at most (dn)^{1/p} L delta on the unit cube (§4).

    Parameters
    ----------
    target
        f on the box.
    plan
        d, n, K and the points.
    p, box
        The norm's exponent, in [1, inf), and the ends a, b of the domain [a, b)^{d x n}.

    Examples
    --------
    >>> from constructions.targets import TARGETS
    >>> found = discretization_error(TARGETS["identity"], Plan(d=1, n=2, levels=4), p=1)
    >>> round(found.value, 6), 2 * 0.25 / 2, found.interval[0] <= 0.25 <= found.interval[1]
    (0.25, 0.25, True)
    """
    function = on_box(target, box)
    values = corner_values(function, plan.grids, plan.levels)
    stratum = plan.inside_cells(function, values, check_p(p))
    return distance("d_p(f, fbar)", [stratum], p, log_volume(plan.d * plan.n, box))


@dataclass(frozen=True)
class LpErrors:
    """The errors of a relaxed network.

    Parameters
    ----------
    discretization, construction, relaxation, total
        d_p(f, fbar), d_p(fbar, gbar), d_p(gbar, g), d_p(f, g).
    good, ramp
        The two parts of `relaxation`: inputs without and with a coordinate in a ramp. Their p-th powers add up.
    cells_right
        Share of the cells whose n ids are all within delta/4 of the exact ones.
    id_error
        The largest |relaxed id - id| over the cells, in units of delta; inf where one ran away.
    cells
        Cells that were run, and whether they are all there are.
    runaway
        Share of the ramp's inputs whose run was given up, which makes the error infinite.
    """

    discretization: Distance
    construction: Distance
    relaxation: Distance
    good: Distance
    ramp: Distance
    total: Distance
    cells_right: float
    id_error: float
    cells: tuple[int, bool]
    runaway: float


class ErrorMeter:
    """Measures one network, relaxed with any rho, t and alpha; what does not depend on them is done once.

    Parameters
    ----------
    network
        The hardmax network. Its target is f on the box, carried to the unit cube (`on_box`).
    plan
        Cells and points; None takes the default ones.
    p
        The norm's exponent, in [1, inf).
    box
        The ends a, b of the domain.
    backend
        Where the relaxed network is run; the rest is NumPy.

    Raises
    ------
    ProofError
        If p or the box is out of range.

    Examples
    --------
    >>> from constructions.network import build_network
    >>> from constructions.targets import TARGETS
    >>> from theory import families
    >>> from theory.probability_maps import parse_map
    >>> meter = ErrorMeter(build_network(families.ring(2), 1, 2, TARGETS["sort"], "relay"))
    >>> errors = meter.measure(parse_map("sparsemax"), t=8.0, alpha=1e-12)
    >>> errors.construction.value, errors.good.value, errors.cells_right
    (0.0, 0.0, 1.0)
    >>> 0 < errors.ramp.value < 1e-4
    True
    """

    def __init__(
        self,
        network: Network,
        plan: Plan | None = None,
        p: float = 2.0,
        box: tuple[float, float] = UNIT_BOX,
        backend: Backend = NUMPY,
    ) -> None:
        mapping = network.mapping
        self.network, self.p, self.box, self.backend = network, check_p(p), check_box(box), backend
        self.plan = Plan(mapping.d, mapping.pattern.n, mapping.K) if plan is None else plan
        if (self.plan.d, self.plan.n, self.plan.levels) != (mapping.d, mapping.pattern.n, mapping.K):
            raise ProofError("the plan is for another d, n or delta")

    @cached_property
    def ids(self) -> Integers:
        """The exact ids of the plan's cells, shape (rows, cells, n)."""
        return self.network.values.ids[self._numbers(self.plan.grids)]

    @cached_property
    def corner_values(self) -> Floats:
        """A_G on the plan's cells, shape (rows, cells, d, n)."""
        return self.network.values.outputs[self._numbers(self.plan.grids)]

    @cached_property
    def discretization(self) -> Distance:
        """d_p(f, fbar)."""
        stratum = self.plan.inside_cells(self.network.target, self.corner_values, self.p)
        return self._distance("d_p(f, fbar)", [stratum])

    @cached_property
    def construction(self) -> Distance:
        """d_p(fbar, gbar): 0 where every cell is exact, bit for bit; gbar is constant on cells (Lemma 6)."""
        name = "d_p(fbar, gbar)"
        count = self.network.values.outputs.shape[0]
        if count <= MOST_CHECKED and self.network.exact_on_cells:
            return Distance(name, 0.0, (0.0, 0.0), True, f"all {count} cells, bit for bit")
        columns = self.network.run_cells(self.plan.grids).columns
        return self._distance(name, [self.plan.over_cells(columns - self.corner_values, self.p)])

    def measure(self, rho: ProbabilityMap, t: float, alpha: float) -> LpErrors:
        """Return the errors of the relaxed network.

        Parameters
        ----------
        rho, t
            The probability map and its temperature.
        alpha
            The ramp's share of every cell, in (0, 1); as small as one likes.

        Raises
        ------
        ProofError
            If ids pass 2^53 units of delta, or t or alpha is out of range.
        """
        check_alpha(alpha)
        # The ramp of any alpha is that of 1/2, stretched: inputs are carried there, where floats are fine enough.
        soft = soften(self.network, rho, t, 0.5, backend=self.backend)
        size = self.plan.d * self.plan.n
        good, ramp = log_good(alpha, size), log_ramp(alpha, size)
        ids, columns = _run(soft, self.plan, self.plan.grids.astype(np.float64))
        away = np.abs(ids - self.ids.astype(np.float64))
        flat = self.plan.over_cells(columns - self.corner_values, self.p).shifted(good)
        total = self.plan.inside_cells(self.network.target, columns, self.p, 1 - alpha).shifted(good)
        ramps, total_ramps, runaway = self._ramp(soft, ramp_points(self.plan, alpha))
        ramps, total_ramps = ramps.shifted(ramp), total_ramps.shifted(ramp)
        return LpErrors(
            discretization=self.discretization,
            construction=self.construction,
            relaxation=self._distance("d_p(gbar, g)", [flat, ramps]),
            good=self._distance("d_p(gbar, g) on good inputs", [flat]),
            ramp=self._distance("d_p(gbar, g) on the ramp", [ramps]),
            total=self._distance("d_p(f, g)", [total, total_ramps]),
            cells_right=float((away <= READ).all(axis=-1).mean()),
            id_error=float(np.where(np.isnan(away), np.inf, away).max()),
            cells=(int(np.prod(self.ids.shape[:2])), self.plan.every_cell),
            runaway=runaway,
        )

    def small_alpha(self, rho: ProbabilityMap, t: float, share: float = 0.01) -> float:
        """Return an alpha at which the ramp makes d_p(gbar, g) about `share` delta, within [1e-300, 1/4].

        One coordinate at a time is then in a ramp, and the ramp's part of d_p is (dn alpha)^{1/p} times a mean
        size of raw ids, which is measured on a few points.
        """
        few = replace(self.plan, ramp=min(self.plan.ramp, PILOT))
        soft = soften(self.network, rho, t, 0.5, backend=self.backend)
        ramps, _, _ = self._ramp(soft, ramp_points(few, LEAST_ALPHA))
        size = self.plan.d * self.plan.n
        mean = (
            float(np.logaddexp.reduce(ramps.logs))
            - np.log(len(ramps.logs))
            + log_volume(self.plan.d * self.plan.n, self.box)
        )
        log = self.p * np.log(share / self.plan.levels) - mean - np.log(size)
        return float(f"{np.exp(np.clip(log, np.log(LEAST_ALPHA), np.log(GREATEST_ALPHA))):.1e}")

    def _ramp(self, soft: SoftNetwork, points: RampPoints) -> tuple[Stratum, Stratum, float]:
        """Return the mean p-th powers of gbar - g and f - g on the ramp, and the share of runs given up."""
        try:
            ids, columns = _run(soft, self.plan, _stretched(points))
        except PatternError as error:
            raise ProofError(f"the ramp is beyond {soft.mapping.rho.name}: {error}; softmax would fit") from error
        corners = self.network.values.outputs[self._numbers(points.grids)]
        f = self.network.target(self.plan.inputs(points.grids, points.offsets))
        lost = float(np.isnan(ids).any(axis=-1).mean())
        where = "{} scramblings of {} Sobol points, all in the ramp".format(*points.grids.shape[:2])
        return sampled(columns - corners, self.p, where), sampled(columns - f, self.p, where), lost

    def _numbers(self, grids: Integers) -> Integers:
        """Return the cells' numbers: the entries are digits in base K."""
        digits = grids.reshape(*grids.shape[:-2], -1)
        return np.asarray(digits @ self.plan.levels ** np.arange(digits.shape[-1])[::-1])

    def _distance(self, name: str, strata: list[Stratum]) -> Distance:
        return distance(name, strata, self.p, log_volume(self.plan.d * self.plan.n, self.box))


def _stretched(points: RampPoints) -> Floats:
    """Return the inputs with the same cell and place in the ramp for alpha = 1/2; others at the corner."""
    inside: Floats = np.where(points.in_ramp, np.minimum((1 + points.along) / 2, np.nextafter(1, 0)), 0.0)
    return points.grids.astype(np.float64) + inside


def _run(soft: SoftNetwork, plan: Plan, units: Floats) -> tuple[Floats, Floats]:
    """Return ids and columns of inputs in units of delta."""
    output = soft.run_units(np.minimum(units, np.nextafter(plan.levels, 0)))
    return output.ids, output.columns
