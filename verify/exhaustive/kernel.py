"""The compiled loops of a sweep: one block of inputs at a time, its rows in a core's own cache.

A row holds one token's number, or one digit of it, for all inputs of a block. Whether a window can fire at all is
known from the least and the greatest number of a row; what a block costs are maxima and minima over attended sets.
A block is regular if every window holds a whole row or none of it, every token but gamma(1) fires once, alone and
to above all others, and 0 <= z~ < c. Then no hardmax meets a tie, and one input's ids differ in the digit of
weight c^0.

Rows are of 32 bits where c leaves room for sums: a vector holds twice as many numbers, and their maximum is one
instruction on every processor; that of 64-bit integers is one on AVX-512 only.

All in one file: numba's cache on disk looks at a function's own file only, not at those that it calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable

    Rows = npt.NDArray[np.int64]
    Numbers = npt.NDArray[Any]  # int32 or int64, the same for all rows of a case
    _P = ParamSpec("_P")
    _T = TypeVar("_T")

__all__ = ["NO_GAP", "SPARE", "TOGETHER", "Attended", "Grid", "sweep"]

NO_GAP = 2**62
TOGETHER = 4  # keys that one pass over a row reduces
CARRY, HIGH, LOW, EXPECTED, LEADS = 0, 0, 1, 2, 3  # spare rows, some in turns
SPARE = LEADS + TOGETHER + 1


class Grid(NamedTuple):
    """z_k and L: what the low entries add, by input of a block; the constants; the weights of the high ones."""

    levels: int
    block: int
    limit: int  # below it, sums of two numbers and a digit do not wrap around in the type of the rows
    starts: Numbers  # (n, block), as `form` with the last input repeated up to whole vectors
    form: Numbers  # (block,)
    odd: Numbers  # (block,), 2 i + 1, and 0 for what is repeated
    constants: Rows  # (n + 1,), L last
    weights: Rows  # (n + 1, high entries)


class Attended(NamedTuple):
    """All A_k^l in groups of keys, filled up by repeating a key: maxima and minima stay the same."""

    starts: Rows  # (p, n + 1), in groups
    keys: Rows


def _compiled(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Compile on first use, without the interpreter lock; the machine code is kept on disk."""
    return cast("Callable[_P, _T]", numba.njit(cache=True, nogil=True)(function))


@_compiled
def sweep(
    first: int,
    blocks: int,
    grid: Grid,
    attended: Attended,
    windows: Rows,
    base: int,
    cycle: int,
    weights: Rows,
    room: Numbers,
    sums: Rows,
    greatest: Rows,
) -> int:
    """Run blocks until one is not regular, or not what the form says; return how many were, and add them up.

    Parameters
    ----------
    first, blocks
        The blocks.
    grid, attended
        The tables of the case.
    windows
        Layer, factor, and of all windows together 2 b and 2 b', of every shift in order; shape (shifts, 4).
    base, cycle
        c and p.
    weights
        Of the fingerprint, shape (n, s + 1).
    room
        Room to work in, 2 s n + SPARE rows.
    sums, greatest
        Fingerprint and least distance of two z~ of one input; the s + 1 digits of the greatest id. Updated.
    """
    n, size = grid.starts.shape
    count = weights.shape[1] - 1
    digits = room[: count * n].reshape((count, n, size))
    best = room[count * n : 2 * count * n].reshape((count, n, size))
    values, spare, keys = digits[0], room[2 * count * n :], attended.keys
    constants, ranges = np.empty(n + 1, np.int64), np.empty((n, 2), np.int64)
    fired = np.empty(n, np.bool_)
    record = greatest.copy()
    widest = 0
    for i in range(size):
        widest = i if grid.form[i] > grid.form[widest] else widest
    for number in range(first, first + blocks):
        _start(number, grid, constants, values, ranges, spare)
        gap = _shift(values, ranges, attended, windows, fired, spare, base, grid.limit)
        if gap <= 0:
            return number - first
        for step in range(1, count):
            layer = (step - 1) % cycle
            for token in range(n):
                begin, end = attended.starts[layer, token], attended.starts[layer, token + 1]
                if step == 1:
                    _most(values, keys, begin, end, digits[1], token)
                elif step == 2:
                    _greatest_2(digits, keys, begin, end, best, token)
                else:
                    _greatest(digits, step, keys, begin, end, best, token, spare)
            if step > 1:
                for token in range(n):
                    if _carry(digits, best, token, step, base, spare):
                        return number - first
        layer = (count - 1) % cycle
        wrong, start = 0, number * grid.block
        top = _numbered(spare[EXPECTED], grid, start)
        mixed = 0
        for digit in range(count + 1):
            record[digit] = greatest[digit]
        for token in range(n):
            begin, end = attended.starts[layer, token], attended.starts[layer, token + 1]
            if count == 1:
                _most(values, keys, begin, end, best[0], 0)
            elif count == 2:
                _greatest_2(digits, keys, begin, end, best, 0)
            else:
                _greatest(digits, count, keys, begin, end, best, 0, spare)
            if spare[EXPECTED, widest] >= greatest[count]:  # L is one-to-one: no other input has a greater id
                _record(digits, token, best, widest, base, record)
            wrong |= (
                _finish_2(digits, token, best, spare, base)
                if count == 2
                else _finish(digits, token, best, spare, base)
            )
            mixed += weights[token, 0] * _numbered(values[token], grid, start) + weights[token, count] * top
            for digit in range(1, count):
                mixed += weights[token, digit] * _numbered(best[digit - 1, 0], grid, start)
        if wrong:
            return number - first
        for digit in range(count + 1):
            greatest[digit] = record[digit]
        sums[0] += mixed
        sums[1] = min(sums[1], gap)
    return blocks


