"""Sparsity patterns, their Hamiltonian chains and the verdicts.

Rows are queries k, columns keys j; a filled cell means that token k attends to token j (paper, §3.1, eqs. 4-6).
With two patterns in the cycle (p = 2) the two shades tell them apart. The line is the chain gamma(1), ...,
gamma(n) of Assumption 1.2: a dot in cell (gamma(i), gamma(i-1)) is the connection that it uses, and the line
turns on the diagonal from one to the next. Above each pattern: its connections, the s of Assumption 1.3 (eq. 3)
and what follows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.patches import Patch
from matplotlib.patheffects import Normal, Stroke

from figures._guard import check_drawable
from figures.style import FULL, INK, PALETTE, SIGNAL, new_figure, styled
from theory.families import parse_family
from theory.graph import Reach
from theory.theorems import FunctionClass
from theory.verdicts import Answer
from verify.pattern_verdict import PatternVerdict, assess

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from theory.patterns import IntArray, SparsityPattern

__all__ = ["chain_line", "draw", "example", "membership", "verdict_words"]

LARGEST = 512
"""Tokens of a matrix: beyond, cells are smaller than dots."""
ACROSS = 4
SHADES = ("#FFFFFF", "#9A9A9A", "#D3DFEE", "#5A6B85")
"""No pattern, the first only, the second only, both; the same order of lightness in a greyscale copy."""


def membership(pattern: SparsityPattern) -> npt.NDArray[np.int64]:
    """Return an n x n matrix: 0 for no connection, 1 and 2 for the first and a later pattern only, 3 for both.

    >>> from theory.patterns import SparsityPattern
    >>> membership(SparsityPattern.from_lists([[0], [0, 1]], [[0, 1], [1]])).tolist()
    [[3, 2], [1, 3]]
    """
    cells = np.zeros((pattern.n, pattern.n), dtype=np.int64)
    for number, layer in enumerate(pattern.layers):
        cells[layer.queries, layer.keys] |= 1 if number == 0 else 2
    return cells


def chain_line(gamma: IntArray) -> tuple[IntArray, IntArray]:
    """Return keys and queries of the line through the chain's connections, by way of the diagonal.

    >>> [side.tolist() for side in chain_line(np.array([0, 2, 1]))]
    [[0, 0, 2, 2, 1], [0, 2, 2, 1, 1]]
    """
    doubled = np.repeat(gamma, 2)
    return doubled[:-1], doubled[1:]


def verdict_words(verdict: PatternVerdict) -> str:
    """Return the verdict in one or two words.

    >>> verdict_words(assess(parse_family("causal:n=4")))
    'causal functions only'
    >>> verdict_words(assess(parse_family("causal:n=4"), for_="causal"))
    'universal (causal functions)'
    """
    if verdict.universal is Answer.FAILS and verdict.reach is Reach.CAUSAL and not verdict.violations.size:
        return "causal functions only"
    word = {Answer.HOLDS: "universal", Answer.FAILS: "not universal", Answer.UNDECIDED: "undecided"}
    causal = " (causal functions)" if verdict.for_ is FunctionClass.CAUSAL else ""
    return f"{word[verdict.universal]}{causal}"


@styled
def draw(verdicts: Mapping[str, PatternVerdict]) -> Figure:
    """Draw one matrix a pattern, four to a row.

    Parameters
    ----------
    verdicts
        What `verify.pattern_verdict.assess` found, by the name to print.

    Raises
    ------
    ValueError
        If there is no pattern, or one has more than `LARGEST` tokens.
    """
    check_drawable({name: verdict.pattern for name, verdict in verdicts.items()}, LARGEST, "a matrix")
    across = min(ACROSS, len(verdicts))
    down = -(-len(verdicts) // across)
    figure = new_figure(FULL * across / ACROSS if across > 1 else FULL / 2, 2.15 * down + 0.2)
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for axes, (name, verdict) in zip(panels, verdicts.items(), strict=False):
        _matrix(axes, name, verdict)
    for axes in panels[len(verdicts) :]:
        axes.set_axis_off()
    if any(verdict.pattern.p > 1 for verdict in verdicts.values()):
        labels = ("first pattern", "second pattern" if _most(verdicts) == 2 else "later patterns", "both")
        patches = [
            Patch(facecolor=shade, edgecolor=INK, linewidth=0.5, label=label)
            for shade, label in zip(SHADES[1:], labels, strict=True)
        ]
        figure.legend(handles=patches, loc="outside lower center", ncols=3)
    return figure


def _most(verdicts: Mapping[str, PatternVerdict]) -> int:
    return max(verdict.pattern.p for verdict in verdicts.values())


def _matrix(axes: Axes, name: str, verdict: PatternVerdict) -> None:
    pattern, path = verdict.pattern, verdict.path
    axes.imshow(
        membership(pattern), cmap=ListedColormap(SHADES), norm=BoundaryNorm(np.arange(5) - 0.5, 4), aspect="equal"
    )
    if path.path is not None and pattern.n > 1:
        x, y = chain_line(path.path)
        small = min(1.0, 24 / pattern.n)
        halo = [Stroke(linewidth=2.4 * small, foreground="white"), Normal()]
        axes.plot(x, y, color=SIGNAL, linewidth=max(0.5, small), path_effects=halo, label="chain")
        axes.plot(path.path[:-1], path.path[1:], "o", color=PALETTE[0], markersize=2.0 * small, label="used")
    s = verdict.hops.s if verdict.hops.s is not None else ("none" if verdict.hops.answer is Answer.FAILS else "?")
    chain = {Answer.HOLDS: "", Answer.FAILS: "; no chain", Answer.UNDECIDED: "; chain undecided"}[path.answer]
    words = f"{pattern.connections} connections, $s$ = {s}\n{verdict_words(verdict)}{chain}"
    axes.set_title(f"{name}\n{words}", fontsize=7)
    ticks = sorted({0, pattern.n // 2, pattern.n - 1})
    axes.set_xticks(ticks)
    axes.set_yticks(ticks)
    axes.set_xlabel("key $j$", labelpad=1)
    axes.set_ylabel("query $k$", labelpad=1)
    for side in ("top", "right"):
        axes.spines[side].set_visible(True)


def example() -> Figure:
    """Draw the paper's three patterns and five that show where its assumptions end; 16 tokens, 14 in the last."""
    names = {
        "Strided, w = 4": "strided:n=16,w=4",
        "Fixed, w = 4": "fixed:n=16,w=4",
        "Star, w = 1": "star:n=16,w=1",
        "BigBird, w = r = g = 1": "bigbird:n=16,window=1,random=1,globals=1",
        "Window, w = 2": "window:n=16,w=2",
        "Hub": "hub:n=16",
        "Causal": "causal:n=16",
        "Fixed, w = 4, n = 14": "fixed:n=14,w=4",
    }
    return draw({name: assess(parse_family(spec)) for name, spec in names.items()})
