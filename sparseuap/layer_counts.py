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

    Blocks are counted as in the paper: one for every layer, whose other sublayer is off.
    """
    mapping, (used, formula), dense = proof.mapping, layers(proof), proof.dense_layers
    relay = mapping.construction == "relay"
    steps = FEED_FORWARD_LAYERS * (formula["selective_shift"] // mapping.pattern.p) if relay else 0
    shifts = "absorb steps" if relay else "selective shifts"
    rows = [
        LayerRow("quantization", FEEDS, used["quantization"], formula["quantization"], dense["quantization"]),
        LayerRow(
            shifts, ATTENDS, used["selective_shift"], formula["selective_shift"], dense["contextual_mapping"]
        ),
        LayerRow(shifts, FEEDS, mapping.feed_forward_layers, steps, None),
        LayerRow("all-max-shifts", ATTENDS, used["all_max_shift"], formula["all_max_shift"], None),
        LayerRow("value mapping", FEEDS, used["value_mapping"], formula["value_mapping"], dense["value_mapping"]),
    ]
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
