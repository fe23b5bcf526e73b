"""alpha-entmax from the gaps below the leader: one unknown, the leader's weight a.

alpha-entmax is p_j = [(alpha - 1) v_j - tau]_+^(1 / (alpha - 1)) with tau such that the weights sum to 1. With
beta = alpha - 1, the gap D_j = max v - v_j and the leader's weight a, so that tau = beta max v - a^beta,

    p_j = a r_j,      r_j = (1 - beta D_j / a^beta)_+^(1 / beta),      r_j = exp(-D_j) for beta = 0,

which needs no difference of large scores, and no power of a number near 1 when alpha is near 1. The sum F of the
p_j grows with a and dp_j / da = r_j^(1 - beta).

* 1 < alpha <= 2: the derivative grows with a, so F is convex and Newton's iteration from a = 1 falls towards the
  root and never passes it. For alpha = 2 F is piecewise linear and the iteration ends on the right support, after
  finitely many steps: the active-set form of the algorithm of Martins and Astudillo, which needs no sort.
* alpha > 2: F has vertical tangents, so a is bisected to neighbouring floats. An entry that enters the support
  there is a root of a rounding error; interpolating between both sides gives it the mass that the others leave.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from theory.probability_maps.along import Along

__all__ = ["entmax"]


def entmax(below: Any, along: Along, alpha: float, scale: float = 1.0) -> Any:
    """Return alpha-entmax of v / scale for alpha > 1, each group by itself, given -D_j = v_j - max v.

    Sums to 1 within a few rounding errors; exactly one-hot where the leader leads by scale / (alpha - 1).
    """
    xp, beta = along.xp, alpha - 1
    floor = xp.full_like(along.first(below), -2 * scale / beta)  # from half of it on a weight is 0 anyway
    gaps, leader = xp.maximum(below, floor) * (-beta / scale), xp.ones_like(floor)
    return _newton(gaps, leader, beta, along) if beta <= 1 else _bisect(gaps, leader, beta, along)


def _ratios(gaps: Any, leader: Any, beta: float, xp: Any) -> tuple[Any, Any]:
    """Return r_j = p_j / a and r_j^beta, for gaps beta D_j."""
    threshold = leader if beta == 1 else leader**beta
    if beta > 1:
        threshold = xp.clip(threshold, xp.finfo(gaps.dtype).smallest_normal, None)
    drop = gaps / threshold
    power = xp.maximum(1 - drop, xp.zeros_like(leader))
    if beta == 1:
        return power, power
    if beta == 1 / 2:
        return power * power, power
    outside, zeros = power == 0, xp.zeros_like(drop)
    ratio = xp.exp(xp.log1p(-xp.where(outside, zeros, drop)) / beta)
    return xp.where(outside, zeros, ratio), power


def _slopes(ratio: Any, power: Any, beta: float, xp: Any) -> Any:
    """Return dp_j / da = r_j^(1 - beta), 0 outside the support, given r_j and r_j^beta."""
    if beta == 1 / 2:
        return power
    if beta == 1:
        return xp.astype(power > 0, power.dtype)
    return ratio / xp.where(power > 0, power, xp.ones_like(power))


def _newton(gaps: Any, leader: Any, beta: float, along: Along) -> Any:
    xp = along.xp
    rounding = 4 * xp.finfo(gaps.dtype).eps
    while True:
        ratio, power = _ratios(gaps, leader, beta, xp)
        excess = leader * along.total(ratio) - 1
        lower = leader - excess / along.total(_slopes(ratio, power, beta, xp))
        if not bool(xp.any(lower < leader * (1 - rounding))):
            return leader * ratio
        leader = xp.minimum(leader, lower)


def _bisect(gaps: Any, high: Any, beta: float, along: Along) -> Any:
    xp = along.xp
    low = high / along.size(gaps)
    while True:
        middle = (low + high) / 2
        if not bool(xp.any((low < middle) & (middle < high))):
            break
        short = middle * along.total(_ratios(gaps, middle, beta, xp)[0]) < 1
        low, high = xp.where(short, middle, low), xp.where(short, high, middle)
    below = low * _ratios(gaps, low, beta, xp)[0]
    above = high * _ratios(gaps, high, beta, xp)[0]
    ones = xp.ones_like(high)
    missing, room = 1 - along.total(below), along.total(above) - along.total(below)
    share = xp.where(room > 0, missing / xp.where(room > 0, room, ones), ones)
    return below + xp.clip(share, 0.0, 1.0) * (above - below)
