"""One input's way through the layers of a contextual mapping, for the figures that show layer after layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from constructions.all_max_shift import AllMaxShifts
from constructions.numbers import ProofError

if TYPE_CHECKING:
    import numpy.typing as npt

    from constructions.blocks import AttentionBlock, FeedForwardBlock
    from constructions.mapping import StagedMapping

__all__ = ["Step", "all_max_shifts", "one_input", "trace"]


@dataclass(frozen=True)
class Step:
    """One elementary block, and u^T Z of every token before and after it, in units of delta (Python integers)."""

    stage: str
    block: AttentionBlock | FeedForwardBlock
    before: tuple[int, ...]
    after: tuple[int, ...]


def one_input(mapping: StagedMapping, grid: npt.ArrayLike) -> npt.NDArray[np.integer]:
    """Return the input as an integer array of shape (d, n).

    Raises
    ------
    ProofError
        If it is of another shape.
    """
    entries = np.asarray(grid)
    if entries.shape != (mapping.d, mapping.pattern.n):
        shape = (mapping.d, mapping.pattern.n)
        raise ProofError(f"one input of shape {shape} (d, n) is shown, got {entries.shape}")
    return entries


def trace(mapping: StagedMapping, grid: npt.ArrayLike, most: int | None = None) -> list[Step]:
    """Apply the blocks one by one, exactly as the paper states them.

    Parameters
    ----------
    grid
        One input of shape (d, n), entries in units of delta.
    most
        Blocks after which to stop; all of them when not given.

    Examples
    --------
    >>> from constructions.contextual_mapping import build_mapping
    >>> from theory.families import parse_family
    >>> steps = trace(build_mapping(parse_family("dense:n=2"), 1, 2, gamma=[0, 1], s=1), [[0, 1]])
    >>> [step.after for step in steps]
    [(2, 1), (2, 3), (98, 99)]
    """
    values = mapping.initial(one_input(mapping, grid))
    steps: list[Step] = []
    for stage in mapping.stages:
        for block in stage.blocks():
            if len(steps) == most:
                return steps
            after = block.apply(values, mapping.pattern)
            steps.append(Step(stage.name, block, _integers(values), _integers(after)))
            values = after
    return steps


def all_max_shifts(mapping: StagedMapping) -> AllMaxShifts:
    """Return the stage of all-max-shifts.

    Raises
    ------
    ProofError
        If the mapping has none: the relay construction needs none.
    """
    for stage in mapping.stages:
        if isinstance(stage, AllMaxShifts):
            return stage
    raise ProofError(f"the {mapping.construction} construction has no all-max-shift: choose paper or merged")


def _integers(values: npt.NDArray[np.generic]) -> tuple[int, ...]:
    return tuple(int(value) for value in values)
