"""The three ways to give p patterns to the heads of a network (paper, §5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theory.patterns import PatternError

if TYPE_CHECKING:
    from theory.patterns import SparsityPattern

__all__ = ["HEADS", "arrange_heads"]

HEADS = ("sequential", "union", "multihead")


def arrange_heads(pattern: SparsityPattern, heads: str) -> SparsityPattern:
    """Return the pattern that a head configuration of §5 gives.

    * ``sequential``: block number l uses pattern ((l-1) mod p)+1; the pattern itself.
    * ``union``: every head of every block uses the union of the p patterns; p = 1.
    * ``multihead``: in every block, an equal share of the heads uses each pattern. What a token depends on after
      a block is then what the union gives, so the **union is returned**; as networks the two differ.

    Raises
    ------
    PatternError
        If `heads` is none of the three.

    Examples
    --------
    >>> from theory.families import strided
    >>> pattern = strided(9, w=3)
    >>> arrange_heads(pattern, "union")
    SparsityPattern(n=9, p=1, connections=50, density=61.7%)
    >>> arrange_heads(pattern, "multihead") == arrange_heads(pattern, "union")
    True
    """
    if heads not in HEADS:
        raise PatternError(f"heads must be one of {', '.join(HEADS)}, got {heads!r}")
    return pattern if heads == "sequential" else pattern.unite()
