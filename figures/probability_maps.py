"""Probability maps: weight of the leader against t, the t of the formula marked.

Assumption 2 asks for a t at which rho[t v] gives the leader at least 1 - eta (dotted line) for every v whose
leader leads by zeta. Curves: the leader's weight in the worst case over all such v with m entries, 1 minus the
mass that can be lost. Marks: the sufficient t of Appendix B for each map, which is never left of where its
curve passes 1 - eta. Right: for maps that break the assumption one vector is enough, here v = (1, 1 - zeta,
..., 1 - zeta): whatever t, they stay below the line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from figures.style import FULL, MUTED, curve_style, new_figure, styled
from theory.probability_maps import parse_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.figure import Figure

    from theory.probability_maps import ProbabilityMap

__all__ = ["LeaderCurve", "draw", "example", "leader_curve", "vector_curve"]

KEEPING = ("softmax", "topk:4", "entmax:1.5", "sparselin-gen:0.5", "sparsemax")
BREAKING = ("uniform", "squared", "tanh-capped:20")


@dataclass(frozen=True, eq=False)
class LeaderCurve:
    """What one map gives its leader.

    Parameters
    ----------
    name
        The map.
    t
        Temperatures.
    weight
        The leader's weight at each of them: in the worst case, or for one vector.
    sufficient
        The t of the formula; None where no t will do.
    """

    name: str
    t: npt.NDArray[np.float64]
    weight: npt.NDArray[np.float64]
    sufficient: float | None


def leader_curve(
    rho: ProbabilityMap, t: npt.NDArray[np.float64], *, zeta: float, eta: float, m: int
) -> LeaderCurve:
    """Compute the curve of one map for a lead of zeta among m scores.

    >>> curve = leader_curve(parse_map("sparsemax"), np.array([1.0, 8.0]), zeta=0.125, eta=0.01, m=8)
    >>> float(curve.weight[-1])
    1.0
    """
    weight = np.array([1 - rho.lost_mass(value, zeta, m) for value in t.tolist()])
    return LeaderCurve(rho.name, t, weight, rho.sufficient_t(zeta, eta, m))


def vector_curve(rho: ProbabilityMap, t: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]) -> LeaderCurve:
    """Compute the weight of the leader of one vector of scores; no t is marked.

    >>> vector_curve(parse_map("uniform"), np.array([1.0, 8.0]), np.array([1.0, 0.5])).weight.tolist()
    [0.5, 0.5]
    """
    weights = np.array([rho(value * scores) for value in t.tolist()])
    return LeaderCurve(rho.name, t, weights[:, int(np.argmax(scores))], None)


@styled
def draw(keeping: Sequence[LeaderCurve], breaking: Sequence[LeaderCurve], *, zeta: float, eta: float) -> Figure:
    """Draw the maps that keep Assumption 2, and those that break it.

    Parameters
    ----------
    keeping, breaking
        Their curves; the right panel is left out where nothing breaks.
    zeta, eta
        The lead, and the mass that the others may have.
    """
    figure = new_figure(FULL, 2.8)
    groups = [group for group in (keeping, breaking) if group]
    row = figure.subplots(1, len(groups), squeeze=False, sharey=True)[0]
    for axes, group in zip(row, groups, strict=True):
        offset = len(keeping) if group is breaking and len(keeping) + len(breaking) <= 6 else 0
        for index, curve in enumerate(group):
            style = curve_style(index + offset)
            marker = style.pop("marker")
            every = max(1, curve.t.size // 6)
            axes.plot(curve.t, curve.weight, **style, label=curve.name, marker=marker, markevery=(index, every))
            if curve.sufficient is not None:
                axes.plot(
                    [curve.sufficient] * 2, [-0.12, -0.02], color=style["color"], linestyle=style["linestyle"]
                )
                axes.plot([curve.sufficient], [-0.02], color=style["color"], marker=marker, markersize=5)
        axes.axhline(1 - eta, color=MUTED, linestyle=":", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_xlabel("$t$")
        axes.set_ylim(-0.14, 1.06)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)
    row[0].set_title("keep Assumption 2; below: the $t$ of the formula", loc="left")
    if breaking:
        row[-1].set_title("break it: no $t$ will do", loc="left")
    row[0].set_ylabel(rf"leader's weight, lead $\zeta$ = {zeta:g}")
    row[0].annotate(
        rf"$1 - \eta$ = {1 - eta:g}",
        (0.01, 1 - eta),
        xycoords=("axes fraction", "data"),
        xytext=(0, -2),
        textcoords="offset points",
        va="top",
        fontsize=7,
        color=MUTED,
    )
    return figure


def example() -> Figure:
    """Draw the lead delta^2/2 of the selective shifts at delta = 1/2 among m = 8 scores, eta = 0.05."""
    zeta, eta, m = 0.125, 0.05, 8
    t = np.geomspace(0.5, 128, 161)
    keeping = [leader_curve(parse_map(name), t, zeta=zeta, eta=eta, m=m) for name in KEEPING]
    scores = np.array([1.0, *[1 - zeta] * (m - 1)])
    breaking = [vector_curve(parse_map(name), t, scores) for name in BREAKING]
    return draw(keeping, breaking, zeta=zeta, eta=eta)
