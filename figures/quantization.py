"""Positional embedding and quantization: from numbers to intervals that never meet.

Top left: one entry of X + E before and after the dn/delta quantization layers (eq. 14). E_gamma(1) = (n-1) 1
and E_gamma(i) = (i-2) 1 (eq. 7; for relay E_k = k 1, tokens from 0), so that every token has a unit interval
of its own; phi makes it a staircase of step delta. Top right: phi on one cell, and its version of three ReLUs
(eq. 15), which differs only on the ramp, the last alpha of the cell (shaded). Bottom: the intervals [pos
Delta, pos Delta + delta^(-d+1) - delta] of z_k = u^T H_k, in units of delta (eq. 8), one a token and
disjoint; the marks are one input's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from constructions.contextual_mapping import build_mapping
from constructions.positional_embedding import initial_interval
from constructions.quantization import Quantization
from constructions.soft_quantization import SoftQuantization, SoftQuantizeRow
from figures.style import FULL, INK, MUTED, PALE, SIGNAL, new_figure, styled, token_style
from theory.families import parse_family

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from constructions.mapping import StagedMapping

__all__ = ["draw", "example", "soft_phi", "staircase"]

RESOLUTION = 60
"""Points a cell."""
ROOMY = 8
"""Tokens up to which there is room for words and numbers at each."""
Floats = npt.NDArray[np.float64]


def staircase(n: int, levels: int, alpha: float) -> tuple[Floats, Floats, Floats]:
    """Return entries of X + E in [0, n), quantized exactly, and quantized with three ReLUs a layer.

    >>> entries, exact, soft = staircase(1, 2, 0.25)
    >>> sorted({float(step) for step in exact}), bool((soft >= exact).all())
    ([0.0, 0.5], True)
    """
    ticks = np.arange(n * levels * RESOLUTION)
    exact = Quantization(1, n, levels, RESOLUTION).apply(ticks[None, :])[0] / RESOLUTION
    soft = SoftQuantization(1, n, levels, alpha).apply(ticks[None, :] / RESOLUTION)[0]
    return ticks / (RESOLUTION * levels), exact / levels, soft / levels


def soft_phi(alpha: float) -> tuple[Floats, Floats]:
    """Return t and phi~_alpha(t) around the cell [0, delta), both in units of delta (eq. 15)."""
    t = np.linspace(-0.5, 1.5, 4 * RESOLUTION + 1)
    return t, SoftQuantizeRow(row=0, level=0, alpha=alpha).apply(t[None, :])[0] - t


@styled
def draw(mapping: StagedMapping, alpha: float, grid: npt.ArrayLike) -> Figure:
    """Draw the first stage of a mapping.

    Parameters
    ----------
    mapping
        The contextual mapping; its embedding, d and 1/delta are shown.
    alpha
        The ramp's share of every cell, in (0, 1).
    grid
        One input of shape (d, n), entries in units of delta.
    """
    figure = new_figure(FULL, 3.9)
    rows = figure.subplot_mosaic(
        [["staircase", "phi"], ["line", "line"]], width_ratios=[1.5, 1], height_ratios=[2, 1]
    )
    _staircase(rows["staircase"], mapping, alpha)
    _phi(rows["phi"], alpha)
    _intervals(rows["line"], mapping, grid)
    return figure


def _staircase(axes: Axes, mapping: StagedMapping, alpha: float) -> None:
    n, levels = mapping.pattern.n, mapping.K
    x, exact, soft = staircase(n, levels, alpha)
    for token, position in enumerate(mapping.positions.tolist()):
        if position % 2 == 0:
            axes.axvspan(position, position + 1, color=PALE, alpha=0.5, linewidth=0)
        name = f"token {token}" if n <= ROOMY else str(token)
        axes.text(position + 0.5, n - 0.02, name, ha="center", va="bottom", fontsize=7)
    axes.plot(x, soft, color=SIGNAL, linestyle="--", linewidth=0.8, label=f"three ReLUs, $\\alpha$ = {alpha:g}")
    steps = exact.reshape(n * levels, RESOLUTION)
    for number, (first, height) in enumerate(zip(x[::RESOLUTION], steps[:, 0], strict=True)):
        label = "$\\phi$ (exact)" if number == 0 else "_step"
        right = first + 1 / levels
        axes.plot([first, right], [height] * 2, color=INK, linewidth=1.4, solid_capstyle="butt", label=label)
    axes.set_xlim(0, n)
    axes.set_ylim(-0.05, n)
    axes.set_xticks(range(0, n + 1, -(-n // ROOMY)))
    axes.set_yticks(range(0, n + 1, -(-n // ROOMY)))
    axes.set_xlabel("entry of $X + E$")
    axes.set_ylabel("after quantization")
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, 0.97))


def _phi(axes: Axes, alpha: float) -> None:
    t, values = soft_phi(alpha)
    axes.axvspan(1 - alpha, 1, color=PALE, linewidth=0)
    axes.text(1 - alpha / 2, 0.06, "ramp", ha="center", va="bottom", fontsize=7)
    axes.plot(t, values, color=SIGNAL, linestyle="--", label="three ReLUs $\\tilde\\phi_\\alpha$")
    for number, (left, right, top, bottom) in enumerate(((-0.5, 0, 0, 0), (0, 1, 0, -1), (1, 1.5, 0, 0))):
        axes.plot(
            [left, right], [top, bottom], color=INK, linewidth=1.4, label="$\\phi$" if number == 0 else "_phi"
        )
    axes.plot([1], [-1], "o", markerfacecolor="white", markeredgecolor=INK, label="_open")
    axes.plot([1], [0], "o", color=INK, label="_closed")
    axes.set_xticks([0, 1 - alpha, 1], ["0", "$(1-\\alpha)\\delta$", "$\\delta$"])
    _, start, end = axes.get_xticklabels()
    start.set_horizontalalignment("right")  # a narrow ramp leaves no room between the two
    end.set_horizontalalignment("left")
    axes.set_yticks([-1, 0], ["$-\\delta$", "0"])
    axes.set_ylim(-1.15, 0.25)
    axes.set_xlabel("$t$")
    axes.legend(loc="lower left")


def _intervals(axes: Axes, mapping: StagedMapping, grid: npt.ArrayLike) -> None:
    values = mapping.initial(grid).tolist()
    for token, position in enumerate(mapping.positions.tolist()):
        low, high = initial_interval(position, mapping.d, mapping.K, mapping.step)
        look = token_style(token)
        color = look["color"]
        axes.plot(
            [low, high], [0, 0], color=color, linewidth=5, alpha=0.35, solid_capstyle="butt", label=f"_{token}"
        )
        axes.plot([low, high], [0, 0], "|", color=color, markersize=9, label=f"_{token}")
        axes.plot([values[token]], [0], **look, markersize=5, label=f"token {token}")
        if mapping.pattern.n > ROOMY:
            continue
        axes.annotate(
            f"token {token}\n[{low}, {high}]", ((low + high) / 2, 0), xytext=(0, -9), textcoords="offset points",
            ha="center", va="top", fontsize=7,
        )  # fmt: skip
        axes.annotate(
            f"$z_{{{token}}}$ = {values[token]}", (values[token], 0), xytext=(0, 6), textcoords="offset points",
            ha="center", fontsize=7,
        )  # fmt: skip
    axes.axhline(0, color=MUTED, linewidth=0.5, zorder=0)
    axes.set_ylim(-1.0, 0.7)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("$u^T H_k$ in units of $\\delta$")


def example() -> Figure:
    """Draw Star with four tokens in the order 1, 3, 0, 2, d = 2 and delta = 1/3."""
    mapping = build_mapping(parse_family("star:n=4,w=1"), 2, 3, gamma=[1, 3, 0, 2])
    return draw(mapping, 0.25, [[0, 2, 1, 1], [1, 0, 2, 1]])
