"""Step 3 of the proof as something one can run: rho[t .] for hardmax, ReLUs for the pieces (Lemma 4, Appendix F).

`soften` turns a contextual mapping or a whole network, of any construction, into a Transformer with softmax (or
another map with Assumption 2) and ReLU. Runs are float64, over the connections only, on any array backend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from constructions.network import Network
from constructions.numbers import ProofError
from constructions.soft_mapping import LARGEST_T, MAX_UNITS, RUNAWAY, SoftMapping, check_fits
from constructions.soft_network import SoftNetwork, SoftOutput

if TYPE_CHECKING:
    from constructions.backends import Backend
    from constructions.mapping import StagedMapping
    from theory.probability_maps import ProbabilityMap

__all__ = [
    "LARGEST_T",
    "MAX_UNITS",
    "RUNAWAY",
    "SoftMapping",
    "SoftNetwork",
    "SoftOutput",
    "check_fits",
    "soften",
]


@overload
def soften(
    subject: StagedMapping, rho: ProbabilityMap, t: float, *, backend: Backend | None = None
) -> SoftMapping: ...
@overload
def soften(
    subject: Network, rho: ProbabilityMap, t: float, alpha: float, *, backend: Backend | None = None
) -> SoftNetwork: ...
def soften(
    subject: StagedMapping | Network,
    rho: ProbabilityMap,
    t: float,
    alpha: float | None = None,
    *,
    backend: Backend | None = None,
) -> SoftMapping | SoftNetwork:
    """Put rho[t .] for hardmax and ReLUs for the piecewise linear activations.

    Parameters
    ----------
    subject
        A contextual mapping or a network, of any construction.
    rho
        The probability map.
    t
        The temperature, positive.
    alpha
        For a network: the ramp's share of every cell, in (0, 1). Inputs without a coordinate in a ramp, of measure
        (1 - alpha)^{dn}, are quantized exactly.
    backend
        Where NumPy arrays are run; results come back as NumPy arrays. None takes the mapping's.

    Raises
    ------
    ProofError
        If numbers of the run pass 2^53 units of delta (float64 would not tell ids apart), t is not positive, or
        alpha is missing or out of range.

    Examples
    --------
    >>> from constructions.network import choose_mapping
    >>> from theory import families
    >>> from theory.probability_maps import parse_map
    >>> mapping = choose_mapping(families.star(4, 1), 1, 2, "relay")
    >>> soften(mapping, parse_map("sparsemax"), 8.0).ids([[1, 0, 1, 1]]).tolist()
    [21.0, 37.0, 53.0, 69.0]
    >>> mapping.ids([[1, 0, 1, 1]]).tolist()
    [21, 37, 53, 69]
    """
    if isinstance(subject, Network):
        if alpha is None:
            raise ProofError("a network needs alpha, the share of every cell given to the ramp")
        mapping = subject.mapping
        return SoftNetwork(subject, SoftMapping(mapping, rho, t, backend or mapping.backend), alpha)
    return SoftMapping(subject, rho, t, backend or subject.backend)
