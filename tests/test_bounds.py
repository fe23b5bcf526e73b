"""One layer's error by hand, the recursion against the formulas of §8, and what makes a bound infinite."""

from __future__ import annotations

import math

import numpy as np
import pytest

from constructions.error_budget import Budgets
from constructions.relay import build_relay
from theory.bounds import LARGEST_ERROR, ErrorBudget, LayerBudget, formulas, recursion
from theory.families import ring
from theory.layer_errors import AffineRanges, AttentionRanges, HeadRanges, Relaxation
from theory.probability_maps import Hardmax, Sparsemax, UserMap, parse_map

SOFTMAX = parse_map("softmax")


def _attention(*heads: HeadRanges, selected: bool, factor: float = 4.0, size: int = 3) -> AttentionRanges:
    """One query, token 0 of two, in a row of `size` numbers with range 10."""
    place = np.array([0])
    return AttentionRanges(
        source=place,
        target=place,
        tokens=place,
        sizes=np.array([size]),
        spread=np.array([10.0]),
        largest=np.array([20.0]),
        least=np.array([30.0]),
        after=np.array([50.0]),
        factor=factor,
        heads=heads,
        selected=np.array([selected]),
    )


def _head(leader: int, distance: float = 0.5, lead: float = 1.0) -> HeadRanges:
    return HeadRanges(np.array([distance]), np.array([lead]), np.array([leader]))


def _step(ranges: AttentionRanges | AffineRanges, errors: list[float], t: float, **options: bool) -> float:
    relaxation = Relaxation(SOFTMAX, t, 0.5, **{"rounding": False, **options})
    after, _, _ = ranges.advance(np.array([*errors, 0.0, 0.0]), relaxation)
    return float(after[0])


def _eta(t: float, distance: float, lead: float) -> float:
    """What softmax of three scores loses at this gap, from its definition."""
    odds = 2 * math.exp(-t * 0.25 * distance * lead)
    return odds / (1 + odds)


def test_every_formula_once() -> None:
    """With e_0 = 0.01 and e_1 = 0.03; greatest error 0.03."""
    errors, t, c = [0.01, 0.03], 60.0, 4.0
    spread = 10 + 2 * 0.03
    eta_one, eta_own, eta_any = (_eta(t, 0.5 - 0.01, 1 - e - 0.03) for e in (0.03, 0.01, 0.03))

    other = _step(_attention(_head(1), _head(1), selected=False), errors, t)
    assert other == pytest.approx(0.01 + c * eta_one * spread)
    least = _step(_attention(_head(1), _head(0), selected=True), errors, t)
    assert least == pytest.approx(3 * 0.01 + c * 0.03 + c * (eta_one + eta_own) * spread)
    selected = _step(_attention(_head(1), _head(-1), selected=True), errors, t)
    assert selected == pytest.approx(0.01 + c * (0.03 + 0.03) + c * (eta_one + eta_any) * spread)
    all_max = _step(_attention(_head(1, distance=7.0), selected=False), errors, t)
    assert all_max == pytest.approx(0.01 + c * 0.03, rel=1e-9)  # the gap is wide: nothing is lost


def test_two_heads_with_unequal_gaps_count_the_worse_one() -> None:
    near, far = _head(1, distance=0.5), _head(1, distance=3.0)
    once = _step(_attention(near, near, selected=False), [0.0, 0.0], 60.0)
    assert _step(_attention(near, far, selected=False), [0.0, 0.0], 60.0) == once
    assert once == pytest.approx(4 * _eta(60.0, 0.5, 1.0) * 10)


def test_affine_layers_scale_the_error() -> None:
    inside = np.array([True, False])
    ranges = AffineRanges(inside, np.zeros(2, dtype=bool), 2.5, 8.0, np.array([30.0, 5.0]), np.array([30.0, 5.0]))
    after, zeta, eta = ranges.advance(np.array([0.02, 0.05, 0, 0]), Relaxation(SOFTMAX, 1.0, 0.5, rounding=False))
    assert after == pytest.approx([0.05, 0.05, 0, 0])
    assert (zeta, eta) == (math.inf, 0.0)


def test_affine_layers_are_rounded() -> None:
    """By units of 2^-53 of the slot and of the result; never by more than 15 times the error."""
    every = np.ones(1, dtype=bool)
    ranges = AffineRanges(every, ~every, 3.0, 100.0, np.array([1.0]), np.array([400.0]))
    for error, rounding in ((0.01, 2.0**-53 * 1300), (1e-16, 15 * 3e-16), (0.0, 0.0)):
        after, _, _ = ranges.advance(np.array([error, 0.0]), Relaxation(SOFTMAX, 1.0, 0.5))
        assert after[0] - 3 * error == pytest.approx(rounding, rel=0.02, abs=1e-30)


def test_the_formulas_cover_the_recursion() -> None:
    """The displayed formulas, with one e and one eta for all, are never below what the recursion computes."""
    shown = formulas()
    e, t = 0.02, 70.0
    values = {"e": e, "R": 10 + 2 * e, "c": 4, "a": 2.5, "delta": 0.5}
    values["eta"] = _eta(t, 1.0, float(shown["score gap"].subs(values)) * 4)

    def displayed(name: str) -> float:
        return float(shown[name].subs(values))

    errors = [e, e]
    for name, ranges in (
        ("other columns", _attention(_head(1), _head(1), selected=False)),
        ("selected column", _attention(_head(1), _head(-1), selected=True)),
        ("selected column, least of its row", _attention(_head(1), _head(0), selected=True)),
        ("all-max-shift", _attention(_head(1), selected=False)),
    ):
        assert _step(ranges, errors, t) == pytest.approx(displayed(name))
    assert str(shown["score gap, e = 1/8"]) == "9*delta**2/32"
    assert displayed("selected column, least of its row") < displayed("selected column")
    assert displayed("affine map") == 2.5 * e


