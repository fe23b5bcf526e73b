"""The report's words and tables: the verdict with its evidence, the error, how to do it again."""

from __future__ import annotations

import json
import math
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from sparseuap import check_report, error_report
from sparseuap.report_html import Markup, badge, escape, facts, formula, join, number, table
from theory.verdicts import Answer
from theory.wording import name_upper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparseuap.remedy import Remedy
    from theory.theorems import Statement
    from verify.error_study import ErrorStudy
    from verify.lp_norm import Distance
    from verify.pattern_verdict import PatternVerdict

__all__ = ["certificate_part", "error_part", "how_to_part", "verdict_line", "verdict_part"]

SHOWN_CERTIFICATE = 60_000  # characters
SHOWN_TOKENS = 200
LIBRARIES = ("sparseuap", "numpy", "scipy", "matplotlib", "networkx", "python-sat", "sympy")


def verdict_line(verdict: PatternVerdict, source: str) -> Markup:
    """Return the verdict as one sentence, with the advice that a failing pattern needs."""
    said, word = {
        Answer.HOLDS: ("universal", "is universal"),
        Answer.FAILS: ("not universal", "is not universal"),
        Answer.UNDECIDED: ("undecided", "is not known to be universal"),
    }[verdict.universal]
    instead = verdict.statements[-1].universal_for
    tail = f"; it is universal for {instead}" if verdict.universal is Answer.FAILS and instead is not None else ""
    advice = verdict.advice
    tail += f". {advice[0].upper()}{advice[1:]}." if advice else "."
    return Markup(
        f'<p class="verdict">{badge(said)} {escape(source)} {word} for {verdict.for_.functions}{escape(tail)}</p>'
    )


def remedy_part(remedy: Remedy) -> Markup:
    """Return what helps, each command as code."""
    lines = [
        Markup(f"<code>{escape(line.strip())}</code>") if line.startswith(" ") else line for line in remedy.lines()
    ]
    return Markup(f'<p class="remedy">{join(lines, "<br>")}</p>')


def verdict_part(verdict: PatternVerdict, source: str, remedy: Remedy | None) -> Markup:
    """Return what helps, the assumptions with their evidence, and what every theorem says."""
    data = check_report.as_json(verdict, source)
    count = data["connections_formula"]
    connections = f"{number(data['connections'])}, {100 * data['density']:.3g} % of dense"
    counted = [] if count is None else [("By the formula n(2w+r+g)", number(count))]
    violations = ", ".join(f"token {token} in pattern {layer}" for layer, token in data["violations"][:3])
    assumptions = [
        (
            "1.1",
            "every token attends to itself",
            badge("holds" if data["assumption_1_1"] else "fails"),
            f"{data['violation_count']} times not: {violations} …" if violations else "it does, in every pattern",
        ),
        (
            "1.2",
            "the union digraph has a Hamiltonian path",
            badge(verdict.path.answer.value),
            formula(verdict.path.why),
        ),
        ("1.3", "after s layers every token sees every token", badge(verdict.hops.answer.value), verdict.hops.why),
    ]
    theorems = [
        (item.source, badge(item.says.value), item.functions, formula(_why(item))) for item in verdict.statements
    ]
    parts: list[object] = [] if remedy is None else [remedy_part(remedy)]
    parts += [
        facts(
            [
                ("Tokens n", number(data["n"])),
                ("Patterns p", number(data["p"])),
                ("Connections", connections),
                *counted,
                ("Keys of a query", f"{data['degree']['min']} to {data['degree']['max']}"),
                ("Hops s", number(data["s"])),
                ("Strong components", number(data["components"])),
                ("Hub", "none" if data["star"] is None else f"token {data['star']}"),
            ]
        ),
        Markup('<p class="note">Tokens and patterns count from 0.</p>'),
        table("Assumptions", ("Assumption", "Says", "Result", "Evidence"), assumptions, "llll"),
        table("What the theorems say", ("Theorem", "Result", "Functions", "Why"), theorems, "llll"),
    ]
    if verdict.within is not None:
        parts.append(
            Markup(
                f"<p>Within {verdict.within.layers} layers: {badge(verdict.within.answer.value)} "
                f"{escape(verdict.within.why)}.</p>"
            )
        )
    gamma = verdict.path.path
    if gamma is not None and "..." in verdict.path.why:
        chain = " → ".join(str(token) for token in gamma[:SHOWN_TOKENS].tolist())
        more = "" if len(gamma) <= SHOWN_TOKENS else f" → … ({len(gamma)} tokens, all in the certificate)"
        parts.append(Markup(f"<p>Hamiltonian path γ of Assumption 1.2: <code>{escape(chain + more)}</code></p>"))
    return join(parts)


