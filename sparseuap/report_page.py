"""The report: one HTML page that needs nothing outside itself."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from sparseuap.report_figures import error_figures, proof_figures, verdict_figures
from sparseuap.report_html import Markup, escape, join, script_json, section
from sparseuap.report_player import player_data
from sparseuap.report_proof import proof_part
from sparseuap.report_tables import (
    certificate_part,
    error_part,
    how_to_part,
    verdict_line,
    verdict_part,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparseuap.remedy import Remedy
    from verify.error_study import ErrorStudy
    from verify.pattern_verdict import PatternVerdict
    from verify.proof import Proof

__all__ = ["Report", "page"]

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
"""The browser itself then refuses whatever would leave the page."""
SECTIONS = {
    "verdict": "Verdict",
    "proof": "Proof",
    "player": "Layer by layer",
    "error": "Error",
    "how": "How to reproduce this",
}
PLAYER_HTML = "report_player.html"


@dataclass(frozen=True, eq=False)
class Report:
    """What the page tells.

    Parameters
    ----------
    source, verdict, certificate
        The pattern, what was found about it, and `verify.pattern_certificate.certificate` of it.
    proof, study
        The run of the proof and the error sweep, or the sentence that says why there is none.
    target
        The name of the target as given.
    commands
        Command lines that do it again, by what they do.
    seed
        Of samples.
    remedy
        What helps a pattern that is not universal for the functions asked for.
    """

    source: str
    verdict: PatternVerdict
    certificate: dict[str, Any]
    proof: Proof | str
    study: ErrorStudy | str
    target: str
    commands: dict[str, str]
    seed: int
    remedy: Remedy | None = None


def page(report: Report, progress: Callable[[str, float | None], None] | None = None) -> str:
    """Return the page as HTML: the same text for the same report, whatever the day.

    Examples
    --------
    >>> from theory.families import star
    >>> from verify.pattern_certificate import certificate
    >>> from verify.pattern_verdict import assess
    >>> verdict = assess(star(100, 1))
    >>> none = "It was not asked for."
    >>> text = page(Report("<star>", verdict, certificate(verdict, ""), none, none, "sort", {}, 0))
    >>> "&lt;star&gt; is universal" in text, "<star>" in text
    (True, False)
    """
    say = progress or (lambda _step, _share: None)
    say("drawing the figures of the pattern", None)
    parts: dict[str, list[object]] = {
        "verdict": [
            verdict_part(report.verdict, report.source, report.remedy),
            verdict_figures(report.verdict, report.source),
            certificate_part(report.certificate),
        ]
    }
    say("drawing the figures of the proof", None)
    if isinstance(report.proof, str):
        parts["proof"] = [_absent(report.proof)]
        parts["player"] = [_absent("There are no layers to step through without the proof.")]
    else:
        parts["proof"] = [
            proof_part(report.proof, report.target, report.verdict),
            proof_figures(report.proof, report.verdict),
        ]
        parts["player"] = [_player(report.proof, report.seed)]
    say("drawing the figures of the error", None)
    if isinstance(report.study, str):
        parts["error"] = [_absent(report.study)]
    else:
        parts["error"] = [error_part(report.study, report.source), error_figures(report.study)]
    parts["how"] = [how_to_part(report.commands, report.seed, report.verdict.pattern.digest)]
    return _document(report, join(section(name, SECTIONS[name], parts[name]) for name in SECTIONS))


def _absent(sentence: str) -> Markup:
    return Markup(f'<p class="absent">{escape(sentence)}</p>')


def _player(proof: Proof, seed: int) -> Markup:
    data = player_data(proof, seed)
    if isinstance(data, str):
        return _absent(data)
    return join([Markup(_asset(PLAYER_HTML)), script_json("player-data", data)])


def _document(report: Report, body: Markup) -> str:
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in SECTIONS.items())
    script = f"<script>\n{_asset('report_player.js')}</script>\n" if 'id="player-data"' in body else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(report.source)} – sparseuap report</title>\n"
        f"<style>\n{_asset('report_style.css')}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#verdict">Skip to the verdict</a>\n'
        f'<header><p class="kind">sparseuap report</p><h1>{escape(report.source)}</h1>'
        f"{verdict_line(report.verdict, report.source)}"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav></header>\n<main>\n{body}\n</main>\n'
        f"{script}</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return files("sparseuap").joinpath(name).read_text(encoding="utf-8")
