"""Certificates of real sizes, where nobody keeps all pairs: forged ones are refused, honest ones confirmed."""

from __future__ import annotations

import copy
import json
import os
import random
from collections import Counter
from functools import cache
from pathlib import Path

import brute_force
import numpy as np
import pytest
from certificates_by_hand import Json, relays_show, true_s

from sparseuap.cli import main
from theory.connections import Connections
from theory.families import parse_family
from theory.patterns import SparsityPattern
from theory.verdicts import Answer
from verify import recheck_powers, recheck_relays
from verify.certificate_format import read_certificate
from verify.pattern_certificate import certificate
from verify.pattern_verdict import assess
from verify.recheck import UnreadableCertificate, recheck
from verify.recheck_follow import never_seen_by_all
from verify.recheck_ledger import FalseClaim, Unproved
from verify.recheck_relays import check_relays

FAMILIES = {
    "ring:n=3000": 2999,
    "window:n=3000,w=1": 2999,
    "window:n=3000,w=7": 429,
    "star:n=3000,w=1": 2,
    "bigbird:n=3000,window=3,random=3,globals=2,seed=0": 2,
    "bigbird:n=3000,window=3,random=3,globals=0,seed=0": 6,
    "strided:n=3000,w=50": 3,
    "fixed:n=3000,w=50": 2,
}


def offsets(n: int, *steps: int) -> Connections:
    """The keys k + step of every token k, on the line."""
    queries, keys = np.repeat(np.arange(n), len(steps)), (np.arange(n)[:, None] + np.array(steps)).ravel()
    inside = (keys >= 0) & (keys < n)
    return Connections.from_pairs(n, queries[inside], keys[inside])


@cache
def made(source: str) -> Json:
    """The certificate of a family, or of neighbours at these distances: `line:n:distance,...`."""
    if source.startswith("line:"):
        _, n, steps = source.split(":")
        pattern = SparsityPattern((offsets(int(n), *map(int, steps.split(","))),))
    else:
        pattern = parse_family(source)
    built: Json = json.loads(json.dumps(certificate(assess(pattern), source)))
    return built


def with_s(honest: Json, s: int) -> Json:
    """The certificate with all numbers moved to another s."""
    forged = copy.deepcopy(honest)
    hops = forged["claims"]["assumption_1_3"]
    moved = s - hops["s"]
    hops |= {"s": s, "lower": s, "upper": s}
    if hops["pivot"] is not None:
        hops["pivot"]["spreads"] = max(0, hops["pivot"]["spreads"] + moved)
    hops["unseen"] = {**hops["unseen"], "layers": s - 1} if s > 1 else None
    return forged


@pytest.mark.parametrize(("source", "s"), FAMILIES.items())
def test_the_s_of_real_families_is_confirmed_and_no_other(source: str, s: int) -> None:
    honest = made(source)
    assert honest["claims"]["assumption_1_3"]["s"] == s
    result = recheck(honest)
    assert result.valid, result
    assert any(line.startswith("source: ") for line in result.checked)
    for other in {1, s - 1, s + 1, s + 500}:
        result = recheck(with_s(honest, other))
        assert result.answer is Answer.FAILS
        place = "upper" if other < s else "lower"
        assert any(line.startswith(f"assumption_1_3.{place}: ") for line in result.failures)


def test_a_pattern_without_s_has_none_at_any_size() -> None:
    pattern = parse_family("causal:n=3000,w=5")
    honest = certificate(assess(pattern, for_="causal"), "causal:n=3000,w=5")
    assert recheck(honest).valid
    hops = {"answer": True, "s": 600, "lower": 600, "upper": 600, "pivot": None, "relays": None}
    for claim in (hops | {"unseen": {"layers": 599, "query": 2999, "key": 0}}, {"answer": None}):
        forged = copy.deepcopy(honest)
        forged["claims"]["assumption_1_3"] = claim
        assert recheck(forged).failures == (
            "assumption_1_3: the union digraph is not strongly connected, so there is no s",
        )


