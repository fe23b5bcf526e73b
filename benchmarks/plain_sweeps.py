"""The merged network over many inputs by plain means, for comparison: int64, no check for ties, nothing left out.

Every block is evaluated for every token, as it is written: max and min over the attended set, and both thresholds.
Where ids pass 63 bits (s >= 2 in the proof's constants) they wrap around, so the times stand and the ids do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from verify.exhaustive.arrays import form_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from verify.exhaustive.case import SweepCase

    Rows = npt.NDArray[np.int64]

__all__ = ["Plain", "compiled_ids", "looped_sum", "plain"]


@dataclass(frozen=True, eq=False)
class Plain:
    """A merged mapping of one pattern as plain numbers.

    Parameters
    ----------
    case
        The case; its blocks are the inputs' order.
    low
        What the last entries add to z_k, (n, block).
    attended
        A_k of every token.
    windows
        Factor, b and b' of every selective shift, doubled.
    count, base
        s and c.
    """

    case: SweepCase
    low: Rows
    attended: tuple[tuple[int, ...], ...]
    windows: tuple[tuple[int, int, int], ...]
    count: int
    base: int

    def rows(self, blocks: range) -> Rows:
        """Return z_k of all inputs of some blocks, one row a token."""
        entries = self.case.high_entries(np.arange(blocks.start, blocks.stop, dtype=np.int64))
        high = form_rows(self.case.starts, entries, self.case, low=False)
        return np.asarray((high[:, :, None] + self.low[:, None, :]).reshape(len(high), -1))

    def ids(self, values: Rows) -> Rows:
        """Return the ids of inputs given by their z_k, one row a token."""
        rows = [list(row) for row in self.attended]
        for factor, low2, high2 in self.windows:
            new = np.empty_like(values)
            for token, row in enumerate(rows):
                attended, own = values[row], values[token]
                inside = (2 * own > low2) & (2 * own < high2)
                new[token] = own + factor * (attended.max(axis=0) - attended.min(axis=0)) * inside
            values = new
        for _ in range(self.count):
            values = values + self.base * np.stack([values[row].max(axis=0) for row in rows])
        return values

    def sum(self, blocks: range, chunk: int) -> int:
        """Return the sum of all ids of some blocks, `chunk` blocks at a time."""
        total = 0
        for first in range(blocks.start, blocks.stop, chunk):
            total += int(self.ids(self.rows(range(first, min(first + chunk, blocks.stop)))).sum())
        return total


def plain(case: SweepCase) -> Plain:
    """Return a merged case with a single pattern as plain numbers."""
    shifts, maxima = case.path_stages
    (layer,) = case.mapping.pattern.layers
    return Plain(
        case,
        form_rows(case.starts, case.low_entries(), case, low=True),
        tuple(tuple(layer.row(token).tolist()) for token in range(layer.n)),
        tuple((shift.factor, shift.low2, shift.high2) for shift in shifts.shifts),
        maxima.count,
        maxima.factor,
    )


def compiled_ids(numbers: Plain) -> Callable[[Any], Any]:
    """Return `Plain.ids` of PyTorch tensors, through torch.compile."""
    import torch

    def largest(values: Any, row: Sequence[int]) -> Any:
        best = values[row[0]]
        for key in row[1:]:
            best = torch.maximum(best, values[key])
        return best

    def least(values: Any, row: Sequence[int]) -> Any:
        best = values[row[0]]
        for key in row[1:]:
            best = torch.minimum(best, values[key])
        return best

    def ids(values: Any) -> Any:
        for factor, low2, high2 in numbers.windows:
            new = []
            for token, row in enumerate(numbers.attended):
                own = values[token]
                inside = (2 * own > low2) & (2 * own < high2)
                new.append(own + factor * (largest(values, row) - least(values, row)) * inside)
            values = torch.stack(new)
        for _ in range(numbers.count):
            values = values + numbers.base * torch.stack([largest(values, row) for row in numbers.attended])
        return values

    compiled: Callable[[Any], Any] = torch.compile(ids, dynamic=False)
    return compiled


@cache
def looped_sum() -> Callable[..., int]:
    """Return a loop over single inputs, compiled by numba: rows, CSR, windows, s and c to the sum of all ids."""
    import numba

    @numba.njit(nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
    def loop(rows: Rows, indptr: Rows, keys: Rows, windows: Rows, count: int, base: int) -> int:
        n, size = rows.shape
        values, new = np.empty(n, np.int64), np.empty(n, np.int64)
        total = 0
        for i in range(size):
            for token in range(n):
                values[token] = rows[token, i]
            for number in range(windows.shape[0] + count):
                for token in range(n):
                    high = low = values[keys[indptr[token]]]
                    for place in range(indptr[token] + 1, indptr[token + 1]):
                        value = values[keys[place]]
                        high, low = max(high, value), min(low, value)
                    own = values[token]
                    if number >= windows.shape[0]:
                        new[token] = own + base * high
                    else:
                        factor, low2, high2 = windows[number]
                        inside = low2 < 2 * own < high2
                        new[token] = own + factor * (high - low) if inside else own
                values, new = new, values
            for token in range(n):
                total += values[token]
        return total

    found: Callable[..., int] = loop
    return found
