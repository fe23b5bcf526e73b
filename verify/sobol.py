"""Scrambled Sobol points: independent scramblings of one net, each with an estimate of its own (Owen 1995)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from constructions.numbers import ProofError

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

__all__ = ["MAX_DIMENSION", "digital_shifts", "sobol_points"]

MAX_DIMENSION = 21201
"""Direction numbers are known up to here."""

BITS = 52  # the points are multiples of 2^-52: all but the last bit of a float64 below 1


def sobol_points(dimension: int, count: int, scramblings: int, seed: int, purpose: int) -> Floats:
    """Return independent scrambled Sobol nets in [0, 1)^dimension, shape (scramblings, count, dimension).

    Parameters
    ----------
    dimension
        At most `MAX_DIMENSION`.
    count
        Points a net; a power of two, which is what makes it a net.
    scramblings
        R.
    seed
        Of the scramblings.
    purpose
        Nets for different purposes are independent of each other at the same seed.

    Raises
    ------
    ProofError
        If the dimension is too large, or `count` is no power of two.

    Examples
    --------
    >>> points = sobol_points(3, 8, 2, seed=0, purpose=0)
    >>> points.shape, np.sort((points[0, :, 1] * 8).astype(int)).tolist()
    ((2, 8, 3), [0, 1, 2, 3, 4, 5, 6, 7])
    """
    from scipy.stats import qmc

    if dimension > MAX_DIMENSION:
        raise ProofError(
            f"d n = {dimension} is more than the {MAX_DIMENSION} dimensions of Sobol points: a smaller n"
        )
    power = count.bit_length() - 1
    if count < 1 or count != 1 << power:
        raise ProofError(f"Sobol points come in powers of two, not {count}")
    streams = np.random.SeedSequence([seed, purpose]).spawn(scramblings)
    nets = [qmc.Sobol(dimension, scramble=True, bits=BITS, rng=np.random.default_rng(s)) for s in streams]
    return np.stack([np.asarray(net.random_base2(power), dtype=np.float64) for net in nets])


def digital_shifts(net: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Return `count` copies of a net, each shifted at random digit by digit, so that it stays a net.

    The copies' errors are independent of each other, up to the net's linear scrambling, and average out.

    Parameters
    ----------
    net
        Points of `sobol_points`, shape (m, ...).
    count
        Copies.
    rng
        Draws the shifts.

    Returns
    -------
    Floats
        Shape (count, m, ...).

    Examples
    --------
    >>> copies = digital_shifts(sobol_points(1, 4, 1, 0, 0)[0], 3, np.random.default_rng(0))
    >>> np.sort((copies[..., 0] * 4).astype(int), axis=1).tolist()
    [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]]
    """
    digits = (net * 2.0**BITS).astype(np.uint64)
    shifts = rng.integers(2**BITS, size=(count, 1, *net.shape[1:]), dtype=np.uint64)
    return np.asarray((digits ^ shifts) * 2.0**-BITS)
