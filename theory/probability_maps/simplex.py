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
    from theory.probability_maps.groups import Groups

__all__ = ["entmax"]


def entmax(scores: Any, groups: Groups, alpha: float, scale: float = 1.0) -> Any:
    """Return alpha-entmax of scores / scale for alpha > 1, each group by itself.

    Sums to 1 within a few rounding errors; exactly one-hot where the leader leads by scale / (alpha - 1).
    """
    beta = alpha - 1
    clipped = groups.xp.clip(groups.gaps(scores), 0.0, 2 * scale / beta)  # from half of it on a weight is 0 anyway
    gaps = clipped * (beta / scale)
    return _newton(gaps, beta, groups) if beta <= 1 else _bisect(gaps, beta, groups)


def _ratios(gaps: Any, leader: Any, beta: float, groups: Groups) -> tuple[Any, Any]:
    """Return r_j = p_j / a and r_j^beta, for gaps beta D_j."""
    xp = groups.xp
    least = xp.finfo(gaps.dtype).smallest_normal
    threshold = xp.clip(leader if beta == 1 else leader**beta, least, None)
    drop = xp.clip(gaps / groups.spread(threshold), 0.0, 1.0)
    power = 1 - drop
    if beta == 1:
        return power, power
    if beta == 1 / 2:
        return power * power, power
    outside = drop == 1
    zeros = xp.zeros_like(drop)
    ratio = xp.exp(xp.log1p(-xp.where(outside, zeros, drop)) / beta)
    return xp.where(outside, zeros, ratio), power


def _newton(gaps: Any, beta: float, groups: Groups) -> Any:
    xp = groups.xp
    leader = xp.ones_like(groups.top(gaps))
    rounding = 4 * xp.finfo(gaps.dtype).eps
    while True:
        ratio, power = _ratios(gaps, leader, beta, groups)
        inside = power > 0
        slope = ratio / xp.where(inside, power, xp.ones_like(power))
        excess = leader * groups.total(ratio) - 1
        lower = leader - excess / groups.total(xp.where(inside, slope, xp.zeros_like(slope)))
        if not bool(xp.any(lower < leader * (1 - rounding))):
            return groups.spread(leader) * ratio
        leader = xp.minimum(leader, lower)


def _bisect(gaps: Any, beta: float, groups: Groups) -> Any:
    xp = groups.xp
    high = xp.ones_like(groups.top(gaps))
    low = 1 / groups.sizes(gaps)
    while True:
        middle = (low + high) / 2
        if not bool(xp.any((low < middle) & (middle < high))):
            break
        short = middle * groups.total(_ratios(gaps, middle, beta, groups)[0]) < 1
        low, high = xp.where(short, middle, low), xp.where(short, high, middle)
    below = groups.spread(low) * _ratios(gaps, low, beta, groups)[0]
    above = groups.spread(high) * _ratios(gaps, high, beta, groups)[0]
    ones = xp.ones_like(high)
    missing, room = 1 - groups.total(below), groups.total(above) - groups.total(below)
    share = xp.where(room > 0, missing / xp.where(room > 0, room, ones), ones)
    return below + groups.spread(xp.clip(share, 0.0, 1.0)) * (above - below)
