"""Patterns saved as edge lists, a line an edge, and as adjacency lists, a line a token with its neighbours."""

from __future__ import annotations

import re
from array import array
from itertools import chain
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
import numpy.typing as npt

from theory.patterns import Connections, PatternError
from theory.readers.graphs import GRAPH_OPTIONS, as_graph, number_of_tokens
from theory.readers.guard import check_options, check_tokens, regular_file, whole_number
from theory.readers.tables import TEXT_LIMIT, read_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from theory.readers.heads import HeadPatterns

__all__ = ["read_adjlist", "read_edges"]

MAX_PATTERNS = 4096
ADJACENCY_LIMIT = 32 * 2**20

COLUMNS = {
    **dict.fromkeys(("key", "source", "src"), "key"),
    **dict.fromkeys(("query", "target", "dst"), "query"),
    "pattern": "pattern",
    "weight": "weight",
}
SIZE_LINE = re.compile(r"#?\s*n\s*=\s*(\d{1,18})\s*", re.ASCII)

WEIGHTS = "weights are not read: an edge of weight 0 counts as any other"
DATA = "the data behind the edges, {..}, are not read"


def read_edges(path: str, options: Mapping[str, str]) -> HeadPatterns:
    """Read an edge list: a line ``key query``; blanks, tabs or commas between.

    A third column is a pattern's number or a weight, which is not read: a line above the edges names the columns
    (key, source or src; query, target or dst; pattern; weight) in any order, or the option ``third=pattern`` or
    ``third=weight`` says it. Edge data as networkx writes them, ``0 1 {'weight': 4}``, are not read.

    Repeated edges count once; ``#`` begins a comment. n is one more than the largest token, unless a line ``n=64``
    or ``# n=64`` above the edges, or the option ``n=64``, says it. ``directed=false`` and ``loops=true`` as in
    `theory.readers.graphs.as_graph`.

    Raises
    ------
    PatternError
        If the file is over 1 GiB, a line is none of these, or a third column may be either; the message names the
        line.
    """
    check_options(options, ("n", "third", *GRAPH_OPTIONS), "an edge list")
    regular_file(path, TEXT_LIMIT)
    said = {"the option n": whole_number("n", options["n"])} if "n" in options else {}
    with open(path, encoding="utf-8-sig") as file:
        before, first, named = _edges_head(file, said)
        bare = _without_data(first)
        columns = _columns(bare, before + 1, named, options.get("third"))
        kinds = [(name, np.float64 if name == "weight" else np.int64) for name in columns]
        data: list[str] = []
        lines = _edge_lines(chain([first], file), data)
        table = read_numbers(lines, before, np.dtype(kinds), "#", "," if "," in bare else None).ravel()
    notes = tuple(note for note, meant in ((WEIGHTS, "weight" in columns), (DATA, bool(data))) if meant)
    return as_graph(_layers({name: table[name] for name in columns}, said), options, notes=notes)


def _edges_head(file: TextIO, said: dict[str, int]) -> tuple[int, str, list[str] | None]:
    """Return the number of lines before the first edge, its line and the named columns; add n to `said`."""
    columns: list[str] | None = None
    for count, line in enumerate(file):
        if size := SIZE_LINE.fullmatch(line.rstrip("\n")):
            said[f"line {count + 1}"] = int(size[1])
            continue
        words = [word.strip('"').lower() for word in line.partition("#")[0].replace(",", " ").split()]
        if not words:
            continue
        if not words[0].isalpha() or columns:
            return count, line, columns
        columns = [COLUMNS.get(word, "") for word in words]
        if not {"key", "query"} <= set(columns) or "" in columns or len(set(columns)) < len(columns):
            raise PatternError(
                f"line {count + 1}: unknown columns {line.strip()!r}; they are key, query, pattern, weight (or"
                " source, target; src, dst)"
            )
    raise PatternError("holds no edge")


