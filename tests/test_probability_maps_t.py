"""The t of Assumption 2: sufficient on adversarial vectors, tight, exact, and the mass lost at a given t."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.connections import PatternError
from theory.probability_maps import Entmax, ProbabilityMap, Softmax, Sparsemax, TopKSoftmax, parse_map

SHARP = [
    *("softmax", "topk:1", "topk:3", "sparsemax", "sparselin-gen:0.3", "sparselin-gen:0.9", "hardmax"),
    *("entmax:1", "entmax:1.01", "entmax:1.2", "entmax:1.5", "entmax:2", "entmax:2.5", "entmax:4"),
]
PROMISES = [(0.5, 1e-3, 2), (0.02, 1e-6, 17), (3.0, 0.2, 5), (0.25, 0.05, 3)]


def adversaries(zeta: float, m: int, count: int, seed: int) -> tuple[Any, Any]:
    """Vectors whose leader leads by at least zeta, and their leaders: many kinds of competitors and offsets."""
    random = np.random.default_rng(seed)
    kinds = [
        np.ones((count, m)),
        1 + random.exponential(0.01, (count, m)),
        1 + random.exponential(3, (count, m)),
        np.where(random.random((count, m)) < 0.5, 1, 1 + random.integers(0, 3, (count, m))),
        np.where(random.random((count, m)) < 1 / m, 1, 1e4),
        1 + random.pareto(0.5, (count, m)).clip(0, 1e6),
    ]
    leads = np.choose(random.integers(len(kinds), size=(count, 1)), kinds)
    offsets = np.choose(
        random.integers(5, size=count),
        [np.zeros(count), np.full(count, zeta), np.full(count, 2.0**20), random.normal(size=count), -leads[:, 0]],
    )
    leaders = random.integers(m, size=count)
    vectors = np.nextafter(offsets[:, None] - zeta * leads, -np.inf)
    vectors[np.arange(count), leaders] = offsets
    return vectors, leaders


def others(rho: ProbabilityMap, scores: Any, leaders: Any) -> tuple[Any, Any]:
    """The leader's weight, and what all others have together."""
    weights = rho(scores)
    rows = np.arange(len(scores))
    leader = weights[rows, leaders]
    weights[rows, leaders] = 0
    return leader, weights.sum(axis=-1)


@pytest.mark.parametrize("name", SHARP)
def test_sufficient_on_a_hundred_thousand_adversarial_vectors(name: str) -> None:
    rho = parse_map(name)
    for number, (zeta, eta, m) in enumerate(PROMISES):
        vectors, leaders = adversaries(zeta, m, 25_000, number)
        for t in (rho.sufficient_t(zeta, eta, m), rho.tight_t(zeta, eta, m)):
            assert t is not None
            scores = vectors * max(t, 1e-6)
            noise = 4e-16 * abs(scores).max(axis=-1)  # what rounding t v alone takes from the lead
            leader, rest = others(rho, scores, leaders)
            assert (rest <= eta * (1 + 1e-12 + 4 * noise) + 4 * noise).all()
            assert (leader >= 1 - eta * (1 + 1e-12 + 4 * noise) - 4 * noise - 1e-15).all()


@pytest.mark.parametrize("name", [name for name in SHARP if name not in ("hardmax", "topk:1")])
@pytest.mark.parametrize(("zeta", "eta", "m"), PROMISES)
def test_tight_means_slightly_less_fails(name: str, zeta: float, eta: float, m: int) -> None:
    rho = parse_map(name)
    t = rho.tight_t(zeta, eta, m)
    assert t is not None
    assert t <= rho.sufficient_t(zeta, eta, m) * (1 + 1e-15)
    margin = np.zeros((1, m))
    margin[0, 1:] = -zeta
    assert others(rho, margin * t * (1 + 1e-9), [0])[1] <= eta
    assert others(rho, margin * t * (1 - 1e-9), [0])[1] > eta


def test_the_paper_and_the_table() -> None:
    zeta, eta, m = 0.25, 0.01, 9
    for name, sufficient, tight in [
        ("softmax", math.log(8 * 0.99 / 0.01) / zeta, math.log(8 * 0.99 / 0.01) / zeta),
        ("topk:4", math.log(3 * 0.99 / 0.01) / zeta, math.log(3 * 0.99 / 0.01) / zeta),
        ("topk:99", math.log(8 * 0.99 / 0.01) / zeta, math.log(8 * 0.99 / 0.01) / zeta),
        ("sparsemax", 1 / zeta, (1 - eta * 9 / 8) / zeta),
        ("sparselin-gen:0.4", (1 - eta) / zeta, 0.6 * (1 - eta * 9 / 8) / zeta),
        ("entmax:1.5", 2 / zeta, 2 * (math.sqrt(1 - eta) - math.sqrt(eta / 8)) / zeta),
        ("entmax:3", 0.5 / zeta, 0.5 * ((1 - eta) ** 2 - (eta / 8) ** 2) / zeta),
    ]:
        rho = parse_map(name)
        assert rho.sufficient_t(zeta, eta, m) == pytest.approx(sufficient, rel=1e-14)
        assert rho.tight_t(zeta, eta, m) == pytest.approx(tight, rel=1e-13)
    for name, exact in [("sparsemax", 4.0), ("sparselin-gen:0.5", 2.0), ("entmax:1.5", 8.0), ("entmax:3", 2.0)]:
        assert parse_map(name).exact_t(zeta) == exact
    for name in ("softmax", "entmax:1", "topk:2", "uniform", "squared", "tanh-capped:5"):
        assert parse_map(name).exact_t(zeta) is None


