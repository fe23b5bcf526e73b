r"""The relay construction: slots, gather and broadcast along the trees.

Left: who absorbs whom (key to query), numbered in the order of the steps; the root gathers every input along an
in-tree, children before parents, and hands the whole along an out-tree, nearest first. Right: the slot
[low, low + K^{d digits}) in which every token's number u^T Z_k lies, step after step, in units of delta on a
logarithmic axis, with an arrow for every step. Slots are disjoint at all times, hence psi (eq. 8) picks the two
tokens that are meant; the last slots hold the ids. This replaces the Hamiltonian path of Assumption 1.2 and is not in
the paper.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from constructions.relay import build_relay
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
    for step in _steps(mapping):
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
    numbers = {"gather": [], "broadcast": []}  # type: dict[str, list[tuple[int, Absorb]]]
    count = 0
    for stage in mapping.stages:
        for step in getattr(stage, "steps", ()):
            count += 1
            # what comes from upstream, and what is given back, belongs to the way in
            numbers["broadcast" if stage.name == "broadcast" else "gather"].append((count, step))
    for row, (name, steps) in enumerate(numbers.items()):
        axes = figure.add_subplot(grid[row, 0])
        _tree(axes, n, steps, inward=name == "gather")
        axes.set_title(name, loc="left")
    axes = figure.add_subplot(grid[:, 1])
    _slots(axes, slots_over_time(mapping), _steps(mapping))
    title = f"slots of {n} tokens: {count} steps, ids of at most {mapping.max_id_bits} bits"
    axes.set_title(title, loc="left")
    return figure


def example() -> Figure:
    """Draw a tree of six tokens, which has no Hamiltonian path (d = 1, delta = 1/2)."""
    keys = [[0, 1, 2], [0, 1, 3, 4], [0, 2, 5], [1, 3], [1, 4], [2, 5]]
    return draw(build_relay(SparsityPattern.from_lists(keys), d=1, K=2, root=0))


def _steps(mapping: RelayMapping) -> list[Absorb]:
    return [step for stage in mapping.stages for step in getattr(stage, "steps", ())]


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
        axes.text(
            (start[0] + end[0]) / 2,
            (start[1] + end[1]) / 2,
            str(number),
            fontsize=6,
            ha="center",
            va="center",
            bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none"},
        )
    xs, ys = zip(*places.values(), strict=True)
    axes.set_xlim(min(xs) - 0.7, max(xs) + 0.7)
    axes.set_ylim(min(ys) - 0.5, max(ys) + 0.5)
    axes.set_axis_off()


def _levels(n: int, parents: dict[int, int]) -> dict[int, tuple[float, float]]:
    """Place every token below its parent, leaves side by side; a token that would close a circle counts as root."""
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
        colour, hatch = PALETTE[token % len(PALETTE)], HATCHES[token % len(HATCHES)]
        for time, ((low, high), before) in enumerate(
            zip((m[token] for m in moments), [None, *(m[token] for m in moments)], strict=False)
        ):
            axes.fill_between(
                [time, time + 1],
                *[[edge + 1] * 2 for edge in (low, high)],  # 1 + v, for the logarithm
                facecolor="white",
                edgecolor=colour,
                hatch=hatch,
                linewidth=0.6,
            )
            if (low, high) != before:
                middle = np.sqrt((low + 1) * (high + 1))
                label = {"facecolor": "white", "edgecolor": "none", "boxstyle": "square,pad=0.05"}
                axes.text(time + 0.5, middle, str(token), fontsize=6, ha="center", va="center", bbox=label)
    for time, ((before, after), step) in enumerate(zip(pairwise(moments), steps, strict=True), start=1):
        start, end = (_middle(slots[token]) for slots, token in ((before, step.key), (after, step.query)))
        arrow = {"arrowstyle": "-|>", "color": INK, "lw": 0.7, "shrinkA": 0, "shrinkB": 3}
        axes.annotate("", (time + 0.3, end), (time, start), arrowprops=arrow)
        axes.axvline(time, color=PALE, linewidth=0.4, zorder=0)
    axes.set_yscale("log", base=2)
    axes.set_xlim(0, len(moments))
    axes.set_xticks([time + 0.5 for time in range(len(moments))], [str(time) for time in range(len(moments))])
    axes.set_xlabel("after step")
    axes.set_ylabel(r"$1 + u^T Z_k / \delta$")


def _middle(slot: tuple[int, int]) -> float:
    return float(np.sqrt((slot[0] + 1) * (slot[1] + 1)))