def _columns(first: str, line: int, named: list[str] | None, third: str | None) -> list[str]:
    """Return what the columns are: as a line above the edges names them, else key, query and what `third` says."""
    if third not in (None, "pattern", "weight"):
        raise PatternError(f"third must be pattern or weight, got {third!r}")
    if named:
        if third is not None:
            raise PatternError("the line above the edges names the columns: leave third out")
        return named
    width = len(first.partition("#")[0].replace(",", " ").split())
    if width not in (2, 3):
        raise PatternError(
            f"line {line}: {width} columns; write 'key query', or a line above the edges that names the columns"
        )
    if width == 2 and third is not None:
        raise PatternError(f"line {line}: third={third}, but there are two columns")
    if width == 3 and third is None:
        raise PatternError(
            f"line {line}: the third column may number the patterns of a cycle (add third=pattern) or be a weight,"
            " which is not read (add third=weight)"
        )
    return ["key", "query", *([third] if third else [])]


def _without_data(line: str) -> str:
    """Return an edge's line without the dictionary behind it, which is cut off and never evaluated."""
    brace, comment = line.find("{"), line.find("#")
    if brace < 0 or 0 <= comment < brace or not line.rstrip().endswith("}"):
        return line
    return line[:brace].rstrip().removesuffix(",")


def _edge_lines(lines: Iterable[str], data: list[str]) -> Iterator[str]:
    """Yield the lines without edge data; keep the first line that has some in `data`."""
    for line in lines:
        if "{" not in line:
            yield line
            continue
        bare = _without_data(line)
        if not data and len(bare) < len(line):
            data.append(line)
        yield bare


def _layers(columns: dict[str, npt.NDArray[Any]], said: dict[str, int]) -> list[Connections]:
    """Build the patterns from the columns key, query and perhaps pattern."""
    keys, queries = columns["key"], columns["query"]
    n = number_of_tokens((keys, queries), next(iter(said.values()), None))
    for place, size in said.items():
        if size != n:
            raise PatternError(f"n is said twice: {size} by {place}, {n} by {next(iter(said))}")
    if "pattern" not in columns:
        return [Connections.from_pairs(n, queries, keys)]
    numbers = columns["pattern"]
    p = int(numbers.max()) + 1
    if numbers.min() < 0 or p > MAX_PATTERNS or not np.bincount(numbers).all():
        raise PatternError(
            "the column pattern must number the patterns 0, 1, .. without gaps (if it is a weight, say so)"
        )
    check_tokens(n * p, keys.size)
    order = np.argsort(numbers, kind="stable")
    ends = np.searchsorted(numbers[order], np.arange(1, p))
    parts = np.split(np.column_stack((queries, keys))[order], ends)
    return [Connections.from_pairs(n, part[:, 0], part[:, 1]) for part in parts]


def read_adjlist(path: str, options: Mapping[str, str]) -> HeadPatterns:
    """Read an adjacency list as networkx writes it: ``source target target ..``, from the key to its queries.

    ``#`` begins a comment; n is one more than the largest token, or the option ``n``. ``directed=false`` and
    ``loops=true`` as in `theory.readers.graphs.as_graph`.

    Raises
    ------
    PatternError
        If the file is over 32 MiB, or a line holds anything but tokens; the message names the line.
    """
    check_options(options, ("n", *GRAPH_OPTIONS), "an adjacency list")
    regular_file(path, ADJACENCY_LIMIT)
    keys, queries, largest = array("q"), array("q"), -1
    with open(path, encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            words = line.partition("#")[0].split()
            joined = "".join(words)
            if words and not (joined.isascii() and joined.isdigit() and max(map(len, words)) < 19):
                raise PatternError(
                    f"line {number}: {line.strip()!r} is not a token and its neighbours, numbers from 0"
                )
            if words:
                tokens = array("q", map(int, words))
                keys.extend(tokens[:1] * (len(tokens) - 1))
                queries.extend(tokens[1:])
                largest = max(largest, *tokens)
    said = whole_number("n", options["n"]) if "n" in options else largest + 1
    ends = np.frombuffer(keys, dtype=np.int64), np.frombuffer(queries, dtype=np.int64)
    n = number_of_tokens(ends, said)
    return as_graph([Connections.from_pairs(n, ends[1], ends[0])], options)
