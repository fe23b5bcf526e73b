"""How much of a construction is run block by block: a budget counted in work, so that every machine runs the same.

The fused engines are what runs, the blocks are what the paper states: both are run on the same inputs. That
costs what the fused run saves, so inputs, and where even few are too many also blocks, are taken up to `BUDGET`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from theory.verdicts import Answer
from theory.wording import name_number
from verify.inputs import AdversarialInputs, AllInputs
from verify.lemma_check import LemmaCheck

if TYPE_CHECKING:
    from theory.patterns import IntArray
    from verify.input_set import InputSet
    from verify.lemma_check import Witness

__all__ = ["BUDGET", "LiteralRun", "Share", "Work", "literal_run", "share_of", "take_inputs"]

BUDGET = 4e8
"""Nanoseconds, as measured once on a small machine, of each of the three literal runs; counted, never clocked."""
MOST = 4096
LEAST = 16  # inputs below which blocks are left out instead
MEMORY = 2**26  # bytes of the numbers of one block


class Work(NamedTuple):
    """What one block costs: nanoseconds however few the inputs are, and nanoseconds and bytes for each input."""

    block: float
    one: float
    size: float


class Share(NamedTuple):
    """How many inputs and blocks are within the budget."""

    inputs: int
    blocks: int


@dataclass(frozen=True, eq=False)
class LiteralRun:
    """A literal run beside the run at once.

    Parameters
    ----------
    stage
        `quantization`, `contextual mapping` or `value mapping`.
    blocks, run
        How many blocks the stage has, and how many of them were run one after another.
    check
        Whether the two agree, as a row of the table; `exhaustive` where all blocks were run on all inputs,
        UNDECIDED where none was run.
    """

    stage: str
    blocks: int
    run: int
    check: LemmaCheck


def share_of(blocks: int, count: int, work: Work) -> Share:
    """Return how many of `count` inputs and of the blocks to run: all blocks, as far as the budget goes.

    Where these would be fewer than `LEAST`, so many inputs and as many blocks as the budget lets, maybe none.

    Examples
    --------
    >>> share_of(10, 64, Work(6e4, 1e3, 100))
    Share(inputs=64, blocks=10)
    >>> share_of(10**9, 64, Work(6e4, 1e3, 100))
    Share(inputs=16, blocks=5263)
    """
    fits = max(1, int(MEMORY // work.size))
    inputs = min(count, MOST, fits, int((BUDGET / max(blocks, 1) - work.block) // work.one))
    least = min(count, LEAST, fits)
    if inputs >= least:
        return Share(inputs, blocks)
    return Share(least, min(blocks, int(BUDGET // (work.block + least * work.one))))


def take_inputs(inputs: InputSet, count: int, seed: int) -> IntArray:
    """Return so many grids, shape (count, d, n): all of them, adversarial ones, or the first of a sample."""
    if isinstance(inputs, AllInputs) and count < inputs.count:
        inputs = AdversarialInputs(inputs.d, inputs.n, inputs.K, count, seed)
    taken, missing = [], count
    for grids in inputs.chunks():
        taken.append(grids[:missing])
        missing -= len(taken[-1])
        if not missing:
            break
    return np.concatenate(taken)


def literal_run(
    name: str, stage: str, blocks: int, run: int, inputs: InputSet, count: int, witness: Witness | None
) -> LiteralRun:
    """Put what a literal run of `run` of the blocks on `count` of the inputs found into words."""
    some = f"the {name_number(blocks)}" if run == blocks else f"{name_number(run)} of the {name_number(blocks)}"
    statement = f"{some} blocks of the {stage}, one after another, give what their run at once gives, bit for bit"
    answer = Answer.FAILS if witness else Answer.HOLDS
    why = str(witness) if witness else f"the same on {count} inputs"
    if witness is None and run == 0 < blocks:
        answer, count = Answer.UNDECIDED, 0
        statement = why = (
            f"not run literally: the {name_number(blocks)} blocks of the {stage}, whose parts are too large"
        )
    exhaustive = run == blocks and isinstance(inputs, AllInputs) and count == inputs.count
    return LiteralRun(stage, blocks, run, LemmaCheck(name, statement, answer, count, exhaustive, witness, why))
