"""FlexAttention's mask functions and BlockMasks, against dense formulas and torch's own create_mask."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import flex_masks
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseuap.commands.check import command as check
from theory.masks import from_boolean_mask
from theory.patterns import PatternError, SparsityPattern
from theory.readers.block_masks import from_block_mask
from theory.readers.flex import from_mask_mod
from theory.readers.heads import HeadPatterns
from theory.readers.objects import heads_of
from theory.readers.source import read_heads, read_source

CASES = Path(__file__).parent / "cases"


def case(name: str) -> SparsityPattern:
    return read_source(str(CASES / f"{name}.json"))


def by_formula(function: Any, n: int, head: int = 0) -> SparsityPattern:
    rows = [[j for j in range(n) if function(0, head, np.int64(k), np.int64(j))] for k in range(n)]
    return SparsityPattern.from_lists(rows)


@pytest.fixture
def flex() -> Any:
    return pytest.importorskip("torch.nn.attention.flex_attention")


@pytest.fixture(params=["numpy", "torch"])
def with_or_without_torch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "torch":
        pytest.importorskip("torch")
    else:
        monkeypatch.delitem(sys.modules, "torch", raising=False)
    return str(request.param)


@pytest.mark.usefixtures("with_or_without_torch")
@pytest.mark.parametrize("name", ["causal", "branchy", "reducing"])
def test_each_pair_is_asked(name: str) -> None:
    function = getattr(flex_masks, name)
    assert from_mask_mod(function, 6).only() == by_formula(function, 6)


def test_without_torch_large_masks_are_compared_with_single_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert from_mask_mod(flex_masks.causal, 600).only().connections == 600 * 601 // 2
    with pytest.raises(PatternError, match="must not reduce"):
        from_mask_mod(flex_masks.reducing, 600)


@pytest.mark.usefixtures("with_or_without_torch")
def test_heads() -> None:
    heads = from_mask_mod(flex_masks.by_head, 5, heads=3)
    assert heads == HeadPatterns(tuple(by_formula(flex_masks.by_head, 5, head) for head in range(3)))
    with pytest.raises(PatternError, match="depends on the head: say how many"):
        from_mask_mod(flex_masks.by_head, 5)


def test_a_table_is_selected_from() -> None:
    torch = pytest.importorskip("torch")
    documents = torch.tensor([0, 0, 1, 1, 1])
    found = from_mask_mod(lambda b, h, q, k: documents[q] == documents[k], 5).only()
    assert found.to_lists() == [[[0, 1], [0, 1], [2, 3, 4], [2, 3, 4], [2, 3, 4]]]
    reach = torch.tensor([1])
    one_head = from_mask_mod(lambda b, h, q, k: abs(q - k) <= reach[h], 3).only()
    assert one_head.to_lists() == [[[0, 1], [0, 1, 2], [1, 2]]]


@pytest.mark.usefixtures("with_or_without_torch")
def test_what_is_no_mask_function_is_refused() -> None:
    for function, n, message in (
        (lambda b, h, q, k: q - k, 4, "must return (a bool|booleans)"),
        (lambda b, h, q: q, 4, "failed|argument"),
        (3, 4, "callable"),
        (flex_masks.causal, 0, "n must be"),
        (flex_masks.causal, 10**6, "n\\^2 pairs"),
    ):
        with pytest.raises(PatternError, match=message):
            from_mask_mod(function, n)  # type: ignore[arg-type]


@settings(max_examples=40)
@given(st.data())
def test_block_masks_against_create_mask(data: st.DataObject) -> None:
    flex = pytest.importorskip("torch.nn.attention.flex_attention")
    n, heads = data.draw(st.integers(1, 23)), data.draw(st.integers(1, 3))
    left, right, wide = (data.draw(st.integers(0, 9)) for _ in range(3))
    sizes = (data.draw(st.integers(1, 9)), data.draw(st.integers(1, 9)))

    def mask_mod(b: Any, h: Any, q: Any, k: Any) -> Any:
        return ((q - k <= left + h) & (k - q <= right)) | (k >= wide + 9)

    mask = flex.create_block_mask(mask_mod, None, heads, n, n, device="cpu", BLOCK_SIZE=sizes)
    dense = flex.create_mask(mask_mod, 1, heads, n, n, device="cpu").numpy()[0]
    expected = tuple(from_boolean_mask(one, true_means="attend") for one in dense)
    assert from_block_mask(mask, heads=heads).heads == expected
    shared = flex.create_block_mask(mask_mod, None, None, n, n, device="cpu", BLOCK_SIZE=sizes)
    if heads == 1:
        assert from_block_mask(shared, heads=1).heads == expected


def test_full_blocks_are_whole_and_the_grid_is_never_taken_for_the_mask(flex: Any) -> None:
    mask = flex.create_block_mask(flex_masks.causal, None, None, 200, 200, device="cpu")
    assert mask.kv_num_blocks.sum() > 0
    assert from_block_mask(mask).only().connections == 200 * 201 // 2
    torch = sys.modules["torch"]
    # A block that is listed as full is whole for the kernel, whatever the mask_mod would say of it.
    one = torch.tensor([[[1]]], dtype=torch.int32)
    at = torch.tensor([[[[0]]]], dtype=torch.int32)
    whole = flex.BlockMask.from_kv_blocks(
        one * 0, at, one, at, BLOCK_SIZE=4, mask_mod=flex_masks.causal, seq_lengths=(3, 3)
    )
    assert from_block_mask(whole).only().connections == 9


def test_block_masks_that_cannot_be_read_are_refused(flex: Any) -> None:
    square = flex.create_block_mask(flex_masks.causal, None, None, 8, 8, device="cpu", BLOCK_SIZE=4)
    wide = flex.create_block_mask(flex_masks.causal, None, None, 8, 12, device="cpu", BLOCK_SIZE=4)
    batch = flex.create_block_mask(flex_masks.causal, 2, None, 8, 8, device="cpu", BLOCK_SIZE=4)
    by_head = flex.create_block_mask(flex_masks.by_head, None, None, 8, 8, device="cpu", BLOCK_SIZE=8)
    torch = sys.modules["torch"]
    for mask, message in (
        (wide, "not square"),
        (batch, "2 batch entries: say which"),
        (square[:, :, torch.tensor([0])], "too few"),
        (square[0], "sliced|mask_mod failed"),
        (by_head, "depends on the head"),
    ):
        with pytest.raises(PatternError, match=message):
            from_block_mask(mask)
    assert from_block_mask(batch, batch=1).only() == from_block_mask(square).only()
    with pytest.raises(PatternError, match="no batch entry 2"):
        from_block_mask(batch, batch=2)
    with pytest.raises(PatternError, match="for 8 tokens, not for n=9"):
        from_block_mask(square, 9)
    # One grid for all heads, made for head 0: the kernel still asks the mask_mod with every head's number.
    assert from_block_mask(by_head, heads=2).heads[1] == by_formula(flex_masks.by_head, 8, 1)


def test_sources(flex: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_source("flex:flex_masks:causal?n=5") == by_formula(flex_masks.causal, 5)
    assert read_source("flex:flex_masks:make_window?left=2&n=5") == by_formula(flex_masks.make_window(2), 5)
    assert len(read_heads("flex:flex_masks:by_head?n=5&heads=3").heads) == 3
    block = flex.create_block_mask(flex_masks.by_head, None, 2, 5, 5, device="cpu", BLOCK_SIZE=4)
    monkeypatch.setattr(flex_masks, "BLOCK", block, raising=False)
    for source in ("flex:flex_masks:BLOCK", "flex:flex_masks:BLOCK?n=5", "flex_masks:BLOCK"):
        assert read_heads(source).heads[1] == by_formula(flex_masks.by_head, 5, 1)
    assert heads_of([block, block]).heads[1].p == 2
    for source, message in (
        ("flex:flex_masks:causal", "add n"),
        ("flex:flex_masks:by_head?n=4", "say how many"),
        ("flex:flex_masks:nothing?n=4", "has no 'nothing'"),
        ("flex:no_such_module:mask?n=4", "no module"),
        ("flex:flex_masks:make_window?n=4", "failed"),
    ):
        with pytest.raises(PatternError, match=message):
            read_source(source)


def test_a_verdict_for_each_head_or_for_their_union() -> None:
    source = "flex:flex_masks:by_head?n=6&heads=3"
    run = CliRunner().invoke
    each = run(check, [source, "--for", "causal", "--json"], standalone_mode=False)
    heads = json.loads(each.output)["heads"]
    assert [item["heads"] for item in heads] == [[0], [1], [2]]
    assert [item["universal"] for item in heads] == [False, True, True]
    assert each.return_value == 1
    union = run(check, [source, "--for", "causal", "--heads", "union", "--json"], standalone_mode=False)
    assert json.loads(union.output)["universal"] is True
    assert union.return_value == 0
    text = run(check, [source, "--for", "causal"], standalone_mode=False).output
    assert "Head 0, by itself" in text
    assert "--heads union" in text
    refused = run(check, [source, "--certificate", "x.json"], standalone_mode=False)
    assert isinstance(refused.exception, PatternError)


ATTENTION_GYM: list[tuple[str, str, str, tuple[Any, ...]]] = [
    ("gym_blockdiff_n8_b2", "block_diffusion", "generate_block_diffusion_mask", (8, 2)),
    ("gym_dilated_w4_d2_n24", "dilated_sliding_window", "generate_dilated_sliding_window", (4, 2)),
    ("gym_natten_4x4_k3", "natten", "generate_natten", (4, 4, 3, 3)),
    ("gym_natten_8x4_k3", "natten", "generate_natten", (8, 4, 3, 3)),
    ("gym_global_sliding_w3", "global_sliding_window", "generate_global_sliding_window", (3, "globals")),
]


@pytest.mark.parametrize(("name", "module", "maker", "arguments"), ATTENTION_GYM)
def test_the_masks_of_attention_gym(
    flex: Any, name: str, module: str, maker: str, arguments: tuple[Any, ...]
) -> None:
    gym = pytest.importorskip(f"attn_gym.masks.{module}")
    torch = sys.modules["torch"]
    marked = torch.zeros(16, dtype=torch.bool)
    marked[[0, 8]] = True
    mask_mod = getattr(gym, maker)(*(marked if one == "globals" else one for one in arguments))
    expected = case(name)
    assert from_mask_mod(mask_mod, expected.n).only() == expected
    for size in (5, 128):
        block = flex.create_block_mask(mask_mod, None, None, expected.n, expected.n, device="cpu", BLOCK_SIZE=size)
        assert from_block_mask(block).only() == expected


def test_an_inverted_causal_mask_is_seen(flex: Any) -> None:
    found = from_mask_mod(lambda b, h, q_idx, kv_idx: q_idx <= kv_idx, 8).only()
    assert found == case("nsa_tilde3_noncausal")
    mixed = heads_of(
        [
            flex.create_block_mask(make, None, None, 24, 24, device="cpu", BLOCK_SIZE=8)
            for make in (_dilated(2), _dilated(1))
        ]
    ).only()
    assert mixed == case("gym_dilated_mix_p2_n24")


def _dilated(step: int) -> Any:
    return lambda b, h, q, k: ((q - k) % step == 0) & ((q - k).abs() <= 4)