@pytest.mark.parametrize("name", ["sparsemax", "sparselin-gen:0.5", "entmax:1.5", "entmax:1.25", "entmax:3"])
@pytest.mark.parametrize("zeta", [2.0**-7, 1.0, 3.0])
def test_exactly_one_hot_from_the_finite_t_on(name: str, zeta: float) -> None:
    rho = parse_map(name)
    t = rho.exact_t(zeta)
    assert t is not None
    for m in (2, 5, 300):
        scores = np.full(m, -zeta)
        scores[0] = 0
        one_hot = [1.0] + [0.0] * (m - 1)
        # t zeta is a float here only up to rounding: one ulp more is exact
        assert rho(np.nextafter(t, np.inf) * scores).tolist() == one_hot
        assert rho(1e6 * t * scores).tolist() == one_hot
        assert rho(t * (1 - 1e-3) * scores).tolist() != one_hot
        assert rho.lost_mass(t, zeta, m) == 0.0
        assert rho.lost_mass(t * (1 - 1e-15), zeta, m) > 0.0


@settings(max_examples=100)
@given(zeta=st.floats(1e-6, 1e6), alpha=st.floats(1.001, 9))
def test_exact_t_is_rounded_up(zeta: float, alpha: float) -> None:
    t = Entmax(alpha).exact_t(zeta)
    assert t is not None
    assert Fraction(t) * Fraction(zeta) * (Fraction(alpha) - 1) >= 1
    assert Fraction(math.nextafter(t, 0)) * Fraction(zeta) * (Fraction(alpha) - 1) < 1


def lost_in_sixty_digits(alpha: float, t: float, zeta: float, m: int) -> Any:
    """The others' mass where all of them lie zeta below the leader, from the definition, by bisection on tau."""
    with mpmath.workdps(60):
        lead = mpmath.mpf(t) * mpmath.mpf(zeta)
        if alpha == 1:
            return (m - 1) * mpmath.exp(-lead) / (1 + (m - 1) * mpmath.exp(-lead))
        beta = mpmath.mpf(alpha) - 1
        low, high = mpmath.mpf(-1), mpmath.mpf(0)
        for _ in range(190):
            tau = (low + high) / 2
            loser = max(-beta * lead - tau, mpmath.mpf(0)) ** (1 / beta)
            low, high = (tau, high) if (-tau) ** (1 / beta) + (m - 1) * loser >= 1 else (low, tau)
        return (m - 1) * max(-beta * lead - low, mpmath.mpf(0)) ** (1 / beta)


@pytest.mark.parametrize("alpha", [1.0, 1.125, 1.5, 2.0, 3.0])
def test_lost_mass_is_an_upper_bound_and_close(alpha: float) -> None:
    rho = Entmax(alpha)
    for zeta in (0.01, 0.5):
        for m in (2, 40):
            for share in (0.01, 0.3, 0.7, 0.97, 0.999):
                t = share * (1 / (alpha - 1) if alpha > 1 else 40.0) / zeta
                true, ours = lost_in_sixty_digits(alpha, t, zeta, m), rho.lost_mass(t, zeta, m)
                assert true <= ours <= true * (1 + 1e-9) + 1e-14


@pytest.mark.parametrize("name", SHARP)
def test_lost_mass_bounds_what_the_map_loses(name: str) -> None:
    rho = parse_map(name)
    for zeta, m in ((0.3, 2), (0.02, 17)):
        vectors, leaders = adversaries(zeta, m, 500, 9)
        vectors[:, :] -= vectors[np.arange(500), leaders][
            :, None
        ]  # offsets round t v, which is not the map's doing
        for t in (0.1 / zeta, 0.9 / zeta, 1.1 / zeta, 30 / zeta):
            lost = others(rho, vectors * t, leaders)[1]
            assert (lost <= rho.lost_mass(t, zeta, m) * (1 + 1e-12) + 4e-16).all()


@settings(max_examples=100)
@given(
    alpha=st.sampled_from([1.0, 1.0078125, 1.5, 2.0, 3.0]),
    zeta=st.floats(1e-3, 10),
    eta=st.floats(1e-9, 0.4),
    m=st.integers(2, 1000),
)
def test_lost_mass_undoes_tight_t(alpha: float, zeta: float, eta: float, m: int) -> None:
    rho = Entmax(alpha)
    t = rho.tight_t(zeta, eta, m)
    if t > 0:
        assert rho.lost_mass(t, zeta, m) == pytest.approx(eta, rel=1e-5, abs=1e-14)


