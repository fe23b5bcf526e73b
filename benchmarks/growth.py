"""Growth: work against time, log-log, with the fitted slope (1 is linear), as a table and as a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import LogLocator, NullFormatter

from figures.style import FULL, INK, MUTED, curve_style, new_figure, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Growth", "growth_curves", "growth_figure", "growth_table"]

COLUMNS = 3  # panels side by side


@dataclass(frozen=True)
class Growth:
    """The measured points of one curve, by size."""

    panel: str
    name: str
    unit: str
    work: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def slope(self) -> float:
        """The exponent b of seconds = a work^b, fitted by least squares to the logarithms.

        Examples
        --------
        >>> round(Growth("", "", "", (10, 100, 1000), (2.0, 200.0, 20000.0)).slope, 6)
        2.0
        """
        return float(np.polyfit(np.log(self.work), np.log(self.seconds), 1)[0])

    @property
    def spread(self) -> float:
        """The largest time a unit of work, in times of the smallest: 1 is exactly linear."""
        rates = np.array(self.seconds) / np.array(self.work)
        return float(rates.max() / rates.min())


def growth_curves(records: list[dict[str, Any]]) -> list[Growth]:
    """Return the curves of pytest-benchmark's records that have two sizes or more, in order of appearance."""
    points: dict[tuple[str, str, str], list[tuple[int, float]]] = {}
    for record in records:
        curve, size = record["extra_info"].get("curve"), record["extra_info"].get("size")
        if curve and size:
            key = curve["panel"], curve["name"], size["unit"]
            points.setdefault(key, []).append((size["work"], record["stats"]["min"]))
    return [
        Growth(*key, *map(tuple, zip(*sorted(measured), strict=True)))
        for key, measured in points.items()
        if len({work for work, _ in measured}) > 1
    ]


def growth_table(curves: list[Growth]) -> list[str]:
    """Return the lines of a Markdown table, one line a curve."""
    lines = ["| operation | work | from | to | fitted slope | time a unit, largest to smallest |"]
    lines.append("|---|---|---|---|---|---|")
    for curve in curves:
        name = f"{curve.panel}: {curve.name}" if curve.name else curve.panel
        first, last = (f"{work:,}" for work in (curve.work[0], curve.work[-1]))
        lines.append(f"| {name} | {curve.unit} | {first} | {last} | {curve.slope:.2f} | {curve.spread:.2f} |")
    return lines


@styled
def growth_figure(curves: list[Growth], caption: str = "") -> Figure:
    """Return the figure, one panel an operation; a grey line shows linear growth from the first point."""
    panels = list(dict.fromkeys(curve.panel for curve in curves))
    rows = -(-len(panels) // COLUMNS)
    figure = new_figure(FULL, 2.2 * rows + 0.2)
    axes = figure.subplots(rows, COLUMNS, squeeze=False).ravel()
    for place, panel in zip(axes, panels, strict=False):
        _panel(place, panel, [curve for curve in curves if curve.panel == panel])
    for place in axes[len(panels) :]:
        place.set_axis_off()
    if caption:
        figure.supxlabel(f"{caption} Dotted: linear growth from the first point.", fontsize=6, color=MUTED)
    return figure


def _panel(axes: Axes, title: str, curves: list[Growth]) -> None:
    axes.set_title(title, color=INK)
    axes.set(xscale="log", yscale="log", xlabel=curves[0].unit, ylabel="seconds")
    for number, curve in enumerate(curves):
        work = np.array(curve.work, dtype=float)
        axes.plot(work, curve.seconds[0] * work / work[0], color=MUTED, linewidth=0.6, linestyle=":", zorder=1)
        label = f"{curve.name}, slope {curve.slope:.2f}" if curve.name else f"slope {curve.slope:.2f}"
        axes.plot(work, curve.seconds, label=label, zorder=2, **curve_style(number))
    points = [point for curve in curves for point in zip(curve.work, curve.seconds, strict=True)]
    _whole_decades(axes, *map(list, zip(*points, strict=True)))
    legend = axes.legend(loc="upper left", bbox_to_anchor=(0.0, 1.02), borderpad=0.2, handlelength=1.6)
    legend.set_in_layout(False)  # a long name may run past the axes: it does not narrow them


def _whole_decades(axes: Axes, work: list[int], seconds: list[float]) -> None:
    """Label the powers of ten only, show two at least on every axis, and leave room for the legend."""
    for axis, values, room in ((axes.xaxis, work, 0.0), (axes.yaxis, seconds, 0.45)):
        low, high = np.floor(np.log10(min(values)) - 0.05), np.ceil(np.log10(max(values)) + 0.05)
        limits = 10.0**low, 10.0 ** (high + room * (high - low))
        (axes.set_xlim if axis is axes.xaxis else axes.set_ylim)(limits)
        axis.set_major_locator(LogLocator(numticks=6))
        axis.set_minor_formatter(NullFormatter())
