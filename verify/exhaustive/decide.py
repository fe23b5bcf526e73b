"""7.1 and 7.2 over all K^{dn} inputs: by a sweep where its proof applies, else by comparing the ids themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from constructions.numbers import ProofError
from theory.verdicts import Answer
from verify.exhaustive.case import sweep_case
from verify.exhaustive.engines import choose_sweep_engine
from verify.exhaustive.run import sweep
from verify.injectivity_result import GapResult, Injectivity
from verify.lemma_trace import all_max_shifts, shifts
from verify.lemmas import check_ids

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from constructions.mapping import StagedMapping
    from verify.exhaustive.case import SweepCase
    from verify.exhaustive.run import SweepResult
    from verify.input_set import InputSet

__all__ = ["Decision", "SweepPlan", "decide_ids"]


@dataclass(frozen=True)
class SweepPlan:
    """Who sweeps, and from which file a killed sweep goes on; see `sweep`."""

    jobs: int = 1
    dask: str | None = None
    checkpoint: Path | None = None


@dataclass(frozen=True, eq=False)
class Decision:
    """What is known of the ids.

    Parameters
    ----------
    ids
        7.1 and 7.2, and how they were decided.
    inputs
        What `ids` speaks of: all inputs, or a sample in which two ids met.
    sweep
        What the sweep showed; None where there was none.
    """

    ids: Injectivity
    inputs: InputSet
    sweep: SweepResult | None


def decide_ids(
    mapping: StagedMapping,
    inputs: InputSet,
    sample: InputSet,
    plan: SweepPlan,
    *,
    progress: Callable[[str, float | None], None] | None = None,
) -> Decision:
    """Decide 7.1 and 7.2 for all inputs.

    That the sweep's proof does not apply, or stops, is no collision. Then equal ids are looked for in a sample,
    where they prove that the mapping fails, and if there are none all ids are compared: sorted in memory, or in
    passes by range.

    Parameters
    ----------
    mapping
        Swept on its own backend.
    inputs
        All K^{dn}.
    sample
        Some of them, or the same.
    plan
        Who sweeps.

    Raises
    ------
    ProofError
        As `sweep`.

    Examples
    --------
    >>> from constructions.contextual_mapping import build_mapping
    >>> from theory.patterns import SparsityPattern
    >>> from verify.inputs import AllInputs
    >>> dense = SparsityPattern.from_lists([[0, 1], [0, 1]])
    >>> every = AllInputs(1, 2, 4)
    >>> decide_ids(build_mapping(dense, 1, 4, "merged"), every, every, SweepPlan()).ids.method
    'every id read back by a linear form, streamed'
    >>> decide_ids(build_mapping(dense, 1, 4, "merged", c=0), every, every, SweepPlan()).ids.why
    'inputs [[0, 0]] and [[0, 1]] share the id 4, at tokens 0 and 0'
    """
    say = progress or (lambda _step, _share: None)
    result = None
    try:
        case = sweep_case(mapping)
    except ProofError as error:
        reason = f"no sweep, {error}"
    else:
        engine = choose_sweep_engine(case, mapping.backend)
        result = sweep(case, engine, jobs=plan.jobs, dask=plan.dask, checkpoint=plan.checkpoint, progress=progress)
        if result.stopped is None and result.inputs == inputs.count:
            return Decision(_read_back(case, result), inputs, result)
        reason = f"the sweep stopped at {result.stopped}"
    for some in (inputs,) if sample.count == inputs.count else (sample, inputs):
        say(f"comparing the ids of {some.description} with one another", None)
        found = check_ids(mapping, some)
        if found.answer is Answer.FAILS:
            break
    return Decision(replace(found, method=f"{found.method}; {reason}"), some, result)


def _read_back(case: SweepCase, result: SweepResult) -> Injectivity:
    """Return what it means that every id was read back."""
    relay = case.mapping.construction == "relay"
    return Injectivity(
        answer=Answer.HOLDS,
        distinct_within=Answer.HOLDS,
        distinct_across=Answer.HOLDS,
        depends_on_reach_only=Answer.HOLDS if relay else None,
        inputs=result.inputs,
        exhaustive=True,
        method=result.method,
        collisions=(),
        gap=GapResult(_gap_within(case, result), None),
        max_id_bits=result.largest.bit_length(),
        why=f"the ids of all {result.inputs} inputs were read back",
        digest=result.digest,
    )


def _gap_within(case: SweepCase, result: SweepResult) -> int | None:
    """Return the least gap of two ids of one input; for paper and merged a lower bound, None where it is none."""
    mapping = case.mapping
    if mapping.construction == "relay":
        return result.gap_within
    ends = [(start.least(mapping.K), start.greatest(mapping.K)) for start in case.starts]
    low, high = (np.array(side, dtype=object) for side in zip(*ends, strict=True))
    _, high = shifts(mapping).widen(low, high, mapping.pattern)
    return result.gap_within if all_max_shifts(mapping).factor > 2 * int(high.max()) else None
