"""`sparseuap error`, the study behind it, its rigorous bound and its two t."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest

from constructions import soft_mapping
from constructions.cells import cells
from constructions.error_budget import error_bound
from constructions.network import build_network, choose_mapping
from constructions.relaxation import soften
from constructions.targets import TARGETS
from constructions.value_mapping import ValueMapping
from sparseuap.cli import main
from theory.bounds import ErrorBudget, LayerBudget
from theory.families import parse_family
from theory.probability_maps import parse_map
from verify import soft_ids
from verify.error_study import study_error
from verify.lp_bound import _touches, relaxation_bound
from verify.lp_error import ErrorMeter
from verify.lp_strata import Plan
from verify.soft_ids import LEAST_T, measured_t

STAR = ("star:n=4,w=1", "--d", "1", "--delta", "1/2")
RELAY = (*STAR, "--target", "sort", "--construction", "relay")


@pytest.fixture
def error(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["error", *arguments])
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call


def test_json_has_the_promised_keys(error: Any) -> None:
    code, out, _ = error(*RELAY, "--rho", "entmax:1.5", "--t", "1,8,32", "--json")
    data = json.loads(out)
    assert code == 0
    assert [row["t"] for row in data["rows"]] == [1, 8, 32]
    wanted = {"error_total", "error_discretization", "error_relaxation", "error_ramp", "bound", "cells_right"}
    for row in data["rows"]:
        assert wanted <= row.keys()
        assert (
            row["details"]["total"]["interval"][0] <= row["error_total"] <= row["details"]["total"]["interval"][1]
        )
        assert row["error_ramp"] > 0
        assert (row["error_construction"], row["cells"], row["every_cell"]) == (0, 16, True)
        low, high = row["details"]["discretization"]["interval"]
        assert low <= 1 / math.sqrt(3) <= high  # sort and the identity have the same integral
    last = data["rows"][-1]
    assert (last["cells_right"], last["error_relaxation"], last["bound"]) == (1, 0, 0)
    assert data["rows"][0]["bound"] is None
    assert data["t_measured"] < data["t_guaranteed"] < 32
    assert 0 < data["zeta"] < 1
    assert 0 <= data["eta"] < 1
    assert (data["rho"], data["box"], data["p"]) == ("entmax:1.5", [0, 1], 2)


def test_auto_goes_through_the_measured_and_the_guaranteed_t(error: Any) -> None:
    data = json.loads(error(*RELAY, "--json")[1])
    by_t = {row["t"]: row for row in data["rows"]}
    assert by_t[data["t_measured"]]["cells_right"] == 1
    assert by_t[data["t_measured"] / 2]["cells_right"] < 1
    assert by_t[data["t_guaranteed"]]["error_relaxation"] <= by_t[data["t_guaranteed"]]["bound"] < math.inf


def test_the_table(error: Any) -> None:
    code, out, err = error(*RELAY, "--rho", "sparsemax", "--t", "1,8", "--alpha", "1e-9", "--box=-1,1", "--p", "1")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert "rho sparsemax, alpha = 1e-09, p = 1, domain [-1, 1)^(1 x 4)" in lines[0]
    assert lines[2].split()[0] == "t"
    assert lines[4].split()[-1] == "100%"
    assert "d_p(fbar, gbar) = 0: all 16 cells, bit for bit" in out
    assert "measured t: " in out
    assert "guaranteed t: " in out


def test_the_same_seed_prints_the_same(error: Any) -> None:
    options = (*RELAY, "--rho", "sparsemax", "--t", "4", "--alpha", "0.1", "--json")
    assert error(*options, "--seed", "5") == error(*options, "--seed", "5")
    assert error(*options, "--seed", "5")[1] != error(*options, "--seed", "6")[1]


def test_a_map_without_assumption_2_has_no_t(error: Any) -> None:
    code, out, _ = error(*RELAY, "--rho", "uniform")
    assert code == 0
    assert "measured t: none found" in out
    assert "guaranteed t: none" in out
    data = json.loads(error(*RELAY, "--rho", "uniform", "--t", "1", "--json")[1])
    assert data["t_measured"] is data["t_guaranteed"] is data["zeta"] is data["eta"] is None
    assert data["rows"][0]["bound"] is None


def test_an_infinite_error_is_null_in_json_and_said(error: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soft_mapping, "RUNAWAY", 100.0)
    options = (*RELAY, "--rho", "sparsemax", "--t", "1", "--alpha", "0.1")
    row = json.loads(error(*options, "--json")[1])["rows"][0]
    assert row["error_total"] is row["error_ramp"] is row["id_error"] is None
    out = error(*options)[1]
    assert "of the ramp's runs passed 1e100 and were given up" in out
    assert "ids passed 1e100 on a cell" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("star:n=16,w=1", "--d", "1", "--delta", "1/2"), "--construction relay or a coarser grid would fit"),
        (("hub:n=5", "--d", "1", "--delta", "1/2"), "Theorem 1 does not apply"),
        ((*STAR, "--rho", "nothing"), "no map is called 'nothing'"),
        ((*STAR, "--target", "nothing"), "no target is called 'nothing'"),
        ((*STAR, "--p", "0.5"), "p must be at least 1"),
        ((*STAR, "--p", "inf"), "p must be at least 1"),
        ((*STAR, "--t", "0"), "t must be positive"),
        ((*STAR, "--t", "nan"), "t must be positive"),
        ((*STAR, "--t", "1;2"), "--t takes numbers"),
        ((*STAR, "--box", "1"), "--box takes two numbers"),
        ((*STAR, "--box", "2,1"), "the box must be"),
        ((*STAR, "--box=-1e300,1e300"), "leave float64's range"),  # inf, with warnings, and exit 0
        ((*STAR, "--box", "0,1e-300"), "choose a box nearer to 0,1"),  # 0 within a bound of 0
        ((*STAR, "--alpha", "1"), "alpha must lie between 0 and 1"),
        ((*RELAY, "--rho", "hardmax"), "the ramp is beyond hardmax"),
        (("star:n=4,w=1", "--d", "1", "--delta", "2/3"), "delta must be 1/K"),
        (
            ("causal:n=4", "--d", "1", "--delta", "1/2", "--target", "mean", "--construction", "relay"),
            "out of reach",
        ),
    ],
)
def test_bad_input_is_one_line(error: Any, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = error(*arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize("rho", ["softmax", "entmax:1.5"])
@pytest.mark.parametrize(
    ("source", "construction"),
    [
        ("star:n=4,w=1", "paper"),
        ("star:n=4,w=1", "relay"),
        ("strided:n=5,w=3", "relay"),
        ("bigbird:n=5,window=3,random=1,globals=1,seed=0", "relay"),
        ("window:n=3,w=1", "merged"),
    ],
)
def test_what_is_measured_stays_within_the_bound(source: str, construction: str, rho: str) -> None:
    study = study_error(
        parse_family(source),
        d=1,
        levels=2,
        target=TARGETS["softmax-attention"],
        rho=parse_map(rho),
        construction=construction,
        plan=Plan(1, parse_family(source).n, 2, points=16, ramp=16),
    )
    assert study.t_measured is not None
    assert study.t_guaranteed is not None
    assert study.t_measured <= study.t_guaranteed * (1 + 1e-3)
    claimed = 0
    for row in study.rows:
        assert row.errors.good.value <= row.bound.relaxation * (1 + 1e-12)
        assert row.errors.id_error <= row.bound.ids
        claimed += math.isfinite(row.bound.relaxation)
        if row.t >= study.t_measured:
            assert row.errors.cells_right == 1
    assert claimed >= 1


def test_a_bound_that_is_too_small_is_found_out() -> None:
    """The check above fails for a budget of a tenth of the error."""
    network = build_network(parse_family("star:n=4,w=1"), 1, 2, TARGETS["sort"], "relay")
    errors = ErrorMeter(network, Plan(1, 4, 2, ramp=16)).measure(parse_map("softmax"), 20.0, 1e-9)
    layer = LayerBudget("relay", 0, errors.id_error / 10, 0.1, 0.0)
    assert errors.good.value > relaxation_bound(network, ErrorBudget(20.0, 0.5, (layer,)), 1e-9).relaxation


def test_nothing_is_claimed_beyond_a_quarter() -> None:
    network = build_network(parse_family("star:n=4,w=1"), 1, 2, TARGETS["sort"], "relay")

    def bound(error: float) -> Any:
        return relaxation_bound(network, ErrorBudget(1.0, 0.5, (LayerBudget("relay", 0, error, 0.1, 0.0),)), 0.25)

    assert bound(0.3).relaxation == math.inf
    assert "fade" in bound(0.3).why
    assert bound(0.2).relaxation == pytest.approx(math.sqrt(4 * 0.75**4) * 0.2 / 2, rel=1e-9)
    assert bound(0.0).relaxation == 0
    broken = error_bound(network.mapping, parse_map("softmax"), 0.1)
    assert relaxation_bound(network, broken, 0.25).relaxation == math.inf


@pytest.mark.parametrize(("height", "error", "touched"), [(6.4, 0.05, False), (6.4, 0.2, True), (4.4, 0.2, False)])
def test_an_output_next_to_a_window_still_to_come(height: float, error: float, touched: bool) -> None:
    """The window of the id 7, 6.5 to 7.5 units, comes after cell 0 has written; that of the id 5 does not."""
    ids = np.array([[5], [7]])
    outputs = np.array([[[height / 2]], [[-20.0]]])
    slots = np.array([[math.floor(height + 0.5)], [-40]])
    assert _touches(ValueMapping(ids, outputs, slots, 0), 2, error) is touched
    earlier = ValueMapping(ids[::-1], outputs[::-1], slots[::-1], 0)
    assert not _touches(earlier, 2, error)
    assert not _touches(dataclasses.replace(earlier, outputs=outputs - 50, slots=slots - 100), 2, error)


def test_the_measured_t_is_where_the_ids_become_right() -> None:
    """Against a scan of 400 temperatures, by the definition."""
    mapping, grids = choose_mapping(parse_family("star:n=4,w=1"), 1, 2, "merged"), cells(1, 4, 2)
    ids = mapping.ids(grids)
    for name in ("softmax", "sparsemax"):
        found = measured_t(mapping, parse_map(name), grids, ids)
        assert found is not None
        for t in np.geomspace(found / 8, found * 8, 400).tolist():
            right = bool(np.all(np.abs(soften(mapping, parse_map(name), t).ids(grids) - ids) <= 0.25))
            assert right or t < found
            assert not right or t > found * (1 - 2e-3)
    assert measured_t(mapping, parse_map("hardmax"), grids, ids) == LEAST_T
    assert measured_t(mapping, parse_map("squared"), grids, ids) is None


def test_the_measured_t_is_for_all_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search starts from one input, which is right long before the others."""
    mapping, grids = choose_mapping(parse_family("star:n=4,w=1"), 1, 2, "merged"), cells(1, 4, 2)
    ids, rho = mapping.ids(grids), parse_map("softmax")
    alone = measured_t(mapping, rho, grids[:1], ids[:1])
    together = measured_t(mapping, rho, grids, ids)
    monkeypatch.setattr(soft_ids, "CULPRITS", 1)
    found = measured_t(mapping, rho, grids, ids)
    assert alone < 0.99 * together
    assert found == pytest.approx(together, rel=2e-3)


def test_alpha_by_default_hardly_counts() -> None:
    for p in (1.0, 2.0, 4.0):
        study = study_error(
            parse_family("star:n=4,w=1"),
            d=1,
            levels=2,
            target=TARGETS["sort"],
            rho=parse_map("sparsemax"),
            construction="merged",
            t=[16.0],
            p=p,
        )
        assert study.rows[0].errors.ramp.value == pytest.approx(0.01 / 2, rel=0.3)
