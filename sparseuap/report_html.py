"""HTML from data: everything is escaped, except what was made here."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Markup", "badge", "escape", "facts", "join", "number", "script_json", "section", "table"]


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escape(value: object) -> Markup:
    """Return `value` as HTML text, safe in an attribute too; Markup stays as it is.

    Examples
    --------
    >>> escape('<b> & "c"'), escape(Markup("<b>"))
    ('&lt;b&gt; &amp; &quot;c&quot;', '<b>')
    """
    return value if isinstance(value, Markup) else Markup(html.escape(str(value)))


def join(parts: Iterable[object], between: str = "\n") -> Markup:
    """Join parts, each escaped."""
    return Markup(between.join(escape(part) for part in parts))


def badge(answer: str) -> Markup:
    """Return an answer as a word with a sign, so that colour is never alone in telling it.

    Examples
    --------
    >>> badge("holds")
    '<span class="badge holds"><span aria-hidden="true">✓</span> holds</span>'
    """
    kind = {"universal": "holds", "not universal": "fails"}.get(answer, answer.replace(" ", "-"))
    sign = {"holds": "✓", "fails": "✗"}.get(kind, "?")
    return Markup(
        f'<span class="badge {escape(kind)}"><span aria-hidden="true">{sign}</span> {escape(answer)}</span>'
    )


def number(value: float | int | str | None, digits: int = 5) -> str:
    """Return a number to be read: grouped digits, few decimals, a dash for nothing.

    Examples
    --------
    >>> number(12345), number(0.000123456), number(None)
    ('12\u202f345', '0.00012346', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f") if abs(value).bit_length() <= 63 else f"{value.bit_length()} bits"
    return value if isinstance(value, str) else f"{value:.{digits}g}"


def table(caption: str, headings: Sequence[object], rows: Iterable[Sequence[object]], sides: str) -> Markup:
    """Return a table that scrolls sideways where it does not fit.

    Parameters
    ----------
    sides
        One letter a column: `l` text, `r` numbers. The first column heads its row.
    """
    kinds = ['class="number"' if side == "r" else "" for side in sides]
    head = "".join(
        f'<th scope="col" {kind}>{escape(text)}</th>' for kind, text in zip(kinds, headings, strict=True)
    )
    body = []
    for first, *others in rows:
        cells = "".join(f"<td {kind}>{escape(text)}</td>" for kind, text in zip(kinds[1:], others, strict=True))
        body.append(f'<tr><th scope="row" {kinds[0]}>{escape(first)}</th>{cells}</tr>')
    return Markup(
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}"><table>'
        f"<caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table></div>".replace(" >", ">")
    )


def facts(pairs: Iterable[tuple[str, object]]) -> Markup:
    """Return a list of named facts; what is markup has a line of its own."""
    items = "".join(
        f"<div class='{'wide' if isinstance(value, Markup) else ''}'><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in pairs
    )
    return Markup(f'<dl class="facts">{items}</dl>')


def section(name: str, title: str, parts: Iterable[object]) -> Markup:
    """Return a section with its heading."""
    return Markup(
        f'<section id="{escape(name)}" aria-labelledby="{escape(name)}-title">\n'
        f'<h2 id="{escape(name)}-title">{escape(title)}</h2>\n{join(parts)}\n</section>'
    )


def script_json(name: str, data: Any) -> Markup:
    """Return data for a script of the page; no `<` is left that could end the element.

    Examples
    --------
    >>> script_json("x", ["</script>"])
    '<script type="application/json" id="x">["\\\\u003c/script>"]</script>'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return Markup(f'<script type="application/json" id="{escape(name)}">{text}</script>')
