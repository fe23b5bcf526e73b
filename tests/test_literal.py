"""The blocks as the paper states them, run beside the fused engines: every wrong one makes `prove` fail."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from typing import Any

import literal_proof
import numpy as np
import pytest

from constructions.all_max_shift import AllMaxShifts
from constructions.blocks import AllMaxShift, Identity, SelectiveShift
from constructions.network import build_network, choose_mapping
from constructions.quantization import Quantization, QuantizeRow
from constructions.relay_absorb import Absorb
from constructions.relay_stage import RelayStage
from constructions.selective_shift import TokenShift
from constructions.targets import TARGETS
from constructions.value_mapping import ValueMapping, WriteWindow
from theory.families import parse_family
from theory.verdicts import Answer
from verify import literal_budget
from verify.inputs import AdversarialInputs, AllInputs
from verify.literal_budget import BUDGET, Work, share_of, take_inputs
from verify.literal_ends import run_quantization, run_values
from verify.literal_mapping import run_mapping
from verify.proof import Proof, prove, run_proof

CASE = ("strided:n=4,w=2", "--d", "1", "--delta", "1/3")  # p = 2 patterns
DIFFERS = "one after another the blocks give another number than at once"


def twisted(name: str, twist: Any) -> Any:
    """A property of an absorb step, changed."""
    right = getattr(Absorb, name)
    return property(lambda step: twist(step, right.fget(step)))


def relay_blocks(step: Absorb, patterns: int) -> Any:
    """Iterate the layers of a step with the shift one place late in the cycle, in its own pattern."""
    yield from (step.down, step.up)
    for layer in range(patterns):
        yield step.shift if (layer + 1) % patterns == step.layer else Identity(layer)
    yield from (step.back, step.back_home)


def from_pattern_1(shift: TokenShift) -> Any:
    """Iterate the blocks of a token's shifts with cycles that start at pattern 1."""
    for low2 in range(shift.low2, shift.high2, shift.width2):
        for place in range(shift.cycle):
            layer = (place + 1) % shift.cycle
            yield (
                SelectiveShift(layer, shift.factor, low2, low2 + shift.width2)
                if layer == shift.layer
                else Identity(layer)
            )


def changed(shift: TokenShift, change: Any) -> Any:
    """Iterate the blocks of a token's shifts, changed."""
    return (change(block) if isinstance(block, SelectiveShift) else block for block in SHIFTS(shift))


def backwards(block: SelectiveShift, values: Any, pattern: Any) -> Any:
    """Apply a selective shift with the sign of both heads turned around."""
    return 2 * values - RIGHT_SHIFT(block, values, pattern)


def one_factor_more(block: AllMaxShift, values: Any, pattern: Any) -> Any:
    """Apply an all-max-shift with a factor that is one too large."""
    return RIGHT_MAX(replace(block, factor=block.factor + 1), values, pattern)


def closed_piece(block: QuantizeRow, entries: Any) -> Any:
    """Apply phi on [0, delta], closed at its end."""
    after = entries.copy()
    t = entries[..., block.row, :] - block.level * block.resolution
    after[..., block.row, :] -= np.where((t >= 0) & (t <= block.resolution), t, 0)
    return after


def short_piece(block: QuantizeRow, entries: Any) -> Any:
    """Apply phi on an interval that is a little short."""
    after = entries.copy()
    t = entries[..., block.row, :] - block.level * block.resolution
    after[..., block.row, :] -= np.where((t >= 0) & (t < block.resolution - 1), t, 0)
    return after


