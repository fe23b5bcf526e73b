"""`sparseuap sweep`: the verdict over lengths, and the words for the lengths at which it breaks."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import brute_force
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseuap.cli import main
from sparseuap.lengths import describe_lengths, parse_lengths, with_length
from theory.families import parse_family
from theory.patterns import PatternError, SparsityPattern
from theory.theorems import FunctionClass
from verify.pattern_verdict import assess
from verify.reach_verdict import reach_verdict


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["sweep", *arguments])
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call


def test_fixed_breaks_unless_its_width_divides_n(run: Any) -> None:
    code, out, _ = run("fixed:n=20,w=5", "--n", "8:60", "--json")
    data = json.loads(out)
    assert code == 1
    assert data["summary"] == {"holds": "when 5 divides n", "fails": "unless 5 divides n"}
    for row in data["results"]:
        attends = parse_family(f"fixed:n={row['n']},w=5").to_lists()
        assert row["universal"] is (brute_force.reach_kind(attends) == "all")
    last = next(row for row in data["results"] if row["n"] == 58)
    assert last["advice"] == "tokens 55..57 are never seen from outside: no connection leaves the last segment"


def test_full_adds_the_assumptions(run: Any) -> None:
    rows = json.loads(run("strided:w=4", "--n", "4:10", "--full", "--json")[1])["results"]
    for row in rows:
        assert row["s"] == brute_force.smallest_s(parse_family(f"strided:n={row['n']},w=4").to_lists(), 4)
    assert all(row["assumption_1_1"] and row["assumption_1_2"] and row["assumption_1_3"] for row in rows)
    assert rows[0]["theorems"]["yun_2020_theorem_1"] == "universal"
    assert "1.1 holds, 1.2 holds, 1.3 holds, s = 3" in run("strided:w=4", "--n", "8:9", "--full")[1]


def test_causal_functions(run: Any) -> None:
    assert run("causal:w=1", "--n", "1:12", "--for", "causal")[0] == 0
    code, out, _ = run("causal:w=1", "--n", "1:12")
    assert code == 1
    assert "NOT universal  for n = 2..12 (11 of 12)" in out
    *_, reason, command = out.splitlines()
    assert reason == "No key comes after its query; for a decoder ask for all causal continuous functions:"
    assert run(*shlex.split(command)[2:])[0] == 0
    assert "decoder" not in run("fixed:w=5", "--n", "8:12")[1]


def test_lengths_that_the_source_refuses_are_named(run: Any) -> None:
    code, out, _ = run("longformer:window=2,globals=4", "--n", "2:8")
    assert code == 0
    assert "refused        for n = 2, 3" in out or "refused        for n = 2..3" in out
    code, _, err = run("longformer:window=2,globals=9", "--n", "2:8")
    assert code == 2
    assert err.startswith("error: longformer")


@pytest.mark.parametrize(
    ("source", "lengths", "message"),
    [
        ("nothing", "5", "has no length to sweep"),
        ("ring:", "x", "not of the form first:last"),
        ("ring:", "9:5", "holds no length"),
        ("ring:", "0:5", "holds no length"),
        ("ring:", "1:999999", "give a longer step"),
        ("nofamily:w=2", "5:6", "is no source"),
    ],
)
def test_bad_input_is_one_line(run: Any, source: str, lengths: str, message: str) -> None:
    code, out, err = run(source, "--n", lengths)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_file_has_one_length(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("[[0]]")
    with pytest.raises(PatternError, match="is a file of one length"):
        with_length(str(file), 5)


def test_the_length_is_replaced_in_every_kind_of_source() -> None:
    assert with_length("ring:", 5) == "ring:n=5"
    assert with_length("bigbird:window=1, n=8 ,random=2", 12) == "bigbird:window=1,n=12,random=2"
    assert with_length("my.masks:local", 5) == "my.masks:local?n=5"
    assert with_length("hf:some/config.json?n=8&mode=eval", 5) == "hf:some/config.json?n=5&mode=eval"
    assert with_length("ring:n=3+window:n=3,w=1", 5) == "ring:n=5+window:n=5,w=1"
    assert parse_lengths("8:12:3") == range(8, 13, 3)


def test_five_hundred_lengths_of_bigbird(run: Any) -> None:
    code, out, _ = run("bigbird:window=1,random=1,globals=1,block=8,seed=0", "--n", "13:512")
    assert code == 0
    assert "universal      always (500 of 500)" in out


@given(
    first=st.integers(1, 30),
    count=st.integers(1, 80),
    modulus=st.integers(2, 12),
    residues=st.sets(st.integers(0, 11), max_size=6),
    offset=st.integers(0, 15),
)
@settings(max_examples=150)
def test_the_words_mean_what_they_say(
    first: int, count: int, modulus: int, residues: set[int], offset: int
) -> None:
    lengths = range(first, first + count)
    marked = [i >= offset and n % modulus in residues for i, n in enumerate(lengths)]
    said = describe_lengths(lengths, marked)
    if "more ranges" not in said:
        assert [means(said, n) for n in lengths] == marked, said


def means(said: str, n: int) -> bool:
    """Evaluate the words at n, read back independently."""
    if " (from n = " in said:
        rule, _, rest = said.partition(" (from n = ")
        start, _, before = rest.rstrip(")").partition(" on; before: ")
        return means(rule, n) if n >= int(start) else means(before, n)
    if said in ("never", "always"):
        return said == "always"
    if said.startswith("for n = "):
        return n in numbers(said.removeprefix("for n = "))
    word, _, rule = said.partition(" ")
    if rule.endswith(" divides n"):
        hit = n % int(rule.split()[0]) == 0
    else:
        left, _, residues = rule.removeprefix("n mod ").partition(" is ")
        hit = n % int(left) in numbers(residues.replace(" or ", ", "))
    return hit if word == "when" else not hit


def numbers(text: str) -> set[int]:
    ends = [part.split("..") for part in text.split(", ")]
    return {number for part in ends for number in range(int(part[0]), int(part[-1]) + 1)}


@pytest.mark.parametrize("target", list(FunctionClass))
def test_the_quick_verdict_is_that_of_the_full_one(target: FunctionClass) -> None:
    for attends in brute_force.random_patterns(120, 11):
        pattern = SparsityPattern.from_lists(*attends)
        quick, whole = reach_verdict(pattern, target), assess(pattern, for_=target)
        assert (quick.answer, quick.reach) == (whole.universal, whole.reach)
        assert quick.why == whole.statements[-1].why
        assert bool(quick.advice) == bool(whole.advice)
