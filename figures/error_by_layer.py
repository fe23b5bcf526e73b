"""Error by layer: measured, and the rigorous bound.

The largest |relaxed - exact| of u^T Z_k over all inputs and tokens after every layer of the contextual mapping,
in units of delta (marks), and the bound of the recursion (steps; Lemma 4, Appendix F). Where the error could
pass delta/8 before a layer the bound ends and nothing is claimed; within delta/4 at the end the value mapping
reads every id. An error of 0 is drawn on the lower edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from constructions.blocks import Identity
from constructions.cells import cells
from constructions.error_budget import READ, Budgets
from constructions.network import choose_mapping
from constructions.relaxation import soften
from figures.style import FULL, MUTED, PALE, curve_style, new_figure, styled
from theory import families
from theory.bounds import LARGEST_ERROR
from theory.probability_maps import parse_map

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from constructions.mapping import StagedMapping
    from theory.bounds import ErrorBudget
    from theory.patterns import IntArray
    from theory.probability_maps import ProbabilityMap

__all__ = ["LayerErrors", "draw", "example", "layer_errors"]

FLOOR = 1e-17
NARROW = 0.15  # share of the layers below which the name of a stage is turned


@dataclass(frozen=True, eq=False)
class LayerErrors:
    """What one temperature does to every layer.

    Parameters
    ----------
    t
        The temperature.
    stages
        The stage of every layer, identity blocks not counted.
    measured
        The largest error after every layer, in units of delta; inf where a run was given up.
    budget
        The bound.
    """

    t: float
    stages: tuple[str, ...]
    measured: npt.NDArray[np.float64]
    budget: ErrorBudget


def layer_errors(
    mapping: StagedMapping, rho: ProbabilityMap, temperatures: Sequence[float], grids: IntArray
) -> list[LayerErrors]:
    """Run the relaxed mapping next to the exact one, layer by layer.

    Parameters
    ----------
    mapping
        Of any construction, small enough for float64.
    rho, temperatures
        The map, and its t.
    grids
        Inputs (m, d, n) in units of delta.
    """
    start = mapping.initial(grids)
    exact, values = [], start
    for stage in mapping.stages:
        for block in stage.blocks():
            if not isinstance(block, Identity):
                values = block.apply(values, mapping.pattern)
                exact.append(values.astype(np.float64))
    budgets, found = Budgets(mapping), []
    for t in temperatures:
        names, errors = [], []
        trace = soften(mapping, rho, t).trace(start.astype(np.float64))
        for (layer, soft), hard in zip(trace, exact, strict=True):
            away = np.abs(soft - hard).max()
            names.append(layer.stage)
            errors.append(float("inf") if np.isnan(away) else float(away))
        found.append(LayerErrors(t, tuple(names), np.array(errors), budgets.at(rho, t)))
    return found


@styled
def draw(panels: dict[str, list[LayerErrors]]) -> Figure:
    """Draw the errors of several mappings.

    Parameters
    ----------
    panels
        By title: runs of one mapping at several t.
    """
    figure = new_figure(FULL, 2.9)
    row = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axes, (title, runs) in zip(row, panels.items(), strict=True):
        _panel(axes, runs)
        axes.set_title(title, loc="left")
    row[0].set_ylabel(r"error of $u^T Z_k$ in units of $\delta$")
    return figure


def example() -> Figure:
    """Draw Star with 4 tokens (d = 1, delta = 1/2) under softmax, merged and relay construction."""
    star, softmax, every = families.star(4, 1), parse_map("softmax"), cells(1, 4, 2)
    panels = {}
    for construction, temperatures in (("merged", (80.0, 120.0, 240.0)), ("relay", (16.0, 30.0, 60.0))):
        mapping = choose_mapping(star, 1, 2, construction)
        panels[f"softmax, {construction} construction"] = layer_errors(mapping, softmax, temperatures, every)
    return draw(panels)


def _panel(axes: Axes, runs: Sequence[LayerErrors]) -> None:
    from matplotlib.ticker import MaxNLocator

    _stages(axes, runs[0].stages)
    for index, run in enumerate(runs):  # first all measured, then all bounds: the columns of the legend
        style = {**curve_style(index), "linestyle": "none"}
        layers = np.arange(1, run.measured.size + 1)
        axes.plot(
            layers,
            np.where(np.isinf(run.measured), np.nan, np.maximum(run.measured, FLOOR)),
            **style,
            label=f"measured, $t$ = {run.t:g}",
        )
    for index, run in enumerate(runs):
        layers = np.arange(1, run.measured.size + 1)
        bound = np.array([layer.error for layer in run.budget.layers])
        style = {**curve_style(index), "marker": ""}
        axes.plot(
            layers[: bound.size],
            np.maximum(bound, FLOOR),
            **style,
            drawstyle="steps-mid",
            label="bound" if run.budget.valid else f"bound, ends after layer {bound.size}",
        )
    for level, name in ((LARGEST_ERROR, r"$\delta/8$"), (READ, r"$\delta/4$")):
        axes.axhline(level, color=MUTED, linestyle=":", linewidth=0.8)
        axes.annotate(
            name,
            (1, level),
            xycoords=("axes fraction", "data"),
            fontsize=6,
            color=MUTED,
            va="bottom" if level == READ else "top",
            ha="right",
        )
    axes.set_yscale("log")
    axes.set_xlabel("layer of the contextual mapping")
    finite = [run.measured[np.isfinite(run.measured)].max(initial=1.0) for run in runs]
    axes.set_ylim(FLOOR / 4, 1e5 * max(finite))  # room for the names of the stages
    axes.set_xlim(0.5, runs[0].measured.size + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, fontsize=6)


def _stages(axes: Axes, stages: Sequence[str]) -> None:
    """Shade every other stage and write its name."""
    start, shaded = 0, False
    for end in range(1, len(stages) + 1):
        if end == len(stages) or stages[end] != stages[start]:
            if shaded:
                axes.axvspan(start + 0.5, end + 0.5, color=PALE, alpha=0.5, linewidth=0, zorder=0)
            axes.annotate(
                stages[start],
                ((start + end + 1) / 2, 0.99),
                xycoords=("data", "axes fraction"),
                ha="center",
                va="top",
                fontsize=6,
                rotation=90 if end - start < NARROW * len(stages) else 0,
            )
            start, shaded = end, not shaded
