"""The statements about the relay construction that are its own: where the ids of every token lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from constructions.positional_embedding import initial_interval
from constructions.relay import RelayMapping
from constructions.relay_stage import RelayStage
from verify.lemma_check import Lemma, Witness, first_bad
from verify.lemma_trace import mapping_of

if TYPE_CHECKING:
    from theory.patterns import IntArray
    from verify.input_set import InputSet
    from verify.lemma_trace import Subject, Trace

__all__ = ["DISJOINT_SLOTS", "IN_SLOT"]


def _disjoint(subject: Subject, _: InputSet) -> Witness | None:
    """Follow every token's slot through all steps: between two steps no slot meets another."""
    mapping = mapping_of(subject)
    homes = [initial_interval(place, mapping.d, mapping.K, mapping.step) for place in mapping.positions.tolist()]
    low, high = (np.array(side, dtype=object) for side in zip(*homes, strict=True))
    order = np.argsort(low)
    meets = np.flatnonzero(low[order[1:]] <= high[order[:-1]])
    if meets.size:
        return _meeting(int(order[meets[0] + 1]), int(order[meets[0]]), low, high, "at the start")
    steps = [step for stage in mapping.stages if isinstance(stage, RelayStage) for step in stage.steps]
    for number, step in enumerate(steps):
        query = step.query
        low[query], high[query] = step.home, step.home + step.result - 1
        met = np.flatnonzero((low <= high[query]) & (high >= low[query]))
        others = met[met != query]
        if others.size:
            return _meeting(query, int(others[0]), low, high, f"after step {number}")
    return None


def _meeting(token: int, other: int, low: IntArray, high: IntArray, when: str) -> Witness:
    values = {"low": low[token], "high": high[token], "other_low": low[other], "other_high": high[other]}
    return Witness(None, token, values, f"its slot meets that of token {other} {when}")


def _in_slot(trace: Trace) -> Witness | None:
    """Return a token whose id lies outside the slot that the layout gives it."""
    mapping, ids = trace.mapping, trace.q
    if not isinstance(mapping, RelayMapping):
        return None
    slots = [(low, low + mapping.K ** (mapping.d * digits) - 1) for low, digits in mapping.slots]
    low, high = np.array(slots, dtype=mapping.dtype).T
    bad = (ids < low) | (ids > high)
    return first_bad(bad, trace.grids, "its id leaves its slot", id=ids, low=low, high=high)


DISJOINT_SLOTS = Lemma(
    "disjoint slots",
    "between two absorb steps every token has a slot of its own; no two of them meet",
    find=_disjoint,
    constructions=("relay",),
    of_inputs=False,
)
"""So no two tokens ever have the same number, and hardmax never meets a tie."""

IN_SLOT = Lemma(
    "ids in slots",
    "the id of token k lies in its slot",
    look=_in_slot,
    constructions=("relay",),
)
"""So ids of different tokens differ, whatever the inputs."""
