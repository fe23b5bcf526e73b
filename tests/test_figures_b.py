"""Figures 8-14: their lines, bars and images hold what was computed, they render, and no text is cut off."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

import figures.contextual_mapping
import figures.error_against_t
import figures.error_by_layer
import figures.probability_maps
import figures.relay
import figures.target_slice
import figures.value_mapping
from constructions.cells import cells
from constructions.contextual_mapping import build_mapping
from constructions.network import build_network, choose_mapping
from constructions.relaxation import soften
from constructions.relay import build_relay
from constructions.targets import TARGETS, Target
from figures.style import SIGNAL, save
from theory import families
from theory.patterns import SparsityPattern
from theory.probability_maps import parse_map
from verify.error_study import ErrorStudy, study_error
from verify.lp_strata import Plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TREE = SparsityPattern.from_lists([[0, 1, 2], [0, 1, 3], [0, 2], [1, 3]])
DIAMOND = SparsityPattern.from_lists([[0, 1], [0, 1], [0, 2], [0, 3], [2, 3, 4]])
QUICK = ("relay", "value_mapping", "contextual_mapping", "probability_maps", "error_by_layer", "target_slice")


@pytest.fixture(scope="module")
def study() -> ErrorStudy:
    return study_error(
        families.ring(2),
        d=1,
        levels=2,
        target=TARGETS["sort"],
        rho=parse_map("softmax"),
        construction="relay",
        t=[1.0, 8.0, 32.0, 64.0],
        alpha=1e-3,
        plan=Plan(1, 2, 2, points=2**4, ramp=2**5),
    )


def example(name: str) -> Figure:
    figure: Figure = getattr(figures, name).example()
    return figure


def written(figure: Figure, kind: str) -> bytes:
    file = io.BytesIO()
    save(figure, file, kind)
    return file.getvalue()


def text_is_inside(figure: Figure) -> None:
    """No title, legend or note is cut off; tick labels, of which some are out of view, are left to the layout."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = figure.bbox.size
    axis = [side for axes in figure.axes for side in (axes.xaxis, axes.yaxis)]
    ticks = {id(label) for side in axis for label in side.get_ticklabels(which="both")}
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text().strip()]
    texts = [text for text in texts if id(text) not in ticks]
    assert texts
    for text in texts:
        box = text.get_window_extent(canvas.get_renderer())
        assert box.x0 > -2, text
        assert box.y0 > -2, text
        assert box.x1 < width + 2, text
        assert box.y1 < height + 2, text


def lines(axes: Axes, **look: Any) -> list[Any]:
    return [
        line for line in axes.lines if all(getattr(line, f"get_{key}")() == value for key, value in look.items())
    ]


def labelled(axes: Axes, label: str) -> Any:
    (found,) = (line for line in axes.lines if line.get_label() == label)
    return found


@pytest.mark.parametrize("name", QUICK)
def test_examples_render_with_the_same_bytes(name: str) -> None:
    first, second = example(name), example(name)
    for kind in ("png", "svg"):
        assert written(first, kind) == written(second, kind)
    assert b"<text" in written(first, "svg")  # vector text
    text_is_inside(first)


def test_a_title_that_is_cut_off_is_noticed() -> None:
    figure = figures.contextual_mapping.draw({"much too long " * 20: np.array([[1, 2]])})
    with pytest.raises(AssertionError):
        text_is_inside(figure)


# 8: relay


@pytest.mark.parametrize("pattern", [TREE, families.hub(4), families.ring(3)])
def test_relay_slots_hold_every_run(pattern: SparsityPattern) -> None:
    mapping = build_relay(pattern, d=1, K=2)
    moments = figures.relay.slots_over_time(mapping)
    state = np.array(mapping.initial(cells(1, pattern.n, 2)))
    steps = [step for stage in mapping.stages for step in stage.steps]
    for moment, slots in enumerate(moments):
        if moment:
            for block in steps[moment - 1].blocks(pattern.p):
                state = block.apply(state, pattern)
        low, high = np.array(slots).T
        assert ((state >= low) & (state < high)).all()
        ends = sorted(slots)
        assert all(one[1] <= other[0] for one, other in pairwise(ends))
    assert [low for low, _ in moments[-1]] == [slot.low for slot in mapping.slots]
    assert len(moments) == 1 + 2 * (pattern.n - 1)


