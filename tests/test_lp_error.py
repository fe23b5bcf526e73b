"""L_p errors against closed forms and dense quadrature; the ramp is never missed."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest

from constructions import soft_mapping
from constructions.network import Network, build_network
from constructions.numbers import ProofError
from constructions.relaxation import soften
from constructions.targets import TARGETS, Target
from theory.families import parse_family
from theory.patterns import SparsityPattern
from theory.probability_maps import parse_map
from verify import lp_error
from verify.lp_error import ErrorMeter, discretization_error
from verify.lp_strata import Plan, RampPoints
from verify.sobol import sobol_points

SPARSEMAX = parse_map("sparsemax")
DENSE = SparsityPattern.from_lists([[0, 1], [0, 1]])


def relay(levels: int = 2, target: str = "identity", pattern: SparsityPattern = DENSE, d: int = 1) -> Network:
    return build_network(pattern, d, levels, TARGETS[target], "relay")


def norm(errors: Any, p: float) -> float:
    """(mean over points of |e|_p^p)^(1/p), written out; points first."""
    return float((np.abs(errors) ** p).sum(axis=tuple(range(1, np.ndim(errors)))).mean() ** (1 / p))


def inside(found: Any, true: float, slack: float) -> bool:
    """Whether the interval, made a little wider for the oracle's own error, contains the true value."""
    low, high = found.interval
    return low * (1 - slack) <= true <= high * (1 + slack)


@pytest.mark.parametrize("p", [1, 2, 3.5])
@pytest.mark.parametrize("box", [(0.0, 1.0), (-1.0, 3.0)])
def test_discretization_of_the_identity_in_closed_form(p: float, box: tuple[float, float]) -> None:
    """d_p(f, fbar)^p = dn step^p / (p + 1) times the volume."""
    d, n, levels = 1, 2, 2
    side = box[1] - box[0]
    true = (d * n * (side / levels) ** p / (p + 1) * side ** (d * n)) ** (1 / p)
    found = discretization_error(TARGETS["identity"], Plan(d, n, levels), p, box)
    assert found.value == pytest.approx(true, rel=1e-4)
    assert inside(found, true, 1e-9)
    assert not found.exact


@pytest.mark.parametrize("p", [1, 2, 3.5])
def test_total_on_one_token_against_dense_quadrature(p: float) -> None:
    """One token: midpoints on [0, 1) through the literal network with its real alpha."""
    network = relay(4, "polynomial", SparsityPattern.from_lists([[0]]))
    alpha = 0.3
    x = ((np.arange(2**18) + 0.5) / 2**18).reshape(-1, 1, 1)
    soft = soften(network, SPARSEMAX, 16.0, alpha)
    g, f = soft.run(x).columns, network.target(x)
    fbar = network.target(np.floor(4 * x) / 4)
    good = (4 * x - np.floor(4 * x) <= 1 - alpha).ravel()
    errors = ErrorMeter(network, p=p).measure(SPARSEMAX, 16.0, alpha)
    assert inside(errors.total, norm(f - g, p), 1e-3)
    assert inside(errors.relaxation, norm(fbar - g, p), 1e-3)
    assert inside(errors.discretization, norm(f - fbar, p), 1e-4)
    assert inside(errors.ramp, norm((fbar - g) * ~good[:, None, None], p), 1e-3)
    assert errors.total.interval[1] - errors.total.interval[0] < 0.05 * errors.total.value


@pytest.mark.parametrize(("p", "t"), [(1, 8.0), (2, 8.0), (3.5, 8.0), (2, 0.25)])
def test_two_tokens_with_a_large_ramp_against_dense_quadrature(p: float, t: float) -> None:
    """Also with both coordinates in a ramp, and at a t at which ids are wrong."""
    network, alpha, count = relay(), 0.4, 600
    axis = (np.arange(count) + 0.5) / count
    x = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 1, 2)
    g = soften(network, SPARSEMAX, t, alpha).run(x).columns
    fbar = np.floor(2 * x) / 2
    good = (2 * x - np.floor(2 * x) <= 1 - alpha).all(axis=(1, 2))
    errors = ErrorMeter(network, Plan(1, 2, 2, ramp=2**12), p=p).measure(SPARSEMAX, t, alpha)
    assert inside(errors.total, norm(x - g, p), 0.01)
    assert inside(errors.ramp, norm((fbar - g)[~good], p) * (1 - (1 - alpha) ** 2) ** (1 / p), 0.01)
    assert errors.good.exact
    if t == 0.25:
        true = norm((fbar - g) * good[:, None, None], p) / good.mean() ** (1 / p) * (1 - alpha) ** (2 / p)
        assert errors.good.value == pytest.approx(true, rel=1e-9)
        assert errors.cells_right < 1
    else:
        assert (errors.good.value, errors.cells_right, errors.id_error) == (0.0, 1.0, 0.0)


