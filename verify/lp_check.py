"""Whether what was measured keeps to what is proved: d_p(fbar, gbar) = 0, and errors within their rigorous bounds.

What is relaxed are the blocks, so these have to give gbar's ids too, one after another.

The bounds of `relaxation_bound` hold input by input, so a mean over a sample stays below them as one over all
cells does: no interval is needed, only room for the rounding of the measuring itself.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from theory.verdicts import Answer
from theory.wording import name_lower, name_upper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from verify.error_study import ErrorRow, ErrorStudy

__all__ = ["Contradiction", "contradictions", "measuring_error"]

UNIT = 2.0**-53


@dataclass(frozen=True)
class Contradiction:
    """A measured value that its bound excludes: the construction, its budget, or the measuring is wrong.

    Parameters
    ----------
    t
        The temperature; None where it does not matter.
    part
        `construction`, `blocks`, `good` or `ids`.
    measured, bound
        The two numbers: distances, or units of delta for `ids`.
    why
        Of `blocks`: where one of them goes wrong.
    """

    t: float | None
    part: str
    measured: float
    bound: float
    why: str = ""

    def __str__(self) -> str:
        if self.part == "blocks":
            return f"the blocks that are relaxed do not give the ids of gbar: {self.why}"
        measured, bound = name_lower(self.measured, 5), name_upper(self.bound)
        at = "" if self.t is None else f"t = {name_upper(self.t, 6)}: "
        if self.part == "construction":
            return f"d_p(fbar, gbar) = {measured} is not 0: the hardmax network misses f at a corner (Lemma 3)"
        if self.part == "good":
            return f"{at}d_p(gbar, g) on good inputs is {measured}, above its rigorous bound {bound}"
        return f"{at}an id is {measured} delta off, above its rigorous bound {bound} delta"


def measuring_error(study: ErrorStudy) -> float:
    """Return a bound on the relative rounding error of a measured distance.

    A distance is exp(L / p) with L a sum of a few logarithms, each off by a few units of its own size.
    """
    mapping = study.network.mapping
    coordinates = mapping.d * mapping.pattern.n
    sides = abs(math.log1p(-study.alpha)) + abs(math.log(study.box[1] - study.box[0])) + math.log(mapping.K)
    distances = [row.errors.good.value for row in study.rows]
    sizes = [abs(math.log(value)) for value in distances if 0 < value < math.inf]
    return 32 * UNIT * (1 + 2 * coordinates * sides / study.p + max(sizes, default=0.0))


def contradictions(study: ErrorStudy) -> tuple[Contradiction, ...]:
    """Return what contradicts the proof, in the order of the rows; empty where all is as it should be."""
    slack = 1 + measuring_error(study)
    found = [entry for row in study.rows for entry in _of_row(row, slack)]
    off = next((row.errors.construction.value for row in study.rows if row.errors.construction.value != 0), None)
    if off is not None:
        found.insert(0, Contradiction(None, "construction", off, 0.0))
    if study.blocks is not None and study.blocks.answer is Answer.FAILS:
        found.insert(0, Contradiction(None, "blocks", math.inf, 0.0, study.blocks.why))
    return tuple(found)


def _of_row(row: ErrorRow, slack: float) -> Iterator[Contradiction]:
    if row.errors.good.value > row.bound.relaxation * slack:
        yield Contradiction(row.t, "good", row.errors.good.value, row.bound.relaxation)
    if row.errors.id_error > row.bound.ids:
        yield Contradiction(row.t, "ids", row.errors.id_error, row.bound.ids)