def test_relay_draws_its_slots_and_trees() -> None:
    mapping = build_relay(TREE, d=1, K=2, root=0)
    figure = figures.relay.draw(mapping)
    gather, broadcast, slots = figure.axes
    bars = {
        (
            round(bar.get_x()),
            *(round(2**y) - 1 for y in (bar.get_y(), bar.get_y() + bar.get_height())),
            bar.get_width(),
        )
        for bar in slots.patches
        if hasattr(bar, "get_height")
    }
    moments = figures.relay.slots_over_time(mapping)
    covered = Counter(slot for moment in moments for slot in moment)
    drawn: Counter[tuple[int, int]] = Counter()
    for _, low, high, width in bars:
        drawn[low, high] += width
    assert drawn == covered
    assert [axes.get_title(loc="left") for axes in (gather, broadcast)] == ["gather", "broadcast"]
    # arrows run from key to query: up to the root in gather, down from it in broadcast
    for axes, inward in ((gather, True), (broadcast, False)):
        top = max(text.get_position()[1] for text in axes.texts if text.get_text() == "0")
        arrows = [text for text in axes.texts if getattr(text, "arrow_patch", None) is not None]
        assert len(arrows) == TREE.n - 1
        assert all((arrow.xy[1] > arrow.xyann[1]) is inward for arrow in arrows)
        assert top == 0


def test_relay_draws_upstream_and_released_history_and_refuses_a_crowd() -> None:
    for shared in ("repeat", "once"):
        text_is_inside(figures.relay.draw(build_relay(DIAMOND, d=1, K=2, shared=shared)))
    written(figures.relay.draw(build_relay(families.hub(12), d=16, K=64)), "png")  # ids beyond float64
    with pytest.raises(ValueError, match="at most 12 tokens, not 13"):
        figures.relay.draw(build_relay(families.hub(13), d=1, K=2))


# 9: value mapping


def test_value_mapping_marks_exactly_the_outputs_that_a_later_window_meets() -> None:
    loud = Target("loud", lambda x: 7 * x[..., ::-1], "")
    lifted = build_network(families.ring(2), 1, 2, loud, "relay").values
    bare = replace(lifted, lifted_by=0)
    figure = figures.value_mapping.draw({"bare": bare, "lifted": lifted})
    text_is_inside(figure)
    for axes, values in zip(figure.axes, (bare, lifted), strict=True):
        ids, slots = values.ids.ravel() + values.lifted_by, values.slots.ravel()
        assert labelled(axes, "id and its window").get_xdata().tolist() == ids.tolist()
        assert labelled(axes, "written output").get_xdata().tolist() == slots.tolist()
        lefts = [bar.get_x() for bar in axes.patches if hasattr(bar, "get_width") and bar.get_width() == 1.0]
        assert lefts == (ids - 0.5).tolist()
        met = [w for w in range(ids.size) if any(ids[later] == slots[w] for later in range(w + 1, ids.size))]
        assert labelled(axes, "would be overwritten").get_ydata().tolist() == met
        assert bool(met) is (values is bare)


def test_value_mapping_refuses_too_many_windows() -> None:
    many = build_network(families.ring(2), 1, 8, TARGETS["sort"], "relay").values
    with pytest.raises(ValueError, match="at most 64 windows"):
        figures.value_mapping.draw({"many": many})
    with pytest.raises(ValueError, match="at most 64 windows"):
        figures.value_mapping.draw({})


# 10: contextual mapping


def test_contextual_mapping_joins_exactly_the_shared_ids() -> None:
    star, every = families.star(4, 1), cells(1, 4, 2)
    sound, broken = build_mapping(star, 1, 2).ids(every), build_mapping(star, 1, 2, c=8).ids(every)
    figure = figures.contextual_mapping.draw({"sound": sound, "broken": broken})
    for axes, ids in zip(figure.axes, (sound, broken), strict=True):
        order = sorted(set(ids.ravel().tolist()))
        for token in range(4):
            line = labelled(axes, f"token {token}")
            assert line.get_xdata().tolist() == list(range(16))
            assert [order[place] for place in line.get_ydata()] == ids[:, token].tolist()
        shared = [order.index(one) for one, times in Counter(ids.ravel().tolist()).items() if times > 1]
        joined = [int(line.get_ydata()[0]) for line in lines(axes, color=SIGNAL, linestyle="-")]
        assert sorted(joined) == sorted(shared)
        assert bool(shared) is (ids is broken)


