"""Probability maps rho, hardmax's replacements, and the t of Assumption 2 (paper, §3.2, Appendix B).

Examples
--------
>>> import numpy as np
>>> rho = parse_map("entmax:1.5")
>>> t = rho.exact_t(0.25)
>>> rho(t * np.array([0.0, 0.25, -1.0])).tolist()
[0.0, 1.0, 0.0]
"""

from __future__ import annotations

from theory.probability_maps.base import ProbabilityMap
from theory.probability_maps.counter_examples import SquaredNormalisation, TanhCappedSoftmax, Uniform
from theory.probability_maps.outside import UserMap
from theory.probability_maps.registry import MAPS, PARAMETRIC, parse_map, probability_map
from theory.probability_maps.softmax import Softmax, TopKSoftmax
from theory.probability_maps.sparse import Entmax, Hardmax, SparselinGen, Sparsemax

__all__ = [
    "MAPS",
    "PARAMETRIC",
    "Entmax",
    "Hardmax",
    "ProbabilityMap",
    "Softmax",
    "SparselinGen",
    "Sparsemax",
    "SquaredNormalisation",
    "TanhCappedSoftmax",
    "TopKSoftmax",
    "Uniform",
    "UserMap",
    "parse_map",
    "probability_map",
]
