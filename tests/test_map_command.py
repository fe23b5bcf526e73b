"""`sparseuap map`: the promised JSON, exit statuses and one-line complaints."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from sparseuap.cli import main

if TYPE_CHECKING:
    from pathlib import Path

PROMISED = {"holds", "t_sufficient", "t_tight", "t_found", "worst_vector"}
OPTIONS = ("--zeta", "0.25", "--eta", "0.01", "--n", "5")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["map", *arguments])
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call


@pytest.mark.parametrize(
    ("name", "t_exact"),
    [("softmax", None), ("topk:2", None), ("sparsemax", 4.0), ("sparselin-gen:0.5", 2.0), ("entmax:1.5", 8.0)],
)
def test_maps_that_hold(run: Any, name: str, t_exact: float | None) -> None:
    code, out, err = run(name, *OPTIONS, "--json")
    data = json.loads(out)
    assert (code, err) == (0, "")
    assert set(data) >= PROMISED
    assert data["holds"] is data["proved"] is True
    assert data["t_exact"] == t_exact
    assert data["t_found"] == pytest.approx(data["t_tight"], rel=1e-6)
    assert data["t_tight"] <= data["t_sufficient"] * (1 + 1e-15)
    assert len(data["worst_vector"]) == data["n"] == 5


@pytest.mark.parametrize("name", ["uniform", "squared", "tanh-capped:5"])
def test_counter_examples(run: Any, name: str) -> None:
    code, out, _ = run(name, *OPTIONS, "--json")
    data = json.loads(out)
    assert code == 1
    assert data["holds"] is False
    assert data["t_sufficient"] is data["t_tight"] is data["t_found"] is None
    assert len(data["worst_vector"]) == 5


def test_text_says_the_same(run: Any) -> None:
    code, out, _ = run("entmax:1.5", *OPTIONS)
    assert code == 0
    assert "zeta = 0.25, eta = 0.01, 5 scores: holds" in out
    assert "t exact       8 " in out
    assert "worst vector  [0, -0.25, -0.25, -0.25, -0.25]" in out
    code, out, _ = run("uniform", *OPTIONS)
    assert code == 1
    assert "no t is sufficient, by its formula: at t = 4 the leader of [0, -0.25," in out
    assert "t found" not in out


@pytest.fixture
def my_maps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"my_maps_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(
        "import numpy as np\n"
        "from theory.probability_maps import Entmax\n"
        "def soft(v):\n    e = np.exp(v - v.max())\n    return e / e.sum()\n"
        "def flat(v):\n    return np.ones(len(v)) / len(v)\n"
        "def overflows(v):\n    return np.exp(v) / np.exp(v).sum()\n"
        "def raises(v):\n    raise KeyError('no idea')\n"
        "built = Entmax(1.25)\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    return name


@pytest.mark.parametrize(
    ("function", "status", "holds", "proved"),
    [("soft", 0, True, False), ("flat", 1, False, False), ("overflows", 3, None, False), ("built", 0, True, True)],
)
def test_your_own(run: Any, my_maps: str, function: str, status: int, holds: bool | None, proved: bool) -> None:
    code, out, err = run(f"{my_maps}:{function}", *OPTIONS, "--json")
    data = json.loads(out)
    assert (code, err) == (status, "")
    assert (data["holds"], data["proved"]) == (holds, proved)


def test_your_own_that_raises(run: Any, my_maps: str) -> None:
    code, out, err = run(f"{my_maps}:raises", *OPTIONS)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "failed on the scores [0, -1, -1, -1, -1]: KeyError: 'no idea'" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("softmax", "--zeta", "0", "--eta", "0.1", "--n", "3"), "zeta"),
        (("softmax", "--zeta", "-1", "--eta", "0.1", "--n", "3"), "zeta"),
        (("softmax", "--zeta", "nan", "--eta", "0.1", "--n", "3"), "zeta"),
        (("softmax", "--zeta", "1", "--eta", "0", "--n", "3"), "eta"),
        (("softmax", "--zeta", "1", "--eta", "1.1", "--n", "3"), "eta"),
        (("softmax", "--zeta", "1", "--eta", "0.1", "--n", "1"), "--n"),
        (("softmax", "--zeta", "1", "--eta", "0.1"), "--n"),
        (("entmax:0.5", *OPTIONS), "alpha >= 1"),
        (("entmax", *OPTIONS), "as in entmax:1.5"),
        (("nosuch", *OPTIONS), "no map is called 'nosuch'"),
        (("no_such_module:f", *OPTIONS), "no module is called 'no_such_module'"),
    ],
)
def test_bad_input(run: Any, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_help_lists_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "Check Assumption 2 for a probability map" in capsys.readouterr().out
