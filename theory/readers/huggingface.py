"""Hugging Face configurations, from a local config.json, a dict or a config object: the attention of every layer.

What a field means, and what a model fills in for one that is left out, was read from transformers 5.24, which is
not needed. Text tokens without padding are meant; of an encoder-decoder model, the self-attention of the encoder.
Nothing is downloaded.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from theory.families.rows import whole
from theory.patterns import PatternError, SparsityPattern
from theory.readers.config_fields import Fields
from theory.readers.config_files import refuse_deepspeed
from theory.readers.config_layers import typed_layers, window_layers
from theory.readers.config_models import (
    bigbird_layers,
    gpt_neo_layers,
    longformer_layers,
    longt5_layers,
    reformer_layers,
)
from theory.readers.config_unread import refuse_computed
from theory.readers.guard import check_tokens, one_line, regular_file
from theory.readers.heads import HeadPatterns, cycled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from theory.patterns import Connections

__all__ = ["from_config", "is_config", "read_config"]

CONFIG_LIMIT = 2**24

MODELS: dict[str, Callable[[Fields, int, Sequence[int] | None], list[Connections]]] = {
    "gpt_neo": gpt_neo_layers,
    "longformer": longformer_layers,
    "led": longformer_layers,
    "big_bird": bigbird_layers,
    "bigbird_pegasus": bigbird_layers,
    "longt5": longt5_layers,
    "reformer": reformer_layers,
}
"""Models with sparse attention of their own."""

INPUT_DEPENDENT = {
    "nystromformer": "its landmarks are means over the tokens",
    "yoso": "which tokens meet is hashed from their values",
    "perceiver": "the tokens meet through latent vectors only",
    "canine": "its deep layers run on downsampled characters",
    "funnel": "its layers pool the sequence",
    "fnet": "it mixes tokens by a Fourier transform, without attention",
}

ALL_SLIDING = ("ministral3", "mistral", "mixtral", "phi3", "phimoe", "qwen3_moe", "starcoder2")
"""Decoders in which sliding_window, where it is set, holds in every layer, whatever layer_types say."""


def is_config(value: object) -> bool:
    """Tell a configuration object by its fields, without importing transformers."""
    return isinstance(getattr(value, "model_type", None), str) and callable(getattr(value, "to_dict", None))


def read_config(
    path: str, n: int, *, global_tokens: Sequence[int] | None = None, causal: bool | None = None
) -> HeadPatterns:
    """Read a config.json, or the one in a folder, with a note of what the model fills in; see `from_config`.

    Raises
    ------
    PatternError
        If it is no JSON object of a model, or `from_config` refuses it.
    """
    place = os.path.join(path, "config.json") if os.path.isdir(path) else path
    regular_file(place, CONFIG_LIMIT)
    with open(place, encoding="utf-8") as file:
        try:
            raw = json.load(file)
        except (ValueError, RecursionError) as error:
            raise PatternError(f"is no JSON: {one_line(error)}") from error
    if not isinstance(raw, dict):
        raise PatternError("a model configuration is a JSON object")
    if "model_type" not in raw:
        refuse_deepspeed(raw, str(n))
    pattern, fields = _read(raw, n, global_tokens, causal)
    left = f"the file leaves to the defaults of {fields.model_type}: {', '.join(fields.filled)}"
    return HeadPatterns((pattern,), (left,) if fields.filled else ())


def from_config(
    config: Any, n: int, *, global_tokens: Sequence[int] | None = None, causal: bool | None = None
) -> SparsityPattern:
    """Read the attention pattern of every layer, in order, as one cycle.

    Parameters
    ----------
    config
        A dict, as in config.json, or a config object of transformers. Known are GPT-Neo (attention_layers),
        Longformer and LED (attention_window), BigBird (evaluation mode: no random blocks), LongT5 (local),
        Reformer (local layers), ModernBERT, the decoders of `theory.readers.config_types`, and every other one
        that lists its layer_types.
    n
        Tokens.
    global_tokens
        Longformer, LED: the positions of ``global_attention_mask``; none by default, as in the base model.
    causal
        Has to be said (true) for layer_types of a model that is not known to be a decoder.

    Raises
    ------
    PatternError
        If the model is unknown, a field is missing or of the wrong type, a layer is no attention, or what it
        attends to depends on the input.

    Examples
    --------
    >>> config = {"model_type": "gpt_neo", "attention_layers": ["global", "local"], "window_size": 2}
    >>> from_config(config, 4).to_lists()[1]
    [[0], [0, 1], [1, 2], [2, 3]]
    """
    return _read(config, n, global_tokens, causal)[0]


def _read(
    config: Any, n: int, global_tokens: Sequence[int] | None, causal: bool | None
) -> tuple[SparsityPattern, Fields]:
    """Return the pattern, and the fields of the model that was read, with what its defaults filled in."""
    n = whole("n", n, 1)
    check_tokens(n)
    fields = Fields.of(config).text(MODELS)
    model = fields.model_type
    refuse_computed(fields)
    if model in INPUT_DEPENDENT:
        raise PatternError(f"a {model} has no fixed sparsity pattern: {INPUT_DEPENDENT[model]}")
    if model in MODELS:
        if causal is not None:
            raise PatternError(f"the configuration of a {model} says itself what is causal: leave causal out")
        if global_tokens is not None and model not in ("longformer", "led"):
            raise PatternError(f"a {model} takes no global tokens")
        return cycled(MODELS[model](fields, n, global_tokens)), fields
    if global_tokens is not None:
        raise PatternError(f"a {model} takes no global tokens")
    if model in ALL_SLIDING:
        used = model != "qwen3_moe" or fields.flag("use_sliding_window")
        return cycled(window_layers(fields, n, used=used)), fields
    return cycled(typed_layers(fields, n, causal)), fields
