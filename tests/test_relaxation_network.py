"""The whole relaxed network: quantization with ramps, soft ids, windows of ReLUs; literal, fused, in balls."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import soft_oracle
from flint import ctx

from constructions.cells import cells
from constructions.network import Network, build_network
from constructions.numbers import ProofError
from constructions.relaxation import SoftNetwork, soften
from constructions.soft_quantization import SoftQuantization
from constructions.soft_relu import affine_terms, quantization_terms, relu_sum, window_terms
from constructions.soft_value_mapping import SoftColumns, window
from constructions.targets import Target, parse_target
from theory import families
from theory.patterns import SparsityPattern
from theory.probability_maps import parse_map

ALPHA = 0.25
LOUD = Target("loud", lambda x: 8 * x + 4, "outputs that land among the ids")
CASES = {
    "star paper": (families.star(3, 1), 1, 2, "paper", "sort", "softmax", 60.0),
    "dense merged": (families.dense(2), 2, 2, "merged", "mean", "softmax", 50.0),
    "ring relay": (families.ring(3), 1, 2, "relay", "reverse", "sparsemax", 7.0),
    "hub relay": (families.hub(2), 2, 2, "relay", "softmax-attention", "softmax", 40.0),
}


def _network(case: str) -> SoftNetwork:
    pattern, d, levels, construction, target, rho, t = CASES[case]
    return soften(build_network(pattern, d, levels, parse_target(target), construction), parse_map(rho), t, ALPHA)


def _inputs(d: int, n: int, levels: int, count: int, seed: int = 1) -> np.ndarray:
    """Inputs X/delta, multiples of 1/64: on corners, in ramps, at their ends."""
    rng = np.random.default_rng(seed)
    return rng.integers(64 * levels, size=(count, d, n)) / 64


@pytest.fixture(autouse=True)
def _precision() -> Any:
    before = ctx.prec
    ctx.prec = 1200
    yield
    ctx.prec = before


def _in_balls(soft: SoftNetwork, case: str, units: np.ndarray) -> tuple[list[Any], list[list[Any]]]:
    """Run one input through every layer of the proof, ReLU by ReLU."""
    pattern, d, levels, _, target, rho, t = CASES[case]
    hard = soft.network.mapping
    rhos = {"softmax": soft_oracle.softmax, "sparsemax": soft_oracle.sparsemax}
    proof = soft_oracle.SoftProof(pattern.to_lists(), d, levels, t, rhos[rho])
    z = proof.embed([[Fraction(float(v)) for v in row] for row in units], hard.positions.tolist())
    z = proof.quantize(z, Fraction(ALPHA))
    for stage in hard.stages:
        for block in stage.blocks():
            z = proof.block(z, block)
    ids = proof.units(z)
    assert soft.network.values.lifted_by == 0
    for grid, cell_ids in zip(cells(d, pattern.n, levels), hard.ids(cells(d, pattern.n, levels)), strict=True):
        output = parse_target(target)(grid / levels)
        for k in range(pattern.n):
            column = [Fraction(int(grid[i, k]), levels) + int(hard.positions[k]) for i in range(d)]
            column[0] += Fraction(int(cell_ids[k]), levels) - sum(
                u * x for u, x in zip(proof.u, column, strict=True)
            )
            difference = [soft_oracle.ball(float(output[i, k])) - soft_oracle.ball(column[i]) for i in range(d)]
            z = proof.write(z, int(cell_ids[k]), difference)
    return ids, z


@pytest.mark.parametrize("case", CASES)
def test_the_network_is_the_literal_one(case: str) -> None:
    """Corners, good inputs and ramps; partly open windows included."""
    pattern, d, levels = CASES[case][:3]
    soft = _network(case)
    inputs = _inputs(d, pattern.n, levels, 4)
    out = soft.run_units(inputs)
    for units, ids, columns in zip(inputs, *out, strict=True):
        true_ids, true_columns = _in_balls(soft, case, units)
        for ball, value in zip(true_ids, ids, strict=True):
            assert abs(float(ball.mid()) - value) <= 1e-8 * max(1.0, abs(value))
        for balls, row in zip(true_columns, columns, strict=True):
            for ball, value in zip(balls, row, strict=True):
                assert ball.rad() < 1e-9
                assert abs(float(ball.mid()) - value) <= 1e-7 * max(1.0, abs(value))


@pytest.mark.parametrize("case", CASES)
def test_values_fused_equal_values_literal(case: str) -> None:
    """One bisection a column against all windows one by one, at ids that hit, graze and miss windows."""
    soft = _network(case)
    rng = np.random.default_rng(2)
    known = soft.network.values.ids
    ids = rng.choice(known.ravel(), 400) + rng.integers(-64, 65, 400) / 64
    quantized = rng.integers(32, size=(400, soft.network.mapping.d)) / 8
    start = soft.values.enter(ids, quantized)
    fused, literal = soft.values.apply(start), soft.values.apply_literal(start)
    assert np.allclose(fused.heights, literal.heights, rtol=1e-12, atol=1e-9)
    assert np.allclose(fused.entries, literal.entries, rtol=1e-12, atol=1e-9)
    moved = fused.heights != ids
    assert 100 < moved.sum() < 400


def test_outputs_in_later_windows_and_ids_of_several_cells() -> None:
    """A written output can meet a later window; cells that share an id (reach) have a window each: in order."""
    packed = SparsityPattern.from_lists([[0], [1]])
    loud = Target("loud", lambda x: 2.0 + 0 * x, "2")
    network = build_network(packed, 1, 2, loud, "relay")
    values = soften(network, parse_map("softmax"), 1.0, ALPHA).values
    ids = np.arange(-2, 12, 1 / 16)
    start = values.enter(ids, np.zeros((ids.size, 1)))
    fused, literal = values.apply(start), values.apply_literal(start)
    assert np.allclose(fused.heights, literal.heights, rtol=0, atol=1e-12)
    assert np.unique(network.values.ids).size < network.values.ids.size


@pytest.mark.parametrize("case", CASES)
def test_good_inputs_give_the_hardmax_network_at_a_large_t(case: str) -> None:
    """A in rows 2..d, A plus the id's error in row 1."""
    pattern, d, levels, construction, target, rho, _ = CASES[case]
    network = build_network(pattern, d, levels, parse_target(target), construction)
    soft = soften(network, parse_map(rho), 400.0 * levels**2, ALPHA)
    grids = cells(d, pattern.n, levels)
    rng = np.random.default_rng(0)
    units = grids + rng.integers(0, 49, size=grids.shape) / 64  # up to the end of the good part
    assert soft.quantization.good(units).all()
    out = soft.run_units(units)
    wanted = network.run_cells(grids)
    assert np.array_equal(out.ids, wanted.ids)
    assert np.array_equal(out.columns, wanted.columns)
    assert np.array_equal(soft.run(units / levels).columns, wanted.columns)


