"""What to do about a pattern that is not universal for the functions asked for, as `check` and `report` say it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparseuap.command_line import command_line
from theory.graph import Reach
from theory.repair import repair
from theory.theorems import FunctionClass
from theory.verdicts import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from theory.repair import Repair
    from verify.pattern_verdict import PatternVerdict

__all__ = ["Remedy", "find_remedy", "name_additions"]

SHOWN = 3
MOST_CONNECTIONS = 2**20
"""Connections up to which a repair is found unasked, in a fraction of a second."""


@dataclass(frozen=True, eq=False)
class Remedy:
    """What helps.

    Parameters
    ----------
    repair_command
        The command line that repairs the pattern for the functions asked for; empty where no source names it.
    found
        The repair; None where the pattern is too large to look for it unasked.
    causal_reason
        Why to ask for causal functions instead, where all were asked for: the pattern is universal for those, or
        may be a decoder's; otherwise empty.
    causal_command
        The command line that asks for them; empty where no source names the pattern.
    """

    repair_command: str
    found: Repair | None
    causal_reason: str
    causal_command: str

    def lines(self) -> Iterator[str]:
        """Say it in a few lines, each command, where there is one, on a line of its own."""
        if self.causal_reason and self.causal_command:
            yield f"{self.causal_reason}; for a decoder ask for those:"
            yield f"    {self.causal_command}"
        if self.repair_command:
            yield f"{self.sentence()}:"
            yield f"    {self.repair_command}"
        elif self.found is not None:
            yield f"{self.sentence()}."

    def sentence(self) -> str:
        """Say what to add.

        Examples
        --------
        >>> from theory.families import fixed
        >>> from verify.pattern_verdict import assess
        >>> find_remedy(assess(fixed(23, w=5)), "fixed:n=23,w=5").sentence()
        'To repair it, add 1 connection, the fewest possible (token 19 attends to token 22 in pattern 1)'
        """
        if self.found is None:
            return "The fewest connections that repair it are found by"
        count = len(self.found.added)
        bound = "the fewest possible" if self.found.optimal else f"at least {self.found.lower_bound} are needed"
        added = name_additions(self.found)
        return f"To repair it, add {count} connection{'s' * (count > 1)}, {bound} ({added})"

    def as_json(self) -> dict[str, Any]:
        """Return the keys `repair`, and `hint` where there is one."""
        data: dict[str, Any] = {"command": self.repair_command or None}
        if self.found is not None:
            data |= {
                "count": len(self.found.added),
                "optimal": self.found.optimal,
                "lower_bound": self.found.lower_bound,
                "orientation": "first lists [pattern, query, key], at most three",
                "first": self.found.added[:SHOWN].tolist(),
            }
        hint = ": ".join(filter(None, (self.causal_reason, self.causal_command)))
        return {"repair": data, **({"hint": hint} if self.causal_reason else {})}


def find_remedy(verdict: PatternVerdict, source: str | None) -> Remedy | None:
    """Return what helps a pattern that is not known to be universal for the functions asked for; else None.

    A pattern in which no key comes after its query stays so where causal functions are asked for.

    Parameters
    ----------
    source
        What names the pattern on the command line; None if nothing does.

    Examples
    --------
    >>> from theory.families import causal
    >>> from verify.pattern_verdict import assess
    >>> print(*find_remedy(assess(causal(4)), "causal:n=4").lines(), sep=chr(10))
    It is universal for all causal continuous functions; for a decoder ask for those:
        sparseuap check causal:n=4 --for causal
    To repair it, add 1 connection, the fewest possible (token 0 attends to token 3):
        sparseuap repair causal:n=4
    >>> find_remedy(assess(causal(4), for_="causal"), "causal:n=4") is None
    True
    """
    if verdict.universal is Answer.HOLDS:
        return None
    pattern, for_ = verdict.pattern, verdict.for_
    keep = for_ is FunctionClass.CAUSAL and all(layer.is_lower_triangular for layer in pattern.layers)
    options = ["--for", "causal"] * (for_ is FunctionClass.CAUSAL) + ["--keep-causal"] * keep
    found = None
    if pattern.connections <= MOST_CONNECTIONS:
        found = repair(pattern, for_=for_, keep_causal=keep)
    if source is None:
        return Remedy("", found, _causal_reason(verdict), "")
    asked = command_line("check", source, "--for", "causal")
    return Remedy(command_line("repair", source, *options), found, _causal_reason(verdict), asked)


def _causal_reason(verdict: PatternVerdict) -> str:
    if verdict.for_ is FunctionClass.CAUSAL:
        return ""
    if verdict.universal_causal is Answer.HOLDS:
        return f"It is universal for {FunctionClass.CAUSAL.functions}"
    if verdict.reach in (Reach.CAUSAL, Reach.WITHIN_CAUSAL):
        return f"No key comes after its query, which suits {FunctionClass.CAUSAL.functions}"
    return ""


def name_additions(found: Repair) -> str:
    """Name the first connections of a repair.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> name_additions(repair(SparsityPattern.from_lists([[], [0, 1]])))
    'token 0 attends to itself; token 0 attends to token 1'
    """
    several = found.pattern is not None and found.pattern.p > 1
    shown = [
        f"token {query} attends to {'itself' if query == key else f'token {key}'}"
        f"{f' in pattern {number}' if several else ''}"
        for number, query, key in found.added[:SHOWN].tolist()
    ]
    rest = len(found.added) - len(shown)
    return "; ".join([*shown, f"and {rest} more"] if rest else shown)
