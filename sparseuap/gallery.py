"""The figures of the paper's proof, drawn and saved by name, and a gallery page of them."""

from __future__ import annotations

import difflib
import html
import re
from pathlib import Path
from typing import TYPE_CHECKING

from figures.registry import FIGURES
from theory.checks import PatternError, choice
from theory.files import check_folder, make_folder, write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

    from figures.registry import FigureEntry

    Say = Callable[[str, float | None], None]

__all__ = ["FORMATS", "GALLERY", "chosen", "figures", "gallery"]

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


def figures(
    *names: str,
    out: str | os.PathLike[str] | None = None,
    kind: str = "svg",
    progress: Say | None = None,
) -> dict[str, Figure]:
    """Draw figures, each on a small case of its own, and save them where a folder is given.

    Parameters
    ----------
    names
        Keys of `figures.registry.FIGURES`; all of them without one.
    out
        The folder for one file per figure and the gallery figures.html; made if absent.
    kind
        "svg", "png" or "pdf".
    progress
        Called with the figure at work and the share done.

    Returns
    -------
    dict[str, Figure]
        Matplotlib figures by name, in the order of the proof.

    Raises
    ------
    PatternError
        If there is no figure of a name or no such format, or the folder cannot be written to.
    OutputError
        If a file cannot be written.
    """
    say = progress or (lambda _step, _share: None)
    entries, kind = chosen(names), choice("kind", kind, FORMATS)
    drawn: dict[str, Figure] = {}
    folder = None if out is None else Path(out)
    if folder is not None:
        check_folder(folder, [GALLERY, *(f"{entry.name}.{kind}" for entry in entries)])
        make_folder(folder)
    for number, entry in enumerate(entries):
        say(entry.title, number / len(entries))
        drawn[entry.name] = figure = entry.example()
        if folder is not None:
            _save(figure, folder / f"{entry.name}.{kind}", kind)
    if folder is not None:
        write_text(folder / GALLERY, gallery(entries, kind))
    return drawn


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
        if not isinstance(name, str):
            raise PatternError(f"figures are called by name, as in 'relay', not by {type(name).__name__}")
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


def _save(figure: Figure, file: Path, kind: str) -> None:
    from figures.style import save

    save(figure, file, kind)
