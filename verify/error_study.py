"""How the error of a relaxed network falls as t grows: measured, bounded, and the two t at which ids are right."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from constructions.backends import NUMPY, Backend
from constructions.error_budget import Budgets
from constructions.network import build_network
from constructions.numbers import ProofError
from constructions.relaxation import soften
from verify.inputs import AllInputs
from verify.literal_mapping import run_mapping
from verify.lp_bound import RelaxationBound, relaxation_bound
from verify.lp_box import UNIT_BOX, check_distances, on_box
from verify.lp_check import Contradiction, contradictions
from verify.lp_error import ErrorMeter, LpErrors
from verify.lp_norm import check_p
from verify.lp_strata import Plan
from verify.soft_ids import measured_t

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from constructions.network import Network
    from constructions.targets import Target
    from theory.bounds import ErrorBudget
    from theory.patterns import SparsityPattern
    from theory.probability_maps import ProbabilityMap
    from verify.lemma_check import LemmaCheck

__all__ = ["ErrorRow", "ErrorStudy", "study_error"]


@dataclass(frozen=True)
class ErrorRow:
    """One temperature: what was measured, and the bound."""

    t: float
    errors: LpErrors
    bound: RelaxationBound


@dataclass(frozen=True, eq=False)
class ErrorStudy:
    """What a run over t showed.

    Parameters
    ----------
    network
        The hardmax network.
    rho
        The probability map.
    alpha, p, box
        Ramp, norm and domain.
    seed
        Of the scrambled Sobol points.
    rows
        One a temperature, rising.
    t_guaranteed
        From here on the budget guarantees ids within delta/4; None where no t does.
    t_measured
        The smallest t at which all ids of the plan's cells are right; None where none was found.
    guarantee
        The budget at t_guaranteed: its least score gap zeta, and the mass eta that its heads may lose.
    backend
        Where the relaxed network was run.
    blocks
        Whether the blocks of the contextual mapping, which are what is relaxed, give the ids of its run at once.
    """

    network: Network
    rho: ProbabilityMap
    alpha: float
    p: float
    box: tuple[float, float]
    seed: int
    rows: tuple[ErrorRow, ...]
    t_guaranteed: float | None
    t_measured: float | None
    guarantee: ErrorBudget | None
    backend: Backend = NUMPY
    blocks: LemmaCheck | None = None

    @cached_property
    def contradictions(self) -> tuple[Contradiction, ...]:
        """Where a measured value is above its rigorous bound, or d_p(fbar, gbar) is not 0."""
        return contradictions(self)

    @property
    def holds(self) -> bool:
        """Whether what was measured keeps to what is proved."""
        return not self.contradictions

    @property
    def zeta(self) -> float | None:
        """The least score gap of any head at t_guaranteed; None without one, or where no two scores compete."""
        return self.guarantee.zeta if self.guarantee is not None and np.isfinite(self.guarantee.zeta) else None

    @property
    def eta(self) -> float | None:
        """The greatest mass that a head may lose at t_guaranteed."""
        return max(self.guarantee.eta.values(), default=0.0) if self.guarantee is not None else None


def study_error(
    pattern: SparsityPattern,
    *,
    d: int,
    levels: int,
    target: Target,
    rho: ProbabilityMap,
    construction: str = "paper",
    t: Sequence[float] | None = None,
    alpha: float | None = None,
    p: float = 2.0,
    box: tuple[float, float] = UNIT_BOX,
    plan: Plan | None = None,
    seed: int = 0,
    backend: Backend = NUMPY,
    progress: Callable[[str, float | None], None] | None = None,
) -> ErrorStudy:
    """Build the network, relax it, and measure its error over t.

    Parameters
    ----------
    pattern, d, levels, construction
        What is built; K = levels = 1/delta. On a box [a, b) the grid's step is delta (b - a).
    target
        f, on the box.
    rho
        The probability map.
    t
        Temperatures; None takes some around the measured and the guaranteed one.
    alpha
        The ramp's share of a cell; None takes `ErrorMeter.small_alpha` at the largest t.
    p, box
        Norm and domain.
    plan, seed
        Cells and points; None takes the default plan, with the seed.
    backend
        Where the relaxed network is run.
    progress
        Is told (step, share done or None).

    Raises
    ------
    ProofError, TargetError
        If the network cannot be built, ids pass 2^53 units of delta, or a number is out of range.

    Examples
    --------
    >>> from constructions.targets import TARGETS
    >>> from theory import families
    >>> from theory.probability_maps import parse_map
    >>> case = {"d": 1, "levels": 2, "target": TARGETS["sort"], "construction": "relay"}
    >>> study = study_error(families.star(4, 1), rho=parse_map("softmax"), **case)
    >>> study.t_measured < study.t_guaranteed, study.rows[-1].errors.cells_right
    (True, 1.0)
    >>> study.holds, study.rows[-1].errors.good.value <= study.rows[-1].bound.relaxation
    (True, True)
    """
    say = progress or (lambda _step, _share: None)
    check_p(p)
    check_distances(d * pattern.n, p, box)
    for value in t or ():
        if not 0 < value < np.inf:
            raise ProofError(f"t must be positive and finite, got {value:g}")
    say("building the network", None)
    network = build_network(pattern, d, levels, on_box(target, box), construction)
    mapping = network.mapping
    soften(network, rho, 1.0, 0.5 if alpha is None else alpha)  # what does not fit is refused before the long work
    meter = ErrorMeter(network, Plan(d, pattern.n, levels, seed) if plan is None else plan, p, box, backend)
    say("running the blocks one after another", None)
    blocks = run_mapping(mapping, AllInputs(d, pattern.n, levels), seed).check
    say("the guaranteed t", None)
    budgets = Budgets(mapping)
    guaranteed = budgets.guaranteed_t(rho)
    grids = meter.plan.grids.reshape(-1, d, pattern.n)
    exact = meter.ids.reshape(-1, pattern.n)
    measured = measured_t(mapping, rho, grids, exact, backend=backend, progress=say)
    temperatures = _chosen(measured, guaranteed) if t is None else sorted(set(map(float, t)))
    if alpha is None:
        say("choosing alpha", None)
        alpha = meter.small_alpha(rho, temperatures[-1])
    rows = []
    for number, value in enumerate(temperatures):
        say(f"measuring at t = {value:.6g}", number / len(temperatures))
        errors = meter.measure(rho, value, alpha)
        rows.append(ErrorRow(value, errors, relaxation_bound(network, budgets.at(rho, value), alpha, p, box)))
    return ErrorStudy(
        network=network,
        rho=rho,
        alpha=alpha,
        p=p,
        box=box,
        seed=meter.plan.seed,
        rows=tuple(rows),
        t_guaranteed=guaranteed,
        t_measured=measured,
        guarantee=None if guaranteed is None else budgets.at(rho, guaranteed),
        backend=backend,
        blocks=blocks,
    )


def _chosen(measured: float | None, guaranteed: float | None) -> list[float]:
    """Return temperatures that show the fall."""
    if measured is None and guaranteed is None:
        return [1.0, 2.0**5, 2.0**10]
    chosen = [] if measured is None else [measured / 4, measured / 2, measured, 2 * measured]
    return sorted({*chosen, *(() if guaranteed is None else (guaranteed,))})
