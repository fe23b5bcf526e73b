"""A time limit that is handed from step to step."""

from __future__ import annotations

import time

__all__ = ["Deadline"]


class Deadline:
    """A moment after which a search gives up.

    Examples
    --------
    >>> Deadline(60.0).passed, Deadline(0.0).passed
    (False, True)
    """

    def __init__(self, seconds: float) -> None:
        self._moment = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds until the deadline, at least 0."""
        return max(0.0, self._moment - time.monotonic())

    @property
    def passed(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self._moment

    def part(self, share: float, most: float) -> Deadline:
        """Return an earlier deadline: a share of the time left, at most so many seconds."""
        return Deadline(min(share * self.left, most))

    def allows(self, work: float, rate: float) -> bool:
        """Return whether `work` units can be done in time at `rate` a second: for calls that cannot be stopped."""
        return work <= rate * self.left
