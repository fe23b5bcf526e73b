"""Depth of the contextual mapping against 1/delta, n and d.

Attention layers on log axes, counted on the constructions themselves: the paper's p(n-1)/delta^d + s (Lemma 7),
the merged shifts' p(n-1) + s, the relay construction (2p(n-1) where the pattern is strongly connected, whatever
delta and d), and the n/delta^d + 1 of the dense counterpart (Yun et al. 2019). Quantization (dn/delta
feed-forward layers, eq. 14) and value mapping (n/delta^(dn), Lemma 8) come on top and are the same for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.ticker import FixedLocator, NullLocator

from constructions.network import choose_mapping, dense_layers
from figures.style import FULL, PALE, curve_style, new_figure, styled
from theory.families import parse_family

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from theory.patterns import SparsityPattern

__all__ = ["CURVES", "DepthPanel", "count_layers", "draw", "example"]

CURVES = ("paper", "merged", "relay", "dense counterpart")


@dataclass(frozen=True)
class DepthPanel:
    """Attention layers against one quantity.

    Parameters
    ----------
    quantity
        Label of the x axis.
    title
        What is held fixed.
    values
        The quantity's values.
    layers
        One entry a curve of `CURVES`, one number a value; a curve may be left out.
    """

    quantity: str
    title: str
    values: tuple[int, ...]
    layers: dict[str, tuple[int, ...]]


def count_layers(
    quantity: str,
    title: str,
    cases: Sequence[tuple[int, int, int, int]],
    pattern: Callable[[int], SparsityPattern],
    constructions: Sequence[str] = CURVES[:-1],
) -> DepthPanel:
    """Build some constructions of every case, all that there are by default, and count their attention layers.

    Parameters
    ----------
    cases
        The quantity's value, then n, d and 1/delta.
    pattern
        From n to the sparsity pattern.
    constructions
        Those that apply to the pattern.
    """
    rows = []
    for _, n, d, levels in cases:
        made = [choose_mapping(pattern(n), d, levels, name).attention_layers for name in constructions]
        rows.append((*made, dense_layers(d, n, levels)["contextual_mapping"]))
    names, columns = (*constructions, CURVES[-1]), zip(*rows, strict=True)
    return DepthPanel(quantity, title, tuple(case[0] for case in cases), dict(zip(names, columns, strict=True)))


@styled
def draw(panels: Sequence[DepthPanel]) -> Figure:
    """Draw one panel a quantity, with one y axis for all.

    Raises
    ------
    ValueError
        If there is no panel.
    """
    if not panels:
        raise ValueError("there is nothing to draw: give at least one panel")
    figure = new_figure(FULL if len(panels) > 1 else FULL / 2, 2.5)
    for axes, panel in zip(figure.subplots(1, len(panels), squeeze=False, sharey=True)[0], panels, strict=True):
        for name, layers in panel.layers.items():
            axes.plot(panel.values, layers, **curve_style(CURVES.index(name)), label=name)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.xaxis.set_major_locator(FixedLocator(panel.values))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_minor_locator(NullLocator())
        axes.set_xticks(panel.values, [str(value) for value in panel.values])
        axes.grid(axis="y", color=PALE, linewidth=0.5)
        axes.set_xlabel(panel.quantity)
        axes.set_title(panel.title)
        axes.label_outer()
    figure.axes[0].set_ylabel("attention layers")
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, handlelength=2.8)
    return figure


def example() -> Figure:
    """Count the layers of Strided with w = 4."""

    def strided(n: int) -> SparsityPattern:
        return parse_family(f"strided:n={n},w=4")

    return draw(
        [
            count_layers("$1/\\delta$", "$n$ = 16, $d$ = 2", [(k, 16, 2, k) for k in (2, 4, 8, 16, 32)], strided),
            count_layers("$n$", "$d$ = 2, $1/\\delta$ = 4", [(n, n, 2, 4) for n in (4, 8, 16, 32, 64)], strided),
            count_layers("$d$", "$n$ = 16, $1/\\delta$ = 4", [(d, 16, d, 4) for d in (1, 2, 4, 8)], strided),
        ]
    )
