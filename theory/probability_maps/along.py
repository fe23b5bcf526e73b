"""What a probability map needs of the axis it normalises over: the largest score, the sum, the k largest.

A group is what lies along the axis for one choice of the other indices. Any Array API array will do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

from theory.connections import PatternError

__all__ = ["Along", "floating"]


def floating(scores: Any) -> tuple[Any, Any]:
    """Return the array namespace and the scores as a real floating array; lists and integers become float64.

    Raises
    ------
    PatternError
        If the scores are no real numbers.
    """
    array = scores if is_array_api_obj(scores) else np.asarray(scores)
    xp = array_namespace(array)
    if xp.isdtype(array.dtype, "real floating"):
        return xp, array
    if not xp.isdtype(array.dtype, "integral"):
        raise PatternError(f"scores must be real numbers, got {array.dtype}")
    return xp, xp.astype(array, xp.float64)


@dataclass(frozen=True)
class Along:
    """The groups along one axis; a number a group keeps the axis, with length 1, and so broadcasts.

    Parameters
    ----------
    xp
        The array namespace.
    axis
        The axis.

    Examples
    --------
    >>> along = Along(np, -1)
    >>> along.total(np.array([[1.0, 2.0], [5.0, 0.0]])).tolist()
    [[3.0], [5.0]]
    """

    xp: Any
    axis: int

    def top(self, scores: Any) -> Any:
        """Return the largest score of every group.

        Raises
        ------
        PatternError
            If one is NaN or infinite.
        """
        top = self.xp.max(scores, axis=self.axis, keepdims=True)
        if not bool(self.xp.all(self.xp.isfinite(top))):
            raise PatternError("scores must be numbers below infinity, at least one of them finite in every group")
        return top

    def first(self, x: Any) -> Any:
        """Return the first entry of every group, for its shape."""
        before = (slice(None),) * (self.axis % x.ndim)
        return x[(*before, slice(0, 1), ...)]

    def total(self, x: Any) -> Any:
        """Return the sum of every group."""
        return self.xp.sum(x, axis=self.axis, keepdims=True)

    def size(self, x: Any) -> int:
        """Return the number of entries of a group."""
        return int(x.shape[self.axis])

    def largest(self, x: Any, k: int) -> Any:
        """Return a mask of the k largest entries of every group; ties go to the earlier entry."""
        order = self.xp.argsort(x, axis=self.axis, descending=True, stable=True)
        return self.xp.argsort(order, axis=self.axis, stable=True) < k
