"""`sparseuap figures`: the figures of the paper's proof on small default cases, and a gallery page."""

from __future__ import annotations

import difflib
import html
import re
from typing import TYPE_CHECKING

import click

from figures.registry import FIGURES
from sparseuap import options
from sparseuap.progress import Steps
from theory.files import check_folder, make_folder, write_text
from theory.patterns import PatternError
from theory.wording import printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from figures.registry import FigureEntry

__all__ = ["chosen", "command", "gallery"]

GALLERY = "figures.html"  # index.html is the page of `sparseuap report`
FORMATS = ("png", "svg", "pdf")  # as figures.style has them, which would load matplotlib here
STYLE = """
:root { color-scheme: light dark; --line: #bbb; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
figure { margin: 2.5rem 0; border-top: 1px solid var(--line); }
img, object { display: block; max-width: 100%; background: #fff; margin-bottom: .7rem; }
object { width: 100%; height: 24rem; }
@media print { figure { break-inside: avoid; } }
"""


@click.command("figures")
@click.argument("names", metavar="[NAME ...]", nargs=-1)
@click.option("--out", type=options.OUTPUT, metavar="DIR", help="Where the files go; made if absent.")
@click.option("--format", "kind", type=click.Choice(FORMATS), default="svg", show_default=True)
@click.option("--list", "list_wanted", is_flag=True, help="Name the figures and draw none.")
def command(names: tuple[str, ...], out: Path | None, kind: str, list_wanted: bool) -> int:
    """Draw the figures NAME ..., or all, each on a small case of its own, and a gallery of them, figures.html.

    Exit status: 0 drawn, 2 bad input.
    """
    entries = chosen(names)
    if list_wanted:
        width = max(len(entry.name) for entry in entries)
        for entry in entries:
            click.echo(f"{entry.name:{width}}  {entry.title}")
        return 0
    if out is None:
        raise PatternError("figures are written to a directory: give it with --out DIR, or ask for --list")
    check_folder(out, [GALLERY, *(f"{entry.name}.{kind}" for entry in entries)])
    with Steps() as say:
        page = _write_all(entries, out, kind, say)
    count = f"{len(entries)} figure{'s' * (len(entries) > 1)}"
    click.echo(f"{count} in {printable(str(out))}, and the gallery {printable(str(page))}")
    return 0


def chosen(names: Sequence[str]) -> list[FigureEntry]:
    """Return the figures of these names, each once and in the order of the proof; all of them for no name.

    Raises
    ------
    PatternError
        If there is no figure of a name.

    Examples
    --------
    >>> [entry.name for entry in chosen(["relay", "depth", "relay"])]
    ['depth', 'relay']
    >>> chosen(["realy"])
    Traceback (most recent call last):
        ...
    theory.connections.PatternError: no figure is called 'realy', did you mean 'relay'? --list names all of them
    """
    for name in names:
        if name not in FIGURES:
            near = difflib.get_close_matches(name.lower().replace("-", "_"), FIGURES, n=1)
            hint = f", did you mean {near[0]!r}?" if near else ":"
            raise PatternError(f"no figure is called {name[:80]!r}{hint} --list names all of them")
    return [entry for name, entry in FIGURES.items() if not names or name in names]


def gallery(entries: Sequence[FigureEntry], kind: str) -> str:
    """Return the page: every figure with its title and caption, which are its module's docstring.

    >>> print(gallery(chosen(["relay"]), "png").splitlines()[-4])
    <img src="relay.png" alt="The relay construction: slots, gather and broadcast along the trees">
    """
    parts = [
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>Figures</title><style>{STYLE}</style></head><body>",
        "<h1>Figures</h1>",
        "<p>Universal approximation by sparse Transformers, step by step, on small cases."
        f" Drawn by <code>sparseuap figures --format {kind}</code>.</p>",
    ]
    for entry in entries:
        title, file = html.escape(entry.title), f"{entry.name}.{kind}"
        shown = f'<img src="{file}" alt="{title}">'
        if kind == "pdf":
            shown = f'<object data="{file}" type="application/pdf"><a href="{file}">{file}</a></object>'
        parts += [
            f'<figure id="{entry.name}"><h2>{title}</h2>',
            shown,
            f"<figcaption>{_paragraphs(entry.caption)}</figcaption>",
            "</figure>",
        ]
    return "\n".join([*parts, "</body></html>", ""])


def _paragraphs(text: str) -> str:
    """Return a docstring's text as HTML: paragraphs run on, and what is in backticks is code."""
    joined = (html.escape(" ".join(part.split())) for part in text.split("\n\n"))
    return "".join("<p>" + re.sub(r"`+([^`]+)`+", r"<code>\1</code>", part) + "</p>" for part in joined)


def _write_all(entries: Sequence[FigureEntry], out: Path, kind: str, say: Steps) -> Path:
    """Write the files and return the gallery's path."""
    from figures.style import save

    make_folder(out)
    for number, entry in enumerate(entries):
        say(entry.title, number / len(entries))
        save(entry.example(), out / f"{entry.name}.{kind}", kind)
    write_text(out / GALLERY, gallery(entries, kind))
    return out / GALLERY
