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
from math import log2
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
MOST_NUMBERS = 4  # beside one arrow


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
    steps = _steps(mapping)
    ways = [_Way(n, steps, inward=inward) for inward in (True, False)]
    levels = [1 + max(-y for _, y in way.places.values()) for way in ways]
    figure = new_figure(FULL, max(3.3, 0.5 * sum(levels)))
    grid = figure.add_gridspec(2, 2, width_ratios=[1, 2.1], height_ratios=levels)
    for row, way in enumerate(ways):
        axes = figure.add_subplot(grid[row, 0])
        _tree(axes, way)
        axes.set_title(", ".join(way.names), loc="left")
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


class _Way:
    """The way in, to the roots, or the way out: what comes from upstream or is released belongs to the way in.

    `names` are those of its stages, `places` the tokens' places in the drawing, `numbers` the steps of every pair
    (key, query).
    """

    def __init__(self, n: int, steps: Sequence[tuple[str, Absorb]], *, inward: bool) -> None:
        mine = [
            (number, name, step)
            for number, (name, step) in enumerate(steps, start=1)
            if (name != "broadcast") == inward
        ]
        parents: dict[int, int] = {}
        self.names = list(dict.fromkeys(name for _, name, _ in mine))
        self.numbers: dict[tuple[int, int], list[int]] = {}
        for number, _, step in mine:
            child, parent = (step.key, step.query) if inward else (step.query, step.key)
            parents.setdefault(child, parent)
            self.numbers.setdefault((step.key, step.query), []).append(number)
        self.places = _levels(n, parents)


def _tree(axes: Axes, way: _Way) -> None:
    """Draw the tokens in levels below their roots; arrows from key to query carry the numbers of their steps."""
    places = way.places
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
    for (key, query), numbers in way.numbers.items():
        start, end = places[key], places[query]
        own = 0.6 if end[1] > start[1] else 0.5  # nearer to a child than to its parent, where arrows meet
        axes.annotate(
            "", end, start, arrowprops={"arrowstyle": "-|>", "color": MUTED, "shrinkA": 9, "shrinkB": 9, "lw": 0.8}
        )
        axes.annotate(
            ", ".join(map(str, numbers[:MOST_NUMBERS])) + ", …" * (len(numbers) > MOST_NUMBERS),
            (own * start[0] + (1 - own) * end[0], own * start[1] + (1 - own) * end[1]),
            xytext=(4 if end[0] >= start[0] else -4, 0),
            textcoords="offset points",
            fontsize=6,
            ha="left" if end[0] >= start[0] else "right",
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
    line = max(_bits(high) for slots in moments for _, high in slots) / 34  # height of a label
    labels: list[tuple[float, float]] = []
    for token in range(len(moments[0])):
        colour, hatch = PALETTE[token % len(PALETTE)], HATCHES[token % len(HATCHES)][:2]
        held = [slots[token] for slots in moments]
        starts = [0, *(time for time in range(1, len(held)) if held[time] != held[time - 1])]
        for start, end in pairwise([*starts, len(held)]):
            low, high = held[start]
            axes.bar(
                start,
                _bits(high) - _bits(low),
                bottom=_bits(low),
                width=end - start,
                align="edge",
                facecolor="white",
                edgecolor=colour,
                hatch=hatch,
                linewidth=0.6,
            )
            label = {"facecolor": "white", "edgecolor": "none", "boxstyle": "square,pad=0.05"}
            y = _middle(held[start])
            free = (
                x
                for x in np.arange(start + 0.5, end, 0.5)
                if all(abs(x - other) > 0.4 or abs(y - height) > line for other, height in labels)
            )
            labels.append((float(next(free, start + 0.5)), y))
            axes.text(*labels[-1], str(token), fontsize=6, ha="center", va="center", bbox=label)
    for time, ((before, after), step) in enumerate(zip(pairwise(moments), steps, strict=True), start=1):
        source, goal = _middle(before[step.key]), _middle(after[step.query])
        arrow = {"arrowstyle": "-|>", "color": INK, "lw": 0.7, "shrinkA": 0, "shrinkB": 3}
        axes.annotate("", (time + 0.3, goal), (time, source), arrowprops=arrow)
        axes.axvline(time, color=PALE, linewidth=0.4, zorder=0)
    axes.set_ylim(bottom=-0.3)
    axes.set_xlim(0, len(moments))
    axes.set_xticks([time + 0.5 for time in range(len(moments))], [str(time) for time in range(len(moments))])
    axes.set_xlabel("after step")
    axes.set_ylabel(r"$\log_2 (1 + u^T Z_k / \delta)$, bits")


def _middle(slot: tuple[int, int]) -> float:
    return (_bits(slot[0]) + _bits(slot[1])) / 2


def _bits(value: int) -> float:
    """Return log2(1 + v), also where v is beyond float64."""
    return log2(value + 1)