def test_relays_show_s_where_recomputing_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = made("line:3000:-4,-1,0,1,4")  # no row is an interval, no pivot meets s = 751
    hops = honest["claims"]["assumption_1_3"]
    assert (hops["s"], hops["pivot"]) == (751, None)
    monkeypatch.setattr(recheck_powers, "MOST_WORK", 0)
    result = recheck(honest)
    assert result.valid
    assert any("shown by following" in line for line in result.checked)
    for changes in ({"pivots": []}, {"keys": [], "queries": []}, {"pivots": [0], "keys": []}):
        forged = copy.deepcopy(honest)
        forged["claims"]["assumption_1_3"]["relays"] |= changes
        assert any("the relays do not show" in line for line in recheck(forged).failures)
    for s in (750, 752, 1):
        assert recheck(with_s(honest, s)).failures
    monkeypatch.setattr(recheck_relays, "MOST_FOLLOWED", 10**6)
    assert recheck(honest).answer is Answer.UNDECIDED


def test_relays_of_several_patterns_against_brute_force() -> None:
    dice, ends = random.Random(5), Counter[bool]()  # noqa: S311
    while ends.total() < 400:
        n, p = dice.randrange(4, 8), dice.randrange(2, 5)
        attends = [[sorted({k, dice.randrange(n), (k - 1) % n}) for k in range(n)]]
        attends += [[sorted({k, dice.choice((k, dice.randrange(n)))}) for k in range(n)] for _ in range(p - 1)]
        dice.shuffle(attends)
        pattern, s = SparsityPattern.from_lists(*attends), true_s(attends)
        assert s is not None
        pivots = dice.sample(range(n), dice.randrange(1, 4))
        relays = {"pivots": pivots, "keys": dice.sample(range(n), dice.randrange(2)), "queries": []}
        upper = s + dice.randrange(-1, 2 * p)
        arrays = {name: np.array(tokens, dtype=np.int64) for name, tokens in relays.items()}
        try:
            check_relays(pattern, arrays, upper)
        except FalseClaim:
            shown = False
        else:
            shown = True
            assert s <= upper
        assert shown is relays_show(attends, relays, upper)
        ends[shown] += 1
    assert min(ends.values()) > 50


def test_without_relays_a_long_s_is_unproved(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = copy.deepcopy(made("line:3000:-4,-1,0,1,4"))
    bare["claims"]["assumption_1_3"]["relays"] = None
    monkeypatch.setattr(recheck_powers, "STEP_WORK", 2**30)
    result = recheck(bare)
    assert (result.answer, result.valid) == (Answer.UNDECIDED, False)
    assert [line.split(":")[0] for line in result.unproved] == ["assumption_1_3.upper"]


def test_without_self_attention_layers_that_repeat_show_that_there_is_no_s() -> None:
    honest = made("line:3000:-1,1")  # odd and even tokens see each other in turn
    assert honest["claims"]["assumption_1_3"]["answer"] is False
    assert recheck(honest).valid
    silent = copy.deepcopy(honest)
    silent["claims"]["assumption_1_3"]["key"] = None
    assert recheck(silent).answer is Answer.UNDECIDED
    forged = copy.deepcopy(made("line:3000:-3,-2,-1,1,2,3"))  # s exists
    forged["claims"]["assumption_1_3"] = {"answer": False, "key": 0}
    result = recheck(forged)
    assert not result.valid
    assert any("is seen by all after some layer" in line for line in result.unproved)


def test_a_key_never_seen_by_all_against_brute_force() -> None:
    confirmed = 0
    for attends in brute_force.random_patterns(200, seed=9, most_tokens=5):
        n, p = len(attends[0]), len(attends)
        far = p * ((n - 1) ** 2 + 2)
        for key in range(n):
            seen = [brute_force.layers_seen(attends, t) for t in range(1, min(far, 30))]
            by_all = any(all(key in keys for keys in layer) for layer in seen)
            try:
                never_seen_by_all(SparsityPattern.from_lists(*attends), key)
            except Unproved:
                assert by_all
            else:
                assert not by_all
                assert true_s(attends) is None
                confirmed += 1
    assert confirmed > 100


def test_a_repetition_that_is_far_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.recheck_follow.MOST_REPEATED", 10**5)
    with pytest.raises(Unproved, match="do not repeat soon enough"):
        never_seen_by_all(SparsityPattern((offsets(300, -1, 1),)), 0)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("ring:n=3001", "has 3001 tokens or more"),
        ("ring:n=99999999999999", "has 99999999999999 tokens or more"),
        ("ring:n=2999", "names another pattern"),
        ("window:n=3000,w=1", "names another pattern"),
        ("ring:n=3000+ring:n=3000", "names another pattern"),
        ("bigbird:n=64,window=1,random=1,globals=1,seed=1", "names another pattern"),
    ],
)
def test_a_source_that_names_another_pattern_is_false(source: str, said: str) -> None:
    result = recheck({**made("ring:n=3000"), "source": source})
    assert result.answer is Answer.FAILS
    assert [said in line for line in result.failures] == [True]
    assert result.failures[0].startswith("source: ")


