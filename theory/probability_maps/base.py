"""What a probability map is: rho of Assumption 2, a column of scores in, a column of weights out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from theory.probability_maps.groups import Along, Groups, InRows, floating

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["GroupMap", "ProbabilityMap"]


@runtime_checkable
class ProbabilityMap(Protocol):
    """A map rho from m scores to m non-negative weights of sum 1, with what is known of Assumption 2.

    The t of the methods are those of Assumption 2 (paper, §3.2): for every v whose leader leads by at least zeta,
    rho[t v] gives the leader at least 1 - eta.
    """

    @property
    def name(self) -> str:
        """What `parse_map` reads."""

    @property
    def definition(self) -> str:
        """The formula."""

    @property
    def source(self) -> str:
        """Where it comes from."""

    @property
    def proved(self) -> bool:
        """Whether the formulas for t are proved here; False: the methods below know nothing and return None."""

    def __call__(self, scores: Any, *, axis: int = -1) -> Any:
        """Return the weights of the scores along one axis of an Array API array, in its shape and dtype."""

    def segmented(self, scores: npt.NDArray[np.float64], indptr: npt.NDArray[np.integer[Any]]) -> Any:
        """Return the weights of scores (..., connections) whose row k is ``indptr[k]:indptr[k + 1]`` (NumPy)."""

    def sufficient_t(self, zeta: float, eta: float, m: int) -> float | None:
        """Return a t that keeps the promise for m scores; None: no t does (or none is known, where not proved)."""

    def tight_t(self, zeta: float, eta: float, m: int) -> float | None:
        """Return the smallest t that keeps the promise, 0.0 if every t > 0 does; None: not known, or none does."""

    def exact_t(self, zeta: float) -> float | None:
        """Return a t from which on the result is exactly one-hot; None: it never is."""

    def lost_mass(self, t: float, zeta: float, m: int) -> float:
        """Return the most mass that the others can have at this t, rounded up; 0.0 only if exactly one-hot."""


class GroupMap(ABC):
    """A map that is written once, for the groups of `theory.probability_maps.groups`."""

    proved = True

    @abstractmethod
    def weights(self, scores: Any, groups: Groups) -> Any:
        """Return the weights, each group by itself."""

    def __call__(self, scores: Any, *, axis: int = -1) -> Any:
        """Return the weights of the scores along one axis, in the shape and dtype of the scores.

        Parameters
        ----------
        scores
            An Array API array of real floating dtype; lists and integers are read as float64. Entries of -inf get
            weight 0, finite ones may be as large as 1e300.
        axis
            The axis to normalise over.

        Raises
        ------
        PatternError
            If the scores are no real numbers, or the largest along the axis is NaN or infinite.
        """
        xp, array = floating(scores)
        return self.weights(array, Along(xp, axis))

    def segmented(self, scores: npt.NDArray[np.float64], indptr: npt.NDArray[np.integer[Any]]) -> Any:
        """Return the weights of scores stored row after row, in time proportional to the connections (NumPy).

        Parameters
        ----------
        scores
            Shape (..., connections), float64.
        indptr
            Row k is ``indptr[k]:indptr[k + 1]``, as in `theory.patterns.Connections`; no row is empty.

        Raises
        ------
        PatternError
            If a row is empty, or the largest score of a row is NaN or infinite.
        """
        return self.weights(scores, InRows(indptr))
