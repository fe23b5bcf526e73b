"""Patterns saved as lines of numbers: Matrix Market files and edge lists.

NumPy's text reader does the parsing (strictly: no ``1.0`` for a token, no ``1_0``), since SciPy's ``mmread``
crashes the interpreter on some truncated files.
"""

from __future__ import annotations

import re
import warnings
from itertools import chain
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
import numpy.typing as npt

from theory.patterns import Connections, PatternError, SparsityPattern
from theory.readers.guard import check_options, check_tokens, regular_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

__all__ = ["read_edges", "read_mtx"]

TEXT_LIMIT = 2**30
MAX_PATTERNS = 4096

BANNER = ("%%matrixmarket", "matrix", "coordinate")
FIELDS = {"pattern": None, "integer": np.int64, "real": np.float64, "double": np.float64}
SYMMETRIES = {"general": 0, "symmetric": 1, "skew-symmetric": -1}

COLUMNS = {"key": 0, "source": 0, "query": 1, "target": 1, "pattern": 2}
SIZE_LINE = re.compile(r"#?\s*n\s*=\s*(\d{1,18})\s*", re.ASCII)


def read_mtx(path: str, options: Mapping[str, str]) -> SparsityPattern:
    """Read a sparse Matrix Market file: an entry (i, j) that is not 0 is query i attending to key j.

    The file counts from 1, as its format says; the pattern from 0. ``symmetric`` stands for both directions.

    Raises
    ------
    PatternError
        If the file is over 1 GiB, dense, complex, truncated, not square or otherwise no such matrix.
    """
    check_options(options, (), "a Matrix Market file")
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
            return SparsityPattern((Connections.from_pairs(n, [], []),))
        value = FIELDS[banner[3]]
        columns: list[tuple[str, type]] = [("row", np.int64), ("column", np.int64)]
        table = _numbers(lines, start, np.dtype([*columns, ("value", value)] if value else columns), "%", None)
    if table.size != entries:
        raise PatternError(f"its size line says {entries} entries, but there are {table.size}: is it truncated?")
    return _from_coordinates(n, table.ravel(), SYMMETRIES[banner[4]])


def _mtx_sizes(words: list[str], size: int) -> tuple[int, int]:
    if len(words) != 3 or not all(word.isascii() and word.isdigit() and len(word) < 19 for word in words):
        raise PatternError("its size line must be three numbers: rows, columns, entries")
    rows, columns, entries = map(int, words)
    if rows != columns:
        raise PatternError(f"the matrix is not square: {rows} queries by {columns} keys")
    check_tokens(rows)
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


def read_edges(path: str, options: Mapping[str, str]) -> SparsityPattern:
    """Read an edge list: a line ``key query``, or ``key query pattern``; blanks, tabs or commas between.

    Self-loops are listed like other edges; repeated edges count once; ``#`` begins a comment. n is one more than
    the largest token, unless a line ``n=64`` or ``# n=64`` above the edges, or the option ``?n=64``, says it. A
    line above the edges may name the columns (key or source, query or target, pattern) in any order.

    Raises
    ------
    PatternError
        If the file is over 1 GiB or a line is none of these; the message names the line.
    """
    check_options(options, ("n",), "an edge list")
    regular_file(path, TEXT_LIMIT)
    said = {"the option n": _size(options["n"])} if "n" in options else {}
    with open(path, encoding="utf-8-sig") as file:
        before, first, columns = _edges_head(file, said)
        width = len(columns or first.partition("#")[0].replace(",", " ").split())
        if width not in (2, 3):
            raise PatternError(f"line {before + 1}: {width} columns; write 'key query' or 'key query pattern'")
        kind = np.dtype([(f"column {number}", np.int64) for number in range(width)])
        lines = chain([first], file)
        table = _numbers(lines, before, kind, "#", "," if "," in first else None).ravel()
    order = np.argsort(columns or range(width))
    return _from_columns([table[f"column {number}"] for number in order], said)


def _edges_head(file: TextIO, said: dict[str, int]) -> tuple[int, str, list[int] | None]:
    """Return the number of lines before the first edge, its line and the named columns; add n to `said`."""
    columns: list[int] | None = None
    for count, line in enumerate(file):
        if size := SIZE_LINE.fullmatch(line.rstrip("\n")):
            said[f"line {count + 1}"] = int(size[1])
            continue
        words = [word.strip('"').lower() for word in line.partition("#")[0].replace(",", " ").split()]
        if not words:
            continue
        if not words[0].isalpha() or columns:
            return count, line, columns
        columns = [COLUMNS.get(word, -1) for word in words]
        if sorted(columns) not in ([0, 1], [0, 1, 2]):
            raise PatternError(f"line {count + 1}: unknown columns {line.strip()!r}; they are key, query, pattern")
    raise PatternError("holds no edge")


def _size(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise PatternError(f"n must be a number, got {text!r}")
    return int(text)


def _from_columns(columns: list[npt.NDArray[np.int64]], said: dict[str, int]) -> SparsityPattern:
    """Build the patterns from the columns key, query and perhaps pattern."""
    keys, queries = columns[:2]
    n = next(iter(said.values()), int(max(keys.max(), queries.max())) + 1)
    for place, size in said.items():
        if size != n:
            raise PatternError(f"n is said twice: {size} by {place}, {n} by {next(iter(said))}")
    check_tokens(n)
    if len(columns) == 2:
        return SparsityPattern((Connections.from_pairs(n, queries, keys),))
    numbers = columns[2]
    p = int(numbers.max()) + 1
    if numbers.min() < 0 or p > MAX_PATTERNS or not np.bincount(numbers).all():
        raise PatternError("the third column must number the patterns 0, 1, .. without gaps (it is no weight)")
    check_tokens(n * p)
    order = np.argsort(numbers, kind="stable")
    ends = np.searchsorted(numbers[order], np.arange(1, p))
    parts = np.split(np.column_stack((queries, keys))[order], ends)
    return SparsityPattern(tuple(Connections.from_pairs(n, part[:, 0], part[:, 1]) for part in parts))


def _numbers(
    lines: Iterable[str], before: int, dtype: np.dtype[Any], comments: str, delimiter: str | None
) -> npt.NDArray[Any]:
    """Read lines of numbers into a structured array; `before` lines of the file came earlier."""
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
