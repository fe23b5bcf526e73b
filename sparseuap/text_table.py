"""A table of text that fits the terminal: columns of least weight are left out, and named, never cut."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Column", "fit", "fold", "terminal_width"]

GAP = 2
FOLDED_SHARE = 4  # the first column is folded down to a quarter of the width, not further
LEAST_FOLDED = 10


@dataclass(frozen=True)
class Column:
    """One column.

    Parameters
    ----------
    heading, cells
        The text, one cell a row.
    right
        Whether it is set to the right, as numbers are.
    """

    heading: str
    cells: Sequence[str]
    right: bool = False

    @property
    def width(self) -> int:
        """Characters of the widest cell, heading included."""
        return max(len(text) for text in (self.heading, *self.cells))


def terminal_width() -> int | None:
    """Return the characters of a line of the terminal; None where standard output is not one."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def fit(columns: Sequence[Column], least: Sequence[str], width: int | None) -> tuple[list[str], list[str]]:
    """Lay a table out in at most `width` characters a line.

    The first column, the names, is folded into several lines before others are left out.

    Parameters
    ----------
    columns
        At least one; the first is always shown.
    least
        Headings that may be left out, the least important first.
    width
        None for no limit.

    Returns
    -------
    tuple
        The lines, and the headings left out in the order of the table.

    Examples
    --------
    >>> columns = [Column("pattern", ["ring:n=5"]), Column("n", ["5"], right=True), Column("gap", ["0.69"])]
    >>> print(*fit(columns, ["gap", "n"], None)[0], sep=chr(10))
    pattern   n  gap
    --------  -  ----
    ring:n=5  5  0.69
    >>> fit(columns, ["gap", "n"], 13)[1]
    ['gap']
    """
    names, dropped = columns[0], set[str]()
    for heading in [*least, None]:
        shown = [column for column in columns[1:] if column.heading not in dropped]
        rest = sum(column.width + GAP for column in shown)
        room = names.width if width is None else min(names.width, width - rest)
        floor = 0 if width is None else max(LEAST_FOLDED, width // FOLDED_SHARE)
        if heading is None or room >= min(names.width, floor):
            break
        dropped.add(heading)
    room = max(room, min(names.width, LEAST_FOLDED))
    lines = list(_lines(names, shown, room))
    return lines, [column.heading for column in columns if column.heading in dropped]


def _lines(names: Column, others: Sequence[Column], room: int) -> Iterator[str]:
    widths = [room, *(column.width for column in others)]
    yield _line([names.heading, *(column.heading for column in others)], widths, others)
    yield "  ".join("-" * width for width in widths)
    for number, name in enumerate(names.cells):
        first, *more = fold(name, room)
        yield _line([first, *(column.cells[number] for column in others)], widths, others)
        yield from more


def _line(cells: Sequence[str], widths: Sequence[int], others: Sequence[Column]) -> str:
    sides = [False, *(column.right for column in others)]
    shown = zip(cells, widths, sides, strict=True)
    return (" " * GAP).join(cell.rjust(w) if right else cell.ljust(w) for cell, w, right in shown).rstrip()


def fold(text: str, width: int) -> list[str]:
    """Fold a source into lines of at most `width` characters, behind its separators where that is possible.

    Examples
    --------
    >>> fold("bigbird:n=64,window=1", 14), fold("abcdefgh", 3)
    (['bigbird:n=64,', 'window=1'], ['abc', 'def', 'gh'])
    """
    lines = [""]
    for piece in re.findall(r"[^,:/?&+]*[,:/?&+]?", text):
        if lines[-1] and len(lines[-1]) + len(piece) > width:
            lines.append("")
        while len(piece) > width:
            lines[-1:] = [piece[:width], ""]
            piece = piece[width:]
        lines[-1] += piece
    return lines
