"""What every layer of a contextual mapping meets over all inputs: exact ranges, leads and leaders, by intervals.

One interval a token contains its number for every input. While the windows of a selective shift walk through a
token's interval it is kept in two parts, what has been shifted already and what has not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from constructions.blocks import AffineOnSlot, AllMaxShift, Identity, SelectiveShift
from constructions.numbers import Integers, ProofError
from constructions.positional_embedding import initial_interval
from constructions.selective_shift import SelectiveShifts
from theory.bounds import AffineRanges, AttentionRanges, HeadRanges

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from constructions.blocks import AttentionBlock, FeedForwardBlock
    from constructions.mapping import StagedMapping
    from constructions.stage import Stage
    from theory.patterns import IntArray, SparsityPattern

    Floats = npt.NDArray[np.float64]

__all__ = ["layer_ranges"]