@_compiled
def _start(number: int, grid: Grid, constants: Rows, values: Numbers, ranges: Rows, spare: Numbers) -> None:
    """Write z_k with its ends, and L."""
    n, size = values.shape
    kind = values.dtype.type
    for row in range(n + 1):
        constants[row] = grid.constants[row]
    for place in range(grid.weights.shape[1] - 1, -1, -1):
        entry = number % grid.levels
        number //= grid.levels
        for row in range(n + 1):
            constants[row] += grid.weights[row, place] * entry
    for token in range(n):
        constant = kind(constants[token])
        least = most = kind(grid.starts[token, 0] + constant)
        for i in range(size):
            value = kind(grid.starts[token, i] + constant)
            values[token, i] = value
            least, most = min(least, value), max(most, value)
        ranges[token, 0], ranges[token, 1] = least, most
    constant = kind(constants[n])
    for i in range(size):
        spare[EXPECTED, i] = grid.form[i] + constant


@_compiled
def _shift(
    values: Numbers,
    ranges: Rows,
    attended: Attended,
    windows: Rows,
    fired: npt.NDArray[np.bool_],
    spare: Numbers,
    base: int,
    limit: int,
) -> int:
    """Apply the selective shifts in place; return the least distance of two tokens, or -1 if not regular."""
    n = values.shape[0]
    top = 0
    for token in range(n):
        fired[token] = False
        top = token if ranges[token, 1] > ranges[top, 1] else top
    fired[top] = True
    gap = NO_GAP
    for number in range(windows.shape[0]):
        layer, factor, low2, high2 = windows[number]
        found = -1
        for token in range(n):
            least2, most2 = 2 * ranges[token, 0], 2 * ranges[token, 1]
            if most2 < low2 or least2 > high2:
                continue
            if least2 <= low2 or most2 >= high2 or found >= 0 or fired[token]:
                return -1
            found = token
        if found < 0:
            continue
        begin, end = attended.starts[layer, found], attended.starts[layer, found + 1]
        if _reaches(ranges, attended.keys, begin, end, found, factor) >= limit:
            return -1
        # it lands above the top, and the top, greater than it was and in no window, is above all of the windows
        gap = min(gap, _fire(values, attended.keys, begin, end, found, top, factor, ranges, spare))
        if gap <= 0:
            return -1
        fired[found] = True
        top = found
    for token in range(n):
        if not fired[token] or ranges[token, 0] < 0 or ranges[token, 1] >= base:
            return -1
    return gap


@_compiled
def _reaches(ranges: Rows, keys: Rows, begin: int, end: int, token: int, factor: int) -> int:
    """Return how far up a shift can bring a row at most, by the ends of the rows alone."""
    low, high = ranges[token, 0], ranges[token, 1]
    for place in range(TOGETHER * begin, TOGETHER * end):
        low, high = min(low, ranges[keys[place], 0]), max(high, ranges[keys[place], 1])
    return int(ranges[token, 1] + factor * (high - low))


