"""Every statement fails on a construction with a wrong constant, and the witness shows where."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import literal_proof
import numpy as np
import pytest

from constructions.contextual_mapping import build_mapping
from constructions.mapping import StagedMapping
from constructions.network import Network, compose
from constructions.relay import RelayMapping, build_relay
from constructions.selective_shift import SelectiveShifts
from constructions.targets import TARGETS, Target
from theory import families
from theory.patterns import SparsityPattern
from theory.verdicts import Answer
from verify import inputs
from verify.inputs import AllInputs
from verify.lemmas import LEMMAS, LemmaCheck, check_lemmas

if TYPE_CHECKING:
    from collections.abc import Callable

    from constructions.numbers import Integers
    from theory.patterns import IntArray

STRIDED = families.strided(5, 3)
RING = families.ring(4)
DENSE = families.dense(3)
HUB = families.hub(4)


def _build(pattern: SparsityPattern, levels: int, **constants: int) -> StagedMapping:
    s = literal_proof.smallest_s(pattern.to_lists())
    return build_mapping(pattern, 1, levels, "merged", gamma=np.arange(pattern.n), **{"s": s, **constants})


def _check(name: str, subject: StagedMapping | Network) -> LemmaCheck:
    mapping = subject if isinstance(subject, StagedMapping) else subject.mapping
    return LEMMAS[name](subject, AllInputs(mapping.d, mapping.pattern.n, mapping.K))


def _weaker_shift(token: int) -> StagedMapping:
    """One token's shift has the wrong factor."""
    mapping = _build(RING, 3)
    stage = mapping.stages[0]
    assert isinstance(stage, SelectiveShifts)
    shifts = tuple(replace(s, factor=2) if s.token == token else s for s in stage.shifts)
    return replace(mapping, stages=(SelectiveShifts(shifts), mapping.stages[1]))


def _wrong_pattern() -> StagedMapping:
    """Token 2 is shifted in a pattern in which it does not see token 1."""
    mapping = _build(SparsityPattern.from_lists([[0, 1, 2], [0, 1], [1, 2]], [[0], [1], [0, 2]]), 2)
    stage = mapping.stages[0]
    assert isinstance(stage, SelectiveShifts)
    shifts = tuple(replace(s, layer=1) if s.token == 2 else s for s in stage.shifts)
    return replace(mapping, stages=(SelectiveShifts(shifts), mapping.stages[1]))


def _bare_inputs() -> StagedMapping:
    """No stage at all and no embedding: an id is the token's own input."""
    return replace(_build(DENSE, 2), stages=(), step=0)


class _Offset(StagedMapping):
    """A mapping that enters all its numbers too high or too low."""

    offset = 0

    def enter(self, quantized: IntArray) -> Integers:
        return super().enter(quantized) + self.offset


def _offset(mapping: StagedMapping, by: int) -> StagedMapping:
    known = {field.name: getattr(mapping, field.name) for field in fields(StagedMapping)}
    return type("Off", (_Offset,), {"offset": by})(**known)


def _gamma_1_shifted() -> StagedMapping:
    """One shift more, over the interval of gamma(1)."""
    mapping = _build(RING, 2)
    stage = mapping.stages[0]
    assert isinstance(stage, SelectiveShifts)
    low = int(mapping.initial([[0, 0, 0, 0]])[0])
    shifts = (*stage.shifts, replace(stage.shifts[0], token=0, low2=2 * low - 1))
    return replace(mapping, stages=(SelectiveShifts(shifts), mapping.stages[1]))


def _moved_home(by: Callable[[RelayMapping, int], int]) -> RelayMapping:
    """Relay's last step brings its token home to another place."""
    relay = build_relay(HUB, 1, 2)
    last = relay.stages[-1]
    step = last.steps[-1]
    steps = (*last.steps[:-1], replace(step, home=by(relay, step.query)))
    return replace(relay, stages=(*relay.stages[:-1], replace(last, steps=steps)))


def _touching(relay: RelayMapping, token: int) -> int:
    """The end of the token's slot on the start of another one."""
    others = [slot.low for k, slot in enumerate(relay.slots) if k != token]
    return max(others) - 2**4 + 1


