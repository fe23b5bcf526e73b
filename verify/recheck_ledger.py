"""The ledger of a recheck: how every claim of a certificate ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FalseClaim", "Ledger", "Outcome", "Unchecked", "Undecided", "Unproved", "Unsettled"]


class Outcome(Enum):
    """How one claim ended."""

    CONFIRMED = "confirmed"
    FALSE = "false"
    UNPROVED = "unproved"
    UNDECIDED = "undecided"
    UNCHECKED = "unchecked"


class Unsettled(ValueError):
    """A claim is not confirmed; the message says why."""

    outcome: ClassVar[Outcome]


class FalseClaim(Unsettled):
    """A claim is false, or the certificate gives no evidence that shows it."""

    outcome = Outcome.FALSE


class Unproved(Unsettled):
    """A claim is made, and neither its evidence nor the checker's own recomputation settles it."""

    outcome = Outcome.UNPROVED


class Undecided(Unsettled):
    """The certificate itself leaves the question open: there is no claim to confirm."""

    outcome = Outcome.UNDECIDED


class Unchecked(Unsettled):
    """A remark that the checker does not look up; no answer rests on it."""

    outcome = Outcome.UNCHECKED


@dataclass
class Ledger:
    """Collects one sentence for every claim.

    Examples
    --------
    >>> ledger = Ledger()
    >>> ledger.settle("reach", lambda: "token 1 sees token 0")
    <Outcome.CONFIRMED: 'confirmed'>
    >>> ledger.lines[Outcome.CONFIRMED]
    ['reach: token 1 sees token 0']
    """

    lines: dict[Outcome, list[str]] = field(default_factory=lambda: {outcome: [] for outcome in Outcome})

    def settle(self, claim: str, check: Callable[[], str]) -> Outcome:
        """Run the check of one claim: the sentence it returns confirms, an `Unsettled` says how else it ends."""
        try:
            outcome, said = Outcome.CONFIRMED, check()
        except Unsettled as error:
            outcome, said = error.outcome, str(error)
        self.lines[outcome].append(f"{claim}: {said}")
        return outcome