def test_contextual_mapping_takes_ids_beyond_int64_and_refuses_too_many() -> None:
    huge = np.array([[2**80, 2**80 + 1], [2**80 + 1, 5]], dtype=object)
    (axes,) = figures.contextual_mapping.draw({"huge": huge}).axes
    assert len(lines(axes, color=SIGNAL, linestyle="-")) == 1
    with pytest.raises(ValueError, match="1 to 4096 ids"):
        figures.contextual_mapping.draw({"many": np.arange(5000).reshape(-1, 2)})


# 11: probability maps


def test_probability_maps_show_the_worst_case_and_the_formula() -> None:
    figure = example("probability_maps")
    keeping, breaking = figure.axes
    softmax = labelled(keeping, "softmax")
    t = softmax.get_xdata()
    np.testing.assert_allclose(softmax.get_ydata(), 1 / (1 + 7 * np.exp(-0.125 * t)), rtol=1e-9)
    wanted = {"softmax": np.log(7 * 0.95 / 0.05) / 0.125, "sparsemax": 8.0, "entmax:1.5": 16.0}
    marks = [line for line in keeping.lines if list(line.get_ydata()) == [-0.02]]
    assert len(marks) == 5
    for name, value in wanted.items():
        (mark,) = (line for line in marks if line.get_color() == labelled(keeping, name).get_color())
        assert mark.get_xdata()[0] == pytest.approx(value)
        curve = labelled(keeping, name)
        assert (curve.get_ydata()[curve.get_xdata() >= value] >= 0.95 - 1e-9).all()
    for name in ("uniform", "squared", "tanh-capped:20"):
        assert max(labelled(breaking, name).get_ydata()) < 0.95
    late = labelled(breaking, "tanh-capped:20").get_ydata()
    assert late[-1] < max(late) - 0.1  # a larger t makes it worse


def test_probability_maps_without_breaking_ones() -> None:
    t = np.geomspace(1, 8, 5)
    curve = figures.probability_maps.leader_curve(parse_map("uniform"), t, zeta=0.5, eta=0.1, m=3)
    assert curve.sufficient is None
    (axes,) = figures.probability_maps.draw([curve], [], zeta=0.5, eta=0.1).axes
    np.testing.assert_allclose(labelled(axes, "uniform").get_ydata(), 1 / 3)


# 12: error against t


def test_error_against_t_shows_measured_bound_and_split(study: ErrorStudy) -> None:
    figure = figures.error_against_t.draw([study])
    assert written(figure, "svg") == written(figures.error_against_t.draw([study]), "svg")
    text_is_inside(figure)
    left, right = figure.axes
    measured, bound = left.lines
    good = [row.errors.good.value for row in study.rows]
    floor = figures.error_against_t.FLOOR
    assert measured.get_xdata().tolist() == [row.t for row in study.rows]
    assert measured.get_ydata().tolist() == [max(value, floor) for value in good]
    claimed = [row for row in study.rows if np.isfinite(row.bound.relaxation)]
    assert 0 < len(claimed) < len(study.rows)
    assert bound.get_xdata().tolist() == [row.t for row in claimed]
    assert bound.get_ydata().tolist() == [max(row.bound.relaxation, floor) for row in claimed]
    for source, label in figures.error_against_t.SOURCES.items():
        values = [max(getattr(row.errors, source).value, floor) for row in study.rows]
        assert labelled(right, label).get_ydata().tolist() == values
    marked = {line.get_xdata()[0] for line in right.lines if len(set(line.get_xdata())) == 1}
    assert marked == {study.t_measured, study.t_guaranteed}


def test_error_against_t_leaves_out_what_ran_away_and_needs_a_study(study: ErrorStudy) -> None:
    lost = replace(study.rows[0].errors.good, value=float("inf"))
    rows = (replace(study.rows[0], errors=replace(study.rows[0].errors, good=lost)), *study.rows[1:])
    figure = figures.error_against_t.draw([replace(study, rows=rows, t_guaranteed=None)])
    assert np.isnan(figure.axes[0].lines[0].get_ydata()).tolist() == [True, False, False, False]
    written(figure, "png")
    with pytest.raises(ValueError, match="at least one study"):
        figures.error_against_t.draw([])


