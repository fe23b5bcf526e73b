"""One run of a contextual mapping on a chunk of inputs, with what the statements of the proof speak of."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from constructions.all_max_shift import AllMaxShifts
from constructions.backends import NUMPY
from constructions.mapping import StagedMapping
from constructions.numbers import Integers, ProofError
from constructions.selective_shift import SelectiveShifts

if TYPE_CHECKING:
    from constructions.network import Network
    from constructions.stage import Stage
    from theory.patterns import IntArray

    Subject = StagedMapping | Network

__all__ = ["Trace", "all_max_shifts", "mapping_of", "path_of", "shift_bound", "shifts"]


@dataclass(frozen=True, eq=False)
class Trace:
    """A run; every stage is run when it is asked for, and once. Numbers in units of delta, shape (m, n).

    Parameters
    ----------
    subject
        A contextual mapping, or a network with one.
    grids
        Inputs, shape (m, d, n).
    """

    subject: Subject
    grids: IntArray

    @property
    def mapping(self) -> StagedMapping:
        """The contextual mapping."""
        return mapping_of(self.subject)

    @property
    def network(self) -> Network:
        """The network.

        Raises
        ------
        ProofError
            If the subject is a mapping alone.
        """
        if isinstance(self.subject, StagedMapping):
            raise ProofError("a contextual mapping alone is no network")
        return self.subject

    @cached_property
    def z(self) -> Integers:
        """z_k = u^T H_k."""
        return self.mapping.initial(self.grids)

    @cached_property
    def shifted(self) -> Integers:
        """z~_k: u^T of column k after the selective shifts."""
        return self._after(shifts(self.mapping), self.z)

    @cached_property
    def q(self) -> Integers:
        """The ids."""
        if self.mapping.construction == "relay":
            return self.mapping.ids(self.grids)
        return self._after(all_max_shifts(self.mapping), self.shifted)

    def _after(self, stage: Stage, values: Integers) -> Integers:
        """Apply a stage on the mapping's backend; Python integers live in NumPy only."""
        backend = NUMPY if values.dtype == object else self.mapping.backend
        return backend.fetch(stage.apply(backend.put(values), self.mapping.pattern))

    @cached_property
    def path(self) -> IntArray:
        """gamma(1), ..., gamma(n)."""
        return path_of(self.mapping)

    @property
    def last(self) -> int:
        """gamma(n)."""
        return int(self.path[-1])

    @property
    def leader(self) -> Integers:
        """z~_gamma(n), shape (m, 1)."""
        return self.shifted[:, self.last : self.last + 1]


def mapping_of(subject: Subject) -> StagedMapping:
    """Return the contextual mapping of a network, or the mapping itself."""
    return subject if isinstance(subject, StagedMapping) else subject.mapping


def path_of(mapping: StagedMapping) -> IntArray:
    """Return gamma(1), ..., gamma(n), read from the embedding: gamma(1) has the greatest position (eq. 7)."""
    order = np.argsort(mapping.positions, kind="stable")
    return np.concatenate((order[-1:], order[:-1]))


def shifts(mapping: StagedMapping) -> SelectiveShifts:
    """Return the stage of the selective shifts."""
    return mapping.stage(SelectiveShifts)


def all_max_shifts(mapping: StagedMapping) -> AllMaxShifts:
    """Return the stage of the all-max-shifts."""
    return mapping.stage(AllMaxShifts)


def shift_bound(mapping: StagedMapping) -> int:
    """Return n delta^{-nd} in units of delta: what every z~_k stays below (eq. 10)."""
    return int(mapping.pattern.n * mapping.K ** (mapping.pattern.n * mapping.d + 1))
