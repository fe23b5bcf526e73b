"""Assumption 2 (paper, §3.2): some t > 0 makes rho[t v] as sharp as promised.

For every v whose largest entry leads by at least zeta, rho[t v] must give that entry at least 1 - eta. For the
maps of `theory.probability_maps` the answer is proved by formula; for any other callable it is searched for, on
vectors built to make it fail. A t that survives them is evidence, and so is a search that finds none; only a
vector on which the map is no probability map at all proves something.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from theory.assumption_2_search import Trials, search
from theory.connections import PatternError
from theory.probability_maps.base import ProbabilityMap
from theory.probability_maps.outside import UserMap, shown
from theory.probability_maps.promise import check_promise
from theory.verdicts import Answer
from theory.wording import name_upper

if TYPE_CHECKING:
    from collections.abc import Callable

    from theory.assumption_2_search import Outcome, Search

__all__ = ["Assumption2", "check_assumption_2"]

LARGEST_ZETA = 1e100


@dataclass(frozen=True)
class Assumption2:
    """What is known of Assumption 2 for one map, one lead zeta, one eta and one number of scores m.

    Parameters
    ----------
    name
        The map.
    zeta, eta, m
        The leader leads m - 1 others by zeta; they may keep eta.
    answer
        Holds, fails, or undecided.
    proved
        Whether the answer follows from the map's formula or from one vector; False: from the search alone.
    why
        One sentence.
    t_sufficient, t_tight
        What the map's formulas say; None where no t is sufficient, or nothing is known.
    t_found
        The smallest t at which no vector broke the promise, to a relative 1e-10.
    worst_vector
        The v that came out worst: at t_found, or at the t that did best.
    worst_t, leader_weight
        That t, and the weight of the leader of rho[t v].
    vectors
        How many vectors were tried at every t.
    """

    name: str
    zeta: float
    eta: float
    m: int
    answer: Answer
    proved: bool
    why: str
    t_sufficient: float | None
    t_tight: float | None
    t_found: float | None
    worst_vector: tuple[float, ...] | None
    worst_t: float | None
    leader_weight: float | None
    vectors: int

    @property
    def holds(self) -> bool | None:
        """True, false, or None for undecided."""
        return self.answer.as_json()


def check_assumption_2(
    rho: Callable[[Any], Any], zeta: float, eta: float, m: int, *, t_max: float | None = None
) -> Assumption2:
    """Find a t at which rho keeps the promise of Assumption 2, or say that none was found.

    Parameters
    ----------
    rho
        A `ProbabilityMap`, or any callable from m float64 scores to m weights.
    zeta
        The leader's lead, > 0.
    eta
        The mass that the others may have, in (0, 1].
    m
        Number of scores, at least 2.
    t_max
        The largest t to try. A search that ends there without a t is undecided. None: up to t zeta = 2^256.

    Raises
    ------
    PatternError
        If an argument is out of range, or rho cannot be run on small scores.

    Examples
    --------
    >>> from theory.probability_maps import parse_map
    >>> result = check_assumption_2(parse_map("sparsemax"), 0.5, 0.001, 4)
    >>> result.holds, result.t_sufficient, round(result.t_found, 6)
    (True, 2.0, 1.997333)
    >>> result = check_assumption_2(lambda v: v**2 / (v**2).sum(), 0.5, 0.001, 4)
    >>> result.holds, result.proved, result.t_found, result.worst_vector
    (False, False, None, (0.0, -0.5, -0.5, -0.5))
    """
    check_promise(zeta, eta, m)
    if zeta > LARGEST_ZETA:
        raise PatternError(f"zeta is larger than {LARGEST_ZETA:g}: scale it and the scores down, got {zeta}")
    if m < 2:
        raise PatternError(f"Assumption 2 needs a leader and a competitor, got {m} score")
    if t_max is not None and not (math.isfinite(t_max) and t_max > 0):
        raise PatternError(f"t_max must be a positive number, got {t_max}")
    known = rho if isinstance(rho, ProbabilityMap) else UserMap(getattr(rho, "__name__", "the map"), rho)
    trials = Trials(known, zeta, eta, m)
    found = search(trials, t_max)
    searched = _by_search(trials, found)
    if not known.proved:
        return searched
    t = known.sufficient_t(zeta, eta, m)
    searched = replace(searched, t_sufficient=t, t_tight=known.tight_t(zeta, eta, m))
    if t is None:
        shows = "the vectors tried do not show it" if searched.t_found else _sentence(found.best)
        why = f"no t is sufficient, by its formula: {shows}"
        return replace(searched, answer=Answer.FAILS, proved=True, why=why, t_found=None)
    trial = trials.at(t)
    if trial.kept:
        vectors = f"{searched.vectors} adversarial vectors agree"
        why = f"t = {name_upper(t, 6)} is sufficient by its formula, and {vectors}"
        return replace(searched, answer=Answer.HOLDS, proved=True, why=why)
    return replace(searched, why=f"its formula's t is refuted: {_sentence(trial.worst)}; {searched.why}")


def _by_search(trials: Trials, found: Search) -> Assumption2:
    """Say what the search shows, and that it is a search."""
    evidence = found.best
    if found.improper is not None:
        answer, evidence = Answer.FAILS, found.improper
        why = f"{trials.rho.name} is no probability map: {found.improper.fault}"
    elif found.t is not None:
        answer = Answer.HOLDS
        why = (
            f"none of {len(trials.vectors)} adversarial vectors breaks the promise at t = {found.t:.6g} (no proof)"
        )
    elif found.faults:
        answer = Answer.UNDECIDED
        why = f"no t was found, but {found.faults[0]}: write the map so that large scores do no harm"
    elif found.stopped:
        answer = Answer.UNDECIDED
        why = f"no t up to t_max = {found.last:.6g} keeps the promise: {_sentence(found.best)}"
    else:
        answer = Answer.FAILS
        why = (
            f"no t tried from {found.first:.2g} to {found.last:.2g} keeps the promise (a search, no proof): "
            f"{_sentence(found.best)}"
        )
    return Assumption2(
        name=trials.rho.name,
        zeta=trials.zeta,
        eta=trials.eta,
        m=trials.m,
        answer=answer,
        proved=found.improper is not None,
        why=why,
        t_sufficient=None,
        t_tight=None,
        t_found=found.t,
        worst_vector=None if evidence is None else tuple(evidence.vector.tolist()),
        worst_t=None if evidence is None else evidence.t,
        leader_weight=None if evidence is None else evidence.leader_weight,
        vectors=len(trials.vectors),
    )


def _sentence(outcome: Outcome | None) -> str:
    if outcome is None:
        return "no vector could be judged"
    return f"at t = {outcome.t:.6g} the leader of {shown(outcome.vector)} gets {outcome.leader_weight:.6g}"
