"""`sparseuap repair` as its users meet it, and the check that a wrong repair does not pass."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import brute_force
import numpy as np
import pytest

from sparseuap.cli import main
from theory.families import fixed, parse_family
from theory.patterns import SparsityPattern
from theory.readers.source import read_source
from theory.repair import repair
from theory.theorems import FunctionClass
from theory.verdicts import Answer
from verify.repair_check import check_repair


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str | Path) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["repair", *map(str, arguments)])
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call


def test_the_repaired_pattern_is_written_and_universal(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "repaired.json"
    code, out, _ = run("fixed:n=23,w=5", "--out", file)
    assert code == 0
    assert "add 1 connection (the reach theorem, all continuous functions); the fewest possible." in out
    assert "  pattern 1: token 19 attends to token 22" in out
    assert f"Written to {file}." in out
    repaired = read_source(str(file))
    assert repaired.attends(19, 22, layer=1)
    assert repaired.connections == fixed(23, 5).connections + 1
    code, out, _ = run(file)
    assert code == 0
    assert "nothing to add" in out


def test_json_has_the_promised_keys(run: Any) -> None:
    code, out, _ = run("hub:n=10", "--theorem", "paper", "--json")
    data = json.loads(out)
    assert code == 0
    assert (len(data["added"]), data["optimal"], data["lower_bound"], data["repaired"]) == (7, True, 7, True)
    assert sorted(data["path"]) == list(range(10))
    assert data["verdict"]["theorems"]["yun_2020_theorem_1"]["says"] == "universal"
    assert data["verdict"]["connections"] == parse_family("hub:n=10").connections + 7


def test_self_loops_and_long_lists(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "swap.json"
    file.write_text('{"attends": [[[1], [0, 1]]]}')
    code, out, _ = run(file)
    assert code == 0
    assert "  pattern 0: token 0 attends to itself" in out
    assert "and 12 more (--json lists all)" in run("documents:n=64,length=2")[1]


def test_a_causal_pattern_is_not_repaired_for_all_functions(run: Any) -> None:
    code, out, err = run("causal:n=6,w=2", "--keep-causal")
    assert (code, err) == (1, "")
    assert out.startswith("causal:n=6,w=2: no causal pattern is universal for all functions: token 0 never sees")
    code, out, _ = run("causal:n=6,w=2", "--keep-causal", "--json")
    data = json.loads(out)
    assert (code, data["possible"], data["repaired"], data["added"], data["optimal"]) == (
        1,
        False,
        None,
        [],
        False,
    )
    code, out, _ = run("causal:n=6,w=0", "--keep-causal", "--for", "causal", "--json")
    assert code == 0
    assert json.loads(out)["added"] == [[0, k, k - 1] for k in range(1, 6)]


def test_causal_functions_need_no_later_keys_unless_asked(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "chains.json"
    file.write_text('{"attends": [[[0], [1], [0, 2], [1, 3], [2, 4], [3, 5]]]}')
    code, out, _ = run(file, "--for", "causal")
    assert code == 0
    assert "add 5 connections" in out
    assert "the pattern is causal and stays so (--no-keep-causal allows keys after their query)." in out
    code, out, _ = run(file, "--for", "causal", "--no-keep-causal")
    assert code == 0
    assert "add 2 connections" in out
    assert "stays so" not in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ring:n=5", "--keep-causal"), "drop --keep-causal"),
        (("ring:n=5", "--theorem", "paper", "--for", "causal"), "ask for --theorem reach"),
        (("ring:n=5", "--pattern", "1"), "no pattern 1: patterns are 0..0"),
        (("ring:n=5", "--out", "/no/such/folder/a.json"), "/no/such/folder/a.json cannot be written"),
        (("nothing",), "is no source"),
    ],
)
def test_bad_input_is_one_line(run: Any, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_wrong_repair_does_not_pass() -> None:
    pattern = fixed(23, 5)
    found = repair(pattern)
    assert check_repair(pattern, found).answer is Answer.HOLDS
    assert found.pattern is not None
    idle = dataclasses.replace(found, pattern=pattern, added=np.empty((0, 3), dtype=np.int64))
    hidden = dataclasses.replace(found, added=found.added[:0])
    elsewhere = dataclasses.replace(found, added=found.added - np.array([[1, 0, 0]]))
    lost = dataclasses.replace(found, pattern=SparsityPattern((fixed(23, 1).layers[0], found.pattern.layers[1])))
    shorter = dataclasses.replace(found, pattern=found.pattern.unite())
    none = dataclasses.replace(found, pattern=None)
    for wrong in (idle, hidden, elsewhere, lost, shorter, none):
        assert check_repair(pattern, wrong).answer is Answer.FAILS


def test_the_path_that_came_with_a_repair_is_followed() -> None:
    pattern = parse_family("documents:n=18,length=5")
    found = repair(pattern, theorem="paper")
    assert check_repair(pattern, found, theorem="paper").answer is Answer.HOLDS
    plain = repair(pattern)  # strongly connected, with a Hamiltonian path as it happens
    wrong = dataclasses.replace(plain, path=np.arange(17))
    assert check_repair(pattern, wrong, theorem="paper").verdict is not None
    hub = parse_family("hub:n=18")
    for path in (None, np.arange(18), np.arange(17)):
        assert (
            check_repair(hub, dataclasses.replace(repair(hub), path=path), theorem="paper").answer is Answer.FAILS
        )


@pytest.mark.parametrize("options", [{}, {"for_": FunctionClass.CAUSAL}, {"theorem": "paper"}])
def test_every_repair_passes_the_check(options: dict[str, Any]) -> None:
    for attends in brute_force.random_patterns(60, 17, most_tokens=8):
        pattern = SparsityPattern.from_lists(*attends)
        assert check_repair(pattern, repair(pattern, **options), **options).answer is Answer.HOLDS
