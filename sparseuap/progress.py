"""A progress bar for long work: on a terminal, after a moment, and never in a pipe."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING

from theory.wording import printable

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress, TaskID

__all__ = ["Steps"]

PATIENCE = 0.7  # seconds of work before the bar appears: short checks stay quiet


class Steps:
    """Show the step at work and its share done, if known; call it with (step, share or None).

    A step that knows its rate and the time left has them in its words; on a narrow terminal the bar gives way.

    Examples
    --------
    >>> with Steps() as say:
    ...     say("strong components", None)
    """

    def __init__(self) -> None:
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._now: tuple[str, float | None] = ("starting", None)
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def __call__(self, step: str, share: float | None = None) -> None:
        """Name the step at work."""
        with self._lock:
            self._now = (step, share)
            self._show()

    def __enter__(self) -> Steps:
        if sys.stderr.isatty():
            self._timer = threading.Timer(PATIENCE, self._begin)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._timer = None
            if self._bar is not None:
                self._bar.stop()

    def _begin(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        with self._lock:
            if self._timer is None:  # the work ended while rich was being imported
                return
            step = TextColumn("{task.description}", markup=False)
            columns = (SpinnerColumn(), step, BarColumn(), TimeElapsedColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("starting", total=None)
            self._bar.start()
            self._show()

    def _show(self) -> None:
        if self._bar is not None and self._task is not None:
            step, share = self._now
            total, done = (None, 0.0) if share is None else (1.0, share)
            self._bar.update(self._task, description=printable(step), total=total, completed=done)