def _why(statement: Statement) -> str:
    """Say why, and for which functions the pattern is universal where they are others than those asked for."""
    if statement.universal_for in (None, statement.functions):
        return statement.why
    return f"{statement.why}; universal for exactly these: {statement.universal_for}"


def certificate_part(certificate: dict[str, Any]) -> Markup:
    """Return the certificate: in the page where it is small, and in the file beside it."""
    text = json.dumps(certificate)
    words = Markup(
        '<p>The evidence is in <a href="certificate.json"><code>certificate.json</code></a> beside this page; '
        "<code>sparseuap recheck certificate.json</code> checks it again without any search.</p>"
    )
    if len(text) > SHOWN_CERTIFICATE:
        return words
    return join([words, Markup(f"<details><summary>The certificate</summary><pre>{escape(text)}</pre></details>")])


def error_part(study: ErrorStudy, source: str) -> Markup:
    """Return the error sweep as a table, with the two t at which the ids are right."""
    data = error_report.as_json(study, source)
    rows = [
        (
            name_upper(row.t, 6),
            _with_spread(row.errors.total),
            _with_spread(row.errors.discretization),
            _with_spread(row.errors.good),
            _bound(row.bound.relaxation),
            _with_spread(row.errors.ramp),
            _measured(row.errors.id_error),
            _bound(row.bound.ids),
            _share(row.errors.cells_right),
        )
        for row in study.rows
    ]
    headings = (
        "t",
        formula("d_p(f, g)"),
        "f − f̄, grid",
        "ḡ − g, no ramp",
        "its bound",
        "ḡ − g, ramp",
        "ids off by (δ)",
        "their bound",
        "cells right",
    )
    found = study.rows[-1].errors
    return join(
        [
            facts(
                [
                    ("Probability map ρ", data["rho"]),
                    ("Norm p", number(data["p"])),
                    ("Ramp α", number(data["alpha"], 3)),
                    ("Domain", f"[{study.box[0]:g}, {study.box[1]:g})"),
                    ("t measured", _bound(study.t_measured, 6)),
                    ("t guaranteed", _bound(study.t_guaranteed, 6)),
                ]
            ),
            Markup(
                "<p>With ρ[t ·] for hardmax and ReLUs for steps. “t measured” is the least at which the ids of "
                "the cells are right, “t guaranteed” what the bound of Lemma 4 asks for. A dash: nothing is "
                "claimed.</p>"
            ),
            *(
                Markup(f'<p class="verdict">{badge("fails")} {formula(str(found))}.</p>')
                for found in study.contradictions
            ),
            table("Error against t", headings, rows, "rrrrrrrrr"),
            Markup(
                f'<p class="note">Grid: {formula(found.discretization.method)}. '
                f"Ramp: {formula(found.ramp.method)}. "
                f"Seed {study.seed}; ±: half a 99 % interval, where the value is no sum over all cells. "
                "Bounds and ± are rounded up.</p>"
            ),
        ]
    )


def _with_spread(found: Distance) -> str:
    """Return a distance, with half its interval where it is an estimate."""
    spread = error_report.spread(found)
    return f"{_measured(found.value)} ± {name_upper(spread, 2)}" if spread > 0 else _measured(found.value)


def _measured(value: float) -> str:
    return number(value) if math.isfinite(value) else "∞"


def _bound(value: float | None, digits: int = 3) -> str:
    """Return an upper bound, rounded up; a dash where nothing is claimed."""
    return number(None) if value is None or not math.isfinite(value) else name_upper(value, digits)


def _share(share: float) -> str:
    percent = f"{100 * share:.4g}"
    return "<100 %" if share < 1 and percent == "100" else f"{percent} %"


def how_to_part(commands: dict[str, str], seed: int, digest: str) -> Markup:
    """Return the command lines, the seed, the pattern's digest and the versions."""
    lines = [
        Markup(f"<dt>{escape(name)}</dt><dd><code>{escape(line)}</code></dd>") for name, line in commands.items()
    ]
    return join(
        [
            Markup('<dl class="commands">'),
            *lines,
            Markup("</dl>"),
            facts(
                [
                    ("Pattern digest (SHA-256)", Markup(f"<code>{escape(digest)}</code>")),
                    ("Seed", seed),
                    *((name, text) for name, text in _versions()),
                ]
            ),
        ]
    )


def _versions() -> Iterator[tuple[str, str]]:
    yield "Python", platform.python_version()
    for name in LIBRARIES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            continue