RIGHT_SHIFT, RIGHT_MAX, RIGHT_WINDOW = SelectiveShift.apply, AllMaxShift.apply, WriteWindow.apply
NARROW = twisted("shift", lambda _, shift: replace(shift, low2=shift.low2 + 2))
RELAY_WRONG = {
    "landing": (Absorb, "landing", twisted("landing", lambda _, landing: landing + 1)),
    "stretch": (Absorb, "stretch", twisted("stretch", lambda _, stretch: stretch + 1)),
    "window": (Absorb, "shift", NARROW),
    "factor": (Absorb, "shift", twisted("shift", lambda _, shift: replace(shift, factor=3))),
    "cycle": (Absorb, "blocks", relay_blocks),
}
SHIFTS_WRONG = {
    "psi's sign": (SelectiveShift, "apply", backwards),
    "factor of a shift": (
        TokenShift,
        "blocks",
        lambda shift: changed(shift, lambda block: replace(block, factor=block.factor + 1)),
    ),
    "window of a shift": (
        TokenShift,
        "blocks",
        lambda shift: changed(shift, lambda block: replace(block, high2=block.high2 - 2)),
    ),
    "pattern 1 first": (TokenShift, "blocks", from_pattern_1),
    "a block too few": (TokenShift, "blocks", lambda shift: list(SHIFTS(shift))[:-1]),
    "all-max's factor": (AllMaxShift, "apply", one_factor_more),
    "an all-max-shift too few": (AllMaxShifts, "blocks", lambda stage: list(MAXIMA(stage))[:-1]),
    "an all-max-shift too many": (
        AllMaxShifts,
        "blocks",
        lambda stage: [*MAXIMA(stage), AllMaxShift(stage.count % stage.cycle, stage.factor)],
    ),
}
SHIFTS, MAXIMA = TokenShift.blocks, AllMaxShifts.blocks
ENDS_WRONG = {
    "phi's end": (QuantizeRow, "apply", closed_piece, "g_q"),
    "phi short": (QuantizeRow, "apply", short_piece, "g_q"),
    "a level too few": (Quantization, "blocks", lambda stage: list(LEVELS(stage))[:-1], "g_q"),
    "a level too many": (
        Quantization,
        "blocks",
        lambda stage: [*LEVELS(stage), QuantizeRow(0, stage.n * stage.levels, stage.resolution)],
        "g_q",
    ),
    "window off by one": (
        WriteWindow,
        "apply",
        lambda window, state: RIGHT_WINDOW(replace(window, identifier=window.identifier + 1), state),
        "g_v",
    ),
    "a window too few": (ValueMapping, "blocks", lambda stage, cells=None: list(WINDOWS(stage, cells))[1:], "g_v"),
    "a window too many": (
        ValueMapping,
        "blocks",
        lambda stage, cells=None: [*WINDOWS(stage, cells), WriteWindow(10**6, 10**9, 0)],
        "g_v",
    ),
}
LEVELS, WINDOWS = Quantization.blocks, ValueMapping.blocks


def rows(out: str) -> dict[str, str]:
    """The sentences of the rows that fail."""
    return dict(re.findall(r"^FAILS: (.*?): (.*)$", out, flags=re.MULTILINE))


@pytest.mark.parametrize("name", RELAY_WRONG)
def test_a_wrong_absorb_step_is_found(name: str, prove_command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*RELAY_WRONG[name])
    code, out, _ = prove_command(*CASE, "--construction", "relay", "--exhaustive")
    assert code == 1
    assert list(rows(out)) == ["g_c literal"]  # the fused step is right, and all else with it
    where = rows(out)["g_c literal"]
    assert "gather, block" in where
    if name == "cycle":
        assert re.search(r"block \d+: it uses pattern \d where the cycle is at pattern \d", where)
    else:
        assert re.match(r"(token \d of )?input \[\[\d, \d, \d, \d\]\]: gather, block", where)


@pytest.mark.parametrize("construction", ["paper", "merged"])
@pytest.mark.parametrize("name", SHIFTS_WRONG)
def test_a_wrong_shift_is_found(
    name: str, construction: str, prove_command: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*SHIFTS_WRONG[name])
    code, out, _ = prove_command(*CASE, "--construction", construction)
    assert code == 1
    assert "selective shift" in rows(out)["g_c literal"] or "all-max-shift" in rows(out)["g_c literal"]


