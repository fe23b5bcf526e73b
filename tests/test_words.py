"""What check and report say is true of the pattern, whatever it is: against brute force over many patterns."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brute_force
import pytest

from sparseuap.check_report import as_json, as_text, judged_as_text
from sparseuap.cli import main
from sparseuap.command_line import command_line
from sparseuap.remedy import MOST_CONNECTIONS, find_remedy
from theory.families import FAMILIES, causal, parse_family
from theory.patterns import SparsityPattern
from theory.readers.source import read_source
from verify.pattern_verdict import PatternVerdict, assess

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))
ALL, CAUSAL = "all continuous functions", "all causal continuous functions"
EXACTLY = {
    "all": ALL,
    "causal": CAUSAL,
    "within causal": "the causal continuous functions whose output k depends on reach(k) only",
    "other": "the continuous functions whose output k depends on reach(k) only",
}


def patterns() -> Iterator[SparsityPattern]:
    for attends in brute_force.random_patterns(60, seed=11, most_tokens=6):
        yield SparsityPattern.from_lists(*attends)
    for attends in brute_force.random_patterns(20, seed=12, most_tokens=5, self_attending=True):
        below = [[[key for key in keys if key <= query] for query, keys in enumerate(rows)] for rows in attends]
        yield SparsityPattern.from_lists(*below)
    for family in FAMILIES.values():
        yield parse_family(family.example)
    for file in CASES:
        yield read_source(str(file))


def right(pattern: SparsityPattern) -> dict[str, Any]:
    """What holds, by brute force: for either class True, False or None (undecided), and the kind of reach."""
    attends = pattern.to_lists()
    reach = brute_force.reach(attends)
    loops = all(query in keys for rows in attends for query, keys in enumerate(rows))
    seen = {
        "all": all(len(members) == pattern.n for members in reach),
        "causal": all(set(range(k + 1)) <= members for k, members in enumerate(reach)),
    }
    answers = {for_: (True if loops else None) if seen[for_] else False for for_ in seen}
    return {**answers, "exactly": EXACTLY[brute_force.reach_kind(attends)] if loops else None}


def small(pattern: SparsityPattern) -> bool:
    return pattern.n <= 64


def judged() -> Iterator[tuple[PatternVerdict, dict[str, Any]]]:
    for pattern in filter(small, patterns()):
        truth = right(pattern)
        for for_ in ("all", "causal"):
            yield assess(pattern, for_=for_, time_limit=1), truth


def check_text(verdict: PatternVerdict, truth: dict[str, Any]) -> None:
    """Assert that every sentence about universality agrees with brute force."""
    for_ = verdict.for_.value
    asked, holds = {"all": ALL, "causal": CAUSAL}[for_], truth[for_]
    text = as_text(verdict, "my.json", remedy=find_remedy(verdict, "my.json"))
    lines = text.splitlines()

    row = next(number for number, line in enumerate(lines) if line.startswith("the reach theorem"))
    said = {True: "universal", False: "not universal", None: "silent"}[holds]
    assert re.fullmatch(rf"the reach theorem .*\)  {said}", lines[row])
    assert lines[row + 1].startswith(f"    {asked}: ")
    exactly = [f"    universal for exactly these: {truth['exactly']}"] * (truth["exactly"] not in (None, asked))
    assert lines[row + 2 : row + 3] == (exactly or [""])

    word = {True: "universal", False: "NOT universal", None: "UNDECIDED: not known to be universal"}[holds]
    instead = f"; universal for {truth['exactly']}" if holds is False and truth["exactly"] else ""
    assert f"Verdict: {word} for {asked}{instead}." in lines

    offered = "It is universal for all causal continuous functions; for a decoder ask for those:" in lines
    assert offered == (for_ == "all" and holds is not True and truth["causal"] is True)
    assert ("    sparseuap repair my.json" in text) == (holds is not True)


def test_every_sentence_about_universality_is_true() -> None:
    answers = set()
    for verdict, truth in judged():
        check_text(verdict, truth)
        answers.add((verdict.for_.value, truth[verdict.for_.value], truth["exactly"]))
    assert len(answers) >= 10  # of both classes: yes, no and undecided, and every kind of reach


def test_the_check_of_sentences_notices_a_wrong_one() -> None:
    verdict = assess(causal(4))
    truth = right(verdict.pattern)
    check_text(verdict, truth)
    for wrong in ({"all": True}, {"all": None}, {"exactly": ALL}, {"exactly": None}, {"causal": False}):
        with pytest.raises(AssertionError):
            check_text(verdict, {**truth, **wrong})


def test_json_names_the_repair_only_where_it_is_needed() -> None:
    plain = set(as_json(assess(causal(4)), ""))
    for verdict, truth in judged():
        data = as_json(verdict, "my.json", remedy=find_remedy(verdict, "my.json"))
        row = data["theorems"]["reach_theorem"]
        assert row.get("universal_for") == truth["exactly"]
        assert row["functions"] == {"all": ALL, "causal": CAUSAL}[verdict.for_.value]
        assert plain <= set(data)
        assert ("repair" in data) == (truth[verdict.for_.value] is not True)
        if "repair" not in data:
            assert "hint" not in data
            continue
        added = data["repair"]["first"]
        attends = verdict.pattern.to_lists()
        assert 0 < len(added) == min(3, data["repair"]["count"])
        assert all(key not in attends[number][query] for number, query, key in added)


def test_a_causal_pattern_is_repaired_with_connections_to_the_past() -> None:
    verdict = assess(SparsityPattern.from_lists([[0], [1], [1, 2]]), for_="causal")
    remedy = find_remedy(verdict, "m.json")
    assert remedy is not None
    assert remedy.repair_command == "sparseuap repair m.json --for causal --keep-causal"
    assert remedy.found is not None
    assert remedy.found.added.tolist() == [[0, 1, 0]]
    assert "hint" not in remedy.as_json()


def test_a_large_pattern_is_told_of_repair_without_waiting_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sparseuap.remedy.MOST_CONNECTIONS", 5)
    remedy = find_remedy(assess(causal(4)), "causal:n=4")
    assert MOST_CONNECTIONS > 5
    assert remedy is not None
    assert remedy.found is None
    assert "The fewest connections that repair it are found by:" in list(remedy.lines())
    assert remedy.as_json()["repair"] == {"command": "sparseuap repair causal:n=4"}


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return int(stop.value.code or 0)


def printed(text: str) -> list[list[str]]:
    """The command lines that a text shows, split as a shell does."""
    return [shlex.split(line)[1:] for line in text.splitlines() if line.startswith("    sparseuap ")]


@pytest.mark.parametrize("source", ["causal:n=5", "fixed:n=7,w=3", "window:n=5,w=0", "a file.json", "it's+.json"])
def test_every_command_that_check_prints_runs(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a file.json").write_text('{"attends": [[[0], [0, 1], [1, 2]]]}')
    Path("it's+.json").write_text('{"attends": [[[], [0, 1], [1, 2]], [[0], [1], [2]]]}')
    for for_ in ("all", "causal"):
        status = run("check", source, "--for", for_)
        commands = printed(capsys.readouterr().out)
        assert bool(commands) == (status != 0)
        for command in commands:
            expected = (
                "holds" if command[0] == "repair" else assess(read_source(source), for_="causal").answer.value
            )
            assert run(*command) == {"holds": 0, "fails": 1, "undecided": 3}[expected]
            capsys.readouterr()


HEADS = "layout:deepspeed_layouts:Fixed?num_heads=2&different=true&attention=unidirectional&causal=true&n=16"


def test_heads_that_differ_are_helped_without_repetition(capsys: pytest.CaptureFixture[str]) -> None:
    status = run("check", HEADS)
    text = capsys.readouterr().out
    assert status == 1
    commands = printed(text)
    assert len(commands) == len({tuple(command) for command in commands})
    assert text.count("sparseuap ") == len(commands) == 2
    assert [(command[0], run(*command)) for command in commands] == [("check", 1), ("repair", 0)]
    capsys.readouterr()
    assert run("check", HEADS, "--heads", "union") in (0, 1)
    for command in printed(capsys.readouterr().out):
        assert run(*command) == 0
        capsys.readouterr()
    assert run("check", HEADS, "--json") == 1
    for head in json.loads(capsys.readouterr().out)["heads"]:
        assert run(*shlex.split(head["repair"]["command"])[1:]) == 0
        capsys.readouterr()


def test_joined_sources_whose_heads_differ_have_no_command_of_their_own() -> None:
    verdict = assess(causal(4))
    remedy = find_remedy(verdict, None)
    text = judged_as_text([([0], verdict), ([1], verdict)], "a.npy+b.npy", remedies=[remedy, remedy])
    assert text.count("To repair it, add 1 connection") == 2
    assert [command[0] for command in printed(text)] == ["check"]
    assert remedy is not None
    assert list(remedy.lines()) == [
        "To repair it, add 1 connection, the fewest possible (token 0 attends to token 3)."
    ]
    assert remedy.as_json()["repair"]["command"] is None


@pytest.mark.parametrize(
    "source", ["a b", "it's", "-x.npz", "m.npy?true=attend&head=0", "a\x1b[2J\nb'\\", "\udcff", "ü\u200b"]
)
def test_a_printed_source_arrives_as_it_was(source: str) -> None:
    line = command_line("check", source, "--for", "causal")
    assert line.replace("\udcff", "").isprintable()
    script = f"sparseuap() {{ printf '%s\\0' \"$@\"; }}; {line}"
    done = subprocess.run(["/bin/bash", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})  # noqa: S603
    words = done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]
    assert source in words
    assert {"check", "--for", "causal"} <= set(words)
