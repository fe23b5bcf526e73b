"""All-max-shifts: the greatest id comes to every token, and every token keeps its own.

Left: u^T Z_k after each layer Omega^l(Z; c), which adds c max_j u^T Z_j over the attended tokens (Lemma 7,
Appendix E.2), c = 2 s n delta^(-nd-1); t layers make it c^t times larger, so it is shown divided by c^t. The
dashed line is the dominating term c^t z~ of z~ = z~_gamma(n), the id that the selective shifts left greatest
(eq. 9), the band is [c^t z~, c^t (z~ + delta)): a token enters it once it has seen gamma(n) (filled mark).
Right, top: where the ids end inside [c^s z~, c^s (z~ + delta)) (eq. 12): no two alike (7.1), and apart from the
intervals of all other z~ (7.2). Right, bottom: the ids in base c; the leading digit is z~, the last is the
token's own z~_k, since q_k mod c = z~_k. Numbers in units of delta.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from constructions.contextual_mapping import build_mapping
from figures._trace import all_max_shifts, one_input
from figures.style import FULL, INK, MUTED, PALE, SIGNAL, curve_style, new_figure, styled, token_style
from theory.families import parse_family
from theory.hops import seers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from constructions.mapping import StagedMapping

__all__ = ["digits", "draw", "example", "run", "share_of_interval"]

COMFORTABLE, MOST_TOKENS, MOST_LAYERS = 4, 24, 6
WIDE = 200
"""From this ratio of the ids on, the axis of the left panel is logarithmic."""
LONGEST = 7
"""Characters of a digit; a longer one is printed in two digits and a power of ten."""


def run(mapping: StagedMapping, grid: npt.ArrayLike) -> list[tuple[int, ...]]:
    """Return u^T Z of every token before and after each all-max-shift, s + 1 states, in units of delta.

    Raises
    ------
    ProofError
        If the construction has no all-max-shift.
    """
    last = all_max_shifts(mapping)
    values = mapping.initial(one_input(mapping, grid))
    for stage in mapping.stages[: mapping.stages.index(last)]:
        values = stage.apply(values, mapping.pattern)
    states = [tuple(values.tolist())]
    for block in last.blocks():
        values = block.apply(values, mapping.pattern)
        states.append(tuple(values.tolist()))
    return states


def digits(number: int, c: int, s: int) -> list[int]:
    """Return the digits of an id in base c, c^s first; the first may exceed c.

    >>> digits(7 * 100 + 5 * 10 + 3, 10, 2)
    [7, 5, 3]
    """
    found = []
    for _ in range(s):
        number, digit = divmod(number, c)
        found.append(digit)
    return [number, *reversed(found)]


def share_of_interval(number: int, top: int, c: int, s: int) -> Fraction:
    """Return how far an id lies in [c^s top, c^s (top + 1)), exactly: 0 at its start, 1 at its end."""
    return Fraction(number, c**s) - top


@styled
def draw(mapping: StagedMapping, states: Sequence[Sequence[int]]) -> Figure:
    """Draw the last stage of the contextual mapping.

    Parameters
    ----------
    mapping
        The contextual mapping, paper or merged.
    states
        What `run` returned.

    Raises
    ------
    ValueError
        If there are too many layers or tokens for the table of digits.
    """
    s, n = len(states) - 1, len(states[0])
    if all_max_shifts(mapping).factor < 1:
        raise ValueError("without a factor c of at least 1 nothing is shifted: there is no figure")
    if s < 1 or s > MOST_LAYERS or n > MOST_TOKENS:
        raise ValueError(
            f"s = {s}, n = {n}: the figure shows 1 to {MOST_LAYERS} layers, at most {MOST_TOKENS} tokens"
        )
    figure = new_figure(FULL, 3.0 if n <= COMFORTABLE else 0.45 * n + 1.2)
    rows = figure.subplot_mosaic(
        [["ids", "interval"], ["ids", "digits"]], width_ratios=[1, 1.25], height_ratios=[1, 1.15]
    )
    _ids(rows["ids"], mapping, states)
    _interval(rows["interval"], mapping, states)
    _digits(rows["digits"], mapping, states)
    return figure


def _ids(axes: Axes, mapping: StagedMapping, states: Sequence[Sequence[int]]) -> None:
    stage, first = all_max_shifts(mapping), states[0]
    leader = max(range(len(first)), key=first.__getitem__)
    layers = range(len(states))
    seen = [seers(mapping.pattern, leader, t) for t in layers]
    axes.axhspan(float(first[leader]), float(first[leader] + 1), color="#CFCFCF", linewidth=0, label="interval")
    axes.axhline(float(first[leader]), color=MUTED, linestyle="--", linewidth=0.8, label="$c^t \\tilde z$")
    for token in range(len(first)):
        heights = [float(Fraction(state[token], stage.factor**t)) for t, state in enumerate(states)]
        look = token_style(token)
        line = curve_style(token)["linestyle"]
        axes.plot(layers, heights, color=look["color"], linestyle=line, linewidth=0.9, label=f"_line {token}")
        for t in layers:
            fill = look["color"] if seen[t][token] else "white"
            label = f"token {token}" if t == len(states) - 1 else f"_token {token}"
            axes.plot([t], [heights[t]], **look, markersize=5, markerfacecolor=fill, linestyle="", label=label)
    axes.set_ylim(0, None)
    if len(first) > 1 and first[leader] > WIDE * sorted(first)[1]:
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(0.5 * max(1, min(first)), 2.0 * first[leader])
    axes.set_xticks(list(layers))
    axes.set_xlabel("all-max-shifts $t$")
    axes.set_ylabel("$u^T Z_k / c^t$ in units of $\\delta$")
    axes.legend(loc="lower right")


def _interval(axes: Axes, mapping: StagedMapping, states: Sequence[Sequence[int]]) -> None:
    stage, top = all_max_shifts(mapping), max(states[0])
    axes.axvspan(0, 1, color=PALE, alpha=0.6, linewidth=0)
    for token, number in enumerate(states[-1]):
        place = float(share_of_interval(number, top, stage.factor, stage.count))
        axes.plot([place], [token], **token_style(token), markersize=5, label=f"token {token}")
        axes.annotate(
            f"{place:.4f}", (place, token), xytext=(6, 0), textcoords="offset points", va="center", fontsize=7
        )
    axes.set_yticks(range(len(states[-1])), [f"token {token}" for token in range(len(states[-1]))])
    axes.set_ylim(len(states[-1]) - 0.4, -0.6)
    axes.set_xlim(-0.05, 1.05)
    axes.set_xticks([0, 0.5, 1], ["$c^s \\tilde z$", "$c^s(\\tilde z + \\delta/2)$", "$c^s(\\tilde z + \\delta)$"])
    axes.set_title(f"$\\tilde z$ = {_short(top)}, $c$ = {_short(stage.factor)}, $s$ = {stage.count}")


def _digits(axes: Axes, mapping: StagedMapping, states: Sequence[Sequence[int]]) -> None:
    stage = all_max_shifts(mapping)
    s, n = stage.count, len(states[-1])
    axes.set_xlim(-1.2, s + 0.5)
    axes.set_ylim(n - 0.4, -1.1)
    axes.set_axis_off()
    for power in range(s + 1):
        said = {0: "$c^0$: own $\\tilde z_k$", s: f"$c^{s}$: $\\tilde z$"}.get(power, f"$c^{power}$")
        axes.text(s - power, -0.75, said, ha="center", va="center", fontsize=7)
    axes.text(-1.15, -0.75, "id $q_k$ =", ha="left", va="center", fontsize=7)
    for token, number in enumerate(states[-1]):
        axes.text(-1.15, token, f"token {token}", ha="left", va="center", fontsize=7)
        for column, digit in enumerate(digits(number, stage.factor, s)):
            own = column in (0, s)
            axes.text(
                column, token, _short(digit), ha="center", va="center", fontsize=7,
                color=SIGNAL if column == 0 else INK, fontweight="bold" if own else "normal",
            )  # fmt: skip
    axes.plot([-1.15, s + 0.45], [-0.4, -0.4], color=INK, linewidth=0.5)


def _short(number: int) -> str:
    return str(number) if len(str(number)) <= LONGEST else f"{Decimal(number):.1e}"


def example() -> Figure:
    """Follow one input of a window of four tokens, d = 1, delta = 1/2, along the chain 0, 1, 2, 3: s = 3."""
    mapping = build_mapping(parse_family("window:n=4,w=1"), 1, 2, gamma=[0, 1, 2, 3])
    return draw(mapping, run(mapping, [[1, 0, 1, 0]]))