def test_softmax_never_loses_nothing_and_never_more_than_all() -> None:
    assert 0 < Softmax().lost_mass(1e9, 1.0, 2) < 1e-300
    assert Softmax().lost_mass(1e-9, 1e-9, 10**9) <= 1
    assert Softmax().lost_mass(5.0, 1.0, 1) == Entmax(1.5).lost_mass(0.1, 1.0, 1) == 0.0


def test_a_loss_too_small_to_write_down_is_still_a_loss() -> None:
    zeta = 1.0
    assert 0 < Entmax(1 + 2.0**-30).lost_mass(1e4, zeta, 2) < 1e-300


def test_where_every_t_will_do() -> None:
    for name in ("softmax", "entmax:1.5", "sparsemax", "sparselin-gen:0.2", "topk:3", "hardmax"):
        rho = parse_map(name)
        assert rho.tight_t(0.5, 0.6, 2) == 0.0
        assert rho.sufficient_t(0.5, 1.0, 7) > 0
        assert rho.tight_t(0.5, 1e-9, 1) == 0.0
    assert parse_map("hardmax").tight_t(0.5, 1e-9, 9) == 0.0
    assert parse_map("hardmax").exact_t(0.5) > 0
    assert TopKSoftmax(1).tight_t(0.5, 1e-9, 100) == 0.0


def test_close_to_softmax() -> None:
    """alpha -> 1: the tight t goes to softmax's, the exact t to infinity."""
    softmax = Softmax().tight_t(0.5, 1e-3, 9)
    assert Entmax(1 + 2.0**-40).tight_t(0.5, 1e-3, 9) == pytest.approx(softmax, rel=1e-9)
    scores = np.random.default_rng(1).normal(size=(20, 8)) * 4
    np.testing.assert_allclose(Entmax(1 + 2.0**-40)(scores), Softmax()(scores), rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["uniform", "squared", "tanh-capped:5"])
def test_no_t_is_sufficient_for_the_counter_examples(name: str) -> None:
    rho = parse_map(name)
    for zeta, eta, m in PROMISES:
        assert rho.sufficient_t(zeta, eta, m) is None
        assert rho.tight_t(zeta, eta, m) is None
        assert rho.lost_mass(1e9, zeta, m) > eta
    assert rho.sufficient_t(0.5, 1.0, 3) is not None


@pytest.mark.parametrize("name", ["uniform", "tanh-capped:5"])
def test_counter_examples_keep_what_asks_for_nothing(name: str) -> None:
    assert parse_map(name).sufficient_t(0.5, 0.5, 2) is not None
    assert parse_map(name).sufficient_t(0.5, 0.5, 3) is None


@pytest.mark.parametrize(
    ("zeta", "eta", "m", "message"),
    [
        (0.0, 0.1, 2, "zeta"),
        (-1.0, 0.1, 2, "zeta"),
        (math.nan, 0.1, 2, "zeta"),
        (math.inf, 0.1, 2, "zeta"),
        (1e-300, 0.1, 2, "at least 1e-100, got 1e-300"),
        (1.0, 0.0, 2, "eta"),
        (1.0, 1.5, 2, "eta"),
        (1.0, math.nan, 2, "eta"),
        (1.0, 0.1, 0, "m, the number"),
        (1.0, 0.1, 2.5, "m, the number"),
    ],
)
@pytest.mark.parametrize("name", ["softmax", "entmax:1.5", "sparselin-gen:0.1", "uniform", "topk:2", "hardmax"])
def test_promises_that_are_none(name: str, zeta: float, eta: float, m: Any, message: str) -> None:
    rho = parse_map(name)
    for ask in (rho.sufficient_t, rho.tight_t):
        with pytest.raises(PatternError, match=message):
            ask(zeta, eta, m)


@pytest.mark.parametrize("t", [0.0, -1.0, math.nan, math.inf])
def test_no_mass_is_lost_at_no_temperature(t: float) -> None:
    for name in ("softmax", "sparsemax", "entmax:1.5", "hardmax", "uniform"):
        with pytest.raises(PatternError, match="t must be a positive number"):
            parse_map(name).lost_mass(t, 0.5, 3)


def test_a_users_function_promises_nothing() -> None:
    from theory.probability_maps import UserMap

    mine = UserMap("mine", lambda v: v)
    assert mine.sufficient_t(1, 0.1, 2) is mine.tight_t(1, 0.1, 2) is mine.exact_t(1) is None
    with pytest.raises(PatternError, match="nothing is proved of the mass that mine loses"):
        mine.lost_mass(1, 1, 2)


def test_sparsemax_is_two_entmax() -> None:
    scores = np.random.default_rng(2).normal(size=(50, 9))
    assert np.array_equal(Sparsemax()(scores), Entmax(2.0)(scores))
