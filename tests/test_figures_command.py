"""`sparseuap figures`: files, the gallery, exit statuses and one-line complaints."""

from __future__ import annotations

import html
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

from figures.registry import FIGURES
from sparseuap.cli import main
from sparseuap.gallery import gallery

if TYPE_CHECKING:
    from pathlib import Path

FOURTEEN = 14


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["figures", *arguments])
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call


class Outside(HTMLParser):
    """Collects what a page would load, and the tags left open."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loaded += [value or "" for key, value in attrs if key in ("src", "href", "data")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_list_names_all_figures_and_draws_none(run: Any) -> None:
    code, out, err = run("--list")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == list(FIGURES)
    assert len(FIGURES) == FOURTEEN
    assert run("--list", "relay")[1].split()[0] == "relay"


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_chosen_figures_and_their_gallery(run: Any, tmp_path: Path, kind: str) -> None:
    out = tmp_path / "deep" / "er"
    code, text, err = run("value_mapping", "relay", "relay", "--out", str(out), "--format", kind)
    assert (code, err) == (0, "")
    assert text == f"2 figures in {out}, and the gallery {out / 'figures.html'}\n"
    files = {f"relay.{kind}", f"value_mapping.{kind}"}
    assert {file.name for file in out.iterdir()} == {*files, "figures.html"}
    start = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[kind]
    assert all((out / name).read_bytes().startswith(start) for name in files)
    page = (out / "figures.html").read_text(encoding="utf-8")
    reader = Outside()
    reader.feed(page)
    assert set(reader.loaded) == files  # and nothing from elsewhere
    assert reader.open == []
    for name in ("relay", "value_mapping"):
        assert html.escape(FIGURES[name].title) in page
        assert html.escape(FIGURES[name].caption.split()[-1]) in page


def test_two_runs_write_the_same_bytes(run: Any, tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for out in (one, other):
        run("contextual_mapping", "--out", str(out))
    for file in one.iterdir():
        assert file.read_bytes() == (other / file.name).read_bytes()


def test_the_gallery_holds_all_captions_each_with_a_place_in_the_paper() -> None:
    page = gallery(list(FIGURES.values()), "svg")
    reader = Outside()
    reader.feed(page)
    assert reader.loaded == [f"{name}.svg" for name in FIGURES]
    assert page.count("<figcaption><p>") == FOURTEEN
    for entry in FIGURES.values():
        assert any(word in entry.caption for word in ("eq", "Lemma", "Assumption", "§", "Appendix")), entry.name


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["realy", "--out", "x"], "no figure is called 'realy', did you mean 'relay'?"),
        (["Error-By-Layer", "--list"], "did you mean 'error_by_layer'?"),
        (["qqqq", "--out", "x"], "no figure is called 'qqqq': --list names all of them"),
        (["relay"], "give it with --out DIR"),
    ],
)
def test_bad_input_is_one_line(run: Any, arguments: list[str], complaint: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert complaint in err
    assert err.count("\n") == 1


def test_a_directory_that_cannot_be_written(run: Any, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    code, out, err = run("relay", "--out", str(tmp_path / "taken"))
    assert (code, out) == (2, "")
    assert "cannot be written" in err
    assert err.count("\n") == 1
    assert run("relay", "--out", str(tmp_path), "--format", "gif")[0] == 2
