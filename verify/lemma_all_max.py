"""The statements about the second half of the contextual mapping: the all-max-shifts (App. E.2, eqs. 12 and 13).

z~_k = u^T of column k before them, M^t_k after t of them, q_k = M^s_k, in units of delta. c is their factor,
2 s n delta^{-nd-1} in the paper; with other constants the statements are checked for the c that there is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verify.lemma_check import Lemma, Witness, first_bad
from verify.lemma_shifts import PROOF
from verify.lemma_trace import all_max_shifts, mapping_of, shift_bound

if TYPE_CHECKING:
    from constructions.numbers import Integers
    from theory.patterns import Connections
    from verify.input_set import InputSet
    from verify.lemma_trace import Subject, Trace

__all__ = ["EQUATION_12", "EQUATION_13", "INTERVALS", "LEADER", "RESIDUES"]


def _growth(subject: Subject, _: InputSet) -> Witness | None:
    """Eq. (12), with n delta^{-nd-1} / c for 1 / 2s: the parts of q_k below c^s z~ stay below c^s delta."""
    mapping = mapping_of(subject)
    stage, bound = all_max_shifts(mapping), shift_bound(mapping)
    left, right = (stage.factor + bound) ** stage.count, 2 * stage.factor**stage.count
    if left <= right:
        return None
    numbers = {"s": stage.count, "c": stage.factor, "n delta^{-nd-1}": bound}
    return Witness(None, None, numbers, "(1 + n delta^{-nd-1} / c)^s exceeds 2")


def _over_rows(values: Integers, layer: Connections) -> Integers:
    """Return the maximum over A_k of every token k."""
    return np.asarray(np.maximum.reduceat(values[:, layer.keys], layer.indptr[:-1], axis=1))


def _attained(trace: Trace) -> Witness | None:
    """Eq. (13) after t = 1..s shifts, for B the attended sets of the pattern whose turn is next."""
    pattern = trace.mapping.pattern
    values = seen = trace.shifted  # M^t, and the greatest z~ over S_k^t
    for t, block in enumerate(all_max_shifts(trace.mapping).blocks(), start=1):
        values, seen = block.apply(values, pattern), _over_rows(seen, pattern.layers[block.layer])
        layer = pattern.layers[t % pattern.p]
        best, most = _over_rows(values, layer), _over_rows(seen, layer)
        leads = values[:, layer.keys] == np.repeat(best, layer.degrees, axis=1)
        own = np.maximum.reduceat(np.where(leads, seen[:, layer.keys], -1), layer.indptr[:-1], axis=1)
        why = f"the greatest M^{t} over its attended set is not where the greatest z~ has been seen"
        witness = first_bad(own != most, trace.grids, why, seen_there=own, greatest=most)
        if witness is not None:
            return witness
    return None


def _leader_seen(trace: Trace) -> Witness | None:
    """Return a token k with no z~_gamma(n) in S_k^s: what the proof needs Assumption 1.3 for."""
    seen = trace.shifted
    for block in all_max_shifts(trace.mapping).blocks():
        seen = _over_rows(seen, trace.mapping.pattern.layers[block.layer])
    why = f"the id of gamma(n), token {trace.last}, does not arrive"
    return first_bad(seen != trace.leader, trace.grids, why, greatest=seen, leader=trace.leader)


def _in_interval(trace: Trace) -> Witness | None:
    """Return a q_k outside [c^s z~_gamma(n), c^s (z~_gamma(n) + delta))."""
    stage = all_max_shifts(trace.mapping)
    power = stage.factor**stage.count
    if power == 0:
        return Witness(trace.grids[0].copy(), 0, {"c": 0}, "q_k lies in no interval of width 0")
    q = _wide(trace.q, power * (int(trace.leader.max()) + 1))
    low = trace.leader.astype(q.dtype) * power
    why = f"q_k leaves the interval of z~ of gamma(n), token {trace.last}"
    return first_bad((q < low) | (q >= low + power), trace.grids, why, q=q, low=low, leader=trace.leader)


def _residue(trace: Trace) -> Witness | None:
    """Return a q_k whose residue modulo c delta is not z~_k."""
    factor, wanted = all_max_shifts(trace.mapping).factor, trace.shifted
    found = _wide(trace.q, factor) % max(factor, 1)
    why = "q_k mod c delta is not z~_k"
    return first_bad(found != wanted, trace.grids, why, q=trace.q, residue=found, wanted=wanted)


def _wide(values: Integers, number: int) -> Integers:
    """Return the values in a dtype in which they can be divided by the number."""
    return values if number <= np.iinfo(np.int64).max else values.astype(object)


EQUATION_12 = Lemma(
    "eq. 12",
    "(1 + n delta^{-nd-1} / c)^s <= 2; with the paper's c this is ((2s+1) / 2s)^s <= 2",
    find=_growth,
    constructions=PROOF,
    of_inputs=False,
)
"""Why 2 s is enough in c: the lower terms together stay below one step of the leading one."""

EQUATION_13 = Lemma(
    "eq. 13",
    "the greatest M^t over a set B is where the greatest z~ over the union of the S_k^t, k in B, was seen",
    look=_attained,
    constructions=PROOF,
)
"""The maxima follow z~, so the id of gamma(n) travels; the paper states t = 1, the induction needs all t < s."""

LEADER = Lemma(
    "leader seen",
    "gamma(n) lies in S_k^s for every token k (what the proof uses of Assumption 1.3)",
    look=_leader_seen,
    constructions=PROOF,
)
"""Fails, with the token, where s is too small."""

INTERVALS = Lemma(
    "intervals",
    "every q_k lies in [c^s z~_gamma(n), c^s (z~_gamma(n) + delta))",
    look=_in_interval,
    constructions=PROOF,
)
"""Ids of different inputs lie in different intervals: 7.2."""

RESIDUES = Lemma(
    "residues",
    "q_k mod c delta = z~_k; with the paper's c the modulus is 2 s n delta^{-nd}",
    look=_residue,
    constructions=PROOF,
)
"""Ids of one input keep the distinct z~ as residues: 7.1."""