def test_two_rows_against_plain_sampling() -> None:
    """d = 2: 2^17 inputs of the whole cube through the literal network."""
    network, alpha, t, p = relay(2, "softmax-attention", d=2), 0.2, 12.0, 2.0
    x = np.random.default_rng(0).random((2**17, 2, 2))
    g = soften(network, SPARSEMAX, t, alpha).run(x).columns
    fbar = network.target(np.floor(2 * x) / 2)
    errors = ErrorMeter(network, p=p).measure(SPARSEMAX, t, alpha)
    assert errors.total.value == pytest.approx(norm(network.target(x) - g, p), rel=0.03)
    assert errors.relaxation.value == pytest.approx(norm(fbar - g, p), rel=0.03)
    assert errors.discretization.value == pytest.approx(norm(network.target(x) - fbar, p), rel=0.01)


@pytest.mark.parametrize(("d", "n", "levels"), [(1, 64, 8), (4, 200, 3)])
def test_discretization_where_cells_are_too_many(d: int, n: int, levels: int) -> None:
    found = discretization_error(TARGETS["identity"], Plan(d, n, levels, points=2**8), 2)
    assert inside(found, math.sqrt(d * n / 3) / levels, 1e-9)
    assert found.interval[1] < 1.01 * found.interval[0]
    assert "Sobol cells" in found.method


def tiny_ramp_oracle(network: Network, p: float, t: float, alpha: float) -> float:
    """One coordinate in a ramp, the other at a corner: midpoints along the ramp, for every cell and coordinate."""
    soft = soften(network, SPARSEMAX, t, 0.5)
    along = (np.arange(4096) + 0.5) / 4096
    powers = []
    for corner in itertools.product(range(2), repeat=2):
        for token in range(2):
            units = np.tile(np.array(corner, dtype=float), (4096, 1, 1))
            units[:, 0, token] += 0.5 + along / 2
            away = soft.run_units(units).columns - np.array(corner) / 2
            powers.append((np.abs(away) ** p).sum(axis=(1, 2)).mean())
    return float((2 * alpha * np.mean(powers)) ** (1 / p))


@pytest.mark.parametrize("alpha", [1e-6, 1e-12, 1e-200, 1e-315])
@pytest.mark.parametrize("p", [1, 2, 3.5])
def test_a_tiny_ramp_is_not_missed(p: float, alpha: float) -> None:
    network = relay()
    ramp = ErrorMeter(network, p=p).measure(SPARSEMAX, 8.0, alpha).ramp
    true = tiny_ramp_oracle(network, p, 8.0, alpha)
    assert ramp.value > 0
    assert inside(ramp, true, 0.01)
    assert ramp.value == pytest.approx(true, rel=0.05)


