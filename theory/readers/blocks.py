"""Block-sparse patterns: a layout of blocks, or block sparse rows (BSR) as SciPy and FlashInfer hold them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theory.families.rows import admit, repeated, whole
from theory.patterns import Connections, PatternError, SparsityPattern
from theory.readers.guard import check_tokens

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["expand_blocks", "from_bsr"]


def expand_blocks(layout: npt.ArrayLike, block: int, n: int) -> Connections:
    """Replace every block that is not 0 by `block` x `block` connections, cut at n tokens.

    Parameters
    ----------
    layout
        Shape (m, m): row = block of queries, column = block of keys; 0 and 1, or booleans.
    block
        Tokens in a block.
    n
        Tokens, at most m * block.

    Raises
    ------
    PatternError
        If the layout is not square, holds anything but 0 and 1, does not cover n, or the connections do not fit.

    Examples
    --------
    >>> rows = expand_blocks([[1, 0], [1, 1]], block=2, n=3)
    >>> [rows.row(k).tolist() for k in range(3)]
    [[0, 1], [0, 1], [0, 1, 2]]
    """
    grid = np.asarray(layout)
    block, n = whole("block", block, 1), whole("n", n, 1)
    check_tokens(n)
    if grid.ndim != 2 or grid.shape[0] != grid.shape[1]:
        raise PatternError(f"a block layout is square, query blocks by key blocks, not of shape {grid.shape}")
    if grid.dtype.kind not in "biuf" or not np.isin(grid, (0, 1)).all():
        raise PatternError("a block layout holds 0 and 1, or booleans")
    if not (grid.shape[0] - 1) * block < n <= grid.shape[0] * block:
        raise PatternError(f"a layout of {grid.shape[0]} blocks of {block} is not for n={n} tokens")
    blocks = grid != 0
    admit(n, int(np.count_nonzero(blocks)) * block * block)
    rows, columns = np.nonzero(blocks)
    tokens = (columns[:, None] * block + np.arange(block)).astype(np.int32)
    inside = tokens < n
    counts = np.bincount(rows, weights=inside.sum(axis=1), minlength=grid.shape[0]).astype(np.int64)
    return _rows(counts, tokens[inside], np.arange(n) // block)


def _rows(counts: npt.NDArray[np.int64], keys: npt.NDArray[np.int32], which: npt.NDArray[np.int64]) -> Connections:
    """Row k is a copy of given row ``which[k]``; unlike `repeated`, a row may be empty."""
    if counts.all():
        return repeated(counts, keys, which)
    own = counts[which]
    starts = np.cumsum(counts) - counts
    places = np.repeat(starts[which] - (np.cumsum(own) - own), own) + np.arange(own.sum())
    return Connections(np.concatenate(([0], np.cumsum(own))), keys[places])


def from_bsr(
    indptr: npt.ArrayLike,
    indices: npt.ArrayLike,
    n: int,
    block: tuple[int, int],
    *,
    mask: npt.ArrayLike | None = None,
) -> SparsityPattern:
    """Read block sparse rows, as FlashInfer's ``BlockSparseAttentionWrapper.plan`` takes them.

    Row block i holds the column blocks ``indices[indptr[i]:indptr[i + 1]]``; a block is R queries by C keys. (A
    SciPy ``bsr_array`` goes through `theory.conversions.from_scipy`, which reads the entries of its blocks.)

    Parameters
    ----------
    indptr, indices
        Shapes (M / R + 1,) and (blocks,).
    n
        Tokens: M = N = n. FlashInfer wants n divisible by C.
    block
        (R, C).
    mask
        Booleans (blocks, R, C): True attends inside that block. None: every block is full.
        (`plan`'s `causal` counts the gathered keys of a row block, not tokens; put what is meant into the mask.)

    Raises
    ------
    PatternError
        If the arrays do not fit each other or n.

    Examples
    --------
    >>> from_bsr([0, 1, 3], [0, 0, 1], 4, (2, 2)).to_lists()[0]
    [[0, 1], [0, 1], [0, 1, 2, 3], [0, 1, 2, 3]]
    """
    starts, columns = (np.asarray(_host(part)) for part in (indptr, indices))
    rows, width = whole("R", block[0], 1), whole("C", block[1], 1)
    n = whole("n", n, 1)
    check_tokens(n)
    if n % width:
        raise PatternError(f"n={n} is not divisible by the {width} keys of a block")
    if starts.dtype.kind not in "iu" or columns.dtype.kind not in "iu" or starts.ndim != 1 or columns.ndim != 1:
        raise PatternError("indptr and indices are flat arrays of integers")
    many = -(-n // rows)
    if starts.size != many + 1 or starts[0] != 0 or starts[-1] != columns.size or np.any(starts[1:] < starts[:-1]):
        raise PatternError(
            f"indptr must rise from 0 to the {columns.size} blocks over {many} row blocks of {rows}"
        )
    if columns.size and (columns.min() < 0 or columns.max() >= n // width):
        raise PatternError(f"a column block lies outside 0..{n // width - 1}")
    admit(n, columns.size * rows * width)
    inside = np.ones((columns.size, rows, width), dtype=bool) if mask is None else np.asarray(_host(mask))
    if inside.shape != (columns.size, rows, width) or inside.dtype.kind != "b":
        raise PatternError(f"mask must be booleans of shape {(columns.size, rows, width)}, got {inside.shape}")
    number, row, column = np.nonzero(inside)
    of_block = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    queries = of_block[number] * rows + row
    keys = columns[number].astype(np.int64) * width + column
    kept = queries < n
    return SparsityPattern((Connections.from_pairs(n, queries[kept], keys[kept]),))


def _host(array: Any) -> Any:
    """Return a torch tensor as an array on the host, anything else as it is."""
    return array.detach().cpu().numpy() if hasattr(array, "detach") else array
