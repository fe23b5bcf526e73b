"""Sequence lengths: put one into a source, and say in words at which lengths something happens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from theory.patterns import PatternError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

__all__ = ["describe_lengths", "parse_lengths", "with_length"]

LENGTHS = re.compile(r"(\d{1,9})(?::(\d{1,9})(?::(\d{1,9}))?)?", re.ASCII)
MOST_LENGTHS = 100_000
FEW = 3  # ranges that are clearer than any rule
LISTED = 6
PERIODS = 3  # a residue rule has to be seen to hold so often


def parse_lengths(text: str) -> range:
    """Read ``first:last`` or ``first:last:step``, both ends included.

    Raises
    ------
    PatternError
        If it is neither, empty, or over 100 000 lengths.

    Examples
    --------
    >>> parse_lengths("8:16:4"), parse_lengths("64")
    (range(8, 17, 4), range(64, 65))
    """
    match = LENGTHS.fullmatch(text)
    if match is None:
        raise PatternError(f"--n {text!r} is not of the form first:last or first:last:step, as in 8:512")
    first = int(match[1])
    last, step = int(match[2] or first), int(match[3] or 1)
    if first < 1 or last < first or step < 1:
        raise PatternError(
            f"--n {text} holds no length: first is at least 1, last at least first, step at least 1"
        )
    lengths = range(first, last + 1, step)
    if len(lengths) > MOST_LENGTHS:
        raise PatternError(f"--n {text} are {len(lengths)} lengths, over {MOST_LENGTHS}: give a longer step")
    return lengths


def with_length(source: str, n: int) -> str:
    """Return the source with its n replaced, or added where it has none.

    Sources joined with ``+`` all get the length.

    Raises
    ------
    PatternError
        If the source is a file of one length, or no source whose length can be set.

    Examples
    --------
    >>> with_length("fixed:n=20,w=5", 23), with_length("fixed:w=5", 23)
    ('fixed:n=23,w=5', 'fixed:n=23,w=5')
    >>> with_length("my.masks:local?w=4&n=8", 16)
    'my.masks:local?w=4&n=16'
    """
    import os

    if os.path.isfile(source.partition("?")[0]):
        raise PatternError(f"{source} is a file of one length: sweep a family or module:callable")
    return "+".join(_with_length(part, n) for part in source.split("+"))


def _with_length(source: str, n: int) -> str:
    from theory.families import FAMILIES

    head, colon, rest = source.partition(":")
    if head.strip() in FAMILIES:
        items = [item for item in rest.split(",") if item.strip()]
        return f"{head}:{','.join(_replaced(items, n, first=True))}"
    place, _, query = source.partition("?")
    if not colon:
        raise PatternError(f"{source!r} has no length to sweep: give a family (star:w=1) or module:callable")
    return f"{place}?{'&'.join(_replaced([item for item in query.split('&') if item], n, first=False))}"


def _replaced(items: list[str], n: int, *, first: bool) -> list[str]:
    mine = f"n={n}"
    kept = [mine if item.partition("=")[0].strip() == "n" else item for item in items]
    if mine not in kept:
        kept.insert(0 if first else len(kept), mine)
    return kept


def describe_lengths(lengths: Sequence[int], marked: Sequence[bool]) -> str:
    """Say at which of the lengths a mark is set: by a few ranges, a rule on n mod d that fits all, or more ranges.

    A rule describes the lengths looked at; it is no proof for others.

    Examples
    --------
    >>> describe_lengths(range(8, 41), [n % 5 != 0 for n in range(8, 41)])
    'unless 5 divides n'
    >>> describe_lengths(range(2, 60), [n % 8 in (1, 2) for n in range(2, 60)])
    'when n mod 8 is 1 or 2'
    >>> describe_lengths(range(2, 60), [n > 5 and n % 5 != 0 for n in range(2, 60)])
    'unless 5 divides n (from n = 6 on; before: never)'
    >>> describe_lengths(range(8, 20), [n < 12 for n in range(8, 20)])
    'for n = 8..11'
    """
    numbers, marks = np.asarray(lengths), np.asarray(marked, dtype=bool)
    if not marks.any():
        return "never"
    if marks.all():
        return "always"
    edges = np.flatnonzero(np.diff(marks)) + 1
    runs = np.count_nonzero(marks[np.concatenate(([0], edges))])
    if runs > FEW:
        for start in (0, *edges[: max(1, edges.size // 4)].tolist()):
            rule = _residue_rule(numbers[start:], marks[start:])
            if rule:
                tail = describe_lengths(numbers[:start].tolist(), marks[:start].tolist()) if start else ""
                return f"{rule} (from n = {numbers[start]} on; before: {tail})" if start else rule
    return f"for n = {_ranges(numbers, marks)}"


def _ranges(numbers: npt.NDArray[np.int64], marks: npt.NDArray[np.bool_]) -> str:
    """List the runs of marked lengths; lengths that follow each other in the sweep are one run."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], marks, [False]))))
    runs = list(zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True))
    shown = [str(numbers[a]) if a == b else f"{numbers[a]}..{numbers[b]}" for a, b in runs[:LISTED]]
    more = f" and {len(runs) - LISTED} more ranges" if len(runs) > LISTED else ""
    return ", ".join(shown) + more


def _residue_rule(numbers: npt.NDArray[np.int64], marks: npt.NDArray[np.bool_]) -> str:
    """Return a rule on n mod d, for the least d that decides all, or nothing."""
    if numbers.size < 2:
        return ""
    span = int(numbers[-1] - numbers[0])
    for modulus in range(2, span // PERIODS + 1):
        residues = numbers % modulus
        total = np.bincount(residues, minlength=modulus)
        hits = np.bincount(residues[marks], minlength=modulus)
        if not np.all((hits == 0) | (hits == total)):
            continue
        within, without = np.flatnonzero(hits), np.flatnonzero((hits == 0) & (total > 0))
        if within.tolist() == [0]:
            return f"when {modulus} divides n"
        if without.tolist() == [0]:
            return f"unless {modulus} divides n"
        shorter, word = (within, "when") if within.size <= without.size else (without, "unless")
        if shorter.size > LISTED and np.count_nonzero(np.diff(shorter) > 1) >= LISTED:
            return ""
        return f"{word} n mod {modulus} is {_named(shorter)}"
    return ""


def _named(residues: npt.NDArray[np.int64]) -> str:
    breaks = np.flatnonzero(np.diff(residues) > 1) + 1
    parts = [
        [str(part[0])]
        if part.size == 1
        else [str(part[0]), str(part[-1])]
        if part.size == 2
        else [f"{part[0]}..{part[-1]}"]
        for part in np.split(residues, breaks)
    ]
    names = [name for part in parts for name in part]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
