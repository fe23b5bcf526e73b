"""A thousand malformed inputs: one line each, no traceback, no status of a verdict, seconds at most."""

from __future__ import annotations

import json
import string
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from malformed_files import TEXTS, write_malformed

import sparseuap.commands.families
from sparseuap.cli import main
from theory.patterns import PatternError

LINES = (Path(__file__).parent / "malformed_arguments.jsonl").read_text(encoding="ascii").splitlines()
CORPUS = [json.loads(line) for line in LINES]
CPU_SECONDS = 5.0
VERDICTS = ("NOT universal", "fails", "FALSE", "FAILS", "no repair", "o set of connections", '": false')
"""A status of 1 comes with a verdict: one of these words on standard output."""

SOURCES = st.one_of(
    st.sampled_from([name for name in TEXTS if not name.endswith(".py")]),
    st.sampled_from(["ring", "star", "window", "fixed", "bigbird", "dense", "random"]).flatmap(
        lambda name: st.lists(
            st.tuples(
                st.sampled_from(
                    ["n", "w", "window", "random", "globals", "seed", "r", "block", "layers", "q", ""]
                ),
                st.sampled_from(["0", "-1", "1", "3", "5", "", "x", "1.5", "10000000000", "9" * 30, "٣", "\x00"]),
            ),
            max_size=4,
        ).map(lambda pairs: f"{name}:" + ",".join(f"{key}={value}" for key, value in pairs))
    ),
    st.sampled_from(["flash", "hf", "flex", "layout", "bad_module"]).flatmap(
        lambda head: st.text(string.printable, max_size=12).map(lambda rest: f"{head}:{rest}")
    ),
    st.text(max_size=20).filter(lambda text: not text.startswith("-")),
)
VALUES = st.one_of(
    st.sampled_from(
        ["", "0", "-1", "1e-400", "nan", "inf", "1/0", "1/2", "9" * 50, "x", "é", "\x1b[0m", "a\nb", "٣"]
    ),
    st.text(max_size=8),
)
OPTIONS = {
    "check": ["--layers", "--for", "--heads", "--time-limit", "--certificate", "--no-such"],
    "grow": ["--layers", "--query", "--figure"],
    "repair": ["--pattern", "--theorem", "--for", "--out"],
    "sweep": ["--n", "--for", "--time-limit"],
    "compare": ["--n", "--time-limit"],
    "prove": ["--d", "--delta", "--target", "--construction", "--samples", "--seed", "--s", "--jobs"],
    "error": ["--d", "--delta", "--rho", "--t", "--alpha", "--p", "--box"],
    "map": ["--zeta", "--eta", "--n"],
    "recheck": ["--pattern"],
}


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A command, a malformed source and malformed options."""
    command = draw(st.sampled_from(list(OPTIONS)))
    words = [command, draw(SOURCES)]
    for option in draw(st.lists(st.sampled_from(OPTIONS[command]), max_size=3, unique=True)):
        words += [option, draw(VALUES)]
    return words


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The malformed files, in the current directory."""
    place = tmp_path_factory.mktemp("malformed")
    write_malformed(place)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        yield place


def complaint(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str | None:
    """Run a command line; return what is wrong with how it ended."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(SystemExit) as stop:
            main(arguments)
    seconds = time.process_time() - start
    out, err = capsys.readouterr()
    status = stop.value.code
    lines = err.splitlines()
    if seconds > CPU_SECONDS:
        return f"{seconds:.1f} s"
    if status not in (0, 1, 2, 3, 130):
        return f"status {status}: {err}"
    if status == 1 and (err or not any(word in out for word in VERDICTS)):
        return f"status 1 without a verdict: {out[-200:]}{err}"
    if status not in (2, 130):
        return err or None
    if out.replace("loud\n", "") or len(lines) != 1 or not lines[0].isprintable():
        return f"no single line: {out[-200:]} {err}"
    return None


@pytest.mark.parametrize(
    "misbehave",
    [
        lambda: click.echo("x", err=True),
        lambda: click.echo("a half answer") or _raise(PatternError("x")),
        lambda: _raise(ValueError("x")),
        lambda: _stop(1),
        lambda: click.echo("fails") or click.echo("a warning", err=True) or _stop(1),
        lambda: click.echo("two\nlines", err=True) or _stop(2),
        lambda: click.echo("\x07", err=True) or _stop(2),
        lambda: _stop(74),
    ],
)
def test_what_is_looked_for_is_seen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, misbehave: Any
) -> None:
    monkeypatch.setattr(sparseuap.commands.families.command, "callback", lambda **_: misbehave())
    assert complaint(["families"], capsys) is not None


def _raise(error: Exception) -> None:
    raise error


def _stop(status: int) -> None:
    click.get_current_context().exit(status)


def test_the_corpus_of_malformed_command_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {json.dumps(line)[:200]: said for line in CORPUS if (said := complaint(line, capsys)) is not None}
    assert not wrong, "\n".join(f"{line}: {said}" for line, said in wrong.items())


@settings(
    max_examples=400,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(arguments=command_lines())
def test_malformed_command_lines(folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]) -> None:
    assert complaint(arguments, capsys) is None
