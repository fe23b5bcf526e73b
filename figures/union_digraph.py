"""The union digraph: components, hub, chain, and who is cut off.

An arrow j -> k says that token k attends to token j in some pattern, so that information flows from j to k
(Assumption 1.2); self-loops are left out. Thick arrows are the Hamiltonian chain gamma(1) -> ... -> gamma(n),
the double circle is a hub, which every token attends to and which attends to every token. Dashed outlines are
the strong components, in topological order from left to right. Hatched squares, where there are some, form a
closed set: none of them ever sees a round token, whatever the depth, so the pattern is not universal for all
continuous functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, FancyArrowPatch, Patch, Rectangle

from figures._guard import check_drawable
from figures.pattern_matrices import verdict_words
from figures.style import FULL, INK, MUTED, SIGNAL, new_figure, styled
from theory.families import parse_family
from verify.pattern_verdict import PatternVerdict, assess

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["arrows", "draw", "example", "place"]

LARGEST = 64
"""Tokens of a readable drawing."""
RADIUS = 0.3
LARGEST_SCALE = 0.6  # inches a unit, so that a few tokens are not drawn as giants
"""Of a token; neighbours on a ring stand one unit apart."""
Floats = npt.NDArray[np.float64]


def place(verdict: PatternVerdict) -> tuple[Floats, list[tuple[float, float, float]]]:
    """Return the tokens' places, shape (n, 2), and the outline (x, y, radius) of every component.

    Every component is a ring, first token on top and clockwise; the rings stand side by side in topological
    order. The hub of more than four tokens moves to its ring's centre.
    """
    places = np.zeros((verdict.pattern.n, 2))
    outlines, right = [], 0.0
    hub = verdict.pattern.union.hub
    for label in range(verdict.components.count):
        members = verdict.components.members(label)
        ring = members[members != hub] if members.size > 4 else members
        radius = 0.0 if ring.size == 1 else max(0.55, 0.5 / np.sin(np.pi / ring.size))
        around = radius + RADIUS + 0.15
        centre = right + around
        angle = np.pi / 2 - 2 * np.pi * np.arange(ring.size) / ring.size
        places[members] = (centre, 0.0)
        places[ring] += radius * np.column_stack((np.cos(angle), np.sin(angle)))
        outlines.append((centre, 0.0, around))
        right = centre + around + 0.5
    return places, outlines


def arrows(verdict: PatternVerdict) -> dict[tuple[int, int], bool]:
    """Return the digraph's edges (key, query) without self-loops, and whether the chain uses each.

    >>> from theory.families import parse_family
    >>> arrows(assess(parse_family("ring:n=3")))
    {(2, 0): False, (0, 1): True, (1, 2): True}
    """
    union = verdict.pattern.union
    path = verdict.path.path
    used = set() if path is None else set(zip(path[:-1].tolist(), path[1:].tolist(), strict=True))
    pairs = zip(union.keys.tolist(), union.queries.tolist(), strict=True)
    return {(key, query): (key, query) in used for key, query in pairs if key != query}


@styled
def draw(verdicts: Mapping[str, PatternVerdict]) -> Figure:
    """Draw the digraphs side by side.

    Parameters
    ----------
    verdicts
        What `verify.pattern_verdict.assess` found, by the name to print.

    Raises
    ------
    ValueError
        If there is no pattern, or one has more than `LARGEST` tokens.
    """
    check_drawable({name: verdict.pattern for name, verdict in verdicts.items()}, LARGEST, "a drawing")
    drawn = {name: place(verdict) for name, verdict in verdicts.items()}
    widths = [outlines[-1][0] + outlines[-1][2] + 0.2 for _, outlines in drawn.values()]
    tallest = max(radius for _, outlines in drawn.values() for _, _, radius in outlines) + 0.1
    figure = new_figure(FULL, min(4.0, 2 * tallest * min(LARGEST_SCALE, FULL / sum(widths))) + 0.85)
    panels = figure.subplots(1, len(verdicts), squeeze=False, width_ratios=widths)[0]
    for axes, (name, verdict) in zip(panels, verdicts.items(), strict=True):
        _digraph(axes, name, verdict, *drawn[name])
        axes.set_ylim(-tallest, tallest)
    figure.legend(
        handles=[handle for handle, _ in _legend()],
        labels=[label for _, label in _legend()],
        handler_map={tuple: HandlerTuple(ndivide=1)},
        loc="outside lower center",
        ncols=5,
        handlelength=1.8,
        columnspacing=1.2,
    )
    return figure


def _digraph(
    axes: Axes, name: str, verdict: PatternVerdict, places: Floats, outlines: list[tuple[float, float, float]]
) -> None:
    edges = arrows(verdict)
    scale = 1.0 if verdict.pattern.n <= 16 else 0.6
    for (key, query), chained in sorted(edges.items(), key=lambda edge: edge[1]):
        far = abs(verdict.components.labels[key] - verdict.components.labels[query]) > 1
        bend = 0.35 if far else (0.12 if (query, key) in edges else 0.0)
        axes.add_patch(
            FancyArrowPatch(
                *_ends(places[key], places[query]),
                arrowstyle="-|>",
                mutation_scale=(6.5 if chained else 4.0) * scale,
                connectionstyle=f"arc3,rad={bend}",
                color=SIGNAL if chained else MUTED,
                linewidth=1.7 if chained else 0.4,
                shrinkA=0,
                shrinkB=0,
                zorder=2 if chained else 1,
            )
        )
    for x, y, radius in outlines:
        axes.add_patch(Circle((x, y), radius, fill=False, linestyle="--", linewidth=0.6, edgecolor=MUTED))
    cut = set() if verdict.cut is None else set(verdict.cut.tokens.tolist())
    hubs = set(verdict.pattern.union.hubs.tolist())
    for token, (x, y) in enumerate(places.tolist()):
        _token(axes, token, x, y, closed=token in cut, hub=token in hubs and verdict.pattern.n > 2)
    axes.set_xlim(-0.1, outlines[-1][0] + outlines[-1][2] + 0.1)
    axes.set_aspect("equal")
    axes.set_axis_off()
    count = verdict.components.count
    said = "1 component" if count == 1 else f"{count} components"
    chain = "chain" if verdict.path.path is not None else "no chain"
    axes.set_title(f"{name}\n{said}, {chain}: {verdict_words(verdict)}", fontsize=7)


def _ends(start: Floats, end: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return both ends of an arrow, moved out of the tokens that it joins."""
    along = (end - start) / np.hypot(*(end - start)) * RADIUS
    (x, y), (a, b) = (start + along).tolist(), (end - 1.15 * along).tolist()
    return (x, y), (a, b)