@_compiled
def _fire(
    values: Numbers,
    keys: Rows,
    begin: int,
    end: int,
    token: int,
    top: int,
    factor: int,
    ranges: Rows,
    spare: Numbers,
) -> int:
    """Add factor (max - min) over the attended tokens to a row; return how far above another it is at least."""
    size = values.shape[1]
    for group in range(begin, end):
        place = TOGETHER * group
        a, b, c, d = keys[place], keys[place + 1], keys[place + 2], keys[place + 3]
        if group == begin:
            for i in range(size):
                spare[HIGH, i] = max(max(values[a, i], values[b, i]), max(values[c, i], values[d, i]))
                spare[LOW, i] = min(min(values[a, i], values[b, i]), min(values[c, i], values[d, i]))
        else:
            for i in range(size):
                high = max(max(values[a, i], values[b, i]), max(values[c, i], values[d, i]))
                low = min(min(values[a, i], values[b, i]), min(values[c, i], values[d, i]))
                spare[HIGH, i], spare[LOW, i] = max(spare[HIGH, i], high), min(spare[LOW, i], low)
    kind = values.dtype.type
    step = kind(factor)
    gap, least = kind(np.iinfo(values.dtype).max), kind(np.iinfo(values.dtype).max)
    most = kind(np.iinfo(values.dtype).min)
    for i in range(size):
        value = kind(values[token, i] + kind(step * kind(spare[HIGH, i] - spare[LOW, i])))
        gap = min(gap, kind(value - values[top, i]))
        values[token, i] = value
        least, most = min(least, value), max(most, value)
    ranges[token, 0], ranges[token, 1] = least, most
    return int(gap)


@_compiled
def _most(values: Numbers, keys: Rows, begin: int, end: int, best: Numbers, token: int) -> None:
    """Write the greatest number over the attended tokens into a row."""
    for group in range(begin, end):
        place = TOGETHER * group
        a, b, c, d = keys[place], keys[place + 1], keys[place + 2], keys[place + 3]
        if group == begin:
            for i in range(values.shape[1]):
                best[token, i] = max(max(values[a, i], values[b, i]), max(values[c, i], values[d, i]))
        else:
            for i in range(values.shape[1]):
                most = max(max(values[a, i], values[b, i]), max(values[c, i], values[d, i]))
                best[token, i] = max(best[token, i], most)


@_compiled
def _greatest_2(digits: Numbers, keys: Rows, begin: int, end: int, best: Numbers, token: int) -> None:
    """Do so for numbers of two digits, in lexicographic order; no digit is negative."""
    none = digits.dtype.type(0)
    for group in range(begin, end):
        place = TOGETHER * group
        a, b, c, d = keys[place], keys[place + 1], keys[place + 2], keys[place + 3]
        if group == begin:
            for i in range(digits.shape[2]):
                a1, b1, c1, d1 = digits[1, a, i], digits[1, b, i], digits[1, c, i], digits[1, d, i]
                a0, b0, c0, d0 = digits[0, a, i], digits[0, b, i], digits[0, c, i], digits[0, d, i]
                lead = max(max(a1, b1), max(c1, d1))
                one = max(a0 if a1 == lead else none, b0 if b1 == lead else none)
                other = max(c0 if c1 == lead else none, d0 if d1 == lead else none)
                best[0, token, i], best[1, token, i] = max(one, other), lead
        else:
            for i in range(digits.shape[2]):
                a1, b1, c1, d1 = digits[1, a, i], digits[1, b, i], digits[1, c, i], digits[1, d, i]
                a0, b0, c0, d0 = digits[0, a, i], digits[0, b, i], digits[0, c, i], digits[0, d, i]
                e0, e1 = best[0, token, i], best[1, token, i]
                lead = max(e1, max(max(a1, b1), max(c1, d1)))
                one = max(a0 if a1 == lead else none, b0 if b1 == lead else none)
                other = max(c0 if c1 == lead else none, d0 if d1 == lead else none)
                best[0, token, i], best[1, token, i] = max(e0 if e1 == lead else none, max(one, other)), lead


