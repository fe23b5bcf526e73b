"""The inner loops by name: NumPy always, numba (the extra `fast`) where it is installed and the work is large."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import numpy.typing as npt

from theory.connections import PatternError
from theory.hops import numpy_kernels

if TYPE_CHECKING:
    from theory.connections import IntArray
    from theory.hops.runs import Runs

__all__ = ["Engine", "Kernels", "Stack", "UnionLists", "Words", "choose_kernels"]

Words = npt.NDArray[np.uint64]
Engine = Literal["auto", "numpy", "numba"]
WORTH_COMPILING = 2**29  # connections times words a row: below, importing numba takes longer than it saves


@dataclass(frozen=True, eq=False)
class UnionLists:
    """Rows to be formed as unions: row r is the union of the rows ``entries[indptr[r]:indptr[r + 1]]``.

    `runs` says the same by runs of consecutive rows, where that is worth it.
    """

    indptr: IntArray
    entries: IntArray
    runs: Runs | None = None

    @property
    def rows(self) -> int:
        """How many rows are formed."""
        return int(self.indptr.size - 1)

    @cached_property
    def lengths(self) -> IntArray:
        """Length of every list."""
        return np.diff(self.indptr)

    @cached_property
    def longest_first(self) -> IntArray:
        """The rows by falling length."""
        return np.argsort(-self.lengths, kind="stable")


@dataclass(frozen=True, eq=False)
class Stack:
    """p graphs on n tokens in one CSR: token k has the edges keys[indptr[l, k]:indptr[l, k + 1]] in layer l."""

    indptr: IntArray
    keys: IntArray

    @classmethod
    def of(cls, layers: list[tuple[IntArray, IntArray]]) -> Stack:
        """Stack layers given as (indptr, keys); a single one is shared, not copied."""
        if len(layers) == 1:
            return cls(layers[0][0][None, :], layers[0][1])
        starts = np.cumsum([0] + [keys.size for _, keys in layers[:-1]])
        indptr = np.stack([indptr + start for (indptr, _), start in zip(layers, starts, strict=True)])
        return cls(indptr, np.concatenate([keys for _, keys in layers]))

    @property
    def p(self) -> int:
        """Number of layers."""
        return int(self.indptr.shape[0])

    @property
    def n(self) -> int:
        """Number of tokens."""
        return int(self.indptr.shape[1] - 1)


class Kernels(Protocol):
    """The functions that both engines offer; `numpy_kernels` documents them."""

    name: str
    block_words: int

    def label_sets(
        self, indptr: IntArray, keys: IntArray, labels: IntArray, count: int, /
    ) -> tuple[IntArray, IntArray]:
        """Map every row to its set of labels."""

    def row_sums(self, indptr: IntArray, entries: IntArray, table: Words, /) -> Words:
        """Sum a table over every row."""

    def same_rows(self, indptr: IntArray, entries: IntArray, other: IntArray, /) -> npt.NDArray[np.bool_]:
        """Compare every row with another one."""

    def transpose(self, indptr: IntArray, keys: IntArray, columns: int, /) -> tuple[IntArray, IntArray]:
        """Transpose a CSR."""

    def set_bits(self, state: Words, indptr: IntArray, rows: IntArray, sources: IntArray, /) -> None:
        """Set the bits of the sources."""

    def or_rows(self, old: Words, new: Words, lists: UnionLists, /) -> int:
        """Form unions of rows; where there are runs, `old` is used up."""

    def arrive(self, graph: Stack, sources: IntArray, phase: int, limit: int, /) -> IntArray:
        """Search forwards."""

    def gather(self, graph: Stack, target: int, /) -> IntArray:
        """Search backwards."""


def choose_kernels(engine: Engine, work: float = 0.0) -> Kernels:
    """Return the inner loops of an engine; "auto" takes numba if it is installed and the work is large.

    Raises
    ------
    PatternError
        If the engine is unknown, or "numba" is asked for and missing.
    """
    if engine not in ("auto", "numpy", "numba"):
        raise PatternError(f'no engine {engine!r}: take "auto", "numpy" or "numba"')
    installed = find_spec("numba") is not None
    if engine == "numba" and not installed:
        raise PatternError('engine "numba" needs the extra: pip install "sparseuap[fast]", or take "numpy"')
    if engine == "numba" or (engine == "auto" and installed and work >= WORTH_COMPILING):
        from theory.hops import numba_kernels

        return numba_kernels
    return numpy_kernels
