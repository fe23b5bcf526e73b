"""DeepSpeed layouts: stand-ins for its classes, its own classes where it is installed, and reported faults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deepspeed_layouts import BigBird, Fixed, Local, Variable

from theory.families import causal_part
from theory.patterns import PatternError, SparsityPattern
from theory.readers.layouts import from_layout
from theory.readers.objects import heads_of
from theory.readers.source import read_heads, read_source

CASES = Path(__file__).parent / "cases"


def case(name: str) -> SparsityPattern:
    return read_source(str(CASES / f"{name}.json"))


@pytest.mark.parametrize(
    ("name", "config", "causal"),
    [
        ("ds_fixed_default_bi", Fixed(), None),
        ("ds_fixed_uni", Fixed(attention="unidirectional"), False),
        ("ds_fixed_no_global", Fixed(num_global=0), None),
        ("ds_variable_default_2win", Variable(), None),
        ("ds_variable_horizontal_3win", Variable(horizontal=True), None),
        ("ds_local_uni_w3", Local(attention="unidirectional"), False),
    ],
)
def test_the_kinds_of_fault_that_people_reported(name: str, config: Any, causal: bool | None) -> None:
    expected = case(name)
    assert from_layout(config, expected.n, causal=causal).only() == expected


def test_a_unidirectional_layout_has_to_say_whether_a_causal_mask_is_added() -> None:
    config = Fixed(attention="unidirectional")
    with pytest.raises(PatternError, match="causal between blocks only: say causal=true"):
        from_layout(config, 16)
    assert from_layout(config, 16, causal=True).only() == causal_part(case("ds_fixed_uni"))


def test_heads_of_their_own() -> None:
    heads = from_layout(Fixed(num_heads=3, different=True), 16)
    assert len(heads.heads) == 3
    assert [numbers for numbers, _ in heads.distinct()] == [[0], [1], [2]]
    assert 7 in heads.heads[0].keys(8)
    assert 7 not in heads.heads[1].keys(8)
    assert 5 in heads.heads[1].keys(8)
    with pytest.raises(PatternError, match="head 1 attends otherwise than head 0"):
        heads.only()


def test_random_blocks_need_a_seed() -> None:
    config = BigBird(num_heads=2)
    with pytest.raises(PatternError, match="say seed=0"):
        from_layout(config, 64)
    assert from_layout(config, 64, seed=3) == from_layout(config, 64, seed=3)
    assert from_layout(config, 64, seed=3) != from_layout(config, 64, seed=4)


class Odd:
    block = 2

    def __init__(self, layout: Any, block: Any = 2) -> None:
        self.layout, self.block = layout, block

    def make_layout(self, seq_len: int) -> Any:
        return self.layout


@pytest.mark.parametrize(
    ("config", "n", "message"),
    [
        (Fixed(), 15, "needs to be dividable"),
        (Odd([[1, 2], [1, 1]]), 4, "holds 0 and 1"),
        (Odd([[1, 1]]), 4, "is square"),
        (Odd([1, 1]), 4, "not \\(heads, blocks, blocks\\)"),
        (Odd([[1, 1], [1, 1]]), 8, "is not for n=8"),
        (Odd([[1, 1], [1, 1]], None), 4, "no block size"),
        (Odd([[1, 1], [1, 1]], 0), 4, "block must be"),
    ],
)
def test_what_is_no_layout_is_refused(config: Any, n: int, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        from_layout(config, n)


def test_rows_of_blocks_may_be_empty() -> None:
    assert from_layout(Odd([[0, 1], [0, 0]]), 3).only().to_lists() == [[[2], [2], []]]


def test_sources() -> None:
    assert read_source("layout:deepspeed_layouts:Fixed?n=16") == case("ds_fixed_default_bi")
    assert read_source("layout:deepspeed_layouts:MADE?n=16").n == 16
    same = read_source("layout:deepspeed_layouts:Local?attention=unidirectional&causal=false&n=16")
    assert same == case("ds_local_uni_w3")
    different = "layout:deepspeed_layouts:Fixed?num_heads=2&different=true&n=16"
    assert len(read_heads(different).heads) == 2
    assert read_source(f"{different}&head=0") == case("ds_fixed_default_bi")
    assert read_source(f"{different}&head=union") == read_heads(different).union()
    for source, message in (
        ("layout:deepspeed_layouts:Fixed", "add n"),
        (f"{different}&head=2", "one of 0..1"),
        (different, "add head=0"),
        ("layout:deepspeed_layouts:MADE?n=16&block=4", "already made"),
        ("layout:builtins:dict?n=16", "dict has no make_layout"),
        ("layout:deepspeed_layouts:Fixed?n=16&causal=yes", "true or false"),
    ):
        with pytest.raises(PatternError, match=message):
            read_source(source)


def test_an_object_that_a_function_returns() -> None:
    assert heads_of(Local(), n=8).only() == from_layout(Local(), 8).only()
    with pytest.raises(PatternError, match="does not know the number of tokens"):
        heads_of(Local())


@pytest.mark.parametrize(
    ("name", "kind", "arguments", "seed"),
    [
        ("ds_fixed_default_bi", "FixedSparsityConfig", {}, None),
        ("ds_fixed_uni", "FixedSparsityConfig", {"attention": "unidirectional"}, None),
        ("ds_variable_default_2win", "VariableSparsityConfig", {}, None),
        ("ds_variable_horizontal_3win", "VariableSparsityConfig", {"horizontal_global_attention": True}, None),
        ("ds_bigbird_default", "BigBirdSparsityConfig", {}, 0),
        ("ds_bigbird_uni", "BigBirdSparsityConfig", {"attention": "unidirectional"}, 0),
        ("ds_bslongformer_default", "BSLongformerSparsityConfig", {}, None),
        ("ds_local_uni_w3", "LocalSlidingWindowSparsityConfig", {}, None),
    ],
)
def test_the_real_classes(name: str, kind: str, arguments: dict[str, Any], seed: int | None) -> None:
    configs = pytest.importorskip("deepspeed.ops.sparse_attention.sparsity_config")
    config, expected = getattr(configs, kind)(num_heads=1, block=2, **arguments), case(name)
    causal = False if config.attention == "unidirectional" else None
    assert from_layout(config, expected.n, causal=causal, seed=seed).only() == expected
