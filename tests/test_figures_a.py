"""The figures of patterns, depth, quantization and shifts show what was computed, and nothing is cut off."""

import io
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from constructions.contextual_mapping import build_mapping
from constructions.numbers import ProofError
from constructions.relay import build_relay
from figures import (
    _trace,
    all_max_shift,
    depth,
    pattern_matrices,
    quantization,
    reach_growth,
    selective_shift,
    style,
    union_digraph,
)
from figures.registry import FIGURES
from theory.families import parse_family
from theory.hops import growth, seen
from theory.patterns import SparsityPattern
from verify.pattern_verdict import assess

MINE = (
    "pattern_matrices",
    "reach_growth",
    "union_digraph",
    "depth",
    "quantization",
    "selective_shift",
    "all_max_shift",
)


def _labelled(axes, label):
    return next(line for line in axes.get_lines() if line.get_label() == label)


def _render(figure):
    buffer = io.BytesIO()
    style.save(figure, buffer, "png")
    return buffer.getvalue()


@pytest.fixture(scope="module")
def examples():
    return {name: FIGURES[name].example() for name in MINE}


@pytest.mark.parametrize("name", MINE)
def test_example_renders_at_the_papers_width(name, examples):
    figure = examples[name]
    assert figure.get_figwidth() == style.FULL
    assert _render(figure).startswith(b"\x89PNG")