def test_the_error_of_an_id_goes_to_row_one() -> None:
    soft = _network("dense merged")
    ids = soft.network.values.ids[3].astype(float) + np.array([0.125, -0.25])
    grid = cells(2, 2, 2)[3]
    quantized = (grid + 2 * soft.network.mapping.positions).T.astype(float)
    written = soft.values.apply(soft.values.enter(ids, quantized))
    wanted = soft.network.values.outputs[3].T + np.array([[0.125 / 2, 0], [-0.25 / 2, 0]])
    assert np.allclose(written.entries, wanted, rtol=0, atol=1e-14)


def test_a_ramp_input_may_miss_every_window_and_stay_a_raw_id() -> None:
    """Then the output is of the id's size: what an honest L_p error has to weigh."""
    network = build_network(families.star(4, 1), 1, 2, parse_target("mean"), "paper")
    soft = soften(network, parse_map("softmax"), 400.0, ALPHA)
    units = np.full((1, 1, 4), 0.0)
    units[0, 0, 1] = 0.96875
    out = soft.run_units(units)
    assert np.abs(out.columns).max() > 100
    assert not soft.quantization.good(units).any()


@pytest.mark.parametrize(("construction", "least", "most"), [("paper", 0.0, 0.05), ("relay", 0.4, 0.7)])
def test_ramp_inputs_reach_windows_in_the_relay_construction(construction: str, least: float, most: float) -> None:
    """Relay's ids fill their slots, so half of what lies between two ids is read; the paper's ids are sparse."""
    network = build_network(families.star(4, 1), 1, 2, parse_target("sort"), construction)
    soft = soften(network, parse_map("softmax"), 1600.0, ALPHA)
    rng = np.random.default_rng(0)
    units = rng.integers(2, size=(1000, 1, 4)).astype(float)
    units[np.arange(1000), 0, rng.integers(4, size=1000)] += 0.75 + 0.25 * rng.random(1000)
    ids = soft.run_units(units).ids
    read = np.isin(np.rint(ids), network.values.ids) & (np.abs(ids - np.rint(ids)) <= 0.25)
    assert least <= read.mean() <= most


@pytest.mark.parametrize("alpha", [0.5, 0.25, 0.01, 0.999])
@pytest.mark.parametrize("levels", [2, 3])
def test_quantization_fused_literal_and_by_formula(alpha: float, levels: int) -> None:
    """phi~ of eq. (15), and its meaning: the corner, plus how far along the ramp."""
    stage = SoftQuantization(2, 2, levels, alpha)
    entries = np.random.default_rng(3).uniform(0, 2 * levels, size=(50, 2, 2))
    entries[0] = [[0.0, 1.0], [1 - alpha, 2 - alpha / 2]]
    literal = entries
    for block in stage.blocks():
        literal = block.apply(literal)
    fused = stage.apply(entries)
    assert np.allclose(fused, literal, rtol=0, atol=1e-12 / alpha)
    assert sum(1 for _ in stage.blocks()) == stage.feed_forward_layers == 2 * 2 * levels
    corner = np.floor(entries)
    good = entries - corner <= 1 - alpha
    assert np.array_equal(fused[good], corner[good])
    assert np.all((fused >= corner) & (fused <= corner + 1))
    assert np.array_equal(stage.good(entries), good.all(axis=(1, 2)))


