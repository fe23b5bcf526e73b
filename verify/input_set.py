"""What every set of quantized inputs has in common, and how to find the input that breaks a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from constructions.cells import cell_count
from constructions.numbers import ProofError
from theory.wording import name_grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from theory.patterns import IntArray

__all__ = ["Bools", "InputSet", "first_raising", "is_exhaustive"]

Bools = npt.NDArray[np.bool_]


class InputSet(Protocol):
    """Distinct grids of shape (d, n) with entries 0..K-1, in a fixed order."""

    @property
    def d(self) -> int:
        """Embedding size."""
        ...

    @property
    def n(self) -> int:
        """Number of tokens."""
        ...

    @property
    def K(self) -> int:  # noqa: N802 - the paper's 1/delta
        """Grid levels, 1/delta."""
        ...

    @property
    def count(self) -> int:
        """Number of inputs."""
        ...

    @property
    def description(self) -> str:
        """What they are, in words."""
        ...

    def chunks(self) -> Iterator[IntArray]:
        """Iterate the grids in order, shape (m, d, n)."""
        ...

    def first_on(self, reach: Bools, start: int, grids: IntArray) -> Bools:
        """Return for every input of the chunk and every token k whether no earlier input agrees on reach(k).

        Parameters
        ----------
        reach
            ``reach[k, j]``: token j reaches token k.
        start, grids
            The chunk and the number of its first input.
        """
        ...


def is_exhaustive(inputs: InputSet) -> bool:
    """Return whether the set holds all K^{dn} inputs."""
    return inputs.count == cell_count(inputs.d, inputs.n, inputs.K)


def first_raising(function: Callable[[IntArray], object], grids: IntArray) -> tuple[IntArray, str]:
    """Return the first grid on which a function of grids raises ProofError, and the message.

    Parameters
    ----------
    function
        Works input by input, and raises on all of `grids` together.
    """
    while len(grids) > 1:
        half = grids[: len(grids) // 2]
        try:
            function(half)
        except ProofError:
            grids = half
        else:
            grids = grids[len(half) :]
    try:
        function(grids)
    except ProofError as error:
        return grids[0].copy(), str(error)
    raise ProofError(f"input {name_grid(grids[0])} breaks off in company only: the mapping mixes inputs")
