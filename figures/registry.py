"""All figures by name; a figure's title and caption are its module's docstring, written nowhere else."""

from __future__ import annotations

import ast
import inspect
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

    from matplotlib.figure import Figure

__all__ = ["FIGURES", "FigureEntry", "figure_entry"]


@dataclass(frozen=True)
class FigureEntry:
    """One figure: nothing of it is imported before it is drawn, so that listing all of them is cheap.

    >>> FIGURES["depth"].module
    'figures.depth'
    """

    name: str

    @property
    def module(self) -> str:
        """Return the dotted name of the module that draws it."""
        return f"figures.{self.name}"

    @property
    def title(self) -> str:
        """Return the first line of the module's docstring, without its full stop."""
        return self._docstring().partition("\n")[0].rstrip(".")

    @property
    def caption(self) -> str:
        """Return the rest of the module's docstring: what the figure shows, with the paper's equation numbers."""
        return self._docstring().partition("\n")[2].strip()

    def load(self) -> ModuleType:
        """Import the module: `draw` makes the figure from results, `example` from a small default case."""
        return import_module(self.module)

    def example(self) -> Figure:
        """Compute the small default case and draw it."""
        figure: Figure = self.load().example()
        return figure

    def _docstring(self) -> str:
        source = Path(__file__).with_name(f"{self.name}.py").read_text(encoding="utf-8")
        return inspect.cleandoc(ast.get_docstring(ast.parse(source)) or "")


_NAMES = (
    "pattern_matrices",
    "reach_growth",
    "union_digraph",
    "depth",
    "quantization",
    "selective_shift",
    "all_max_shift",
    "relay",
    "value_mapping",
    "contextual_mapping",
    "probability_maps",
    "error_against_t",
    "error_by_layer",
    "target_slice",
)

FIGURES: dict[str, FigureEntry] = {name: FigureEntry(name) for name in _NAMES}
"""In the order of the proof."""


def figure_entry(name: str) -> FigureEntry:
    """Return the figure of that name.

    Raises
    ------
    ValueError
        if there is none.
    """
    if name not in FIGURES:
        raise ValueError(f"figure {name!r} is not known: choose {', '.join(FIGURES)}")
    return FIGURES[name]
