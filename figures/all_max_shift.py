"""All-max-shifts: the greatest id comes to every token, and every token keeps its own.

Left: u^T Z_k after each layer Omega^l(Z; c), which adds c max_j u^T Z_j over the attended tokens (Lemma 7, Appendix
E.2), c = 2 s n delta^(-nd-1); t layers make it c^t times larger, so it is shown divided by c^t. The dashed line is the
dominating term c^t z~ of z~ = z~_gamma(n), the id that the selective shifts left greatest (eq. 9), the band is
[c^t z~, c^t (z~ + delta)): a token enters it once it has seen gamma(n) (filled mark). Right, top: where the ids end
inside [c^s z~, c^s (z~ + delta)) (eq. 12): no two alike (7.1), and apart from the intervals of all other z~ (7.2).
Right, bottom: the ids in base c; the leading digit is z~, the last is the token's own z~_k, since q_k mod c = z~_k.
Numbers in units of delta.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from constructions.contextual_mapping import build_mapping
from figures._trace import Step, all_max_shifts, trace
from figures.style import FULL, INK, MARKERS, MUTED, PALE, PALETTE, SIGNAL, curve_style, new_figure, styled
from theory.families import parse_family
from theory.hops import seers

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from constructions.mapping import StagedMapping

__all__ = ["digits", "draw", "example", "run", "share_of_interval"]


def run(mapping: StagedMapping, grid: npt.ArrayLike) -> list[tuple[int, ...]]:
    """Return u^T Z of every token before and after each all-max-shift, s + 1 states, in units of delta.

    Raises
    ------
    ProofError
        If the construction has no all-max-shift.
    """
    name = all_max_shifts(mapping).name
    steps: list[Step] = [step for step in trace(mapping, grid) if step.stage == name]
    return [steps[0].before, *(step.after for step in steps)]


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
    """
    figure = new_figure(FULL, 3.0)
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
    axes.axhspan(first[leader], first[leader] + 1, color="#CFCFCF", linewidth=0, label="interval")
    axes.axhline(first[leader], color=MUTED, linestyle="--", linewidth=0.8, label="$c^t \\tilde z$")
    for token in range(len(first)):
        heights = [float(Fraction(state[token], stage.factor**t)) for t, state in enumerate(states)]
        look = curve_style(token) | {"marker": "", "linewidth": 0.9}
        axes.plot(layers, heights, **look, label=f"_line {token}")
        for t in layers:
            seen = bool(seers(mapping.pattern, leader, t)[token])
            axes.plot(
                [t],
                [heights[t]],
                MARKERS[token % len(MARKERS)],
                markersize=5,
                markeredgewidth=0.9,
                markeredgecolor=PALETTE[token % len(PALETTE)],
                markerfacecolor=PALETTE[token % len(PALETTE)] if seen else "white",
                label=f"token {token}" if t == len(states) - 1 else f"_token {token}",
            )
    axes.set_ylim(0, None)
    axes.set_xticks(list(layers))
    axes.set_xlabel("all-max-shifts $t$")
    axes.set_ylabel("$u^T Z_k / c^t$ in units of $\\delta$")
    axes.legend(loc="lower right")


def _interval(axes: Axes, mapping: StagedMapping, states: Sequence[Sequence[int]]) -> None:
    stage, top = all_max_shifts(mapping), max(states[0])
    axes.axvspan(0, 1, color=PALE, alpha=0.6, linewidth=0)
    for token, number in enumerate(states[-1]):
        place = float(share_of_interval(number, top, stage.factor, stage.count))
        look = MARKERS[token % len(MARKERS)]
        color = PALETTE[token % len(PALETTE)]
        axes.plot([place], [token], look, color=color, markersize=5, label=f"token {token}")
        axes.annotate(
            f"{place:.4f}", (place, token), xytext=(6, 0), textcoords="offset points", va="center", fontsize=7
        )
    axes.set_yticks(range(len(states[-1])), [f"token {token}" for token in range(len(states[-1]))])
    axes.set_ylim(len(states[-1]) - 0.4, -0.6)
    axes.set_xlim(-0.05, 1.05)
    axes.set_xticks([0, 0.5, 1], ["$c^s \\tilde z$", "$c^s(\\tilde z + \\delta/2)$", "$c^s(\\tilde z + \\delta)$"])
    axes.set_title(f"$\\tilde z$ = {top}, $c$ = {stage.factor}, $s$ = {stage.count}")


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
                column, token, str(digit), ha="center", va="center", fontsize=7,
                color=SIGNAL if column == 0 else INK, fontweight="bold" if own else "normal",
            )  # fmt: skip
    axes.plot([-1.15, s + 0.45], [-0.4, -0.4], color=INK, linewidth=0.5)


def example() -> Figure:
    """Follow one input of a window of four tokens, d = 1, delta = 1/2, along the chain 0, 1, 2, 3: s = 3."""
    mapping = build_mapping(parse_family("window:n=4,w=1"), 1, 2, gamma=[0, 1, 2, 3])
    return draw(mapping, run(mapping, [[1, 0, 1, 0]]))
