"""Files: written whole or not at all, never over an input, and refused before the work where they cannot be."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

import sparseuap.commands.check
import sparseuap.commands.grow
import sparseuap.commands.prove
import sparseuap.commands.repair
import sparseuap.commands.report
import sparseuap.gallery
from sparseuap.cli import main
from theory.files import OutputError, check_folder, check_output, replaced, write_text
from theory.patterns import PatternError
from theory.readers.source import source_files

PATTERN = '{"attends": [[[0, 1], [0, 1]]]}'


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert isinstance(stop.value.code, int)
    return stop.value.code


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with one pattern."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.json").write_text(PATTERN)
    return tmp_path


def test_a_failing_write_leaves_the_file_and_no_draft(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("before")

    def half() -> None:
        with replaced(file) as draft:
            draft.write_text("half")
            raise OSError(28, "No space left on device")

    def interrupted() -> None:
        with replaced(file) as draft:
            draft.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(OutputError, match=r"a\.json cannot be written: No space left on device"):
        half()
    assert file.read_text() == "before"
    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert file.read_text() == "before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


def test_nobody_sees_half_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("before")
    with replaced(file) as draft:
        draft.write_text("after")
        assert file.read_text() == "before"
    assert file.read_text() == "after"


def test_modes_and_links_stay(tmp_path: Path) -> None:
    old, link, new = tmp_path / "old", tmp_path / "link", tmp_path / "new"
    old.write_text("before")
    old.chmod(0o640)
    link.symlink_to("old")
    write_text(link, "after")
    assert link.is_symlink()
    assert old.read_text() == "after"
    assert stat.S_IMODE(old.stat().st_mode) == 0o640
    held = os.umask(0o027)
    try:
        write_text(new, "x")
    finally:
        os.umask(held)
    assert stat.S_IMODE(new.stat().st_mode) == 0o640
    dangling = tmp_path / "dangling"
    dangling.symlink_to("made")
    write_text(dangling, "x")
    assert (tmp_path / "made").read_text() == "x"


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_text(Path("/dev/null"), "x")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_what_cannot_be_written_is_refused_and_nothing_is_left(here: Path) -> None:
    os.mkfifo("pipe")
    for name in (".", "no/such", "pipe", "p.json/x", "x" * 300, "nul\0", "/dev/null/x"):
        with pytest.raises(PatternError, match="cannot be written"):
            check_output(Path(name))
    check_output(Path("new.json"))
    check_folder(Path("a/b/c"), ["index.html"])
    Path("held").mkdir()
    Path("held/index.html").mkdir()
    for name in ("held", "p.json", "p.json/x", "nul\0", "pipe"):
        with pytest.raises(PatternError, match="cannot be written"):
            check_folder(Path(name), ["index.html"])
    assert {entry.name for entry in here.iterdir()} == {"p.json", "pipe", "held"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_or_file_that_is_read_only_is_refused(here: Path) -> None:
    Path("locked").mkdir(mode=0o555)
    Path("p.json").chmod(0o444)
    for path in (Path("locked/x.json"), Path("p.json")):
        with pytest.raises(PatternError, match="cannot be written"):
            check_output(path)


def test_an_input_is_found_whatever_it_is_called(here: Path) -> None:
    Path("link.json").symlink_to("p.json")
    os.link("p.json", "twin.json")
    Path("config.json").write_text("{}")
    Path("mine.py").write_text("")
    for name in ("p.json", "./p.json", str(here / "p.json"), "link.json", "twin.json"):
        with pytest.raises(PatternError, match=r"is (an input|the same file as the input)"):
            check_output(Path(name), source_files("p.json+p.json"))
    for source, name in (
        ("hf:config.json?n=4", "config.json"),
        ("mine:mask?n=3", "mine.py"),
        ("p.json?a=b", "p.json"),
    ):
        with pytest.raises(PatternError, match=r"is (an input|the same file as the input)"):
            check_output(Path(name), source_files(source))
    check_output(Path("config.json"), source_files("ring:n=4"))
    with pytest.raises(PatternError, match=r"^p\.json is an input: write to another file$"):
        check_output(Path("p.json"), source_files("p.json"))
    with pytest.raises(PatternError, match=r"^link\.json is the same file as the input p\.json: write"):
        check_output(Path("link.json"), source_files("p.json"))


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "p.json", "--certificate", "p.json"],
        ["check", "p.json", "--certificate", "link.json"],
        ["repair", "p.json", "--out", "./p.json"],
        ["grow", "drawn.svg+p.json", "--figure", "drawn.svg"],
        ["prove", "p.json", "--d", "1", "--delta", "1/2", "--exhaustive", "--checkpoint", "p.json"],
        ["report", "certificate.json", "--out", "."],
    ],
)
def test_no_command_writes_over_its_input(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    for name in ("certificate.json", "drawn.svg"):
        Path(name).write_text(PATTERN)
    Path("link.json").symlink_to("p.json")
    assert run(*arguments) == 2
    assert "write to another file" in capsys.readouterr().err
    assert Path(arguments[1].partition("+")[0]).read_text() == PATTERN


@pytest.mark.parametrize(
    ("arguments", "module", "work"),
    [
        (["check", "p.json", "--certificate"], sparseuap.commands.check, "read_heads"),
        (["repair", "p.json", "--out"], sparseuap.commands.repair, "read_source"),
        (["grow", "p.json", "--figure"], sparseuap.commands.grow, "read_source"),
        (["report", "p.json", "--out"], sparseuap.commands.report, "read_source"),
        (["figures", "relay", "--out"], sparseuap.gallery, "make_folder"),
        (
            ["prove", "p.json", "--d", "1", "--delta", "1/2", "--exhaustive", "--checkpoint"],
            sparseuap.commands.prove,
            "read_source",
        ),
    ],
)
def test_outputs_are_tried_before_the_work(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    module: Any,
    work: str,
) -> None:
    def begun(*_: object, **__: object) -> None:
        raise AssertionError("the work was begun")

    monkeypatch.setattr(module, work, begun)
    assert run(*arguments, "p.json/x.svg") == 2
    assert "cannot be written" in capsys.readouterr().err
    assert run(*arguments, "") == 2
    assert "the name is empty" in capsys.readouterr().err


def test_a_certificate_that_fails_to_be_written_leaves_the_old_one(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("check", "p.json", "--certificate", "c.json") == 0
    before = Path("c.json").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert run("check", "p.json", "--certificate", "c.json") == 74
    assert "c.json cannot be written: No space left on device" in capsys.readouterr().err
    assert Path("c.json").read_bytes() == before
    assert {entry.name for entry in here.iterdir()} == {"p.json", "c.json"}


def test_the_gallery_and_the_report_have_pages_of_their_own(here: Path) -> None:
    Path("out").mkdir()
    Path("out/index.html").write_text("the report")
    assert run("figures", "relay", "--out", "out") == 0
    assert Path("out/index.html").read_text() == "the report"
    assert "<h1>Figures</h1>" in Path("out/figures.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["grow"],
        ["grow", "--query", "0"],
        ["repair"],
        ["compare"],
        ["prove", "--d", "1", "--delta", "1/2"],
        ["error", "--d", "1", "--delta", "1/2", "--t", "64", "--construction", "relay"],
    ],
)
def test_names_with_control_characters_are_shown_escaped(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    name = "a\nb\x1b[31m\u202e\udcff[red]:smile:.json"
    Path(name).write_text(PATTERN)
    assert run(arguments[0], name, *arguments[1:]) == 0
    shown = capsys.readouterr().out
    assert r"a\nb\x1b[31m\u202e\udcff[red]:smile:.json" in shown
    assert all(line.isprintable() for line in shown.split("\n"))


def test_a_report_of_such_a_name_is_written(here: Path) -> None:
    name = "a\nb\x1b\udcff$.json"
    Path(name).write_text(PATTERN)
    assert run("report", name, "--out", "out", "--delta", "1/99999999999999999999") == 0
    assert r"a\nb\x1b\udcff$.json" in Path("out/index.html").read_text(encoding="utf-8")
