"""A contextual mapping: from a quantized input to one id a token, by a short list of stages (Lemma 7).

Units: everything is an integer in units of delta = 1/K. ``grids[..., i, k]`` is in 0..K-1, the embedding adds
``step * pos(k)`` to column k (step = K is the paper's E_k = pos(k) 1), and u = (1, K, ..., K^{d-1}).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from constructions.cells import check_entries
from constructions.numbers import Integers, exact_dtype
from constructions.positional_embedding import embed, project
from constructions.stage import run_fused, run_literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from constructions.stage import Stage
    from theory.patterns import IntArray, SparsityPattern

__all__ = ["ContextualMapping", "StagedMapping"]


class ContextualMapping(Protocol):
    """What `paper`, `merged` and `relay` have in common, and all that verify needs to know of a mapping."""

    @property
    def pattern(self) -> SparsityPattern:
        """The sparsity pattern whose attention the mapping uses."""
        ...

    @property
    def d(self) -> int:
        """Embedding size: rows of the input."""
        ...

    @property
    def K(self) -> int:  # noqa: N802 - the paper's 1/delta
        """Grid levels, 1/delta."""
        ...

    @property
    def construction(self) -> str:
        """`paper`, `merged` or `relay`."""
        ...

    @property
    def positions(self) -> IntArray:
        """pos(k) of the embedding E_k = pos(k) 1."""
        ...

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages in order."""
        ...

    @property
    def bound(self) -> int:
        """Every number of a run lies in [-bound, bound], in units of delta; known before the run."""
        ...

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of a run, chosen from `bound`."""
        ...

    @property
    def attention_layers(self) -> int:
        """Attention blocks of all stages, identity blocks of the cycle included."""
        ...

    @property
    def feed_forward_layers(self) -> int:
        """Feed-forward layers of all stages."""
        ...

    @property
    def layers_formula(self) -> Mapping[str, int]:
        """Layers by formula, one entry a stage family."""
        ...

    def initial(self, grids: npt.ArrayLike) -> Integers:
        """Return z_k = u^T H_k in units of delta."""
        ...

    def ids(self, grids: npt.ArrayLike) -> Integers:
        """Return the ids q(H), shape (..., n), running fused."""
        ...


@dataclass(frozen=True, eq=False)
class StagedMapping:
    """A contextual mapping given by its stages.

    Parameters
    ----------
    pattern, d, K
        Sparsity pattern, embedding size and grid levels 1/delta.
    construction
        `paper`, `merged` or `relay`.
    positions
        pos(k), one a token.
    stages
        In order.
    bound
        Every number of a run lies in [-bound, bound], in units of delta.
    layers_formula
        Layers by formula, one entry a stage family.
    step
        What the embedding adds to every entry of column k is ``step * pos(k)``; K unless experimenting.
    """

    pattern: SparsityPattern
    d: int
    K: int
    construction: str
    positions: IntArray
    stages: tuple[Stage, ...]
    bound: int
    layers_formula: Mapping[str, int]
    step: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """int64 where `bound` fits, Python integers beyond."""
        return exact_dtype(self.bound)

    @property
    def attention_layers(self) -> int:
        """Attention blocks of all stages, identity blocks of the cycle included."""
        return sum(stage.attention_layers for stage in self.stages)

    @property
    def feed_forward_layers(self) -> int:
        """Feed-forward layers of all stages."""
        return sum(stage.feed_forward_layers for stage in self.stages)

    def initial(self, grids: npt.ArrayLike) -> Integers:
        """Return z_k = sum_i K^i (grid[i, k] + step pos(k)), shape (..., n).

        Raises
        ------
        ProofError
            If `grids` is not an integer array of shape (..., d, n) with entries in 0..K-1.
        """
        array = check_entries(grids, self.d, self.pattern.n, self.K)
        return self.enter(embed(array, self.positions, self.step))

    def enter(self, quantized: IntArray) -> Integers:
        """Return u^T H_k of a quantized input H, embedding included and in units of delta; shape (..., n)."""
        return project(quantized, self.K).astype(self.dtype, copy=False)

    def ids(self, grids: npt.ArrayLike) -> Integers:
        """Return the ids q(H), shape (..., n), every stage applied at once."""
        return run_fused(list(self.stages), self.initial(grids), self.pattern)

    def literal_ids(self, grids: npt.ArrayLike) -> Integers:
        """Return the ids with the elementary blocks applied one by one; slow, equal to `ids` bit for bit."""
        values = self.initial(grids)
        for stage in self.stages:
            values = run_literal(stage, values, self.pattern)
        return values