# 13: error by layer


@pytest.mark.parametrize("construction", ["paper", "merged", "relay"])
def test_error_by_layer_ends_at_the_ids_and_stays_below_its_bound(construction: str) -> None:
    star, rho, every = families.star(4, 1), parse_map("softmax"), cells(1, 4, 2)
    mapping = choose_mapping(star, 1, 2, construction)
    runs = figures.error_by_layer.layer_errors(mapping, rho, [20.0, 150.0], every)
    for run in runs:
        last = np.abs(soften(mapping, rho, run.t).ids(every) - mapping.ids(every)).max()
        assert run.measured[-1] == last
        proved = [layer.error for layer in run.budget.layers]
        assert (run.measured[: len(proved)] <= proved).all()
        assert run.stages[: len(proved)] == tuple(layer.stage for layer in run.budget.layers)
    assert runs[1].budget.valid
    figure = figures.error_by_layer.draw({construction: runs})
    text_is_inside(figure)
    (axes,) = figure.axes
    floor = figures.error_by_layer.FLOOR
    for run in runs:
        measured = labelled(axes, f"measured, $t$ = {run.t:g}").get_ydata()
        assert measured.tolist() == np.maximum(run.measured, floor).tolist()
    steps = [line for line in axes.lines if line.get_drawstyle() == "steps-mid"]
    for run, line in zip(runs, steps, strict=True):
        assert line.get_ydata().tolist() == [max(layer.error, floor) for layer in run.budget.layers]


def test_error_by_layer_leaves_out_runs_given_up() -> None:
    run = figures.error_by_layer.layer_errors(
        choose_mapping(families.ring(2), 1, 2, "relay"), parse_map("softmax"), [60.0], cells(1, 2, 2)
    )[0]
    away = run.measured.copy()
    away[-1] = np.inf
    (axes,) = figures.error_by_layer.draw({"lost": [replace(run, measured=away)]}).axes
    assert np.isnan(axes.lines[0].get_ydata()[-1])


# 14: target slice


def test_target_slice_holds_f_and_g_and_masks_the_ramps() -> None:
    alpha, levels, points = 0.125, 4, 64
    network = build_network(families.ring(2), 1, levels, TARGETS["polynomial"], "relay")
    part = figures.target_slice.sample_slice(soften(network, parse_map("sparsemax"), 2.0**10, alpha), points)
    along = (np.arange(points) + 0.5) / points

    def f(own: Any, other: Any) -> Any:
        return own - 2 * own**2 + (own**3 + other**3) / 2

    first, second = along[None, :], along[:, None]
    np.testing.assert_allclose(part.f[0], f(first, second) + 0 * second, atol=1e-12)
    np.testing.assert_allclose(part.f[1], f(second, first), atol=1e-12)
    corner = np.floor(along * levels) / levels
    good = ~part.ramp
    np.testing.assert_allclose(part.g[0][good], f(corner[None, :], corner[:, None])[good], atol=1e-9)
    np.testing.assert_allclose(part.g[1][good], f(corner[:, None], corner[None, :])[good], atol=1e-9)
    assert part.ramp.mean() == pytest.approx(1 - (1 - alpha) ** 2)
    assert (np.abs(part.g[:, part.ramp]) > 1).any()  # raw ids
    figure = figures.target_slice.draw(part)
    text_is_inside(figure)
    images = [axes.images[0].get_array() for axes in figure.axes[:6]]
    for token in (0, 1):
        shown_f, shown_g, away = images[3 * token : 3 * token + 3]
        np.testing.assert_array_equal(shown_f, part.f[token])
        np.testing.assert_array_equal(np.ma.getmaskarray(shown_g), part.ramp)
        np.testing.assert_array_equal(shown_g[good], part.g[token][good])
        np.testing.assert_array_equal(away[good], np.abs(part.f - part.g)[token][good])


def test_target_slice_needs_two_tokens_of_size_one() -> None:
    network = build_network(families.ring(3), 1, 2, TARGETS["sort"], "relay")
    with pytest.raises(ValueError, match="n = 2 and d = 1, not n = 3 and d = 1"):
        figures.target_slice.sample_slice(soften(network, parse_map("softmax"), 64.0, 0.1), 8)
