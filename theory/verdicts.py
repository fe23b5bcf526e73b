"""The answers of the theory floor: every one carries its witness and says why."""

from __future__ import annotations

from enum import Enum

__all__ = ["Answer"]


class Answer(Enum):
    """Yes, no, or an honest undecided (a time or memory limit); never rounded to yes or no."""

    HOLDS = "holds"
    FAILS = "fails"
    UNDECIDED = "undecided"

    def as_json(self) -> bool | None:
        """Return true, false or null."""
        return {"holds": True, "fails": False, "undecided": None}[self.value]