def test_rounding_is_added_where_numbers_are_no_integers() -> None:
    """A selected column: some units of 2^-53 of the range and of the result; nothing where all is exact."""
    ranges = _attention(_head(1), _head(0), selected=True)
    exact, rounded = (_step(ranges, [0.01, 0.03], 1e4, rounding=on) for on in (False, True))
    assert 50 * 2.0**-53 < rounded - exact < 2000 * 2.0**-53
    relaxation = Relaxation(Sparsemax(), 1e4, 0.5)
    assert not ranges.advance(np.zeros(4), relaxation)[0].any()


def test_an_error_below_a_quarter_of_the_last_place_is_rounded_away() -> None:
    """The result is at least 30, so floats near it are 30 2^-53 apart at least."""
    ranges = _attention(_head(1), _head(1), selected=False)
    for error, kept in ((29 * 2.0**-55, 0.0), (31 * 2.0**-55, 31 * 2.0**-55)):
        assert _step(ranges, [error, 0.0], 1e6, rounding=True) == pytest.approx(kept)
        assert _step(ranges, [error, 0.0], 1e6, rounding=False) == pytest.approx(error)


def test_score_gaps_shrink_with_the_size_of_the_numbers() -> None:
    """Scores of numbers near 2^52 are a few units apart at best: rounding may close a gap of one."""
    wide = _attention(_head(1), _head(1), selected=False)
    object.__setattr__(wide, "largest", np.array([2.0**52]))
    relaxation = Relaxation(Sparsemax(), 1e6, 0.5)
    assert wide.advance(np.zeros(4), relaxation)[2] == 1.0
    assert _attention(_head(1), _head(1), selected=False).advance(np.zeros(4), relaxation)[2] == 0.0


def test_rows_of_one_key_lose_nothing() -> None:
    lonely = _attention(_head(0), _head(0), selected=False, size=1)
    after, zeta, eta = lonely.advance(np.array([0.1, 0, 0, 0]), Relaxation(parse_map("uniform"), 1.0, 0.5))
    assert after[0] == pytest.approx(0.1)
    assert (zeta, eta) == (math.inf, 0.0)


def test_the_recursion_stops_beyond_an_eighth() -> None:
    steps = [("first", _attention(_head(1), _head(0), selected=True))] * 2
    small = recursion(steps, 2, Relaxation(SOFTMAX, 200.0, 0.5))
    assert small.valid
    assert small.bound == small.layers[-1].error < LARGEST_ERROR
    assert small.bound_real == small.bound / 2
    large = recursion(steps, 2, Relaxation(SOFTMAX, 20.0, 0.5))
    assert not large.valid
    assert large.bound == math.inf
    assert large.broken is not None
    assert (large.broken.stage, large.broken.number, len(large.layers)) == ("first", 1, 1)
    assert large.why == "no bound at t = 20: before layer 1 (first) the error can pass delta/8"


def test_zeta_and_eta_of_a_budget() -> None:
    layers = (
        LayerBudget("a", 0, 0.1, 3.0, 0.2),
        LayerBudget("b", 1, 0.2, 2.0, 0.0),
        LayerBudget("a", 2, 0.1, 4.0, 0.1),
    )
    budget = ErrorBudget(1.0, 0.5, layers)
    assert budget.zeta == 2.0
    assert budget.eta == {"a": 0.2, "b": 0.0}
    assert "within 0.1 delta" in budget.why
    assert ErrorBudget(1.0, 0.5, ()).bound == 0.0


def test_coarse_gaps_are_rounded_down() -> None:
    """A wide gap is computed for the next smaller power of two, so the mass is never too small."""
    leads = np.array([0.3, 4.0, 5.0, 63.9, 1e9])
    relaxation = Relaxation(SOFTMAX, 1.0, 0.5, rounding=False)
    masses = relaxation.lost(leads, np.full(5, 3))
    exact = [SOFTMAX.lost_mass(1.0, lead / 4, 3) for lead in leads]
    assert np.all(masses >= exact)
    assert masses[:2].tolist() == exact[:2]
    assert relaxation.lost(np.array([0.0, -0.0]), np.array([2, 9])).tolist() == [1.0, 1.0]


def test_hardmax_loses_nothing() -> None:
    assert Relaxation(Hardmax(), 1.0, 0.5).lost(np.array([0.1, 1.0]), np.array([2, 3])).tolist() == [0.0, 0.0]


def test_nothing_is_claimed_of_a_map_that_nobody_knows() -> None:
    """A callable may return anything: neither weights that sum to 1 nor a lost mass below 1 is proved of it."""
    mapping = build_relay(ring(3), 1, 2)
    budgets = Budgets(mapping)
    mine = UserMap("mine", lambda v: np.ones(v.size) / v.size)
    found = budgets.at(mine, 1e9)
    assert (found.valid, found.bound, found.eta) == (False, float("inf"), {})
    assert found.why == "no bound: nothing is proved of the mass that mine loses"
    assert budgets.guaranteed_t(mine) is None
    assert budgets.guaranteed_t(SOFTMAX) is not None
