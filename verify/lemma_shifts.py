"""The statements about the first half of the contextual mapping: u^T H and the selective shifts (App. E.2).

z_k = u^T H_k, z~_k = u^T of column k after the selective shifts, both in units of delta; gamma counts from 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from constructions.positional_embedding import initial_interval
from verify.injectivity import compare_all
from verify.lemma_check import Lemma, Witness, chunk_by_chunk, first_bad, mapping_of, path_of, shifts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructions.mapping import StagedMapping
    from constructions.numbers import Integers
    from theory.patterns import IntArray
    from verify.input_set import InputSet
    from verify.lemma_check import Subject

__all__ = ["EQUATION_8", "EQUATION_9", "EQUATION_10", "ONE_TO_ONE", "RECURRENCE", "shift_bound", "shifted"]

PROOF = ("paper", "merged")


def shifted(mapping: StagedMapping, grids: IntArray) -> Integers:
    """Return z~, shape (m, n)."""
    return shifts(mapping).apply(mapping.initial(grids), mapping.pattern)


def shift_bound(mapping: StagedMapping) -> int:
    """Return n delta^{-nd} in units of delta: what every z~_k stays below (eq. 10)."""
    return int(mapping.pattern.n * mapping.K ** (mapping.pattern.n * mapping.d + 1))


def _initial_order(mapping: StagedMapping, grids: IntArray) -> Witness | None:
    """Eq. (8): every z_k in its interval, and the intervals in order."""
    z = mapping.initial(grids)
    places = [initial_interval(p, mapping.d, mapping.K, mapping.step) for p in mapping.positions.tolist()]
    low, high = np.array(places, dtype=mapping.dtype).T
    outside = first_bad((z < low) | (z > high), grids, "z_k leaves its interval", z=z, low=low, high=high)
    path = np.roll(path_of(mapping), -1)  # gamma(2), ..., gamma(n), gamma(1)
    return outside or _rising(z[:, path], path, grids, "z")


def _shifted_order(mapping: StagedMapping, grids: IntArray) -> Witness | None:
    """Eq. (9): z~ rises along the path, and starts with z of gamma(1), which was not shifted."""
    path = path_of(mapping)
    before, after = mapping.initial(grids)[:, path], shifted(mapping, grids)[:, path]
    same = first_bad(
        before[:, :1] != after[:, :1], grids, "gamma(1) was shifted", path[:1].tolist(), z=before[:, :1]
    )
    return same or _rising(after, path, grids, "z~")


def _rising(along: Integers, path: IntArray, grids: IntArray, name: str) -> Witness | None:
    """Return a token of the path whose value is no more than its predecessor's."""
    before, own = along[:, :-1], along[:, 1:]
    why = f"{name} is not above that of its predecessor"
    return first_bad(own <= before, grids, why, path[1:].tolist(), own=own, predecessor=before)


def _below_bound(mapping: StagedMapping, grids: IntArray) -> Witness | None:
    """Eq. (10)."""
    after, bound = shifted(mapping, grids), shift_bound(mapping)
    return first_bad(after >= bound, grids, "z~_k reaches n delta^{-nd}", value=after, bound=bound)


def _recurrence(mapping: StagedMapping, grids: IntArray) -> Witness | None:
    """Return a token whose z~ is not what its own and its predecessor's numbers say."""
    path = path_of(mapping)
    before, after = mapping.initial(grids)[:, path], shifted(mapping, grids)[:, path]
    factor = max((shift.factor for shift in shifts(mapping).shifts), default=1)
    wanted = before[:, 1:] + factor * (after[:, :-1] - before[:, 1:])
    return first_bad(
        after[:, 1:] != wanted,
        grids,
        "z~_k breaks the recurrence",
        path[1:].tolist(),
        value=after[:, 1:],
        wanted=wanted,
    )


def _one_to_one(subject: Subject, inputs: InputSet) -> Witness | None:
    """Return an input that shares z~_gamma(n) with another."""
    mapping = mapping_of(subject)
    last = int(path_of(mapping)[-1])

    def scan() -> Iterator[Integers]:
        for grids in inputs.chunks():
            yield shifted(mapping, grids)[:, last]

    shared = compare_all(scan).repeated
    if shared is None:
        return None
    alike = (
        grid
        for grids, values in zip(inputs.chunks(), scan(), strict=True)
        for grid in grids[np.flatnonzero(values == shared)]
    )
    first, second = next(alike), next(alike)
    return Witness(second.copy(), last, {"z~": shared}, f"input {first.tolist()} has the same z~")


EQUATION_8 = Lemma(
    "eq. 8",
    "z_k lies in its interval, and z_gamma(2) < ... < z_gamma(n) < z_gamma(1)",
    chunk_by_chunk(_initial_order),
    PROOF,
)
"""The order of the tokens before the shifts."""

RECURRENCE = Lemma(
    "recurrence",
    "z~_gamma(i) = z_gamma(i) + a (z~_gamma(i-1) - z_gamma(i)) for i = 2..n, a the shift factor, delta^{-d}",
    chunk_by_chunk(_recurrence),
    PROOF,
)
"""What the selective shifts do: token gamma(i) takes up what gamma(i - 1) holds."""

EQUATION_9 = Lemma(
    "eq. 9",
    "z_gamma(1) = z~_gamma(1) < z~_gamma(2) < ... < z~_gamma(n)",
    chunk_by_chunk(_shifted_order),
    PROOF,
)
"""The order of the tokens after the shifts."""

EQUATION_10 = Lemma("eq. 10", "z~_k < n delta^{-nd}", chunk_by_chunk(_below_bound), PROOF)
"""The size of the numbers after the shifts."""

ONE_TO_ONE = Lemma("one-to-one", "H -> z~_gamma(n) is one-to-one", _one_to_one, PROOF)
"""The last token of the path knows the whole input."""
