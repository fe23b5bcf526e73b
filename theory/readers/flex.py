"""FlexAttention: ``mask_mod(b, h, q_idx, kv_idx)`` and BlockMask, to one pattern a head."""

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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import numpy.typing as npt

__all__ = ["from_block_mask", "from_mask_mod", "is_block_mask"]

MAX_PAIR_TOKENS = 512
"""Up to this n a function that torch cannot map is called once a pair."""


def is_block_mask(value: object) -> bool:
    """Tell a BlockMask by its fields, without importing torch."""
    return all(hasattr(value, name) for name in ("kv_num_blocks", "kv_indices", "BLOCK_SIZE", "mask_mod"))


def from_mask_mod(
    mask_mod: Callable[[Any, Any, Any, Any], Any], n: int, *, heads: int | None = None, batch: int = 0
) -> HeadPatterns:
    """Read a FlexAttention mask function, True where the query attends to the key.

    With torch it is evaluated as ``create_mask`` does, mapped over the indices (`torch.vmap`), block of rows by
    block of rows; a function that torch cannot map is called pair by pair. Where torch is not loaded, it is called
    with NumPy indices that broadcast.

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
        return from_callable(lambda q, k: mask_mod(batch, head, q, k), n)
    try:
        blocks = (_mapped(mask_mod, batch, head, start, stop, n) for start, stop in row_blocks(n))
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


def _pairwise(mask_mod: Callable[[Any, Any, Any, Any], Any], batch: int, head: int) -> Callable[[int, int], bool]:
    import torch

    b, h = torch.tensor(batch), torch.tensor(head)

    def attends(query: int, key: int) -> bool:
        answer = mask_mod(b, h, torch.tensor(query), torch.tensor(key))
        return bool(answer)

    return attends


def _mapped(
    mask_mod: Callable[[Any, Any, Any, Any], Any], batch: int, head: int, start: int, stop: int, n: int
) -> npt.NDArray[np.bool_]:
    """Rows start..stop of the mask of one head, mapped over queries and keys as `create_mask` maps them."""
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


def from_block_mask(
    mask: Any, n: int | None = None, *, heads: int | None = None, batch: int | None = None
) -> HeadPatterns:
    """Read a BlockMask as the kernel does: full blocks whole, partial ones by `mask_mod`, cut at the sequence.

    Never the grid of blocks itself, which shows whole blocks where single tokens are masked.

    Parameters
    ----------
    mask
        ``torch.nn.attention.flex_attention.BlockMask``.
    n
        Tokens; None or its own ``seq_lengths``.
    heads
        Number of heads of the model, where the BlockMask has one grid for all (``H=None``): `mask_mod` is still
        asked with the head's number in the partial blocks.
    batch
        Which entry of the batch; None where the mask has only one.

    Raises
    ------
    PatternError
        If it is not square, was sliced along the queries, lost its mask_mod, has several batch entries, or does
        not have so many heads.
    """
    lengths = tuple(int(length) for length in getattr(mask, "seq_lengths", ()))
    if len(lengths) != 2 or lengths[0] != lengths[1]:
        raise PatternError(f"the BlockMask is not square: seq_lengths {lengths}")
    if n is not None and n != lengths[0]:
        raise PatternError(f"the BlockMask is for {lengths[0]} tokens, not for n={n}")
    n = lengths[0]
    partial = _grid(mask.kv_num_blocks, mask.kv_indices)
    full = np.zeros_like(partial)
    if getattr(mask, "full_kv_num_blocks", None) is not None:
        full = _grid(mask.full_kv_num_blocks, mask.full_kv_indices)
    partial, full = np.broadcast_arrays(partial, full)
    sizes = tuple(int(size) for size in mask.BLOCK_SIZE)
    if partial.shape[2] * sizes[0] < n or partial.shape[3] * sizes[1] < n:
        raise PatternError(
            f"the BlockMask has {partial.shape[2]} x {partial.shape[3]} blocks of {sizes}, too few for {n}"
        )
    if batch is None and partial.shape[0] > 1:
        raise PatternError(f"the BlockMask has {partial.shape[0]} batch entries: say which one, batch=0")
    entry = whole("batch", batch or 0)
    if partial.shape[0] not in (1, entry + 1) and entry >= partial.shape[0]:
        raise PatternError(f"the BlockMask has no batch entry {entry}")
    own = partial.shape[1]
    count = own if heads is None else whole("heads", heads, 1)
    if own not in (1, count):
        raise PatternError(f"the BlockMask has {own} heads, not {count}")
    place = min(entry, partial.shape[0] - 1)
    patterns = []
    for head in range(count):
        grids = (partial[place, min(head, own - 1)], full[place, min(head, own - 1)])
        patterns.append(
            SparsityPattern((collect_rows(n, _block_rows(mask.mask_mod, grids, sizes, n, entry, head)),))
        )
    if heads is None and own == 1 and grids[0].any():
        _refuse_head_dependent(mask, patterns[0], grids, sizes, n, entry)
    return HeadPatterns(tuple(patterns))


def _refuse_head_dependent(mask: Any, first: SparsityPattern, grids: Any, sizes: Any, n: int, batch: int) -> None:
    """With one grid for all heads the mask function may still tell them apart; it is asked about head 1."""
    try:
        second = SparsityPattern((collect_rows(n, _block_rows(mask.mask_mod, grids, sizes, n, batch, 1)),))
    except PatternError:  # tables with one entry a head have none for head 1
        return
    if second != first:
        raise PatternError("the mask_mod of this BlockMask depends on the head: say how many there are, heads=8")


def _grid(counts: Any, indices: Any) -> npt.NDArray[np.bool_]:
    """Return the blocks (b, h, query block, key block) that are listed: only the first `counts` indices count."""
    many, places = counts.detach().cpu().numpy(), indices.detach().cpu().numpy()
    if many.ndim != 3 or places.ndim != 4:
        raise PatternError(f"a BlockMask has (batch, head, query block) counts, this one has shape {many.shape}")
    listed = np.arange(places.shape[3]) < many[..., None]
    width = max(places.shape[3], int(places[listed].max(initial=-1)) + 1)
    grid = np.zeros((*places.shape[:3], width), dtype=bool)
    b, h, row, column = np.nonzero(listed)
    grid[b, h, row, places[b, h, row, column]] = True
    return grid


def _block_rows(
    mask_mod: Any, grids: tuple[Any, Any], sizes: tuple[int, ...], n: int, batch: int, head: int
) -> Iterator[npt.NDArray[np.bool_]]:
    """Yield the rows of one head, one row of blocks at a time."""
    partial, full = grids
    for number, start in enumerate(range(0, n, sizes[0])):
        stop = min(start + sizes[0], n)
        allowed = np.repeat(full[number], sizes[1])[:n]
        rows = np.broadcast_to(allowed, (stop - start, n))
        if partial[number].any():
            asked = np.repeat(partial[number], sizes[1])[:n]
            try:
                rows = rows | (asked & _mapped(mask_mod, batch, head, start, stop, n))
            except PatternError:
                raise
            except Exception as error:
                raise PatternError(f"the BlockMask's mask_mod failed: {one_line(error, 200)}") from error
        yield rows
