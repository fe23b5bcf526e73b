"""A measured value above its rigorous bound is a failure, said in words; bounds are printed rounded up."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.network import Network, build_network, choose_mapping
from constructions.relay_absorb import Absorb
from constructions.targets import TARGETS, Target
from constructions.value_mapping import build_value_mapping
from figures import error_against_t
from sparseuap.cli import main
from sparseuap.error_report import as_json, as_text
from sparseuap.report_tables import error_part
from theory.bounds import ErrorBudget, LayerBudget
from theory.families import parse_family
from theory.probability_maps import parse_map
from theory.wording import name_lower, name_upper
from verify.error_study import ErrorStudy, study_error
from verify.lp_bound import relaxation_bound
from verify.lp_check import measuring_error
from verify.lp_error import ErrorMeter
from verify.lp_strata import Plan

STAR = ("star:n=4,w=1", "--d", "1", "--delta", "1/2", "--target", "sort", "--construction", "relay")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as stop:
        main(["error", *STAR, *arguments])
    return int(stop.value.code or 0), capsys.readouterr().out


RIGHT_SHIFT: Any = vars(Absorb)["shift"].fget


def test_a_broken_relay_is_found_out(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The fused ids are right, so is d_p(fbar, gbar): the relaxed network runs the blocks."""
    assert run(capsys, "--t", "30")[0] == 0
    monkeypatch.setattr(Absorb, "shift", property(lambda step: replace(RIGHT_SHIFT(step), factor=3)))
    code, out = run(capsys, "--t", "30")
    assert code == 1
    assert "FAILS: the blocks that are relaxed do not give the ids of gbar: " in out
    assert re.search(r"FAILS: t = 30: d_p\(gbar, g\) on good inputs is \d+.*, above its rigorous bound 0\.0", out)
    assert re.search(r"FAILS: t = 30: an id is \d.* delta off, above its rigorous bound", out)
    assert out.rstrip().endswith("The measurement CONTRADICTS the proof on this case.")
    code, out = run(capsys, "--t", "30", "--json")
    data = json.loads(out)
    assert (code, data["holds"], len(data["contradictions"])) == (1, False, 3)


