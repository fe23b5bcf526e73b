"""The contextual mapping: all ids of all inputs, no two alike, and a broken constant's collisions.

Lemma 7: the ids of one input are distinct (7.1), and different inputs share no id (7.2). Every column is an
input, every mark the id of one token; ids are drawn in order of size, so that equal ids, and only those, lie in
one row. Left: the constants of the proof, c = 2 s n delta^{-nd-1} in the all-max-shifts (before eq. 11). Right:
a smaller c; the red lines join ids that are shared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from constructions.cells import cells
from constructions.contextual_mapping import build_mapping
from figures.style import FULL, MARKERS, PALETTE, SIGNAL, new_figure, styled
from theory import families

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from constructions.numbers import Integers

__all__ = ["draw", "example", "ranks"]

MOST_IDS = 4096


def ranks(ids: Integers) -> npt.NDArray[np.int64]:
    """Return the place of every id among the distinct ids, in order of size; equal ids share one.

    >>> ranks(np.array([[7, 3], [3, 9]])).tolist()
    [[1, 0], [0, 2]]
    """
    _, places = np.unique(ids, return_inverse=True)
    return np.asarray(places, dtype=np.int64).reshape(ids.shape)


@styled
def draw(panels: Mapping[str, Integers]) -> Figure:
    """Draw all ids, one panel a mapping.

    Parameters
    ----------
    panels
        By title: ids (inputs, n), at most 4096 numbers.

    Raises
    ------
    ValueError
        If there are more, or none.
    """
    if not panels or any(not 0 < ids.size <= MOST_IDS for ids in panels.values()):
        raise ValueError(f"the figure shows 1 to {MOST_IDS} ids a mapping: draw a smaller case")
    figure = new_figure(FULL, 3.4)
    row = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axes, (title, ids) in zip(row, panels.items(), strict=True):
        _panel(axes, ids)
        axes.set_title(title, loc="left")
    row[0].set_ylabel("ids in order of size (equal ids share a row)")
    handles, labels = row[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    return figure


def example() -> Figure:
    """Draw Star with 4 tokens (d = 1, delta = 1/2, s = 1), with the proof's c and with c = 8."""
    star, every = families.star(4, 1), cells(1, 4, 2)
    sound, broken = build_mapping(star, 1, 2), build_mapping(star, 1, 2, c=8)
    factor = getattr(sound.stages[1], "factor", None)
    panels = {}
    for mapping, c in ((sound, factor), (broken, 8)):
        ids = mapping.ids(every)
        shared = ids.size - np.unique(ids).size
        verdict = "no two alike" if shared == 0 else f"only {ids.size - shared} of them distinct"
        panels[f"$c$ = {c}: {ids.size} ids, {verdict}"] = ids
    return draw(panels)


def _panel(axes: Axes, ids: Integers) -> None:
    places = ranks(ids)
    inputs, n = ids.shape
    size = 3.5 if inputs <= 32 else 2.0
    for token in range(n):
        axes.plot(
            np.arange(inputs),
            places[:, token],
            MARKERS[token % len(MARKERS)],
            color=PALETTE[token % len(PALETTE)],
            markersize=size,
            markerfacecolor="none" if token % 2 else None,
            markeredgewidth=0.8,
            label=f"token {token}",
            zorder=3,
        )
    owners = np.broadcast_to(np.arange(inputs)[:, None], ids.shape)
    for place in np.flatnonzero(np.bincount(places.ravel()) > 1).tolist():
        sharing = owners[places == place]
        axes.plot([sharing.min(), sharing.max()], [place, place], color=SIGNAL, linewidth=0.9, zorder=2)
        axes.plot(
            sharing,
            [place] * sharing.size,
            "o",
            color=SIGNAL,
            markersize=size + 4,
            markerfacecolor="none",
            zorder=2,
        )
    axes.set_xlabel("input, all of them in lexicographic order")
    axes.margins(x=0.04, y=0.03)
