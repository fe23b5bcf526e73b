"""Progress: a bar on a terminal after a moment, nothing in a pipe."""

from __future__ import annotations

import io
import sys
import time

import pytest

import sparseuap.progress
from sparseuap.progress import Steps


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_work_shows_its_step_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sparseuap.progress, "PATIENCE", 0.01)
    with Steps() as say:
        say("strong components", None)
        deadline = time.monotonic() + 120
        while "strong components" not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.02)
        say("hop count", 0.5)
    assert "strong components" in terminal.getvalue()


def test_short_work_stays_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Steps() as say:
        say("strong components", None)
    assert terminal.getvalue() == ""


def test_a_pipe_stays_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    monkeypatch.setattr(sparseuap.progress, "PATIENCE", 0.0)
    with Steps() as say:
        say("strong components", None)
        time.sleep(0.05)
    assert pipe.getvalue() == ""


def test_rate_and_time_left_are_seen_on_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(sparseuap.progress, "PATIENCE", 0.01)
    words = "comparing the ids: 312M of 1.07G inputs, 98.1M/s, 8 s left"
    with Steps() as say:
        say(words, 0.3)
        deadline = time.monotonic() + 120
        while words not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.02)
    assert words in terminal.getvalue()
