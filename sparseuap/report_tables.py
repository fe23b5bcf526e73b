"""The report's words and tables: the verdict with its evidence, the proof, the error, how to do it again."""

from __future__ import annotations

import json
import math
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from sparseuap import check_report, error_report
from sparseuap.layer_counts import layer_rows
from sparseuap.report_html import Markup, badge, escape, facts, formula, join, number, table
from theory.theorems import FunctionClass
from theory.verdicts import Answer
from theory.wording import name_number, name_upper

if TYPE_CHECKING:
    from collections.abc import Iterator

    from verify.error_study import ErrorStudy
    from verify.lp_norm import Distance
    from verify.pattern_verdict import PatternVerdict
    from verify.proof import Proof

__all__ = ["certificate_part", "error_part", "how_to_part", "proof_part", "verdict_line", "verdict_part"]

SHOWN_CERTIFICATE = 60_000  # characters
SHOWN_TOKENS = 200
LIBRARIES = ("sparseuap", "numpy", "scipy", "matplotlib", "networkx", "python-sat", "sympy")


def verdict_line(verdict: PatternVerdict, source: str) -> Markup:
    """Return the verdict as one sentence, with the advice that a failing pattern needs."""
    functions = {FunctionClass.ALL: "all", FunctionClass.CAUSAL: "all causal"}[verdict.for_]
    word = {
        Answer.HOLDS: "is universal",
        Answer.FAILS: "is not universal",
        Answer.UNDECIDED: "is not known to be universal",
    }[verdict.universal]
    advice = verdict.advice
    tail = f" {advice[0].upper()}{advice[1:]}." if advice else ""
    answer = {Answer.HOLDS: "universal", Answer.FAILS: "not universal", Answer.UNDECIDED: "undecided"}
    return Markup(
        f'<p class="verdict">{badge(answer[verdict.universal])} '
        f"{escape(source)} {word} for {functions} continuous functions.{escape(tail)}</p>"
    )


def verdict_part(verdict: PatternVerdict, source: str) -> Markup:
    """Return the assumptions with their evidence, and what every theorem says."""
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
        (item.source, badge(item.says.value), item.functions, formula(item.why)) for item in verdict.statements
    ]
    parts: list[object] = [
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


def proof_part(proof: Proof, target: str) -> Markup:
    """Return what was built, what was run, and every statement that was checked."""
    mapping, ids = proof.mapping, proof.ids
    rows = [row.cells for row in layer_rows(proof)]
    checks = [
        (
            check.name,
            badge(check.answer.value),
            f"{'all ' if check.exhaustive else ''}{number(check.inputs)}" if check.inputs else "–",
            formula(check.statement if check.answer is Answer.HOLDS else f"{check.statement}. {check.why}"),
        )
        for check in proof.checks
    ]
    word = {
        Answer.HOLDS: "Everything checked holds.",
        Answer.FAILS: "The proof fails on this case.",
        Answer.UNDECIDED: "Nothing fails, but not every statement could be checked.",
    }[proof.answer]
    parts: list[object] = [
        Markup(
            f'<p class="verdict">{badge(proof.answer.value)} {word} '
            f"Run on {formula(proof.inputs.description)}.</p>"
        ),
        facts(
            [
                ("Embedding size d", mapping.d),
                ("Grid step δ", f"1/{mapping.K}"),
                ("Target f", target),
                ("Construction", mapping.construction),
                ("Attention layers", name_number(mapping.attention_layers)),
                ("Largest id", f"{ids.max_id_bits} bits"),
                _gap(proof),
                ("How the ids were compared", ids.method),
            ]
        ),
        table("Layers", ("Step", "Kind", "Used", "By formula", "Dense Transformer"), rows, "llrrr"),
        table("Statements checked", ("Statement", "Result", "Inputs", "What it says"), checks, "llrl"),
    ]
    if proof.network is None:
        parts.append(
            Markup("<p>The value mapping was not built: it needs every cell, and a target within reach.</p>")
        )
    elif proof.network.values.lifted_by:
        parts.append(
            Markup(
                f"<p>One more layer lifts the ids by {name_number(proof.network.values.lifted_by)} δ: some output "
                "would have landed in the window of an id.</p>"
            )
        )
    return join(parts)


def _gap(proof: Proof) -> tuple[str, str]:
    """Return the smallest gap of two ids; a sweep knows that of one input's ids only, at least."""
    gap = proof.ids.gap
    if proof.ids.digest is None:
        return "Smallest gap of two ids", f"{name_number(gap.across)} δ"
    least = "unknown" if gap.within is None else f"at least {name_number(gap.within)} δ"
    return "Smallest gap of two ids of one input", least


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
