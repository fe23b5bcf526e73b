"""What the configuration classes of transformers 5.24 fill in where a config.json leaves a field out."""

from __future__ import annotations

from typing import Any

__all__ = ["DEFAULTS", "TEXT_MODELS"]

TEXT_MODELS = {
    "gemma3": "gemma3_text",
    "llama4": "llama4_text",
    "mistral3": "mistral",
    "qwen2_vl": "qwen2_vl_text",
    "qwen2_5_vl": "qwen2_5_vl_text",
}
"""The model that text_config of a multimodal one describes where it does not say so itself."""


def _decoder(layers: int, window: int | None, **more: Any) -> dict[str, Any]:
    return {"num_hidden_layers": layers, "sliding_window": window, **more}


_QWEN_VL = _decoder(80, 4096, max_window_layers=80)

DEFAULTS: dict[str, dict[str, Any]] = {
    "afmoe": _decoder(32, 1024, global_attn_every_n_layers=4),
    "cohere2": _decoder(40, 4096, sliding_window_pattern=4),
    "cohere2_moe": _decoder(
        40, 4096, sliding_window_pattern=4, prefix_dense_sliding_window_pattern=1, first_k_dense_replace=0
    ),
    "cwm": _decoder(64, 8192),
    "dots1": _decoder(62, 4096, max_window_layers=62),
    "exaone4": _decoder(32, 4096, sliding_window_pattern=4),
    "exaone_moe": _decoder(32, 4096, sliding_window_pattern=4),
    "gemma2": _decoder(26, 4096),
    "gemma3_text": _decoder(26, 4096, sliding_window_pattern=6),
    "gpt_oss": _decoder(36, 128),
    "granite_swa": _decoder(24, 128),
    "granitemoe_swa": _decoder(32, 128),
    "llama4_text": {"num_hidden_layers": 48, "attention_chunk_size": 8192, "no_rope_layer_interval": 4},
    "ministral": _decoder(32, 4096),
    "ministral3": _decoder(34, None),
    "mistral": _decoder(32, 4096),
    "mixtral": _decoder(32, None),
    "modernbert": {"num_hidden_layers": 22, "local_attention": 128, "global_attn_every_n_layers": 3},
    "modernbert-decoder": {"num_hidden_layers": 22, "local_attention": 128, "global_attn_every_n_layers": 3},
    "olmo3": _decoder(32, 4096),
    "phi3": _decoder(32, None),
    "phimoe": _decoder(32, None),
    "qwen2": _decoder(32, 4096, max_window_layers=28),
    "qwen2_moe": _decoder(24, 4096, max_window_layers=28),
    "qwen3": _decoder(32, 4096, max_window_layers=28),
    "qwen3_moe": _decoder(24, 4096),
    "qwen2_vl": _QWEN_VL,
    "qwen2_vl_text": _QWEN_VL,
    "qwen2_5_vl": _QWEN_VL,
    "qwen2_5_vl_text": _QWEN_VL,
    "smollm3": _decoder(36, None, no_rope_layer_interval=4),
    "starcoder2": _decoder(30, None),
    "vaultgemma": _decoder(26, 4096),
    "big_bird": {"attention_type": "block_sparse", "block_size": 64, "num_random_blocks": 3},
    "bigbird_pegasus": {"attention_type": "block_sparse", "block_size": 64, "num_random_blocks": 3},
    "gpt_neo": {"attention_types": [[["global", "local"], 12]], "window_size": 256},
    "led": {"attention_window": 512},
    "longformer": {"attention_window": 512},
    "longt5": {"encoder_attention_type": "local", "local_radius": 127},
    "reformer": {
        "attn_layers": ["local", "lsh", "local", "lsh", "local", "lsh"],
        "local_attn_chunk_length": 64,
        "local_num_chunks_before": 1,
        "local_num_chunks_after": 0,
    },
}
