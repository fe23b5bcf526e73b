"""Selective shifts, layer after layer: u^T Z of every token on a number line.

One line a block Psi^l(Z; c, b, b') with c = delta^(-d) (Lemma 7, Appendix E.2). The band is its window (b, b');
only a token inside is moved, by c times the distance from the least to the greatest u^T Z_j of the tokens j
that it attends to; that range is the bracket over the line, from min to max. Every token but gamma(1) is moved
once, along the chain, and lands beyond all others (eq. 9); a window that meets nobody changes nothing. Numbers
in units of delta, the axis linear at first and logarithmic beyond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from constructions.blocks import SelectiveShift
from constructions.contextual_mapping import build_mapping
from constructions.numbers import ProofError
from constructions.selective_shift import SelectiveShifts
from figures._trace import Step, trace
from figures.style import FULL, INK, MUTED, SIGNAL, new_figure, styled, token_style
from theory.families import parse_family

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from constructions.mapping import StagedMapping

__all__ = ["draw", "example", "shifts"]

LARGEST = 40
"""Lines of a readable figure."""
MOST_TOKENS = 12
SHORT = 100_000
"""From here on a number is printed in two digits and a power of ten."""
MOST = 10**300
"""Below which a number has a place on a floating-point axis."""


def shifts(mapping: StagedMapping, grid: npt.ArrayLike, most: int = LARGEST) -> list[Step]:
    """Return the first selective shifts of a run, identity blocks left out.

    Parameters
    ----------
    grid
        One input of shape (d, n), entries in units of delta.
    most
        Shifts to show.

    Raises
    ------
    ProofError
        If the mapping starts with no selective shift.
    """
    if not isinstance(mapping.stages[0], SelectiveShifts):
        raise ProofError(f"the {mapping.construction} construction starts with no selective shift: choose paper")
    steps = trace(mapping, grid, most * mapping.pattern.p)
    return [step for step in steps if isinstance(step.block, SelectiveShift)][:most]


@styled
def draw(mapping: StagedMapping, steps: Sequence[Step]) -> Figure:
    """Draw one number line a step, top to bottom, and the state after the last.

    Parameters
    ----------
    mapping
        The contextual mapping.
    steps
        What `shifts` returned.

    Raises
    ------
    ValueError
        If there is no step, there are too many tokens, or u^T Z is too large for an axis.
    """
    if not steps:
        raise ValueError("there is no selective shift to draw: give at least one")
    if len(steps[0].before) > MOST_TOKENS:
        raise ValueError(f"{len(steps[0].before)} tokens: a number line shows at most {MOST_TOKENS}")
    if max(steps[-1].after) >= MOST:
        raise ValueError("u^T Z leaves every axis: take a smaller n, d or 1/delta for this figure")
    figure = new_figure(FULL, 0.75 + 0.17 * (len(steps[0].before) // 6) + 0.42 * (len(steps) + 1))
    axes = figure.subplots()
    for row, step in enumerate(steps):
        _block(axes, row, step, mapping)
        _tokens(axes, row, step.before)
    _tokens(axes, len(steps), steps[-1].after)
    largest = float(max(steps[-1].after))
    linear = 1.15 * max(steps[0].before)
    axes.set_xscale("symlog", linthresh=linear, linscale=1.6)
    spacing = max(1, round(linear / 4))
    ends = [float(tick) for tick in range(0, int(linear), spacing)]
    factor = 2 if largest < 64 * linear else 10
    while max(ends[-1], spacing) * factor < 1.2 * largest:
        ends.append(max(ends[-1], spacing) * factor)
    axes.set_xticks(ends, [_short(tick) for tick in ends])
    axes.minorticks_off()
    axes.set_xlim(-1.0, largest * 1.3)
    axes.set_ylim(len(steps) + 0.5, -0.75)
    axes.set_yticks(range(len(steps) + 1), [*(f"layer {row + 1}" for row in range(len(steps))), "after"])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("$u^T Z_k$ in units of $\\delta$")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(6, len(labels)), columnspacing=1.3)
    return figure


def _block(axes: Axes, row: int, step: Step, mapping: StagedMapping) -> None:
    block = step.block
    if not isinstance(block, SelectiveShift):
        raise ProofError(f"a selective shift is shown, got {type(block).__name__}")
    low, high = block.low2 / 2, block.high2 / 2
    label = "window $(b, b')$" if row == 0 else "_window"
    axes.fill_betweenx([row - 0.3, row + 0.3], low, high, color="#CFCFCF", linewidth=0, zorder=0, label=label)
    layer = mapping.pattern.layers[block.layer]
    for token, (before, after) in enumerate(zip(step.before, step.after, strict=True)):
        if before == after:
            continue
        seen = [step.before[key] for key in layer.row(token).tolist()]
        least, most = float(min(seen)), float(max(seen))
        bracket = [row - 0.2, row - 0.32, row - 0.32, row - 0.2]
        axes.plot([least, least, most, most], bracket, color=INK, linewidth=0.7, label="_range")
        for name, place in (("min", least), ("max", most)):
            axes.text(place, row - 0.35, name, ha="center", va="bottom", fontsize=6)
        arrow = {"arrowstyle": "-|>", "color": SIGNAL, "linewidth": 0.9, "shrinkA": 2, "shrinkB": 2}
        ends = {"xy": (float(after), row + 0.93), "xytext": (float(before), row + 0.07)}
        axes.annotate("", **ends, zorder=1, arrowprops=arrow)  # type: ignore[arg-type]
        said = f"+ {block.factor} ({_short(max(seen))} \N{MINUS SIGN} {_short(min(seen))})"
        beside = {"textcoords": "offset points", "ha": "left", "va": "center", "fontsize": 6.5, "color": SIGNAL}
        axes.annotate(said, (most, row - 0.3), xytext=(7, 0), **beside)  # type: ignore[arg-type]


def _short(number: float) -> str:
    return f"{number:.0f}" if number < SHORT else f"{number:.1e}"


def _tokens(axes: Axes, row: int, values: Sequence[int]) -> None:
    axes.axhline(row, color=MUTED, linewidth=0.4, zorder=0)
    below = {"textcoords": "offset points", "ha": "center", "va": "top", "fontsize": 6}
    for token, value in enumerate(values):
        label = f"token {token}" if row == 0 else f"_token {token}"
        edge = {"markeredgecolor": INK, "markeredgewidth": 0.5, "linestyle": ""}
        axes.plot([float(value)], [row], markersize=5, **token_style(token), **edge, label=label)  # type: ignore[arg-type]
        axes.annotate(_short(value), (float(value), row), xytext=(0, -4), **below)  # type: ignore[arg-type]


def example() -> Figure:
    """Follow one input of Star with four tokens, d = 1, delta = 1/2, along the chain 0, 1, 2, 3."""
    mapping = build_mapping(parse_family("star:n=4,w=1"), 1, 2, gamma=[0, 1, 2, 3])
    return draw(mapping, shifts(mapping, [[1, 0, 1, 0]], most=6))
