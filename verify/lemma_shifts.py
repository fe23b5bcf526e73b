"""The statements about the first half of the contextual mapping: u^T H and the selective shifts (App. E.2).

z_k = u^T H_k, z~_k = u^T of column k after the selective shifts, both in units of delta; gamma counts from 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from constructions.positional_embedding import initial_interval
from theory.wording import name_grid
from verify.injectivity import compare_all
from verify.lemma_check import Lemma, Witness, first_bad
from verify.lemma_trace import Trace, mapping_of, shift_bound, shifts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructions.numbers import Integers
    from theory.patterns import IntArray
    from verify.input_set import InputSet
    from verify.lemma_trace import Subject

__all__ = ["EQUATION_8", "EQUATION_9", "EQUATION_10", "ONE_TO_ONE", "PROOF", "RECURRENCE"]

PROOF = ("paper", "merged")


def _initial_order(trace: Trace) -> Witness | None:
    """Eq. (8): every z_k in its interval, and the intervals in order."""
    mapping, z = trace.mapping, trace.z
    places = [initial_interval(p, mapping.d, mapping.K, mapping.step) for p in mapping.positions.tolist()]
    low, high = np.array(places, dtype=mapping.dtype).T
    outside = first_bad((z < low) | (z > high), trace.grids, "z_k leaves its interval", z=z, low=low, high=high)
    path = np.roll(trace.path, -1)  # gamma(2), ..., gamma(n), gamma(1)
    return outside or _rising(z[:, path], path, trace.grids, "z")


def _shifted_order(trace: Trace) -> Witness | None:
    """Eq. (9): z~ rises along the path, and starts with z of gamma(1), which was not shifted."""
    path, first = trace.path, trace.path[:1]
    before, after = trace.z[:, first], trace.shifted[:, first]
    moved = first_bad(
        before != after, trace.grids, "gamma(1) was shifted", first.tolist(), z=before, shifted=after
    )
    return moved or _rising(trace.shifted[:, path], path, trace.grids, "z~")


def _rising(along: Integers, path: IntArray, grids: IntArray, name: str) -> Witness | None:
    """Return a token of the path whose value is no more than its predecessor's."""
    before, own = along[:, :-1], along[:, 1:]
    why = f"{name} is not above that of its predecessor"
    return first_bad(own <= before, grids, why, path[1:].tolist(), own=own, predecessor=before)


def _below_bound(trace: Trace) -> Witness | None:
    """Eq. (10)."""
    after, bound = trace.shifted, shift_bound(trace.mapping)
    return first_bad(after >= bound, trace.grids, "z~_k reaches n delta^{-nd}", value=after, bound=bound)


def _recurrence(trace: Trace) -> Witness | None:
    """Return a token whose z~ is not what its own and its predecessor's numbers say."""
    path = trace.path
    before, after = trace.z[:, path[1:]], trace.shifted[:, path]
    factor = max((shift.factor for shift in shifts(trace.mapping).shifts), default=1)
    own, wanted = after[:, 1:], before + factor * (after[:, :-1] - before)
    why = "z~_k breaks the recurrence"
    return first_bad(own != wanted, trace.grids, why, path[1:].tolist(), value=own, wanted=wanted)


def _one_to_one(subject: Subject, inputs: InputSet) -> Witness | None:
    """Return an input that shares z~_gamma(n) with another."""
    mapping = mapping_of(subject)

    def scan() -> Iterator[Integers]:
        for grids in inputs.chunks():
            yield Trace(mapping, grids).leader[:, 0]

    shared = compare_all(scan).repeated
    if shared is None:
        return None
    alike = (
        trace
        for grids, values in zip(inputs.chunks(), scan(), strict=True)
        for trace in (Trace(mapping, grid[None]) for grid in grids[np.flatnonzero(values == shared)])
    )
    first, second = next(alike), next(alike)
    why = f"input {name_grid(first.grids[0])} has the same z~"
    return Witness(second.grids[0].copy(), second.last, {"z~": shared}, why)


EQUATION_8 = Lemma(
    "eq. 8",
    "z_k lies in its interval, and z_gamma(2) < ... < z_gamma(n) < z_gamma(1)",
    look=_initial_order,
    constructions=PROOF,
)
"""The order of the tokens before the shifts."""

RECURRENCE = Lemma(
    "recurrence",
    "z~_gamma(i) = z_gamma(i) + a (z~_gamma(i-1) - z_gamma(i)) for i = 2..n, a the shift factor, delta^{-d}",
    look=_recurrence,
    constructions=PROOF,
)
"""What the selective shifts do: token gamma(i) takes up what gamma(i - 1) holds."""

EQUATION_9 = Lemma(
    "eq. 9",
    "z_gamma(1) = z~_gamma(1) < z~_gamma(2) < ... < z~_gamma(n)",
    look=_shifted_order,
    constructions=PROOF,
)
"""The order of the tokens after the shifts."""

EQUATION_10 = Lemma("eq. 10", "z~_k < n delta^{-nd}", look=_below_bound, constructions=PROOF)
"""The size of the numbers after the shifts."""

ONE_TO_ONE = Lemma("one-to-one", "H -> z~_gamma(n) is one-to-one", find=_one_to_one, constructions=PROOF)
"""The last token of the path knows the whole input."""
