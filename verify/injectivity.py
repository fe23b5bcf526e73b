"""Are many integers pairwise distinct, and how close do two of them come? Exactly, in memory that is set before.

One pass over the numbers sorts them in memory. Where they do not fit, a pass keeps the least of those not yet
compared, as many as fit: whenever it holds too many, it drops the greater half and remembers where it cut.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from constructions.numbers import Integers, ProofError, exact_dtype

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Comparison", "as_integers", "compare_all", "smallest_step"]

LEAST_HELD = 1024  # numbers held however small the limit


@dataclass(frozen=True)
class Comparison:
    """All of the numbers against all others.

    Parameters
    ----------
    repeated
        A number that occurs twice, or None.
    gap
        The smallest distance between any two; 0 if one is repeated, None if there are fewer than two.
    numbers
        How many there were.
    passes
        Number of passes; 1 when all were sorted in memory.
    """

    repeated: int | None
    gap: int | None
    numbers: int
    passes: int

    @property
    def method(self) -> str:
        """How they were compared, in words."""
        return "sorted in memory" if self.passes == 1 else f"{self.passes} passes by range"


def compare_all(scan: Callable[[], Iterator[Integers]], memory_limit: int = 2**30) -> Comparison:
    """Compare all numbers of a scan with one another.

    Parameters
    ----------
    scan
        Starts an iteration over one-dimensional arrays, int64 or object (Python integers); the same numbers
        every time.
    memory_limit
        Bytes to hold at once, beside one array of the scan.

    Examples
    --------
    >>> compare_all(lambda: iter([np.array([7, 3]), np.array([12, 8])]))
    Comparison(repeated=None, gap=1, numbers=4, passes=1)
    >>> compare_all(lambda: iter([np.array([7, 3]), np.array([3, 8])])).repeated
    3
    """
    gaps: list[int] = []
    last: int | None = None  # the greatest number of the passes before
    passes = 0
    while True:
        held = _Least(last, memory_limit)
        for values in scan():
            held.take(values)
        ranked = held.sorted()
        passes += 1
        if last is not None and ranked.size:
            gaps.append(int(ranked[0]) - last)
        if ranked.size > 1:
            gaps.append(smallest_step(ranked))
            if gaps[-1] == 0:
                where = int(np.flatnonzero(ranked[1:] == ranked[:-1])[0])
                return Comparison(int(ranked[where]), 0, held.met, passes)
        if held.below is None:
            return Comparison(None, min(gaps, default=None), held.met, passes)
        last = int(ranked[-1])


class _Least:
    """The least numbers above a bound, as many as the memory holds; `below` is where the rest was cut off."""

    def __init__(self, above: int | None, limit: int) -> None:
        self.above, self.limit = above, limit
        self.below: int | None = None
        self.parts: list[Integers] = []
        self.size = self.met = 0
        self.width = 2 * 8  # bytes of a number: one in its part, one in the whole while it is put together

    def take(self, values: Integers) -> None:
        """Keep what lies between the bounds."""
        self.met += values.size
        if self.above is not None:
            values = values[values > self.above]
        if self.below is not None:
            values = values[values < self.below]
        if not values.size:
            return
        if values.dtype == object:
            self.width = max(self.width, 16 + sys.getsizeof(max(values[0], values[-1], key=abs)))
        self.parts.append(values)
        self.size += values.size
        if self.size > LEAST_HELD and self.size * self.width > self.limit:
            self.cut()

    def cut(self) -> None:
        """Drop the greater half; where the least number alone makes more than half, keep it twice."""
        ranked = self.sorted()
        self.below = int(ranked[ranked.size // 2])
        keep = ranked[ranked < self.below]
        if not keep.size:
            keep, self.below = ranked[:2].copy(), self.below + 1
        self.parts, self.size = [keep], keep.size

    def sorted(self) -> Integers:
        """Return what is held, in order."""
        if not self.parts:
            return np.empty(0, dtype=np.int64)
        whole = np.concatenate(self.parts)
        whole.sort()
        self.parts = [whole]
        return whole


def smallest_step(ranked: Integers) -> int:
    """Return the smallest difference of neighbours along the last axis of numbers in order, at least two.

    Examples
    --------
    >>> smallest_step(np.array([[1, 4, 9], [0, 2, 7]]))
    2
    """
    if ranked.dtype == object:
        return int((ranked[..., 1:] - ranked[..., :-1]).min())
    # modulo 2^64, where every difference of two int64 in order is exact
    unsigned = ranked.view(np.uint64)
    return int((unsigned[..., 1:] - unsigned[..., :-1]).min())


def as_integers(given: object, shape: tuple[int, ...]) -> Integers:
    """Return what a mapping returned as int64, or as Python integers where it needs more.

    Raises
    ------
    ProofError
        If it has another shape or holds anything but integers: floats can be equal without being exact.
    """
    values = np.asarray(given)
    if values.shape != shape:
        raise ProofError(f"a contextual mapping must return one id a token: shape {shape}, not {values.shape}")
    if values.dtype.kind in "iu":
        return values.astype(exact_dtype(int(values.max(initial=0))) if values.dtype == np.uint64 else np.int64)
    if values.dtype == object and set(map(type, values.ravel().tolist())) <= {int}:
        return values
    raise ProofError(f"a contextual mapping must return integers, not {values.dtype}: ids are compared exactly")
