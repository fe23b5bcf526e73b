"""The verdict over sequence lengths: what `sparseuap sweep` prints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparseuap.lengths import describe_lengths, parse_lengths, with_length
from sparseuap.patterns import PatternLike, as_pattern
from theory.checks import PatternError, flag, seconds, whole
from theory.theorems import FunctionClass
from theory.verdicts import Answer
from verify.pattern_verdict import assess
from verify.reach_verdict import reach_verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from theory.patterns import SparsityPattern

__all__ = ["STATES", "LengthSweep", "sweep"]

REFUSED = "refused"
STATES = (*(answer.value for answer in Answer), REFUSED)
"""What can become of a length: an answer, or no pattern."""


@dataclass(frozen=True)
class LengthSweep:
    """The verdicts at many sequence lengths.

    Parameters
    ----------
    for_
        The functions asked for.
    rows
        A length each: ``n``, ``state`` (holds, fails, undecided, refused), ``why``, ``advice`` and more, as in
        ``sparseuap sweep --json``.
    """

    for_: FunctionClass
    rows: tuple[dict[str, Any], ...]

    @property
    def summary(self) -> dict[str, str]:
        """In words, the lengths at which each state occurs."""
        lengths = [row["n"] for row in self.rows]
        marks = {state: [row["state"] == state for row in self.rows] for state in STATES}
        return {state: describe_lengths(lengths, marked) for state, marked in marks.items() if any(marked)}

    @property
    def answer(self) -> Answer:
        """HOLDS if the pattern is universal at every length that there is, FAILS if not at some."""
        return Answer.of_all(Answer(row["state"]) for row in self.rows if row["state"] != REFUSED)


def sweep(
    source: str | Callable[[int], PatternLike],
    lengths: str | Iterable[int],
    *,
    for_: FunctionClass | str = FunctionClass.ALL,
    full: bool = False,
    time_limit: float = 1.0,
    progress: Callable[[str, float | None], None] | None = None,
) -> LengthSweep:
    """Check a pattern at many sequence lengths.

    Parameters
    ----------
    source
        A family (``fixed:w=5``) or ``module:callable?w=5``, whose n is replaced; or a function from n to anything
        that `sparseuap.patterns.as_pattern` reads without further words.
    lengths
        ``"8:512"``, ``"8:512:8"`` (both ends included), or numbers.
    full
        Whether every assumption and theorem is looked at, and not the reach theorem only.
    time_limit
        With `full`: seconds for each hard question at each length.
    progress
        Called with the length at work and the share done.

    Raises
    ------
    PatternError
        If there is no length, or no pattern at any of them.

    Examples
    --------
    >>> sweep("fixed:w=5", "8:40").summary["holds"]
    'when 5 divides n'
    """
    for_, full, time_limit = FunctionClass.of(for_), flag("full", full), seconds(time_limit)
    if not isinstance(source, str) and not callable(source):
        raise PatternError(f"a sweep is of a source or a function of n, not of {type(source).__name__}")
    say = progress or (lambda _step, _share: None)
    several = _numbers(lengths)
    if not several:
        raise PatternError("there is no length to look at")
    rows: list[dict[str, Any]] = []
    for number, n in enumerate(several):
        say(f"n = {n}", number / len(several))
        rows.append(_row(source, n, for_, full, time_limit))
    if all(row["state"] == REFUSED for row in rows):
        raise PatternError(rows[0]["why"])
    return LengthSweep(for_, tuple(rows))


def _numbers(lengths: str | Iterable[int]) -> Sequence[int]:
    if isinstance(lengths, str):
        return parse_lengths(lengths)
    if isinstance(lengths, bytes) or not hasattr(lengths, "__iter__"):
        raise PatternError(f'lengths are "8:512" or several numbers, not {lengths!r}')
    return sorted({whole("a length", n, 1) for n in lengths})


def _row(
    source: str | Callable[[int], PatternLike], n: int, for_: FunctionClass, full: bool, time_limit: float
) -> dict[str, Any]:
    try:
        pattern = as_pattern(with_length(source, n) if isinstance(source, str) else source(n))
    except PatternError as error:
        return {"n": n, "universal": None, "state": REFUSED, "why": str(error), "advice": None}
    verdict = reach_verdict(pattern, for_)
    row = {
        "n": n,
        "universal": verdict.answer.as_json(),
        "state": verdict.answer.value,
        "reach": verdict.reach.value,
        "why": verdict.why,
        "advice": verdict.advice or None,
    }
    return row | _assumptions(pattern, for_, time_limit) if full else row


def _assumptions(pattern: SparsityPattern, for_: FunctionClass, time_limit: float) -> dict[str, Any]:
    verdict = assess(pattern, for_=for_, time_limit=time_limit)
    return {
        "assumption_1_1": not verdict.violations.size,
        "assumption_1_2": verdict.path.answer.as_json(),
        "assumption_1_3": verdict.hops.answer.as_json(),
        "s": verdict.hops.s,
        "theorems": {item.theorem: item.says.value for item in verdict.statements},
    }
