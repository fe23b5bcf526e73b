"""The parts of an L_p error: powers, strata, points, and what is out of range."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.network import Network, build_network
from constructions.numbers import ProofError
from constructions.targets import TARGETS
from theory.patterns import SparsityPattern
from theory.probability_maps import parse_map
from verify.lp_error import ErrorMeter, discretization_error
from verify.lp_norm import Stratum, distance, log_sum_powers
from verify.lp_strata import Plan, ramp_points
from verify.sobol import sobol_points


def relay() -> Network:
    return build_network(SparsityPattern.from_lists([[0, 1], [0, 1]]), 1, 2, TARGETS["identity"], "relay")


def test_ramp_points_have_the_conditional_distribution() -> None:
    alpha, size = 0.3, 4
    points = ramp_points(Plan(2, 2, 3, ramp=2**13), alpha)
    count = points.in_ramp.sum(axis=(-2, -1))
    for k in range(size + 1):
        binomial = math.comb(size, k) * alpha**k * (1 - alpha) ** (size - k) / (1 - (1 - alpha) ** size)
        assert (count == k).mean() == pytest.approx(0 if k == 0 else binomial, abs=2e-3)
    assert points.in_ramp.mean(axis=(0, 1)) == pytest.approx(alpha / (1 - (1 - alpha) ** size), abs=2e-3)
    place = np.maximum((points.offsets - (1 - alpha)) / alpha, 0)
    assert np.abs(place - points.along).max() < 1e-12
    assert points.along[points.in_ramp].mean() == pytest.approx(0.5, abs=2e-3)
    assert points.offsets[~points.in_ramp].mean() == pytest.approx((1 - alpha) / 2, abs=2e-3)
    assert (points.grids.min(), points.grids.max()) == (0, 2)


@pytest.mark.parametrize("p", [0.5, math.inf, math.nan, -1])
def test_p_out_of_range(p: float) -> None:
    with pytest.raises(ProofError, match="p must be"):
        ErrorMeter(relay(), p=p)


@pytest.mark.parametrize("alpha", [0.0, 1.0, math.nan, -0.1])
def test_alpha_out_of_range(alpha: float) -> None:
    with pytest.raises(ProofError, match="alpha"):
        ErrorMeter(relay()).measure(parse_map("sparsemax"), 8.0, alpha)


@pytest.mark.parametrize("box", [(1.0, 1.0), (1.0, 0.0), (0.0, math.inf), (math.nan, 1.0)])
def test_a_box_out_of_range(box: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="box"):
        discretization_error(TARGETS["identity"], Plan(1, 2, 2), 2, box)


@given(
    st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=1, max_size=8),
    st.floats(1, 20),
)
@settings(max_examples=60)
def test_powers_add_up(numbers: list[float], p: float) -> None:
    wide = np.array([[max(abs(x), 1e-6) for x in numbers]])
    assert math.exp(log_sum_powers(wide, p)[0] / p) == pytest.approx(float(np.linalg.norm(wide[0], p)), rel=1e-9)


def test_large_errors_to_a_large_power_do_not_overflow() -> None:
    found = distance("d", [Stratum(log_sum_powers(np.array([[1e60]]), 400.0), "one")], 400.0)
    assert found.value == pytest.approx(1e60, rel=1e-9)


def test_strata_add_as_powers() -> None:
    parts = [Stratum(np.log([3.0**4]), "a"), Stratum(np.log([4.0**4] * 8), "b"), Stratum(np.array([-np.inf]), "c")]
    found = distance("d", parts, 4)
    assert found.value == pytest.approx((3**4 + 4**4) ** 0.25)
    assert found.interval == pytest.approx((found.value, found.value))


def test_sobol_points_refuse_what_they_cannot_do() -> None:
    with pytest.raises(ProofError, match="dimensions"):
        sobol_points(30000, 8, 2, 0, 0)
    with pytest.raises(ProofError, match="powers of two"):
        sobol_points(3, 12, 2, 0, 0)
