"""The report's part on the proof: what was shown for which functions, every layer by its own name, the checks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparseuap.report_html import Markup, badge, escape, facts, formula, join, number, table
from theory.theorems import universal_within
from theory.verdicts import Answer
from theory.wording import name_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from constructions.stage import Stage
    from verify.pattern_verdict import PatternVerdict
    from verify.proof import Proof

__all__ = ["layers_rows", "proof_part"]

STAGES = {
    "selective shift": ("selective shifts", "selective_shift"),
    "all-max-shift": ("all-max-shifts", "all_max_shift"),
    "upstream": ("relay: absorb what lies upstream", "upstream"),
    "gather": ("relay: gather to the root", "gather"),
    "release": ("relay: release what lies upstream", "release"),
    "broadcast": ("relay: broadcast from the root", "broadcast"),
}
"""By the name of a stage: what a reader calls it, and its key in the formulas."""
HEADINGS = ("Step", "Attention layers", "By formula", "Feed-forward layers", "Dense Transformer")
NONE = "–"
Row = tuple[str, str, str, str, str]


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
        table("Layers", HEADINGS, layers_rows(proof), "lrrrr"),
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
        said = f"The proof fails on this case ({names})."
        return Markup(f'<p class="verdict">{badge("fails")} {escape(said)} {run}</p>')
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


def layers_rows(proof: Proof) -> Iterator[Row]:
    """Yield one row a step, and the sum of the contextual mapping, beside the dense counterpart's.

    The formulas count attention layers: of a relay phase, p times its moves, each with four feed-forward layers
    around it. Quantization and value mapping are feed-forward layers alone.

    Examples
    --------
    >>> from theory.families import star
    >>> from verify.proof import prove
    >>> for row in layers_rows(prove(star(4, 1), d=1, delta="1/2", construction="relay")):
    ...     print(" | ".join(row))
    quantization | – | – | 8 | 8
    relay: gather to the root | 3 | 3 | 12 | –
    relay: broadcast from the root | 3 | 3 | 12 | –
    contextual mapping, in all | 6 | 6 | 24 | 9
    value mapping | – | – | 64 | 64
    """
    mapping, network, dense = proof.mapping, proof.network, proof.dense_layers
    quantization = mapping.d * mapping.pattern.n * mapping.K
    if network is not None:
        quantization = network.quantization().feed_forward_layers
    yield "quantization", NONE, NONE, name_number(quantization), name_number(dense["quantization"])
    for name in dict.fromkeys(stage.name for stage in mapping.stages):
        shown, key = STAGES.get(name, (name, name))
        counts = _sums([stage for stage in mapping.stages if stage.name == name])
        yield shown, counts[0], name_number(mapping.layers_formula[key]), counts[1], NONE
    counts, by_formula = _sums(mapping.stages), name_number(sum(mapping.layers_formula.values()))
    yield "contextual mapping, in all", counts[0], by_formula, counts[1], name_number(dense["contextual_mapping"])
    values = "not built" if network is None else name_number(network.values.feed_forward_layers)
    yield "value mapping", NONE, NONE, values, name_number(dense["value_mapping"])


def _sums(stages: Sequence[Stage]) -> tuple[str, str]:
    """Return the attention and the feed-forward layers of some stages."""
    attention = sum(stage.attention_layers for stage in stages)
    return name_number(attention), name_number(sum(stage.feed_forward_layers for stage in stages))
