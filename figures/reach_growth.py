"""How far tokens see, layer by layer.

Left: |S_k^t|, the number of tokens that token k has seen after t layers (eq. 3), the mean over k with its
marker and the least over k in pale; Assumption 1.3 holds with the s at which the least one meets n. Log axes.
Right: the layer t in which query k first sees key j, the least t with j in S_k^t; a crossed cell is
never seen, and where there is none the largest entry is s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from matplotlib import colormaps
from matplotlib.colors import ListedColormap
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator, ScalarFormatter

from figures.style import FULL, GREYS, INK, MUTED, SIGNAL, curve_style, new_figure, styled
from theory.families import parse_family
from theory.hops import Growth, growth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from theory.patterns import SparsityPattern

__all__ = ["draw", "example", "first_seen"]

LARGEST = 1024
"""Tokens of a matrix of first-seen layers: it holds n^2 numbers and its work grows with n^3."""


def first_seen(pattern: SparsityPattern, layers: int) -> npt.NDArray[np.int64]:
    """Return, for query k and key j, the least t <= layers with j in S_k^t (eq. 3); 0 where there is none.

    Raises
    ------
    ValueError
        If the pattern has more than `LARGEST` tokens.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> first_seen(SparsityPattern.from_lists([[0], [0, 1], [1, 2]]), 4).tolist()
    [[1, 0, 0], [1, 1, 0], [2, 1, 1]]
    """
    if pattern.n > LARGEST:
        raise ValueError(f"{pattern.n} tokens: a matrix of first-seen layers shows at most {LARGEST}")
    masks = [layer.matrix(np.bool_).toarray() for layer in pattern.layers]
    sets = np.eye(pattern.n, dtype=bool)
    first = np.zeros((pattern.n, pattern.n), dtype=np.int64)
    for t in range(1, layers + 1):
        sets = (masks[(t - 1) % pattern.p].astype(np.float32) @ sets.astype(np.float32)) > 0
        first[sets & (first == 0)] = t
    return first


@styled
def draw(curves: Mapping[str, Growth], matrices: Mapping[str, npt.NDArray[np.int64]], n: int) -> Figure:
    """Draw the growth of the sets, and up to two matrices of first-seen layers.

    Parameters
    ----------
    curves
        What `theory.hops.growth` returned, by the name to print.
    matrices
        What `first_seen` returned, by name.
    n
        Tokens of the patterns in `curves`.

    Raises
    ------
    ValueError
        If there is no curve.
    """
    if not curves:
        raise ValueError("there is no pattern to draw: give at least one")
    figure = new_figure(FULL, 2.75)
    panels = figure.subplots(1, 1 + len(matrices), squeeze=False, width_ratios=[1.35, *(1.0 for _ in matrices)])[0]
    _curves(panels[0], curves, n)
    for axes, (name, matrix) in zip(panels[1:], matrices.items(), strict=True):
        _matrix(figure, axes, name, matrix)
    figure.legend(loc="outside lower center", ncols=3, handlelength=2.8)
    return figure


def _curves(axes: Axes, curves: Mapping[str, Growth], n: int) -> None:
    longest = max(len(curve.mean) for curve in curves.values())
    for index, (name, curve) in enumerate(curves.items()):
        look = curve_style(index)
        layers = range(1, len(curve.mean) + 1)
        s = len(curve.min) if curve.full else None
        label = f"{name} ($s$ = {s})" if s is not None else f"{name} (never all)"
        axes.plot(layers, curve.min, **(look | {"marker": "", "alpha": 0.45, "linewidth": 0.8}), label="_least")
        axes.plot(layers, curve.mean, **look, markevery=0.08, label=label)
        if s is None and len(curve.mean) < longest:  # a whole cycle added nothing: the sets stay as they are
            rest = [len(curve.mean), longest]
            axes.plot(rest, [curve.mean[-1]] * 2, **(look | {"marker": ""}), label="_rest")
    axes.axhline(n, color=MUTED, linewidth=0.6, linestyle=(0, (1, 2)))
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    for axis, most in ((axes.xaxis, longest), (axes.yaxis, n)):
        axis.set_major_locator(FixedLocator([2**e for e in range(most.bit_length())]))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(ScalarFormatter())
    axes.set_ylim(0.9, n * 1.15)
    axes.set_xlabel("layers $t$")
    axes.set_ylabel("tokens seen, $|S_k^t|$")


def _matrix(figure: Figure, axes: Axes, name: str, matrix: npt.NDArray[np.int64]) -> None:
    never = matrix == 0
    last = max(1, int(matrix.max()))
    shades = colormaps[GREYS].resampled(last + 2)(np.arange(1, last + 1))  # neither white nor black
    image = axes.imshow(
        np.ma.masked_where(never, matrix), cmap=ListedColormap(shades), vmin=0.5, vmax=last + 0.5, aspect="equal"
    )
    if never.any():
        query, key = np.nonzero(never)
        size = max(0.6, 70 / matrix.shape[0])
        axes.plot(key, query, "x", color=SIGNAL, markersize=size, markeredgewidth=0.5, label="_never")
    axes.set_title(name)
    ticks = sorted({0, matrix.shape[0] // 2, matrix.shape[0] - 1})
    axes.set_xticks(ticks)
    axes.set_yticks(ticks)
    axes.set_xlabel("key $j$")
    axes.set_ylabel("query $k$", labelpad=1)
    bar = figure.colorbar(image, ax=axes, shrink=0.75, ticks=MaxNLocator(nbins=6, integer=True))
    bar.set_label("first seen in layer $t$", color=INK)
    bar.outline.set_linewidth(0.5)


def example() -> Figure:
    """Follow six patterns of 32 tokens; first-seen layers of Strided, and of Fixed where w does not divide n."""
    n = 32
    names = {
        "Strided, w = 6": f"strided:n={n},w=6",
        "Star, w = 1": f"star:n={n},w=1",
        "Random, r = 2": f"random:n={n},r=2,seed=1",
        "Window, w = 2": f"window:n={n},w=2",
        "Fixed, w = 6": f"fixed:n={n},w=6",
        "Ring": f"ring:n={n}",
    }
    patterns = {name: parse_family(spec) for name, spec in names.items()}
    curves = {name: growth(pattern) for name, pattern in patterns.items()}
    shown = ("Strided, w = 6", "Fixed, w = 6")
    matrices = {name: first_seen(patterns[name], len(curves[name].min)) for name in shown}
    return draw(curves, matrices, n)
