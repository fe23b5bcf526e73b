"""Hugging Face configurations: the pattern against the real models, and the known answers of real faults."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from theory.patterns import PatternError, SparsityPattern
from theory.readers.config_defaults import DEFAULTS
from theory.readers.config_fields import Fields
from theory.readers.config_types import DECODERS, layer_kinds
from theory.readers.huggingface import ALL_SLIDING, from_config, read_config
from theory.readers.source import read_source

CASES = Path(__file__).parent / "cases"


def case(name: str) -> SparsityPattern:
    return read_source(str(CASES / f"{name}.json"))


def band(n: int, left: int, right: int) -> list[list[int]]:
    return [[j for j in range(n) if k - left <= j <= k + right] for k in range(n)]


LLAMA4 = {
    "model_type": "llama4_text",
    "layer_types": ["chunked_attention"] * 3 + ["full_attention"],
    "attention_chunk_size": 4,
}
LONGFORMER: dict[str, Any] = {"model_type": "longformer", "attention_window": 4}
BIGBIRD: dict[str, Any] = {
    "model_type": "big_bird",
    "attention_type": "block_sparse",
    "block_size": 2,
    "num_random_blocks": 1,
}
REFORMER: dict[str, Any] = {
    "model_type": "reformer",
    "attn_layers": ["local", "local"],
    "local_attn_chunk_length": 4,
    "local_num_chunks_before": 1,
    "local_num_chunks_after": 0,
}
MISTRAL: dict[str, Any] = {"model_type": "mistral", "sliding_window": 1}


@pytest.mark.parametrize(
    ("name", "config", "n", "globals_"),
    [
        ("hf_llama4_p4", LLAMA4, 16, None),
        ("hf_llama4_chunk_only", {**LLAMA4, "layer_types": ["chunked_attention"] * 2}, 16, None),
        ("hf_swa_eager_W1", MISTRAL, 16, None),
        ("hf_swa_fa2_W4", {**MISTRAL, "sliding_window": 5}, 16, None),
        ("hf_longformer_noglobal_w4", LONGFORMER, 16, None),
        ("hf_longformer_global0_w4", LONGFORMER, 16, [0]),
        ("hf_longformer_w2", {**LONGFORMER, "attention_window": [2, 2]}, 16, None),
        ("hf_bigbird_eval_n16", BIGBIRD, 16, None),
        ("hf_bigbird_n15", BIGBIRD, 15, None),
        ("hf_reformer_local_c4", REFORMER, 16, None),
        ("hf_reformer_local_dec", {**REFORMER, "is_decoder": True}, 16, None),
    ],
)
def test_the_kinds_of_fault_that_people_reported(
    name: str, config: dict[str, Any], n: int, globals_: list[int] | None
) -> None:
    assert from_config(config, n, global_tokens=globals_) == case(name)


def test_layers_become_the_cycle_in_order() -> None:
    config = {"model_type": "gpt_neo", "attention_types": [[["global", "local"], 6]], "window_size": 3}
    assert from_config(config, 9).to_lists() == [band(9, 9, 0), band(9, 2, 0)]
    once = {"model_type": "gpt_neo", "attention_layers": ["local", "global", "local"], "window_size": 1}
    assert from_config(once, 4).to_lists() == [band(4, 0, 0), band(4, 4, 0), band(4, 0, 0)]
    led = {"model_type": "led", "attention_window": [2, 6]}
    assert from_config(led, 9).to_lists() == [band(9, 1, 1), band(9, 3, 3)]


def test_modernbert_is_bidirectional_with_half_its_local_attention() -> None:
    config = {"model_type": "modernbert", "num_hidden_layers": 6, "local_attention": 5}
    dense, near = band(9, 9, 9), band(9, 2, 2)
    assert from_config(config, 9).to_lists() == [dense, near, near]


def test_bigbird_is_dense_while_the_sequence_is_short() -> None:
    assert from_config(BIGBIRD, 14).to_lists() == [band(14, 14, 14)]
    assert from_config(BIGBIRD, 15).connections < 15 * 15


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"model_type": "qwen3", "layer_types": ["linear_attention"]},
            "layer 0 is linear_attention, a recurrence",
        ),
        ({"model_type": "qwen3", "layer_types": ["indexed_attention"]}, "computed from the input"),
        ({"model_type": "qwen3", "layer_types": ["sliding_attention"], "sliding_window": 0}, "at least 1, got 0"),
        ({"model_type": "qwen3", "layer_types": ["sliding_attention"], "sliding_window": None}, "got None"),
        ({"model_type": "qwen3", "layer_types": ["strange"]}, "unknown kind: 'strange'"),
        ({"model_type": "novel", "layer_types": ["full_attention"]}, "say causal=true"),
        (
            {"model_type": "gemma2", "layer_types": ["full_attention"], "use_bidirectional_attention": True},
            "gemma2",
        ),
        ({**MISTRAL, "layer_types": ["sliding_attention", "full_attention"]}, "ignores layer_types"),
        ({"model_type": "bert"}, "no sparse attention"),
        ({"model_type": "nystromformer"}, "landmarks"),
        ({}, "no model_type"),
        ({**LONGFORMER, "attention_window": 3}, "must be even"),
        ({**LONGFORMER, "architectures": ["LongformerForSequenceClassification"]}, "global=0"),
        ({**REFORMER, "attn_layers": ["local", "lsh"]}, "layer 1 is lsh attention, whose buckets"),
        ({**BIGBIRD, "is_decoder": True}, "decoder"),
        ({**BIGBIRD, "block_size": "2"}, "block_size must be"),
        ({"model_type": "longt5", "encoder_attention_type": "transient-global"}, "summaries"),
    ],
)
def test_what_has_no_fixed_pattern_is_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(PatternError, match=message):
        from_config(config, 32)


def test_an_unknown_decoder_can_be_vouched_for() -> None:
    config = {"model_type": "novel", "layer_types": ["full_attention"]}
    assert from_config(config, 3, causal=True).to_lists() == [band(3, 3, 0)]


def test_config_files(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(LONGFORMER))
    assert read_source(f"hf:{file}?n=16&global=0") == case("hf_longformer_global0_w4")
    assert read_config(str(tmp_path), 16).only() == case("hf_longformer_noglobal_w4")
    for text, message in (("[]", "JSON object"), ("{", "no JSON"), ('{"model_type": 3}', "model_type")):
        file.write_text(text)
        with pytest.raises(PatternError, match=message):
            read_source(f"hf:{file}?n=16")
    with pytest.raises(PatternError, match="unknown option 'window'"):
        read_source(f"hf:{file}?n=16&window=3")


# Against the models themselves: one layer of random weights; output k changes with input j or it does not.

SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "vocab_size": 8,
}
GQA = {**SMALL, "num_key_value_heads": 1}
GEMMA = {**GQA, "head_dim": 8, "layer_types": ["sliding_attention"]}
PEGASUS = {
    "d_model": 16,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 16,
    "decoder_ffn_dim": 16,
    "vocab_size": 8,
}
T5 = {"d_model": 16, "d_kv": 8, "d_ff": 16, "num_layers": 1, "num_heads": 2, "vocab_size": 8}
NEO = {"hidden_size": 16, "num_layers": 1, "num_heads": 2, "vocab_size": 8, "window_size": 3}
FORMER = {
    "hidden_size": 16,
    "num_attention_heads": 2,
    "attention_head_size": 8,
    "feed_forward_size": 16,
    "axial_pos_embds": False,
    "vocab_size": 8,
    "hash_seed": 0,
    "attn_layers": ["local"],
    "local_attn_chunk_length": 4,
}
FEW = {"num_experts": 2, "num_local_experts": 2, "num_experts_per_tok": 1, "moe_intermediate_size": 8}
LOCAL = {"layer_types": ["sliding_attention"]}

MORE = ("afmoe", "cwm", "exaone4", "exaone_moe", "granite_swa", "ministral", "ministral3", "olmo3", "vaultgemma")
MODELS: list[tuple[str, dict[str, Any], int, dict[str, Any]]] = [
    ("mistral", {**GQA, "sliding_window": 3}, 9, {}),
    ("phi3", {**GQA, "sliding_window": 2, "pad_token_id": 0}, 9, {}),
    ("starcoder2", {**GQA, "sliding_window": 4}, 9, {}),
    ("qwen2", {**GQA, "sliding_window": 3, **LOCAL, "use_sliding_window": True}, 9, {}),
    ("gemma2", {**GEMMA, "sliding_window": 3}, 9, {}),
    ("gemma3_text", {**GEMMA, "sliding_window": 3}, 9, {}),
    ("gemma3_text", {**GEMMA, "sliding_window": 5, "use_bidirectional_attention": True}, 9, {}),
    ("gemma3_text", {**GEMMA, "layer_types": ["full_attention"], "use_bidirectional_attention": True}, 9, {}),
    ("cohere2", {**SMALL, "sliding_window": 3, **LOCAL}, 9, {}),
    ("modernbert-decoder", {**SMALL, "local_attention": 5, **LOCAL, "pad_token_id": 0}, 9, {}),
    ("mixtral", {**GQA, **FEW, "sliding_window": 3}, 9, {}),
    ("qwen3_moe", {**GEMMA, **FEW, "sliding_window": 3, "use_sliding_window": True}, 9, {}),
    ("qwen3", {**GEMMA, "sliding_window": 3, "use_sliding_window": True}, 9, {}),
    ("qwen2_moe", {**GQA, **FEW, "sliding_window": 3, **LOCAL, "use_sliding_window": True}, 9, {}),
    ("smollm3", {**GQA, "sliding_window": 3, **LOCAL, "use_sliding_window": True, "pad_token_id": 0}, 9, {}),
    ("gpt_oss", {**GEMMA, **FEW, "sliding_window": 3}, 9, {}),
    *((kind, {**GEMMA, "sliding_window": 4, "pad_token_id": 0}, 9, {}) for kind in MORE),
    ("gpt_neo", {**NEO, "attention_types": [[["local"], 1]]}, 9, {}),
    ("gpt_neo", {**NEO, "attention_types": [[["global"], 1]]}, 9, {}),
    ("modernbert", {**SMALL, "local_attention": 5, **LOCAL, "pad_token_id": 0}, 9, {}),
    ("longformer", {**SMALL, "attention_window": 4}, 14, {}),
    ("longformer", {**SMALL, "attention_window": 4}, 14, {"global_tokens": [0, 7]}),
    ("led", {**PEGASUS, "attention_window": 4}, 14, {"global_tokens": [3]}),
    ("big_bird", {**SMALL, "block_size": 2, "num_random_blocks": 1}, 21, {}),
    ("big_bird", {**SMALL, "block_size": 2, "num_random_blocks": 1}, 14, {}),
    ("big_bird", {**SMALL, "block_size": 3, "num_random_blocks": 1}, 22, {}),
    ("bigbird_pegasus", {**PEGASUS, "block_size": 2, "num_random_blocks": 1}, 21, {}),
    ("longt5", {**T5, "local_radius": 2}, 14, {}),
    ("reformer", {**FORMER, "is_decoder": False}, 16, {}),
    ("reformer", {**FORMER, "is_decoder": False}, 14, {}),
    ("reformer", {**FORMER, "is_decoder": True}, 18, {}),
    ("llama4_text", {**SMALL, "head_dim": 8, "num_key_value_heads": 1, "intermediate_size_mlp": 16,
                     "attention_chunk_size": 4, "layer_types": ["chunked_attention"]}, 10, {}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "fields", "n", "options"), MODELS, ids=[f"{m[0]}-{m[2]}" for m in MODELS])
@pytest.mark.filterwarnings("ignore")
def test_the_real_model_sees_exactly_these_keys(
    kind: str, fields: dict[str, Any], n: int, options: dict[str, Any]
) -> None:
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers", minversion="5.0")
    if kind not in transformers.CONFIG_MAPPING:
        pytest.skip(f"this transformers has no {kind}")
    config = transformers.CONFIG_MAPPING[kind](**fields)
    found = seen(kind, config, n, options)
    expected = [sorted({k, *keys}) for k, keys in enumerate(from_config(config, n, **options).to_lists()[0])]
    assert found == expected
    saved = json.loads(config.to_json_string())
    assert from_config(saved, n, **options) == from_config(config, n, **options)


def seen(kind: str, config: Any, n: int, options: dict[str, Any]) -> list[list[int]]:
    """Perturb one token at a time, all at once as a batch, in double precision."""
    import torch
    import transformers

    config._attn_implementation = config._experts_implementation = "eager"
    generator = torch.Generator().manual_seed(0)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        model = transformers.AutoModel.from_config(config).double().eval()
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) / 3)
        model = getattr(model, "encoder", model) if kind in ("led", "bigbird_pegasus", "longt5") else model
        inputs = torch.randn((1, n, 16), generator=generator, dtype=torch.float64).repeat(n + 1, 1, 1)
        inputs[torch.arange(n) + 1, torch.arange(n)] += torch.randn(16, generator=generator, dtype=torch.float64)
        more: dict[str, Any] = {}
        if "global_tokens" in options:
            more["global_attention_mask"] = torch.zeros((n + 1, n), dtype=torch.long)
            more["global_attention_mask"][:, options["global_tokens"]] = 1
        if kind not in ("longt5", "led", "bigbird_pegasus", "longformer", "modernbert", "big_bird"):
            more["use_cache"] = False
        if kind in ("big_bird", "bigbird_pegasus", "led", "longformer", "longt5"):
            more["attention_mask"] = torch.ones((n + 1, n), dtype=torch.long)
        output = model(inputs_embeds=inputs, **more)[0]
    changed = (output[1:] - output[:1]).abs().amax(
        dim=2
    ).numpy() > 1e-6  # GPT-Neo rounds to single precision inside
    return [np.flatnonzero(changed[:, k]).tolist() for k in range(n)]


# Against the configuration classes: what they fill in where a file leaves a field out.

GENERATED: dict[str, list[Any]] = {
    "num_hidden_layers": [1, 2, 5, 8],
    "sliding_window": [None, 3, 6],
    "sliding_window_pattern": [1, 3],
    "use_sliding_window": [True, False],
    "max_window_layers": [0, 2, 7],
    "global_attn_every_n_layers": [1, 2],
    "attention_chunk_size": [None, 4],
    "no_rope_layer_interval": [1, 3],
    "no_rope_layers": [[], [1, 0], [1, 1, 0, 0, 1]],
    "first_k_dense_replace": [0, 2],
    "prefix_dense_sliding_window_pattern": [1, 2],
    "local_attention": [5, 8],
}
KNOWN = sorted({*DECODERS, *ALL_SLIDING})


def loaded(kind: str, fields: dict[str, Any]) -> Any:
    """Return the configuration as transformers loads it."""
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers", minversion="5.0")
    if kind not in transformers.CONFIG_MAPPING:
        pytest.skip(f"this transformers has no {kind}")
    config = transformers.CONFIG_MAPPING[kind].from_dict({"model_type": kind, **fields})
    return config.text_config if kind in ("qwen2_vl", "qwen2_5_vl") else config


def _has(kind: str, name: str) -> bool:
    return name != "use_sliding_window" or "qwen" in kind or kind == "smollm3"


def _is_read(raw: Fields, theirs: Any) -> bool:
    """Tell files with a window for every layer that has one, and no second window beside local_attention."""
    if "sliding_attention" not in (getattr(theirs, "layer_types", None) or []):
        return True
    if "local_attention" in DEFAULTS[raw.model_type]:
        return raw.get("sliding_window") is None
    return theirs.sliding_window is not None


@pytest.mark.parametrize("kind", KNOWN)
@pytest.mark.filterwarnings("ignore")
def test_the_layers_are_those_that_transformers_derives(kind: str) -> None:
    rng = np.random.default_rng(0)
    compared = 0
    for _ in range(25):
        chosen = [name for name in GENERATED if rng.random() < 0.5 and _has(kind, name)]
        fields = {name: GENERATED[name][rng.integers(len(GENERATED[name]))] for name in chosen}
        try:
            theirs = loaded(kind, fields)
        except Exception:  # noqa: S112  # whatever its validation raises
            continue
        raw = Fields.of({"model_type": kind, **fields})
        if not _is_read(raw, theirs):
            with pytest.raises(PatternError, match=r"sliding_window (is|must be)"):
                from_config(raw.config, 9)
            continue
        compared += 1
        if kind in DECODERS:
            assert layer_kinds(raw) == theirs.layer_types, fields
        assert from_config(raw.config, 9) == from_config(theirs, 9), fields
    assert compared > 5


@pytest.mark.parametrize("kind", sorted(DEFAULTS))
@pytest.mark.filterwarnings("ignore")
def test_the_defaults_are_those_of_transformers(kind: str) -> None:
    used = {"use_sliding_window": True} if "qwen" in kind else {}
    theirs = loaded(kind, used)
    read_only_while_loading = ("sliding_window_pattern", "first_k_dense_replace", "global_attn_every_n_layers")
    for name, value in DEFAULTS[kind].items():
        if hasattr(theirs, name) or name not in read_only_while_loading:
            there = getattr(theirs, name)
            assert (list(there) if isinstance(there, tuple) else there) == value, name
