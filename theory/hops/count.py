"""The hop count s of Assumption 1.3: the smallest t with S_k^t = [n] for every token k (paper, §3.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from theory.hops.bounds import Bounds
from theory.hops.clock import Clock
from theory.hops.columns import Columns
from theory.hops.existence import find_phases
from theory.hops.intervals import count_intervals
from theory.hops.kernels import choose_kernels
from theory.hops.powers import first_full
from theory.hops.results import HopCount, Pivot, Unseen
from theory.hops.schedule import Schedule
from theory.verdicts import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from theory.hops.kernels import Engine
    from theory.patterns import IntArray, SparsityPattern

__all__ = ["hop_count"]
