"""Does output k of a target depend on reach(k) only? No network with the pattern can do more (reach theorem)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from constructions.cells import cell_count, cells
from theory.graph import reach_of, strong_components
from theory.read_only import ReadOnly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructions.targets import Floats, Target
    from theory.patterns import IntArray, SparsityPattern

__all__ = ["Dependence", "dependence_violation", "reach_matrix"]

EXHAUSTIVE = 2**16
CHUNK = 2**12
ROUNDING = 1e-9  # a difference of the target's float output below this is no dependence


@dataclass(frozen=True, eq=False)
class Dependence(ReadOnly):
    """A witness: two grids that differ in one column outside reach(token), and outputs at the token that differ.

    Parameters
    ----------
    token
        The token k.
    first, second
        Grids of shape (d, n), in units of delta.
    outputs
        Column k of f at either.
    """

    token: int
    first: IntArray
    second: IntArray
    outputs: tuple[Floats, Floats]

    @property
    def why(self) -> str:
        """One sentence; tokens from 0."""
        changed = int(np.flatnonzero((self.first != self.second).any(axis=0))[0])
        return f"output {self.token} depends on token {changed}, which cannot reach it"


def reach_matrix(pattern: SparsityPattern) -> npt.NDArray[np.bool_]:
    """Return ``reach[k, j]``: token j has a directed path to token k in the union digraph, or is k; n^2 bytes.

    One search a strong component, whose tokens share their reach.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> reach_matrix(SparsityPattern.from_lists([[0], [0, 1]])).tolist()
    [[True, False], [True, True]]
    """
    components = strong_components(pattern.union)
    if components.count == 1:
        return np.ones((pattern.n, pattern.n), dtype=bool)
    first = np.unique(components.labels, return_index=True)[1]
    return np.array([reach_of(pattern.union, int(token)) for token in first])[components.labels]


def dependence_violation(
    target: Target,
    reach: npt.NDArray[np.bool_],
    d: int,
    levels: int,
    *,
    samples: int = 2**12,
    seed: int = 0,
) -> Dependence | None:
    """Return a witness that some output k depends on a token outside reach(k), or None.

    Every grid is compared with the one that has 0 in the columns outside reach(k): if these agree for all
    K^{dn} grids, output k is a function of reach(k). Beyond 2^16 grids, `samples` random ones are compared
    with 0 and with another random filling; None then means that no violation was found.

    Parameters
    ----------
    reach
        ``reach[k, j]``: token j reaches token k.

    Examples
    --------
    >>> from constructions.targets import TARGETS
    >>> reach = np.array([[True, False], [True, True]])
    >>> print(dependence_violation(TARGETS["causal-mean"], reach, 1, 3))
    None
    >>> dependence_violation(TARGETS["mean"], reach, 1, 3).why
    'output 0 depends on token 1, which cannot reach it'
    """
    for row in np.unique(reach[~reach.all(axis=1)], axis=0):
        tokens = np.flatnonzero((reach == row).all(axis=1))
        for first, second in _pairs(d, row, levels, samples, seed):
            left, right = (target(grids / levels)[..., tokens] for grids in (first, second))
            scale = np.maximum(1, np.maximum(np.abs(left), np.abs(right)))
            differs = np.abs(left - right) > ROUNDING * scale
            if differs.any():
                cell, _, column = np.argwhere(differs)[0].tolist()
                return _sharpest(target, int(tokens[column]), first[cell], second[cell], levels)
    return None


def _sharpest(target: Target, token: int, first: IntArray, second: IntArray, levels: int) -> Dependence:
    """Go from one grid to the other column by column and return the step that changes the output most."""
    chain = [first]
    for column in np.flatnonzero((first != second).any(axis=0)):
        chain.append(chain[-1].copy())
        chain[-1][:, column] = second[:, column]
    grids = np.stack(chain)
    outputs = target(grids / levels)[..., token]
    step = int(np.argmax(np.abs(np.diff(outputs, axis=0)).max(axis=-1)))
    return Dependence(token, grids[step], grids[step + 1], (outputs[step], outputs[step + 1]))


def _pairs(
    d: int, row: npt.NDArray[np.bool_], levels: int, samples: int, seed: int
) -> Iterator[tuple[IntArray, IntArray]]:
    """Iterate chunks of pairs of grids that agree on the tokens of `row`."""
    n = row.size
    count = cell_count(d, n, levels)
    if count <= EXHAUSTIVE:
        for start in range(0, count, CHUNK):
            grids = cells(d, n, levels, start, start + CHUNK)
            yield grids, np.where(row, grids, 0)
        return
    rng = np.random.default_rng(seed)
    for start in range(0, samples, CHUNK):
        shape = (min(CHUNK, samples - start), d, n)
        grids, other = (rng.integers(levels, size=shape) for _ in range(2))
        yield grids, np.where(row, grids, 0)
        yield grids, np.where(row, grids, other)
