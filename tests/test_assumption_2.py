"""check_assumption_2 on maps that are known, on the user's own, and on what is no probability map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from theory.adversarial_vectors import adversarial_vectors
from theory.assumption_2 import check_assumption_2
from theory.connections import PatternError
from theory.probability_maps import Softmax, parse_map
from theory.verdicts import Answer

SHARP = [
    *("softmax", "topk:2", "sparsemax", "sparselin-gen:0.3"),
    *("entmax:1", "entmax:1.1", "entmax:1.5", "entmax:2.5"),
]
PROMISES = [(0.5, 1e-3, 2), (0.02, 1e-6, 9), (30.0, 0.2, 5)]


@pytest.mark.parametrize("name", SHARP)
@pytest.mark.parametrize(("zeta", "eta", "m"), PROMISES)
def test_the_search_finds_the_tight_t(name: str, zeta: float, eta: float, m: int) -> None:
    result = check_assumption_2(parse_map(name), zeta, eta, m)
    assert (result.answer, result.proved) == (Answer.HOLDS, True)
    assert result.t_found == pytest.approx(result.t_tight, rel=1e-6)
    assert result.t_tight <= result.t_sufficient * (1 + 1e-15)
    assert result.leader_weight == pytest.approx(1 - eta, abs=1e-3 * eta)
    first, second = sorted(result.worst_vector)[-1:-3:-1]
    assert first - second == pytest.approx(zeta, rel=1e-9)


@pytest.mark.parametrize("name", ["uniform", "squared", "tanh-capped:5", "tanh-capped:50"])
@pytest.mark.parametrize(("zeta", "eta", "m"), PROMISES)
def test_the_counter_examples_are_recognised(name: str, zeta: float, eta: float, m: int) -> None:
    for rho in (parse_map(name), parse_map(name).__call__):
        result = check_assumption_2(rho, zeta, eta, m)
        assert result.answer is Answer.FAILS
        assert result.holds is False
        assert result.proved is (rho is parse_map(name) or rho == parse_map(name))
        assert result.t_sufficient is result.t_tight is result.t_found is None
        assert result.leader_weight < 1 - eta
        again = np.asarray(parse_map(name)(result.worst_t * np.array(result.worst_vector)))
        assert again[np.argmax(result.worst_vector)] < 1 - eta


def test_hardmax_needs_no_t() -> None:
    result = check_assumption_2(parse_map("hardmax"), 0.1, 1e-9, 4)
    assert result.holds
    assert result.t_found < 1e-6


def test_a_cap_beyond_every_vector_tried_is_still_refuted_by_formula() -> None:
    result = check_assumption_2(parse_map("tanh-capped:1e12"), 0.5, 0.1, 3)
    assert (result.holds, result.proved, result.t_found) == (False, True, None)
    assert "the vectors tried do not show it" in result.why


def softmax(v: Any) -> Any:
    e = np.exp(v - v.max())
    return e / e.sum()


@pytest.mark.parametrize("slow", [1.0, 1e15])
def test_a_users_softmax(slow: float) -> None:
    """However slowly it sharpens: the way up is in powers of two of powers of two."""
    result = check_assumption_2(lambda v: softmax(v / slow), 0.5, 1e-3, 6)
    assert (result.answer, result.proved, result.t_sufficient) == (Answer.HOLDS, False, None)
    assert result.t_found == pytest.approx(slow * Softmax().tight_t(0.5, 1e-3, 6), rel=1e-6)
    assert "no proof" in result.why


def test_a_users_map_in_pytorch() -> None:
    torch = pytest.importorskip("torch")
    result = check_assumption_2(lambda v: torch.softmax(v, dim=-1), 0.5, 1e-3, 6)
    assert result.t_found == pytest.approx(Softmax().tight_t(0.5, 1e-3, 6), rel=1e-6)


def test_the_entmax_package_itself() -> None:
    pytest.importorskip("torch")
    entmax = pytest.importorskip("entmax")
    result = check_assumption_2(lambda v: entmax.entmax15(v, dim=-1), 0.5, 1e-3, 6)
    assert result.t_found == pytest.approx(parse_map("entmax:1.5").tight_t(0.5, 1e-3, 6), rel=1e-6)


@pytest.mark.parametrize(
    ("rho", "why"),
    [
        (lambda v: softmax(v) * 0.5, "sum to 0.5"),
        (lambda v: np.where(v == v.max(), 1.5, -0.5 / (v.size - 1)), "the least is -0.1"),
        (lambda v: softmax(v) if abs(v).max() < 1e6 else np.zeros(v.size), "sum to 0"),
    ],
)
def test_what_is_no_probability_map_is_refuted_by_one_vector(rho: Any, why: str) -> None:
    result = check_assumption_2(rho, 0.5, 1e-3, 6)
    assert (result.answer, result.proved, result.t_found) == (Answer.FAILS, True, None)
    assert why in result.why
    weights = rho(result.worst_t * np.array(result.worst_vector))
    assert abs(weights.sum() - 1) > 1e-9 or weights.min() < 0


def test_an_overflow_decides_nothing() -> None:
    """exp without a shift is softmax, but NaN on large scores: neither yes nor no, and the remedy is named."""
    result = check_assumption_2(lambda v: np.exp(v) / np.exp(v).sum(), 0.5, 1e-3, 6)
    assert (result.answer, result.holds, result.t_found) == (Answer.UNDECIDED, None, None)
    assert "returned [nan, " in result.why
    assert "large scores" in result.why


def test_an_overflow_of_what_fails_anyway_is_a_failure() -> None:
    result = check_assumption_2(lambda v: v**10 / (v**10).sum(), 0.5, 1e-3, 6)
    assert (result.answer, result.proved) == (Answer.FAILS, False)


def test_an_exception_on_large_scores_decides_nothing() -> None:
    def shy(v: Any) -> Any:
        if abs(v).max() > 1e5:
            raise OverflowError("too large for me")
        return softmax(v)

    result = check_assumption_2(shy, 0.5, 1e-3, 6)
    assert result.answer is Answer.UNDECIDED
    assert "OverflowError: too large for me" in result.why


@pytest.mark.parametrize(
    ("rho", "message"),
    [
        (lambda v: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda v: v[:1], r"returned shape \(1,\) for scores of shape \(4,\)"),
        (lambda v: softmax(v).astype(np.float32), "keep their precision"),
        (lambda v: v * np.nan, "returned .nan, nan"),
        (lambda v: ["a"] * 4, "returned <U1"),
        (lambda v: None, r"returned shape \(\)"),
        (lambda: 0, "TypeError"),
    ],
)
def test_maps_that_cannot_be_run_at_all_are_bad_input(rho: Any, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        check_assumption_2(rho, 0.5, 1e-3, 4)


def test_the_users_map_may_write_into_its_scores() -> None:
    def rude(v: Any) -> Any:
        v -= v.max()
        return softmax(v)

    assert check_assumption_2(rude, 0.5, 1e-3, 4).holds


def test_another_vector_may_be_the_worst() -> None:
    """Where large scores sharpen 1.3 times more slowly, the t of small scores is not enough."""
    result = check_assumption_2(lambda v: softmax(v / (1.3 if v.max() > 1e4 else 1)), 0.5, 1e-3, 6)
    assert result.t_found == pytest.approx(1.3 * Softmax().tight_t(0.5, 1e-3, 6), rel=1e-6)
    assert max(result.worst_vector) == 1e6


def test_t_max_ends_the_search_undecided() -> None:
    tight = Softmax().tight_t(0.5, 1e-3, 6)
    for t_max, answer in ((0.01, Answer.UNDECIDED), (0.9 * tight, Answer.UNDECIDED), (1.01 * tight, Answer.HOLDS)):
        result = check_assumption_2(softmax, 0.5, 1e-3, 6, t_max=t_max)
        assert result.answer is answer
    assert check_assumption_2(Softmax(), 0.5, 1e-3, 6, t_max=1.0).proved
    for bad in (0.0, -1.0, float("nan")):
        with pytest.raises(PatternError, match="t_max"):
            check_assumption_2(softmax, 0.5, 1e-3, 6, t_max=bad)


@dataclass(frozen=True)
class Boaster:
    """A user's map with a formula that promises too much."""

    factor: float
    name = "boaster"
    definition = "softmax"
    source = "a test"
    proved = True

    def __call__(self, scores: Any, *, axis: int = -1) -> Any:
        return Softmax()(scores, axis=axis)

    def sufficient_t(self, zeta: float, eta: float, m: int) -> float:
        return self.factor * Softmax().tight_t(zeta, eta, m)

    def tight_t(self, zeta: float, eta: float, m: int) -> None:
        return None

    def exact_t(self, zeta: float) -> None:
        return None

    def lost_mass(self, t: float, zeta: float, m: int) -> float:
        return Softmax().lost_mass(t, zeta, m)


