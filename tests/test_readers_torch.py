"""PyTorch masks in their three conventions, against the attention that PyTorch computes with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from theory.families import causal
from theory.patterns import PatternError, SparsityPattern
from theory.readers.modules import from_object
from theory.readers.objects import heads_of
from theory.readers.source import read_source
from theory.readers.torch_masks import from_torch_mask

LOWER = np.tril(np.ones((4, 4), dtype=bool))


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch")


def seen(torch: Any, attend: Any, n: int) -> SparsityPattern:
    """Which keys change the output of an attention: values are perturbed one token at a time."""
    values = torch.eye(n, dtype=torch.float64)[None]
    output = attend(torch.zeros((1, n, n), dtype=torch.float64), values)[0]
    return SparsityPattern.from_lists([np.flatnonzero(row > 1e-9).tolist() for row in output.detach().numpy()])


def test_sdpa_lets_true_attend_and_multihead_attention_masks_it(torch: Any) -> None:
    mask = torch.rand((6, 6), generator=torch.Generator().manual_seed(1)) < 0.5
    mask.fill_diagonal_(True)
    sdpa = torch.nn.functional.scaled_dot_product_attention
    by_sdpa = seen(torch, lambda zero, values: sdpa(zero, zero, values, attn_mask=mask), 6)
    assert from_torch_mask(mask, convention="sdpa").only() == by_sdpa
    weights = torch.nn.MultiheadAttention(6, 1, batch_first=True, dtype=torch.float64)
    forbid = ~mask
    _, attention = weights(*(torch.zeros((1, 6, 6), dtype=torch.float64),) * 3, attn_mask=forbid)
    by_mha = SparsityPattern.from_lists([np.flatnonzero(row).tolist() for row in attention[0].detach().numpy()])
    assert from_torch_mask(forbid, convention="mha").only() == by_mha
    assert by_mha == by_sdpa
    assert from_torch_mask(forbid, convention="sdpa").only() != by_sdpa


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
@pytest.mark.parametrize("masked", ["-inf", "finfo.min"])
def test_additive_masks_of_every_dtype(torch: Any, dtype: str, masked: str) -> None:
    kind = getattr(torch, dtype)
    value = float("-inf") if masked == "-inf" else torch.finfo(kind).min
    mask = torch.zeros((4, 4), dtype=kind).masked_fill(torch.tensor(~LOWER), value)
    assert from_torch_mask(mask, convention="additive").only() == causal(4)
    square = torch.nn.Transformer.generate_square_subsequent_mask(4, dtype=kind)
    assert from_torch_mask(square, convention="additive").only() == causal(4)


def test_the_convention_has_to_be_named_and_has_to_fit(torch: Any) -> None:
    lower = torch.tensor(LOWER)
    for mask, convention, message in (
        (lower, None, "needs its convention named"),
        (lower, "true", "'mha': torch.nn.MultiheadAttention"),
        (lower, "additive", "an additive mask holds floats"),
        (lower.float(), "sdpa", "has dtype bool, this one has float32"),
        (lower.float(), "additive", "soft bias"),
        (lower[:3], "sdpa", "not square"),
        (torch.stack([lower[None], ~lower[None]]), "sdpa", "masks of this batch differ"),
        (lower.to_sparse(), "sdpa", "missing entry"),
        (lower[0], "sdpa", "has shape"),
    ):
        with pytest.raises(PatternError, match=message):
            from_torch_mask(mask, convention=convention)


def test_heads_and_batches(torch: Any) -> None:
    lower = torch.tensor(LOWER)
    heads = from_torch_mask(torch.stack([lower, lower.T])[None].expand(3, 2, 4, 4), convention="sdpa")
    assert [head.to_lists() for head in heads.heads] == [
        causal(4).to_lists(),
        [[list(range(k, 4)) for k in range(4)]],
    ]


def test_causal_biases_hold_no_entries_and_are_still_read(torch: Any) -> None:
    biases = pytest.importorskip("torch.nn.attention.bias")
    for make in (biases.causal_upper_left, biases.causal_lower_right):
        assert from_torch_mask(make(5, 5)).only() == causal(5)
        assert heads_of(make(5, 5)).only() == causal(5)
    with pytest.raises(PatternError, match="not square: 3 queries by 5 keys"):
        from_torch_mask(biases.causal_upper_left(3, 5))


def test_a_tensor_that_a_module_returns(torch: Any) -> None:
    lower = torch.tensor(LOWER)
    assert heads_of(lower, {"true": "attend"}).only() == causal(4)
    trained = torch.zeros((2, 2), dtype=torch.bfloat16, requires_grad=True)
    assert heads_of(trained, {"zero": "attend"}).only().connections == 4
    with pytest.raises(PatternError, match="must say what True means"):
        heads_of(lower)


def test_case_of_a_second_step_alone(torch: Any) -> None:
    place = Path(__file__).parent / "cases" / "oa7_second_step_only.json"
    tokens = torch.arange(16)
    stride = (tokens[:, None] - tokens[None, :]) % 4 == 0
    assert from_torch_mask(stride, convention="sdpa").only() == read_source(str(place))


@pytest.mark.filterwarnings("ignore")
def test_the_patterns_of_older_xformers(torch: Any) -> None:
    patterns = pytest.importorskip("xformers.components.attention.attention_patterns")
    cases = Path(__file__).parent / "cases"
    axial = from_torch_mask(patterns.axial_2d_pattern(4, 4), convention="sdpa").only()
    assert axial == read_source(str(cases / "xf_axial_4x4.json"))
    swin = [patterns.swin_attention_pattern(4, 4, 2, shift_size=shift) for shift in (0, 1)]
    assert from_object(swin, {"true": "attend"}) == read_source(str(cases / "xf_swin_p2.json"))
    np.random.seed(0)  # noqa: NPY002
    torch.manual_seed(0)
    sparse = from_torch_mask(patterns.random_pattern(16, sparsity=0.8), convention="sdpa").only()
    assert sparse == read_source(str(cases / "xf_random_08.json"))
