"""`sparseuap prove` and the proof behind it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from constructions.targets import parse_target
from theory.families import parse_family
from theory.verdicts import Answer
from verify.inputs import AllInputs
from verify.proof import choose_inputs, run_proof

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("construction", ["paper", "merged", "relay"])
def test_json_has_the_promised_keys(prove_command: Any, construction: str) -> None:
    options = ("--d", "1", "--delta", "1/2", "--target", "sort", "--construction", construction, "--json")
    code, out, _ = prove_command("star:n=5,w=1", *options)
    data = json.loads(out)
    n, d, levels, s = 5, 1, 2, 2
    assert code == 0
    assert data["construction"] == construction
    shifts = {"paper": (n - 1) * levels**d, "merged": n - 1, "relay": 2 * (n - 1)}[construction]
    formula = {
        "quantization": d * n * levels,
        "selective_shift": shifts,
        "all_max_shift": 0 if construction == "relay" else s,
        "value_mapping": n * levels ** (d * n),
    }
    assert data["layers"] == data["layers_formula"] == formula
    assert data["layers_dense"] == {"quantization": 10, "contextual_mapping": 11, "value_mapping": 160}
    assert (data["inputs"], data["exhaustive"], data["exact_on_cells"]) == (32, True, True)
    assert data["contextual_mapping"]["distinct_within"] is data["contextual_mapping"]["distinct_across"] is True
    assert data["max_id_bits"] > 0
    assert data["gap"] >= 1


@pytest.mark.parametrize(("construction", "inside"), [("paper", 0), ("merged", 0), ("relay", 2 * 4 * 4)])
def test_attention_and_feed_forward_layers_and_blocks_have_totals(
    prove_command: Any, construction: str, inside: int
) -> None:
    """Strided n = 5, w = 3: p = 2, s = 3; relay takes 2 (n - 1) steps of p attention and 4 feed-forward layers."""
    n, levels, p, s = 5, 2, 2, 3
    attention = {"paper": p * (n - 1) * levels + s, "merged": p * (n - 1) + s, "relay": p * 2 * (n - 1)}
    options = ("strided:n=5,w=3", "--d", "1", "--delta", "1/2", "--construction", construction)
    code, out, _ = prove_command(*options, "--json")
    total = json.loads(out)["layers_total"]
    ends = n * levels + n * levels**n
    assert code == 0
    depth = attention[construction]
    assert total["attention"] == {"used": depth, "by_formula": depth, "dense": n * levels + 1}
    assert total["feed_forward"] == {"used": ends + inside, "by_formula": ends + inside, "dense": ends}
    blocks = depth + ends + inside
    assert total["blocks"] == {"used": blocks, "by_formula": blocks, "dense": ends + n * levels + 1}
    rows = [line.split() for line in prove_command(*options)[1].splitlines()]
    assert ["total", "blocks", str(blocks), str(blocks), str(ends + n * levels + 1)] in rows
    fed = [row[1] for row in rows if row[:1] == ["relay:"] and row[-4:] == ["feed-forward", "16", "16", "-"]]
    assert fed == (["gather", "broadcast"] if construction == "relay" else [])
    by_kind = {kind: [row for row in rows if row[-4:-3] == [kind]] for kind in ("attention", "feed-forward")}
    for lines in by_kind.values():
        *parts, last = lines
        assert sum(int(row[-3]) for row in parts) == int(last[-3])


def test_what_was_not_built_has_no_total(prove_command: Any) -> None:
    out = prove_command(
        "star:n=24,w=1", "--d", "1", "--delta", "1/2", "--samples", "9", "--construction", "merged"
    )[1]
    rows = [line.split() for line in out.splitlines()]
    assert [row[2:4] for row in rows if row[:2] in (["total", "blocks"], ["total", "feed-forward"])] == [
        ["not", "built"]
    ] * 2
    assert ["total", "attention", "25", "25", "49"] in rows


def test_the_papers_claimed_s_fails_and_the_token_is_named(prove_command: Any) -> None:
    """Strided n = 5, w = 3: the paper says s = 2, the truth is 3."""
    code, out, _ = prove_command("strided:n=5,w=3", "--d", "1", "--delta", "1/2", "--s", "2")
    assert code == 1
    assert "FAILS: leader seen: token 2 of input" in out
    assert "share the id" in out
    assert prove_command("strided:n=5,w=3", "--d", "1", "--delta", "1/2")[0] == 0


def test_theorem_1_does_not_apply_to_the_hub(prove_command: Any) -> None:
    code, out, err = prove_command("hub:n=5", "--d", "1", "--delta", "1/2")
    assert (code, out) == (2, "")
    assert "Theorem 1 does not apply" in err
    assert "--construction relay" in err
    assert prove_command("hub:n=5", "--d", "1", "--delta", "1/2", "--construction", "relay")[0] == 0


@pytest.mark.parametrize("construction", ["paper", "merged", "relay"])
def test_without_self_attention_no_construction_is_advised(
    prove_command: Any, tmp_path: Path, construction: str
) -> None:
    """The advice was relay, which then refused the same pattern."""
    source = tmp_path / "swap.json"
    source.write_text('{"attends": [[[1], [0]]]}')
    arguments = ("--d", "1", "--delta", "1/2", "--construction", construction)
    status, _, err = prove_command(str(source), *arguments)
    assert status == 2
    assert err.endswith(": let every token attend to itself (`sparseuap repair` adds what is missing)\n")
    assert "--construction" not in err


def test_a_target_beyond_reach_is_a_failure_with_a_witness(prove_command: Any) -> None:
    options = ("--d", "1", "--delta", "1/2", "--construction", "relay", "--target")
    code, out, _ = prove_command("causal:n=4", *options, "mean")
    assert code == 1
    assert "output 0 depends on token" in out
    assert prove_command("causal:n=4", *options, "causal-mean")[0] == 0


def test_samples_where_all_inputs_are_too_many(prove_command: Any) -> None:
    options = ("--d", "2", "--delta", "1/4", "--samples", "200", "--json", "--construction", "merged")
    data = json.loads(prove_command("bigbird:n=64,window=3,random=2,globals=1,seed=0", *options)[1])
    assert data["exhaustive"] is False
    assert data["exact_on_cells"] is None
    assert data["layers"]["value_mapping"] is None
    assert data["contextual_mapping"]["distinct_across"] is True
    assert data["max_id_bits"] > 64


def test_a_tighter_s_saves_layers(prove_command: Any) -> None:
    plain = json.loads(prove_command("star:n=5,w=1", "--d", "1", "--delta", "1/2", "--json")[1])
    code, out, _ = prove_command("star:n=5,w=1", "--d", "1", "--delta", "1/2", "--json", "--tight")
    assert code == 0
    assert json.loads(out)["layers"]["all_max_shift"] < plain["layers"]["all_max_shift"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["ring:n=3", "--d", "1", "--delta", "0.3"], "delta must be 1/K"),
        (["ring:n=3", "--d", "1", "--delta", "1"], "delta must be 1/K"),
        (["ring:n=3", "--d", "1", "--delta", "x"], "delta must be 1/K"),
        (["ring:n=3", "--d", "0", "--delta", "1/2"], "--d"),
        (["ring:n=3", "--delta", "1/2"], "--d"),
        (["ring:n=3", "--d", "1", "--delta", "1/2", "--target", "nosuch"], "nosuch"),
        (["ring:n=3", "--d", "1", "--delta", "1/2", "--exhaustive", "--samples", "3"], "exclude each other"),
        (["ring:n=3", "--d", "1", "--delta", "1/2", "--construction", "relay", "--tight"], "relay does not have"),
        (["rong:n=3", "--d", "1", "--delta", "1/2"], "ring"),
    ],
)
def test_bad_input_is_one_clear_line(prove_command: Any, arguments: list[str], named: str) -> None:
    code, out, err = prove_command(*arguments)
    assert (code, out) == (2, "")
    assert named in err
    assert "Traceback" not in err


def test_a_lifted_value_mapping_says_so(
    prove_command: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "loud.py").write_text("def up(x):\n    return 0 * x + 6.0\n")
    monkeypatch.chdir(tmp_path)
    options = ("--d", "1", "--delta", "1/2", "--construction", "relay", "--target", "loud:up")
    code, out, _ = prove_command("ring:n=3", *options)
    assert code == 0
    assert "lifted by" in out


def test_a_large_case_is_not_a_proof_but_a_sample() -> None:
    inputs = choose_inputs(4, 256, 4, exhaustive=False, samples=30, seed=1)
    proof = run_proof(parse_family("star:n=256,w=1"), inputs, parse_target("identity"), "relay")
    assert proof.holds
    assert not proof.ids.exhaustive
    assert proof.network is None


def test_all_checks_speak_of_all_inputs() -> None:
    proof = run_proof(parse_family("ring:n=3"), AllInputs(1, 3, 2), parse_target("reverse"))
    assert proof.holds
    assert all(check.exhaustive and check.answer is Answer.HOLDS for check in proof.checks)
    assert {check.name for check in proof.checks} >= {"Lemma 3", "Lemma 6", "Lemma 8", "7.1", "7.2", "eq. 13"}