def test_a_formula_that_promises_too_much_is_refuted() -> None:
    honest = check_assumption_2(Boaster(1.0), 0.5, 1e-3, 6)
    assert (honest.answer, honest.proved) == (Answer.HOLDS, True)
    result = check_assumption_2(Boaster(0.99), 0.5, 1e-3, 6)
    assert result.proved is False
    assert "its formula's t is refuted: at t = " in result.why
    assert result.t_found == pytest.approx(Softmax().tight_t(0.5, 1e-3, 6), rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 0.1, 3), "zeta"),
        ((1e200, 0.1, 3), "zeta is larger than"),
        ((0.5, 0.0, 3), "eta"),
        ((0.5, 0.1, 1), "needs a leader and a competitor"),
        ((0.5, 0.1, 2.5), "m, the number"),
    ],
)
def test_bad_promises(arguments: Any, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        check_assumption_2(Softmax(), *arguments)


@pytest.mark.parametrize("m", [2, 3, 10])
@pytest.mark.parametrize("zeta", [1e-3, 0.7, 50.0])
def test_the_vectors_are_what_they_are_called(m: int, zeta: float) -> None:
    vectors = adversarial_vectors(zeta, m)
    seen = set()
    for vector in vectors:
        for t in (1e-3, 1.0, 1e40):
            scores = vector.scaled(t, zeta)
            rest = np.delete(scores, vector.leader)
            assert scores[vector.leader] - rest.max() >= t * zeta * (1 - 1e-15)
            assert np.isfinite(scores).all()
        tight = abs(np.delete(vector.leads, vector.leader) - 1) < 1e-12
        if "one competitor" in vector.kind:
            assert 1 <= tight.sum() <= 2
        if "all competitors" in vector.kind:
            assert tight.all()
        seen.add((vector.kind, vector.offset))
    assert len(seen) == len(vectors)
    assert {0.0, 1e6, -1e6} <= {vector.offset for vector in vectors}
    assert {0, m - 1} <= {vector.leader for vector in vectors}


def test_each_kind_of_vector_catches_a_map_that_the_plainest_does_not() -> None:
    """A map that is sharp but where a loser ties, one lies far below, or all are large."""

    def blind_when(flaw: Any) -> Any:
        return lambda v: np.full(v.size, 1 / v.size) if flaw(np.sort(v)) else softmax(v)

    flaws = [
        lambda v: v[0] == v[1] != v[-2],  # ties among the losers
        lambda v: v[-2] - v[0] > 100 * (v[-1] - v[-2]),  # one close, the rest far below
        lambda v: v[0] > 1e5 * (v[-1] - v[0]),  # a large common offset
        lambda v: v[-1] < 0,  # negative
        lambda v: v[-1] > 0 == v[0],  # the competitors exactly at 0
    ]
    for flaw in flaws:
        assert check_assumption_2(blind_when(flaw), 0.5, 1e-3, 9).answer is Answer.FAILS
    assert check_assumption_2(blind_when(lambda v: False), 0.5, 1e-3, 9).answer is Answer.HOLDS
