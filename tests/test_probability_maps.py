"""The probability maps against other implementations and against their definitions."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from itertools import combinations
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from theory.connections import PatternError
from theory.probability_maps import (
    MAPS,
    PARAMETRIC,
    Entmax,
    Hardmax,
    ProbabilityMap,
    Softmax,
    SparselinGen,
    Sparsemax,
    TanhCappedSoftmax,
    TopKSoftmax,
    Uniform,
    UserMap,
    parse_map,
)
from theory.probability_maps.along import Along
from theory.probability_maps.base import ShiftInvariantMap

SHARP = [
    "softmax",
    "topk:3",
    "sparsemax",
    "sparselin-gen:0.3",
    "entmax:1.2",
    "entmax:1.5",
    "entmax:2.5",
    "hardmax",
]
EVERY = [*SHARP, "entmax:1", "entmax:2", "entmax:1.0001", "entmax:4", "uniform", "squared", "tanh-capped:5"]


def draws(m: int, scale: float, count: int = 40, seed: int = 0) -> Any:
    return np.random.default_rng([seed, m]).normal(size=(count, m)) * scale


@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("m", [2, 5, 60])
def test_the_entmax_package_agrees_to_1e_12(m: int, scale: float) -> None:
    torch = pytest.importorskip("torch")
    package = pytest.importorskip("entmax")
    scores = draws(m, scale)
    tensor = torch.from_numpy(scores)
    pairs = [
        (Softmax(), torch.softmax(tensor, dim=-1)),
        (Sparsemax(), package.sparsemax(tensor)),
        (Entmax(1.5), package.entmax15(tensor)),
        *((Entmax(a), package.entmax_bisect(tensor, alpha=a, n_iter=100)) for a in (1.05, 1.3, 1.5, 1.8, 2.0)),
    ]
    for rho, theirs in pairs:
        np.testing.assert_allclose(rho(scores), theirs.numpy(), rtol=0, atol=1e-12, err_msg=rho.name)


def exact_entmax(scores: Any, alpha: float) -> list[float]:
    """alpha-entmax in 60 digits, by bisection on tau: the definition, and nothing of ours."""
    with mpmath.workdps(60):
        beta = mpmath.mpf(alpha) - 1
        scaled = [beta * mpmath.mpf(float(score)) for score in scores]
        low, high = max(scaled) - 1, max(scaled)

        def weights(tau: Any) -> list[Any]:
            return [(max(s - tau, mpmath.mpf(0))) ** (1 / beta) for s in scaled]

        for _ in range(190):
            middle = (low + high) / 2
            low, high = (middle, high) if sum(weights(middle)) >= 1 else (low, middle)
        return [float(weight) for weight in weights(low)]


@pytest.mark.parametrize("alpha", [1.0625, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 9.0])
def test_sixty_digits_agree_to_1e_12(alpha: float) -> None:
    for m, scale in ((2, 0.3), (4, 1.0), (9, 5.0), (30, 0.02)):
        for scores in draws(m, scale, count=3, seed=7):
            ours = Entmax(alpha)(scores)
            np.testing.assert_allclose(ours, exact_entmax(scores, alpha), rtol=0, atol=1e-12)


def exact_quadratic_program(scores: Any, weight: float) -> Any:
    """The p of the simplex with the least |p - v|^2 - w |p|^2, in exact fractions.

    The objective is strictly convex, so p is the one that meets the Karush-Kuhn-Tucker conditions: on its support
    (1 - w) p_i = v_i - tau > 0, and v_i <= tau off it. Every support is tried.
    """
    v, rest = [Fraction(float(score)) for score in scores], 1 - Fraction(weight)
    for size in range(1, len(v) + 1):
        for support in map(set, combinations(range(len(v)), size)):
            tau = (sum(v[i] for i in support) - rest) / size
            if all((v[i] > tau) == (i in support) for i in range(len(v))):
                return np.array([float((v[i] - tau) / rest) if i in support else 0.0 for i in range(len(v))])
    raise AssertionError(scores)


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.9])
def test_the_quadratic_programs_agree_to_1e_12(weight: float) -> None:
    """Exact answers to the definitions of sparsemax and sparselin-gen."""
    rho = SparselinGen(weight)
    for m in (2, 4, 7):
        for scores in draws(m, 0.5, count=10, seed=3):
            np.testing.assert_allclose(rho(scores), exact_quadratic_program(scores, weight), rtol=0, atol=1e-12)


@settings(max_examples=60)
@given(
    scores=arrays(np.float64, st.integers(2, 12), elements=st.floats(-20, 20)),
    alpha=st.floats(1.01, 6.0),
)
def test_entmax_solves_its_definition(scores: Any, alpha: float) -> None:
    """The duality gap max_j g_j - p.g of the concave p.v + H_alpha(p) bounds what is left to gain."""
    p = Entmax(alpha)(scores)
    gradient = scores + (1 - alpha * p ** (alpha - 1)) / (alpha * (alpha - 1))
    assert gradient.max() - p @ gradient <= 1e-12 * (1 + abs(scores).max())
    assert abs(p.sum() - 1) <= 1e-14
    assert p.min() >= 0


def test_a_wrong_map_fails_that_definition() -> None:
    scores = np.array([0.0, 0.3, 0.5])
    p = Entmax(1.5)(scores)
    gradient = scores + (1 - 1.6 * p**0.6) / (1.6 * 0.6)
    assert gradient.max() - p @ gradient > 1e-3


@pytest.mark.parametrize("namespace", ["numpy", "array_api_strict", "torch"])
@pytest.mark.parametrize("name", EVERY)
def test_every_array_library_gives_the_same(name: str, namespace: str) -> None:
    xp = pytest.importorskip(namespace)
    rho = parse_map(name)
    scores = draws(6, 2.0, count=8).reshape(2, 6, 4)
    array = xp.asarray(scores)
    for axis in (1, -1):
        given_back = rho(array, axis=axis)
        assert type(given_back) is type(array)
        assert given_back.dtype == array.dtype
        np.testing.assert_allclose(np.asarray(given_back), rho(scores, axis=axis), rtol=0, atol=1e-14)
    single = rho(xp.asarray(scores, dtype=xp.float32))
    assert single.dtype == xp.float32
    np.testing.assert_allclose(np.asarray(single), rho(scores), rtol=0, atol=2e-5)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_along_an_axis_every_vector_is_by_itself(name: str, axis: int) -> None:
    rho = parse_map(name)
    scores = np.random.default_rng(5).normal(size=(4, 30, 3)) * 3
    together = rho(scores, axis=axis)
    assert together.shape == scores.shape
    vectors, weights = (
        np.moveaxis(array, axis, -1).reshape(-1, scores.shape[axis]) for array in (scores, together)
    )
    for vector, row in zip(vectors, weights, strict=True):
        np.testing.assert_allclose(row, rho(vector), rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", EVERY)
def test_what_sees_only_gaps_may_be_given_the_gaps(name: str) -> None:
    """rho[v + c 1] = rho[v] for all maps but two; and sum p_j x_j is what it says."""
    rho, scores = parse_map(name), draws(6, 2.0, count=20)
    invariant = name not in ("squared", "tanh-capped:5", "topk:3", "uniform")
    moved = rho(scores + 2.0)
    assert np.allclose(moved, rho(scores), rtol=0, atol=1e-13) is (name not in ("squared", "tanh-capped:5"))
    assert isinstance(rho, ShiftInvariantMap) is invariant
    if isinstance(rho, ShiftInvariantMap):
        below, along = scores - scores.max(axis=-1, keepdims=True), Along(np, -1)
        values = draws(6, 5.0, count=20, seed=9)
        np.testing.assert_allclose(rho.weights_below(below, along), rho(scores), rtol=0, atol=1e-15)
        mean = (rho(scores) * values).sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(rho.mean_below(below, values, along), mean, rtol=0, atol=1e-13)


@pytest.mark.parametrize("namespace", ["numpy", "array_api_strict", "torch"])
def test_a_users_map_along_an_axis(namespace: str) -> None:
    xp = pytest.importorskip(namespace)
    mine = UserMap("mine", lambda v: np.exp(v - v.max()) / np.exp(v - v.max()).sum())
    scores = draws(6, 1.0, count=2)
    for axis in (0, -1):
        given_back = mine(xp.asarray(scores), axis=axis)
        assert type(given_back) is type(xp.asarray(scores))
        np.testing.assert_allclose(np.asarray(given_back), Softmax()(scores, axis=axis), rtol=0, atol=1e-15)
    assert mine(xp.asarray(scores, dtype=xp.float32)).dtype == xp.float32


def test_a_users_map_that_gives_no_numbers_is_refused() -> None:
    mine = UserMap("mine", lambda v: v / 0)
    for scores in (np.ones(2), np.ones((2, 3))):
        with pytest.raises(PatternError, match=r"map mine returned \[inf, inf\] for the scores"):
            mine(scores, axis=0)


@pytest.mark.parametrize("rho", [Softmax(), TopKSoftmax(800)])
def test_weights_end_at_the_normal_numbers(rho: Any) -> None:
    """Numbers below would be slow to compute with, and are nothing next to the leader's weight."""
    scores = -np.arange(800.0)
    weights = rho(scores)
    seen = weights > 0
    assert weights[seen].min() >= np.finfo(np.float64).smallest_normal
    np.testing.assert_allclose(weights[seen], (1 - np.exp(-1)) * np.exp(scores[seen]), rtol=1e-13)
    assert weights[seen].min() < 1e-300
    assert not seen[710:].any()


