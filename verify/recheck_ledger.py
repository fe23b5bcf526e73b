"""The ledger of a recheck: every claim ends as confirmed, false, or without proof."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FalseClaim", "Ledger", "Outcome", "Unproved"]


class FalseClaim(ValueError):
    """A claim is false, or the certificate gives no evidence that shows it."""


class Unproved(ValueError):
    """A claim carries no proof that can be checked, and says so."""


class Outcome(Enum):
    """How one claim ended."""

    CONFIRMED = "confirmed"
    FALSE = "false"
    UNPROVED = "unproved"


@dataclass
class Ledger:
    """Collects one sentence for every claim.

    Examples
    --------
    >>> ledger = Ledger()
    >>> ledger.settle("reach", lambda: "token 1 sees token 0")
    <Outcome.CONFIRMED: 'confirmed'>
    >>> ledger.checked
    ['reach: token 1 sees token 0']
    """

    checked: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    unproved: list[str] = field(default_factory=list)

    def settle(self, claim: str, check: Callable[[], str]) -> Outcome:
        """Run the check of one claim: the sentence it returns confirms, `FalseClaim` refuses it."""
        try:
            self.checked.append(f"{claim}: {check()}")
        except FalseClaim as error:
            self.failures.append(f"{claim}: {error}")
            return Outcome.FALSE
        except Unproved as error:
            self.unproved.append(f"{claim}: {error}")
            return Outcome.UNPROVED
        return Outcome.CONFIRMED
