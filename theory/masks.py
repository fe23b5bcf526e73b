"""Dense attention masks, boolean or additive, to sparsity patterns and back.

Row = query, column = key, as in every framework. What the entries mean differs: ``True`` attends in PyTorch's
``scaled_dot_product_attention`` and is masked in its ``nn.MultiheadAttention``; so the caller always has to say.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from theory.checks import real
from theory.mask_shapes import Axis, masks_of_heads
from theory.patterns import Connections, PatternError, SparsityPattern, ready

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = [
    "DENSE_LIMIT",
    "MASKED_BELOW",
    "additive_heads",
    "boolean_heads",
    "collect_rows",
    "from_additive_mask",
    "from_boolean_mask",
    "row_blocks",
    "to_additive_mask",
    "to_boolean_mask",
]

Array = npt.NDArray[Any]

DENSE_LIMIT = 2 * 2**30
"""Bytes that one dense mask, or the keys of one pattern read from it, may take: 2 GiB."""

MASKED_BELOW = -1e9
"""Additive entries up to this one mean masked: the usual constants do, no position bias comes near."""

BLOCK_ENTRIES = 2**22


def row_blocks(n: int) -> Iterator[tuple[int, int]]:
    """Yield [start, stop) of successive blocks of rows of an n x n mask, about 4 million entries each."""
    step = max(1, BLOCK_ENTRIES // n)
    return ((start, min(start + step, n)) for start in range(0, n, step))


def collect_rows(n: int, blocks: Iterable[npt.NDArray[np.bool_]]) -> Connections:
    """Gather one pattern from blocks of rows of its n x n boolean mask (True attends).

    Memory is one block plus the connections, whatever n.

    Raises
    ------
    PatternError
        If n < 1, or the keys would take more than `DENSE_LIMIT` bytes.
    """
    degrees: list[Array] = [np.zeros(1, dtype=np.int64)]
    keys: list[Array] = [np.zeros(0, dtype=np.int32)]
    count = 0
    for block in blocks:
        degree = np.count_nonzero(block, axis=1)
        count += int(degree.sum())
        if 4 * count > DENSE_LIMIT:
            raise PatternError(
                f"the mask of n={n} has over {DENSE_LIMIT // 4} connections, more than the limit of {DENSE_LIMIT}"
                " bytes: use a sparser pattern or a smaller n"
            )
        degrees.append(degree)
        keys.append(np.nonzero(block)[1].astype(np.int32))
    return Connections(np.cumsum(np.concatenate(degrees)), np.concatenate(keys))


def from_boolean_mask(
    mask: object,
    *,
    true_means: Literal["attend", "masked"],
    axis: Axis | None = None,
    batch: int | None = None,
) -> SparsityPattern:
    """Read boolean masks: ``mask[query, key]``, with the meaning of True stated.

    Parameters
    ----------
    mask
        Shape (n, n); (p, n, n) with `axis`; (batch, heads, n, n); or a list of (n, n) masks, one a pattern.
        Entries are booleans or the integers 0 and 1.
    true_means
        "attend": True (1) lets the query attend to the key. "masked": True (1) forbids it.
    axis
        What the first of three dimensions is: "layers" of one cycle, or "heads" of one layer, which must agree
        here (`theory.readers.torch_masks.from_torch_mask` gives a pattern a head). Needed if there are several.
    batch
        The entry of a batch that is read, where its entries differ.

    Raises
    ------
    PatternError
        If a mask is not square, is ragged, holds anything else, has heads that differ, leaves `axis` or `batch`
        open, or `true_means` is neither word.

    Examples
    --------
    >>> from_boolean_mask([[True, False], [True, True]], true_means="attend").to_lists()
    [[[0], [0, 1]]]
    >>> from_boolean_mask([[True, False], [True, True]], true_means="masked").to_lists()
    [[[1], []]]
    """
    if true_means not in ("attend", "masked"):
        raise PatternError(f'true_means must be "attend" or "masked", got {true_means!r}')
    return _shared(boolean_heads(mask, attends=true_means == "attend", axis=axis, batch=batch))


def boolean_heads(
    mask: object, *, attends: bool, axis: Axis | None = None, batch: int | None = None
) -> list[SparsityPattern]:
    """Read boolean masks as `from_boolean_mask` does, to one pattern a head; `attends` is what True means.

    Raises
    ------
    PatternError
        As there, but for heads that differ.

    Examples
    --------
    >>> two = np.stack([np.eye(2, dtype=bool), np.ones((2, 2), dtype=bool)])
    >>> [pattern.to_lists() for pattern in boolean_heads(two[None], attends=True)]
    [[[[0], [1]]], [[[0, 1], [0, 1]]]]
    """
    heads = masks_of_heads(mask, axis=axis, batch=batch)
    for array in (array for layers in heads for array in layers):
        if array.dtype.kind == "f":
            raise PatternError(
                "a boolean mask holds True and False, this one holds floats: an additive mask has to say"
                " that zero means attend, and a 0.0/1.0 mask has to be made boolean first"
            )
        if array.dtype.kind not in "biu":
            raise PatternError(f"a boolean mask holds True and False, this one holds {array.dtype}")
    return _patterns(heads, lambda array, number: _boolean_blocks(array, number, attends))


def from_additive_mask(
    mask: object,
    *,
    zero_means: Literal["attend"],
    masked_below: float = MASKED_BELOW,
    axis: Axis | None = None,
    batch: int | None = None,
) -> SparsityPattern:
    """Read additive masks, which are added to the scores: 0 attends, minus infinity is masked.

    Parameters
    ----------
    mask
        Floats of a shape that `from_boolean_mask` reads.
    zero_means
        Always "attend"; a required word, so that a matrix of scores or weights is not taken for a mask.
    masked_below
        Finite entries up to this one are masked too, such as -1e9, and those up to half the ``finfo.min`` of the
        dtype. State ``masked_below=-10000`` for masks made of that constant.
    axis, batch
        As in `from_boolean_mask`.

    Raises
    ------
    PatternError
        If an entry is neither (a soft bias such as ALiBi is no sparsity pattern), is NaN or plus infinity, or a
        mask is not of floats or not of a shape that `from_boolean_mask` reads.

    Examples
    --------
    >>> from_additive_mask([[0.0, -np.inf], [0.0, 0.0]], zero_means="attend").to_lists()
    [[[0], [0, 1]]]
    """
    if zero_means != "attend":
        raise PatternError(f'zero_means must be "attend", got {zero_means!r}')
    return _shared(additive_heads(mask, masked_below=masked_below, axis=axis, batch=batch))


def additive_heads(
    mask: object, *, masked_below: float = MASKED_BELOW, axis: Axis | None = None, batch: int | None = None
) -> list[SparsityPattern]:
    """Read additive masks as `from_additive_mask` does, to one pattern a head.

    Raises
    ------
    PatternError
        As there, but for heads that differ.

    Examples
    --------
    >>> [pattern.to_lists() for pattern in additive_heads(np.zeros((1, 2, 1, 1)))]
    [[[[0]]], [[[0]]]]
    """
    if not real("masked_below", masked_below) < 0:
        raise PatternError(f"masked_below must be negative, got {masked_below!r}")
    heads = masks_of_heads(mask, axis=axis, batch=batch)
    for array in (array for layers in heads for array in layers):
        if array.dtype.kind != "f":
            raise PatternError(
                f"an additive mask holds floats, this one holds {array.dtype}: a boolean mask has to say"
                " what True means"
            )

    def blocks(array: Array, number: int) -> Iterator[npt.NDArray[np.bool_]]:
        return _additive_blocks(array, number, max(masked_below, float(np.finfo(array.dtype).min) / 2))

    return _patterns(heads, blocks)


def to_boolean_mask(pattern: SparsityPattern, *, true_means: Literal["attend", "masked"]) -> npt.NDArray[np.bool_]:
    """Return the (p, n, n) boolean masks ``mask[pattern, query, key]``, True as stated.

    `from_boolean_mask` reads them again with ``axis="layers"``.

    Raises
    ------
    PatternError
        If they would take more than `DENSE_LIMIT` bytes; nothing is allocated then.

    Examples
    --------
    >>> to_boolean_mask(SparsityPattern.from_lists([[0], [0, 1]]), true_means="attend").tolist()
    [[[True, False], [True, True]]]
    """
    if true_means not in ("attend", "masked"):
        raise PatternError(f'true_means must be "attend" or "masked", got {true_means!r}')
    return _dense(pattern, np.dtype(bool), attended=true_means == "attend", other=true_means == "masked")


def to_additive_mask(pattern: SparsityPattern, dtype: npt.DTypeLike = np.float32) -> Array:
    """Return the (p, n, n) additive masks: 0 where the query attends to the key, minus infinity elsewhere.

    Raises
    ------
    PatternError
        If `dtype` is not a float, or they would take more than `DENSE_LIMIT` bytes.

    Examples
    --------
    >>> to_additive_mask(SparsityPattern.from_lists([[0], [0, 1]])).tolist()
    [[[0.0, -inf], [0.0, 0.0]]]
    """
    try:
        wanted = np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise PatternError(f"an additive mask holds floats (np.float32): there is no dtype {dtype!r}") from error
    if wanted.kind != "f":
        raise PatternError(f"an additive mask holds floats, not {wanted}")
    return _dense(pattern, wanted, attended=0.0, other=-np.inf)


def _dense(pattern: SparsityPattern, dtype: np.dtype[Any], attended: float, other: float) -> Array:
    size = ready(pattern).p * pattern.n**2 * dtype.itemsize
    if size > DENSE_LIMIT:
        raise PatternError(
            f"a dense {dtype} mask of n={pattern.n}, p={pattern.p} needs {size} bytes, more than the limit of"
            f" {DENSE_LIMIT}: use to_scipy, whose memory follows the connections"
        )
    mask = np.full((pattern.p, pattern.n, pattern.n), other, dtype=dtype)
    for number, layer in enumerate(pattern.layers):
        mask[number, layer.queries, layer.keys] = attended
    return mask


def _patterns(
    heads: list[list[Array]], blocks: Callable[[Array, int], Iterator[npt.NDArray[np.bool_]]]
) -> list[SparsityPattern]:
    """Read the masks ``[head][layer]``, numbered through; a head that is the same as head 0 shares its pattern."""
    patterns: list[SparsityPattern] = []
    number = count()
    for layers in heads:
        if patterns and all(map(np.array_equal, layers, heads[0])):
            patterns.append(patterns[0])
        else:
            masks = [(array, next(number)) for array in layers]
            patterns.append(
                SparsityPattern(
                    tuple(collect_rows(array.shape[0], blocks(array, place)) for array, place in masks)
                )
            )
    return patterns


def _shared(patterns: list[SparsityPattern]) -> SparsityPattern:
    for number, pattern in enumerate(patterns[1:], 1):
        if pattern != patterns[0]:
            raise PatternError(
                f"head {number} attends otherwise than head 0: hand over the mask of one head, or of all heads of"
                " the layer together (what any of them lets through)"
            )
    return patterns[0]


def _boolean_blocks(array: Array, number: int, attends: bool) -> Iterator[npt.NDArray[np.bool_]]:
    for start, stop in row_blocks(array.shape[0]):
        block = array[start:stop]
        if block.dtype.kind != "b":
            _refuse_first(block, (block != 0) & (block != 1), start, number, "is neither 0 nor 1")
            block = block != 0
        yield block if attends else ~block


def _additive_blocks(array: Array, number: int, masked_below: float) -> Iterator[npt.NDArray[np.bool_]]:
    for start, stop in row_blocks(array.shape[0]):
        block = array[start:stop]
        attended = block == 0
        _refuse_first(
            block,
            ~(attended | (block <= masked_below)),
            start,
            number,
            f"is neither 0 (attend) nor minus infinity or up to {masked_below:g} (masked): a soft bias is no"
            " sparsity pattern; if that constant means masked, state masked_below",
        )
        yield attended


def _refuse_first(block: Array, wrong: npt.NDArray[np.bool_], start: int, number: int, why: str) -> None:
    """Raise for the first wrong entry of a block, named by pattern, query and key."""
    if wrong.any():
        row, key = (int(i) for i in np.argwhere(wrong)[0])
        raise PatternError(f"mask {number}, entry (query {start + row}, key {key}) = {block[row, key]} {why}")
