"""`sparseuap figures`: the figures of the paper's proof on small default cases, and a gallery page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sparseuap import options
from sparseuap.gallery import FORMATS, GALLERY, chosen, figures
from sparseuap.progress import Steps
from theory.patterns import PatternError
from theory.wording import printable

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["command"]


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
    with Steps() as say:
        figures(*names, out=out, kind=kind, progress=say)
    count = f"{len(entries)} figure{'s' * (len(entries) > 1)}"
    click.echo(f"{count} in {printable(str(out))}, and the gallery {printable(str(out / GALLERY))}")
    return 0
