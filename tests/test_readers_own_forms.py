"""``module:name`` and ``flex:`` with what people name there: read, with a note, or told what to type."""

from __future__ import annotations

import sys
from typing import Any

import flex_masks
import numpy as np
import pytest
from click.testing import CliRunner

from sparseuap.commands.check import command as check
from theory.families import parse_family
from theory.patterns import PatternError, SparsityPattern
from theory.readers.source import read_heads, read_source

WINDOW = {w: parse_family(f"window:n=16,w={w}") for w in (1, 2, 3, 5)}


@pytest.fixture(params=["numpy", "torch"], autouse=True)
def _with_or_without_torch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "torch":
        pytest.importorskip("torch")
    else:
        monkeypatch.delitem(sys.modules, "torch", raising=False)


def test_the_default_arguments_of_a_mask_function_are_options() -> None:
    for door in ("flex:flex_masks:within", "flex_masks:within"):
        assert read_source(f"{door}?n=16") == WINDOW[3]
        assert read_source(f"{door}?n=16&w=5") == WINDOW[5]
        every_second = read_source(f"{door}?n=16&w=5&step=2")
        assert every_second.to_lists()[0][8] == [4, 6, 8, 10, 12]
    known = CliRunner().invoke(check, ["flex:flex_masks:within?n=16&w=5"]).output
    assert "146 connections" in known
    assert "s = 3" in known


@pytest.mark.parametrize(
    ("source", "expected", "note"),
    [
        ("flex_masks:causal?n=16", parse_family("causal:n=16"), "read as flex:flex_masks:causal, a FlexAttention"),
        ("flex_masks:OBJECT?n=16", WINDOW[2], "read as flex:flex_masks:OBJECT, a FlexAttention mask"),
        ("flex_masks:near?n=16", WINDOW[1], "read as a mask function of (query, key)"),
        ("flex_masks:near?n=16&w=2", WINDOW[2], "read as a mask function of (query, key)"),
        ("flex_masks:rows?n=16&w=15", parse_family("causal:n=16"), None),
        ("flex_masks:make_window?left=15&n=16", parse_family("causal:n=16"), None),
        ("flex_masks:Window?w=3&n=16", WINDOW[3], None),
        ("flex:flex_masks:Window?w=3&n=16", WINDOW[3], None),
    ],
)
def test_mask_functions_without_flex(source: str, expected: SparsityPattern, note: str | None) -> None:
    found = read_heads(source)
    assert found.only() == expected
    assert [one[: len(note)] for one in found.notes] == [note] if note else not found.notes


def test_an_object_with_make_layout_without_layout() -> None:
    """Two heads of blocks, as ``layout:`` reads them."""
    for name in ("TWO_HEADS", "MADE"):
        found = read_heads(f"deepspeed_layouts:{name}?n=16")
        assert found.heads == read_heads(f"layout:deepspeed_layouts:{name}?n=16").heads
        assert found.notes == (f"read as layout:deepspeed_layouts:{name}, a layout of blocks (make_layout)",)
    source = "deepspeed_layouts:TWO_HEADS?n=16"
    assert read_heads(f"{source}&head=1").heads == read_heads(source).heads[1:]
    assert read_heads("deepspeed_layouts:Fixed?n=16&num_heads=2&different=true").heads == read_heads(source).heads
    run = CliRunner().invoke(check, [source])
    assert "Head 0, by itself" in run.output
    assert "Head 1, by itself" in run.output


def test_a_configuration_object_without_hf(monkeypatch: pytest.MonkeyPatch) -> None:
    class Config:
        model_type, layer_types, sliding_window = "gemma2", ("sliding_attention",), 3

        def to_dict(self) -> dict[str, Any]:
            raise AssertionError("never asked")

    monkeypatch.setattr(flex_masks, "CONFIG", Config(), raising=False)
    band = [[j for j in range(8) if k - 3 < j <= k] for k in range(8)]
    for source in ("flex_masks:CONFIG?n=8", "hf:flex_masks:CONFIG?n=8"):
        assert read_source(source).to_lists() == [band]
    with pytest.raises(PatternError, match="takes no global tokens"):
        read_source("flex_masks:CONFIG?n=8&global=0")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("flex_masks:within?n=16&v=5", "mask function within takes no option v: its own are w, step"),
        ("flex:flex_masks:causal?n=16&w=5", "mask function causal takes no option w: it has none"),
        ("flex_masks:causal", "add n"),
        ("flex_masks:near", "add n"),
        ("flex_masks:rows?n=16", "missing 1 required positional argument: 'w'"),
        ("flex:flex_masks:within?n=16&w=text", "within|str"),
        ("deepspeed_layouts:MADE", "layout: does not know the number of tokens: add n"),
        ("deepspeed_layouts:MADE?n=16&block=4", "already made"),
        ("hf:flex_masks:causal?n=16", "function is no configuration object of transformers"),
    ],
)
def test_what_is_missing_is_said(source: str, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        read_source(source)


def test_a_maker_without_n_whose_result_has_another_number_of_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flex_masks, "mask", lambda: np.tri(5, dtype=bool), raising=False)
    assert read_source("flex_masks:mask?n=5&true=attend") == parse_family("causal:n=5")
    with pytest.raises(PatternError, match="it has 5 tokens and takes no n=6: leave n out"):
        read_source("flex_masks:mask?n=6&true=attend")
