"""Model configurations read from the file's own fields, with no transformers to be imported."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import deepspeed_layouts
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseuap.commands.check import command as check
from theory.patterns import PatternError
from theory.readers.config_defaults import DEFAULTS
from theory.readers.config_types import DECODERS
from theory.readers.huggingface import MODELS, from_config
from theory.readers.source import read_heads, read_source

INPUTS = Path(__file__).parent / "cases" / "inputs"
NULL: Any = None


@pytest.fixture(autouse=True)
def _no_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)  # an import of it raises


@pytest.mark.parametrize(
    ("name", "p", "connections"),
    [
        ("qwen2_7b", 1, 136),
        ("qwen2_half_s", 4, 388),
        ("gemma2_s", 2, 194),
        ("gemma3_4b_s", 34, 2362),
        ("llama4_scout_s", 4, 256),
        ("cohere2_r7b_s", 4, 310),
        ("modernbert_decoder_s", 3, 136 + 2 * 31),  # half of local_attention: oneself and the key before
    ],
)
def test_published_files_leave_out_what_their_models_fill_in(name: str, p: int, connections: int) -> None:
    found = read_source(f"hf:{INPUTS / f'F4_{name}.json'}?n=16")
    assert (found.p, found.connections) == (p, connections)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("deepseek_v32", r"a deepseek_v32 with index_topk, index_n_heads: .* computed from the input"),
        ("phi3_small", r"phi3small names sparse attention that is not read here \(blocksparse_block_size, "),
        ("recurrentgemma", r"names sparse attention that is not read here \(attention_window_size, block_types\)"),
        (
            "t5gemma_s",
            r"names sparse attention that is not read here \(encoder.sliding_window, encoder.layer_types",
        ),
        ("minimax_text01", "layer 0 is linear_attention, a recurrence"),
    ],
)
def test_sparse_attention_that_is_not_read_is_named_first(name: str, message: str) -> None:
    with pytest.raises(PatternError, match=message) as caught:
        read_source(f"hf:{INPUTS / f'F4_{name}.json'}?n=16")
    assert "dense:n" not in str(caught.value)
    assert "causal=true" not in str(caught.value)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model_type": "bert"}, "no sparse attention that is known here .* check dense:n=16 or causal:n=16"),
        ({"model_type": "llama", "sliding_window": None, "index_topk": 0}, "no sparse attention that is known"),
        ({"model_type": "new", "sliding_window": 4, "use_sliding_window": False}, "no sparse attention that is"),
        ({"model_type": "new", "vision_config": {"window_attention": 4}}, "no sparse attention that is known"),
        ({"model_type": "new", "sliding_window": 4}, r"\(sliding_window\), but which .* write layer_types"),
        ({"model_type": "new", "thinker_config": {"text_config": {"sparse_attention": {"a": 1}}}},
         r"not read here \(thinker_config.text_config.sparse_attention\)"),
        ({"model_type": "qwen3_next", "full_attention_interval": 4}, "full_attention_interval: .* a recurrence"),
        ({"model_type": "qwen2", "index_topk": 8}, "a qwen2 with index_topk"),
    ],
)  # fmt: skip
def test_only_what_names_no_sparse_attention_is_sent_to_dense(config: dict[str, Any], message: str) -> None:
    with pytest.raises(PatternError, match=message):
        from_config(config, 16)


def test_what_the_model_fills_in_is_noted() -> None:
    source = f"hf:{INPUTS / 'F4_gemma3_4b_s.json'}?n=16"
    note = "the file leaves to the defaults of gemma3_text: layer_types, sliding_window_pattern=6"
    assert read_heads(source).notes == (note,)
    assert CliRunner().invoke(check, [source, "--for", "causal"]).output.startswith(f"Note: {note}.\n")
    assert read_heads(f"hf:{INPUTS / 'F4_qwen2_7b.json'}?n=16").notes == (
        "the file leaves to the defaults of qwen2: layer_types",
    )


def test_old_and_new_files_of_one_model() -> None:
    text = {"model_type": "gemma3_text", "num_hidden_layers": 4, "sliding_window": 2}
    kinds = ["sliding_attention", "full_attention"] * 2
    new = from_config({**text, "layer_types": kinds}, 6)
    for old in (
        {**text, "sliding_window_pattern": 2},
        {**text, "sliding_window_pattern": 2, "_sliding_window_pattern": 2},
        {**text, "sliding_window_pattern": 3, "layer_types": kinds},  # the list is what the model follows
        {"model_type": "gemma3", "text_config": {**text, "sliding_window_pattern": 2}},
        {
            "model_type": "gemma3",
            "text_config": {**text, "sliding_window_pattern": 2, "model_type": "gemma3_text"},
        },
    ):
        assert from_config(old, 6) == new
    untyped = {name: value for name, value in text.items() if name != "model_type"}
    assert from_config({"model_type": "gemma3", "text_config": {**untyped, "sliding_window_pattern": 2}}, 6) == new
    with pytest.raises(
        PatternError, match=r"_sliding_window_pattern is 2, but sliding_window_pattern is 6 or left"
    ):
        from_config({**text, "_sliding_window_pattern": 2}, 6)


@pytest.mark.parametrize(
    ("model", "fields", "message"),
    [
        ("gemma2", {"num_hidden_layers": 3, "layer_types": ["full_attention"] * 2},
         "layer_types has 2 entries, but num_hidden_layers is 3"),
        ("gemma2", {"layer_types": []}, "layer_types lists no layer"),
        ("gemma2", {"layer_types": "full_attention"}, "layer_types must be a list of words"),
        ("gemma2", {"num_hidden_layers": 10**9}, "num_hidden_layers=1000000000 is over"),
        ("gemma2", {"num_hidden_layers": NULL}, "num_hidden_layers must be a whole number"),
        ("gemma2", {"num_hidden_layers": -1}, "num_hidden_layers must be a whole number"),
        ("gemma2", {"num_hidden_layers": 4.0}, "num_hidden_layers must be a whole number"),
        ("gemma3_text", {"sliding_window_pattern": 0}, "sliding_window_pattern must be a whole"),
        ("exaone4", {"sliding_window_pattern": "LLLG"}, "pattern must be .* 'LLLG'"),
        ("qwen2", {"use_sliding_window": "false"}, "use_sliding_window must be true or false, got 'f"),
        ("qwen2", {"use_sliding_window": 1}, "use_sliding_window must be true or false, got 1"),
        ("mistral", {"sliding_window": True}, "sliding_window must be a whole number"),
        ("mistral", {"sliding_window": "4096"}, "sliding_window must be a whole number"),
        ("llama4_text", {"no_rope_layers": [1, 2]}, "no_rope_layers must be a list of 0 and 1"),
        ("llama4_text", {"no_rope_layers": [1, 0]}, "no_rope_layers has 2 entries, but num_hidden_"),
        ("llama4_text", {"attention_chunk_size": 0}, "attention_chunk_size must be a whole number"),
        ("cohere2_moe", {"first_k_dense_replace": 99}, "first_k_dense_replace=99 is more than the 40"),
        ("gpt_neo", {"attention_types": [[["global"], 1e400]]}, "attention_types must look like"),
        ("gpt_neo", {"attention_types": [[["global"], 10**9]]}, "more than 4096 layers"),
        ("gpt_neo", {"attention_layers": ["local"], "num_layers": 2}, "but num_layers is 2"),
        ("gpt_neo", {"attention_layers": ["local"], "attention_types": [[["global"], 1]]}, "different"),
        ("longformer", {"attention_window": [4, 4], "num_hidden_layers": 3}, "has 2 entries"),
        ("led", {"attention_window": [4, 4], "encoder_layers": 3}, "but encoder_layers is 3"),
        ("gemma3", {"text_config": "text"}, "text_config must be the configuration of a model"),
        ("longt5", {"encoder_attention_type": 3}, "encoder_attention_type must be"),
    ],
)  # fmt: skip
def test_a_field_of_the_wrong_kind_is_named(model: str, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(PatternError, match=message):
        from_config({"model_type": model, **fields}, 16)


FIELDS = [
    *sorted({name for fields in DEFAULTS.values() for name in fields}),
    *("layer_types", "attention_layers", "no_rope_layers", "use_sliding_window", "is_decoder", "is_causal"),
    *("use_bidirectional_attention", "architectures", "text_config", "model_type", "num_layers", "index_topk"),
    *("encoder", "_sliding_window_pattern", "local_attention", "encoder_layers", "block_types"),
]
WORDS = st.sampled_from(
    ["", "full_attention", "sliding_attention", "chunked_attention", "local", "global", "lsh", "x\n"]
)
LEAVES = (
    st.none() | st.booleans() | st.integers(-3, 40) | st.floats() | WORDS
    | st.sampled_from([-(10**30), 2**31, 2**63, 10**30, -(10**400)])
)  # fmt: skip
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4)
)


@settings(max_examples=400, deadline=None)
@given(
    st.sampled_from(sorted({*DECODERS, *MODELS, *DEFAULTS, "novel"})),
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6),
    st.sampled_from([1, 7, 16]),
    st.sampled_from([None, True, False]),
)
def test_any_configuration_is_a_pattern_or_one_clear_line(
    model: str, fields: dict[str, Any], n: int, causal: bool | None
) -> None:
    try:
        found = from_config({"model_type": model, **fields}, n, causal=causal)
    except PatternError as error:
        message = str(error)
        assert message.isprintable()
        assert 10 < len(message) < 500
    else:
        assert found.n == n


def test_numbers_that_python_refuses_to_write_out() -> None:
    for field in ("num_hidden_layers", "sliding_window"):
        with pytest.raises(PatternError, match="got one int too long to show"):
            from_config({"model_type": "gemma2", "num_hidden_layers": 2, field: -(10**5000)}, 4)


def test_files_that_are_no_json_or_nested_too_deeply(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    for text in (
        "",
        "{",
        "nonsense",
        "[" * 10**5,
        '{"model_type": ' * 10**4,
        "1" * 5000,
        '{"a": ' + "9" * 5000 + "}",
    ):
        file.write_text(text)
        with pytest.raises(PatternError) as caught:
            read_source(f"hf:{file}?n=16")
        assert str(caught.value).isprintable()


def test_a_pattern_file_that_is_a_configuration_points_to_what_reads_it() -> None:
    place = INPUTS / "F4_gemma2_s.json"
    for source, pointed in ((place, f"hf:{place}?n=512"), (f"{place}?n=16", f"hf:{place}?n=16")):
        with pytest.raises(PatternError, match="is a Hugging Face configuration") as caught:
            read_source(str(source))
        assert f'"{pointed}"' in str(caught.value)
        assert read_source(pointed).p == 2


def sparsity(**fields: Any) -> str:
    return json.dumps({"train_batch_size": 8, "sparse_attention": fields})


def test_a_deepspeed_file_points_to_its_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The source in the message is typed as it stands, with a stand-in for the class of DeepSpeed."""
    made = []

    class Config(deepspeed_layouts.BigBird):
        def __init__(self, **given: Any) -> None:
            made.append(given)
            super().__init__(given["num_heads"], given["block"], given["attention"])

    module = types.ModuleType("sparse_attention")
    module.BigBirdSparsityConfig = Config  # type: ignore[attr-defined]
    for name in ("deepspeed", "deepspeed.ops"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "deepspeed.ops.sparse_attention", module)
    file = tmp_path / "ds_config.json"
    fields = {"mode": "bigbird", "block": 4, "different_layout_per_head": True, "attention": "unidirectional"}
    file.write_text(sparsity(**fields))
    for door in ("", "hf:"):
        with pytest.raises(PatternError, match="is a DeepSpeed configuration") as caught:
            read_source(f"{door}{file}?n=32")
        assert read_heads(str(caught.value).split('"')[1]).heads[0].n == 32
        del fields["mode"]
        assert made.pop() == {**fields, "num_heads": 1}
        fields["mode"] = "bigbird"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (sparsity(block=16), "FixedSparsityConfig.num_heads=1&block=16&n=512"),
        (sparsity(mode="variable", local_window_blocks=[4, 8]), r"config = Vari.*local_window_blocks=\[4, 8\]\)"),
        (sparsity(mode="spiral"), "names none of the modes dense, fixed"),
        (sparsity(mode=["fixed"]), "names none of the modes"),
        ('{"sparse_attention": 3}', "names none of the modes"),
    ],
)
def test_what_no_source_can_say_of_a_deepspeed_file(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "ds.json"
    file.write_text(content)
    with pytest.raises(PatternError, match=message):
        read_source(str(file))