def _cut_off(figure, monkeypatch):
    """List the drawn texts that leave the page by more than two points (a tick outside its axis is not drawn)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text

    drawn = []
    draw = Text.draw
    canvas = FigureCanvasAgg(figure)
    with monkeypatch.context() as patch:
        patch.setattr(Text, "draw", lambda text, renderer: (drawn.append(text), draw(text, renderer)))
        canvas.draw()
    assert drawn
    page = figure.bbox.padded(2 * figure.dpi / 72)
    boxes = {text.get_text(): text.get_window_extent(canvas.get_renderer()) for text in drawn if text.get_text()}
    return [
        words
        for words, box in boxes.items()
        if box.x0 < page.x0 or box.y0 < page.y0 or box.x1 > page.x1 or box.y1 > page.y1
    ]


@pytest.mark.parametrize("name", MINE)
def test_no_text_is_cut_off(name, examples, monkeypatch):
    assert _cut_off(examples[name], monkeypatch) == []


def test_the_check_finds_a_text_that_is_cut_off(monkeypatch):
    figure = style.new_figure(style.COLUMN, 1.0)
    figure.text(0.99, 0.5, "too far right", ha="left")
    assert _cut_off(figure, monkeypatch) == ["too far right"]


# pattern matrices


def test_matrix_shows_who_attends_to_whom():
    pattern = parse_family("strided:n=9,w=3")
    figure = pattern_matrices.draw({"Strided": assess(pattern)})
    shown = np.asarray(figure.axes[0].images[0].get_array())
    for query in range(9):
        for key in range(9):
            expected = pattern.attends(query, key, 0) + 2 * pattern.attends(query, key, 1)
            assert shown[query, key] == expected


def test_matrix_titles_say_connections_s_and_verdict():
    names = {"Strided": "strided:n=9,w=4", "Causal": "causal:n=5", "Hub": "hub:n=6", "Cut": "fixed:n=10,w=4"}
    figure = pattern_matrices.draw({name: assess(parse_family(spec)) for name, spec in names.items()})
    titles = [axes.get_title() for axes in figure.axes]
    strided = parse_family("strided:n=9,w=4").connections
    assert titles[0] == f"Strided\n{strided} connections, $s$ = 3\nuniversal"
    assert titles[1] == "Causal\n15 connections, $s$ = none\ncausal functions only"
    assert titles[2].endswith("$s$ = 2\nuniversal; no chain")
    assert titles[3].endswith("$s$ = none\nnot universal")


def test_chain_runs_over_filled_cells_only():
    pattern = parse_family("star:n=7,w=1").relabel([3, 1, 6, 0, 2, 5, 4])
    verdict = assess(pattern)
    axes = pattern_matrices.draw({"Star": verdict}).axes[0]
    dots = _labelled(axes, "used")
    keys, queries = (np.asarray(side, dtype=int) for side in dots.get_data())
    assert keys.size == pattern.n - 1
    assert all(pattern.attends(query, key) for key, query in zip(keys.tolist(), queries.tolist(), strict=True))
    assert np.array_equal(np.append(keys, queries[-1]), verdict.path.path)
    line = np.column_stack(_labelled(axes, "chain").get_data()).astype(int).tolist()
    assert [[k, q] for k, q in zip(keys.tolist(), queries.tolist(), strict=True)] == line[1::2]


def test_a_pattern_without_a_chain_has_no_line():
    axes = pattern_matrices.draw({"Hub": assess(parse_family("hub:n=6"))}).axes[0]
    assert not axes.get_lines()


def test_one_token_and_an_undecided_pattern_are_drawn():
    silent = SparsityPattern.from_lists([[0, 1], [0]])
    figure = pattern_matrices.draw({"one": assess(parse_family("dense:n=1")), "silent": assess(silent)})
    assert figure.axes[1].get_title().endswith("undecided")
    _render(figure)


def test_matrices_refuse_too_much_and_nothing():
    with pytest.raises(ValueError, match="no pattern to draw"):
        pattern_matrices.draw({})
    with pytest.raises(ValueError, match="Ring has 513 tokens"):
        pattern_matrices.draw({"Ring": assess(parse_family("ring:n=513"))})


# reach growth


def test_curves_are_the_growth():
    pattern = parse_family("window:n=8,w=1")
    curve = growth(pattern)
    axes = reach_growth.draw({"Window": curve}, {}, 8).axes[0]
    mean = _labelled(axes, "Window ($s$ = 7)")
    assert mean.get_ydata().tolist() == list(curve.mean)
    assert list(mean.get_xdata()) == list(range(1, 8))
    sizes = [np.mean([seen(pattern, k, t).sum() for k in range(8)]) for t in range(1, 8)]
    assert sizes == list(curve.mean)
    least = _labelled(axes, "_least")
    assert list(least.get_ydata()) == [min(int(seen(pattern, k, t).sum()) for k in range(8)) for t in range(1, 8)]


def test_a_set_that_stops_growing_is_said_so():
    curves = {"Fixed": growth(parse_family("fixed:n=10,w=4")), "Ring": growth(parse_family("ring:n=10"))}
    axes = reach_growth.draw(curves, {}, 10).axes[0]
    assert [line.get_label() for line in axes.get_lines() if not line.get_label().startswith("_")] == [
        "Fixed (never all)",
        "Ring ($s$ = 9)",
    ]
    assert _labelled(axes, "_rest").get_xdata()[-1] == 9


@pytest.mark.parametrize("spec", ["strided:n=12,w=5", "fixed:n=10,w=4", "random:n=9,r=1,seed=3"])
def test_first_seen_layers_agree_with_the_sets(spec):
    pattern = parse_family(spec)
    matrix = reach_growth.first_seen(pattern, 5)
    sets = np.array([[seen(pattern, k, t) for k in range(pattern.n)] for t in range(1, 6)])
    expected = np.where(sets.any(axis=0), sets.argmax(axis=0) + 1, 0)
    assert np.array_equal(matrix, expected)


def test_never_seen_cells_are_crossed():
    pattern = parse_family("fixed:n=10,w=4")
    matrix = reach_growth.first_seen(pattern, 4)
    figure = reach_growth.draw({"Fixed": growth(pattern)}, {"Fixed": matrix}, 10)
    axes = figure.axes[1]
    keys, queries = _labelled(axes, "_never").get_data()
    crossed = set(zip(np.asarray(queries).tolist(), np.asarray(keys).tolist(), strict=True))
    assert crossed == {(k, j) for k in range(8) for j in (8, 9)}
    assert np.ma.getmaskarray(axes.images[0].get_array()).sum() == len(crossed)


def test_first_seen_refuses_large_matrices():
    with pytest.raises(ValueError, match="1025 tokens"):
        reach_growth.first_seen(parse_family("ring:n=1025"), 1)
    with pytest.raises(ValueError, match="no pattern to draw"):
        reach_growth.draw({}, {}, 4)


# union digraph


def test_digraph_has_every_connection_once_and_the_chain_in_colour():
    from matplotlib.patches import FancyArrowPatch

    verdict = assess(parse_family("star:n=6,w=1"))
    axes = union_digraph.draw({"Star": verdict}).axes[0]
    drawn = [patch for patch in axes.patches if isinstance(patch, FancyArrowPatch)]
    loops = 6
    assert len(drawn) == verdict.pattern.connections - loops
    thick = [patch for patch in drawn if patch.get_linewidth() > 1]
    assert len(thick) == 5


def test_arrows_point_from_key_to_query():
    pattern = SparsityPattern.from_lists([[0], [0, 1], [1, 2]])
    edges = union_digraph.arrows(assess(pattern))
    assert edges == {(0, 1): True, (1, 2): True}


def test_the_closed_set_is_hatched():
    from matplotlib.patches import Rectangle

    verdict = assess(parse_family("fixed:n=10,w=4"))
    axes = union_digraph.draw({"Fixed": verdict}).axes[0]
    squares = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    assert len(squares) == verdict.cut.tokens.size == 8
    assert all(square.get_hatch() for square in squares)
    assert "2 components" in axes.get_title()
    assert "not universal" in axes.get_title()


def test_the_hub_stands_in_the_middle_with_a_double_circle():
    from matplotlib.patches import Circle

    verdict = assess(parse_family("hub:n=8"))
    places, outlines = union_digraph.place(verdict)
    assert np.allclose(places[7], outlines[0][:2])
    circles = [p for p in union_digraph.draw({"Hub": verdict}).axes[0].patches if isinstance(p, Circle)]
    assert len(circles) == 8 + 1 + 1  # tokens, the hub's second circle, the component's outline


@pytest.mark.parametrize(
    "spec", ["causal:n=6", "bigbird:n=24,window=1,random=1,globals=1", "dense:n=1", "ring:n=3"]
)
def test_no_two_tokens_overlap(spec):
    places, outlines = union_digraph.place(assess(parse_family(spec)))
    gaps = np.linalg.norm(places[:, None] - places[None], axis=-1) + 10 * np.eye(len(places))
    assert gaps.min() > 2 * union_digraph.RADIUS
    spans = [(x - radius, x + radius) for x, _, radius in outlines]
    assert all(before[1] < after[0] for before, after in pairwise(spans))


def test_components_stand_in_topological_order():
    verdict = assess(parse_family("causal:n=4").relabel([2, 0, 3, 1]))
    places, _ = union_digraph.place(verdict)
    for key, query in union_digraph.arrows(verdict):
        assert places[key, 0] < places[query, 0]


def test_digraph_refuses_too_much_and_nothing():
    with pytest.raises(ValueError, match="no pattern"):
        union_digraph.draw({})
    with pytest.raises(ValueError, match="at most 64"):
        union_digraph.draw({"Ring": assess(parse_family("ring:n=65"))})


# depth


def test_depths_are_the_formulas():
    def star(n):
        return parse_family(f"star:n={n},w=1")

    panel = depth.count_layers("K", "star", [(k, 5, 2, k) for k in (2, 3)], star)
    s, p, n, d = 2, 1, 5, 2
    assert panel.layers == {
        "paper": tuple(p * (n - 1) * k**d + s for k in (2, 3)),
        "merged": (p * (n - 1) + s,) * 2,
        "relay": (2 * p * (n - 1),) * 2,
        "dense counterpart": tuple(n * k**d + 1 for k in (2, 3)),
    }
    axes = depth.draw([panel]).axes[0]
    for name in depth.CURVES:
        line = _labelled(axes, name)
        assert tuple(line.get_ydata()) == panel.layers[name]
        assert tuple(line.get_xdata()) == (2, 3)
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_depth_refuses_nothing():
    with pytest.raises(ValueError, match="nothing to draw"):
        depth.draw([])


# quantization


def test_staircase_is_the_floor_and_the_soft_one_differs_on_the_ramp_only():
    entries, exact, soft = quantization.staircase(3, 4, 0.25)
    assert np.array_equal(exact, np.floor(entries * 4 + 1e-9) / 4)
    share = entries * 4 - np.floor(entries * 4 + 1e-9)
    on_ramp = share > 0.75 + 1e-9
    assert np.allclose(soft[~on_ramp], exact[~on_ramp])
    assert np.all(soft[on_ramp] > exact[on_ramp])


def test_soft_phi_is_eq_15():
    alpha = 0.25
    t, values = quantization.soft_phi(alpha)
    expected = (
        -np.maximum(t, 0) + np.maximum(t - (1 - alpha), 0) / alpha - (1 - alpha) / alpha * np.maximum(t - 1, 0)
    )
    assert np.allclose(values, expected)


def test_tokens_intervals_and_marks():
    mapping = build_mapping(parse_family("star:n=4,w=1"), 2, 3, gamma=[1, 3, 0, 2])
    grid = [[0, 2, 1, 1], [1, 0, 2, 1]]
    figure = quantization.draw(mapping, 0.25, grid)
    line = figure.axes[2]
    ends = {}
    for token in range(4):
        ends[token] = tuple(_labelled(line, f"_{token}").get_xdata())
        (mark,) = _labelled(line, f"token {token}").get_xdata()
        assert ends[token][0] <= mark <= ends[token][1]
        assert mark == mapping.initial(grid)[token]
    order = sorted(ends, key=lambda token: ends[token][0])
    assert order == [3, 0, 2, 1]
    assert all(ends[a][1] < ends[b][0] for a, b in pairwise(order))
    names = [text.get_text() for text in figure.axes[0].texts]
    assert sorted(names) == [f"token {k}" for k in range(4)]


def test_the_ramp_is_marked():
    mapping = build_mapping(parse_family("dense:n=2"), 1, 2, gamma=[0, 1])
    axes = quantization.draw(mapping, 0.4, [[0, 1]]).axes[1]
    span = axes.patches[0].get_extents().transformed(axes.transData.inverted())
    assert (round(span.x0, 6), round(span.x1, 6)) == (0.6, 1.0)


# selective shift


def test_trace_is_the_literal_run():
    mapping = build_mapping(parse_family("fixed:n=4,w=2"), 1, 2, gamma=[0, 1, 2, 3])
    grid = [[1, 0, 1, 1]]
    steps = _trace.trace(mapping, grid)
    assert len(steps) == mapping.attention_layers
    assert steps[0].before == tuple(mapping.initial(grid).tolist())
    assert all(a.after == b.before for a, b in pairwise(steps))
    assert steps[-1].after == tuple(mapping.ids(grid).tolist())
    assert len(_trace.trace(mapping, grid, most=3)) == 3


def test_lines_windows_and_numbers_of_the_shifts():
    mapping = build_mapping(parse_family("star:n=4,w=1"), 1, 2, gamma=[0, 1, 2, 3])
    steps = selective_shift.shifts(mapping, [[1, 0, 1, 0]])
    assert len(steps) == 6
    axes = selective_shift.draw(mapping, steps).axes[0]
    for row, step in enumerate(steps):
        label = "token {}" if row == 0 else "_token {}"
        for token in range(4):
            marks = [line for line in axes.get_lines() if line.get_label() == label.format(token)]
            places = {(float(line.get_xdata()[0]), int(line.get_ydata()[0])) for line in marks}
            assert (step.before[token], row) in places
    windows = [band.get_paths()[0].get_extents() for band in axes.collections]
    assert [(box.x0, box.x1) for box in windows] == [(b - 0.5, b + 0.5) for b in range(6)]
    brackets = [line for line in axes.get_lines() if line.get_label() == "_range"]
    moved = [step for step in steps if step.before != step.after]
    assert len(moved) == len(brackets) == 3
    for step, bracket in zip(moved, brackets, strict=True):
        (token,) = [k for k in range(4) if step.before[k] != step.after[k]]
        least, most = bracket.get_xdata()[0], bracket.get_xdata()[-1]
        attended = [step.before[j] for j in mapping.pattern.keys(token).tolist()]
        assert (least, most) == (min(attended), max(attended))
        assert step.after[token] == step.before[token] + 2 * (most - least)


def test_cycles_leave_their_identity_blocks_out():
    mapping = build_mapping(parse_family("strided:n=4,w=2"), 1, 2)
    steps = selective_shift.shifts(mapping, [[1, 0, 1, 0]], most=4)
    assert len(steps) == 4
    _render(selective_shift.draw(mapping, steps))


def test_numbers_beyond_int64_have_a_place():
    mapping = build_mapping(parse_family("window:n=11,w=1"), 2, 8, "merged")
    steps = selective_shift.shifts(mapping, np.zeros((2, 11), dtype=int))
    assert max(steps[-1].after) > 2**63
    _render(selective_shift.draw(mapping, steps))


def test_shifts_refuse_what_has_none():
    relay = build_relay(parse_family("hub:n=4"), 1, 2)
    with pytest.raises(ProofError, match="relay construction starts with no selective shift"):
        selective_shift.shifts(relay, [[0, 1, 0, 1]])
    with pytest.raises(ProofError, match=r"one input of shape \(1, 4\)"):
        _trace.trace(relay, [[0, 1, 0]])
    mapping = build_mapping(parse_family("dense:n=13"), 1, 2, "merged")
    with pytest.raises(ValueError, match="at most 12"):
        selective_shift.draw(mapping, selective_shift.shifts(mapping, np.zeros((1, 13), dtype=int)))
    with pytest.raises(ValueError, match="no selective shift to draw"):
        selective_shift.draw(mapping, [])
    last = _trace.trace(build_mapping(parse_family("dense:n=2"), 1, 2), [[0, 1]])[-1:]
    with pytest.raises(ProofError, match="got AllMaxShift"):
        selective_shift.draw(mapping, last)


# all-max-shift


@pytest.mark.parametrize(
    ("spec", "d", "levels"), [("window:n=4,w=1", 1, 2), ("strided:n=6,w=3", 1, 3), ("dense:n=2", 2, 2)]
)
def test_ids_digits_and_interval(spec, d, levels):
    mapping = build_mapping(parse_family(spec), d, levels, "merged")
    n = mapping.pattern.n
    grid = np.random.default_rng(3).integers(0, levels, (d, n))
    states = all_max_shift.run(mapping, grid)
    stage = _trace.all_max_shifts(mapping)
    c, s = stage.factor, stage.count
    assert len(states) == s + 1
    assert states[-1] == tuple(mapping.literal_ids(grid).tolist())
    top = max(states[0])
    for token, number in enumerate(states[-1]):
        found = all_max_shift.digits(number, c, s)
        assert sum(digit * c ** (s - place) for place, digit in enumerate(found)) == number
        assert found[0] == top
        assert found[-1] == states[0][token]
        share = all_max_shift.share_of_interval(number, top, c, s)
        assert 0 <= share < 1
        assert Fraction(c**s) * (share + top) == number
    figure = all_max_shift.draw(mapping, states)
    left, right, table = figure.axes
    for token in range(n):
        (place,) = _labelled(right, f"token {token}").get_xdata()
        assert place == float(all_max_shift.share_of_interval(states[-1][token], top, c, s))
        line = _labelled(left, f"_line {token}")
        assert list(line.get_ydata()) == [float(Fraction(states[t][token], c**t)) for t in range(s + 1)]
    words = [text.get_text() for text in table.texts]
    assert words.count(f"token {n - 1}") == 1


def test_a_filled_mark_is_inside_the_interval():
    mapping = build_mapping(parse_family("window:n=5,w=1"), 1, 2, gamma=[0, 1, 2, 3, 4])
    states = all_max_shift.run(mapping, [[1, 0, 1, 1, 0]])
    axes = all_max_shift.draw(mapping, states).axes[0]
    top = max(states[0])
    marks = [line for line in axes.get_lines() if line.get_label().lstrip("_").startswith("token")]
    assert len(marks) == 5 * len(states)
    for mark in marks:
        inside = top <= mark.get_ydata()[0] < top + 1
        assert (mark.get_markerfacecolor() != "white") == inside
    assert {mark.get_markerfacecolor() == "white" for mark in marks} == {True, False}


def test_all_max_shift_refuses_what_does_not_fit():
    relay = build_relay(parse_family("hub:n=4"), 1, 2)
    with pytest.raises(ProofError, match="relay construction has no all-max-shift"):
        all_max_shift.run(relay, [[0, 1, 0, 1]])
    mapping = build_mapping(parse_family("window:n=9,w=1"), 1, 2, "merged")
    with pytest.raises(ValueError, match="s = 8, n = 9"):
        all_max_shift.draw(mapping, all_max_shift.run(mapping, np.zeros((1, 9), dtype=int)))
    still = build_mapping(parse_family("dense:n=2"), 1, 2, c=0)
    with pytest.raises(ValueError, match="factor c of at least 1"):
        all_max_shift.draw(still, all_max_shift.run(still, [[0, 1]]))
