"""The search for a t: a map's weights on adversarial vectors, judged at one t after another."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from theory.adversarial_vectors import adversarial_vectors
from theory.connections import PatternError
from theory.probability_maps.outside import UserMap, shown

if TYPE_CHECKING:
    import numpy.typing as npt

    from theory.adversarial_vectors import AdversarialVector
    from theory.probability_maps.base import ProbabilityMap

__all__ = ["Outcome", "Search", "Trial", "Trials", "search"]

LADDER = (*range(17), 32, 64, 128, 256)
"""Powers of two: the t zeta that are tried going up; beyond the last, squares of scores would overflow."""

LOWEST = -30
"""The power of two at which the way down ends, where every t does."""

CLOSE = 1e-10
SLACK = 1e-9
"""What a map that is computed in float64 may be off: the sum from 1, relative to eta the mass of the others."""

NEGATIVE = -1e-12


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a map made of one vector.

    Parameters
    ----------
    t, vector
        The map was given t v.
    lost
        The others' mass; NaN where the weights are none.
    leader_weight
        The leader's.
    fault
        Why the weights cannot be judged, or are no probabilities.
    improper
        Finite weights that are negative or do not sum to 1.
    """

    t: float
    vector: npt.NDArray[np.float64]
    lost: float
    leader_weight: float
    fault: str | None = None
    improper: bool = False


@dataclass(frozen=True, eq=False)
class Trial:
    """Every vector's outcome at one t."""

    outcomes: tuple[Outcome, ...]
    eta: float

    @cached_property
    def worst(self) -> Outcome | None:
        """The outcome that lost most, the first of those that rounding alone tells apart."""
        judged = [outcome for outcome in self.outcomes if outcome.fault is None]
        most = max((outcome.lost for outcome in judged), default=0.0)
        return next((outcome for outcome in judged if outcome.lost >= most * (1 - SLACK)), None)

    @property
    def kept(self) -> bool:
        """Whether every vector kept the promise."""
        return all(keeps(outcome, self.eta) for outcome in self.outcomes)

    @property
    def murky(self) -> str | None:
        """The fault that alone stands in the way: no vector breaks the promise, some cannot be judged."""
        if self.worst is None or not keeps(self.worst, self.eta):
            return None
        return next((outcome.fault for outcome in self.outcomes if outcome.fault is not None), None)


def keeps(outcome: Outcome, eta: float) -> bool:
    """Return whether the promise is kept, up to rounding."""
    return outcome.lost <= eta * (1 + SLACK) and outcome.leader_weight >= 1 - eta - SLACK


class Trials:
    """One map, one promise, and the vectors that try to break it."""

    def __init__(self, rho: ProbabilityMap, zeta: float, eta: float, m: int) -> None:
        self.rho, self.zeta, self.eta, self.m = rho, zeta, eta, m
        self.vectors = adversarial_vectors(zeta, m)
        self._map = rho if isinstance(rho, UserMap) else UserMap(rho.name, rho)
        self._breaker = 0

    def at(self, t: float) -> Trial:
        """Try every vector."""
        return Trial(tuple(self._outcome(vector, t) for vector in self.vectors), self.eta)

    def pass_at(self, t: float) -> bool:
        """Return whether every vector keeps the promise; the one that broke it last goes first."""
        for turn in range(len(self.vectors)):
            number = (self._breaker + turn) % len(self.vectors)
            if not keeps(self._outcome(self.vectors[number], t), self.eta):
                self._breaker = number
                return False
        return True

    def breaker_passes_at(self, t: float) -> bool:
        """Return whether the vector that broke the promise last keeps it here."""
        return keeps(self._outcome(self.vectors[self._breaker], t), self.eta)

    def _outcome(self, vector: AdversarialVector, t: float) -> Outcome:
        scores, plain = vector.scaled(t, self.zeta), vector.scaled(1.0, self.zeta)
        try:
            weights = self._map.one(scores)
        except PatternError as error:
            return Outcome(t, plain, math.nan, math.nan, str(error))
        if not np.isfinite(weights).all():
            fault = f"{self.rho.name} returned {shown(weights)} for the scores {shown(scores)}"
            return Outcome(t, plain, math.nan, math.nan, fault)
        leader, total, least = float(weights[vector.leader]), float(weights.sum()), float(weights.min())
        if abs(total - 1) > SLACK or least < NEGATIVE:
            fault = f"its weights for the scores {shown(scores)} sum to {total:.9g}, the least is {least:.3g}"
            return Outcome(t, plain, math.nan, leader, fault, improper=True)
        return Outcome(t, plain, float(np.delete(weights, vector.leader).sum()), leader)


@dataclass(frozen=True, eq=False)
class Search:
    """What a search found.

    Parameters
    ----------
    t
        The smallest t that passed; None if none did.
    best
        The worst outcome at that t; where there is none, at the t whose worst outcome was best.
    improper
        An outcome that is no probability vector.
    faults
        One for every t that only a fault kept from passing.
    first, last
        The range of t tried going up.
    stopped
        Whether the search ended at t_max.
    """

    t: float | None
    best: Outcome | None
    improper: Outcome | None
    faults: tuple[str, ...]
    first: float
    last: float
    stopped: bool


def search(trials: Trials, t_max: float | None) -> Search:
    """Go up in powers of two from t zeta = 1 until every vector passes, then bisect; down if the first passes.

    Raises
    ------
    PatternError
        If the map cannot be run on the first vector, whose scores are small.
    """
    ladder = [2.0**power / trials.zeta for power in LADDER]
    if t_max is not None:
        ladder = [*(t for t in ladder if t < t_max), t_max]
    tried: list[Trial] = []
    for t in ladder:
        trial = trials.at(t)
        tried.append(trial)
        fault = tried[0].outcomes[0]
        if fault.fault is not None and not fault.improper:
            raise PatternError(fault.fault)
        improper = next((outcome for outcome in trial.outcomes if outcome.improper), None)
        if improper is not None or trial.kept:
            break
    found = None
    if improper is None and tried[-1].kept:
        found = _bisect(trials, ladder[: len(tried)])
        best = trials.at(found).worst
    else:
        judged = [trial.worst for trial in tried if trial.worst is not None]
        best = min(judged, key=lambda outcome: outcome.lost, default=None)
    faults = tuple(trial.murky for trial in tried if trial.murky is not None)
    return Search(found, best, improper, faults, ladder[0], ladder[-1], t_max is not None)


def _bisect(trials: Trials, ladder: list[float]) -> float:
    """Return the least t that passes, given that of the ladder only the last does.

    The vector that broke the promise last is bisected alone; where another breaks it there, that one is next.
    """
    good = ladder[-1]
    bad = ladder[-2] if len(ladder) > 1 else good / 2
    step, lowest = 2.0, 2.0**LOWEST / trials.zeta
    while trials.pass_at(bad):
        step *= step  # where every t passes, the way down is long
        good, bad = bad, max(bad / step, lowest)
        if good <= lowest:
            return good
    while True:
        high = good
        while high > bad * (1 + CLOSE):
            middle = math.sqrt(bad) * math.sqrt(high) if high > 4 * bad else (bad + high) / 2
            if trials.breaker_passes_at(middle):
                high = middle
            else:
                bad = middle
        if high == good or trials.pass_at(high):
            return high
        bad = high
