"""Target against network output on a slice: n = 2 tokens, d = 1.

Rows: output token 0 and 1. Columns: the continuous f, the network's g after relaxation (Lemma 4), and |f - g|,
over all inputs (x_0, x_1) in [0, 1)^2. Away from ramps g is constant on the cells of the grid and equals fbar
up to the error of the ids (Lemma 3). Black: inputs with a coordinate in a ramp of eq. (15), a share 1 - (1 -
alpha)^2, which meet no window of the value mapping (Lemma 8) and come out as raw ids; alpha is drawn large
here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from constructions.network import build_network
from constructions.relaxation import soften
from constructions.targets import parse_target
from figures.style import FULL, GREYS, INK, new_figure, styled
from theory import families
from theory.probability_maps import parse_map

if TYPE_CHECKING:
    import numpy.typing as npt
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

    from constructions.relaxation import SoftNetwork

    Floats = npt.NDArray[np.float64]

__all__ = ["Slice", "draw", "example", "sample_slice"]


@dataclass(frozen=True, eq=False)
class Slice:
    """Target and network on a square grid of inputs.

    Parameters
    ----------
    f, g
        Shape (2, points, points): output token, x_1, x_0.
    ramp
        Shape (points, points): where a coordinate lies in a ramp.
    title
        The case.
    """

    f: Floats
    g: Floats
    ramp: npt.NDArray[np.bool_]
    title: str


def sample_slice(soft: SoftNetwork, points: int) -> Slice:
    """Run target and network on the midpoints of a grid of points x points inputs.

    Raises
    ------
    ValueError
        If the network has not two tokens and d = 1.
    """
    hard = soft.mapping.mapping
    if (hard.d, hard.pattern.n) != (1, 2):
        raise ValueError(f"a slice shows n = 2 and d = 1, not n = {hard.pattern.n} and d = {hard.d}")
    along = (np.arange(points) + 0.5) / points
    inputs = np.stack(np.meshgrid(along, along), axis=-1)[:, :, None, :]  # [x_1, x_0, 0, token]
    f = soft.network.target(inputs)[:, :, 0, :]
    g = soft.run(inputs).columns[:, :, 0, :]
    in_ramp = (along * hard.K) % 1 >= 1 - soft.alpha
    title = (
        f"{soft.network.target.name}, $\\delta$ = 1/{hard.K}, {soft.mapping.rho.name}, $t$ = {soft.mapping.t:g}"
    )
    return Slice(np.moveaxis(f, -1, 0), np.moveaxis(g, -1, 0), in_ramp[:, None] | in_ramp, title)


@styled
def draw(part: Slice) -> Figure:
    """Draw f, g and their distance for both tokens."""
    figure = new_figure(FULL, 3.9)
    grid = figure.subplots(2, 3, sharex=True, sharey=True)
    low, high = float(part.f.min()), float(part.f.max())
    away = np.ma.masked_array(np.abs(part.f - part.g), part.ramp | ~np.isfinite(part.g))
    most = float(away.filled(0.0).max()) or 1.0
    values = errors = None
    for token, row in enumerate(grid):
        values = _image(row[0], part.f[token], low, high)
        _image(row[1], np.ma.masked_array(part.g[token], np.ma.getmaskarray(away)[token]), low, high)
        errors = _image(row[2], away[token], 0.0, most)
        row[0].set_ylabel(f"token {token}\n$x_1$")
    for axes, title in zip(grid[0], ("$f$", "$g$", "$|f - g|$"), strict=True):
        axes.set_title(title)
    for axes in grid[1]:
        axes.set_xlabel("$x_0$")
    if values is not None and errors is not None:
        figure.colorbar(values, ax=grid[:, :2], shrink=0.8, label="value")
        figure.colorbar(errors, ax=grid[:, 2], shrink=0.8, label="distance")
    figure.suptitle(part.title, fontsize=8)
    return figure


def example() -> Figure:
    """Draw x - 2 x^2 + the mean of x^3 as the target, with the relay construction at delta = 1/8."""
    network = build_network(families.ring(2), 1, 8, parse_target("polynomial"), "relay")
    return draw(sample_slice(soften(network, parse_map("softmax"), 2.0**12, 0.08), 240))


def _image(axes: Axes, values: npt.ArrayLike, low: float, high: float) -> AxesImage:
    axes.set_facecolor(INK)  # masked inputs: in a ramp
    axes.set_xticks([0, 0.5, 1])
    axes.set_yticks([0, 0.5, 1])
    return axes.imshow(
        values, vmin=low, vmax=high, cmap=GREYS, origin="lower", extent=(0, 1, 0, 1), interpolation="nearest"
    )