def test_blocks_are_compared_where_nothing_is_claimed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wrong landing makes the bound infinite at this t."""
    landing: Any = vars(Absorb)["landing"].fget
    monkeypatch.setattr(Absorb, "landing", property(lambda step: landing(step) + 1))
    code, out = run(capsys, "--t", "30")
    assert (code, out.count("FAILS")) == (1, 1)
    assert re.search("do not give the ids of gbar: token . of input .*: gather, block", out)


@cache
def study(**more: Any) -> ErrorStudy:
    case = {"d": 1, "levels": 2, "target": TARGETS["sort"], "construction": "relay", "t": (20.0, 30.0), **more}
    plan = Plan(1, 4, 2, points=16, ramp=16)
    return study_error(parse_family("star:n=4,w=1"), rho=parse_map("softmax"), plan=plan, **case)


def with_row(right: ErrorStudy, **errors: Any) -> ErrorStudy:
    """The study with other numbers at its last t."""
    *before, last = right.rows
    changed = {
        name: value if name == "id_error" else dataclasses.replace(getattr(last.errors, name), value=value)
        for name, value in errors.items()
    }
    row = dataclasses.replace(last, errors=dataclasses.replace(last.errors, **changed))
    return dataclasses.replace(right, rows=(*before, row))


@pytest.mark.parametrize(
    ("part", "factor", "says"),
    [
        ("good", 1.0, None),
        ("good", 1 + 1e-9, "on good inputs is"),
        ("good", math.inf, "on good inputs is inf, above"),
        ("id_error", 1.0, None),
        ("id_error", 1 + 1e-15, "an id is"),
        ("construction", 1e-300, "d_p(fbar, gbar) = 1e-300 is not 0"),
        ("construction", math.inf, "d_p(fbar, gbar) = inf is not 0"),
    ],
)
def test_each_bound_is_compared(part: str, factor: float, says: str | None) -> None:
    right = study()
    assert right.holds
    bound = {"good": right.rows[-1].bound.relaxation, "id_error": right.rows[-1].bound.ids, "construction": 1.0}
    wrong = with_row(right, **{part: bound[part] * factor})
    assert wrong.holds is (says is None)
    assert says is None or (len(wrong.contradictions) == 1 and says in str(wrong.contradictions[0]))


def test_where_nothing_is_claimed_nothing_is_contradicted() -> None:
    """At the first t the bound is infinite."""
    assert study().rows[0].bound.relaxation == math.inf
    *_, last = study().rows
    assert dataclasses.replace(study(), rows=(dataclasses.replace(last, bound=study().rows[0].bound),)).holds


def test_room_for_rounding_grows_with_the_numbers_and_stays_small() -> None:
    plain, wide = study(), dataclasses.replace(study(), box=(0.0, 1e300), p=1.0)
    assert 2.0**-49 < measuring_error(plain) < 1e-12
    assert measuring_error(plain) < measuring_error(wide) < 1e-10


def test_a_sampled_cell_is_compared_too() -> None:
    """The bound holds input by input: a mean over a sample has to keep to it."""
    network = build_network(parse_family("star:n=4,w=1"), 1, 2, TARGETS["sort"], "relay")
    plan = Plan(1, 4, 2, points=16, ramp=16, most_cells=1)
    errors = ErrorMeter(network, plan).measure(parse_map("softmax"), 30.0, 1e-9)
    assert not errors.good.exact
    right = study()
    assert dataclasses.replace(right, rows=(dataclasses.replace(right.rows[-1], errors=errors),)).holds
    layer = LayerBudget("relay", 0, errors.id_error / 10, 0.1, 0.0)
    small = relaxation_bound(network, ErrorBudget(30.0, 0.5, (layer,)), 1e-9)
    wrong = dataclasses.replace(right, rows=(dataclasses.replace(right.rows[-1], errors=errors, bound=small),))
    assert {found.part for found in wrong.contradictions} == {"good", "ids"}


def test_the_report_and_the_figure_say_so() -> None:
    right, wrong = study(), with_row(study(), good=3.0)
    assert "above its rigorous bound" in error_part(wrong, "star")
    assert "above its rigorous bound" not in error_part(right, "star")
    for shown, title in ((right, "outside ramps: measured"), (wrong, "a measured value contradicts the proof")):
        figure = error_against_t.draw([shown])
        axes = figure.axes[0]
        assert axes.get_title(loc="left").startswith(title)
        assert ("above its bound" in axes.get_legend_handles_labels()[1]) is (shown is wrong)
        plt.close(figure)


def test_every_stratum_shows_its_interval_and_bounds_are_rounded_up() -> None:
    found = study()
    lines = as_text(found, "star").splitlines()
    cells = lines[4].split()
    assert lines[2].count("+-") == 4
    row = found.rows[-1]
    for place, part in ((1, "total"), (3, "discretization"), (5, "good"), (8, "ramp")):
        distance = getattr(row.errors, part)
        assert float(cells[place]) == pytest.approx(distance.value, rel=1e-4)
        half = max(distance.interval[1] - distance.value, distance.value - distance.interval[0])
        assert float(cells[place + 1]) >= half
    assert float(cells[7]) >= row.bound.relaxation
    assert float(cells[11]) >= row.bound.ids
    data = as_json(found, "star")
    assert (data["holds"], data["contradictions"]) == (True, [])


@given(st.floats(-1e300, 1e300), st.integers(1, 12))
def test_a_printed_bound_is_a_bound(x: float, digits: int) -> None:
    up, down = name_upper(x, digits), name_lower(x, digits)
    assert float(down) <= x <= float(up)
    for text in (up, down):
        assert abs(Decimal(text) - Decimal(x)) <= abs(Decimal(x)) * Decimal(10) ** (1 - digits)


def test_rounding_to_nearest_would_print_less_than_the_bound() -> None:
    assert float(f"{0.1254:.3g}") < 0.1254 <= float(name_upper(0.1254))
    assert (name_upper(math.inf), name_lower(-math.inf), name_upper(0.0)) == ("inf", "-inf", "0")
    assert (name_upper(8.0), name_upper(0.1, 6), name_upper(99.96)) == ("8", "0.1", "100")


def test_the_sentences_of_a_budget_round_up() -> None:
    budget = ErrorBudget(1.0, 0.5, (LayerBudget("relay", 0, 0.12041, 0.1, 0.0),))
    assert "within 0.121 delta" in budget.why


def loud(height: float) -> Network:
    """A network whose outputs are all (height / K), with the windows of the merged construction."""
    mapping = choose_mapping(parse_family("star:n=4,w=1"), 1, 2, "merged")
    target = Target("flat", lambda x: 0 * x + height / 2, "a constant")
    network = build_network(mapping.pattern, 1, 2, target, "merged")
    return dataclasses.replace(network, values=build_value_mapping(network.values.ids, network.values.outputs, 2))


def test_a_bound_is_not_claimed_where_an_output_can_reach_a_window() -> None:
    """Outputs half a unit below the greatest id and a little: an error of 0.1 carries them into its window."""
    greatest = int(loud(0.0).values.ids.max())
    near, far = loud(greatest - 0.55), loud(greatest - 0.95)
    budget = ErrorBudget(1.0, 0.5, (LayerBudget("merged", 0, 0.1, 0.1, 0.0),))
    for network in (near, far):
        assert network.values.lifted_by == 0
        assert network.values.sound
    assert math.isfinite(relaxation_bound(far, budget, 1e-9).relaxation)
    found = relaxation_bound(near, budget, 1e-9)
    assert found.relaxation == math.inf
    assert "so close to a window still to come" in found.why


def test_what_a_broken_budget_says_is_handed_on() -> None:
    broken = ErrorBudget(0.1, 0.5, (), LayerBudget("gather", 3, math.inf, 0.0, 1.0))
    found = relaxation_bound(loud(0.0), broken, 1e-9)
    assert (found.ids, found.relaxation) == (math.inf, math.inf)
    assert found.why == broken.why
