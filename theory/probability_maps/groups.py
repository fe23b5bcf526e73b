"""What a probability map normalises over: one axis of an array, or the rows of a sparsity pattern.

A map is written once, in terms of a group's largest score, its sum, and the way back from one number a group to
one an entry. `Along` is an axis of any Array API array; `InRows` is rows stored one after another (CSR), for
NumPy, in time proportional to the connections.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from array_api_compat import array_namespace, is_array_api_obj

from theory.connections import PatternError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Along", "Groups", "InRows", "floating"]


class Groups(Protocol):
    """Disjoint groups of entries."""

    @property
    def xp(self) -> Any:
        """The array namespace."""

    def top(self, x: Any) -> Any:
        """Return the largest entry of every group."""

    def total(self, x: Any) -> Any:
        """Return the sum of every group."""

    def spread(self, per_group: Any) -> Any:
        """Return an array that broadcasts against the entries: each entry's group's number."""

    def sizes(self, like: Any) -> Any:
        """Return the number of entries of every group, in the dtype of `like`."""

    def largest(self, x: Any, k: int) -> Any:
        """Return a mask of the k largest entries of every group; ties go to the earlier entry."""

    def gaps(self, scores: Any) -> Any:
        """Return how far every score lies below the largest of its group, at least 0.

        Raises
        ------
        PatternError
            If a group's largest score is NaN or infinite.
        """


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


def _below_top(scores: Any, groups: Groups) -> Any:
    top = groups.top(scores)
    if not bool(groups.xp.all(groups.xp.isfinite(top))):
        raise PatternError("scores must be numbers below infinity, at least one of them finite in every group")
    return groups.spread(top) - scores


@dataclass(frozen=True)
class Along:
    """The entries along one axis.

    Parameters
    ----------
    xp
        The array namespace.
    axis
        The axis.
    """

    xp: Any
    axis: int

    def top(self, x: Any) -> Any:
        """Return the largest entry of every group."""
        return self.xp.max(x, axis=self.axis, keepdims=True)

    def total(self, x: Any) -> Any:
        """Return the sum of every group."""
        return self.xp.sum(x, axis=self.axis, keepdims=True)

    def spread(self, per_group: Any) -> Any:
        """Return `per_group` as it is: it kept its axis and broadcasts."""
        return per_group

    def sizes(self, like: Any) -> Any:
        """Return the length of the axis."""
        return self.total(self.xp.ones_like(like))

    def largest(self, x: Any, k: int) -> Any:
        """Return a mask of the k largest entries of every group; ties go to the earlier entry."""
        order = self.xp.argsort(x, axis=self.axis, descending=True, stable=True)
        return self.xp.argsort(order, axis=self.axis, stable=True) < k

    def gaps(self, scores: Any) -> Any:
        """Return how far every score lies below the largest of its group."""
        return _below_top(scores, self)


@dataclass(frozen=True)
class InRows:
    """The rows of a sparsity pattern, one after another along the last axis.

    Parameters
    ----------
    indptr
        Row k holds the entries ``indptr[k]:indptr[k + 1]``; no row is empty.

    Raises
    ------
    PatternError
        If a row is empty, or the first does not start at 0.

    Examples
    --------
    >>> rows = InRows(np.array([0, 2, 3]))
    >>> rows.total(np.array([1.0, 2.0, 5.0])).tolist()
    [3.0, 5.0]
    >>> rows.spread(np.array([3.0, 5.0])).tolist()
    [3.0, 3.0, 5.0]
    """

    indptr: npt.NDArray[np.integer[Any]]
    xp = np

    def __post_init__(self) -> None:
        if self.indptr.size < 2 or self.indptr[0] != 0 or not (self.lengths > 0).all():
            raise PatternError(
                "rows of scores must start at 0 and none may be empty: every token attends to a key"
            )

    @cached_property
    def lengths(self) -> npt.NDArray[np.integer[Any]]:
        """The number of entries of every row."""
        return np.diff(self.indptr)

    def top(self, x: Any) -> Any:
        """Return the largest entry of every row."""
        return np.maximum.reduceat(x, self.indptr[:-1], axis=-1)

    def total(self, x: Any) -> Any:
        """Return the sum of every row."""
        return np.add.reduceat(x, self.indptr[:-1], axis=-1)

    def spread(self, per_group: Any) -> Any:
        """Return every row's number at each of its entries."""
        return np.repeat(per_group, self.lengths, axis=-1)

    def sizes(self, like: Any) -> Any:
        """Return the lengths of the rows."""
        return np.broadcast_to(self.lengths.astype(like.dtype), (*like.shape[:-1], self.lengths.size))

    def largest(self, x: Any, k: int) -> Any:
        """Return a mask of the k largest entries of every row; ties go to the earlier entry."""
        rows = np.broadcast_to(self.spread(np.arange(self.lengths.size)), x.shape)
        order = np.lexsort((-x, rows), axis=-1)
        rank = np.arange(x.shape[-1]) - self.spread(self.indptr[:-1])
        kept = np.empty(x.shape, dtype=np.bool_)
        np.put_along_axis(kept, order, np.broadcast_to(rank < k, x.shape), axis=-1)
        return kept

    def gaps(self, scores: Any) -> Any:
        """Return how far every score lies below the largest of its row."""
        return _below_top(scores, self)
