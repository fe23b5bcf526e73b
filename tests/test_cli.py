"""The command line as its users meet it: exit status, JSON, one line for bad input."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import brute_force
import numpy as np
import pytest

from sparseuap.cli import main
from theory.families import parse_family

CASES = Path(__file__).parent / "cases"


class Ran:
    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str | Path) -> Ran:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Ran(int(stop.value.code or 0), captured.out, captured.err)

    return call


def test_check_answers_by_exit_status(run: Any) -> None:
    assert run("check", "star:n=16,w=1").code == 0
    assert run("check", "fixed:n=23,w=5").code == 1
    assert run("check", "causal:n=8").code == 1
    assert run("check", "causal:n=8", "--for", "causal").code == 0
    assert run("check", "window:n=8,w=1", "--layers", "6").code == 1
    assert run("check", "window:n=8,w=1", "--layers", "7").code == 0


def test_a_pattern_without_self_attention_is_undecided(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "swap.json"
    file.write_text('{"attends": [[[1], [0, 1]]]}')
    undecided = run("check", file)
    assert undecided.code == 3
    assert "token 0 does not attend to itself in pattern 0" in undecided.out.splitlines()[-3].lower()
    assert undecided.out.endswith(f"    sparseuap repair {file}\n")


def test_json_has_the_promised_keys(run: Any) -> None:
    data = run("check", "strided:n=9,w=4", "--json", "--layers", "2").json
    assert (data["n"], data["p"], data["s"], data["reach"]) == (9, 2, 3, "all")
    assert data["assumption_1_1"] is data["assumption_1_2"] is data["assumption_1_3"] is True
    assert data["strongly_connected"] is True
    assert data["theorems"]["yun_2020_theorem_1"]["says"] == "universal"
    assert data["holds_within_layers"] is False
    pair = data["unseen_within_layers"]
    strided = parse_family("strided:n=9,w=4").to_lists()
    assert pair["key"] not in brute_force.layers_seen(strided, 2)[pair["query"]]


def test_s_is_null_when_there_is_none(run: Any) -> None:
    data = run("check", "fixed:n=23,w=5", "--json").json
    assert data["s"] is None
    assert data["assumption_1_3"] is False
    assert data["cut_off"] == {"query": 0, "key": 22}
    assert data["advice"].startswith("tokens 20..22 are never seen from outside")


def test_growth_is_shown_layer_by_layer(run: Any) -> None:
    growth = run("check", "ring:n=4", "--growth", "--json").json["growth"]["paper"]
    assert growth == [{"layer": t, "min": t + 1, "mean": t + 1} for t in (1, 2, 3)]
    assert "paper's recursion" in run("check", "ring:n=4", "--growth").out


def test_a_failing_text_verdict_ends_with_what_a_designer_needs(run: Any) -> None:
    shown = run("check", "fixed:n=23,w=5")
    assert "counted from 0" in shown.out
    assert shown.out.endswith(
        "Tokens 20..22 are never seen from outside: no connection leaves the last segment.\n"
        "It is universal for all causal continuous functions; for a decoder ask for those:\n"
        "    sparseuap check fixed:n=23,w=5 --for causal\n"
        "To repair it, add 1 connection, the fewest possible (token 19 attends to token 22 in pattern 1):\n"
        "    sparseuap repair fixed:n=23,w=5\n"
    )


def test_a_certificate_is_written_and_rechecked(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "star.json"
    assert run("check", "star:n=16,w=1", "--certificate", file).code == 0
    valid = run("recheck", file)
    assert valid.code == 0
    assert valid.out.endswith("The certificate is valid: every claim that it makes is confirmed.\n")
    assert run("recheck", file, "--pattern", "star:n=16,w=1").code == 0
    assert run("recheck", file, "--pattern", "star:n=16,w=2").code == 1
    content = json.loads(file.read_text())
    content["claims"]["assumption_1_3"]["s"] = 1
    file.write_text(json.dumps(content))
    false = run("recheck", file)
    assert false.code == 1
    assert "FALSE" in false.out
    file.write_text(file.read_text()[:-10])
    assert run("recheck", file).code == 2
    assert run("recheck", tmp_path / "absent.json").code == 2


def test_compare_puts_families_side_by_side(run: Any) -> None:
    rows = run("compare", "--n", "16", "--json").json
    assert {row["source"].split(":")[0] for row in rows} >= {"dense", "strided", "fixed", "star", "hub", "bigbird"}
    hub = next(row for row in rows if row["source"].startswith("hub"))
    assert hub["diameter"] == 2
    assert hub["assumption_1_2"] is False
    assert hub["star"] is True
    text = run("compare", "ring:n=5", "star:n=16,w=1").out
    assert "star:n=16,w=1" in text
    assert run("compare", "ring:n=5", "--n", "8").code == 2


def test_compare_gives_the_formula_beside_the_exact_count(run: Any) -> None:
    (row,) = run("compare", "bigbird:n=64,window=3,random=3,globals=2,seed=0", "--json").json
    assert row["connections_formula"] == 64 * (2 * 3 + 3 + 2)
    assert row["connections"] != row["connections_formula"]


def test_families_lists_what_check_accepts(run: Any) -> None:
    assert "strided" in run("families").out
    for family in run("families", "--json").json:
        assert run("check", family["example"], "--json").code in (0, 1)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["check", "stra:n=4"], "star"),
        (["check", "star:n=4,q=1"], "q"),
        (["check", "star:n=0,w=1"], "n"),
        (["check", "star:n=4"], "w"),
        (["check", "dense:n=1000000"], "1000000"),
        (["check", "missing.json"], "missing.json"),
        (["check", "ring:n=4", "--for", "some"], "some"),
        (["check", "ring:n=4", "--layers", "0"], "layers"),
        (["check", "ring:n=4", "--time-limit", "0"], "time-limit"),
        (["check", "ring:n=4", "--certificate", "no/such/folder/file"], "no/such/folder"),
        (["recheck", "missing.json"], "missing.json"),
        (["nonsense"], "nonsense"),
    ],
)
def test_bad_input_is_one_clear_line(run: Any, arguments: list[str], named: str) -> None:
    bad = run(*arguments)
    assert bad.code == 2
    assert bad.out == ""
    assert named in bad.err
    assert "Traceback" not in bad.err
    if bad.err.startswith("error:"):
        assert bad.err.count("\n") == 1


def test_pickled_arrays_and_unstated_polarity_are_refused(run: Any, tmp_path: Path) -> None:
    pickled = tmp_path / "pickled.npy"
    np.save(pickled, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert run("check", pickled).code == 2
    mask = tmp_path / "mask.npy"
    np.save(mask, np.ones((4, 4), dtype=bool))
    unstated = run("check", mask)
    assert unstated.code == 2
    assert "true=attend" in unstated.err
    assert run("check", f"{mask}?true=attend").code == 0
    assert run("check", f"{mask}?true=masked").code == 1


def test_the_installed_command_is_quiet_in_a_pipe() -> None:
    command = [str(Path(sys.executable).with_name("sparseuap")), "check", str(CASES / "paper_star.json"), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["s"] == 2


def test_starting_up_imports_nothing_heavy() -> None:
    script = (
        "import sys\n"
        "from sparseuap.cli import main\n"
        "try:\n    main(['check', 'star:n=16,w=1'])\n"
        "except SystemExit as stop:\n    assert stop.code == 0\n"
        "heavy = {'networkx', 'sympy', 'matplotlib', 'torch', 'rich', 'numba', 'pysat'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)  # noqa: S603
