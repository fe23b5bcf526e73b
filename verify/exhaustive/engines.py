"""The engines of a sweep: the array engine on any backend, and the kernel compiled by numba (extra `fast`)."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from constructions.numbers import ProofError
from verify.exhaustive.arrays import ArrayEngine

if TYPE_CHECKING:
    from constructions.backends import Backend
    from verify.exhaustive.case import SweepCase
    from verify.exhaustive.shard_result import ShardResult

__all__ = ["Prefer", "SweepEngine", "choose_sweep_engine"]

Prefer = Literal["auto", "numpy", "numba"]
WORTH_COMPILING = 2**20  # inputs: below, importing numba, and compiling where it is the first time, takes longer


class SweepEngine(Protocol):
    """Sweeps one shard after another; may be pickled, and called from several threads at once."""

    @property
    def name(self) -> str:
        """In words, for reports."""
        ...

    def shard(self, case: SweepCase, number: int) -> ShardResult:
        """Sweep one shard; the same result from every engine."""
        ...


def choose_sweep_engine(case: SweepCase, backend: Backend, prefer: Prefer = "auto") -> SweepEngine:
    """Return the fastest engine that can sweep a case.

    Parameters
    ----------
    case
        The case.
    backend
        Where the array engine's arrays live. The compiled kernel runs on the CPU, in place of NumPy.
    prefer
        `numba` or `numpy` (the array engine on `backend`) to insist; `auto` takes numba from 2^20 inputs on, where
        it is installed, the numbers fit int64, the mapping is `paper` or `merged`, and the backend is NumPy.

    Raises
    ------
    ProofError
        If numba is asked for and cannot be had.

    Examples
    --------
    >>> from constructions.backends import NUMPY
    >>> from constructions.contextual_mapping import build_mapping
    >>> from theory.patterns import SparsityPattern
    >>> from verify.exhaustive.case import sweep_case
    >>> dense = SparsityPattern.from_lists([[0, 1], [0, 1]])
    >>> case = sweep_case(build_mapping(dense, 1, 4, "merged", gamma=[0, 1], s=1))
    >>> engine = choose_sweep_engine(case, NUMPY, "numpy")
    >>> engine.name, engine.shard(case, 0).inputs
    ('arrays (numpy, cpu)', 16)
    """
    if prefer not in ("auto", "numpy", "numba"):
        raise ProofError(f"no sweep engine {prefer!r}: choose auto, numpy or numba")
    lacking = _lacking(case, backend)
    if prefer == "numpy" or (prefer == "auto" and (lacking or case.count < WORTH_COMPILING)):
        return ArrayEngine(backend)
    if lacking:
        raise ProofError(f"the numba kernel {lacking}")
    from verify.exhaustive.kernel_engine import KernelEngine

    return KernelEngine()


def _lacking(case: SweepCase, backend: Backend) -> str | None:
    """Return why the compiled kernel cannot sweep a case, or None."""
    if find_spec("numba") is None:
        return 'needs numba: pip install "sparseuap[fast]"'
    if backend.name != "numpy":
        return f"runs beside NumPy, not {backend.name}"
    if case.mapping.construction == "relay":
        return "knows paper and merged, not relay"
    if case.dtype != np.int64:
        return "computes in int64, and this case has larger numbers"
    return None
