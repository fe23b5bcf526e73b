"""The promise of the error budget: at every t the measured error is below it, layer by layer, for every input."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest
import soft_oracle
from flint import ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.cells import cells
from constructions.error_budget import READ, Budgets, error_bound, guaranteed_t
from constructions.mapping import StagedMapping
from constructions.network import choose_mapping
from constructions.numbers import ProofError
from constructions.relaxation import SoftMapping, soften
from theory import families
from theory.bounds import ErrorBudget
from theory.patterns import SparsityPattern
from theory.probability_maps import parse_map
from verify.soft_ids import measured_t

CONSTRUCTIONS = ("paper", "merged", "relay")
CASES = {
    "star": (families.star(5, 1), 1, 2),
    "strided": (families.strided(5, 3), 1, 2),
    "bigbird": (families.bigbird(5, 1, 1, 1, seed=3), 1, 2),
    "window": (families.window(4, 1), 1, 3),
    "star, d = 2": (families.star(3, 1), 2, 2),
}
RHO = ("softmax", "topk:2", "sparsemax", "entmax:1.5", "entmax:3")
PAIRS = list(itertools.product(CASES, CONSTRUCTIONS))


@cache
def _mapping(case: str, construction: str) -> StagedMapping:
    return choose_mapping(*CASES[case], construction)


@cache
def _budgets(case: str, construction: str) -> Budgets:
    return Budgets(_mapping(case, construction))


@cache
def _all_cells(case: str) -> np.ndarray:
    pattern, d, levels = CASES[case]
    return cells(d, pattern.n, levels)


def measured_error(soft: SoftMapping, grids: np.ndarray) -> float:
    error = float(np.abs(soft.ids(grids) - soft.mapping.ids(grids)).max())
    return math.inf if math.isnan(error) else error


def _check_layers(soft: SoftMapping, budget: ErrorBudget, start: np.ndarray) -> None:
    """After every layer that the budget reaches, the soft state is within its error of the exact one."""
    pattern, exact = soft.mapping.pattern, start
    for (layer, state), step in zip(soft.trace(start.astype(np.float64)), budget.layers, strict=False):
        exact = layer.block.block.apply(exact, pattern)
        assert np.abs(state - exact).max() <= step.error
    if budget.valid:
        assert len(budget.layers) == len(soft.layers)


@pytest.mark.parametrize(("case", "construction"), PAIRS)
@pytest.mark.parametrize("name", RHO)
def test_measured_error_is_below_the_bound_after_every_layer(case: str, construction: str, name: str) -> None:
    """At every t, from where nothing is claimed to where everything is exact; all inputs, token by token."""
    rho, mapping, budgets = parse_map(name), _mapping(case, construction), _budgets(case, construction)
    enough = budgets.guaranteed_t(rho)
    assert enough is not None
    start = mapping.initial(_all_cells(case))
    for t in enough * np.array([0.01, 0.5, 0.9, 0.97, 1.0, 1.02, 1.1, 1.4, 2.0, 10.0]):
        _check_layers(soften(mapping, rho, t), budgets.at(rho, t), start)
        assert measured_error(soften(mapping, rho, t), _all_cells(case)) <= budgets.at(rho, t).bound


@pytest.mark.parametrize(
    ("pattern", "d", "levels", "construction"),
    [
        (families.window(5, 1), 1, 2, "paper"),
        (families.window(5, 1), 1, 2, "merged"),
        (families.bigbird(5, 1, 1, 1, seed=3), 1, 4, "merged"),
        (families.bigbird(40, 1, 1, 1, seed=3), 1, 2, "relay"),
        (families.star(12, 1), 2, 3, "relay"),
        (families.strided(14, 4), 1, 7, "relay"),
    ],
)
def test_rounding_near_the_end_of_float64(
    pattern: SparsityPattern, d: int, levels: int, construction: str
) -> None:
    """Where the last place of an id is a sizeable part of a unit: layer by layer, on random inputs."""
    mapping = choose_mapping(pattern, d, levels, construction)
    assert mapping.bound.bit_length() > 40
    budgets = Budgets(mapping)
    start = mapping.initial(np.random.default_rng(0).integers(levels, size=(100, d, pattern.n)))
    for name, factors in (("softmax", (0.8, 1.0, 1.1, 1.3, 1.7, 4.0)), ("entmax:1.5", (0.97, 1.0, 1.5))):
        rho = parse_map(name)
        enough = budgets.guaranteed_t(rho)
        assert enough is not None
        for factor in factors:
            _check_layers(soften(mapping, rho, enough * factor), budgets.at(rho, enough * factor), start)


@pytest.mark.parametrize(("case", "construction"), PAIRS)
@pytest.mark.parametrize("name", ["sparsemax", "entmax:1.5", "entmax:3", "sparselin-gen:0.5"])
def test_ids_are_exact_at_the_predicted_t(case: str, construction: str, name: str) -> None:
    """One-hot where the least score gap of all layers says so: bound 0, measured 0; no such promise below."""
    rho, mapping, budgets = parse_map(name), _mapping(case, construction), _budgets(case, construction)
    assert budgets.smallest_gap >= 1 / mapping.K**2 / 2
    predicted = rho.exact_t(budgets.smallest_gap)
    assert predicted is not None
    real = Budgets(mapping, rounding=False)
    assert real.at(rho, predicted).bound == 0.0
    assert real.at(rho, predicted * (1 - 1e-9)).bound > 0.0
    t = predicted * (1 + 1e-9)  # room for the rounding of the scores
    assert budgets.at(rho, t).bound == 0.0
    assert np.array_equal(soften(mapping, rho, t).ids(_all_cells(case)), mapping.ids(_all_cells(case)))
    assert budgets.guaranteed_t(rho, 0.0) == pytest.approx(predicted, rel=1e-5)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["softmax", "entmax:1.5"])
def test_relay_needs_a_smaller_t_than_paper(case: str, name: str) -> None:
    rho, grids = parse_map(name), _all_cells(case)
    promised, seen = {}, {}
    for construction in CONSTRUCTIONS:
        mapping = _mapping(case, construction)
        promised[construction] = _budgets(case, construction).guaranteed_t(rho)
        seen[construction] = measured_t(mapping, rho, grids, mapping.ids(grids))
        assert seen[construction] <= promised[construction] * (1 + 1e-3)
    assert seen["relay"] <= min(seen["merged"], seen["paper"])
    assert promised["relay"] <= min(promised["merged"], promised["paper"])
    if name == "softmax":
        assert promised["relay"] < promised["paper"] / 2


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_the_guaranteed_t_is_the_least(construction: str) -> None:
    budgets, rho = _budgets("strided", construction), parse_map("softmax")
    for accuracy in (READ, 1e-3):
        t = budgets.guaranteed_t(rho, accuracy)
        assert budgets.at(rho, t).bound <= accuracy
        assert budgets.at(rho, t * (1 - 1e-5)).bound > accuracy
        assert guaranteed_t(_mapping("strided", construction), rho, accuracy) == t
    assert budgets.guaranteed_t(rho, 1e-3) > budgets.guaranteed_t(rho)


def test_maps_without_assumption_2_get_no_promise() -> None:
    for name in ("uniform", "squared", "tanh-capped:5"):
        assert _budgets("star", "relay").guaranteed_t(parse_map(name)) is None
        budget = error_bound(_mapping("star", "relay"), parse_map(name), 1e6)
        assert budget.bound == math.inf
        assert measured_error(soften(_mapping("star", "relay"), parse_map(name), 1e6), _all_cells("star")) > READ


def test_softmax_is_exact_in_float64_only() -> None:
    """In real numbers it never is; what is lost of an id in float64 is rounded away once it is small enough."""
    rho, mapping = parse_map("softmax"), _mapping("star", "merged")
    assert Budgets(mapping, rounding=False).guaranteed_t(rho, 0.0) is None
    assert 0 < Budgets(mapping, rounding=False).at(rho, 1e3).bound < 1e-20
    t = _budgets("star", "merged").guaranteed_t(rho, 0.0)
    assert t is not None
    assert t < 1e3
    assert np.array_equal(soften(mapping, rho, t).ids(_all_cells("star")), mapping.ids(_all_cells("star")))


def test_the_papers_zeta_would_promise_too_much() -> None:
    """With zeta = delta/2 for delta^2/2 the t comes out too small by 1/delta: ids are wrong there."""
    rho, mapping = parse_map("softmax"), _mapping("window", "merged")
    t = guaranteed_t(mapping, rho)
    assert measured_error(soften(mapping, rho, t / mapping.K), _all_cells("window")) > READ
    t_entmax = parse_map("entmax:1.5").exact_t(1 / mapping.K / 2)
    assert measured_error(soften(mapping, parse_map("entmax:1.5"), t_entmax), _all_cells("window")) > READ


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_true_values_are_below_the_bound_of_exact_arithmetic(construction: str) -> None:
    """In ball arithmetic at 300 bits, against the bound without rounding, at t from barely enough on."""
    pattern, d, levels = families.star(4, 1), 1, 2
    mapping = choose_mapping(pattern, d, levels, construction)
    budgets, rho = Budgets(mapping, rounding=False), parse_map("softmax")
    grids = cells(d, pattern.n, levels)[::5]
    before, ctx.prec = ctx.prec, 400
    try:
        for factor in (1.0, 1.5, 4.0):
            t = budgets.guaranteed_t(rho) * factor
            bound = budgets.at(rho, t).bound
            proof = soft_oracle.SoftProof(pattern.to_lists(), d, levels, t, soft_oracle.softmax)
            for grid, exact in zip(grids, mapping.ids(grids), strict=True):
                z = proof.embed(grid.tolist(), mapping.positions.tolist())
                for block in (block for stage in mapping.stages for block in stage.blocks()):
                    z = proof.block(z, block)
                for ball, identifier in zip(proof.units(z), exact.tolist(), strict=True):
                    assert abs(ball - identifier) <= bound
    finally:
        ctx.prec = before


@st.composite
def _patterns(draw: st.DrawFn) -> SparsityPattern:
    """Self-attending patterns, strongly connected or not."""
    n, p = draw(st.integers(2, 5)), draw(st.integers(1, 2))
    keys = st.sets(st.integers(0, n - 1), max_size=n)
    return SparsityPattern.from_lists(*([sorted(draw(keys) | {k}) for k in range(n)] for _ in range(p)))


@settings(max_examples=60)
@given(_patterns(), st.sampled_from(RHO), st.floats(0.5, 3.0), st.integers(2, 3))
def test_relay_on_any_pattern(pattern: SparsityPattern, name: str, factor: float, levels: int) -> None:
    mapping, rho = choose_mapping(pattern, 1, levels, "relay"), parse_map(name)
    budgets = Budgets(mapping)
    t = factor * (budgets.guaranteed_t(rho) or 1.0)
    assert measured_error(soften(mapping, rho, t), cells(1, pattern.n, levels)) <= budgets.at(rho, t).bound


@settings(max_examples=40)
@given(
    st.sampled_from([families.dense(3), families.star(4, 1), families.window(4, 1), families.strided(4, 3)]),
    st.sampled_from(["paper", "merged"]),
    st.integers(0, 9),
    st.integers(0, 2000),
    st.integers(1, 3),
    st.integers(1, 4),
    st.floats(0.3, 3.0),
)
def test_other_constants(
    pattern: SparsityPattern, construction: str, shift: int, c: int, s: int, step: int, factor: float
) -> None:
    """Whatever a user tries: where hardmax runs at all, the measured error is below the bound."""
    mapping = choose_mapping(pattern, 1, 2, construction, shift_factor=shift, c=c, s=s, step=step)
    grids = cells(1, pattern.n, 2)
    try:
        mapping.literal_ids(grids)
        budgets = Budgets(mapping)
    except ProofError:
        return
    for name in ("softmax", "sparsemax"):
        t = factor * (budgets.guaranteed_t(parse_map(name)) or 100.0)
        assert measured_error(soften(mapping, parse_map(name), t), grids) <= budgets.at(parse_map(name), t).bound


def test_numbers_beyond_float64() -> None:
    """No promise for a float64 run, but one for exact arithmetic: relay's t is far smaller there."""
    rho = parse_map("softmax")
    paper = choose_mapping(families.star(8, 1), 1, 4, "paper")
    with pytest.raises(ProofError, match="float64 holds 53"):
        error_bound(paper, rho, 1.0)
    promised = guaranteed_t(paper, rho, rounding=False)
    relay = guaranteed_t(choose_mapping(families.star(8, 1), 1, 4, "relay"), rho)
    assert relay < promised
    with pytest.raises(ProofError, match="no error budget beyond 400"):
        Budgets(choose_mapping(families.star(100, 1), 1, 4, "merged"), rounding=False)


def test_bad_requests() -> None:
    mapping, rho = _mapping("star", "relay"), parse_map("softmax")
    with pytest.raises(ProofError, match="t must be positive"):
        error_bound(mapping, rho, 0.0)
    with pytest.raises(ProofError, match="must not be negative"):
        guaranteed_t(mapping, rho, -1.0)


def test_a_single_token() -> None:
    """Nobody to attend to: exact at any t."""
    mapping = choose_mapping(families.dense(1), 1, 3, "relay")
    budgets = Budgets(mapping)
    assert budgets.smallest_gap == math.inf
    assert budgets.at(parse_map("uniform"), 1.0).bound == 0.0
