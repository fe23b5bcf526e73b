"""The time limit and the progress reports of one hop count."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Clock"]


class Clock:
    """Knows when to give up, and passes on how far things are.

    Parameters
    ----------
    time_limit
        Seconds from now; None for no limit.
    progress
        Called with what is being done and the share of it that is done, or None where that is not known.

    Examples
    --------
    >>> Clock(None).passed, Clock(0.0).passed
    (False, True)
    """

    def __init__(
        self, time_limit: float | None, progress: Callable[[str, float | None], None] | None = None
    ) -> None:
        self._end = float("inf") if time_limit is None else time.monotonic() + time_limit
        self._progress = progress
        self._doing = ""

    @property
    def passed(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._end

    @property
    def left(self) -> float:
        """Seconds left, at least 0."""
        return max(0.0, self._end - time.monotonic())

    def say(self, doing: str) -> None:
        """Name what begins now."""
        self._doing = doing
        self.tell(None)

    def tell(self, share: float | None) -> None:
        """Report the share of the present task that is done."""
        if self._progress is not None:
            self._progress(self._doing, share)
