"""PyTorch attention masks: boolean ones of two opposite conventions, additive ones, and its causal biases."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from theory.families.local import causal
from theory.mask_shapes import reading_of
from theory.masks import additive_heads, boolean_heads
from theory.patterns import PatternError
from theory.readers.heads import HeadPatterns

if TYPE_CHECKING:
    import numpy.typing as npt

    from theory.mask_shapes import Axis
    from theory.patterns import SparsityPattern

__all__ = ["CONVENTIONS", "from_torch_mask", "is_tensor", "tensor_to_array"]

CONVENTIONS = {
    "sdpa": "torch.nn.functional.scaled_dot_product_attention, FlexAttention: True attends",
    "mha": "torch.nn.MultiheadAttention, nn.Transformer: True is masked",
    "additive": "added to the scores: 0 attends, -inf or finfo.min is masked",
}
"""The conventions that a caller has to choose from, and whose they are."""


def is_tensor(value: object) -> bool:
    """Tell a torch tensor without importing torch: no tensor exists before it is imported."""
    kind = getattr(sys.modules.get("torch"), "Tensor", None)
    return isinstance(kind, type) and isinstance(value, kind)


def tensor_to_array(tensor: Any) -> npt.NDArray[Any]:
    """Return a tensor of any device as a NumPy array; bfloat16, which NumPy lacks, as float32.

    Raises
    ------
    PatternError
        If it is one of PyTorch's causal biases, whose tensor holds nothing, or has no dense layout.
    """
    import torch

    if type(tensor).__name__ == "CausalBias":
        raise PatternError(
            "a CausalBias of torch.nn.attention.bias holds no entries: read it with from_torch_mask"
        )
    if tensor.layout is not torch.strided:
        raise PatternError(f"a mask of layout {tensor.layout} does not say what a missing entry means: densify it")
    host = tensor.detach().cpu()
    array: npt.NDArray[Any] = (host.float() if host.dtype is torch.bfloat16 else host).numpy()
    return array


def from_torch_mask(
    mask: Any,
    *,
    convention: Literal["sdpa", "mha", "additive"] | None = None,
    masked_below: float = -1e9,
    batch: int | None = None,
) -> HeadPatterns:
    """Read a PyTorch attention mask ``mask[..., query, key]``; the convention must be named.

    Parameters
    ----------
    mask
        Shape (n, n); (h, n, n) with one mask a head, as PyTorch broadcasts it (it has no masks with a dimension
        for layers); (b, h, n, n).
    convention
        One of `CONVENTIONS`: the two boolean ones say the opposite of each other. (PyTorch's CausalBias objects
        say themselves what they are and need none.)
    masked_below
        For "additive": as in `theory.masks.from_additive_mask`.
    batch
        The entry of the batch that is read; needed only where the b entries differ.

    Raises
    ------
    PatternError
        If no convention is named, the dtype is not the convention's, the mask is not square, or its batch entries
        differ and `batch` is not said.

    Examples
    --------
    >>> import numpy as np
    >>> upper = np.triu(np.ones((2, 2), dtype=bool), 1)
    >>> from_torch_mask(upper, convention="mha").only().to_lists()
    [[[0], [0, 1]]]
    >>> from_torch_mask(upper, convention="sdpa").only().to_lists()
    [[[1], []]]
    """
    if type(mask).__name__ == "CausalBias":
        return HeadPatterns((_causal_bias(mask),))
    if convention not in CONVENTIONS:
        said = "; ".join(f"{name!r}: {meaning}" for name, meaning in CONVENTIONS.items())
        raise PatternError(f"a torch mask needs its convention named, got {convention!r}. {said}")
    array = tensor_to_array(mask) if is_tensor(mask) else np.asarray(mask)
    axis: Axis | None = "heads" if array.ndim == 3 else None
    if convention == "additive":
        heads = additive_heads(array, masked_below=masked_below, axis=axis, batch=batch)
    else:
        if array.dtype.kind != "b":
            raise PatternError(f"a boolean mask ({convention}) has dtype bool, this one has {array.dtype}")
        heads = boolean_heads(array, attends=convention == "sdpa", axis=axis, batch=batch)
    return HeadPatterns(tuple(heads), reading_of(array.shape, axis, batch))


def _causal_bias(bias: Any) -> SparsityPattern:
    """Read causal_upper_left or causal_lower_right, which are the same for a square mask."""
    queries, keys = int(bias.seq_len_q), int(bias.seq_len_kv)
    if queries != keys:
        raise PatternError(f"the causal bias is not square: {queries} queries by {keys} keys")
    return causal(queries)
