"""How much slack the proof's constants have: each scanned down alone until the mapping stops being one-to-one.

All K^{dn} inputs are run for every value, so that "works" is a proof for that pattern, d and K, and so is "fails".
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from constructions.contextual_mapping import build_mapping
from constructions.numbers import ProofError
from constructions.relay import RelayMapping, build_relay
from constructions.relay_absorb import Absorb
from constructions.relay_stage import RelayStage
from theory.verdicts import Answer
from verify.inputs import AllInputs
from verify.lemma_trace import all_max_shifts, path_of
from verify.lemmas import check_ids

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructions.mapping import StagedMapping
    from theory.patterns import SparsityPattern

__all__ = ["SlackRow", "smallest_constants"]

MOST_VALUES = 1000
"""Values tried at first; where a constant is greater, only so many, evenly, and then all around the least ones."""


@dataclass(frozen=True)
class SlackRow:
    """One constant, the others at their values in the proof.

    Parameters
    ----------
    constant
        What it is.
    formula, value
        Its value in the proof.
    smallest
        The least value tried that works; None where none does, not even the proof's.
    reliable
        The least value from which on every value tried, up to the proof's, works.
    tried
        Number of values tried, of the value + 1 that there are from 0 up.
    """

    constant: str
    formula: str
    value: int
    smallest: int | None
    reliable: int | None
    tried: int

    @property
    def slack(self) -> float | None:
        """The proof's value divided by `reliable`: 1 where it is tight, None where nothing works or 0 does."""
        return self.value / self.reliable if self.reliable else None


def smallest_constants(pattern: SparsityPattern, d: int, K: int, **given: Any) -> tuple[SlackRow, ...]:  # noqa: N803
    """Scan the constants of Lemma 7, and of the relay construction, down to the least that work.

    Parameters
    ----------
    pattern, d, K
        Sparsity pattern, embedding size and grid levels 1/delta; small, since K^{dn} inputs are run every time.
    **given
        For `build_mapping`, such as `gamma` and `s`. Where Theorem 1 does not apply, only relay's row is returned.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> dense = SparsityPattern.from_lists([[0, 1], [0, 1]])
    >>> for row in smallest_constants(dense, 1, 2, gamma=[0, 1], s=1):
    ...     print(f"{row.constant}: {row.value}, from {row.reliable} on it works")
    c of the all-max-shifts: 32, from 3 on it works
    c of the selective shifts: 2, from 2 on it works
    number of all-max-shifts: 1, from 1 on it works
    step of the embedding / delta: 2, from 2 on it works
    2 M of relay's first step: 2, from 2 on it works
    """
    rows = []
    relay = build_relay(pattern, d, K)
    try:
        proof = build_mapping(pattern, d, K, "merged", **given)
    except ProofError:
        proof = None
    if proof is not None:
        last = all_max_shifts(proof)
        fixed = {"gamma": path_of(proof), "s": last.count, "c": last.factor, **given}
        for key, constant, formula, value in (
            ("c", "c of the all-max-shifts", "2 s n delta^(-nd-1)", last.factor),
            ("shift_factor", "c of the selective shifts", "delta^-d", K**d),
            ("s", "number of all-max-shifts", "s of Assumption 1.3", last.count),
            ("step", "step of the embedding / delta", "1/delta", proof.step),
        ):
            rows.append(_scan(constant, formula, value, partial(_changed, fixed, pattern, d, K, key)))
    if relay.stages:
        first = relay.stages[0]
        radix = first.steps[0].radix if isinstance(first, RelayStage) else 0
        rows.append(_scan("2 M of relay's first step", "values of its query", radix, partial(_narrowed, relay)))
    return tuple(rows)


def _scan(constant: str, formula: str, value: int, build: Callable[[int], StagedMapping]) -> SlackRow:
    """Try values from 0 to the proof's: all of them, or an even choice and then all around where it turns."""
    works: dict[int, bool] = {}

    def try_all(values: range) -> None:
        for v in values:
            if v not in works:
                works[v] = _one_to_one(build, v)

    stride = value // MOST_VALUES + 1
    try_all(range(value, -1, -stride))
    if stride > 1:
        good = [v for v in works if works[v]]
        bad = [v for v in works if not works[v]]
        for turn in {min(good, default=0), max(bad, default=0) + stride}:
            try_all(range(max(turn - stride, 0), min(turn, value)))
    good = [v for v in works if works[v]]
    worst = max((v for v in works if not works[v]), default=-1)
    reliable = min((v for v in good if v > worst), default=None)
    return SlackRow(constant, formula, value, min(good, default=None), reliable, len(works))


def _one_to_one(build: Callable[[int], StagedMapping], value: int) -> bool:
    """Return whether the mapping with this value is a contextual mapping; one that cannot be built is none."""
    try:
        mapping = build(value)
    except ProofError:
        return False
    inputs = AllInputs(mapping.d, mapping.pattern.n, mapping.K)
    return check_ids(mapping, inputs).answer is Answer.HOLDS


def _changed(
    fixed: dict[str, Any], pattern: SparsityPattern, d: int, levels: int, key: str, value: int
) -> StagedMapping:
    """Build the merged mapping with one constant changed."""
    return build_mapping(pattern, d, levels, "merged", **{**fixed, key: value})


@dataclass(frozen=True)
class _Narrow(Absorb):
    """An absorb step that multiplies the key's code by another number than the width of the query's slot."""

    narrow: int = 0

    @property
    def radix(self) -> int:
        """The weight of the key's code in the query's code."""
        return self.narrow


def _narrowed(relay: RelayMapping, radix: int) -> StagedMapping:
    """Change the radix of relay's first step."""
    stage = relay.stages[0]
    if not isinstance(stage, RelayStage):
        raise ProofError("relay's stages are runs of absorb steps")
    first = stage.steps[0]
    known = {field.name: getattr(first, field.name) for field in fields(Absorb)}
    steps = (_Narrow(**known, narrow=radix), *stage.steps[1:])
    return replace(relay, stages=(replace(stage, steps=steps), *relay.stages[1:]))
