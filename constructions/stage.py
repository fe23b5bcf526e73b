"""The contract of a stage: a run of like blocks that knows its number, lists them, and applies itself at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructions.blocks import AttentionBlock, FeedForwardBlock
    from constructions.numbers import Integers
    from theory.patterns import SparsityPattern

__all__ = ["Stage", "run_fused", "run_literal"]


class Stage(Protocol):
    """A run of blocks on the state ``values[..., k]`` = u^T Z_k in units of delta.

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

    def apply(self, values: Integers, pattern: SparsityPattern) -> Integers:
        """Apply all blocks at once."""
        ...


def run_literal(stage: Stage, values: Integers, pattern: SparsityPattern) -> Integers:
    """Apply the elementary blocks of a stage one by one, exactly as the paper states them."""
    for block in stage.blocks():
        values = block.apply(values, pattern)
    return values


def run_fused(stages: list[Stage], values: Integers, pattern: SparsityPattern) -> Integers:
    """Apply a list of stages, each at once."""
    for stage in stages:
        values = stage.apply(values, pattern)
    return values
