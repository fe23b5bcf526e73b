"""One absorb step: exact on its slots, and every constant of it matters."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from relay_oracle import all_grids, fault

from constructions.blocks import AffineOnSlot, SelectiveShift
from constructions.numbers import ProofError
from constructions.relay import build_relay
from constructions.relay_absorb import Absorb
from constructions.relay_plan import MoveKind
from constructions.relay_stage import RelayStage
from theory.patterns import SparsityPattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from constructions.blocks import AttentionBlock, FeedForwardBlock
    from constructions.relay import RelayMapping

PAIR = SparsityPattern.from_lists([[0, 1], [1]])
CHAIN = [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]]
EDIT = "Callable[[AttentionBlock | FeedForwardBlock], AttentionBlock | FeedForwardBlock]"


@pytest.mark.parametrize(("held", "key_held"), list(itertools.product((1, 2, 3, 4, 5), repeat=2)))
def test_absorb_and_release_are_inverse_and_exact(held: int, key_held: int) -> None:
    """All pairs of codes: x + held y, nothing else; the release gives x back; odd and even widths."""
    codes = np.array(list(itertools.product(range(held), range(key_held))))
    top = 100
    absorb = Absorb(MoveKind.ABSORB, 0, 1, 0, 3, held, 20, key_held, 40, top)
    absorb.check()
    absorbed = RelayStage("gather", (absorb,), PAIR)
    state = codes + [3, 20]
    after = state.copy()
    after[:, 0] = 40 + codes @ [1, held]
    assert np.array_equal(absorbed.apply(state, PAIR), after)
    assert np.array_equal(run_blocks(absorbed.blocks(), state), after)
    release = Absorb(MoveKind.RELEASE, 0, 1, 0, 40, held * key_held, 20, key_held, 3, top)
    release.check()
    released = RelayStage("release", (release,), PAIR)
    assert np.array_equal(released.apply(after, PAIR), state)
    assert np.array_equal(run_blocks(released.blocks(), after), state)
    copy = Absorb(MoveKind.COPY, 0, 1, 0, 3, held, 20, key_held, 40, top)
    copied = RelayStage("broadcast", (copy,), PAIR)
    both = np.column_stack((40 + codes[:, 1], state[:, 1]))
    assert np.array_equal(copied.apply(state, PAIR), both)
    assert np.array_equal(run_blocks(copied.blocks(), state), both)


def run_blocks(blocks: Iterator[AttentionBlock | FeedForwardBlock], values: np.ndarray) -> np.ndarray:
    for block in blocks:
        values = block.apply(values, PAIR)
    return values


def spoiled(mapping: RelayMapping, edit: EDIT) -> str | None:
    """Run the blocks, each edited, and say what the check finds; an error on the way counts."""
    grids = all_grids(4, 1, mapping.K)
    values = mapping.initial(grids)
    try:
        for stage in mapping.stages:
            for block in stage.blocks():
                values = edit(block).apply(values, mapping.pattern)
    except ProofError as error:
        return str(error)
    return fault([CHAIN], grids, values)


@pytest.fixture(params=[2, 3])
def mapping(request: pytest.FixtureRequest) -> RelayMapping:
    return build_relay(SparsityPattern.from_lists(CHAIN), 1, request.param)


def test_unspoiled_the_check_finds_nothing(mapping: RelayMapping) -> None:
    assert spoiled(mapping, lambda block: block) is None


def test_a_smaller_stretch_of_the_key_collides(mapping: RelayMapping) -> None:
    """2M < W: two pairs of codes get one number."""

    def edit(block: AttentionBlock | FeedForwardBlock) -> AttentionBlock | FeedForwardBlock:
        if isinstance(block, AffineOnSlot) and block.multiply > 1:
            smaller = block.multiply - 1
            return replace(block, multiply=smaller, add=block.add + block.low)
        if isinstance(block, AffineOnSlot) and block.divide > 2:
            return replace(block, divide=block.divide - 1)
        return block

    assert spoiled(mapping, edit) is not None


def test_another_shift_factor_fails(mapping: RelayMapping) -> None:
    """Factor 1 forgets the query's own code; factor 3 leaves the slot."""
    for factor in (1, 3):

        def edit(block: AttentionBlock | FeedForwardBlock, c: int = factor) -> AttentionBlock | FeedForwardBlock:
            return replace(block, factor=c) if isinstance(block, SelectiveShift) else block

        assert spoiled(mapping, edit) is not None


