"""Decoders whose configuration names every layer: layer_types with sliding_window or attention_chunk_size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theory.families.local import interval, interval_count, segments, segments_count
from theory.families.rows import admit
from theory.patterns import PatternError
from theory.readers.heads import MAX_LAYERS

if TYPE_CHECKING:
    from theory.patterns import Connections
    from theory.readers.config_fields import Fields

__all__ = ["chunked", "full", "near", "sliding", "typed_layers"]

DECODERS = (
    *("afmoe", "cohere2", "cohere2_moe", "cwm", "dots1", "exaone4", "exaone_moe", "gemma2", "gemma3_text"),
    *("gpt_oss", "granite_swa", "granitemoe_swa", "llama4_text", "ministral", "olmo3"),
    *("qwen2", "qwen2_moe", "qwen3", "smollm3", "vaultgemma"),
)
"""Model types whose masks are causal for text, unless the configuration says otherwise."""

INPUT_DEPENDENT = (
    "indexed_attention",
    "deepseek_sparse_attention",
    "qwen_sparse_attention",
    "compressed_sparse_attention",
    "heavily_compressed_attention",
    "minimax_m3_sparse",
)
RECURRENT = ("linear_attention", "mamba", "conv", "recurrent", "hybrid", "hybrid_sliding")


def full(n: int, *, causal: bool) -> Connections:
    """Return all keys, or with `causal` those up to the query."""
    after = 0 if causal else n - 1
    admit(n, interval_count(n, n - 1, after))
    return interval(n, n - 1, after)


def near(n: int, radius: int) -> Connections:
    """Return A_k = {j : |k - j| <= radius}."""
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
            f"sliding_window must be a whole number of at least 1, got {window!r}: by 0 one kernel means the token"
            " itself, one nothing, one no limit"
        )
    if not causal:
        return near(n, window)
    admit(n, interval_count(n, window - 1, 0))
    return interval(n, window - 1, 0)


def chunked(n: int, size: int) -> Connections:
    """Return ``attention_chunk_size``: the keys up to the query in its own chunk, counted from token 0."""
    admit(n, segments_count(n, size))
    return segments(n, size, causal=True)


def typed_layers(fields: Fields, n: int, causal: bool | None) -> list[Connections]:
    """Return one layer for every entry of layer_types.

    Raises
    ------
    PatternError
        If a layer is no attention or depends on the input, or the direction of the model is not known.
    """
    types = fields.names("layer_types")
    if types is None and fields.model_type == "modernbert":  # as its own configuration class does
        every = fields.number("global_attn_every_n_layers") if fields.get("global_attn_every_n_layers") else 3
        depth = min(fields.number("num_hidden_layers"), MAX_LAYERS + 1)
        types = ["sliding_attention" if number % every else "full_attention" for number in range(depth)]
    elif types is None:
        sparse = any(fields.get(name) is not None for name in ("sliding_window", "attention_chunk_size"))
        if fields.raw and (sparse or fields.model_type in DECODERS):
            fields = fields.completed()
        types = fields.names("layer_types")
    if not types:
        raise PatternError(
            f"a {fields.model_type} configuration names no sparse attention that is known here (layer_types,"
            " attention_layers, attention_window, block_size, local_radius): for dense layers, check dense:n=64 or"
            " causal:n=64"
        )
    directed = _is_causal(fields, causal)
    made: dict[str, Connections] = {}
    layers = []
    for number, kind in enumerate(types):
        if kind not in made:
            made[kind] = _layer(fields, n, kind, number, directed)
        layers.append(made[kind])
    return layers


def _is_causal(fields: Fields, causal: bool | None) -> bool:
    model = fields.model_type
    if model == "modernbert":
        return False
    if fields.get("use_bidirectional_attention"):
        if model != "gemma3_text":
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
    return bool(fields.get("is_causal", True))


def _layer(fields: Fields, n: int, kind: object, number: int, causal: bool) -> Connections:
    if kind in ("full_attention", "attention"):
        return full(n, causal=causal)
    if kind == "sliding_attention":
        if fields.model_type == "modernbert":
            return near(n, fields.number("local_attention", 0) // 2)
        if fields.get("use_sliding_window") is False:
            raise PatternError(f"layer {number} is sliding_attention, but use_sliding_window is false")
        window = fields.need("sliding_window")
        if fields.get("use_bidirectional_attention"):  # transformers halves the window of the file while loading
            width = fields.number("sliding_window") // 2 + 1 if fields.raw else window
            return near(n, width - 1)
        return sliding(n, window, causal=causal)
    if kind == "chunked_attention" and causal:
        return chunked(n, fields.number("attention_chunk_size"))
    if kind in INPUT_DEPENDENT:
        raise PatternError(
            f"layer {number} is {kind}: which keys it keeps is computed from the input, so there is no pattern to"
            " check; give the mask of one input instead"
        )
    if kind in RECURRENT:
        raise PatternError(f"layer {number} is {kind}, a recurrence and no attention with a sparsity pattern")
    raise PatternError(f"layer {number} is of an unknown kind: {kind!r}")