@pytest.mark.parametrize(
    "source", ["", "my mask", "ring.npz", "module:ring?n=3000", "ring:n=x", "a.npz+ring:n=3000"]
)
def test_a_source_that_is_not_read_again_is_marked(source: str) -> None:
    result = recheck({**made("ring:n=3000"), "source": source})
    assert result.valid
    assert [line.partition(":")[0] for line in result.unchecked] == ["source"]


def test_a_cycle_of_families_is_built_again() -> None:
    source = "ring:n=40+window:n=40,w=1"
    layers = (*parse_family("ring:n=40").layers, *parse_family("window:n=40,w=1").layers)
    result = recheck(certificate(assess(SparsityPattern(layers)), source))
    assert result.valid
    assert f"source: {source!r} names this pattern" in result.checked
    short = recheck(certificate(assess(SparsityPattern(layers)), "ring:n=40"))
    assert short.failures == ("source: 'ring:n=40' has 1 layers, the pattern 2",)


def run(capsys: pytest.CaptureFixture[str], path: Path) -> tuple[int, str]:
    """The exit status of `recheck`, and its last line."""
    with pytest.raises(SystemExit) as stop:
        main(["recheck", str(path)])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), (captured.out + captured.err).splitlines()[-1]


def test_the_last_line_and_the_exit_status_name_what_is_not_confirmed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "certificate.json"
    honest = copy.deepcopy(made("line:3000:-4,-1,0,1,4"))
    file.write_text(json.dumps(honest))
    assert run(capsys, file) == (0, "The certificate is valid: every claim that it makes is confirmed.")
    open_path = copy.deepcopy(honest)
    open_path["claims"]["assumption_1_2"] = {"answer": None}
    open_path["claims"]["theorems"]["yun_2020_theorem_1"]["answer"] = "undecided"
    file.write_text(json.dumps(open_path))
    code, last = run(capsys, file)
    assert (code, last.endswith("It claims nothing on what it leaves undecided: assumption_1_2.")) == (0, True)
    word = copy.deepcopy(honest)
    solver = {"kind": "solver", "solver": "some", "proved": False}
    word["claims"]["assumption_1_2"] = {"answer": False, "proved": False, "refutation": solver}
    word["claims"]["theorems"]["yun_2020_theorem_1"]["answer"] = "silent"
    file.write_text(json.dumps(word))
    named = "Unproved: assumption_1_2, theorems.yun_2020_theorem_1."
    assert run(capsys, file) == (3, f"Nothing is false, but the certificate is not valid. {named}")
    file.write_text(json.dumps(with_s(made("ring:n=3000"), 1)))
    assert run(capsys, file) == (1, "The certificate is FALSE: assumption_1_3.upper.")
    file.write_text(json.dumps({**honest, "version": 1}))
    code, last = run(capsys, file)
    assert code == 2
    assert "certificate.version is 1, which holds less evidence: write the certificate again" in last


def test_a_pipe_or_a_device_is_no_certificate(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # nobody writes: to open it would wait for ever
    for path in (pipe, Path("/dev/zero")):
        with pytest.raises(UnreadableCertificate, match="is not a regular file"):
            read_certificate(path)


def test_many_repeated_keys_are_refused_at_the_first(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    path.write_text("{" + ", ".join(f'"key {i % 150_000}": 1' for i in range(300_000)) + "}")
    with pytest.raises(UnreadableCertificate, match="'key 0' occurs twice"):
        read_certificate(path)