def test_plain_sampling_would_miss_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check above fails on points that are drawn from the whole cube."""

    def plain(plan: Plan, alpha: float) -> RampPoints:
        points = plan.levels * sobol_points(2, plan.ramp, plan.scramblings, 0, 1).reshape(8, -1, 1, 2)
        grids = np.floor(points)
        along = np.maximum((points - grids - (1 - alpha)) / alpha, 0.0)
        return RampPoints(grids.astype(np.int64), points - grids, along)

    monkeypatch.setattr(lp_error, "ramp_points", plain)
    ramp = ErrorMeter(relay()).measure(SPARSEMAX, 8.0, 1e-6).ramp
    assert not inside(ramp, tiny_ramp_oracle(relay(), 2, 8.0, 1e-6), 0.5)


@pytest.mark.parametrize("p", [1, 2, 4])
@pytest.mark.parametrize(
    ("target", "rho", "t"),
    [
        ("identity", "sparsemax", 2.0),
        ("sort", "entmax:1.5", 4.0),
        ("mean", "sparsemax", 2.0),
        ("mean", "softmax", 100.0),
    ],
)
def test_halving_delta_halves_the_error(p: float, target: str, rho: str, t: float) -> None:
    """A Lipschitz f with L = 1, the relaxed network included, t / delta^2; d_p(f, fbar) <= (dn)^{1/p} L delta."""
    d, n, totals = 1, 2, []
    for levels in (2, 4, 8, 16):
        meter = ErrorMeter(relay(levels, target), Plan(d, n, levels, ramp=2**8), p=p)
        errors = meter.measure(parse_map(rho), t * levels**2, 1e-75)
        assert errors.discretization.value <= (d * n) ** (1 / p) / levels
        assert errors.cells_right == 1
        assert 0 < errors.ramp.value < 1e-12
        totals.append(errors.total.value)
    predicted = 2.0 if target != "sort" else pytest.approx(2.0, rel=0.2)  # sort has a kink on the diagonal
    for coarse, fine in itertools.pairwise(totals):
        assert coarse / fine == (pytest.approx(predicted, rel=1e-3) if target != "sort" else predicted)
    if target == "identity":
        true = [(d * n / (p + 1)) ** (1 / p) / levels for levels in (2, 4, 8, 16)]
        assert totals == pytest.approx(true, rel=1e-4)


def test_a_ramp_that_counts_spoils_the_halving() -> None:
    """The check above fails when alpha is not small: raw ids grow with 1/delta."""
    totals = [
        ErrorMeter(relay(k), Plan(1, 2, k, ramp=2**8)).measure(SPARSEMAX, 2.0 * k**2, 0.01).total.value
        for k in (2, 4)
    ]
    assert totals[0] / totals[1] < 1.5


def test_the_same_seed_gives_the_same_numbers() -> None:
    network = relay(4, "polynomial")

    def run(seed: int) -> Any:
        return ErrorMeter(network, Plan(1, 2, 4, seed, most_cells=4)).measure(SPARSEMAX, 32.0, 0.1)

    assert run(3) == run(3)
    assert run(3).total != run(4).total


def test_sampled_cells_enclose_the_sum_over_all() -> None:
    """99% intervals over 20 seeds, at a t at which some cells are wrong."""
    network = relay(4, "sort", parse_family("ring:n=3"))
    rho = parse_map("softmax")
    true = ErrorMeter(network).measure(rho, 20.0, 1e-9).good
    hits = 0
    for seed in range(20):
        plan = Plan(1, 3, 4, seed, points=16, ramp=16, most_cells=1)
        found = ErrorMeter(network, plan).measure(rho, 20.0, 1e-9)
        assert found.cells == (128, False)
        hits += inside(found.good, true.value, 1e-9)
    assert true.exact
    assert true.value > 0
    assert hits >= 18


def test_construction_error_is_zero_and_would_be_seen() -> None:
    network = relay(3, "sort")
    found = ErrorMeter(network).construction
    assert (found.value, found.interval, found.exact) == (0.0, (0.0, 0.0), True)
    assert found.method == "all 9 cells, bit for bit"
    values = dataclasses.replace(network.values, ids=np.roll(network.values.ids, 1, axis=0))
    broken = ErrorMeter(dataclasses.replace(network, values=values)).construction
    assert broken.value > 0.1


@pytest.mark.parametrize("source", ["star:n=4,w=1", "strided:n=4,w=2", "window:n=3,w=1"])
def test_the_box_rescales_everything(source: str) -> None:
    """f(X) = X on [-1, 1) is f'(Y) = 2 Y - 1 on the cube; distances grow by 2^{dn/p}."""
    pattern, p = parse_family(source), 3.0
    plain = Target("line", lambda y: 2 * y - 1, "2 Y - 1")
    network = build_network(pattern, 1, 2, plain, "relay")
    plan = Plan(1, pattern.n, 2, ramp=2**6)
    cube = ErrorMeter(network, plan, p=p).measure(SPARSEMAX, 8.0, 1e-30)
    boxed = ErrorMeter(network, plan, p=p, box=(-1.0, 1.0)).measure(SPARSEMAX, 8.0, 1e-30)
    for name in ("discretization", "ramp", "total"):
        assert getattr(boxed, name).value == pytest.approx(
            getattr(cube, name).value * 2 ** (pattern.n / p), rel=1e-9
        )


def test_a_run_that_is_given_up_is_an_infinite_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soft_mapping, "RUNAWAY", 12.0)
    errors = ErrorMeter(relay()).measure(SPARSEMAX, 8.0, 0.1)
    assert errors.total.value == errors.ramp.value == errors.id_error == math.inf
    assert errors.runaway > 0
    assert errors.total.as_json()["value"] is None


def test_hardmax_is_not_defined_on_the_ramp() -> None:
    meter = ErrorMeter(relay(2, "sort", parse_family("star:n=4,w=1")))
    with pytest.raises(ProofError, match="beyond hardmax"):
        meter.measure(parse_map("hardmax"), 1.0, 0.1)
