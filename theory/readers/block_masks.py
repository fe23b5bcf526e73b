"""FlexAttention's BlockMask, read exactly, to one pattern a head."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theory.families.rows import whole
from theory.masks import collect_rows
from theory.patterns import PatternError, SparsityPattern
from theory.readers.flex import mapped_rows
from theory.readers.guard import one_line
from theory.readers.heads import HeadPatterns

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

__all__ = ["from_block_mask", "is_block_mask"]


def is_block_mask(value: object) -> bool:
    """Tell a BlockMask by its fields, without importing torch."""
    return all(hasattr(value, name) for name in ("kv_num_blocks", "kv_indices", "BLOCK_SIZE", "mask_mod"))


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
                rows = rows | (asked & mapped_rows(mask_mod, batch, head, start, stop, n))
            except PatternError:
                raise
            except Exception as error:
                raise PatternError(f"the BlockMask's mask_mod failed: {one_line(error, 200)}") from error
        yield rows
