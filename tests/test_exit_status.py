"""Exit statuses of the installed command: streams closed, full or broken, and what nobody expected."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import sparseuap.commands.families
from sparseuap.cli import main

COMMAND = shlex.quote(str(Path(sys.executable).with_name("sparseuap")))
FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


def shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of bash, in which `sparseuap` is the installed command."""
    script = f'sparseuap() {{ {COMMAND} "$@"; }}\n{line}'
    return subprocess.run(  # noqa: S603
        ["/bin/bash", "-c", script],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("sparseuap check ring:n=4 >&-", 74, b"standard output is closed"),
        ("sparseuap --help >&-", 74, b"standard output is closed"),
        ("sparseuap check ring:n=4 >&- 2>&-", 74, b""),
        ("sparseuap check ring:n=4 2>&-", 0, b""),
        ("sparseuap check ring:n=4 0<&-", 0, b""),
        ("sparseuap check nothing.json 2>&-", 2, b""),
        ("sparseuap check ring:n=4 0<&- >&- 2>&-", 74, b""),
        pytest.param("sparseuap check ring:n=4 > /dev/full", 74, b"No space left on device", marks=FULL),
        pytest.param("sparseuap --help > /dev/full", 74, b"No space left on device", marks=FULL),
        pytest.param("sparseuap families --json > /dev/full", 74, b"No space left on device", marks=FULL),
        pytest.param("sparseuap compare ring:n=4 > /dev/full", 74, b"No space left on device", marks=FULL),
        pytest.param("sparseuap check ring:n=4 2> /dev/full", 0, b"", marks=FULL),
        pytest.param("sparseuap check nothing.json 2> /dev/full", 2, b"", marks=FULL),
        pytest.param(
            "sparseuap check ring:n=4 --certificate /dev/full", 74, b"/dev/full cannot be written", marks=FULL
        ),
        ("exec 3> >(exit 0); wait $!; sparseuap --help >&3", 74, b"Broken pipe"),
        ("exec 3> >(exit 0); wait $!; sparseuap families --json >&3", 74, b"Broken pipe"),
        ("exec 3> >(exit 0); wait $!; sparseuap compare ring:n=4 >&3", 74, b"Broken pipe"),
        ("exec 3> >(exit 0); wait $!; sparseuap fixed >&3", 2, b"No such command"),
        ("exec 3> >(exit 0); wait $!; PYTHONIOENCODING=ascii sparseuap --help >&3", 74, b"Broken pipe"),
        ("sparseuap check ring:n=4 < /dev/null 1</dev/null", 74, b"Bad file descriptor"),
        ("sparseuap check $'\\xff\\n\\e[31m\\u202e.json'", 2, rb"\udcff\n\x1b[31m\u202e.json: no such file"),
        ("ulimit -f 0; sparseuap check ring:n=4 > out.txt", 74, b"File too large"),
        (
            "ulimit -f 0; sparseuap check ring:n=4 --certificate c.json",
            74,
            b"cannot be written: File too large",
        ),
    ],
)
def test_a_stream_that_cannot_be_written_has_its_own_status(
    tmp_path: Path, line: str, status: int, said: bytes
) -> None:
    done = shell(line, tmp_path)
    assert done.returncode == status, done.stderr
    assert said in done.stderr
    assert done.stderr.count(b"\n") == bool(said)


def test_an_encoding_without_the_characters_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "größe.json").write_text('{"attends": [[[0, 1], [0, 1]]]}')
    done = shell("sparseuap check gr*.json", tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr


def test_a_backend_for_windows_plays_no_part(tmp_path: Path) -> None:
    done = shell("sparseuap figures relay --out drawn", tmp_path, MPLBACKEND="nonsense")
    assert done.returncode == 0, done.stderr


def test_files_with_the_names_of_the_house_do_not_stand_in_for_it(tmp_path: Path) -> None:
    for name in ("theory", "verify", "constructions", "figures"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('not ours')\n")
    (tmp_path / "mine.py").write_text("def mask(n):\n    return [list(range(n))] * n\n")
    line = "prove mine:mask?n=3 --d 1 --delta 1/2 --construction relay"
    assert shell(f"sparseuap {line}", tmp_path).returncode == 0
    assert shell(f"sparseuap {line}", tmp_path, PYTHONPATH=str(tmp_path)).returncode == 0
    python = f"{shlex.quote(sys.executable)} -c 'from sparseuap.cli import main; main()'"
    done = shell(f"{python} {line}", tmp_path)
    assert done.returncode == 0, done.stderr


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert isinstance(stop.value.code, int)
    return stop.value.code


def broken(*_: object) -> None:
    raise ZeroDivisionError("a bug\nin two lines")


@pytest.mark.parametrize("debug", [["--debug"], []])
def test_an_unexpected_exception_is_one_line_and_its_own_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], debug: list[str]
) -> None:
    monkeypatch.setattr(sparseuap.commands.families, "_key", broken)
    assert run(*debug, "families") == 70
    said = capsys.readouterr().err
    assert ("Traceback" in said) == bool(debug)
    assert said.splitlines()[-1].startswith("error: unexpected ZeroDivisionError: a bug in two lines")
    assert bool(debug) or said.count("\n") == 1


def test_debug_is_also_read_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPARSEUAP_DEBUG", "1")
    assert run("check", "nothing.json") == 2
    assert "Traceback" in capsys.readouterr().err


def test_completion_still_works(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("_SPARSEUAP_COMPLETE", "zsh_source")
    assert run() == 0
    assert "sparseuap" in capsys.readouterr().out
    monkeypatch.setenv("_SPARSEUAP_COMPLETE", "nonsense")
    assert run() == 2


def test_all_statuses_are_listed_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help") == 0
    shown = capsys.readouterr().out
    for status in (0, 1, 2, 3, 70, 74, 130):
        assert f"\n    {status:<4} " in shown
    assert run() == 2
    assert "Usage" in capsys.readouterr().err
