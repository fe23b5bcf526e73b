"""How many layers a construction has: used, by formula, and in the dense counterpart."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from constructions.relay_absorb import FEED_FORWARD_LAYERS
from theory.wording import name_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verify.proof import Proof

__all__ = ["LayerRow", "layer_rows", "layers"]

ATTENDS, FEEDS = "attention", "feed-forward"
COUNTS = ("attention_layers", "feed_forward_layers")
STAGES = {
    "selective_shift": ("selective shift", "selective shifts"),
    "all_max_shift": ("all-max-shift", "all-max-shifts"),
    "upstream": ("upstream", "relay: absorb what lies upstream"),
    "gather": ("gather", "relay: gather to the root"),
    "release": ("release", "relay: release what lies upstream"),
    "broadcast": ("broadcast", "relay: broadcast from the root"),
}
"""By the key in the formulas: the name of a stage, and what a reader calls it."""


class LayerRow(NamedTuple):
    """How many layers of one kind a step of the proof has; None where it was not built, or has no counterpart."""

    step: str
    kind: str
    used: int | None
    by_formula: int | None
    dense: int | None

    @property
    def cells(self) -> tuple[str, ...]:
        """What a table shows."""
        built = "not built" if self.used is None else name_number(self.used)
        return self.step, self.kind, built, name_number(self.by_formula), name_number(self.dense)


def layers(proof: Proof) -> tuple[dict[str, int | None], dict[str, int]]:
    """Return layers used and by formula under the paper's four names.

    The relay construction's attention layers, all of them selective shifts, count under that name; its
    feed-forward layers are in `layer_rows`. What was not built (the value mapping of too many cells) is None.
    """
    mapping = proof.mapping
    by_formula = dict(mapping.layers_formula)
    shifts_formula = sum(count for name, count in by_formula.items() if name != "all_max_shift")
    all_max = sum(stage.attention_layers for stage in mapping.stages if stage.name == "all-max-shift")
    used: dict[str, int | None] = {
        "quantization": mapping.d * mapping.pattern.n * mapping.K,
        "selective_shift": mapping.attention_layers - all_max,
        "all_max_shift": all_max,
        "value_mapping": None,
    }
    if proof.network is not None:
        used["quantization"] = proof.network.quantization().feed_forward_layers
        used["value_mapping"] = proof.network.values.feed_forward_layers
    cells = mapping.K ** (mapping.d * mapping.pattern.n)
    formula = {
        "quantization": mapping.d * mapping.pattern.n * mapping.K,
        "selective_shift": shifts_formula,
        "all_max_shift": by_formula.get("all_max_shift", 0),
        "value_mapping": mapping.pattern.n * cells,
    }
    return used, formula


def layer_rows(proof: Proof) -> list[LayerRow]:
    """Return the layers of every step, and the totals of attention layers, feed-forward layers and blocks.

    Blocks are counted as in the paper: one for every layer, whose other sublayer is off. The dense counterpart's
    contextual mapping stands beside the first step of ours.

    Examples
    --------
    >>> from theory.families import star
    >>> from verify.proof import prove
    >>> for row in layer_rows(prove(star(4, 1), d=1, delta="1/2", construction="relay")):
    ...     print(" | ".join(row.cells))
    quantization | feed-forward | 8 | 8 | 8
    relay: gather to the root | attention | 3 | 3 | 9
    relay: gather to the root | feed-forward | 12 | 12 | -
    relay: broadcast from the root | attention | 3 | 3 | -
    relay: broadcast from the root | feed-forward | 12 | 12 | -
    value mapping | feed-forward | 64 | 64 | 64
    total | attention | 6 | 6 | 9
    total | feed-forward | 96 | 96 | 72
    total | blocks | 102 | 102 | 81
    """
    mapping, (used, formula), dense = proof.mapping, layers(proof), proof.dense_layers
    per_attention_layer = FEED_FORWARD_LAYERS if mapping.construction == "relay" else 0
    rows = [LayerRow("quantization", FEEDS, used["quantization"], formula["quantization"], dense["quantization"])]
    beside: int | None = dense["contextual_mapping"]
    for key, count in mapping.layers_formula.items():
        stages = [stage for stage in mapping.stages if stage.name == STAGES[key][0]]
        attention, fed = (sum(getattr(stage, name) for stage in stages) for name in COUNTS)
        if not (attention or count):
            continue
        rows.append(LayerRow(STAGES[key][1], ATTENDS, attention, count, beside))
        rows.append(LayerRow(STAGES[key][1], FEEDS, fed, per_attention_layer * (count // mapping.pattern.p), None))
        beside = None
    rows.append(
        LayerRow("value mapping", FEEDS, used["value_mapping"], formula["value_mapping"], dense["value_mapping"])
    )
    totals = [_total(kind, [row for row in rows if row.kind == kind]) for kind in (ATTENDS, FEEDS)]
    return [*(row for row in rows if row.used != 0 or row.by_formula), *totals, _total("blocks", totals)]


def _total(kind: str, rows: Sequence[LayerRow]) -> LayerRow:
    """Return the sum of some rows: unknown where a number used is, while a missing counterpart has no layers."""
    used = [row.used for row in rows]
    return LayerRow(
        "total",
        kind,
        None if None in used else sum(count or 0 for count in used),
        sum(row.by_formula or 0 for row in rows),
        sum(row.dense or 0 for row in rows),
    )
