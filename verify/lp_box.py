"""Any box [a, b)^{d x n} as the domain: it is carried to the unit cube, on which networks are built."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from constructions.numbers import ProofError
from constructions.targets import Target
from theory.checks import real

if TYPE_CHECKING:
    from constructions.targets import Floats

__all__ = ["UNIT_BOX", "check_box", "check_distances", "log_volume", "on_box"]

UNIT_BOX = (0.0, 1.0)
MOST_DIGITS = 200  # of a distance on the box, before or after the point: float64 ends at 308


def check_box(box: tuple[float, float]) -> tuple[float, float]:
    """Return the box as floats.

    Raises
    ------
    ProofError
        Unless these are two ends a < b, both finite.
    """
    if not isinstance(box, (tuple, list)) or len(box) != 2:
        raise ProofError(f"the box has two ends a, b, got {box!r}")
    a, b = (real("an end of the box", end) for end in box)
    if not (-math.inf < a < b < math.inf and b - a < math.inf):
        raise ProofError(f"the box must be a,b with a < b, both finite, got {a:g},{b:g}")
    return a, b


def check_distances(coordinates: int, p: float, box: tuple[float, float]) -> None:
    """Refuse a box on which distances would overflow, or be taken for 0.

    Raises
    ------
    ProofError
        If (b - a)^{dn/p}, times a coordinate or times b - a, leaves 1e-200 to 1e200.
    """
    a, b = check_box(box)
    scale = log_volume(coordinates, box) / p
    for length in (b - a, max(abs(a), abs(b))):
        if abs(scale + math.log(length)) > MOST_DIGITS * math.log(10):
            raise ProofError(
                f"distances on the box {a:g},{b:g} leave float64's range: its side {b - a:g} counts"
                f" {coordinates / p:g} times (d n / p): choose a box nearer to 0,1"
            )


@dataclass(frozen=True)
class Stretched:
    """Y -> f(a + (b - a) Y); no closure, so that it can be pickled."""

    target: Target
    a: float
    b: float

    def __call__(self, points: Floats) -> Floats:
        """Return f at the points of the box that belong to points of the unit cube."""
        return self.target(self.a + (self.b - self.a) * points)


def on_box(target: Target, box: tuple[float, float]) -> Target:
    """Return Y -> f(a + (b - a) Y): f on the box, carried to the unit cube on which networks are built.

    Examples
    --------
    >>> import numpy as np
    >>> from constructions.targets import TARGETS
    >>> on_box(TARGETS["identity"], (-1.0, 1.0))(np.array([[0.0, 0.5]])).tolist()
    [[-1.0, 0.0]]
    """
    a, b = check_box(box)
    if (a, b) == UNIT_BOX:
        return target
    return Target(target.name, Stretched(target, a, b), f"{target.meaning}, on [{a:g}, {b:g})")


def log_volume(coordinates: int, box: tuple[float, float]) -> float:
    """Return log (b - a)^{dn}: what the p-th power of a distance on the unit cube is to be multiplied by."""
    return coordinates * math.log(box[1] - box[0])
