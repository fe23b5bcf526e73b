"""How tokens, numbers and files are named in sentences: from 0, in ranges, no wall of numbers or control codes."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from theory.patterns import IntArray

__all__ = ["EXACT_BITS", "name_grid", "name_lower", "name_number", "name_tokens", "name_upper", "printable"]

EXACT_BITS = 63
SHOWN_ENTRIES = 64


def printable(text: str) -> str:
    r"""Return a name as a terminal may be shown it: line ends, control and direction codes, lone bytes escaped.

    Examples
    --------
    >>> print(printable("a\n\x1b[31mb\u202e.json"), printable("Größe 1.json"))
    a\n\x1b[31mb\u202e.json Größe 1.json
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def name_number(number: int | None) -> str:
    """Write a number out, or its size where it has more than 63 bits.

    Examples
    --------
    >>> name_number(12), name_number(2**100 + 1), name_number(None)
    ('12', 'about 2^100', '-')
    """
    if number is None:
        return "-"
    bits = abs(number).bit_length()
    return str(number) if bits <= EXACT_BITS else f"about {'-' if number < 0 else ''}2^{bits - 1}"


def name_upper(bound: float, digits: int = 3) -> str:
    """Write an upper bound with so many digits, rounded up: what is printed, read back, is a bound too.

    Examples
    --------
    >>> name_upper(0.12501), name_upper(3.0), name_upper(0.1), name_upper(float("inf"))
    ('0.126', '3', '0.1', 'inf')
    """
    return _rounded(bound, digits, ROUND_CEILING)


def name_lower(bound: float, digits: int = 3) -> str:
    """Write a lower bound with so many digits, rounded down.

    Examples
    --------
    >>> name_lower(0.12599), name_lower(-0.12501)
    ('0.125', '-0.126')
    """
    return _rounded(bound, digits, ROUND_FLOOR)


def _rounded(x: float, digits: int, rounding: str) -> str:
    nearest = f"{x:.{digits}g}"
    if float(nearest) == x or not math.isfinite(x):
        return nearest
    exact = Decimal(x)
    decimals = exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding=rounding)
    return f"{float(decimals):.{digits}g}"


def name_tokens(tokens: IntArray, *, most: int = 4) -> str:
    """Name a sorted set of tokens by its ranges, at most `most` of them.

    Examples
    --------
    >>> name_tokens(np.array([20, 21, 22]))
    'tokens 20..22'
    >>> name_tokens(np.array([3]))
    'token 3'
    >>> name_tokens(np.array([0, 2, 4, 6, 8, 10]))
    '6 tokens (0, 2, 4, 6, ...)'
    """
    breaks = np.flatnonzero(np.diff(tokens) > 1) + 1
    starts = tokens[np.concatenate(([0], breaks))].tolist()
    ends = tokens[np.concatenate((breaks - 1, [tokens.size - 1]))].tolist()
    ranges = [str(a) if a == b else f"{a}..{b}" for a, b in zip(starts, ends, strict=True)]
    if len(ranges) > most:
        return f"{tokens.size} tokens ({', '.join(ranges[:most])}, ...)"
    return f"token{'s' if tokens.size > 1 else ''} {', '.join(ranges)}"


def name_grid(grid: IntArray) -> str:
    """Write a small input out row by row; of a large one, its shape and the first entries.

    Examples
    --------
    >>> name_grid(np.array([[0, 1], [2, 3]]))
    '[[0, 1], [2, 3]]'
    >>> name_grid(np.arange(200).reshape(2, 100))
    '(2 x 100, beginning 0, 1, 2, 3, 4, 5, 6, 7)'
    """
    if grid.size <= SHOWN_ENTRIES:
        return str(grid.tolist())
    return f"({' x '.join(map(str, grid.shape))}, beginning {', '.join(map(str, grid.ravel()[:8].tolist()))})"