def test_a_window_wider_than_the_slot_moves_another_token(mapping: RelayMapping) -> None:
    def edit(block: AttentionBlock | FeedForwardBlock) -> AttentionBlock | FeedForwardBlock:
        return replace(block, high2=2 * mapping.bound + 1) if isinstance(block, SelectiveShift) else block

    assert spoiled(mapping, edit) is not None


def test_a_window_narrower_than_the_slot_leaves_an_input_out(mapping: RelayMapping) -> None:
    def edit(block: AttentionBlock | FeedForwardBlock) -> AttentionBlock | FeedForwardBlock:
        return replace(block, low2=block.low2 + 2) if isinstance(block, SelectiveShift) else block

    assert spoiled(mapping, edit) is not None


def test_leaving_the_key_up_fails(mapping: RelayMapping) -> None:
    """Without the inverse map the key is not where later steps look for it."""

    def edit(block: AttentionBlock | FeedForwardBlock) -> AttentionBlock | FeedForwardBlock:
        above = (
            isinstance(block, AffineOnSlot) and block.multiply == 1 and block.low == mapping.stages[0].steps[0].top
        )
        return replace(block, low=-1, high=-1) if above else block

    assert spoiled(mapping, edit) is not None


def test_a_child_must_be_cleared_before_the_broadcast(mapping: RelayMapping) -> None:
    """What it still holds from the gather mixes with the root's code: not one-to-one, or out of every slot."""

    def edit(block: AttentionBlock | FeedForwardBlock) -> AttentionBlock | FeedForwardBlock:
        if isinstance(block, AffineOnSlot) and block.multiply == 0:
            return replace(block, multiply=-1, add=block.low - 1)
        if isinstance(block, SelectiveShift):
            return replace(block, low2=-2 * mapping.bound - 1)
        return block

    assert spoiled(mapping, edit) is not None


@dataclass(frozen=True)
class Steps:
    """The first stage of a mapping, one field of its first step changed."""

    mapping: RelayMapping

    def with_first(self, **changes: object) -> Absorb:
        return replace(self.mapping.stages[0].steps[0], **changes)  # type: ignore[arg-type]


def test_planning_refuses_a_band_that_is_too_low(mapping: RelayMapping) -> None:
    first = Steps(mapping)
    first.with_first().check()
    with pytest.raises(ProofError, match="leaves the band"):
        first.with_first(top=mapping.K).check()
    with pytest.raises(ProofError, match="leaves the band"):
        first.with_first(low=-1).check()
    with pytest.raises(ProofError, match="would land on it"):
        Absorb(MoveKind.COPY, 0, 1, 0, 0, 1, 0, 1, 0, -1).check()


def test_a_state_that_the_step_never_meets_is_refused(mapping: RelayMapping) -> None:
    values = mapping.initial(np.zeros((1, 4), dtype=int))
    with pytest.raises(ProofError, match="outside its slot"):
        mapping.stages[0].apply(values + 10 * mapping.bound, mapping.pattern)


def test_a_pattern_without_the_connection_is_refused(mapping: RelayMapping) -> None:
    values = mapping.initial(np.zeros((1, 4), dtype=int))
    same = SparsityPattern.from_lists(CHAIN)
    assert np.array_equal(mapping.stages[0].apply(values, same), mapping.stages[0].apply(values, mapping.pattern))
    with pytest.raises(ProofError, match="does not attend to token"):
        mapping.stages[0].apply(values, SparsityPattern.from_lists([[k] for k in range(4)]))
