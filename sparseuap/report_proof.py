"""The report's part on the proof: what was shown for which functions, every layer by its own name, the checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparseuap.layer_counts import layer_rows
from sparseuap.report_html import Markup, badge, escape, facts, formula, join, number, table
from theory.theorems import universal_within
from theory.verdicts import Answer
from theory.wording import name_number

if TYPE_CHECKING:
    from verify.pattern_verdict import PatternVerdict
    from verify.proof import Proof

__all__ = ["proof_part"]

HEADINGS = ("Step", "Kind", "Used", "By formula", "Dense Transformer")


def proof_part(proof: Proof, target: str, verdict: PatternVerdict) -> Markup:
    """Return what was built, what was run, and every statement that was checked."""
    mapping, ids = proof.mapping, proof.ids
    checks = [
        (
            check.name,
            badge(check.answer.value),
            f"{'all ' if check.exhaustive else ''}{number(check.inputs)}" if check.inputs else "–",
            formula(check.statement if check.answer is Answer.HOLDS else f"{check.statement}. {check.why}"),
        )
        for check in proof.checks
    ]
    parts: list[object] = [
        _proved(proof, target, verdict),
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
        table("Layers", HEADINGS, [row.cells for row in layer_rows(proof)], "llrrr"),
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


def _proved(proof: Proof, target: str, verdict: PatternVerdict) -> Markup:
    """Say what the run showed and of which functions, without a light that reads as the pattern's verdict."""
    functions = universal_within(verdict.reach)
    run = formula(f"Run on {proof.inputs.description}.")
    if not proof.holds:
        names = ", ".join(check.name for check in proof.checks if check.answer is not Answer.HOLDS)
        said = {
            Answer.FAILS: f"The proof fails on this case ({names}).",
            Answer.UNDECIDED: f"Nothing fails, but not every statement could be checked ({names}).",
        }[proof.answer]
        return Markup(f'<p class="verdict">{badge(proof.answer.value)} {escape(said)} {run}</p>')
    said = f"Everything checked holds for the target {target}; the construction is for {functions}."
    if verdict.universal is Answer.HOLDS:
        return Markup(f'<p class="verdict">{badge("holds")} {escape(said)} {run}</p>')
    asked = f"It does not make the pattern universal for {verdict.for_.functions}."
    if verdict.universal is Answer.UNDECIDED:
        asked = "It does not decide the verdict."
    return Markup(f'<p class="verdict">{escape(said)} {escape(asked)} {run}</p>')


def _gap(proof: Proof) -> tuple[str, str]:
    """Return the smallest gap of two ids; a sweep knows that of one input's ids only, at least."""
    gap = proof.ids.gap
    if proof.ids.digest is None:
        return "Smallest gap of two ids", f"{name_number(gap.across)} δ"
    least = "unknown" if gap.within is None else f"at least {name_number(gap.within)} δ"
    return "Smallest gap of two ids of one input", least
