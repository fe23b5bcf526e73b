"""The error budget of a contextual mapping: how far relaxed ids can be from the exact ones, and what t it takes.

The recursion is in `theory.bounds`, what every layer meets in `constructions.soft_ranges`.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

from constructions.numbers import ProofError
from constructions.relaxation import check_fits
from constructions.soft_ranges import layer_ranges
from theory.bounds import ErrorBudget, recursion
from theory.layer_errors import Relaxation
from theory.probability_maps import Hardmax

if TYPE_CHECKING:
    from constructions.mapping import StagedMapping
    from theory.probability_maps import ProbabilityMap

__all__ = ["READ", "Budgets", "error_bound", "guaranteed_t"]

READ = 0.25
"""Ids this close, in units of delta, are read exactly by the value mapping: its windows are 1 there."""

LARGEST_T = 1e100
LARGEST_BITS = 400  # numbers beyond are no floats, squared


class Budgets:
    """The budgets of one mapping for any rho and t; the ranges are computed once.

    Parameters
    ----------
    mapping
        Paper, merged or relay.
    rounding
        Whether bounds have to hold for float64 runs. Without, they speak of exact real arithmetic, and numbers
        may pass 2^53.

    Raises
    ------
    ProofError
        If float64 cannot hold the numbers of a run.
    """

    def __init__(self, mapping: StagedMapping, *, rounding: bool = True) -> None:
        if rounding:
            check_fits(mapping)
        elif mapping.bound.bit_length() > LARGEST_BITS:
            bits = mapping.bound.bit_length()
            raise ProofError(f"numbers reach {bits} bits in units of delta: no error budget beyond {LARGEST_BITS}")
        self.n, self.delta, self.rounding = mapping.pattern.n, 1 / mapping.K, rounding
        self.layers = tuple(layer_ranges(mapping))

    @cached_property
    def smallest_gap(self) -> float:
        """The least score gap zeta of all heads, tokens and inputs while ids are exact; inf where none compete.

        rho that reach one-hot at ``exact_t(zeta)`` give exact ids from there on.
        """
        return recursion(self.layers, self.n, Relaxation(Hardmax(), 1.0, self.delta, rounding=False)).zeta

    def at(self, rho: ProbabilityMap, t: float) -> ErrorBudget:
        """Return the budget at one temperature."""
        if not 0 < t < math.inf:
            raise ProofError(f"t must be positive and finite, got {t}")
        return recursion(self.layers, self.n, Relaxation(rho, t, self.delta, self.rounding))

    def guaranteed_t(self, rho: ProbabilityMap, accuracy: float = READ) -> float | None:
        """Return a t that guarantees the accuracy, to a relative 1e-6 the least; see `guaranteed_t`."""
        if not accuracy >= 0:
            raise ProofError(f"the accuracy must not be negative, got {accuracy}")
        high = 1.0
        while self.at(rho, high).bound > accuracy:
            high *= 16
            if high > LARGEST_T:
                return None
        low = high / 16
        while self.at(rho, low).bound <= accuracy:
            low, high = low / 16, low
            if low < 1 / LARGEST_T:
                return high
        while high > low * (1 + 1e-6):
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self.at(rho, middle).bound <= accuracy else (middle, high)
        return high


def error_bound(mapping: StagedMapping, rho: ProbabilityMap, t: float, *, rounding: bool = True) -> ErrorBudget:
    """Return the rigorous bound on |relaxed id - id| over all inputs, with the share of every layer.

    It speaks of inputs on the grid, hence of all good inputs: those that quantization's ramps, whatever alpha, do
    not touch.

    Parameters
    ----------
    mapping
        Paper, merged or relay.
    rho, t
        The probability map and its temperature.
    rounding
        Whether the bound has to hold for the float64 run as well; see `Budgets`.

    Raises
    ------
    ProofError
        If float64 cannot hold the numbers of a run, or t is not positive.

    Examples
    --------
    >>> from constructions.network import choose_mapping
    >>> from theory import families
    >>> from theory.probability_maps import parse_map
    >>> mapping = choose_mapping(families.star(4, 1), 1, 2, "merged")
    >>> error_bound(mapping, parse_map("sparsemax"), 8.1).bound
    0.0
    >>> print(error_bound(mapping, parse_map("softmax"), 8.1).why)
    no bound at t = 8.1: before layer 1 (selective shift) the error can pass delta/8
    """
    return Budgets(mapping, rounding=rounding).at(rho, t)


def guaranteed_t(
    mapping: StagedMapping, rho: ProbabilityMap, accuracy: float = READ, *, rounding: bool = True
) -> float | None:
    """Return a t at which the ids are guaranteed to be within `accuracy` delta of the exact ones, for every input.

    The least such t up to a relative 1e-6; None if none below 1e100 is, as for maps without Assumption 2, or where
    the rounding of float64 alone is more than `accuracy`.

    Parameters
    ----------
    mapping, rho, rounding
        As for `error_bound`.
    accuracy
        In units of delta; at 1/4 the value mapping reads every id exactly, 0 asks for exact ids.

    Examples
    --------
    >>> from constructions.network import choose_mapping
    >>> from theory import families
    >>> from theory.probability_maps import parse_map
    >>> mapping = choose_mapping(families.star(4, 1), 1, 2, "relay")
    >>> round(guaranteed_t(mapping, parse_map("softmax")), 1)
    26.6
    """
    return Budgets(mapping, rounding=rounding).guaranteed_t(rho, accuracy)