@pytest.mark.parametrize("construction", ["paper", "relay"])
@pytest.mark.parametrize("name", ENDS_WRONG)
def test_a_wrong_piece_or_window_is_found(
    name: str, construction: str, prove_command: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, attribute, wrong, row = ENDS_WRONG[name]
    monkeypatch.setattr(owner, attribute, wrong)
    code, out, _ = prove_command(*CASE, "--construction", construction)
    assert code == 1
    assert list(rows(out)) == [f"{row} literal"]
    if name in ("a level too few", "a level too many", "a window too many"):
        assert "listed = " in out
    else:
        assert re.search(r"token \d of input \[\[\d, \d, \d, \d\]\]: one after another", out)


def test_the_right_ones_hold_and_say_how_much_was_run(prove_command: Any) -> None:
    for construction, blocks in (("paper", 18 + 2), ("merged", 6 + 2), ("relay", 6 * (2 + 4))):
        code, out, _ = prove_command(*CASE, "--construction", construction, "--json")
        data = json.loads(out)
        assert code == 0
        assert [(run["stage"], run["blocks"], run["blocks_run"]) for run in data["literal"]] == [
            ("quantization", 12, 12),
            ("contextual mapping", blocks, blocks),
            ("value mapping", 4 * 81, 4 * 81),
        ]
        assert [(run["inputs"], run["all_inputs"]) for run in data["literal"]] == [(81, True)] * 3
        names = [check["name"] for check in data["checks"]]
        assert names[-3:] == ["g_q literal", "g_c literal", "g_v literal"]


@pytest.mark.parametrize(
    ("source", "construction"),
    [
        ("star:n=4,w=1", "merged"),
        ("strided:n=5,w=3", "paper"),
        ("causal:n=4", "relay"),
        ("fixed:n=6,w=2", "relay"),
    ],
)
def test_samples_of_the_blocks_hold(source: str, construction: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a budget: some steps, windows, levels; causal: one id in the windows of many cells."""
    pattern = parse_family(source)
    mapping = choose_mapping(pattern, 1, 3, construction)
    network = build_network(pattern, 1, 3, TARGETS["causal-mean"], "relay") if construction == "relay" else None
    every = AllInputs(1, pattern.n, 3)

    def halved(cost: float, check: Any, subject: Any) -> Any:
        monkeypatch.setattr(literal_budget, "BUDGET", 1e9)
        monkeypatch.setattr(literal_budget, "BUDGET", cost * check(subject, every).blocks / 2)
        return check(subject, every)

    runs = [halved(6e4, run_mapping, mapping), halved(1e4, run_quantization, mapping)]
    runs += [] if network is None else [halved(1e4, run_values, network)]
    for run in runs:
        assert run.check.answer is Answer.HOLDS, run.check.why
        assert not run.check.exhaustive
        assert 0 < run.run < run.blocks
        assert f"{run.run} of the {run.blocks} blocks" in run.check.statement


@pytest.mark.parametrize("name", [*RELAY_WRONG, "phi's end", "window off by one"])
def test_a_wrong_block_among_samples_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network = build_network(parse_family(CASE[0]), 1, 3, TARGETS["sort"], "relay")
    every = AllInputs(1, 4, 3)
    monkeypatch.setattr(*(RELAY_WRONG | ENDS_WRONG)[name][:3])
    monkeypatch.setattr(literal_budget, "BUDGET", 2e6)
    mapping = network.mapping
    runs = [run_quantization(mapping, every), run_mapping(mapping, every), run_values(network, every)]
    assert [run.check.answer for run in runs].count(Answer.FAILS) == 1


def test_too_many_windows_of_one_token_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """64 windows a token, and a budget for fewer."""
    mapping = choose_mapping(parse_family("star:n=3,w=1"), 6, 2, "paper")
    monkeypatch.setattr(literal_budget, "BUDGET", 2e6)
    found = run_mapping(mapping, AllInputs(6, 3, 2))
    assert found.check.answer is Answer.HOLDS, found.check.why
    assert 0 < found.run < 32
    monkeypatch.setattr(*SHIFTS_WRONG["psi's sign"])
    assert run_mapping(mapping, AllInputs(6, 3, 2)).check.answer is Answer.FAILS


def test_what_was_not_run_is_undecided_and_not_silent(prove_command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(literal_budget, "BUDGET", 0.0)
    code, out, _ = prove_command(*CASE, "--construction", "relay")
    assert code == 3
    assert "not run literally: the 36 blocks of the contextual mapping, whose parts are too large" in out
    assert "UNDECIDED: g_c literal" in out
    assert "Everything checked holds" not in out
    code, out, _ = prove_command(*CASE, "--construction", "relay", "--json")
    assert (code, json.loads(out)["holds"]) == (3, None)


def test_a_failure_outweighs_what_was_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(literal_budget, "BUDGET", 0.0)
    proof = prove(parse_family("strided:n=5,w=3"), d=1, delta="1/2", s=2)
    assert proof.answer is Answer.FAILS
    assert Proof.holds.fget is not None
    assert not proof.holds


def test_the_budget_is_kept() -> None:
    for blocks in (1, 100, 10**4, 10**7):
        for count in (1, 50, 10**9):
            share = share_of(blocks, count, Work(6e4, 1e3, 1e3))
            assert share.blocks * (6e4 + share.inputs * 1e3) <= BUDGET * 1.001
            assert 1 <= share.inputs <= min(count, 4096)
            assert share.blocks == blocks or share.inputs <= 16
    assert share_of(10, 10**9, Work(1.0, 1.0, 2.0**25)).inputs == 2  # two inputs fill the memory


def test_inputs_are_all_or_adversarial_or_the_samples() -> None:
    every = AllInputs(1, 4, 3)
    assert len(take_inputs(every, 81, 0)) == 81
    some = take_inputs(every, 20, 0)
    assert {(0, 0, 0, 0), (2, 2, 2, 2)} <= {tuple(row) for row in some[:, 0].tolist()}
    sample = AdversarialInputs(1, 12, 4, 50, seed=3)
    assert np.array_equal(take_inputs(sample, 30, 0), sample.grids[:30])


def test_a_tie_in_a_block_names_the_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """The window of a step ends on a number that some input has: psi is not defined there."""
    monkeypatch.setattr(Absorb, "shift", twisted("shift", lambda _, shift: replace(shift, low2=shift.low2 + 1)))
    found = run_mapping(choose_mapping(parse_family(CASE[0]), 1, 3, "relay"), AllInputs(1, 4, 3)).check
    assert found.answer is Answer.FAILS
    assert re.match(r"input \[\[.*\]\]: gather, block \d+: u\^T Z_k = b at token \d", found.why)


@pytest.mark.parametrize("source", ["strided:n=5,w=3", "star:n=5,w=1", "ring:n=4", "window:n=4,w=1"])
@pytest.mark.parametrize("construction", ["paper", "merged"])
def test_there_are_s_all_max_shifts(source: str, construction: str) -> None:
    """s by eq. (3), on lists; one block a shift, in turn from pattern 0."""
    pattern = parse_family(source)
    s = literal_proof.smallest_s(pattern.to_lists())
    mapping = choose_mapping(pattern, 1, 2, construction)
    stage = mapping.stages[1]
    assert isinstance(stage, AllMaxShifts)
    assert stage.count == stage.attention_layers == mapping.layers_formula["all_max_shift"] == s
    assert [block.layer for block in stage.blocks()] == [i % pattern.p for i in range(s or 0)]


def test_a_builder_that_takes_another_s_than_the_formula_is_found() -> None:
    mapping = choose_mapping(parse_family("star:n=4,w=1"), 1, 2, "merged")
    shifts, maxima = mapping.stages
    assert isinstance(maxima, AllMaxShifts)
    wrong = replace(mapping, stages=(shifts, replace(maxima, count=maxima.count + 1)))
    why = run_mapping(wrong, AllInputs(1, 4, 2)).check.why
    assert "not as many attention layers as by formula" in why


def test_blocks_that_are_listed_in_another_order_than_they_are_run() -> None:
    """No half of the stage differs: the whole is named."""
    mapping = choose_mapping(parse_family("star:n=4,w=1"), 1, 2, "relay")
    first = mapping.stages[0]
    assert isinstance(first, RelayStage)

    class Turned(RelayStage):
        def blocks(self) -> Any:
            yield from (block for step in self.steps[::-1] for block in step.blocks(self.pattern.p))

    turned = Turned(first.name, first.steps, first.pattern)
    found = run_mapping(replace(mapping, stages=(turned, *mapping.stages[1:])), AllInputs(1, 4, 2))
    assert found.check.answer is Answer.FAILS


def test_ids_that_are_not_what_the_stages_give_are_found() -> None:
    mapping = choose_mapping(parse_family("star:n=4,w=1"), 1, 2, "relay")

    class Other(type(mapping)):  # type: ignore[misc]
        def run(self, projected: Any) -> Any:
            return super().run(projected) + 1

    known = {field.name: getattr(mapping, field.name) for field in fields(mapping)}
    found = run_mapping(Other(**known), AllInputs(1, 4, 2)).check
    assert found.answer is Answer.FAILS
    assert "do not give the ids of the run" in found.why


def test_a_large_case_runs_some_blocks() -> None:
    proof = run_proof(
        parse_family("star:n=128,w=1"), AdversarialInputs(4, 128, 4, 20, 1), TARGETS["identity"], "relay"
    )
    assert proof.holds
    (run,) = (run for run in proof.literal if run.stage == "contextual mapping")
    assert 0 < run.run < run.blocks
    assert run.check.inputs < 20
