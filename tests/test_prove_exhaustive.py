"""`prove --exhaustive`: ids of all inputs streamed, or compared where the stream proves nothing; never wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import verify.proof
from constructions.backends import NUMPY
from constructions.network import choose_mapping
from constructions.numbers import ProofError
from sparseuap.prove_report import as_json, as_text
from theory.families import parse_family
from theory.patterns import SparsityPattern
from theory.verdicts import Answer
from verify.exhaustive.arrays import ArrayEngine
from verify.exhaustive.case import sweep_case
from verify.exhaustive.decide import SweepPlan, decide_ids
from verify.exhaustive.run import sweep
from verify.inputs import AdversarialInputs, AllInputs
from verify.lemmas import check_ids
from verify.proof import Proof, choose_inputs, prove

STAR = ("star:n=6,w=1", "--d", "1", "--delta", "1/8", "--construction", "merged", "--exhaustive")
LITERAL = {"g_q literal", "g_c literal", "g_v literal"}
STREAMED = "every id read back by a linear form, streamed"


def test_the_command_streams_and_goes_on_from_a_checkpoint(prove_command: Any, tmp_path: Path) -> None:
    pytest.importorskip("joblib")
    options = (*STAR, "--jobs", "2", "--checkpoint", str(tmp_path / "sweep.json"))
    code, out, err = prove_command(*options, "--json")
    data = json.loads(out)
    alone = sweep(sweep_case(choose_mapping(parse_family("star:n=6,w=1"), 1, 8, "merged")), ArrayEngine(NUMPY))
    assert (code, err) == (0, "")
    assert data["sweep"]["digest"] == alone.digest
    assert data["sweep"]["inputs_per_second"] > 0
    assert (data["sweep"]["from_checkpoint"], data["sweep"]["stopped"]) == (0, None)
    assert (data["inputs"], data["exhaustive"], data["exact_on_cells"]) == (8**6, True, True)
    assert data["contextual_mapping"]["method"] == STREAMED
    assert data["backend"] == "numpy, cpu"
    assert (data["gap"], data["gap_within_exact"]) == (None, False)
    assert {check["name"] for check in data["checks"] if not check["exhaustive"]} == LITERAL
    code, out, err = prove_command(*options)
    assert (code, err) == (0, "")
    assert f"digest {alone.digest}" in out
    assert "262144 inputs from the checkpoint" in out
    assert STREAMED in out


@pytest.mark.parametrize("construction", ["paper", "merged", "relay"])
def test_a_sweep_and_sorting_agree(construction: str) -> None:
    star = parse_family("star:n=4,w=1")
    for levels in (2, 3, 4):
        options = {"d": 1, "delta": f"1/{levels}", "construction": construction, "exhaustive": True}
        swept, compared = prove(star, **options, jobs=1), prove(star, **options)
        assert swept.ids.method == STREAMED
        assert compared.ids.method == "sorted in memory"
        assert swept.holds
        assert compared.holds
        assert swept.ids.max_id_bits == compared.ids.max_id_bits
        assert [check.name for check in swept.checks] == [check.name for check in compared.checks]
        least, exact = swept.ids.gap.within, compared.ids.gap.within
        assert least is not None
        assert exact is not None
        assert 0 < least <= exact
        assert construction != "relay" or least == exact


WRONG: list[dict[str, int]] = [
    *({"c": c} for c in (0, 1, 2, 3, 7, 40, 200, 10**6)),
    *({"s": s} for s in (1, 2, 3)),
    *({"shift_factor": factor} for factor in (0, 1, 2, 3, 9)),
    *({"step": step} for step in (0, 1, 2, 3, 7)),
    {"c": 5, "step": 1},
    {"s": 1, "c": 2},
]


@pytest.mark.parametrize("source", ["star:n=4,w=1", "strided:n=5,w=3", "ring:n=3"])
def test_wrong_constants_fail_with_a_witness_or_hold_as_sorting_says(source: str) -> None:
    pattern, answers = parse_family(source), []
    for constants in WRONG:
        for construction in ("paper", "merged"):
            mapping = choose_mapping(pattern, 1, 3, construction, **constants)
            every = AllInputs(1, pattern.n, 3)
            for sample in (every, AdversarialInputs(1, pattern.n, 3, 12, seed=0)):
                found = decide_ids(mapping, every, sample, SweepPlan())
                truth = check_ids(mapping, every)
                assert found.ids.answer is truth.answer
                assert (found.ids.answer is Answer.FAILS) == (found.ids.collision is not None)
                assert (found.ids.digest is None) == (found.ids.method != STREAMED)
                if found.inputs is every:
                    assert found.ids.distinct_within is truth.distinct_within
                    assert found.ids.distinct_across is truth.distinct_across
            answers.append((found.ids.answer, found.ids.digest is None))
    assert set(answers) >= {(Answer.HOLDS, False), (Answer.FAILS, True)}


def test_a_proof_that_fails_says_how_it_was_decided(prove_command: Any) -> None:
    options = ("strided:n=5,w=3", "--d", "1", "--delta", "1/3", "--s", "2", "--exhaustive", "--jobs", "1")
    code, out, _ = prove_command(*options)
    assert code == 1
    assert "FAILS: 7.2: input" in out
    assert "share the id" in out
    assert "(sorted in memory; no sweep, " in out
    assert "digest" not in out
    data = json.loads(prove_command(*options, "--json")[1])
    assert data["contextual_mapping"]["collision"]["kind"] == "across"
    assert data["sweep"] is None


def test_a_sweep_that_stops_is_no_verdict() -> None:
    """With a c that is too small for the proof the ids may still be distinct: sorting says."""
    pattern = parse_family("star:n=4,w=1")
    stops = []
    for c in range(30, 400, 10):
        mapping = choose_mapping(pattern, 1, 3, "merged", c=c)
        every = AllInputs(1, 4, 3)
        found = decide_ids(mapping, every, every, SweepPlan())
        assert found.ids.answer is check_ids(mapping, every).answer
        if found.sweep is not None and found.sweep.stopped is not None:
            assert f"the sweep stopped at {found.sweep.stopped}" in found.ids.method
            stops.append(c)
        elif found.ids.digest is not None and found.ids.gap.within is not None:
            exact = check_ids(mapping, every).gap.within
            assert exact is not None
            assert found.ids.gap.within <= exact
    assert stops


def test_no_gap_is_named_where_the_sweep_bounds_none() -> None:
    proof = prove(
        parse_family("star:n=4,w=1"), d=1, delta="1/3", construction="merged", exhaustive=True, jobs=1, c=300
    )
    assert (proof.ids.method, proof.ids.gap.within) == (STREAMED, None)
    assert f"largest id {proof.ids.max_id_bits} bits ({STREAMED})" in as_text(proof, "star", "identity")


def large(monkeypatch: pytest.MonkeyPatch, construction: str, **constants: int) -> Proof:
    """A proof of 4^4 inputs as if they were too many to compare otherwise."""
    monkeypatch.setattr(verify.proof, "SWEPT", 100)
    monkeypatch.setattr(verify.proof, "DEFAULT_SAMPLES", 50)
    star = parse_family("star:n=4,w=1")
    return prove(star, d=1, delta="1/4", construction=construction, exhaustive=True, **constants)


@pytest.mark.parametrize("construction", ["merged", "relay"])
def test_many_inputs_are_streamed_and_other_statements_sampled(
    monkeypatch: pytest.MonkeyPatch, construction: str
) -> None:
    proof = large(monkeypatch, construction)
    assert proof.holds
    assert (proof.ids.exhaustive, proof.ids.inputs, proof.ids.method) == (True, 256, STREAMED)
    found = {check.name: (check.inputs, check.exhaustive) for check in proof.checks}
    by_ids = {"7.1", "7.2", "reach"} & set(found)
    assert len(by_ids) == (3 if construction == "relay" else 2)
    assert {found[name] for name in by_ids} == {(256, True)}
    sampled = set(found) - by_ids - {"eq. 12", "disjoint slots", "target"} - LITERAL
    assert {found[name] for name in sampled} == {(50, False)}
    assert "Lemma 6" in sampled
    text = as_text(proof, "star", "identity")
    assert "all 4^4 = 256 inputs" in text
    assert "50 samples" in text
    assert "all 256" in text
    assert "checked on samples where the table says so: 50 of 4^4 inputs" in text
    data = as_json(proof, "star", "identity")
    assert {check["exhaustive"] for check in data["checks"]} == {True, False}


def test_many_inputs_a_collision_in_the_sample_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    proof = large(monkeypatch, "merged", c=2, s=1)
    assert not proof.holds
    assert (proof.ids.inputs, proof.ids.exhaustive) == (50, False)
    (check,) = (check for check in proof.checks if check.name == "7.2")
    assert (check.inputs, check.exhaustive, check.answer) == (50, False, Answer.FAILS)


def test_a_target_is_checked_on_grids_of_its_own() -> None:
    causal = parse_family("causal:n=17")
    proof = prove(causal, d=1, delta="1/2", target="causal-mean", construction="relay", samples=20)
    (check,) = (check for check in proof.checks if check.name == "target")
    assert (check.inputs, check.exhaustive) == (4096, False)
    small = prove(parse_family("causal:n=3"), d=1, delta="1/2", target="causal-mean", construction="relay")
    assert (small.checks[0].inputs, small.checks[0].exhaustive) == (8, True)
    strong = prove(SparsityPattern.from_lists([[0, 1], [0, 1]]), d=1, delta="1/2", construction="relay")
    assert (strong.checks[0].inputs, strong.checks[0].why) == (0, "every token reaches every other")


def test_torch_gives_the_same_digest(prove_command: Any) -> None:
    pytest.importorskip("torch")
    options = ("star:n=5,w=1", "--d", "1", "--delta", "1/3", "--construction", "merged", "--exhaustive", "--json")
    plain = json.loads(prove_command(*options, "--jobs", "1")[1])
    data = json.loads(prove_command(*options, "--backend", "torch")[1])
    assert data["backend"] == "torch, cpu"
    assert data["sweep"]["engine"] == "arrays (torch, cpu)"
    assert data["sweep"]["digest"] == plain["sweep"]["digest"]


def test_torch_without_a_sweep(prove_command: Any) -> None:
    pytest.importorskip("torch")
    code, out, _ = prove_command("ring:n=3", "--d", "1", "--delta", "1/2", "--backend", "torch", "--json")
    data = json.loads(out)
    assert (code, data["backend"], data["sweep"]) == (0, "torch, cpu", None)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--jobs", "2"), "add --exhaustive"),
        (("--checkpoint", "file"), "add --exhaustive"),
        (("--dask", "127.0.0.1:8786", "--samples", "9"), "add --exhaustive"),
        (("--exhaustive", "--jobs", "0"), "jobs must be 1..1024, or -1 for all cores"),
        (("--exhaustive", "--jobs", "2", "--dask", "127.0.0.1:1"), "exclude each other"),
        (("--exhaustive", "--checkpoint", "."), "is a directory"),
        (("--exhaustive", "--checkpoint", "no/where"), "no/where cannot be written"),
        (("--device", "cuda"), "--device cuda needs --backend torch"),
    ],
)
def test_bad_options_are_one_clear_line(
    prove_command: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], named: str
) -> None:
    pytest.importorskip("joblib")
    pytest.importorskip("distributed")
    monkeypatch.chdir(tmp_path)
    code, out, err = prove_command("ring:n=3", "--d", "1", "--delta", "1/2", *options)
    assert (code, out) == (2, "")
    assert named in err
    assert "Traceback" not in err
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_checkpoint_is_refused(prove_command: Any, tmp_path: Path) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("do not lose this")
    code, out, err = prove_command(*STAR, "--checkpoint", str(notes))
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert "is no checkpoint of a sweep" in err
    assert notes.read_text() == "do not lose this"


def test_more_inputs_than_can_be_numbered_are_refused() -> None:
    with pytest.raises(ProofError, match=r"all 2\^64 inputs are too many to number"):
        choose_inputs(1, 64, 2, exhaustive=True, samples=None, seed=0)
    assert choose_inputs(1, 64, 2, exhaustive=False, samples=None, seed=0).count == 4096