def _beyond_reach() -> RelayMapping:
    """A mapping for a ring, said to be one for a chain."""
    relay, chain = build_relay(RING, 1, 2), families.causal(4, 1)
    return replace(relay, pattern=chain, stages=tuple(replace(stage, pattern=chain) for stage in relay.stages))


def _network(**constants: int) -> Network:
    return compose(_build(STRIDED, 2, **constants), TARGETS["mean"])


def _wrong_output() -> Network:
    """One entry of A_G is a little off f(G)."""
    network = _network()
    outputs = network.values.outputs.copy()
    outputs[19, 0, 4] += 1e-6
    return replace(network, values=replace(network.values, outputs=outputs))


def _other_target() -> Network:
    """The table of outputs belongs to another target."""
    return replace(_network(), target=TARGETS["reverse"])


def _forgotten_cell() -> Network:
    """The windows of one cell are missing: their ids are those of another."""
    network = _network()
    ids = network.values.ids.copy()
    ids[7] = ids[6]
    return replace(network, values=replace(network.values, ids=ids))


def _unlifted() -> Network:
    """Outputs as large as ids, without the layer that lifts the ids."""
    mapping = _build(families.dense(2), 2)
    top = int(mapping.ids([[[1, 1]]]).max())
    network = compose(mapping, Target("loud", lambda x: 0 * x + top / 2, "u^T A falls on the greatest id"))
    assert network.values.lifted_by
    return replace(network, values=replace(network.values, lifted_by=0))


WRONG: list[tuple[str, Callable[[], StagedMapping | Network], int | None]] = [  # statement, how, token named
    ("Lemma 6", lambda: _build(DENSE, 2, step=4), 0),  # token 0 sits at 4, outside [0, n)
    ("eq. 8", lambda: _build(DENSE, 3, step=2), 0),
    ("eq. 8", lambda: _offset(_build(DENSE, 3), 1), 2),
    ("eq. 8", lambda: _offset(_build(DENSE, 3), -1), 0),
    ("recurrence", lambda: _weaker_shift(2), 2),
    ("recurrence", _wrong_pattern, 2),
    ("eq. 9", lambda: _build(RING, 2, shift_factor=0), 1),
    ("eq. 9", lambda: _build(RING, 2, shift_factor=1), None),  # a tie
    ("eq. 9", _gamma_1_shifted, 0),
    ("eq. 10", lambda: _offset(_build(families.dense(1), 2), 3), 0),  # z~ = n delta^{-nd} exactly
    ("eq. 10", lambda: _build(RING, 2, shift_factor=4), 3),
    ("one-to-one", lambda: _build(RING, 3, shift_factor=2), 3),
    ("eq. 12", lambda: _build(RING, 2, c=3 * 4 * 2**5), None),  # s in place of 2 s
    ("eq. 13", lambda: _build(RING, 2, c=1), None),
    ("leader seen", lambda: _build(STRIDED, 2, s=2), 2),
    ("intervals", lambda: _build(STRIDED, 2, s=2), 2),
    ("intervals", lambda: _build(DENSE, 2, c=12), 2),
    ("residues", lambda: _build(DENSE, 2, c=12), 2),
    ("7.1", _bare_inputs, None),
    ("7.1", lambda: _build(DENSE, 2, shift_factor=1), None),
    ("7.2", lambda: _build(STRIDED, 2, s=2), None),
    ("7.2", lambda: _build(DENSE, 2, c=12), None),
    ("7.2", lambda: _build(RING, 3, shift_factor=2), None),
    ("7.2", lambda: _build(DENSE, 3, step=2), None),
    ("Lemma 8", _forgotten_cell, 0),
    ("Lemma 8", _unlifted, None),
    ("Lemma 8", lambda: _network(s=2), 2),
    ("Lemma 3", lambda: _network(s=2), 2),
    ("Lemma 3", _wrong_output, 4),
    ("Lemma 3", _other_target, 0),
    ("Lemma 3", _forgotten_cell, 0),
    ("Lemma 3", _unlifted, None),
    ("disjoint slots", lambda: _moved_home(lambda relay, token: relay.slots[token - 1].low), None),
    ("disjoint slots", lambda: _moved_home(_touching), None),
    ("disjoint slots", lambda: replace(build_relay(HUB, 1, 2), step=1), 1),
    ("ids in slots", lambda: _moved_home(lambda relay, token: relay.slots[token].low - 1), None),
    ("ids in slots", lambda: _moved_home(lambda relay, token: relay.slots[token].low + 1), None),
    ("reach", _beyond_reach, None),
    ("7.2", _beyond_reach, None),
]


