"""Score vectors whose leader leads by exactly what Assumption 2 grants, built to make a probability map fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["AdversarialVector", "adversarial_vectors"]

SEED = 0
FAR = 1e3
"""How many leads below the leader is far."""

OFFSET = 1e6
"""The large common offset, in scores."""


@dataclass(frozen=True, eq=False)
class AdversarialVector:
    """One vector of scores v, kept as a shape so that t v can be written down with its lead intact.

    Parameters
    ----------
    kind
        In words.
    leader
        Which entry leads.
    offset
        The leader's score.
    leads
        By how many zeta every entry lies below the leader, at least 1; the leader's own entry is ignored.
    """

    kind: str
    leader: int
    offset: float
    leads: npt.NDArray[np.float64]

    def scaled(self, t: float, zeta: float) -> npt.NDArray[np.float64]:
        """Return t v, rounded so that the leader's lead does not shrink: a failure is the map's own.

        Examples
        --------
        >>> AdversarialVector("one", 0, 0.0, np.array([0.0, 2.0])).scaled(4.0, 0.5).tolist()
        [0.0, -4.0]
        """
        top = t * self.offset
        lead = t * zeta * self.leads
        scores = top - lead
        scores = np.where(top - scores < lead, np.nextafter(scores, -np.inf), scores)
        scores[self.leader] = top
        return scores


def adversarial_vectors(zeta: float, m: int) -> list[AdversarialVector]:
    """Return the vectors that `theory.assumption_2.check_assumption_2` tries, the same at every call.

    Every shape of the competitors (all at the margin, one at the margin and the rest far below, ties among the
    losers, a staircase, random) with every offset (the leader at 0, at zeta with competitors at 0, in between, at
    +-1e6, random); the leader in the first, the last, the middle and a random place.

    Parameters
    ----------
    zeta
        The leader's lead.
    m
        Number of scores, at least 2.
    """
    random = np.random.default_rng(SEED)
    one = np.full(m, FAR)
    one[[0, -1]] = 1.0  # two places: one of them may be the leader's own
    ties = np.where(np.arange(m) % 2 == 0, 1.0, 2.0)
    shapes = {
        "all competitors at the margin": np.ones(m),
        "one competitor (two) at the margin, the rest far below": one,
        "ties among the losers": ties,
        "one close group, one far": np.where(np.arange(m) % 2 == 0, 1.0, FAR),
        "a staircase": 1.0 + (np.arange(m) % 8),
        "random, near": 1.0 + random.exponential(0.1, m),
        "random": 1.0 + random.exponential(3.0, m),
        "random, far": 1.0 + random.pareto(0.5, m).clip(0, 1e6),
    }
    offsets = (0.0, zeta, zeta / 2, OFFSET, -OFFSET, float(random.normal(scale=10 * zeta)))
    places = (0, m - 1, m // 2, int(random.integers(m)))
    vectors = []
    for number, (kind, leads) in enumerate(shapes.items()):
        for turn, offset in enumerate(offsets):
            leader = places[(number + turn) % len(places)]
            vectors.append(AdversarialVector(kind, leader, offset, leads))
    return vectors
