"""Sparsity patterns written out as dense attention masks, boolean or additive; `theory.masks` reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from theory.masks import DENSE_LIMIT
from theory.patterns import PatternError, SparsityPattern, ready

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["to_additive_mask", "to_boolean_mask"]


def to_boolean_mask(pattern: SparsityPattern, *, true_means: Literal["attend", "masked"]) -> npt.NDArray[np.bool_]:
    """Return the (p, n, n) boolean masks ``mask[pattern, query, key]``, True as stated.

    `theory.masks.from_boolean_mask` reads them again with ``axis="layers"``.

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


def to_additive_mask(pattern: SparsityPattern, dtype: npt.DTypeLike = np.float32) -> npt.NDArray[Any]:
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


def _dense(pattern: SparsityPattern, dtype: np.dtype[Any], attended: float, other: float) -> npt.NDArray[Any]:
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
