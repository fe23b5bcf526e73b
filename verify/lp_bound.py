"""The rigorous bound on d_p(gbar, g) over good inputs, from the error budget of the ids (§8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from constructions.error_budget import READ
from verify.lp_box import UNIT_BOX, log_volume
from verify.lp_strata import log_good

if TYPE_CHECKING:
    from constructions.network import Network
    from constructions.value_mapping import ValueMapping
    from theory.bounds import ErrorBudget

__all__ = ["RelaxationBound", "relaxation_bound"]

UNIT = 2.0**-53


@dataclass(frozen=True)
class RelaxationBound:
    """A bound that holds for every good input.

    Parameters
    ----------
    ids
        On |relaxed id - id|, in units of delta.
    relaxation
        On d_p(gbar, g) over good inputs; inf where nothing is claimed.
    why
        One sentence.
    """

    ids: float
    relaxation: float
    why: str


def relaxation_bound(
    network: Network,
    budget: ErrorBudget,
    alpha: float,
    p: float = 2.0,
    box: tuple[float, float] = UNIT_BOX,
) -> RelaxationBound:
    """Return what the budget of the ids means for the outputs.

    An id off by e <= delta/4 is in its own window, which is 1 there, and in no other. So the output is A plus the
    error, in the first of the d rows only: d_p <= (n (1 - alpha)^{dn})^{1/p} e, as long as no written output can
    then touch a window still to come.

    Parameters
    ----------
    network
        The hardmax network.
    budget
        Of its contextual mapping, at some rho and t.
    alpha, p, box
        As for `ErrorMeter`.
    """
    values, mapping = network.values, network.mapping
    if not budget.valid:
        return RelaxationBound(float("inf"), float("inf"), budget.why)
    lift = (
        UNIT * (float(int(values.ids.max())) + values.lifted_by + 1) if values.lifted_by and budget.bound else 0.0
    )
    error = budget.bound + lift
    if error > READ:
        return RelaxationBound(budget.bound, float("inf"), f"{budget.why}: beyond delta/4 the windows fade")
    if _touches(values, mapping.K, error):
        why = "an output lies so close to a window still to come that the error can carry it there"
        return RelaxationBound(budget.bound, float("inf"), why)
    rounding = 4 * UNIT * (float(np.abs(values.outputs).max()) + error / mapping.K) if error else 0.0
    n, coordinates = mapping.pattern.n, mapping.d * mapping.pattern.n
    logs = (float(np.log(n)), log_good(alpha, coordinates), log_volume(coordinates, box))
    measure, slack = float(np.exp(sum(logs) / p)), 1 + (2**10 + 8 * sum(map(abs, logs)) / p) * UNIT
    return RelaxationBound(budget.bound, (error / mapping.K + rounding) * measure * slack, budget.why)


def _touches(values: ValueMapping, levels: int, error: float) -> bool:
    """Return whether a written output, moved by `error` units, can touch a window of a later layer."""
    if int(values.slots.max()) + 1 < int(values.ids.min()) + values.lifted_by:
        return False
    if values.slots.dtype == object:
        return True
    ids = (values.ids + values.lifted_by).ravel()
    known, place = np.unique(ids, return_inverse=True)
    last = np.zeros(known.size, dtype=np.int64)
    order = np.arange(ids.size)
    np.maximum.at(last, place.ravel(), order)
    weights = float(levels) ** np.arange(1, values.outputs.shape[1] + 1)
    heights = np.einsum("cik,i->ck", values.outputs, weights).ravel()
    slots = values.slots.ravel()
    slack = error + 2.0**-45 * (1 + np.abs(heights))
    for side in (-1, 1):
        neighbour = np.minimum(np.searchsorted(known, slots + side), known.size - 1)
        meets = (known[neighbour] == slots + side) & (last[neighbour] > order)
        if np.any(meets & (side * (heights - slots) + slack > 0.5)):
            return True
    return False
