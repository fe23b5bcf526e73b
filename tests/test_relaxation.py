"""Soft runs of the contextual mapping against ball arithmetic on whole matrices in real units (`soft_oracle`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import soft_oracle
from flint import arb, ctx

from constructions import soft_run
from constructions.blocks import AffineOnSlot, AllMaxShift, Identity, SelectiveShift
from constructions.cells import cells
from constructions.mapping import StagedMapping
from constructions.network import choose_mapping
from constructions.numbers import ProofError
from constructions.relaxation import RUNAWAY, SoftMapping, soften
from constructions.soft_blocks import soften_block
from theory import families
from theory.patterns import SparsityPattern
from theory.probability_maps import parse_map

CONSTRUCTIONS = ("paper", "merged", "relay")
RHO = {"softmax": soft_oracle.softmax, "sparsemax": soft_oracle.sparsemax, "entmax:1.5": soft_oracle.entmax15}
CASES = {
    "star": (families.star(4, 1), 1, 2),
    "strided": (families.strided(4, 3), 1, 2),  # two patterns
    "window": (families.window(3, 1), 1, 3),  # delta is no dyadic fraction
    "hub": (families.hub(3), 2, 2),
}
TEMPERATURES = (0.5, 5.0, 40.0)


def _some_grids(mapping: StagedMapping, count: int) -> np.ndarray:
    grids = cells(mapping.d, mapping.pattern.n, mapping.K)
    return grids[np.linspace(0, len(grids) - 1, count).astype(int)]


def _proof(mapping: StagedMapping, rho: str, t: float) -> soft_oracle.SoftProof:
    return soft_oracle.SoftProof(mapping.pattern.to_lists(), mapping.d, mapping.K, t, RHO[rho])


@pytest.fixture(autouse=True)
def _precision() -> Any:
    before = ctx.prec
    yield
    ctx.prec = before


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("rho", RHO)
def test_the_soft_run_is_the_literal_one(case: str, construction: str, rho: str) -> None:
    """End to end at 500 bits: every float64 id within 1e-9 of a ball whose radius is negligible."""
    ctx.prec = 450
    mapping = choose_mapping(*CASES[case], construction)
    grids = _some_grids(mapping, 2)[1 if rho == "entmax:1.5" else 0 :]
    for t in TEMPERATURES:
        ids = soften(mapping, parse_map(rho), t).ids(grids)
        proof = _proof(mapping, rho, t)
        for grid, row in zip(grids, ids, strict=True):
            z = proof.embed(grid.tolist(), mapping.positions.tolist())
            for stage in mapping.stages:
                for block in stage.blocks():
                    z = proof.block(z, block)
            for ball, value in zip(proof.units(z), row, strict=True):
                assert ball.rad() < 1e-9
                assert abs(value - float(ball.mid())) <= 1e-9 * max(1.0, abs(value))


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
@pytest.mark.parametrize("rho", ["softmax", "sparsemax"])
@pytest.mark.parametrize("t", [0.5, 5.0, 40.0, 1000.0])
def test_every_layer_is_enclosed(construction: str, rho: str, t: float) -> None:
    """The state after a layer lies in the ball from the float64 state before it, widened by roundings: always.

    Scores v_j (v_k - b) are rounded relative to their size, so their gaps relative to the largest v_j.
    """
    ctx.prec = 200
    mapping = choose_mapping(*CASES["star"], construction)
    soft = soften(mapping, parse_map(rho), t)
    proof = _proof(mapping, rho, t)
    states = mapping.initial(_some_grids(mapping, 3)).astype(np.float64)
    for layer, after in soft.trace(states):
        for before, row in zip(states, after, strict=True):
            balls = proof.units(proof.block([[arb(float(v)) / mapping.K for v in before]], layer.block.block))
            factor = getattr(layer.block.block, "factor", 0)
            scores = factor * np.ptp(before) * (1 + np.abs(before).max())
            roundings = 16 * scores + 4 * np.abs([before, row]).max()
            for ball, value in zip(balls, row, strict=True):
                assert ball.rad() < 1e-30
                assert abs(float(ball.mid() - arb(float(value)))) <= roundings * 2.0**-53
        states = after


def test_large_numbers_are_not_rounded_away() -> None:
    """Two heads that both return the least of the row nearly: their difference is far below 2^45 roundings."""
    ctx.prec = 200
    pattern = SparsityPattern.from_lists([[0, 1, 2], [1], [2]])
    block, rho, values = SelectiveShift(0, 2, 1, 3), parse_map("softmax"), np.array([-1.0, 4.0, 2.0**45])
    after = soften_block(block, rho, 2.0).apply(values, pattern)
    proof = soft_oracle.SoftProof(pattern.to_lists(), 1, 2, 8.0, soft_oracle.softmax)
    ball = proof.units(proof.block([[arb(v) / 2 for v in values.tolist()]], block))[0]
    assert 1e-6 < abs(float(ball.mid()) + 1) < 1e-3
    assert abs(after[0] - float(ball.mid())) < 1e-15


def test_the_oracle_tells_a_wrong_run_from_a_right_one() -> None:
    """Sharpness t delta instead of t delta^2, thresholds a unit off, no ramp: each is noticed."""
    ctx.prec = 200
    mapping = choose_mapping(*CASES["star"], "merged")
    grid = _some_grids(mapping, 1)[0]
    proof = _proof(mapping, "softmax", 5.0)
    z = proof.embed(grid.tolist(), mapping.positions.tolist())
    for block in (block for stage in mapping.stages for block in stage.blocks()):
        z = proof.block(z, block)
    right = np.array([float(ball.mid()) for ball in proof.units(z)])
    assert np.allclose(soften(mapping, parse_map("softmax"), 5.0).ids(grid), right, rtol=1e-12)
    for wrong in (2.5, 10.0, 5.001):
        assert not np.allclose(soften(mapping, parse_map("softmax"), wrong).ids(grid), right, rtol=1e-6)


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_hardmax_itself_gives_the_exact_ids(construction: str) -> None:
    mapping = choose_mapping(families.bigbird(5, 1, 1, 1, seed=3), 1, 2, construction)
    grids = cells(1, 5, 2)
    assert np.array_equal(soften(mapping, parse_map("hardmax"), 1.0).ids(grids), mapping.ids(grids))


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_batches_and_shapes(construction: str) -> None:
    mapping = choose_mapping(*CASES["strided"], construction)
    soft = soften(mapping, parse_map("softmax"), 30.0)
    grids = cells(1, 4, 2)
    together = soft.ids(grids.reshape(4, 4, 1, 4))
    assert together.shape == (4, 4, 4)
    assert together.dtype == np.float64
    assert np.array_equal(together.reshape(16, 4), np.array([soft.ids(grid) for grid in grids]))


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    mapping = choose_mapping(*CASES["star"], "merged")
    soft, grids = soften(mapping, parse_map("entmax:1.5"), 3.0), cells(1, 4, 2)
    whole = soft.ids(grids)
    monkeypatch.setitem(soft_run.STATES, "cpu", 30)
    assert np.array_equal(soft.ids(grids), whole)


def test_layers_are_the_blocks_without_identities() -> None:
    mapping = choose_mapping(*CASES["strided"], "relay")
    soft = soften(mapping, parse_map("softmax"), 1.0)
    blocks = [block for stage in mapping.stages for block in stage.blocks() if not isinstance(block, Identity)]
    assert [layer.block.block for layer in soft.layers] == blocks
    assert {type(block) for block in blocks} == {SelectiveShift, AffineOnSlot}
    merged = soften(choose_mapping(*CASES["strided"], "merged"), parse_map("softmax"), 1.0)
    assert {type(layer.block.block) for layer in merged.layers} == {SelectiveShift, AllMaxShift}


def test_the_trace_ends_at_the_ids() -> None:
    mapping = choose_mapping(*CASES["star"], "paper")
    soft, grid = soften(mapping, parse_map("softmax"), 20.0), cells(1, 4, 2)[5]
    steps = list(soft.trace(mapping.initial(grid).astype(np.float64)))
    assert len(steps) == len(soft.layers)
    assert np.array_equal(steps[-1][1], soft.ids(grid))


def test_a_run_that_runs_away_is_not_a_number() -> None:
    """At a small t, shifts that should be off multiply the numbers; the other inputs are not touched."""
    mapping = choose_mapping(families.window(5, 1), 1, 2, "merged", c=10, s=1)
    soft = SoftMapping(mapping, parse_map("softmax"), 0.02)
    start = mapping.initial(cells(1, 5, 2)[:3]).astype(np.float64)
    start[1] *= RUNAWAY / 10
    ids = soft.run(start)
    assert np.isnan(ids[1]).all()
    assert np.isfinite(ids[[0, 2]]).all()


def test_numbers_beyond_float64_are_refused() -> None:
    mapping = choose_mapping(families.star(7, 1), 1, 4, "paper")
    with pytest.raises(ProofError, match=r"float64 holds 53: --construction relay or a coarser grid would fit"):
        soften(mapping, parse_map("softmax"), 1.0)
    assert np.isfinite(
        soften(choose_mapping(families.star(7, 1), 1, 4, "relay"), parse_map("softmax"), 1.0).ids(
            cells(1, 7, 4, 0, 2)
        )
    ).all()
    with pytest.raises(ProofError, match=r"bits in units of delta, float64 holds 53: a coarser grid would fit"):
        soften(choose_mapping(families.star(30, 1), 1, 4, "relay"), parse_map("softmax"), 1.0)


@pytest.mark.parametrize("t", [0.0, -1.0, np.inf, np.nan])
def test_t_must_be_positive(t: float) -> None:
    mapping = choose_mapping(*CASES["star"], "merged")
    with pytest.raises(ProofError, match="t must be positive"):
        soften(mapping, parse_map("softmax"), t)


def test_a_row_of_one_key_is_left_alone_by_a_shift() -> None:
    """Token 0 attends to itself only: both heads return its own value, whatever rho."""
    pattern = SparsityPattern.from_lists([[0], [0, 1]])
    mapping = choose_mapping(pattern, 1, 2, "relay")
    ids = soften(mapping, parse_map("uniform"), 1.0).ids([[1, 0]])
    assert ids[0] == mapping.ids([[1, 0]])[0]
