"""The relay construction: slots, gather and broadcast along the trees.

Left: who absorbs whom (key to query), numbered in the order of the steps; the root gathers every input along an
in-tree, children before parents, and hands the whole along an out-tree, nearest first. Right: the slot [low,
low + K^{d digits}) in which every token's number u^T Z_k lies, step after step, in units of delta on a
logarithmic axis, with an arrow for every step. Slots are disjoint at all times, hence psi (eq. 8) picks the two
tokens that are meant; the last slots hold the ids. This replaces the Hamiltonian path of Assumption 1.2 and is
not in the paper.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from constructions.relay import build_relay
from constructions.relay_stage import RelayStage
from figures.style import FULL, HATCHES, INK, MUTED, PALE, PALETTE, new_figure, styled
from theory.patterns import SparsityPattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from constructions.relay import RelayMapping
    from constructions.relay_absorb import Absorb

__all__ = ["draw", "example", "slots_over_time"]

MOST_TOKENS = 12


def slots_over_time(mapping: RelayMapping) -> list[list[tuple[int, int]]]:
    """Return for every moment (before the first step, after each) the slot [low, high) of every token."""
    width = mapping.K**mapping.d
    now = [(int(low), int(low) + width) for low in mapping.initial(np.zeros((mapping.d, mapping.pattern.n), int))]
    moments = [list(now)]
    for _, step in _steps(mapping):
        now[step.query] = (step.home, step.home + step.result)
        moments.append(list(now))
    return moments


@styled
def draw(mapping: RelayMapping) -> Figure:
    """Draw the trees and the slots of a relay mapping.

    Parameters
    ----------
    mapping
        With at most 12 tokens; beyond, nothing could be read.

    Raises
    ------
    ValueError
        If there are more.
    """
    n = mapping.pattern.n
    if n > MOST_TOKENS:
        raise ValueError(f"the relay figure shows at most {MOST_TOKENS} tokens, not {n}: draw a smaller case")
    figure = new_figure(FULL, 3.3)
    grid = figure.add_gridspec(2, 2, width_ratios=[1, 2.1])
    steps = _steps(mapping)
    for row, inward in enumerate((True, False)):
        axes = figure.add_subplot(grid[row, 0])
        # what comes from upstream, and what is released again, belongs to the way in
        shown = [(number, step) for number, (name, step) in enumerate(steps, 1) if (name != "broadcast") == inward]
        names = dict.fromkeys(name for name, _ in steps if (name != "broadcast") == inward)
        _tree(axes, n, shown, inward=inward)
        axes.set_title(", ".join(names), loc="left")
    axes = figure.add_subplot(grid[:, 1])
    _slots(axes, slots_over_time(mapping), [step for _, step in steps])
    title = f"slots of {n} tokens: {len(steps)} steps, ids of at most {mapping.max_id_bits} bits"
    axes.set_title(title, loc="left")
    return figure


def example() -> Figure:
    """Draw a tree of six tokens, which has no Hamiltonian path (d = 1, delta = 1/2)."""
    keys = [[0, 1, 2], [0, 1, 3, 4], [0, 2, 5], [1, 3], [1, 4], [2, 5]]
    return draw(build_relay(SparsityPattern.from_lists(keys), d=1, K=2, root=0))


def _steps(mapping: RelayMapping) -> list[tuple[str, Absorb]]:
    """Return the steps in order, each with the name of its stage."""
    stages = [stage for stage in mapping.stages if isinstance(stage, RelayStage)]
    return [(stage.name, step) for stage in stages for step in stage.steps]


def _tree(axes: Axes, n: int, steps: Sequence[tuple[int, Absorb]], *, inward: bool) -> None:
    """Draw the tokens in levels below their roots, and an arrow from key to query for every step."""
    parents: dict[int, int] = {}
    for _, step in steps:
        child, parent = (step.key, step.query) if inward else (step.query, step.key)
        parents.setdefault(child, parent)
    places = _levels(n, parents)
    for token, place in places.items():
        axes.text(
            *place,
            str(token),
            ha="center",
            va="center",
            color=INK,
            bbox={"boxstyle": "circle,pad=0.25", "fc": "white", "ec": PALETTE[token % len(PALETTE)]},
            zorder=3,
        )
    for number, step in steps:
        start, end = places[step.key], places[step.query]
        axes.annotate(
            "", end, start, arrowprops={"arrowstyle": "-|>", "color": MUTED, "shrinkA": 9, "shrinkB": 9, "lw": 0.8}
        )
        axes.annotate(
            str(number),
            ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2),
            xytext=(6 if end[0] >= start[0] else -6, 0),
            textcoords="offset points",
            fontsize=6,
            ha="center",
            va="center",
        )
    xs, ys = zip(*places.values(), strict=True)
    axes.set_xlim(min(xs) - 0.7, max(xs) + 0.7)
    axes.set_ylim(min(ys) - 0.5, max(ys) + 0.5)
    axes.set_axis_off()


def _levels(n: int, parents: dict[int, int]) -> dict[int, tuple[float, float]]:
    """Place every token below its parent, leaves side by side; one on a circle of parents is a root."""
    children: dict[int, list[int]] = {}
    roots = [token for token in range(n) if token not in parents]
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    places: dict[int, tuple[float, float]] = {}
    leaves = 0

    def place(token: int, depth: int) -> float:
        nonlocal leaves
        places[token] = (0.0, 0.0)  # seen
        below = [place(child, depth + 1) for child in sorted(children.get(token, [])) if child not in places]
        if not below:
            below = [float(leaves)]
            leaves += 1
        x = sum(below) / len(below)
        places[token] = (x, float(-depth))
        return x

    for token in (*roots, *range(n)):
        if token not in places:
            place(token, 0)
    return places


def _slots(axes: Axes, moments: list[list[tuple[int, int]]], steps: Sequence[Absorb]) -> None:
    for token in range(len(moments[0])):
        colour, hatch = PALETTE[token % len(PALETTE)], HATCHES[token % len(HATCHES)][:2]
        held = [slots[token] for slots in moments]
        starts = [0, *(time for time in range(1, len(held)) if held[time] != held[time - 1])]
        for start, end in pairwise([*starts, len(held)]):
            low, high = held[start]
            axes.bar(
                start,
                high - low,
                bottom=low + 1,  # 1 + v, for the logarithm
                width=end - start,
                align="edge",
                facecolor="white",
                edgecolor=colour,
                hatch=hatch,
                linewidth=0.6,
            )
            label = {"facecolor": "white", "edgecolor": "none", "boxstyle": "square,pad=0.05"}
            place = start + 0.5, _middle(held[start])
            axes.text(*place, str(token), fontsize=6, ha="center", va="center", bbox=label)
    for time, ((before, after), step) in enumerate(zip(pairwise(moments), steps, strict=True), start=1):
        source, goal = _middle(before[step.key]), _middle(after[step.query])
        arrow = {"arrowstyle": "-|>", "color": INK, "lw": 0.7, "shrinkA": 0, "shrinkB": 3}
        axes.annotate("", (time + 0.3, goal), (time, source), arrowprops=arrow)
        axes.axvline(time, color=PALE, linewidth=0.4, zorder=0)
    axes.set_yscale("log", base=2)
    axes.set_ylim(bottom=0.8)
    axes.set_xlim(0, len(moments))
    axes.set_xticks([time + 0.5 for time in range(len(moments))], [str(time) for time in range(len(moments))])
    axes.set_xlabel("after step")
    axes.set_ylabel(r"$1 + u^T Z_k / \delta$")


def _middle(slot: tuple[int, int]) -> float:
    return float(np.sqrt((slot[0] + 1) * (slot[1] + 1)))
