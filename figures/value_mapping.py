"""The value mapping: windows, ids, outputs, and what a collision would look like.

Lemma 8: one feed-forward layer for every cell H and token k, from top to bottom. It writes the output (A_H)_k
over the column whose u^T Z lies in the window [-delta/2, delta/2) around the id u^T g_c(H)_k (square). The
circle is where u^T A of the written output then lies. A collision, a circle in the window of a layer still to
come (crossed, with the arrow to the layer that would overwrite it), is what the paper does not exclude. Right:
one more layer lifts every id above all outputs, and nothing collides.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from constructions.network import build_network
from constructions.targets import Target
from constructions.value_mapping import RAW
from figures.style import FULL, MUTED, PALE, PALETTE, SIGNAL, new_figure, styled
from theory import families

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from constructions.value_mapping import ValueMapping

__all__ = ["draw", "example"]

MOST_WINDOWS = 64
NAMED_WINDOWS = 24


@styled
def draw(panels: Mapping[str, ValueMapping]) -> Figure:
    """Draw value mappings side by side.

    Parameters
    ----------
    panels
        By title, each with at most 64 windows.

    Raises
    ------
    ValueError
        If one has more windows, or there is none.
    """
    if not panels or any(values.ids.size > MOST_WINDOWS for values in panels.values()):
        raise ValueError(f"the figure shows value mappings of at most {MOST_WINDOWS} windows: draw a smaller case")
    most = max(values.ids.size for values in panels.values())
    figure = new_figure(FULL, min(max(2.9, 1.2 + 0.14 * most), 6.0))
    axes_row = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (title, values) in zip(axes_row, panels.items(), strict=True):
        _panel(axes, values)
        axes.set_title(title, loc="left")
    axes_row[0].set_ylabel("layer (cell, token)")
    handles, labels = axes_row[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3)
    return figure


def example() -> Figure:
    """Draw the relay construction's ids on two tokens (d = 1, delta = 1/2) with small and with large outputs."""
    quiet = _network_values(0.5)
    loud = _network_values(7.0)
    return draw(
        {
            "small outputs": quiet,
            "large outputs, no lift": replace(loud, lifted_by=0),
            f"large outputs, ids lifted by {loud.lifted_by}$\\delta$": loud,
        }
    )


def _network_values(size: float) -> ValueMapping:
    swap = Target(f"{size:g} times the other token", lambda x: size * x[..., ::-1], "")
    return build_network(families.ring(2), 1, 2, swap, "relay").values


def _panel(axes: Axes, values: ValueMapping) -> None:
    from matplotlib.ticker import MaxNLocator

    windows = np.arange(values.ids.size)
    ids = values.ids.ravel().astype(np.float64) + values.lifted_by
    slots = values.slots.ravel().astype(np.float64)
    struck = values.overwriting != RAW
    for window in windows.tolist():
        axes.plot([ids[window], slots[window]], [window, window], color=PALE, linewidth=0.8, zorder=1)
    axes.barh(windows, 1.0, left=ids - 0.5, height=0.8, color=PALETTE[5], edgecolor=MUTED, linewidth=0.5)
    axes.plot(ids, windows, "s", color=PALETTE[1], label="id and its window", zorder=3)
    axes.plot(slots, windows, "o", markerfacecolor="white", color=PALETTE[0], label="written output", zorder=3)
    axes.plot(
        slots[struck], windows[struck], "x", color=SIGNAL, markersize=7, label="would be overwritten", zorder=4
    )
    for window in np.flatnonzero(struck).tolist():
        arrow = {"arrowstyle": "->", "color": SIGNAL, "lw": 0.9, "shrinkA": 3, "shrinkB": 3}
        arrow["connectionstyle"] = "arc3,rad=-0.25"  # several may end in one window
        later = int(values.overwriting[window])
        axes.annotate("", (ids[later], later), (slots[window], window), arrowprops=arrow, zorder=4)
    n = values.ids.shape[1]
    if windows.size <= NAMED_WINDOWS:
        axes.set_yticks(windows, [f"{window // n}, {window % n}" for window in windows.tolist()])
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.set_ylim(windows.size - 0.3, -0.7)
    axes.set_xlabel(r"$u^T Z_k$ in units of $\delta$")
