"""`sparseuap grow`: the receptive field, layer by layer and token by token."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from sparseuap import options
from sparseuap.field import first_seen_by, grow
from sparseuap.progress import Steps
from sparseuap.text_table import terminal_width
from theory.files import check_output
from theory.patterns import PatternError
from theory.readers.source import read_source, source_files
from theory.wording import name_tokens, printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from theory.patterns import IntArray, SparsityPattern
    from theory.receptive_field import ReceptiveField

__all__ = ["command"]

MATRIX_TOKENS = 32  # a terminal shows the first-seen layers of so many tokens


@click.command("grow")
@click.argument("source")
@click.option(
    "--layers", type=click.IntRange(min=1), help="Attention layers of your model (up to the last change)."
)
@click.option(
    "--query", type=click.IntRange(min=0), help="One token, from 0: from which layer on it sees each key."
)
@click.option("--figure", "file", type=options.OUTPUT, help="Draw it too, into a .svg, .png or .pdf file.")
@options.json_wanted
def command(source: str, layers: int | None, query: int | None, file: Path | None, json_wanted: bool) -> int:
    """Show what each token of the pattern SOURCE sees after each layer, residual connections included.

    Token k sees token j from layer t on when output k after t layers can depend on input j. Where each token
    attends to itself these are the paper's sets S_k^t. For few tokens the layer of every pair is shown, row by
    row of queries.
    """
    if file is not None and query is not None:
        raise PatternError("--figure shows all tokens: leave out --query")
    if file is not None:
        _check_figure(file, source)
    with Steps() as say:
        say("reading the pattern")
        pattern = read_source(source)
        say("following the layers")
        head = {"source": source, "counting": "tokens and patterns from 0", "n": pattern.n, "p": pattern.p}
        if query is not None:
            first = first_seen_by(pattern, query, layers)
        else:
            field = grow(pattern, layers)
            shown = len(field.sizes) - 1
        if file is not None:
            say("drawing")
            _draw(pattern, printable(source).replace("$", r"\$"), shown, file)
    if query is not None:
        if json_wanted:
            click.echo(json.dumps({**head, "layers": layers, **_query_json(query, first)}, indent=2))
        else:
            click.echo("\n".join(_query_lines(printable(source), query, first, layers)))
    elif json_wanted:
        click.echo(json.dumps({**head, "layers": shown, **_field_json(field, shown)}, indent=2))
    else:
        click.echo("\n".join(_field_lines(printable(source), field, shown)))
    return 0


def _check_figure(file: Path, source: str) -> None:
    """Refuse a figure that cannot be written, before the work."""
    if file.suffix not in (".svg", ".png", ".pdf"):
        raise PatternError(f"--figure needs a name that ends in .svg, .png or .pdf, got {file}")
    check_output(file, source_files(source))


def _draw(pattern: SparsityPattern, name: str, layers: int, file: Path) -> None:
    """Draw the growth and the matrix of first-seen layers, residual connections included."""
    from figures.reach_growth import LARGEST, draw, first_seen
    from figures.style import save
    from theory.hops import growth

    if pattern.n > LARGEST:
        raise PatternError(f"{pattern.n} tokens: a figure shows at most {LARGEST}; leave out --figure")
    looped = pattern.with_self_loops()
    matrices = {name: first_seen(looped, layers)}
    figure = draw({name: growth(pattern, layers, residual=True)}, matrices, pattern.n)
    save(figure, file, file.suffix.removeprefix("."))


def _summary(field: ReceptiveField, layers: int) -> list[dict[str, Any]]:
    return [
        {"layer": t, "min": int(row.min()), "mean": float(row.mean()), "max": int(row.max())}
        for t, row in enumerate(field.sizes[1 : layers + 1], start=1)
    ]


def _field_json(field: ReceptiveField, layers: int) -> dict[str, Any]:
    first = field.first_seen
    return {
        "recursion": "residual: R_k^t = R_k^(t-1) with the R_j^(t-1), j in A_k^t",
        "full_after": field.full_after,
        "summary": _summary(field, layers),
        "sizes": field.sizes[1 : layers + 1].tolist(),
        "first_seen": None if first is None else [[t if t >= 0 else None for t in row] for row in first.tolist()],
    }


def _field_lines(source: str, field: ReceptiveField, layers: int) -> Iterator[str]:
    n = field.sizes.shape[1]
    yield f"{source}: tokens seen by a token, of {n} (residual connections included)"
    yield f"{'layer':>7} {'min':>8} {'mean':>10} {'max':>8}  least"
    for row in _summary(field, layers):
        least = name_tokens(np.flatnonzero(field.sizes[row["layer"]] == row["min"]), most=2)
        uniform = "all alike" if row["min"] == row["max"] else least
        yield f"{row['layer']:>7} {row['min']:>8} {row['mean']:>10.6g} {row['max']:>8}  {uniform}"
    after = field.full_after
    if after is None:
        short = np.flatnonzero(field.sizes[layers] < n)
        yield f"After {layers} layer{'s' * (layers > 1)} {_verb(short, 'does', 'do')} not see every token."
    else:
        yield f"Every token sees every token after {after} layer{'s' * (after != 1)}."
    if field.first_seen is not None and n <= MATRIX_TOKENS:
        yield ""
        yield "First layer in which query (row) sees key (column); . for never:"
        yield from _matrix(field.first_seen, layers, terminal_width())


def _matrix(first_seen: IntArray, layers: int, room: int | None) -> Iterator[str]:
    """Yield the matrix; where a line of the terminal is too short for it, some keys after the others."""
    n = len(first_seen)
    width = max(len(str(n - 1)), len(str(layers))) + 1
    across = n if room is None else max(1, (room - width - 2) // width)
    for start in range(0, n, across):
        yield " " * (width + 2) + "".join(f"{key:>{width}}" for key in range(start, min(n, start + across)))
        for query, times in enumerate(first_seen[:, start : start + across].tolist()):
            cells = "".join(f"{t if t >= 0 else '.':>{width}}" for t in times)
            yield f"{query:>{width}} :{cells}"


def _verb(tokens: IntArray, one: str, many: str) -> str:
    return f"{name_tokens(tokens)} {one if tokens.size == 1 else many}"


def _query_json(query: int, first: IntArray) -> dict[str, Any]:
    return {"query": query, "first_seen": [t if t >= 0 else None for t in first.tolist()], "sizes": _sizes(first)}


def _sizes(first: IntArray) -> list[int]:
    """Return |R_query^t| for t = 1, 2, .. up to the last change."""
    sizes: list[int] = np.cumsum(np.bincount(first[first >= 0]))[1:].tolist()
    return sizes


def _query_lines(source: str, query: int, first: IntArray, layers: int | None) -> Iterator[str]:
    yield f"{source}: what token {query} sees (residual connections included)"
    yield f"{'layer':>7} {'tokens':>8}  new"
    for t, size in enumerate(_sizes(first), start=1):
        fresh = np.flatnonzero(first == t)
        yield f"{t:>7} {size:>8}  {name_tokens(fresh) if fresh.size else '-'}"
    unseen = np.flatnonzero(first < 0)
    when = "Never" if layers is None else f"Not within {layers} layer{'s' * (layers > 1)}"
    yield f"{when}: {name_tokens(unseen)}." if unseen.size else "Every token is seen."
