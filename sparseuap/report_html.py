"""HTML from data: everything is escaped, except what was made here."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

from theory.wording import EXACT_BITS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Markup", "badge", "escape", "facts", "formula", "join", "number", "script_json", "section", "table"]

LETTERS = {
    "alpha": "α",
    "delta": "δ",
    "eta": "η",
    "gamma": "γ",
    "phi": "φ",
    "psi": "ψ",
    "rho": "ρ",
    "zeta": "ζ",
    "Delta": "Δ",
    "Omega": "Ω",
    "Psi": "Ψ",
    "fbar": "f̄",
    "gbar": "ḡ",
}
SIGNS = {"-&gt;": "→", "&gt;=": "≥", "&lt;=": "≤", " - ": " − "}
POWER = re.compile(r"\^(?:\{([^{}]*)\}|\(([^()]*)\)|(-?[A-Za-z0-9]+))")
INDEX = re.compile(
    r"((?<![A-Za-z0-9_])(?:[A-Za-z]~?|max|min)|</sup>|\))_(?:\{([^{}]*)\}|(gamma\([^()]*\)|[A-Za-z0-9]+))"
)


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


def formula(text: str) -> Markup:
    """Return a sentence with the formulas in it, as the docstrings write them, as a page shows them.

    Examples
    --------
    >>> formula("z~_gamma(n) < n delta^{-nd}, S_k^t & paper_notes")
    'z̃<sub>γ(n)</sub> &lt; n δ<sup>-nd</sup>, S<sub>k</sub><sup>t</sup> &amp; paper_notes'
    """
    shown = str(escape(text))
    for written, sign in SIGNS.items():
        shown = shown.replace(written, sign)
    shown = POWER.sub(lambda found: f"<sup>{found[1] or found[2] or found[3]}</sup>", shown)
    shown = INDEX.sub(lambda found: f"{found[1]}<sub>{found[2] or found[3]}</sub>", shown)
    shown = re.sub(rf"\b({'|'.join(LETTERS)})\b", lambda found: LETTERS[found[1]], shown)
    return Markup(re.sub(r"\b([A-Za-z])~", "\\1\u0303", shown))


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
    >>> number(12345).split(), number(0.000123456), number(None), number(2**99)
    (['12', '345'], '0.00012346', '–', '100 bits')
    """
    if value is None:
        return "–"
    if isinstance(value, int):
        bits = value.bit_length()
        return f"{value:,}".replace(",", "\u202f") if bits <= EXACT_BITS else f"{bits} bits"
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
        f"<div class='{'wide' if isinstance(value, Markup) else 'fact'}'>"
        f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
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
    """Return data for a script of the page; nothing in it can end the element.

    Examples
    --------
    >>> script_json("x", ["</script>"]).count("</script>")
    1
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return Markup(f'<script type="application/json" id="{escape(name)}">{text}</script>')
