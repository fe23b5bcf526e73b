"""The user's own map: any callable from m scores to m weights, taken at its results."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import device, is_torch_array

from theory.connections import PatternError
from theory.probability_maps.along import floating
from theory.probability_maps.base import ProbabilityMap
from theory.readers.guard import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Vector = npt.NDArray[np.float64]

__all__ = ["UserMap", "import_map"]


@dataclass(frozen=True)
class UserMap:
    """A callable from m scores to m weights, of which nothing is known but what it returns.

    Parameters
    ----------
    name
        How the user wrote it.
    function
        Maps a float64 vector to one of the same length. Where it refuses NumPy arrays and its module has imported
        PyTorch, it gets tensors.

    Examples
    --------
    >>> UserMap("even", lambda v: np.ones(v.size) / v.size)(np.zeros((2, 4))).tolist()
    [[0.25, 0.25, 0.25, 0.25], [0.25, 0.25, 0.25, 0.25]]
    """

    name: str
    function: Callable[[Any], Any]

    definition = "the user's own"
    source = "the user's own"
    proved = False

    def one(self, scores: Vector) -> Vector:
        """Return what the callable makes of one vector of scores, as float64; its values are not looked at.

        Raises
        ------
        PatternError
            If it raises, changes the shape, or returns no real numbers of double precision.
        """
        try:
            with np.errstate(all="ignore"):
                given = np.asarray(self._called(scores.copy()))
        except Exception as error:
            raise PatternError(
                f"map {self.name} failed on the scores {shown(scores)}: {type(error).__name__}: {one_line(error)}"
            ) from error
        if given.shape != scores.shape:
            raise PatternError(f"map {self.name} returned shape {given.shape} for scores of shape {scores.shape}")
        if given.dtype.kind not in "fiub" or (given.dtype.kind == "f" and given.dtype.itemsize < scores.itemsize):
            raise PatternError(f"map {self.name} returned {given.dtype} for float64 scores: keep their precision")
        return given.astype(np.float64)

    def _called(self, scores: Vector) -> Any:
        try:
            return self.function(scores)
        except (AttributeError, TypeError):
            torch = sys.modules.get("torch")
            if torch is None:
                raise
            return self.function(torch.from_numpy(scores))

    def __call__(self, scores: Any, *, axis: int = -1) -> Any:
        """Return the weights along one axis, one vector at a time, in the library, shape and dtype of the scores.

        Raises
        ------
        PatternError
            If the callable fails, or returns something other than finite real numbers.
        """
        xp, array = floating(scores)
        here = np.asarray(array.cpu() if is_torch_array(array) else array, dtype=np.float64)
        return xp.asarray(np.apply_along_axis(self._finite, axis, here), dtype=array.dtype, device=device(array))

    def _finite(self, scores: Vector) -> Vector:
        weights = self.one(scores)
        if not np.isfinite(weights).all():
            raise PatternError(f"map {self.name} returned {shown(weights)} for the scores {shown(scores)}")
        return weights

    def sufficient_t(self, zeta: float, eta: float, m: int) -> None:
        """Return None: not known; `theory.assumption_2.check_assumption_2` searches for one."""

    def tight_t(self, zeta: float, eta: float, m: int) -> None:
        """Return None: not known."""

    def exact_t(self, zeta: float) -> None:
        """Return None: not known."""

    def lost_mass(self, t: float, zeta: float, m: int) -> float:
        """Refuse: nothing is proved of this map."""
        raise PatternError(
            f"nothing is proved of the mass that {self.name} loses: give an object with lost_mass(t, zeta, m),"
            " as in theory.probability_maps"
        )


def shown(vector: Vector, most: int = 6) -> str:
    """Write the first entries of a vector."""
    entries = ", ".join(f"{entry:.6g}" for entry in vector[:most])
    return f"[{entries}{', ...' if vector.size > most else ''}]"


def import_map(spec: str) -> ProbabilityMap:
    """Import ``module:callable``, from the current directory too.

    Raises
    ------
    PatternError
        If there is no such module or callable.
    """
    from theory.readers.modules import module_object

    try:
        with module_object(spec) as target:
            pass
    except PatternError as error:
        raise PatternError(f"map {one_line(spec, 80)}: {error}") from error
    if not isinstance(target, type) and isinstance(target, ProbabilityMap):
        return target
    if not callable(target):
        raise PatternError(f"map {spec} is a {type(target).__name__}, not a callable from scores to weights")
    return UserMap(spec, target)
