"""Decoders whose configuration names every layer: layer_types with sliding_window or attention_chunk_size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theory.families.local import interval, interval_count, segments, segments_count
from theory.families.rows import admit
from theory.patterns import PatternError
from theory.readers.config_fields import told
from theory.readers.config_types import CHUNKED, DECODERS, FULL, SLIDING, layer_kinds
from theory.readers.config_unread import COMPUTED, RECURRENT, refuse_unread

if TYPE_CHECKING:
    from theory.patterns import Connections
    from theory.readers.config_fields import Fields

__all__ = ["chunked", "full", "near", "sliding", "typed_layers", "window_layers"]

BIDIRECTIONAL = ("modernbert",)
LOCAL = ("modernbert", "modernbert-decoder")
"""Models that call their window local_attention, and take half of it."""


def full(n: int, *, causal: bool) -> Connections:
    """Return all keys, or with `causal` those up to the query."""
    after = 0 if causal else n - 1
    admit(n, interval_count(n, n - 1, after))
    return interval(n, n - 1, after)


def near(n: int, radius: int) -> Connections:
    """Return A_k = {j : |k - j| <= radius}."""
    radius = min(radius, n)
    admit(n, interval_count(n, radius, radius))
    return interval(n, radius, radius)


def sliding(n: int, window: object, *, causal: bool) -> Connections:
    """Return ``sliding_window=W``: causal, the W keys k - W < j <= k, oneself among them; else |k - j| <= W.

    Raises
    ------
    PatternError
        If W < 1, by which some kernels mean everything and others nothing.
    """
    if isinstance(window, bool) or not isinstance(window, int) or window < 1:
        raise PatternError(
            f"sliding_window must be a whole number of at least 1, got {told(window)}: by 0 one kernel means the"
            " token itself, one nothing, one no limit"
        )
    if not causal:
        return near(n, window)
    window = min(window, n)
    admit(n, interval_count(n, window - 1, 0))
    return interval(n, window - 1, 0)


def chunked(n: int, size: int) -> Connections:
    """Return ``attention_chunk_size``: the keys up to the query in its own chunk, counted from token 0."""
    size = min(size, n)
    admit(n, segments_count(n, size))
    return segments(n, size, causal=True)


def typed_layers(fields: Fields, n: int, causal: bool | None) -> list[Connections]:
    """Return one layer for every entry of layer_types, or of what the model fills in for them.

    Raises
    ------
    PatternError
        If a layer is no attention or depends on the input, or the direction of the model is not known.
    """
    kinds = layer_kinds(fields)
    if kinds is None:
        refuse_unread(fields)
        raise PatternError(
            f"a {fields.model_type} configuration names no sparse attention that is known here (layer_types,"
            f" attention_layers, attention_window, block_size, local_radius): for dense layers, check dense:n={n}"
            f" or causal:n={n}"
        )
    for number, kind in enumerate(kinds):
        _check_kind(kind, number)
    directed = _is_causal(fields, causal)
    made: dict[str, Connections] = {}
    for number, kind in enumerate(kinds):
        if kind not in made:
            made[kind] = _layer(fields, n, kind, number, directed)
    return [made[kind] for kind in kinds]


def window_layers(fields: Fields, n: int, *, used: bool) -> list[Connections]:
    """Return the one layer of a decoder whose sliding_window, where it is set and `used`, holds in every layer."""
    window = fields.need("sliding_window") if used else None
    kind = FULL if window is None else SLIDING
    if set(fields.names("layer_types") or [kind]) != {kind}:
        raise PatternError(
            f"a {fields.model_type} has {kind} in every layer and ignores layer_types: leave them out, or name the"
            " model whose layers differ (ministral)"
        )
    return [full(n, causal=True) if window is None else sliding(n, window, causal=True)]


def _check_kind(kind: str, number: int) -> None:
    if kind in COMPUTED:
        raise PatternError(
            f"layer {number} is {kind}: which keys it keeps is computed from the input, so there is no pattern to"
            " check; give the mask of one input instead"
        )
    if kind in RECURRENT:
        raise PatternError(f"layer {number} is {kind}, a recurrence and no attention with a sparsity pattern")
    if kind not in (FULL, "attention", SLIDING, CHUNKED):
        raise PatternError(f"layer {number} is of an unknown kind: {told(kind)}")


def _is_causal(fields: Fields, causal: bool | None) -> bool:
    model = fields.model_type
    if model in BIDIRECTIONAL:
        return False
    if fields.get("use_bidirectional_attention") not in (None, False):
        if model != "gemma3_text" or not fields.flag("use_bidirectional_attention"):
            raise PatternError(
                f"use_bidirectional_attention of a {model} is not known here: give its mask instead"
            )
        return False
    if causal is None and model not in DECODERS:
        raise PatternError(f"whether a {model} is a causal decoder is not known here: say causal=true if it is")
    if causal is False:
        raise PatternError(
            f"the windows of a {model} that is not causal are not known here: give its mask instead"
        )
    return fields.flag("is_causal", True)


def _layer(fields: Fields, n: int, kind: str, number: int, causal: bool) -> Connections:
    if kind == SLIDING:
        return _sliding_layer(fields, n, number, causal)
    if kind == CHUNKED:
        if not causal:
            raise PatternError(f"layer {number} is {kind} of a model that is not causal, which is not known here")
        return chunked(n, fields.number("attention_chunk_size"))
    return full(n, causal=causal)


def _sliding_layer(fields: Fields, n: int, number: int, causal: bool) -> Connections:
    if fields.model_type in LOCAL:
        half = fields.number("local_attention", 2 if causal else 0) // 2
        said = fields.get("sliding_window")
        if said not in (None, half):  # transformers takes either, by the order in which it loads them
            raise PatternError(f"sliding_window is {told(said)}, but half of local_attention is {told(half)}")
        return sliding(n, half, causal=True) if causal else near(n, half)
    if not fields.flag("use_sliding_window", True):
        raise PatternError(f"layer {number} is {SLIDING}, but use_sliding_window is false")
    if fields.flag("use_bidirectional_attention"):  # transformers halves the window of the file while loading
        width = fields.number("sliding_window")
        return near(n, width // 2 if fields.raw else width - 1)
    return sliding(n, fields.need("sliding_window"), causal=causal)
