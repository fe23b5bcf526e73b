"""A contextual mapping: from a quantized input to one id a token, by a short list of stages (Lemma 7).

Units: everything is an integer in units of delta = 1/K. ``grids[..., i, k]`` is in 0..K-1, the embedding adds
``step * pos(k)`` to column k (step = K is the paper's E_k = pos(k) 1), and u = (1, K, ..., K^{d-1}).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeVar

import numpy as np

from constructions.backends import NUMPY, Backend
from constructions.cells import check_entries
from constructions.numbers import Integers, ProofError, exact_dtype
from constructions.positional_embedding import embed, project
from constructions.stage import run_fused, run_literal
from theory.read_only import ReadOnly

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from constructions.stage import Stage
    from theory.patterns import IntArray, SparsityPattern

__all__ = ["ContextualMapping", "StagedMapping"]

Kind = TypeVar("Kind")


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
class StagedMapping(ReadOnly):
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
    backend
        Where `ids` runs; ids are handed back as NumPy arrays. See `on`.
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
    backend: Backend = field(default=NUMPY, kw_only=True)

    def on(self, backend: Backend) -> Self:
        """Return the same mapping, run on another backend.

        Raises
        ------
        ProofError
            If its numbers pass int64 on the way: only NumPy holds Python integers.
        """
        if backend.name != "numpy" and self.run_dtype != np.int64:
            bits = self.bound.bit_length()
            raise ProofError(
                f"numbers reach {bits} bits, {backend.name} holds 63: leave --backend out, or take a coarser grid"
            )
        return replace(self, backend=backend)

    @property
    def run_dtype(self) -> np.dtype[Any]:
        """The dtype in which the stages run: that of the ids, unless these are put together from digits."""
        return self.dtype

    @property
    def dtype(self) -> np.dtype[Any]:
        """int64 where `bound` fits, Python integers beyond."""
        return exact_dtype(self.bound)

    def stage(self, kind: type[Kind]) -> Kind:
        """Return the first stage of a kind.

        Raises
        ------
        ProofError
            If there is none.
        """
        for stage in self.stages:
            if isinstance(stage, kind):
                return stage
        raise ProofError(f"the mapping has no stage of {kind.__name__}")

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
        return self.project(grids).astype(self.dtype, copy=False)

    def project(self, grids: npt.ArrayLike) -> Integers:
        """Return what `initial` does, in the least dtype that holds it: int64 where that is enough."""
        array = check_entries(grids, self.d, self.pattern.n, self.K)
        return self.enter(embed(array, self.positions, self.step))

    def enter(self, quantized: IntArray) -> Integers:
        """Return u^T H_k of a quantized input H, embedding included and in units of delta; shape (..., n)."""
        return project(quantized, self.K)

    def ids(self, grids: npt.ArrayLike) -> Integers:
        """Return the ids q(H), shape (..., n), every stage applied at once on the mapping's backend."""
        return self.run(self.project(grids))

    def run(self, projected: Integers) -> Integers:
        """Return the ids, in `dtype`, given u^T H_k in units of delta, shape (..., n), in any exact dtype."""
        values = self.backend.put(projected.astype(self.dtype, copy=False))
        return self.backend.fetch(run_fused(list(self.stages), values, self.pattern))

    def literal_ids(self, grids: npt.ArrayLike) -> Integers:
        """Return the ids with the elementary blocks applied one by one; slow, equal to `ids` bit for bit."""
        values = self.initial(grids)
        for stage in self.stages:
            values = run_literal(stage, values, self.pattern)
        return values
