"""All-max-shifts on numbers in base c: exact where ids pass 64 bits, at array speed.

The shifts only add c times a number of the step before, so the ids are short numbers in base c: after t shifts

    q_k = z~_k + c D_1 + ... + c^t D_t,   0 <= D_i < c,   D_t = max z~ over S_k^t where c is the paper's

Multiplying by c moves digits one place up; what is left are sums of two digits with a carry, and maxima in
lexicographic order. No product is formed, and a digit needs the bits of c only, whatever the ids need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace

from constructions.blocks import check_attending, check_no_tie, check_not_negative
from constructions.neighbours import neighbours
from constructions.numbers import Integers, ProofError, exact_dtype, times

if TYPE_CHECKING:
    from constructions.all_max_shift import AllMaxShifts
    from theory.patterns import Connections, SparsityPattern

__all__ = ["Digits", "all_max_digits", "assemble", "digits_dtype"]


class Digits(NamedTuple):
    """Numbers in base `base`: `digits`, each (..., n) and in 0..base - 1, the least significant one first."""

    digits: tuple[Any, ...]
    base: int


def digits_dtype(factor: int, bound: int) -> np.dtype[Any]:
    """Return int64 where digits in base `factor`, sums of two of them, and numbers up to `bound` fit, else object.

    Examples
    --------
    >>> digits_dtype(2**40, 2**40), digits_dtype(2**62, 2**40)
    (dtype('int64'), dtype('O'))
    """
    return exact_dtype(max(2 * factor, bound))


def all_max_digits(stage: AllMaxShifts, values: Any, pattern: SparsityPattern) -> Digits:
    """Return in base c what the stage's Omega^l(.; c), one after another, make of `values`.

    Parameters
    ----------
    stage
        The all-max-shifts, with a factor c of at least 2.
    values
        z~_k in units of delta, shape (..., n), of any backend; in `digits_dtype`.

    Raises
    ------
    ProofError
        As the blocks: if some number is negative, some A_k empty, or hardmax meets a tie. Also if c < 2.

    Examples
    --------
    >>> from constructions.all_max_shift import AllMaxShifts
    >>> from theory.patterns import SparsityPattern
    >>> path = SparsityPattern.from_lists([[0, 1], [0, 1, 2], [1, 2]])
    >>> found = all_max_digits(AllMaxShifts(count=2, factor=100, cycle=1), np.array([1, 5, 9]), path)
    >>> [digit.tolist() for digit in found.digits], assemble(found).tolist()
    ([[1, 5, 9], [10, 18, 18], [9, 9, 9]], [91001, 91805, 91809])
    """
    base = stage.factor
    if base < 2:
        raise ProofError(f"numbers have no digits in base c = {base}: the factor must be at least 2")
    xp = array_namespace(values)
    if stage.count:
        check_not_negative(values)
    digits = _normal([values], base)
    for block in stage.blocks():
        best = _greatest(digits, pattern.layers[block.layer])
        zero = xp.zeros_like(digits[0])
        longer = [*digits[1:], *[zero] * (len(best) + 1 - len(digits))]
        digits = _normal([digits[0], *(own + taken for own, taken in zip(longer, best, strict=True))], base)
    return Digits(tuple(digits), base)


def _greatest(digits: list[Any], layer: Connections) -> list[Any]:
    """Return the digits of the greatest number over A_k of every token."""
    check_attending(layer)
    near = neighbours(layer, digits[0])
    xp = near.xp
    leads: list[Any] = [None] * len(near.rows)
    greatest = []
    for digit in reversed(digits):
        parts = []
        for number, attended in enumerate(near.gather(digit)):
            lead = leads[number]
            left = attended if lead is None else xp.where(lead, attended, xp.asarray(-1, dtype=attended.dtype))
            most = xp.max(left, axis=0)
            leads[number] = left == most
            parts.append(most)
        greatest.append(near.join(parts))
    check_no_tie(near, leads, "greatest")
    return greatest[::-1]


def _normal(digits: list[Any], base: int) -> list[Any]:
    """Carry, least digit first, until every digit is below the base; a new digit only where one is needed."""
    xp, normal, number = array_namespace(digits[0]), [], 0
    while number < len(digits):
        digit, number = digits[number], number + 1
        if xp.any(digit >= base):
            carry = digit // base
            digit = digit - carry * base
            if number == len(digits):
                digits.append(carry)
            else:
                digits[number] = digits[number] + carry
        normal.append(digit)
    return normal


def assemble(numbers: Digits) -> Integers:
    """Return the numbers as Python integers, an object array of shape (..., n); `numbers` hold NumPy arrays."""
    whole = numbers.digits[0].astype(object)
    for place, digit in enumerate(numbers.digits[1:], start=1):
        whole = whole + times(digit.astype(object), numbers.base**place)
    return np.asarray(whole)