def _token(axes: Axes, token: int, x: float, y: float, *, closed: bool, hub: bool) -> None:
    if closed:
        corner = (x - 0.85 * RADIUS, y - 0.85 * RADIUS)
        side = 1.7 * RADIUS
        box = Rectangle(
            corner, side, side, facecolor="#E4E4E4", edgecolor=INK, linewidth=0.7, hatch="////", zorder=3
        )
        box.set_hatch_linewidth(0.3)
        axes.add_patch(box)
    else:
        axes.add_patch(Circle((x, y), RADIUS, facecolor="white", edgecolor=INK, linewidth=0.7, zorder=3))
    if hub:
        axes.add_patch(Circle((x, y), RADIUS * 1.3, fill=False, edgecolor=INK, linewidth=0.7, zorder=3))
    axes.text(x, y, str(token), ha="center", va="center_baseline", fontsize=6, fontweight="bold", zorder=4)


def _legend() -> list[tuple[Any, str]]:
    def ring(size: float) -> Line2D:
        return Line2D(
            [], [], marker="o", markersize=size, markeredgecolor=INK, markerfacecolor="white", linestyle=""
        )

    return [
        (Line2D([], [], color=SIGNAL, linewidth=1.7), "chain"),
        (Line2D([], [], color=MUTED, linewidth=0.6), "other connections"),
        ((ring(8.5), ring(6.0)), "hub"),
        (ring(6.0), "token"),
        (Patch(facecolor="#E4E4E4", edgecolor=INK, hatch="////", linewidth=0.7), "never sees the round ones"),
    ]


def example() -> Figure:
    """Draw Star (hub and chain), a hub alone (no chain), and Fixed with w not dividing n (two are never seen)."""
    names = {
        "Star, w = 1": "star:n=10,w=1",
        "Hub": "hub:n=8",
        "Fixed, w = 4, n = 10": "fixed:n=10,w=4",
    }
    return draw({name: assess(parse_family(spec)) for name, spec in names.items()})
