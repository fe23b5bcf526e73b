"""A phase of the relay construction as a stage: absorb steps one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from constructions.numbers import ProofError
from constructions.relay_absorb import FEED_FORWARD_LAYERS
from constructions.stage import from_token_rows, token_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from constructions.blocks import AttentionBlock, FeedForwardBlock
    from constructions.relay_absorb import Absorb
    from theory.patterns import SparsityPattern

__all__ = ["RelayStage", "check_attended"]


@dataclass(frozen=True, eq=False)
class RelayStage:
    """A phase of the relay construction: absorb steps one after another.

    Parameters
    ----------
    name
        `upstream`, `gather`, `release` or `broadcast`.
    steps
        The steps in order.
    pattern
        The pattern it was built for; every step takes one whole cycle of its p patterns.
    """

    name: str
    steps: tuple[Absorb, ...]
    pattern: SparsityPattern

    @property
    def attention_layers(self) -> int:
        """One cycle of p a step: a selective shift and p - 1 identity blocks."""
        return self.pattern.p * len(self.steps)

    @property
    def feed_forward_layers(self) -> int:
        """Four a step."""
        return FEED_FORWARD_LAYERS * len(self.steps)

    def blocks(self) -> Iterator[AttentionBlock | FeedForwardBlock]:
        """Iterate the layers of all steps in order."""
        for step in self.steps:
            yield from step.blocks(self.pattern.p)

    def apply(self, values: Any, pattern: SparsityPattern) -> Any:
        """Apply all steps at once, touching two tokens a step; shape, dtype, backend and device as `values`.

        Raises
        ------
        ProofError
            If some query does not attend to itself and its key in `pattern`, or a token is outside its slot.
        """
        if pattern is not self.pattern:
            check_attended(self.steps, pattern)
        rows = token_rows(values)
        for step in self.steps:
            step.fuse(rows)
        return from_token_rows(rows, values.shape)


def check_attended(steps: Sequence[Absorb], pattern: SparsityPattern) -> None:
    """Check that every step's query attends to itself and to the key, so that they are psi's min and max.

    Raises
    ------
    ProofError
        Naming the first query that does not.
    """
    used, queries, keys = np.array([(s.layer, s.query, s.key) for s in steps], dtype=np.int64).reshape(-1, 3).T
    for number, layer in enumerate(pattern.layers):
        here = used == number
        for key in (keys[here], queries[here]):
            missing = np.flatnonzero(~layer.contains(queries[here], key))
            if missing.size:
                query, target = int(queries[here][missing[0]]), int(key[missing[0]])
                raise ProofError(f"token {query} does not attend to token {target} in pattern {number}")
