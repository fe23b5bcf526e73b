"""L_p error against t: several maps and constructions, the rigorous bound, and the split by source.

Left: d_p(gbar, g) on inputs outside quantization's ramps, measured (solid, marks) and bounded (dashed, same
mark), for every map and construction; below the t where the bound begins nothing is claimed (Lemma 4, Appendix
F). The distance falls steeply where the last id becomes right. Right: the whole distance d_p(f, g) of one case,
split by source: d_p(f, fbar) of the grid (§4.1), d_p(gbar, g) outside and inside the ramps of eq. (15);
d_p(fbar, gbar) is 0 by Lemma 3. Bands are 99 % intervals of what is sampled; a distance of 0 is drawn on the
lower edge, and one above its bound, which would refute the proof, gets a cross.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from constructions.targets import TARGETS
from figures.style import FULL, MUTED, SIGNAL, curve_style, new_figure, styled
from theory import families
from theory.probability_maps import parse_map
from verify.error_study import study_error
from verify.lp_strata import Plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from verify.error_study import ErrorStudy
    from verify.lp_norm import Distance

    Floats = npt.NDArray[np.float64]

__all__ = ["draw", "example"]

FLOOR = 1e-8
"""The lower edge of the logarithmic axes: what is smaller, 0 included, is drawn there."""
ABOVE: dict[str, Any] = {"linestyle": "none", "marker": "x", "markersize": 10, "color": SIGNAL}
"""How a measured value above its rigorous bound is marked: something is wrong there."""
SOURCES = {
    "total": "total, $d_p(f, g)$",
    "discretization": r"grid, $d_p(f, \bar f)$",
    "good": r"ids, $d_p(\bar g, g)$ outside ramps",
    "ramp": r"ramps, $d_p(\bar g, g)$ inside",
}


@styled
def draw(studies: Sequence[ErrorStudy], split: int = 0) -> Figure:
    """Draw several studies, and the split of one by source.

    Parameters
    ----------
    studies
        At least one; runs over t.
    split
        Which of them is split.

    Raises
    ------
    ValueError
        If there is no study.
    """
    if not studies:
        raise ValueError("the figure of the error needs at least one study")
    figure = new_figure(FULL, 3.1)
    left, right = figure.subplots(1, 2, sharex=len(studies) == 1)
    for index, study in enumerate(studies):
        _measured_and_bound(left, study, curve_style(index))
    _split(right, studies[split])
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.set_ylim(bottom=FLOOR)
        axes.set_xlabel("$t$")
    sound = all(study.holds for study in studies)
    left.set_title(
        "outside ramps: measured, and bound (dashed)" if sound else "a measured value contradicts the proof",
        loc="left",
    )
    left.set_ylabel(rf"$d_{{{studies[0].p:g}}}(\bar g, g)$")
    right.set_title(f"by source: {_name(studies[split])}", loc="left")
    right.set_ylabel(f"$d_{{{studies[split].p:g}}}$")
    for axes in (left, right):
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.22), ncols=2)
    return figure


def example() -> Figure:
    """Draw Star with 4 tokens (d = 1, delta = 1/2, f sorts) for three maps, and softmax in two constructions."""
    star, temperatures = families.star(4, 1), [2.0**k for k in range(-1, 10)]
    cases = (("softmax", "relay"), ("softmax", "merged"), ("entmax:1.5", "relay"), ("sparsemax", "relay"))
    studies = [
        study_error(
            star,
            d=1,
            levels=2,
            target=TARGETS["sort"],
            rho=parse_map(rho),
            construction=construction,
            t=temperatures,
            alpha=1e-9,
            plan=Plan(1, 4, 2, points=2**8, ramp=2**8),
        )
        for rho, construction in cases
    ]
    return draw(studies)


def _name(study: ErrorStudy) -> str:
    return f"{study.rho.name}, {study.network.mapping.construction}"


def _measured_and_bound(axes: Axes, study: ErrorStudy, style: dict[str, Any]) -> None:
    t = np.array([row.t for row in study.rows])
    good = np.array([row.errors.good.value for row in study.rows])
    bound = np.array([row.bound.relaxation for row in study.rows])
    claimed = np.isfinite(bound)
    look = {**style, "linestyle": "-"}
    axes.plot(t, _drawn(good), **look, label=_name(study))
    axes.plot(t[claimed], _drawn(bound[claimed]), **{**look, "linestyle": "--"}, markerfacecolor="white")
    wrong = [found for found in study.contradictions if found.part == "good"]
    if wrong:
        places = np.array([found.t for found in wrong], dtype=float)
        axes.plot(places, _drawn(np.array([found.measured for found in wrong])), **ABOVE, label="above its bound")


def _split(axes: Axes, study: ErrorStudy) -> None:
    t = np.array([row.t for row in study.rows])
    for index, (source, label) in enumerate(SOURCES.items()):
        found: list[Distance] = [getattr(row.errors, source) for row in study.rows]
        values = np.array([distance.value for distance in found])
        low, high = np.array([distance.interval for distance in found]).T
        style = curve_style(index)
        axes.plot(t, _drawn(values), **style, label=label, zorder=3 + (source == "discretization"))
        if not all(distance.exact for distance in found):
            axes.fill_between(t, _drawn(low), _drawn(high), color=style["color"], alpha=0.2, linewidth=0)
    for value, label in ((study.t_measured, "ids right"), (study.t_guaranteed, "guaranteed")):
        if value is not None:
            axes.axvline(value, color=MUTED, linestyle=":", linewidth=0.8)
            axes.annotate(
                label,
                (value, 0),
                xycoords=("data", "axes fraction"),
                xytext=(-1, 2),
                textcoords="offset points",
                rotation=90,
                ha="right",
                va="bottom",
                fontsize=6,
                color=MUTED,
            )


def _drawn(values: Floats) -> Floats:
    """Return what a logarithmic axis can show: NaN for a run that ran away, the edge for 0."""
    return np.where(np.isfinite(values), np.maximum(values, FLOOR), np.nan)