@pytest.mark.parametrize("name", EVERY)
def test_huge_scores_do_no_harm(name: str) -> None:
    """Up to +-1e300, differences beyond that, and shifts: nothing overflows, and NumPy would warn."""
    rho = parse_map(name)
    for scores in ([1e300, -1e300, 0.0], [-1e300, -1e300 + 1e290, -1e299], [1e-300, 0.0, -1e300]):
        weights = rho(np.array(scores))
        assert abs(weights.sum() - 1) < 1e-15
        assert weights.min() >= 0
        if name in SHARP:
            lead = max(scores) - sorted(scores)[-2]
            assert lead < 1 or weights.tolist() == [float(v == max(scores)) for v in scores]


@pytest.mark.parametrize("name", SHARP)
def test_masked_scores_get_nothing_and_nan_is_refused(name: str) -> None:
    rho = parse_map(name)
    masked = rho(np.array([0.5, -np.inf, 0.0, -np.inf]))
    np.testing.assert_allclose(masked[[0, 2]], rho(np.array([0.5, 0.0])), rtol=0, atol=1e-15)
    assert masked[[1, 3]].tolist() == [0.0, 0.0]
    for bad in ([0.0, np.nan], [np.inf, 0.0], [-np.inf, -np.inf]):
        with pytest.raises(PatternError, match="below infinity"):
            rho(np.array(bad))
    with pytest.raises(PatternError, match="real numbers, got complex128"):
        rho(np.array([1j, 0.0]))


