"""FlexAttention's mask functions, ``mask_mod(b, h, q_idx, kv_idx)``, to one pattern a head."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.families.rows import whole
from theory.mask_functions import MAX_FUNCTION_TOKENS, from_callable
from theory.masks import collect_rows, row_blocks
from theory.patterns import PatternError, SparsityPattern
from theory.readers.guard import one_line
from theory.readers.heads import HeadPatterns
from theory.readers.signatures import is_function_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    import numpy.typing as npt

__all__ = ["from_mask_mod", "is_mask_mod", "mapped_rows"]

MAX_PAIR_TOKENS = 512
"""Up to this n a function that torch cannot map is called once a pair."""

CHECKED_PAIRS = 1000


def is_mask_mod(value: object) -> bool:
    """Tell a mask_mod by its four required arguments.

    Examples
    --------
    >>> is_mask_mod(lambda b, h, q, k: q >= k), is_mask_mod(lambda q, k: q >= k)
    (True, False)
    """
    return is_function_of(value, 4)


def from_mask_mod(
    mask_mod: Callable[[Any, Any, Any, Any], Any], n: int, *, heads: int | None = None, batch: int = 0
) -> HeadPatterns:
    """Read a FlexAttention mask function, True where the query attends to the key.

    With torch it is evaluated as ``create_mask`` does, mapped over the indices (`torch.vmap`), block of rows by
    block of rows; a function that torch cannot map is called pair by pair. Where torch is not loaded, it is called
    with NumPy indices: pair by pair, or for large n with arrays that broadcast, single pairs being compared.

    Parameters
    ----------
    mask_mod
        ``mask_mod(b, h, q_idx, kv_idx)``.
    n
        Tokens, as queries and as keys.
    heads
        Number of heads. None: one head, and a function whose heads 0 and 1 differ is refused.
    batch
        The index b at which it is evaluated; a mask that depends on b is one pattern for each.

    Raises
    ------
    PatternError
        If it fails, returns no booleans, depends on the head with `heads` unsaid, or n is too large to ask about
        all n^2 pairs.

    Examples
    --------
    >>> from_mask_mod(lambda b, h, q, k: (q >= k) & (q - k <= h), 3, heads=2).heads[1].to_lists()
    [[[0], [0, 1], [1, 2]]]
    """
    n = whole("n", n, 1)
    if n > MAX_FUNCTION_TOKENS:
        raise PatternError(f"a mask_mod is asked about all n^2 pairs, n={n} is over {MAX_FUNCTION_TOKENS}")
    batch = whole("batch", batch)
    if not callable(mask_mod):
        raise PatternError(f"a mask_mod must be callable, got {type(mask_mod).__name__}")
    if heads is None:
        first = _head(mask_mod, n, batch, 0)
        try:
            second = _head(mask_mod, n, batch, 1)
        except PatternError:  # tables with one entry a head have none for head 1
            second = first
        if second != first:
            raise PatternError("this mask_mod depends on the head: say how many there are, heads=8")
        return HeadPatterns((first,))
    return HeadPatterns(tuple(_head(mask_mod, n, batch, head) for head in range(whole("heads", heads, 1))))


def _head(mask_mod: Callable[[Any, Any, Any, Any], Any], n: int, batch: int, head: int) -> SparsityPattern:
    if "torch" not in sys.modules:
        return _broadcast(mask_mod, n, batch, head)
    try:
        blocks = (mapped_rows(mask_mod, batch, head, start, stop, n) for start, stop in row_blocks(n))
        return SparsityPattern((collect_rows(n, blocks),))
    except PatternError:
        raise
    except Exception as error:  # whatever a user's function raises on mapped indices, such as `if q >= k:`
        if n > MAX_PAIR_TOKENS:
            name = getattr(mask_mod, "__name__", type(mask_mod).__name__)
            raise PatternError(
                f"mask_mod {name} cannot be mapped by torch ({one_line(error, 200)}), and {n}^2 single calls take"
                f" too long: keep n up to {MAX_PAIR_TOKENS}"
            ) from error
    return from_callable(_pairwise(mask_mod, batch, head), n, vectorised=False)


def _broadcast(mask_mod: Callable[[Any, Any, Any, Any], Any], n: int, batch: int, head: int) -> SparsityPattern:
    """Ask with NumPy indices: pair by pair where n allows it, else all at once, with single pairs as a check."""

    def attends(query: Any, key: Any) -> Any:
        return mask_mod(batch, head, np.int64(query), np.int64(key))

    if n <= MAX_PAIR_TOKENS:
        return from_callable(attends, n, vectorised=False)
    pattern = from_callable(lambda q, k: mask_mod(batch, head, q, k), n, vectorised=True)
    rng = np.random.default_rng(0)
    for query, key in rng.integers(n, size=(CHECKED_PAIRS, 2)).tolist():
        if bool(attends(query, key)) != pattern.attends(query, key):
            raise PatternError(
                f"mask_mod says otherwise of the pair ({query}, {key}) alone than among all pairs: it must not"
                " reduce over its indices; with torch loaded it is mapped over them"
            )
    return pattern


def _pairwise(mask_mod: Callable[[Any, Any, Any, Any], Any], batch: int, head: int) -> Callable[[int, int], bool]:
    import torch

    b, h = torch.tensor(batch), torch.tensor(head)

    def attends(query: int, key: int) -> bool:
        answer = mask_mod(b, h, torch.tensor(query), torch.tensor(key))
        return bool(answer)

    return attends


def mapped_rows(
    mask_mod: Callable[[Any, Any, Any, Any], Any], batch: int, head: int, start: int, stop: int, n: int
) -> npt.NDArray[np.bool_]:
    """Return rows start..stop of the mask of one head, mapped over queries and keys as `create_mask` maps them.

    Raises
    ------
    PatternError
        If the answers are no booleans; what the function itself raises is passed on.
    """
    import torch

    over_keys = torch.vmap(mask_mod, in_dims=(None, None, None, 0))
    over_queries = torch.vmap(over_keys, in_dims=(None, None, 0, None))
    with _indexing():
        result = over_queries(torch.tensor(batch), torch.tensor(head), torch.arange(start, stop), torch.arange(n))
    if result.dtype is not torch.bool:
        raise PatternError(f"a mask_mod must return booleans, it returned {result.dtype}: is it a score_mod?")
    rows: npt.NDArray[np.bool_] = result.numpy()
    if rows.shape != (stop - start, n):
        raise PatternError(f"a mask_mod answers with one boolean, this one with shape {tuple(rows.shape[2:])}")
    return rows


def _indexing() -> AbstractContextManager[Any]:
    """Let a mapped index select from a tensor, as in documents[q_idx]; `create_mask` does the same."""
    try:
        from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
    except ImportError:
        return nullcontext()
    mode: AbstractContextManager[Any] = TransformGetItemToIndex()
    return mode
