"""The kind of attention of every layer of a decoder: layer_types, or the rule by which its model fills them in."""

from __future__ import annotations

from collections.abc import Callable

from theory.patterns import PatternError
from theory.readers.config_fields import Fields, told
from theory.readers.heads import MAX_LAYERS

__all__ = ["CHUNKED", "DECODERS", "FULL", "SLIDING", "layer_kinds"]

FULL, SLIDING, CHUNKED = "full_attention", "sliding_attention", "chunked_attention"

Rule = Callable[[Fields, int], list[str]]


def layer_kinds(fields: Fields) -> list[str] | None:
    """Return the kind of every layer, or None for a model of which no rule is known.

    Raises
    ------
    PatternError
        If a field has the wrong type, or the number of layers is not num_hidden_layers.

    Examples
    --------
    >>> layer_kinds(Fields.of({"model_type": "gemma2", "num_hidden_layers": 3}))
    ['sliding_attention', 'full_attention', 'sliding_attention']
    """
    kinds = fields.names("layer_types")
    if kinds is None:
        if fields.model_type not in DECODERS:
            return None
        fields.fill("layer_types")
        depth = fields.number("num_hidden_layers")
        if depth > MAX_LAYERS:
            raise PatternError(f"num_hidden_layers={told(depth)} is over the limit of {MAX_LAYERS} layers")
        return DECODERS[fields.model_type](fields, depth)
    if not kinds:
        raise PatternError("layer_types lists no layer")
    fields.check_layers("layer_types", len(kinds))
    return kinds


def _every(step: int, place: int) -> Rule:
    """Full attention in the layers i with i mod `step` = `place` mod `step`, from 0."""
    return lambda fields, depth: _spaced(step, place, depth)


def _every_field(name: str, place: int = -1) -> Rule:
    return lambda fields, depth: _spaced(_step(fields, name), place, depth)


def _spaced(step: int, place: int, depth: int) -> list[str]:
    return [SLIDING if (number - place) % step else FULL for number in range(depth)]


def _step(fields: Fields, name: str) -> int:
    """Return a period, which files of a time between hold with an underscore, where it is no longer read."""
    step, saved = fields.number(name), fields.get(f"_{name}")
    if saved is not None and saved != step:
        raise PatternError(
            f"_{name} is {told(saved)}, but {name} is {told(step)} or left to that default: write layer_types"
        )
    return step


def _exaone(fields: Fields, depth: int) -> list[str]:
    if fields.need("sliding_window") is None:
        return [FULL] * depth
    return _spaced(_step(fields, "sliding_window_pattern"), -1, depth)


def _cohere2_moe(fields: Fields, depth: int) -> list[str]:
    dense = fields.number("first_k_dense_replace", 0)
    if dense > depth:
        raise PatternError(f"first_k_dense_replace={told(dense)} is more than the {depth} layers")
    prefix = _spaced(fields.number("prefix_dense_sliding_window_pattern"), -1, dense)
    return prefix + _spaced(_step(fields, "sliding_window_pattern"), -1, depth - dense)


def _after_max_window_layers(fields: Fields, depth: int) -> list[str]:
    if fields.need("sliding_window") is None:
        return [FULL] * depth
    start = fields.number("max_window_layers", 0)
    return [SLIDING if number >= start else FULL for number in range(depth)]


def _qwen(fields: Fields, depth: int) -> list[str]:
    return _after_max_window_layers(fields, depth) if fields.flag("use_sliding_window") else [FULL] * depth


def _qwen2_moe(fields: Fields, depth: int) -> list[str]:
    if not fields.flag("use_sliding_window"):
        return [FULL] * depth
    end = fields.number("max_window_layers", 0)
    return [FULL if number % 2 or number >= end else SLIDING for number in range(depth)]


def _ministral(fields: Fields, depth: int) -> list[str]:
    return [FULL if fields.need("sliding_window") is None else SLIDING] * depth


def _smollm3(fields: Fields, depth: int) -> list[str]:
    used = fields.flag("use_sliding_window") and fields.need("sliding_window") is not None
    return [SLIDING if used and not rotary else FULL for rotary in _rotary(fields, depth)]


def _llama4(fields: Fields, depth: int) -> list[str]:
    chunks = fields.need("attention_chunk_size") is not None
    return [CHUNKED if chunks and rotary else FULL for rotary in _rotary(fields, depth)]


def _rotary(fields: Fields, depth: int) -> list[bool]:
    """Return no_rope_layers, in which 1 means that the layer does rotate."""
    given = fields.get("no_rope_layers")
    if given is None or given == []:
        step = fields.number("no_rope_layer_interval")
        return [bool((number + 1) % step) for number in range(depth)]
    if not isinstance(given, (list, tuple)) or not all(
        type(one) in (int, bool) and one in (0, 1) for one in given
    ):
        raise PatternError(f"no_rope_layers must be a list of 0 and 1, got {told(given)}")
    if len(given) != depth:
        raise PatternError(f"no_rope_layers has {len(given)} entries, but num_hidden_layers is {depth}")
    return [bool(one) for one in given]


DECODERS: dict[str, Rule] = {
    "afmoe": _every_field("global_attn_every_n_layers"),
    "cohere2": _every_field("sliding_window_pattern"),
    "cohere2_moe": _cohere2_moe,
    "cwm": _every(4, 0),
    "dots1": _after_max_window_layers,
    "exaone4": _exaone,
    "exaone_moe": _exaone,
    "gemma2": _every(2, -1),
    "gemma3_text": _every_field("sliding_window_pattern"),
    "gpt_oss": _every(2, -1),
    "granite_swa": _every(4, 0),
    "granitemoe_swa": _every(4, 0),
    "llama4_text": _llama4,
    "ministral": _ministral,
    "modernbert": _every_field("global_attn_every_n_layers", 0),
    "modernbert-decoder": _every_field("global_attn_every_n_layers", 0),
    "olmo3": _every(4, -1),
    "qwen2": _qwen,
    "qwen2_5_vl": _qwen,
    "qwen2_5_vl_text": _qwen,
    "qwen2_moe": _qwen2_moe,
    "qwen2_vl": _qwen,
    "qwen2_vl_text": _qwen,
    "qwen3": _qwen,
    "smollm3": _smollm3,
    "vaultgemma": _every(2, -1),
}
"""Model types whose masks are causal for text (ModernBERT's excepted), unless the configuration says otherwise."""