@_compiled
def _greatest(
    digits: Numbers, places: int, keys: Rows, begin: int, end: int, best: Numbers, token: int, spare: Numbers
) -> None:
    """Do so for any number of digits, the top one first; a spare row a key is -1 where it leads, else 0."""
    size, none = digits.shape[2], digits.dtype.type(0)
    for group in range(begin, end):
        place = TOGETHER * group
        a, b, c, d = keys[place], keys[place + 1], keys[place + 2], keys[place + 3]
        for key in range(TOGETHER + 1):
            leads = -1 if key < TOGETHER or group > begin else 0  # the last is what was greatest before
            for i in range(size):
                spare[LEADS + key, i] = leads
        for digit in range(places - 1, -1, -1):
            for i in range(size):
                a1, b1, c1 = spare[LEADS, i], spare[LEADS + 1, i], spare[LEADS + 2, i]
                d1, e1 = spare[LEADS + 3, i], spare[LEADS + 4, i]
                a0, b0, c0 = digits[digit, a, i] & a1, digits[digit, b, i] & b1, digits[digit, c, i] & c1
                d0, e0 = digits[digit, d, i] & d1, best[digit, token, i] & e1
                most = max(e0, max(max(a0, b0), max(c0, d0)))
                best[digit, token, i] = most
                spare[LEADS, i] = a1 if a0 == most else none
                spare[LEADS + 1, i] = b1 if b0 == most else none
                spare[LEADS + 2, i] = c1 if c0 == most else none
                spare[LEADS + 3, i] = d1 if d0 == most else none
                spare[LEADS + 4, i] = e1 if e0 == most else none


@_compiled
def _carry(digits: Numbers, best: Numbers, token: int, places: int, base: int, spare: Numbers) -> int:
    """Add c times a number with `places` digits to a token's own, in place; return 1 if a carry is left over."""
    kind = digits.dtype.type
    c, left = kind(base), kind(0)
    for i in range(digits.shape[2]):
        digits[places, token, i] = spare[CARRY, i] = 0
    for digit in range(1, places + 1):
        for i in range(digits.shape[2]):
            value = kind(digits[digit, token, i] + best[digit - 1, token, i] + spare[CARRY, i])
            over = value >= c
            digits[digit, token, i] = kind(value - c) if over else value
            spare[CARRY, i] = over
    for i in range(digits.shape[2]):
        left |= spare[CARRY, i]
    return int(left)


@_compiled
def _finish_2(digits: Numbers, token: int, best: Numbers, spare: Numbers, base: int) -> int:
    """Take the last step: write the middle digit of three over `best`; return bits of the top one that L lacks."""
    kind = digits.dtype.type
    c, wrong = kind(base), kind(0)
    for i in range(digits.shape[2]):
        value = kind(digits[1, token, i] + best[0, 0, i])
        over = value >= c
        wrong |= kind(best[1, 0, i] + over) ^ spare[EXPECTED, i]
        best[0, 0, i] = kind(value - c) if over else value
    return int(wrong)


@_compiled
def _finish(digits: Numbers, token: int, best: Numbers, spare: Numbers, base: int) -> int:
    """Do so for any number of digits."""
    count, _, size = digits.shape
    kind = digits.dtype.type
    c, wrong = kind(base), kind(0)
    for i in range(size):
        spare[CARRY, i] = 0
    for digit in range(1, count):
        for i in range(size):
            value = kind(digits[digit, token, i] + best[digit - 1, 0, i] + spare[CARRY, i])
            over = value >= c
            best[digit - 1, 0, i] = kind(value - c) if over else value
            spare[CARRY, i] = over
    for i in range(size):
        wrong |= kind(best[count - 1, 0, i] + spare[CARRY, i]) ^ spare[EXPECTED, i]
    return int(wrong)


@_compiled
def _record(digits: Numbers, token: int, best: Numbers, i: int, base: int, greatest: Rows) -> None:
    """Keep the greatest id: the digits of one input and token after the last step, if they are greater."""
    count = digits.shape[0]
    found = np.empty(count + 1, np.int64)
    found[0] = digits[0, token, i]
    carry = 0
    for digit in range(1, count + 1):
        value = best[digit - 1, 0, i] + carry
        if digit < count:
            value += digits[digit, token, i]
        carry = 1 if value >= base else 0
        found[digit] = value - carry * base
    place = count
    while place > 0 and found[place] == greatest[place]:
        place -= 1
    if found[place] > greatest[place]:
        for digit in range(count + 1):
            greatest[digit] = found[digit]


@_compiled
def _numbered(row: Numbers, grid: Grid, start: int) -> int:
    """Return the sum of (2 i + 1) times what input number i has, `start` the first; it wraps around at 64 bits."""
    size = row.shape[0]
    total = moment = 0
    for i in range(size):
        total += int(row[i])
        moment += int(grid.odd[i]) * int(row[i])
    repeated = (size - grid.block) * int(row[size - 1])
    return int(moment + 2 * start * (total - repeated))
