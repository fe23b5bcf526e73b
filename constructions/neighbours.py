"""Reductions over the attended sets A_k on any array backend, in O(connections).

Rows of equal degree are one dense block of indices, and blocks are not padded: a global token costs its own
degree, whatever the others have. A state has its tokens on the last axis, ``values[..., k]``; here they come
first, so that a reduction runs over the first axis of contiguous memory.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from array_api_compat import array_namespace, device

if TYPE_CHECKING:
    from theory.patterns import Connections

__all__ = ["Neighbours", "Rows", "neighbours"]


class Rows(NamedTuple):
    """The rows of one degree: `queries` has shape (rows,), `keys` lists degree x rows keys, key after key."""

    queries: Any
    keys: Any
    degree: int


class Neighbours:
    """The attended sets of one pattern, as arrays of one backend on one device; see `neighbours`.

    Parameters
    ----------
    layer
        The pattern; no row may be empty.
    like
        An array of the backend and device.
    """

    def __init__(self, layer: Connections, like: Any) -> None:
        xp = array_namespace(like)
        self.xp = xp
        degrees, rows, order = layer.degrees, [], []
        for degree in np.unique(degrees).tolist():
            queries = np.flatnonzero(degrees == degree)
            keys = layer.keys[layer.indptr[queries] + np.arange(degree)[:, np.newaxis]]
            order.append(queries)
            place = [xp.asarray(part.ravel().astype(np.int64), device=device(like)) for part in (queries, keys)]
            rows.append(Rows(place[0], place[1], degree))
        self.rows = tuple(rows)
        inverse = np.argsort(np.concatenate(order), kind="stable")
        self._inverse = xp.asarray(inverse, device=device(like)) if len(rows) > 1 else None

    def gather(self, values: Any) -> list[Any]:
        """Return ``values[..., j]``, j in A_k, for the rows of every degree: shapes (degree, rows, ...)."""
        first = self._first(values)
        return [
            self.xp.reshape(
                self.xp.take(first, rows.keys, axis=0), (rows.degree, rows.queries.shape[0], *first.shape[1:])
            )
            for rows in self.rows
        ]

    def own(self, values: Any) -> list[Any]:
        """Return ``values[..., k]`` for the queries k of every degree: shapes (rows, ...)."""
        first = self._first(values)
        return [self.xp.take(first, rows.queries, axis=0) for rows in self.rows]

    def join(self, parts: list[Any]) -> Any:
        """Return one number a query, given those of every degree, (rows, ...), as a state (..., n)."""
        whole = parts[0]
        if self._inverse is not None:
            whole = self.xp.take(self.xp.concat(parts, axis=0), self._inverse, axis=0)
        return self.xp.permute_dims(whole, (*range(1, whole.ndim), 0))

    def _first(self, values: Any) -> Any:
        """Return the tokens first; `moveaxis` would do, at five times the cost of a small block."""
        return self.xp.permute_dims(values, (values.ndim - 1, *range(values.ndim - 1)))


_KNOWN: WeakKeyDictionary[Connections, dict[tuple[str, str], Neighbours]] = WeakKeyDictionary()


def neighbours(layer: Connections, like: Any) -> Neighbours:
    """Return the attended sets of a pattern for the backend and device of an array; made once for each.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> window = SparsityPattern.from_lists([[0, 1], [0, 1, 2], [1, 2]]).layers[0]
    >>> values = np.array([5, 9, 7])
    >>> near = neighbours(window, values)
    >>> near.join([near.xp.max(attended, axis=0) for attended in near.gather(values)]).tolist()
    [9, 9, 9]
    """
    made = _KNOWN.setdefault(layer, {})
    key = array_namespace(like).__name__, str(device(like))
    if key not in made:
        _keep_freed_memory()
        made[key] = Neighbours(layer, like)
    return made[key]


@cache
def _keep_freed_memory() -> None:
    """Free a large block once: up to then glibc hands freed arrays back to the system, and takes them anew."""
    np.empty(31 * 2**20, dtype=np.uint8)
