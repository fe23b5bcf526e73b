"""Sparse attention that a configuration names and that is not read here: said to be that, and never dense."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from theory.patterns import PatternError
from theory.readers.guard import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from theory.readers.config_fields import Fields

__all__ = ["COMPUTED", "RECURRENT", "refuse_computed", "refuse_unread"]

COMPUTED = (
    "indexed_attention",
    "deepseek_sparse_attention",
    "qwen_sparse_attention",
    "compressed_sparse_attention",
    "heavily_compressed_attention",
    "minimax_m3_sparse",
)
"""Kinds of layers whose keys are chosen from the input."""

RECURRENT = ("linear_attention", "mamba", "conv", "recurrent", "hybrid", "hybrid_sliding")
"""Kinds of layers that are no attention."""

COMPUTED_FIELDS = re.compile(
    r"index_topk|index_n_heads|index_head_dim|indexer_types|compress_ratios?|sparse_config|(nsa|moba|dsa)_\w+"
)
RECURRENT_FIELDS = re.compile(
    r"linear_attention\w*|linear_attn\w*|attn_type_list|hybrid_override_pattern|full_attention_interval"
    r"|full_attn_idxs|attn_layer_(period|offset|indices)|layers_block_type|mamba_\w+"
)
OTHER_FIELDS = re.compile(
    r"blocksparse_\w+|block_?sparse\w*|sparse_attention\w*|sparsity_config|block_types|layer_types|attention_layers"
    r"|attn_layers|attention_types?_list|hybrid_layer_pattern|dense_attention_every_n_layers"
    r"|(interleaved_)?sliding_window(_size|_pattern|_layers)?|attention_window(_size)?|attn_window(_size)?"
    r"|local_attention\w*|local_window(_size)?|local_radius|window_attention\w*|attention_chunk_size"
    r"|global_attn_every_n_layers|max_window_layers|attention_sink_size"
)
OTHER_TOWERS = re.compile(r".*(vision|audio|image|speech|vq|quantization).*")
DEEPEST = 4


def refuse_computed(fields: Fields) -> None:
    """Refuse a configuration, of whatever model, that names keys chosen from the input."""
    named = [name for name in _named(fields.config) if COMPUTED_FIELDS.fullmatch(_last(name))]
    if named:
        raise PatternError(
            f"a {fields.model_type} with {_listed(named)}: which keys a token keeps is computed from the input, so"
            " there is no pattern to check; give the mask of one input instead"
        )


def refuse_unread(fields: Fields) -> None:
    """Refuse a configuration of an unknown model that names sparse attention or recurrent layers.

    Examples
    --------
    >>> from theory.readers.config_fields import Fields
    >>> refuse_unread(Fields.of({"model_type": "phi3small", "blocksparse_block_size": 64}))
    Traceback (most recent call last):
        ...
    theory.connections.PatternError: a phi3small names sparse attention that is not read here \
(blocksparse_block_size): give its mask instead, as in flex:module:mask_mod?n=64 or mask.npy?true=attend
    """
    named = list(_named(fields.config))
    recurrent = [name for name in named if RECURRENT_FIELDS.fullmatch(_last(name))]
    if recurrent:
        raise PatternError(
            f"a {fields.model_type} with {_listed(recurrent)}: some of its layers are a recurrence and no"
            " attention with a sparsity pattern"
        )
    if {"sliding_window", "attention_chunk_size"} & set(named):
        raise PatternError(
            f"a {fields.model_type} names sparse attention ({_listed(named)}), but which of its layers have it is"
            " not known here: write layer_types into the file"
        )
    if named:
        raise PatternError(
            f"a {fields.model_type} names sparse attention that is not read here ({_listed(named)}): give its mask"
            " instead, as in flex:module:mask_mod?n=64 or mask.npy?true=attend"
        )


def _named(config: Any, place: str = "", depth: int = 0) -> Iterator[str]:
    """Yield the fields that name sparse attention, dotted where nested, unless null, false, 0, -1 or empty."""
    content = config if isinstance(config, dict) else getattr(config, "__dict__", {})
    unused = content.get("use_sliding_window") is False
    for name, value in content.items():
        if not isinstance(name, str) or not value or value == -1 or (unused and "window" in name):
            continue
        nested = isinstance(value, dict) or hasattr(value, "model_type")
        if nested and depth < DEEPEST and not OTHER_TOWERS.fullmatch(name):
            yield from _named(value, f"{place}{name}.", depth + 1)
        if any(kinds.fullmatch(name) for kinds in (COMPUTED_FIELDS, RECURRENT_FIELDS, OTHER_FIELDS)):
            yield place + name


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _listed(names: list[str]) -> str:
    return one_line(", ".join(names), 120)
