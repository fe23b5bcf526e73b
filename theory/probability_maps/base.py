"""What a probability map is: rho of Assumption 2, a column of scores in, a column of weights out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol, runtime_checkable

from theory.probability_maps.along import Along, floating

__all__ = ["GroupMap", "ProbabilityMap", "ShiftInvariantMap"]


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

    def sufficient_t(self, zeta: float, eta: float, m: int) -> float | None:
        """Return a t that keeps the promise for m scores; None: no t does (or none is known, where not proved)."""

    def tight_t(self, zeta: float, eta: float, m: int) -> float | None:
        """Return the smallest t that keeps the promise, 0.0 if every t > 0 does; None: not known, or none does."""

    def exact_t(self, zeta: float) -> float | None:
        """Return a t from which on the result is exactly one-hot; None: it never is."""

    def lost_mass(self, t: float, zeta: float, m: int) -> float:
        """Return the most mass that the others can have at this t, rounded up; 0.0 only if exactly one-hot."""


class GroupMap(ABC):
    """A map that is written once, for the groups along an axis of any Array API array."""

    proved = True

    @abstractmethod
    def weights(self, scores: Any, along: Along) -> Any:
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


class ShiftInvariantMap(GroupMap):
    """A map that sees of the scores only how far they lie below the largest: rho[v + c 1] = rho[v]."""

    @abstractmethod
    def weights_below(self, below: Any, along: Along) -> Any:
        """Return the weights, each group by itself, given every score minus the largest of its group."""

    def weights(self, scores: Any, along: Along) -> Any:
        """Return the weights, each group by itself."""
        return self.weights_below(scores - along.top(scores), along)

    def mean_below(self, below: Any, values: Any, along: Along) -> Any:
        """Return sum_j p_j x_j of every group, given every score minus the largest, and x."""
        return along.total(self.weights_below(below, along) * values)
