"""The mapping that selective shifts and all-max-shifts make, with ids beyond int64 as numbers in base c."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from constructions.all_max_shift import AllMaxShifts
from constructions.base_c import Digits, all_max_digits, assemble, digits_dtype
from constructions.mapping import StagedMapping
from constructions.selective_shift import SelectiveShifts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from constructions.backends import Backend
    from constructions.numbers import Integers

__all__ = ["ShiftMapping", "pays_in_base_c"]

MOST_DIGITS = 8  # in base c; with more of them, Python integers are cheaper


def pays_in_base_c(stage: AllMaxShifts, backend: Backend) -> bool:
    """Whether numbers in base c are cheaper than Python integers, which only NumPy has."""
    return stage.count <= MOST_DIGITS or backend.name != "numpy"


@dataclass(frozen=True, eq=False)
class ShiftMapping(StagedMapping):
    """The contextual mapping of `paper` and `merged`; see `build_mapping`.

    Parameters
    ----------
    shifted_bound
        Every number of the selective shifts lies in [-shifted_bound, shifted_bound].
    """

    shifted_bound: int

    @property
    def shifts(self) -> SelectiveShifts:
        """The first stage."""
        return self.stage(SelectiveShifts)

    @property
    def all_max(self) -> AllMaxShifts:
        """The second stage."""
        return self.stage(AllMaxShifts)

    @property
    def in_base_c(self) -> bool:
        """Whether the ids pass int64 and are run as numbers in base c."""
        return self.dtype == object and self.all_max.factor > 1

    @property
    def run_dtype(self) -> np.dtype[Any]:
        """The dtype of the selective shifts and of the digits in base c, or of the ids where these fit."""
        return digits_dtype(self.all_max.factor, self.shifted_bound) if self.in_base_c else self.dtype

    def digits(self, grids: npt.ArrayLike) -> Digits:
        """Return the ids in base c, on the mapping's backend: exact in int64 where a digit fits it.

        Raises
        ------
        ProofError
            As a run; or if c < 2, which is no base.

        Examples
        --------
        >>> from constructions.contextual_mapping import build_mapping
        >>> from theory.families import star
        >>> mapping = build_mapping(star(6, 1), 1, 32, "merged")
        >>> numbers = mapping.digits([[3, 1, 4, 1, 5, 9]])
        >>> numbers.digits[0].dtype, mapping.dtype, len(numbers.digits)
        (dtype('int64'), dtype('O'), 3)
        >>> assemble(numbers).tolist() == mapping.ids([[3, 1, 4, 1, 5, 9]]).tolist()
        True
        """
        return self._digits(self.project(grids))

    def run(self, projected: Integers) -> Integers:
        """Return the ids, given u^T H_k in units of delta; beyond int64 put together from their digits.

        Each step costs the digits that there are by then, so all s of them s^2: only where these are few.
        """
        if not (self.in_base_c and pays_in_base_c(self.all_max, self.backend)):
            return super().run(projected)
        found = self._digits(projected)
        return assemble(Digits(tuple(self.backend.fetch(digit) for digit in found.digits), found.base))

    def _digits(self, projected: Integers) -> Digits:
        dtype = digits_dtype(self.all_max.factor, self.shifted_bound)
        values = self.backend.put(projected.astype(dtype, copy=False))
        return all_max_digits(self.all_max, self.shifts.apply(values, self.pattern), self.pattern)
