"""What the dimensions of a dense mask mean: queries and keys last, heads or layers before them, then the batch."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from theory.patterns import PatternError

__all__ = ["Axis", "as_array", "check_axis", "masks_of_heads", "reading_of"]

Array = npt.NDArray[Any]
Axis = Literal["heads", "layers"]


def masks_of_heads(mask: object, *, axis: Axis | None = None, batch: int | None = None) -> list[list[Array]]:
    """Return the square masks ``[head][layer]`` in `mask`, without copying arrays.

    One rule for every mask: (n, n) is one mask; (h, n, n) with h > 1 may be heads or layers, so `axis` has to say;
    (b, h, n, n) is batch, head, query, key, as in PyTorch's ``scaled_dot_product_attention``. A list of (n, n)
    masks is a cycle of layers, unless `axis` says otherwise.

    Parameters
    ----------
    mask
        An array, or a list of (n, n) arrays.
    axis
        "heads" or "layers": what the first of three dimensions is.
    batch
        Which entry of a batch is read; needed only where its entries differ.

    Raises
    ------
    PatternError
        If `axis` or `batch` is needed, or says something about a dimension that is not there, or a mask is ragged,
        empty or not square.

    Examples
    --------
    >>> two = np.zeros((2, 4, 4), dtype=bool)
    >>> [len(layers) for layers in masks_of_heads(two, axis="layers")]
    [2]
    >>> [len(layers) for layers in masks_of_heads(two[None])]
    [1, 1]
    """
    check_axis(axis)
    if isinstance(mask, (list, tuple)) and any(getattr(part, "ndim", 0) == 2 for part in mask):
        arrays = [as_array(part) for part in mask]
        if batch is not None:
            raise PatternError(
                f"batch={batch} chooses among four dimensions, this is a list of masks: leave it out"
            )
        heads = axis == "heads"
    else:
        array = as_array(mask)
        _check_said(array.shape, axis, batch)
        heads = axis == "heads" or array.ndim == 4
        array = _entry(array, batch) if array.ndim == 4 else array
        arrays = list(array) if array.ndim == 3 else [array]
    if not arrays:
        raise PatternError("no mask given: a sparsity pattern needs at least one")
    for number, one in enumerate(arrays):
        _check_square(one, number)
    return [[one] for one in arrays] if heads else [arrays]


def check_axis(axis: object) -> Axis | None:
    """Return heads, layers, or None for unsaid; refuse anything else."""
    if axis is None or axis == "heads" or axis == "layers":
        return axis
    raise PatternError(f"axis must be heads or layers, got {axis!r}")


def _check_said(shape: tuple[int, ...], axis: Axis | None, batch: int | None) -> None:
    """Refuse a shape that is no mask, and an `axis` or `batch` that is missing or has no such dimension."""
    if len(shape) not in (2, 3, 4):
        raise PatternError(
            f"a mask has shape (n, n), (heads or layers, n, n) or (batch, heads, n, n); this one has {shape}"
        )
    if axis is not None and len(shape) != 3:
        meaning = "is (query, key)" if len(shape) == 2 else "is (batch, head, query, key)"
        raise PatternError(
            f"axis={axis} says what the first of three dimensions is, but shape {shape} {meaning}: leave axis out"
        )
    if batch is not None and len(shape) != 4:
        raise PatternError(
            f"batch={batch} chooses among (batch, head, query, key), but the shape is {shape}: leave batch out"
        )
    if axis is None and len(shape) == 3 and shape[0] > 1:
        raise PatternError(
            f"a mask of shape {shape} may be {shape[0]} heads of one layer (axis=heads) or a cycle of"
            f" {shape[0]} layers (axis=layers): say which"
        )


def _entry(array: Array, batch: int | None) -> Array:
    """Return the (heads, n, n) masks of the entry `batch`, or of all entries where they agree."""
    size = array.shape[0]
    if batch is not None:
        if isinstance(batch, bool) or not isinstance(batch, int) or not 0 <= batch < size:
            raise PatternError(f"batch must be one of 0..{size - 1}, got {batch!r}")
        chosen: Array = array[batch]
        return chosen
    for number in range(1, size):
        if not np.array_equal(array[number], array[0]):
            raise PatternError(
                f"the masks of this batch differ (shape {array.shape}, entry {number} from entry 0): say which"
                " one, batch=0"
            )
    return array[0] if size else array.reshape((0, *array.shape[2:]))


def _check_square(array: Array, number: int) -> None:
    if array.ndim != 2:
        raise PatternError(f"mask {number} of this list has shape {array.shape}: every one must be (n, n)")
    if array.shape[0] != array.shape[1]:
        raise PatternError(f"mask {number} is not square: {array.shape[0]} queries by {array.shape[1]} keys")
    if array.shape[0] == 0:
        raise PatternError(f"mask {number} is empty: a pattern needs at least one token")


def as_array(mask: object) -> Array:
    """Return `mask` as an array.

    Raises
    ------
    PatternError
        If it is ragged, hides entries, or cannot be read.
    """
    if isinstance(mask, np.ma.MaskedArray):
        raise PatternError("a NumPy masked array hides entries: fill it first, for instance with .filled(False)")
    try:
        return np.asarray(mask)
    except ValueError as error:
        raise PatternError("the mask is ragged: its rows or its patterns differ in length") from error
    except (TypeError, RuntimeError) as error:
        raise PatternError(f"the mask cannot be read as a NumPy array: {error}") from error


def reading_of(shape: tuple[int, ...], axis: Axis | None, batch: int | None) -> tuple[str, ...]:
    """Return how a mask of several heads, layers or batch entries was read, as a note; none for a single mask.

    Examples
    --------
    >>> reading_of((64, 49, 49), "heads", None)
    ('shape (64, 49, 49) is read as 64 heads of one layer',)
    >>> reading_of((3, 2, 8, 8), None, 1)
    ('shape (3, 2, 8, 8) is read as (batch, head, query, key): 2 heads, entry 1 of the batch',)
    """
    if len(shape) == 3 and shape[0] > 1:
        what = f"{shape[0]} heads of one layer" if axis == "heads" else f"a cycle of {shape[0]} layers"
        return (f"shape {shape} is read as {what}",)
    if len(shape) == 4 and max(shape[:2]) > 1:
        alike = "" if shape[0] == 1 else ", the entries of the batch being alike"
        entry = alike if batch is None else f", entry {batch} of the batch"
        heads = f"{shape[1]} head{'s' * (shape[1] > 1)}"
        return (f"shape {shape} is read as (batch, head, query, key): {heads}{entry}",)
    return ()
