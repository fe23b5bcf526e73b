"""The answers of the theory floor: every one carries its witness and says why."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Answer"]


class Answer(Enum):
    """Yes, no, or an honest undecided (a time or memory limit); never rounded to yes or no."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"

    @classmethod
    def of_all(cls, answers: Iterable[Answer]) -> Answer:
        """Return the answer to all of several questions: one no decides, then one undecided.

        Examples
        --------
        >>> Answer.of_all([Answer.HOLDS, Answer.UNDECIDED]), Answer.of_all([Answer.UNDECIDED, Answer.FAILS])
        (<Answer.UNDECIDED: 'undecided'>, <Answer.FAILS: 'fails'>)
        """
        given = set(answers)
        return next((worst for worst in (cls.FAILS, cls.UNDECIDED) if worst in given), cls.HOLDS)

    def as_json(self) -> bool | None:
        """Return true, false or null."""
        return {"holds": True, "fails": False, "undecided": None}[self.value]
