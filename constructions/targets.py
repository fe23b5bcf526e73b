"""Target functions f from [0,1)^{d x n} to R^{d x n}, and their values A_G at the cells' lower corners (§4.1).

The piecewise constant fbar takes on the cell G + [0,delta)^{d x n} the float64 value of f at G: that float is A_G
by definition, and it is carried as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from theory.patterns import PatternError
from theory.readers.guard import one_line
from theory.readers.modules import module_object

if TYPE_CHECKING:
    from collections.abc import Callable

    from theory.patterns import IntArray

__all__ = ["TARGETS", "Target", "TargetError", "as_target", "corner_values", "parse_target"]

Floats = npt.NDArray[np.float64]


class TargetError(ValueError):
    """The target is not a function on arrays (..., d, n); the message names it and what it did."""


@dataclass(frozen=True)
class Target:
    """A continuous function f, column k of the output belonging to token k.

    Parameters
    ----------
    name
        How the user wrote it.
    function
        Maps a float64 array (..., d, n) to one of the same shape. Continuity is the user's affair.
    meaning
        One line.
    """

    name: str
    function: Callable[[Floats], Any]
    meaning: str

    def __call__(self, points: Floats) -> Floats:
        """Return f at points of [0,1)^{d x n}, shape (..., d, n).

        Raises
        ------
        TargetError
            If the function raises, changes the shape, or returns something that is no finite real number.
        """
        try:
            given = np.asarray(self.function(points.copy()))
        except Exception as error:
            raise TargetError(f"target {self.name} failed: {type(error).__name__}: {one_line(error)}") from error
        if given.shape != points.shape:
            raise TargetError(f"target {self.name} returned shape {given.shape} for an input of {points.shape}")
        if given.dtype.kind not in "fiub":
            raise TargetError(f"target {self.name} returned {given.dtype}, not real numbers")
        values = given.astype(np.float64)
        if not np.isfinite(values).all():
            where = np.argwhere(~np.isfinite(values))[0]
            point = points[tuple(where[:-2])].tolist()
            raise TargetError(f"target {self.name} returned {values[tuple(where)]} at {one_line(point, 200)}")
        return values


def _softmax_attention(x: Floats) -> Floats:
    """Column k is sum_j softmax_j(x_j . x_k) x_j."""
    scores = np.einsum("...ij,...ik->...jk", x, x)
    weights = np.exp(scores - scores.max(axis=-2, keepdims=True))
    weights /= weights.sum(axis=-2, keepdims=True)
    return np.asarray(np.einsum("...ij,...jk->...ik", x, weights))


def _polynomial(x: Floats) -> Floats:
    """Entry by entry x - 2 x^2 + the mean of x^3 over the tokens."""
    return np.asarray(x - 2 * x**2 + (x**3).mean(axis=-1, keepdims=True))


def _identity(x: Floats) -> Floats:
    return x


def _reverse(x: Floats) -> Floats:
    return x[..., ::-1]


def _shift(x: Floats) -> Floats:
    return np.roll(x, 1, axis=-1)


def _sort(x: Floats) -> Floats:
    return np.sort(x, axis=-1)


def _mean(x: Floats) -> Floats:
    return np.asarray(x.mean(axis=-1, keepdims=True) + 0 * x)


def _causal_mean(x: Floats) -> Floats:
    return np.asarray(np.cumsum(x, axis=-1) / np.arange(1, x.shape[-1] + 1))


TARGETS = {
    target.name: target
    for target in (  # no lambdas: what names a target can be pickled
        Target("identity", _identity, "f(X) = X"),
        Target("reverse", _reverse, "the tokens in reverse order"),
        Target("shift", _shift, "every token moves one place on, the last to the front"),
        Target("sort", _sort, "every row sorted over the tokens"),
        Target("mean", _mean, "every token holds the mean"),
        Target("softmax-attention", _softmax_attention, "token k holds sum_j softmax_j(x_j . x_k) x_j"),
        Target("causal-mean", _causal_mean, "token k holds the mean of tokens 0..k"),
        Target("polynomial", _polynomial, "x - 2 x^2 + the tokens' mean of x^3, entry by entry"),
    )
}
"""The named targets."""


def parse_target(spec: str) -> Target:
    """Return a named target, or ``module:callable`` imported from the current directory or what is installed.

    Raises
    ------
    TargetError
        If there is no such target, module or callable.

    Examples
    --------
    >>> parse_target("reverse")(np.array([[0.0, 0.25, 0.5]])).tolist()
    [[0.5, 0.25, 0.0]]
    """
    if spec in TARGETS:
        return TARGETS[spec]
    if ":" not in spec:
        raise TargetError(f"no target is called {one_line(spec, 80)!r}: {', '.join(TARGETS)} or module:callable")
    try:
        with module_object(spec) as function:
            pass
    except PatternError as error:
        raise TargetError(f"target {one_line(spec, 80)}: {error}") from error
    if not callable(function):
        raise TargetError(f"target {spec} is a {type(function).__name__}, not a callable on arrays (..., d, n)")
    return Target(spec, function, "the user's own")


def as_target(given: Target | str | Callable[[Floats], Any]) -> Target:
    """Return a target that is given itself, by its name (`parse_target`), or as a callable on arrays (..., d, n).

    Raises
    ------
    TargetError
        If it is none of these.

    Examples
    --------
    >>> as_target(lambda x: 2 * x)(np.array([[0.0, 0.25]])).tolist()
    [[0.0, 0.5]]
    """
    if isinstance(given, Target):
        return given
    if isinstance(given, str):
        return parse_target(given)
    if not callable(given) or isinstance(given, type):
        raise TargetError(f"a target is a name, module:callable or a function, not {type(given).__name__}")
    return Target(getattr(given, "__name__", type(given).__name__), given, "the user's own")


def corner_values(
    target: Target, grids: IntArray, levels: int, reach: npt.NDArray[np.bool_] | None = None
) -> Floats:
    """Return A_G = f(G delta) for grids of shape (..., d, n), in units of delta.

    Parameters
    ----------
    reach
        ``reach[k, j]``: token j reaches token k. Where given, column k is evaluated with the tokens outside
        reach(k) at 0, so that cells that agree on reach(k) have the same float even after rounding; f has to
        depend on reach(k) only (`constructions.dependence`).

    Examples
    --------
    >>> corner_values(TARGETS["mean"], np.array([[1, 0]]), 2).tolist()
    [[0.25, 0.25]]
    """
    if reach is None or reach.all():
        return target(grids / levels)
    values = np.empty(grids.shape)
    rows, which = np.unique(reach, axis=0, return_inverse=True)
    for number, row in enumerate(rows):
        tokens = np.flatnonzero(which.ravel() == number)
        values[..., tokens] = target(np.where(row, grids, 0) / levels)[..., tokens]
    return values
