"""Patterns that differ from head to head, and the doors through which library objects come."""

from __future__ import annotations

import json

import flex_masks
import pytest
from click.testing import CliRunner
from deepspeed_layouts import Fixed, Local

import sparseuap.commands.check
import theory.readers.source
from sparseuap.commands.check import command
from theory.families import causal, dense, window
from theory.patterns import PatternError, SparsityPattern
from theory.readers.heads import HeadPatterns, cycled, joined
from theory.readers.huggingface import from_config
from theory.readers.objects import heads_of
from theory.readers.source import read_heads

BOTH = HeadPatterns((causal(5), window(5, 1), causal(5)))


def test_union_is_taken_layer_by_layer() -> None:
    first = SparsityPattern((causal(4).layers[0], window(4, 0).layers[0]))
    second = SparsityPattern((window(4, 1).layers[0], causal(4).layers[0]))
    union = HeadPatterns((first, second)).union()
    assert union.p == 2
    assert union.keys(1, layer=0).tolist() == [0, 1, 2]
    assert union.keys(1, layer=1).tolist() == [0, 1]


def test_heads_are_chosen_counted_and_compared() -> None:
    assert [numbers for numbers, _ in BOTH.distinct()] == [[0, 2], [1]]
    assert BOTH.chosen("1").only() == window(5, 1)
    assert BOTH.chosen(None) is BOTH
    assert BOTH.chosen("union").only() == BOTH.union()
    for wrong in ("3", "-1", "all", ""):
        with pytest.raises(PatternError, match=r"head must be union or one of 0..2"):
            BOTH.chosen(wrong)
    with pytest.raises(PatternError, match="head 1 attends otherwise than head 0"):
        BOTH.only()
    for heads in ((), (causal(4), causal(5))):
        with pytest.raises(PatternError):
            HeadPatterns(heads)


def test_parts_are_joined_to_one_cycle_of_every_head() -> None:
    together = joined([HeadPatterns((dense(5),)), BOTH])
    assert [head.p for head in together.heads] == [2, 2, 2]
    assert together.heads[1].layers[0].count == 25
    with pytest.raises(PatternError, match="part 1 has 2 heads, another 3"):
        joined([BOTH, HeadPatterns((causal(5), dense(5)))])
    source = "layout:deepspeed_layouts:Fixed?num_heads=2&different=true&n=16"
    assert [head.p for head in read_heads(f"{source}+causal:n=16").heads] == [2, 2]
    with pytest.raises(PatternError, match="needs one n"):
        read_heads(f"{source}+causal:n=15")


def test_notes_outlive_choice_and_joining() -> None:
    said = HeadPatterns(BOTH.heads, ("read as three heads", "counted from 0"))
    assert said.chosen("1").notes == said.chosen("union").notes == said.chosen(None).notes == said.notes
    other = HeadPatterns((dense(5),), ("counted from 0", "one-way"))
    assert joined([said, other]).notes == ("read as three heads", "counted from 0", "one-way")
    assert BOTH.notes == ()


def test_check_prints_the_notes_of_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    def check(*arguments: str) -> str:
        return CliRunner().invoke(command, ["causal:n=5", *arguments], standalone_mode=False).output

    quiet = check(), json.loads(check("--json"))
    assert "Note" not in quiet[0]
    assert "notes" not in quiet[1]
    notes = ("every edge is one-way", "edge data is not read")
    for heads in (BOTH.heads[:1], BOTH.heads):
        noted = HeadPatterns(heads, notes)
        monkeypatch.setattr(sparseuap.commands.check, "read_heads", lambda _, noted=noted: noted)
        lines = check().splitlines()
        assert lines[:2] == ["Note: every edge is one-way.", "Note: edge data is not read."]
        assert json.loads(check("--json"))["notes"] == list(notes)
    assert lines[2] == "Heads 0, 2, by itself"


def test_the_notes_of_joined_sources_name_their_part(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = {"a": ("one-way",), "b": (), "c": ("one-way",)}
    monkeypatch.setattr(theory.readers.source, "_read_one", lambda part: HeadPatterns((causal(3),), notes[part]))
    assert read_heads("a").notes == ("one-way",)
    assert read_heads("a+b+c").notes == ("a: one-way", "c: one-way")


def test_a_cycle_has_no_repetition() -> None:
    a, b = causal(3).layers[0], dense(3).layers[0]
    assert cycled([a, b] * 6).p == 2
    assert cycled([a, b, a]).p == 3
    assert cycled([a]).p == 1
    for layers in ([], [a] * 5000):
        with pytest.raises(PatternError):
            cycled(layers)


def test_objects_come_through_one_door() -> None:
    assert heads_of(flex_masks.causal, n=4).only() == causal(4)
    assert heads_of(lambda q, k: q >= k, n=4).only() == causal(4)
    assert heads_of(causal(4)).only() == causal(4)
    assert heads_of([[0], [0, 1]]).only() == causal(2)
    assert heads_of([Local(), Fixed()], n=16).only().p == 2
    assert heads_of(Fixed(num_heads=2, different=True), {"head": "1"}, 16).only().n == 16
    for wrong in (object(), 3, None, flex_masks.causal):
        with pytest.raises(PatternError):
            heads_of(wrong)


def test_the_text_model_inside_a_multimodal_configuration() -> None:
    inner = {"model_type": "gemma3_text", "layer_types": ["sliding_attention"], "sliding_window": 2}
    assert from_config({"model_type": "gemma3", "text_config": inner}, 5) == causal(5, 1)
    both = {**inner, "sliding_window": 4, "use_bidirectional_attention": True}
    assert from_config({"model_type": "gemma3", "text_config": both}, 9) == window(9, 2)


def test_a_configuration_cannot_ask_for_millions_of_layers() -> None:
    for config in (
        {"model_type": "gpt_neo", "attention_types": [[["global"], 10**12]], "window_size": 2},
        {"model_type": "gpt_neo", "attention_types": [["global"]], "window_size": 2},
        {"model_type": "modernbert", "num_hidden_layers": 10**12, "local_attention": 4},
        {"model_type": "qwen3", "layer_types": [["full_attention"]]},
        {"model_type": "reformer", "attn_layers": ["local"], "local_attn_chunk_length": 1,
         "local_num_chunks_before": 0, "local_num_chunks_after": 0},
    ):  # fmt: skip
        with pytest.raises(PatternError):
            from_config(config, 2**20)


def test_a_configuration_object_of_transformers() -> None:
    transformers = pytest.importorskip("transformers", minversion="5.0")
    config = transformers.MistralConfig(sliding_window=3, num_hidden_layers=2)
    assert heads_of(config, n=7).only() == causal(7, 2)
    with pytest.raises(PatternError, match="does not know the number of tokens"):
        heads_of(config)
