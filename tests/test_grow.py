"""`sparseuap grow` as its users meet it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import brute_force
import pytest

from sparseuap.cli import main
from theory.families import parse_family


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["grow", *arguments])
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call


@pytest.mark.parametrize("source", ["strided:n=9,w=4", "fixed:n=11,w=3", "causal:n=7,w=1"])
def test_json_gives_the_layer_of_every_pair(run: Any, source: str) -> None:
    code, out, _ = run(source, "--layers", "4", "--json")
    data = json.loads(out)
    attends = parse_family(source).to_lists()
    assert code == 0
    assert [row["layer"] for row in data["summary"]] == [1, 2, 3, 4]
    for t in range(1, 5):
        seen = brute_force.layers_seen(attends, t, residual=True)
        sizes = [len(members) for members in seen]
        assert data["sizes"][t - 1] == sizes
        row = data["summary"][t - 1]
        assert (row["min"], row["max"]) == (min(sizes), max(sizes))
        assert row["mean"] == pytest.approx(sum(sizes) / len(sizes))
        for query, members in enumerate(seen):
            within = {
                key for key, first in enumerate(data["first_seen"][query]) if first is not None and first <= t
            }
            assert within == members


def test_without_layers_it_stops_when_nothing_changes(run: Any) -> None:
    data = json.loads(run("strided:n=9,w=4", "--json")[1])
    assert data["layers"] == data["full_after"] == 3
    data = json.loads(run("fixed:n=7,w=3", "--json")[1])
    assert data["full_after"] is None
    assert data["first_seen"][0][6] is None
    assert json.loads(run("dense:n=1", "--json")[1])["summary"] == [{"layer": 1, "min": 1, "mean": 1.0, "max": 1}]


def test_text_shows_the_matrix_of_few_tokens(run: Any) -> None:
    _, out, _ = run("causal:n=4,w=1")
    assert out.splitlines()[-5:] == [
        "     0 1 2 3".rstrip(),
        " 0 : 0 . . .",
        " 1 : 1 0 . .",
        " 2 : 2 1 0 .",
        " 3 : 3 2 1 0",
    ]
    assert "tokens 0..2 do not see every token" in out
    assert "First layer" not in run("causal:n=40,w=1", "--layers", "2")[1]


def test_one_query(run: Any) -> None:
    data = json.loads(run("ring:n=6", "--query", "2", "--json")[1])
    assert data["first_seen"] == [2, 1, 0, 5, 4, 3]
    assert data["sizes"] == [2, 3, 4, 5, 6]
    code, out, _ = run("ring:n=6", "--query", "2", "--layers", "2")
    assert code == 0
    assert out.splitlines()[-1] == "Not within 2 layers: tokens 3..5."
    assert run("ring:n=6", "--query", "2")[1].splitlines()[-1] == "Every token is seen."


def test_bad_input_is_one_line(run: Any) -> None:
    code, out, err = run("ring:n=6", "--query", "6")
    assert (code, out, err) == (2, "", "error: no token 6: tokens are 0..5\n")
    code, _, err = run("ring:n=20000")
    assert code == 2
    assert "say how many to follow with --layers" in err
    code, _, err = run("ring:n=20000", "--layers", "1000")
    assert code == 2
    assert "ask for one --query" in err


def test_the_figure_is_written(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "growth.svg"
    assert run("strided:n=9,w=4", "--layers", "3", "--figure", str(file))[0] == 0
    assert file.read_text().startswith("<?xml")
    for wrong, named in (
        (tmp_path / "growth.gif", ".svg, .png or .pdf"),
        (tmp_path / "no" / "x.svg", "cannot be"),
    ):
        code, _, err = run("strided:n=9,w=4", "--figure", str(wrong))
        assert (code, named in err) == (2, True)
    assert run("strided:n=9,w=4", "--query", "1", "--figure", str(file))[0] == 2
