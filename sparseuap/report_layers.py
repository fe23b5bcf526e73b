"""The report's table of layers: every step of the network under its own name, attention and feed-forward apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparseuap.report_html import Markup, formula, table
from theory.wording import name_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from constructions.stage import Stage
    from verify.proof import Proof

__all__ = ["layers_part", "layers_rows"]

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


def layers_part(proof: Proof) -> Markup:
    """Return the layers as a table."""
    return table("Layers", HEADINGS, [(formula(row[0]), *row[1:]) for row in layers_rows(proof)], "lrrrr")


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
