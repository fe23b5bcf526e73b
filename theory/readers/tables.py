"""Patterns saved as lines of numbers: Matrix Market files, and what edge lists share with them.

NumPy's text reader does the parsing (strictly: no ``1.0`` for a token, no ``1_0``), since SciPy's ``mmread``
crashes the interpreter on some truncated files.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from theory.patterns import Connections, PatternError, SparsityPattern
from theory.readers.graphs import GRAPH_OPTIONS, as_graph
from theory.readers.guard import check_options, check_tokens, regular_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from theory.readers.heads import HeadPatterns

__all__ = ["TEXT_LIMIT", "read_mtx", "read_numbers"]

TEXT_LIMIT = 2**30

BANNER = ("%%matrixmarket", "matrix", "coordinate")
FIELDS = {"pattern": None, "integer": np.int64, "real": np.float64, "double": np.float64}
SYMMETRIES = {"general": 0, "symmetric": 1, "skew-symmetric": -1}


def read_mtx(path: str, options: Mapping[str, str]) -> HeadPatterns:
    """Read a sparse Matrix Market file: an entry (i, j) that is not 0 is query i attending to key j.

    The file counts from 1, as its format says; the pattern from 0. ``symmetric`` stands for both directions;
    ``directed=false`` and ``loops=true`` as in `theory.readers.graphs.as_graph`.

    Raises
    ------
    PatternError
        If the file is over 1 GiB, dense, complex, truncated, not square or otherwise no such matrix.
    """
    check_options(options, GRAPH_OPTIONS, "a Matrix Market file")
    size = regular_file(path, TEXT_LIMIT)
    with open(path, encoding="utf-8") as file:
        banner = tuple(file.readline(2**10).lower().split())
        if banner[:2] != BANNER[:2] or len(banner) != 5:
            raise PatternError("is not a Matrix Market file: its first line is no '%%MatrixMarket matrix ..'")
        if banner[2] != BANNER[2] or banner[3] not in FIELDS or banner[4] not in SYMMETRIES:
            raise PatternError(
                f"a matrix '{' '.join(banner[2:])}' is no pattern: save it as coordinate, {' or '.join(FIELDS)},"
                f" {' or '.join(SYMMETRIES)}"
            )
        start, lines = 1, iter(file)
        words = ["%"]
        while not words or words[0].startswith("%"):
            start, words = start + 1, next(lines, "end").split()
        n, entries = _mtx_sizes(words, size)
        if entries == 0:
            return as_graph([Connections.from_pairs(n, [], [])], options)
        value = FIELDS[banner[3]]
        columns: list[tuple[str, type]] = [("row", np.int64), ("column", np.int64)]
        table = read_numbers(lines, start, np.dtype([*columns, ("value", value)] if value else columns), "%", None)
    if table.size != entries:
        raise PatternError(f"its size line says {entries} entries, but there are {table.size}: is it truncated?")
    pattern = _from_coordinates(n, table.ravel(), SYMMETRIES[banner[4]])
    return as_graph(pattern.layers, options, declared=False if SYMMETRIES[banner[4]] else None)


def _mtx_sizes(words: list[str], size: int) -> tuple[int, int]:
    if len(words) != 3 or not all(word.isascii() and word.isdigit() and len(word) < 19 for word in words):
        raise PatternError("its size line must be three numbers: rows, columns, entries")
    rows, columns, entries = map(int, words)
    if rows != columns:
        raise PatternError(f"the matrix is not square: {rows} queries by {columns} keys")
    check_tokens(rows, entries)
    if 4 * entries > size:
        raise PatternError(f"is truncated: {entries} entries do not fit into its {size} bytes")
    return rows, entries


def _from_coordinates(n: int, table: npt.NDArray[Any], mirror: int) -> SparsityPattern:
    from scipy.sparse import coo_array

    from theory.conversions import from_scipy

    rows, columns = table["row"] - 1, table["column"] - 1
    values = table["value"] if "value" in (table.dtype.names or ()) else np.ones(table.size, dtype=bool)
    outside = np.flatnonzero((rows < 0) | (rows >= n) | (columns < 0) | (columns >= n))
    if outside.size:
        row, column = rows[outside[0]] + 1, columns[outside[0]] + 1
        raise PatternError(f"entry ({row}, {column}), counted from 1 as the format does, lies outside 1..{n}")
    if mirror:
        off = rows != columns
        rows, columns = np.concatenate((rows, columns[off])), np.concatenate((columns, rows[off]))
        values = np.concatenate((values, values[off] if mirror > 0 else -values[off]))
    return from_scipy(coo_array((values, (rows, columns)), shape=(n, n)))


def read_numbers(
    lines: Iterable[str], before: int, dtype: np.dtype[Any], comments: str, delimiter: str | None
) -> npt.NDArray[Any]:
    """Read lines of numbers into a structured array; `before` lines of the file came earlier.

    Raises
    ------
    PatternError
        If a line holds anything else; the message names it.
    """
    place, current, width = before, "", len(dtype.names or ())

    def counted() -> Iterator[str]:
        nonlocal place, current
        for current in lines:  # its last value is read in the message below
            place += 1
            text = current if current.isascii() else current.partition(comments)[0]
            if not text.isascii():  # NumPy would look the letter up in a table of 256, and crash
                raise ValueError
            yield text

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return np.loadtxt(counted(), dtype=dtype, comments=comments, delimiter=delimiter, ndmin=1)
    except UnicodeDecodeError:
        raise
    except (ValueError, Warning) as error:
        raise PatternError(f"line {place}: {current.strip()!r} is not {width} numbers") from error
