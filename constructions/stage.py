"""The contract of a stage: a run of like blocks that knows its number, lists them, and applies itself at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from array_api_compat import array_namespace, device

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructions.blocks import AttentionBlock, FeedForwardBlock
    from theory.patterns import SparsityPattern

__all__ = ["Stage", "from_token_rows", "run_fused", "run_literal", "token_rows"]


class Stage(Protocol):
    """A run of blocks on the state ``values[..., k]`` = u^T Z_k in units of delta, an array of any backend.

    `apply` (fused) and the blocks applied one after another (literal) agree bit for bit, or both raise ProofError.
    """

    @property
    def name(self) -> str:
        """What the stage does, in the paper's words."""
        ...

    @property
    def attention_layers(self) -> int:
        """Number of attention blocks, identity blocks of the cycle included."""
        ...

    @property
    def feed_forward_layers(self) -> int:
        """Number of feed-forward layers."""
        ...

    def blocks(self) -> Iterator[AttentionBlock | FeedForwardBlock]:
        """Iterate the elementary blocks in order, lazily."""
        ...

    def apply(self, values: Any, pattern: SparsityPattern) -> Any:
        """Apply all blocks at once."""
        ...


def run_literal(stage: Stage, values: Any, pattern: SparsityPattern) -> Any:
    """Apply the elementary blocks of a stage one by one, exactly as the paper states them."""
    for block in stage.blocks():
        values = block.apply(values, pattern)
    return values


def run_fused(stages: list[Stage], values: Any, pattern: SparsityPattern) -> Any:
    """Apply a list of stages, each at once."""
    for stage in stages:
        values = stage.apply(values, pattern)
    return values


def token_rows(values: Any) -> Any:
    """Return a copy of a state (..., n) with one contiguous row a token, shape (n, inputs).

    Examples
    --------
    >>> import numpy as np
    >>> token_rows(np.array([[1, 2], [3, 4], [5, 6]])).tolist()
    [[1, 3, 5], [2, 4, 6]]
    """
    xp = array_namespace(values)
    flat = xp.reshape(values, (-1, values.shape[-1]))
    rows = xp.empty(flat.shape[::-1], dtype=values.dtype, device=device(values))
    rows[...] = flat.T
    return rows


def from_token_rows(rows: Any, shape: tuple[int, ...]) -> Any:
    """Return rows made by `token_rows` as a state of the given shape (..., n)."""
    return array_namespace(rows).reshape(rows.T, shape)
