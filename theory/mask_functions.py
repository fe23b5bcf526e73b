"""Mask functions, ``function(query, key) -> bool`` as in FlexAttention, to sparsity patterns and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from theory.checks import flag
from theory.masks import collect_rows, row_blocks
from theory.patterns import Connections, PatternError, SparsityPattern, ready

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["MAX_FUNCTION_TOKENS", "MAX_SCALAR_TOKENS", "from_callable", "to_callable"]

MAX_FUNCTION_TOKENS = 65_536
"""A mask function is asked about all n^2 pairs; beyond this n that is no longer seconds."""

MAX_SCALAR_TOKENS = 8_192
"""The same where it must be called once a pair."""


def from_callable(
    function: Callable[[Any, Any], Any] | Sequence[Callable[[Any, Any], Any]],
    n: int,
    *,
    vectorised: bool | None = None,
) -> SparsityPattern:
    """Read mask functions: ``function(query, key)`` is True where the query attends to the key.

    Parameters
    ----------
    function
        One function, or a list with one for each pattern. Called with integer arrays of shapes (m, 1) and (1, n),
        it returns booleans that broadcast to (m, n); called with two integers, it returns one boolean. A
        ``mask_mod(b, h, q_idx, kv_idx)`` of FlexAttention becomes ``lambda q, k: mask_mod(0, 0, q, k)``.
    n
        Number of tokens.
    vectorised
        True: arrays only. False: one call a pair. None: arrays, and one call a pair if arrays make it fail.

    Raises
    ------
    PatternError
        If a function fails or returns no booleans, or n is too large to ask about all n^2 pairs.

    Examples
    --------
    >>> from_callable(lambda q, k: abs(q - k) <= 1, 4).to_lists()
    [[[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]]]
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not 1 <= n <= MAX_FUNCTION_TOKENS:
        raise PatternError(
            f"a mask function needs n between 1 and {MAX_FUNCTION_TOKENS}, as all n^2 pairs are asked, got {n!r}:"
            " beyond, give a sparse matrix or an edge list"
        )
    if vectorised is not None:
        flag("vectorised", vectorised)
    functions = function if isinstance(function, (list, tuple)) else [function]
    return SparsityPattern(tuple(_layer_from_function(one, int(n), vectorised) for one in functions))


def _layer_from_function(function: Any, n: int, vectorised: bool | None) -> Connections:
    name = getattr(function, "__name__", type(function).__name__)
    if not callable(function):
        raise PatternError(f"a mask function must be callable, got {name}")
    if vectorised is not False:
        try:
            return collect_rows(n, _array_calls(function, n, name))
        except PatternError:
            raise
        except Exception as error:
            if vectorised:
                raise PatternError(f"mask function {name} failed on arrays: {error}") from error
    if n > MAX_SCALAR_TOKENS:
        raise PatternError(
            f"mask function {name} does not work on arrays, and {n}^2 single calls take too long: make it accept"
            f" arrays, or keep n up to {MAX_SCALAR_TOKENS}"
        )
    return collect_rows(n, _single_calls(function, n, name))


def _array_calls(function: Callable[[Any, Any], Any], n: int, name: str) -> Iterator[npt.NDArray[np.bool_]]:
    for start, stop in row_blocks(n):
        shape = (stop - start, n)
        result = np.asarray(function(np.arange(start, stop)[:, None], np.arange(n)[None, :]))
        if result.ndim != 2:
            raise ValueError(f"it returned shape {result.shape}, not one that broadcasts to {shape}")
        if result.dtype.kind != "b":
            raise PatternError(f"mask function {name} must return booleans, it returned {result.dtype}")
        yield np.broadcast_to(result, shape)


def _single_calls(function: Callable[[Any, Any], Any], n: int, name: str) -> Iterator[npt.NDArray[np.bool_]]:
    for query in range(n):
        row = np.zeros((1, n), dtype=bool)
        for key in range(n):
            try:
                answer = function(query, key)
            except Exception as error:
                raise PatternError(f"mask function {name} failed on ({query}, {key}): {error}") from error
            if not isinstance(answer, (bool, np.bool_)):
                raise PatternError(f"mask function {name} must return a bool, ({query}, {key}) gave {answer!r}")
            row[0, key] = answer
        yield row


def to_callable(pattern: SparsityPattern) -> list[Callable[[npt.ArrayLike, npt.ArrayLike], Any]]:
    """Return one mask function for each pattern: ``function(query, key)``, on integers or arrays that broadcast.

    Examples
    --------
    >>> (attends,) = to_callable(SparsityPattern.from_lists([[0], [0, 1]]))
    >>> bool(attends(1, 0)), attends([0, 1], 1).tolist()
    (True, [False, True])
    """
    return [_membership(layer) for layer in ready(pattern).layers]


def _membership(layer: Connections) -> Callable[[npt.ArrayLike, npt.ArrayLike], Any]:
    n = layer.n
    beyond = np.int64(n) * n  # never asked for, so that searchsorted always lands on an entry
    stored = np.append(layer.queries.astype(np.int64) * n + layer.keys, beyond)

    def attends(query: npt.ArrayLike, key: npt.ArrayLike) -> Any:
        queries, keys = np.asarray(query, dtype=np.int64), np.asarray(key, dtype=np.int64)
        for name, tokens in (("query", queries), ("key", keys)):
            if tokens.size and not (tokens.min() >= 0 and tokens.max() < n):
                raise PatternError(f"a {name} lies outside 0..{n - 1}")
        flat = queries * n + keys
        return stored[np.searchsorted(stored, flat)] == flat

    return attends