def test_lists_and_integers_are_read_as_float64() -> None:
    assert Sparsemax()([0, 2]).tolist() == [0.0, 1.0]
    assert Softmax()(np.array([3, 3])).tolist() == [0.5, 0.5]


def test_ties() -> None:
    for row in ([1.0, 1.0], [[0.0, 1.0], [2.0, 2.0]]):
        with pytest.raises(PatternError, match="not defined on a tie: 2 scores"):
            Hardmax()(np.array(row))
    with pytest.raises(PatternError, match="not defined on a tie"):
        Hardmax()(np.array([[0.0, 1.0], [5.0, 1.0]]), axis=0)
    assert Hardmax()(np.array([1.0, 1.0, 2.0])).tolist() == [0.0, 0.0, 1.0]
    kept = TopKSoftmax(2)(np.array([1.0, 2.0, 1.0, 1.0]))
    assert (kept > 0).tolist() == [True, True, False, False]
    for rho in (Entmax(1.5), Entmax(3.0), Sparsemax(), Softmax()):
        np.testing.assert_allclose(rho(np.full(7, 3.5)), np.full(7, 1 / 7), rtol=0, atol=1e-15)


def test_names_are_read_back() -> None:
    maps = [*MAPS.values(), *(make(example.partition(":")[2]) for example, make in PARAMETRIC.values())]
    for rho in maps:
        assert isinstance(rho, ProbabilityMap)
        assert parse_map(rho.name) == rho
        assert rho.definition
        assert rho.source


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("softmx", "no map is called 'softmx': softmax, "),
        ("softmax:2", "softmax takes no parameter"),
        ("topk:2.5", "topk needs a number, as in topk:4"),
        ("topk:0", "integer k >= 1"),
        ("entmax:0.9", "alpha >= 1, got 0.9"),
        ("entmax:nan", "alpha >= 1, got nan"),
        ("sparselin-gen:1", r"lambda in \[0, 1\)"),
        ("tanh-capped:-1", "cap > 0"),
        ("no_such_module:f", "no module is called 'no_such_module'"),
        ("math:nothing", "has no 'nothing'"),
        ("softmax:mine", "no module is called 'softmax'"),
        ("topk:my.own", "no module is called 'topk'"),
        ("math:pi", "is a float, not a callable"),
    ],
)
def test_bad_names(spec: str, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        parse_map(spec)


def test_sparsemax_has_no_other_lambda() -> None:
    with pytest.raises(PatternError, match=r"that is sparselin-gen:0\.5"):
        Sparsemax(0.5)


def test_the_counter_examples_do_what_they_say() -> None:
    assert Uniform()(np.zeros((2, 4))).tolist() == [[0.25] * 4] * 2
    assert parse_map("squared")(np.array([1.0, -3.0])).round(15).tolist() == [0.1, 0.9]
    assert parse_map("squared")(np.zeros(4)).tolist() == [0.25] * 4
    capped = TanhCappedSoftmax(2.0)(np.array([1e9, -1e9]))
    np.testing.assert_allclose(capped[0], 1 / (1 + np.exp(-4)), rtol=1e-15)


def test_nothing_heavy_is_loaded() -> None:
    code = (
        "import sys, theory.probability_maps, theory.assumption_2;"
        "heavy = ('torch', 'scipy', 'sympy', 'matplotlib', 'networkx', 'entmax');"
        "print([name for name in heavy if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert run.stdout.strip() == "[]"