def test_every_statement_has_a_case_in_which_it_fails() -> None:
    assert {name for name, _, _ in WRONG} == set(LEMMAS)


@pytest.mark.parametrize(
    ("name", "make", "token"), WRONG, ids=lambda value: value if isinstance(value, str) else ""
)
def test_wrong_constants_fail(name: str, make: Callable[[], StagedMapping | Network], token: int | None) -> None:
    check = _check(name, make())
    assert check.answer is Answer.FAILS
    assert check.witness is not None
    assert check.why == str(check.witness)
    if token is not None:
        assert check.witness.token == token
        assert f"token {token}" in check.why
    if check.witness.grid is not None:
        mapping = make()
        mapping = mapping if isinstance(mapping, StagedMapping) else mapping.mapping
        assert check.witness.grid.shape == (mapping.d, mapping.pattern.n)


def test_two_hops_on_strided_name_the_token_that_misses_gamma_n() -> None:
    """The paper says s = 2 for all w; with n = 5, w = 3 token 2 does not see token 4 in two layers."""
    attends = STRIDED.to_lists()
    two_hops = [set().union(*(attends[0][j] for j in attends[1][k])) for k in range(5)]
    assert [k for k in range(5) if 4 not in two_hops[k]] == [2]
    for construction in ("paper", "merged"):
        for s, answer in ((2, Answer.FAILS), (3, Answer.HOLDS)):
            mapping = build_mapping(STRIDED, 1, 2, construction, gamma=np.arange(5), s=s)
            for name in ("leader seen", "intervals", "7.2"):
                check = _check(name, mapping)
                assert check.answer is answer
                assert s == 3 or "2" in check.why
    check = _check("leader seen", build_mapping(STRIDED, 1, 2, gamma=np.arange(5), s=2))
    assert "token 2 of input" in check.why
    assert "the id of gamma(n), token 4, does not arrive" in check.why


def test_the_numbers_of_a_witness_are_those_of_the_run() -> None:
    mapping = _build(DENSE, 2, c=12)
    check = _check("residues", mapping)
    assert check.witness is not None
    grid, token, values = check.witness.grid, check.witness.token, check.witness.values
    z = mapping.initial(grid)
    shifted = mapping.stages[0].apply(z, mapping.pattern)
    assert values["q"] == mapping.ids(grid)[token]
    assert values["residue"] == values["q"] % 12
    assert values["wanted"] == shifted[token]
    assert values["residue"] != values["wanted"]


def test_a_run_that_breaks_off_is_a_failure_with_an_input() -> None:
    """With no embedding at all two tokens can be equal: hardmax meets a tie."""
    mapping = _build(DENSE, 2, step=0)
    check = _check("eq. 9", mapping)
    assert check.answer is Answer.FAILS
    assert check.witness is not None
    assert "the run breaks off" in check.why
    with pytest.raises(ValueError, match=r"tie|u\^T Z_k = b"):
        mapping.ids(check.witness.grid)


def test_overwritten_outputs_name_both_windows() -> None:
    check = _check("Lemma 8", _unlifted())
    assert check.witness is not None
    assert check.witness.values["later"] > check.witness.values["window"]
    assert "window still to come" in check.why


def test_the_bound_of_equation_10_is_not_reached() -> None:
    assert _check("eq. 10", _offset(_build(families.dense(1), 2), 2)).answer is Answer.HOLDS


def test_every_chunk_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    mapping = _build(DENSE, 3, step=2)
    first = _check("eq. 8", mapping).witness
    assert first is not None
    assert first.grid.tolist() == [[0, 0, 2]]
    monkeypatch.setattr(inputs, "ENTRIES", 3)
    (check,) = check_lemmas(mapping, AllInputs(1, 3, 3), ["eq. 8"])
    assert check.witness is not None
    assert str(check.witness) == str(first)


def test_with_c_zero_no_interval_is_left() -> None:
    for name in ("intervals", "residues", "7.2"):
        assert _check(name, _build(DENSE, 2, c=0)).answer is Answer.FAILS
