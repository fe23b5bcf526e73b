"""What a notebook shows for a pattern: one escaped line, and the matrix where it is small."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from theory.connections import Connections
    from theory.patterns import SparsityPattern

__all__ = ["LARGEST_PICTURE", "matrix_svg", "shown"]

LARGEST_PICTURE = 64
"""Tokens up to which the matrix is drawn."""
MOST_SHADES = 4
SIDE = 240  # pixels


def shown(lines: Iterable[str], pattern: SparsityPattern) -> str:
    """Return lines of text, escaped, and the picture of a small pattern as HTML.

    Examples
    --------
    >>> from theory.families import ring
    >>> shown(["a < b"], ring(100))
    '<figure style="margin:0"><figcaption>a &lt; b</figcaption></figure>'
    """
    text = "<br>".join(html.escape(line) for line in lines)
    picture = matrix_svg(pattern) if pattern.n <= LARGEST_PICTURE else ""
    return f'<figure style="margin:0">{picture}<figcaption>{text}</figcaption></figure>'


def matrix_svg(pattern: SparsityPattern) -> str:
    """Return the matrix as an SVG element: rows are queries, columns keys, the darker the more patterns attend.

    Examples
    --------
    >>> from theory.families import ring
    >>> matrix_svg(ring(3)).count("M")  # runs of keys: 0 and 2; 0..1; 1..2
    4
    """
    n = pattern.n
    layers = pattern.layers if pattern.p <= MOST_SHADES else (pattern.union,)
    paths = "".join(f'<path fill-opacity="{1 / len(layers):.2f}" d="{_runs(layer)}"/>' for layer in layers)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-0.5 -0.5 {n + 1} {n + 1}" width="{SIDE}"'
        f' height="{SIDE}" role="img" aria-label="rows are queries, columns keys" shape-rendering="crispEdges">'
        f'<rect width="{n}" height="{n}" fill="#fff" stroke="#888" stroke-width="{n / SIDE:.3f}"/>'
        f'<g fill="#1f4e79">{paths}</g></svg>'
    )


def _runs(layer: Connections) -> str:
    """Return the outline of every run of consecutive keys of every query."""
    parts = []
    for query in range(layer.n):
        row = layer.row(query)
        runs = np.split(row, np.flatnonzero(np.diff(row) > 1) + 1) if row.size else []
        parts += [f"M{run[0]} {query}h{run.size}v1h-{run.size}z" for run in runs]
    return "".join(parts)