def test_entries_outside_the_layers_are_left_alone() -> None:
    stage = SoftQuantization(1, 2, 2, 0.5)
    assert stage.apply(np.array([[-0.75, 4.25]])).tolist() == [[-0.75, 4.25]]


def test_at_most_four_relus() -> None:
    """Every term list as a sum is the function that it stands for, at every eighth."""
    for x in np.arange(-2, 12, 1 / 8):
        exact = Fraction(float(x))
        t = exact - 5
        phi = -t if 0 <= t <= Fraction(3, 4) else (3 * (t - 1) if Fraction(3, 4) < t < 1 else 0)
        assert relu_sum(quantization_terms(5, 0.25), exact) == phi
        assert relu_sum(window_terms(5), exact) == Fraction(float(window(np.array(x - 5))))
    soft = _network("ring relay")
    affine = [layer.block for layer in soft.mapping.layers if hasattr(layer.block, "relu_terms")]
    assert affine
    for block in affine:
        terms = block.relu_terms()
        assert len(terms) == 4
        assert [point for _, point in terms] == sorted(point for _, point in terms)
        assert sum(weight for weight, _ in terms) == 0
        low, high = block.block.low, block.block.high
        points = np.array(
            [low - 2, low - 0.5, low - 0.375, low - 0.25, low, high, high + 0.25, high + 0.4, high + 3.0]
        )
        exact = [float(Fraction(x) + relu_sum(terms, Fraction(x))) for x in points.tolist()]
        assert np.allclose(block.apply(points, soft.network.mapping.pattern), exact, rtol=1e-15, atol=1e-12)
    for block in soft.values.blocks():
        assert len(block.relu_terms()) == 4


def test_window_columns_are_outputs_minus_ids() -> None:
    """A - g_c(H)_k, whose u^T is u^T A minus the id."""
    soft = _network("hub relay")
    u = np.array([1.0, 2.0])
    blocks = list(soft.values.blocks())
    assert len(blocks) == soft.network.values.ids.size
    for block, identifier in zip(blocks, soft.network.values.ids.ravel(), strict=True):
        assert np.isclose(u @ block.difference, u @ block.output - identifier / 2, rtol=1e-14)


def test_lifted_ids() -> None:
    network = build_network(families.ring(3), 1, 2, LOUD, "relay")
    assert network.values.lifted_by > 0
    soft = soften(network, parse_map("sparsemax"), 100.0, ALPHA)
    grids = cells(1, 3, 2)
    assert np.array_equal(soft.run_units(grids).columns, network.run_cells(grids).columns)


def test_bad_inputs_are_refused() -> None:
    network: Network = build_network(families.ring(3), 1, 2, parse_target("mean"), "relay")
    soft = soften(network, parse_map("softmax"), 50.0, ALPHA)
    with pytest.raises(ProofError, match=r"shape \(\.\.\., 1, 3\)"):
        soft.run(np.zeros((3, 1)))
    for bad in (1.0, -0.1, np.nan):
        with pytest.raises(ProofError, match=r"must lie in \[0, 1\)"):
            soft.run(np.full((1, 3), bad))
    for alpha in (0.0, 1.0, -1.0, np.nan):
        with pytest.raises(ProofError, match="alpha must lie between 0 and 1"):
            soften(network, parse_map("softmax"), 50.0, alpha)
    with pytest.raises(ProofError, match="needs alpha"):
        soften(network, parse_map("softmax"), 50.0)  # type: ignore[call-overload]


def test_runaway_columns_are_not_numbers() -> None:
    values = _network("ring relay").values
    out = values.apply(SoftColumns(np.array([np.nan]), np.array([[np.nan]])))
    assert np.isnan(out.entries).all()


def test_affine_terms_by_formula() -> None:
    """Slope changes s1, (a - 1) - s1, s2 - (a - 1), -s2 at lo - 1/2, lo - 1/4, hi + 1/4, hi + 1/2."""
    from constructions.blocks import AffineOnSlot

    terms = affine_terms(AffineOnSlot(low=10, high=14, multiply=-3, add=4))
    rise, fall = 4 * (-4 * Fraction(39, 4) + 4), -4 * (-4 * Fraction(57, 4) + 4)
    assert terms == (
        (rise, Fraction(19, 2)),
        (-4 - rise, Fraction(39, 4)),
        (fall + 4, Fraction(57, 4)),
        (-fall, Fraction(29, 2)),
    )
