"""One look for all figures: colours, line styles, sizes for a two-column paper, and files without timestamps.

Colours differ in lightness as well as in hue, and no figure relies on colour alone: markers, line styles and
hatches go along with them, so that a photocopy and a colour-blind reader lose nothing.
"""

from __future__ import annotations

import io
from functools import wraps
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ParamSpec

from matplotlib import rc_context
from matplotlib.figure import Figure

from theory.files import replaced

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "COLUMN",
    "CURVES",
    "FORMATS",
    "FULL",
    "GREYS",
    "HATCHES",
    "INK",
    "LINESTYLES",
    "MARKERS",
    "MUTED",
    "PALE",
    "PALETTE",
    "RC",
    "SIGNAL",
    "curve_style",
    "new_figure",
    "save",
    "styled",
    "token_style",
]

COLUMN = 3.35
"""Width of one column, in inches."""
FULL = 6.9
"""Width of both columns, in inches."""

PALETTE = ("#000000", "#00508C", "#C4480B", "#C679A6", "#E6A11A", "#A3D5F2")
"""Dark to light: black, blue, vermilion, purple, orange, sky. In a greyscale copy the order stays visible."""
INK, SIGNAL, MUTED, PALE = "#000000", "#C4480B", "#767676", "#DDDDDD"
"""Text and axes; the one thing to look at; secondary lines; backgrounds and grids."""
MARKERS = ("o", "s", "^", "D", "v", "P")
LINESTYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++")
GREYS = "Greys"
"""Colour map of magnitudes; `CURVES` is the one for values with both signs."""
CURVES = "PuOr"
FORMATS = ("png", "svg", "pdf")

RC: Any = {  # matplotlib types the keys as one long Literal
    "axes.edgecolor": INK,
    "axes.formatter.use_mathtext": True,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8,
    "figure.dpi": 150,
    "figure.facecolor": "white",
    "font.family": ["DejaVu Sans"],  # comes with matplotlib: the same glyphs everywhere
    "font.size": 8,
    "hatch.linewidth": 0.5,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
    "mathtext.fontset": "dejavusans",
    "pdf.fonttype": 42,
    "savefig.bbox": "standard",
    "savefig.dpi": 150,
    "svg.fonttype": "none",
    "svg.hashsalt": "sparseuap",
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
}
_NO_DATES: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}

P = ParamSpec("P")


def styled(draw: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw under the house's settings (`RC`), whatever the caller's own are, and leave those as they were."""

    @wraps(draw)
    def inside(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with rc_context(RC):
            return draw(*args, **kwargs)

    return inside


def new_figure(width: float = COLUMN, height: float = 2.4) -> Figure:
    """Return an empty figure (inches) whose layout keeps labels from being cut off; no pyplot, no global state.

    >>> new_figure(FULL, 2.0).get_size_inches().tolist()
    [6.9, 2.0]
    """
    with rc_context(RC):
        return Figure(figsize=(width, height), layout="constrained")


def curve_style(index: int) -> dict[str, Any]:
    """Colour, marker and line style of curve number `index` of a plot; they repeat together after six.

    >>> curve_style(1)["color"], curve_style(1)["marker"], curve_style(1)["linestyle"]
    ('#00508C', 's', '--')
    """
    index %= len(PALETTE)
    return {"color": PALETTE[index], "marker": MARKERS[index], "linestyle": LINESTYLES[index]}


def token_style(token: int) -> dict[str, Any]:
    """Colour and marker of one token, the same in every figure; no two alike among 36.

    >>> token_style(0), token_style(6)
    ({'color': '#000000', 'marker': 'o'}, {'color': '#000000', 'marker': 's'})
    """
    turn, index = divmod(token, len(PALETTE))
    return {"color": PALETTE[index], "marker": MARKERS[(index + turn) % len(MARKERS)]}


def save(figure: Figure, path: Path | str | io.BytesIO, format: str = "svg") -> None:
    """Write a figure as png, svg or pdf: vector text, no date, no version, the same bytes on every run.

    A file is written whole or not at all.

    Raises
    ------
    ValueError
        for another format.
    OutputError
        If the file cannot be written.
    """
    if format not in FORMATS:
        raise ValueError(f"format {format!r} is not known: choose {', '.join(FORMATS)}")
    if not isinstance(path, io.BytesIO):
        with replaced(Path(path)) as draft, draft.open("wb") as file:
            _write(figure, file, format)
        return
    _write(figure, path, format)


def _write(figure: Figure, file: IO[bytes], format: str) -> None:
    with rc_context(RC):
        figure.savefig(file, format=format, metadata=_NO_DATES[format])
