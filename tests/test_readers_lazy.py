"""JAX splash masks and xFormers biases: stand-ins of the same interface, and the real ones where installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from theory.families import causal, window
from theory.patterns import PatternError, SparsityPattern
from theory.readers.lazy_masks import from_attention_bias, from_splash_mask, is_attention_bias, is_splash_mask
from theory.readers.objects import heads_of
from theory.readers.source import read_source

CASES = Path(__file__).parent / "cases"
SPLASH = "jax.experimental.pallas.ops.tpu.splash_attention.splash_attention_mask"


def case(name: str) -> SparsityPattern:
    return read_source(str(CASES / f"{name}.json"))


class Mask:
    """The interface of a splash mask."""

    def __init__(self, shape: tuple[int, int], left: int) -> None:
        self.shape, self.left = shape, left

    def __getitem__(self, place: tuple[slice, slice]) -> Any:
        rows, keys = (np.arange(size)[part] for size, part in zip(self.shape, place, strict=True))
        return (rows[:, None] - self.left <= keys) & (keys <= rows[:, None])


Mask.__module__ = SPLASH


class MultiHeadMask(Mask):
    def __init__(self, masks: list[Mask]) -> None:
        self.masks, self.shape = masks, (len(masks), *masks[0].shape)  # type: ignore[assignment]


def test_splash_masks_by_their_interface() -> None:
    mask = Mask((16, 16), 4)
    assert is_splash_mask(mask)
    assert not is_splash_mask(np.zeros(2))
    assert from_splash_mask(mask).only() == case("maxtext4289_local")
    heads = heads_of(MultiHeadMask([mask, Mask((16, 16), 16)]))
    assert heads.heads == (case("maxtext4289_local"), causal(16))
    assert heads_of(MultiHeadMask([mask, Mask((16, 16), 16)]), {"head": "1"}).only() == causal(16)
    with pytest.raises(PatternError, match="not square"):
        from_splash_mask(Mask((8, 16), 4))
    with pytest.raises(PatternError, match="says itself"):
        heads_of(mask, {"true": "attend"})


def test_real_splash_masks() -> None:
    masks = pytest.importorskip(SPLASH)
    local = masks.LocalMask((16, 16), (4, 0), 0)
    assert heads_of(local).only() == case("maxtext4289_local")
    assert heads_of(masks.CausalMask((9, 9))).only() == causal(9)
    assert heads_of(masks.LocalMask((9, 9), (2, 2), 0)).only() == window(9, 2)
    assert heads_of(masks.LocalMask((9, 9), (None, 0), 0)).only() == causal(9)
    assert heads_of(masks.FullMask((3, 3))).only().connections == 9
    assert heads_of(masks.CausalMask((9, 9)) & masks.LocalMask((9, 9), (2, 2), 0)).only() == causal(9, 2)
    chunked = case("hf_llama4_chunk_only")
    if hasattr(masks, "ChunkedCausalMask"):
        assert heads_of(masks.ChunkedCausalMask((16, 16), 4)).only() == chunked
    dense = np.tril(np.ones((5, 5), dtype=bool))
    assert heads_of(masks.NumpyMask(dense)).only() == causal(5)
    both = masks.MultiHeadMask([masks.CausalMask((9, 9)), masks.LocalMask((9, 9), (2, 2), 0)])
    assert heads_of(both).heads == (causal(9), window(9, 2))


class AttentionBias:
    """The interface of a bias of xFormers."""

    def __init__(self, left: int, soft: float = 0.0) -> None:
        self.left, self.soft = left, soft

    def materialize(self, shape: tuple[int, ...]) -> Any:
        torch = pytest.importorskip("torch")
        ones = torch.ones(shape)
        return torch.log(torch.tril(torch.triu(ones, -self.left))) + self.soft


AttentionBias.__module__ = "xformers.ops.fmha.attn_bias"


def test_attention_biases_by_their_interface() -> None:
    pytest.importorskip("torch")
    bias = AttentionBias(4)
    assert is_attention_bias(bias)
    assert heads_of(bias, n=16).only() == case("la5_exact_or")
    for wrong, n, message in ((bias, None, "say n=64"), (AttentionBias(2, soft=-0.5), 8, "soft bias")):
        with pytest.raises(PatternError, match=message):
            from_attention_bias(wrong, n)


@pytest.mark.filterwarnings("ignore")
def test_real_attention_biases() -> None:
    pytest.importorskip("torch")
    biases = pytest.importorskip("xformers.ops.fmha.attn_bias")
    assert heads_of(biases.LowerTriangularMask(), n=7).only() == causal(7)
    local = biases.LocalAttentionFromBottomRightMask(window_left=2, window_right=2)
    assert heads_of(local, n=9).only() == window(9, 2)
    blocks = biases.BlockDiagonalCausalMask.from_seqlens([2, 3])
    assert heads_of(blocks).only().to_lists() == [[[0], [0, 1], [2], [2, 3], [2, 3, 4]]]
    with pytest.raises(PatternError, match="does not materialize for n=6"):
        heads_of(blocks, n=6)
    last = biases.LowerTriangularFromBottomRightLocalAttentionMask(_window_size=3)
    assert heads_of(last, n=9).only() == causal(9, 2)
