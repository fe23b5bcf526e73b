"""Masks that are objects: JAX splash masks, and the attention biases of xFormers."""

from __future__ import annotations

from typing import Any

import numpy as np

from theory.families.rows import whole
from theory.masks import collect_rows, from_additive_mask, row_blocks
from theory.patterns import PatternError, SparsityPattern
from theory.readers.guard import check_tokens, one_line
from theory.readers.heads import HeadPatterns
from theory.readers.torch_masks import tensor_to_array

__all__ = ["from_attention_bias", "from_splash_mask", "is_attention_bias", "is_splash_mask"]


def _has_base(value: object, module: str, name: str) -> bool:
    """Tell an instance of a class of a library by its name, without importing the library."""
    return any(base.__name__ == name and base.__module__.startswith(module) for base in type(value).__mro__)


def is_splash_mask(value: object) -> bool:
    """Tell a mask of ``jax.experimental.pallas.ops.tpu.splash_attention``."""
    return _has_base(value, "jax.experimental.pallas.ops.tpu.splash_attention", "Mask")


def from_splash_mask(mask: Any) -> HeadPatterns:
    """Read a JAX splash mask, ``mask[queries, keys]`` True where the query attends; a MultiHeadMask head by head.

    The mask is asked block of rows by block of rows. Its `LocalMask(shape, (left, right))` is inclusive: left + 1
    keys with oneself.

    Raises
    ------
    PatternError
        If it is not square, or fails.
    """
    masks = getattr(mask, "masks", None)
    if masks is not None:
        return HeadPatterns(tuple(from_splash_mask(one).only() for one in masks))
    shape = tuple(int(size) for size in mask.shape)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise PatternError(f"the splash mask is not square: shape {shape}")
    n = shape[0]
    check_tokens(n)
    try:
        blocks = (np.asarray(mask[start:stop, 0:n], dtype=bool) for start, stop in row_blocks(n))
        return HeadPatterns((SparsityPattern((collect_rows(n, blocks),)),))
    except (TypeError, IndexError, NotImplementedError, RuntimeError) as error:
        raise PatternError(f"the splash mask {type(mask).__name__} failed: {one_line(error)}") from error


def is_attention_bias(value: object) -> bool:
    """Tell an ``xformers.ops.fmha.attn_bias.AttentionBias``."""
    return _has_base(value, "xformers", "AttentionBias")


def from_attention_bias(bias: Any, n: int | None = None) -> HeadPatterns:
    """Read an attention bias of xFormers through its own ``materialize((n, n))``: 0 attends, -inf is masked.

    Parameters
    ----------
    bias
        An ``AttentionBias``. (The patterns of ``xformers.components.attention.attention_patterns`` are boolean
        tensors, True attends: read them with `theory.readers.torch_masks.from_torch_mask`, convention "sdpa".)
    n
        Tokens; None for a bias that knows, as the block-diagonal ones do.

    Raises
    ------
    PatternError
        If n is needed, the bias does not materialize for as many keys as queries, or it holds a soft bias.
    """
    if n is None:
        starts = getattr(getattr(bias, "q_seqinfo", None), "seqstart_py", None)
        if not starts:
            raise PatternError(f"a {type(bias).__name__} does not know the number of tokens: say n=64")
        n = int(starts[-1])
    n = whole("n", n, 1)
    check_tokens(n)
    try:
        mask = tensor_to_array(bias.materialize((n, n)))
    except (AssertionError, NotImplementedError, RuntimeError, TypeError, ValueError) as error:
        raise PatternError(f"{type(bias).__name__} does not materialize for n={n}: {one_line(error)}") from error
    return HeadPatterns((from_additive_mask(mask, zero_means="attend"),))
