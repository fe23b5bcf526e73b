"""The arithmetic behind Assumption 2's t: which t keeps the promise, and how much mass is lost at a given t.

Softmax and alpha-entmax are monotone: raising a competitor's score raises tau and lowers the leader's weight. So
of all vectors of m scores whose leader leads by at least zeta, the worst has all m - 1 competitors exactly zeta
below. There alpha-entmax gives the leader 1 - eta and every competitor eta / (m - 1) with

    L(1 - eta) - L(eta / (m - 1)) = t zeta,      L(x) = (x^(alpha-1) - 1) / (alpha - 1),      L = ln for alpha = 1,

which solved for t is the tight t, and solved for eta the mass lost at t.
"""

from __future__ import annotations

import math
import sys
from fractions import Fraction

from theory.connections import PatternError

__all__ = ["ANY", "check_promise", "check_t", "exact_t", "lost_mass", "tight_t"]

ANY = 1.0
"""Returned as sufficient t where every t > 0 will do."""

LEAST_ZETA = 1e-100
ROUNDING = 2.0**-52
EXP_ROUNDING = 2.0**-40  # exp(-x) from a float x <= 745: relative error below 745 * 2^-53
LEAST_MASS = sys.float_info.min


def check_promise(zeta: float, eta: float, m: int) -> None:
    """Refuse what Assumption 2 does not speak of.

    Raises
    ------
    PatternError
        Unless zeta is a finite number of at least 1e-100, 0 < eta <= 1, and m is an integer >= 1.
    """
    if not (math.isfinite(zeta) and zeta >= LEAST_ZETA):
        needed = f"must be a finite number of at least {LEAST_ZETA:g}"
        raise PatternError(f"zeta, the leader's lead, {needed}, got {zeta:g}")
    if not 0 < eta <= 1:
        raise PatternError(f"eta, the mass that may be lost, must lie in (0, 1], got {eta}")
    if isinstance(m, bool) or m != int(m) or m < 1:
        raise PatternError(f"m, the number of scores, must be an integer >= 1, got {m}")


def check_t(t: float, zeta: float, m: int) -> None:
    """Refuse a temperature factor that is no positive number, and what `check_promise` refuses."""
    check_promise(zeta, 1.0, m)
    if not (math.isfinite(t) and t > 0):
        raise PatternError(f"t must be a positive number, got {t}")


def _tsallis_log(log: float, beta: float) -> float:
    """Return L(x) from ln x, for beta = alpha - 1; exact in the limit beta -> 0."""
    return log if beta == 0 else math.expm1(beta * log) / beta


def _two_logs(eta: float, m: int, beta: float) -> tuple[float, float]:
    """Return L(1 - eta) and L(eta / (m - 1))."""
    leader = -math.inf if eta == 1 else math.log1p(-eta)
    return _tsallis_log(leader, beta), _tsallis_log(math.log(eta) - math.log(m - 1), beta)


def tight_t(zeta: float, eta: float, m: int, beta: float) -> float:
    """Return the smallest t at which alpha-entmax keeps the promise, alpha = 1 + beta; 0.0 if every t > 0 does.

    Examples
    --------
    >>> math.isclose(tight_t(0.5, 0.001, 2, 0.0), math.log(999) / 0.5)
    True
    >>> tight_t(1.0, 0.25, 2, 1.0)
    0.5
    """
    if m == 1:
        return 0.0
    leader, loser = _two_logs(eta, m, beta)
    return max(0.0, (leader - loser) / zeta)


def exact_t(zeta: float, beta: float, scale: float = 1.0) -> float:
    """Return the smallest float t with t zeta (alpha - 1) >= scale, decided in exact rational arithmetic."""
    exact = Fraction(scale) / (Fraction(zeta) * Fraction(beta))
    t = float(exact)
    return t if exact <= Fraction(t) else math.nextafter(t, math.inf)


def lost_mass(t: float, zeta: float, m: int, beta: float, scale: float = 1.0) -> float:
    """Return the most mass that alpha-entmax of (t / scale) v can lose, alpha = 1 + beta; rounded up.

    0.0 means none at all: exactly one-hot. Mass below the smallest normal float counts as that.

    Examples
    --------
    >>> lost_mass(2.0, 0.5, 10, 1.0), round(lost_mass(1.0, 0.5, 2, 1.0), 12)
    (0.0, 0.25)
    """
    if m == 1 or (beta > 0 and Fraction(t) * Fraction(zeta) * Fraction(beta) >= Fraction(scale)):
        return 0.0
    lead = t * zeta / scale
    if beta == 0:
        odds = (m - 1) * math.exp(-lead)
        return min(1.0, max(LEAST_MASS, odds / (1 + odds) * (1 + EXP_ROUNDING)))

    def promised(eta: float) -> bool:
        leader, loser = _two_logs(eta, m, beta)
        margin = 16 * ROUNDING * (abs(leader) + abs(loser) + lead)
        return leader - loser + margin <= lead

    low, high = LEAST_MASS, 1.0
    if promised(low):
        return low
    while high > low * (1 + 8 * ROUNDING):
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = (low, middle) if promised(middle) else (middle, high)
    return high
