"""One absorb step: exact on its slots, and every constant of it matters."""

from __future__ import annotations

import itertools
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from relay_oracle import all_grids, fault

from constructions.blocks import AffineOnSlot, SelectiveShift
from constructions.numbers import Integers, ProofError
from constructions.relay import RelayMapping, build_relay
from constructions.relay_absorb import Absorb
from constructions.relay_plan import MoveKind
from constructions.relay_stage import RelayStage
from constructions.stage import run_literal
from theory.patterns import SparsityPattern

if TYPE_CHECKING:
    from constructions.stage import Stage

PAIR = SparsityPattern.from_lists([[0, 1], [1]])
CHAIN = [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]]


@pytest.mark.parametrize(("held", "key_held"), list(itertools.product((1, 2, 3, 4, 5), repeat=2)))
def test_absorb_and_release_are_inverse_and_exact(held: int, key_held: int) -> None:
    """All pairs of codes: x + held y, nothing else; the release gives x back; odd and even widths."""
    codes = np.array(list(itertools.product(range(held), range(key_held))))
    state = codes + np.array([3, 20])
    after = np.column_stack((40 + codes[:, 0] + held * codes[:, 1], state[:, 1]))
    taken = np.column_stack((40 + codes[:, 1], state[:, 1]))
    absorb = Absorb(MoveKind.ABSORB, 0, 1, 0, 3, held, 20, key_held, 40, 100)
    release = Absorb(MoveKind.RELEASE, 0, 1, 0, 40, held * key_held, 20, key_held, 3, 100)
    copy = Absorb(MoveKind.COPY, 0, 1, 0, 3, held, 20, key_held, 40, 100)
    for step, before, expected in ((absorb, state, after), (release, after, state), (copy, state, taken)):
        step.check()
        stage = RelayStage("one step", (step,), PAIR)
        assert np.array_equal(stage.apply(before, PAIR), expected)
        values = before
        for block in stage.blocks():
            values = block.apply(values, PAIR)
            assert abs(values).max() <= step.bound
        assert np.array_equal(values, expected)


@pytest.fixture(params=[2, 3])
def mapping(request: pytest.FixtureRequest) -> RelayMapping:
    return build_relay(SparsityPattern.from_lists(CHAIN), 1, request.param, root=1)


def relay_stages(mapping: RelayMapping) -> list[RelayStage]:
    return [stage for stage in mapping.stages if isinstance(stage, RelayStage)]


def spoiled(mapping: RelayMapping, step_class: type[Absorb]) -> str:
    """Run all blocks with steps of another class and say what is found wrong: by psi, by a slot, or by the ids."""
    grids = all_grids(4, 1, mapping.K)
    values: Integers = mapping.initial(grids)
    try:
        for stage in relay_stages(mapping):
            steps = [step_class(*(getattr(step, f.name) for f in fields(Absorb))) for step in stage.steps]
            changed: Stage = RelayStage(stage.name, tuple(steps), mapping.pattern)
            values = run_literal(changed, values, mapping.pattern)
    except ProofError as error:
        return str(error)
    return fault([CHAIN], grids, values) or "nothing"


class SmallerStretch(Absorb):
    """2M < W."""

    @property
    def stretch(self) -> int:
        return max(1, super().stretch - 1)


class FactorOne(Absorb):
    """The shift moves the query onto the key and forgets its own code."""

    @property
    def shift(self) -> SelectiveShift:
        return replace(super().shift, factor=1)


class WiderWindow(Absorb):
    """The window holds the whole band of the tokens at rest."""

    @property
    def shift(self) -> SelectiveShift:
        return replace(super().shift, high2=2 * self.top - 1)


class NarrowerWindow(Absorb):
    """The least number of the query's slot lies outside the window."""

    @property
    def shift(self) -> SelectiveShift:
        return replace(super().shift, low2=super().shift.low2 + 2)


class KeyStaysUp(Absorb):
    """The key is not put back."""

    @property
    def back(self) -> AffineOnSlot:
        return replace(super().back, low=-1, high=-1)


class QueryStaysUp(Absorb):
    """The query is not brought home."""

    @property
    def back_home(self) -> AffineOnSlot:
        return replace(super().back_home, low=-1, high=-1)


class NotCleared(Absorb):
    """A child keeps what it holds from the gather when the root's code comes down."""

    @property
    def depth(self) -> int:
        return self.held - 1

    @property
    def down(self) -> AffineOnSlot:
        return replace(super().down, multiply=-1, add=self.low - 1) if self.kind is MoveKind.COPY else super().down


@pytest.mark.parametrize(
    ("step_class", "found"),
    [
        (Absorb, "nothing"),
        (SmallerStretch, "one id for two inputs"),
        (FactorOne, "tie"),
        (WiderWindow, "not divisible|tie"),
        (NarrowerWindow, "one id for two inputs|tie"),
        (KeyStaysUp, "tie"),
        (QueryStaysUp, "one id for two inputs"),
        (NotCleared, "not divisible|tie"),
    ],
)
def test_every_constant_matters(mapping: RelayMapping, step_class: type[Absorb], found: str) -> None:
    wrong = spoiled(mapping, step_class)
    assert any(phrase in wrong for phrase in found.split("|")), wrong


def test_planning_refuses_a_slot_outside_the_band(mapping: RelayMapping) -> None:
    first = relay_stages(mapping)[0].steps[0]
    first.check()
    for wrong in (replace(first, top=mapping.K), replace(first, low=-1), replace(first, home=first.top)):
        with pytest.raises(ProofError, match="leaves the band"):
            wrong.check()


def test_a_state_that_the_step_never_meets_is_refused(mapping: RelayMapping) -> None:
    values = mapping.initial(np.zeros((1, 4), dtype=int))
    with pytest.raises(ProofError, match="outside its slot"):
        mapping.stages[0].apply(values + 10 * mapping.bound, mapping.pattern)


def test_a_pattern_without_the_connection_is_refused(mapping: RelayMapping) -> None:
    values = mapping.initial(np.zeros((1, 4), dtype=int))
    first = mapping.stages[0]
    same = SparsityPattern.from_lists(CHAIN)
    assert np.array_equal(first.apply(values, same), first.apply(values, mapping.pattern))
    with pytest.raises(ProofError, match="does not attend to token"):
        first.apply(values, SparsityPattern.from_lists([[k] for k in range(4)]))
