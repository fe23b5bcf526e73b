"""The contextual mapping g_c of Theorem 1 (Lemma 7): selective shifts along a Hamiltonian path, all-max-shifts.

`paper` takes delta^{-d} shifts a token, `merged` one; the ids agree bit for bit. Every constant of the proof can
be replaced, to see what it is there for.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from constructions.all_max_shift import AllMaxShifts, all_max_factor, tighter_s
from constructions.cells import cell_count
from constructions.numbers import INT64_BITS, ProofError, check_width
from constructions.positional_embedding import initial_interval, positions_along
from constructions.selective_shift import SelectiveShifts, TokenShift
from constructions.shift_mapping import ShiftMapping
from theory.checks import flag, wholes
from theory.graph import self_attention_violations
from theory.verdicts import Answer
from theory.wording import name_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from theory.patterns import IntArray, SparsityPattern

__all__ = ["SELF_LOOPS", "build_mapping", "check_sizes", "path_patterns"]

REMEDY = "use --construction relay"
SELF_LOOPS = "let every token attend to itself (`sparseuap repair` adds what is missing)"  # relay needs 1.1 too


def build_mapping(
    pattern: SparsityPattern,
    d: int,
    levels: int,
    construction: str = "paper",
    *,
    gamma: npt.ArrayLike | None = None,
    patterns: Sequence[int] | None = None,
    s: int | None = None,
    c: int | None = None,
    shift_factor: int | None = None,
    step: int | None = None,
    tight: bool = False,
) -> ShiftMapping:
    """Build g_c for a pattern that satisfies Assumption 1.

    Parameters
    ----------
    pattern
        The sparsity pattern.
    d
        Embedding size.
    levels
        K = 1/delta, at least 2.
    construction
        `paper`: p (n-1) delta^{-d} + s attention layers; `merged`: p (n-1) + s.
    gamma
        The Hamiltonian path, tokens from 0; searched for when not given.
    patterns
        l_2, ..., l_n, from 0, with gamma(i-1) in A^{l_i} of gamma(i); the first such when not given.
    s
        Number of all-max-shifts; the s of Assumption 1.3 when not given.
    c
        Factor of the all-max-shifts; 2 s n delta^{-nd-1} when not given.
    shift_factor
        Factor of the selective shifts; delta^{-d} when not given.
    step
        What one position of the embedding adds, in units of delta; 1/delta (so E_k = pos(k) 1) when not given.
    tight
        Take for s the number of steps after which every token has seen gamma(n) (`tighter_s`): the proof uses
        Assumption 1.3 for nothing else.

    Raises
    ------
    ProofError
        If an assumption of Theorem 1 fails, or a constant makes no sense.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> dense = SparsityPattern.from_lists([[0, 1], [0, 1]])
    >>> mapping = build_mapping(dense, 1, 2, gamma=[0, 1], s=1)
    >>> mapping.attention_layers, mapping.layers_formula
    (3, {'selective_shift': 2, 'all_max_shift': 1})
    >>> mapping.ids([[[0, 1]], [[1, 0]]]).tolist()
    [[98, 99], [195, 198]]
    """
    check_sizes(d, levels)
    d, levels = int(d), int(levels)
    cell_count(d, pattern.n, levels)
    if construction not in ("paper", "merged"):
        raise ProofError(f"unknown construction {construction!r}: choose paper, merged or relay")
    violations = self_attention_violations(pattern)
    if violations.size:
        layer, token = violations[0].tolist()
        raise _silent(
            f"Assumption 1.1 fails: token {token} does not attend to itself in pattern {layer}", SELF_LOOPS
        )
    if not flag("tight", tight) and s is None:
        s = _hop_count(pattern)
    path = _hamiltonian_path(pattern) if gamma is None else _permutation(gamma, pattern.n)
    along = path_patterns(pattern, path) if patterns is None else _checked_patterns(pattern, path, patterns)
    if s is None:
        s = _steps_to_see(pattern, int(path[-1]))
    s = _constant("s", s)
    c = _constant("c", all_max_factor(s, pattern.n, d, levels) if c is None else c)
    shift_factor = _constant("shift_factor", levels**d if shift_factor is None else shift_factor)
    step = _constant("step", levels if step is None else step)
    check_width(pattern.n, s * (1 + c).bit_length())
    cycle, windows = pattern.p, levels**d if construction == "paper" else 1
    shifts = []
    for i, (token, layer) in enumerate(zip(path[1:].tolist(), along.tolist(), strict=True)):
        low, high = initial_interval(i, d, levels, step)
        width2 = 2 * (high - low + 1) // windows
        shifts.append(TokenShift(token, layer, shift_factor, 2 * low - 1, width2, windows, cycle))
    stages = (SelectiveShifts(tuple(shifts)), AllMaxShifts(s, c, cycle))
    positions = positions_along(path)
    shifted_bound, bound = _bounds(stages, pattern, positions, d, levels, step)
    return ShiftMapping(
        pattern=pattern,
        d=d,
        K=levels,
        construction=construction,
        positions=positions,
        stages=stages,
        bound=bound,
        layers_formula={"selective_shift": cycle * (pattern.n - 1) * windows, "all_max_shift": s},
        step=step,
        shifted_bound=shifted_bound,
    )


def check_sizes(d: int, levels: int) -> None:
    """Raise ProofError unless d >= 1 and K = 1/delta >= 2 are integers, and K is below 2^62."""
    for name, value, least in (("d", d, 1), ("K = 1/delta", levels, 2)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise ProofError(f"{name} must be an integer of at least {least}, got {value!r}")
    if int(levels).bit_length() > INT64_BITS:
        raise ProofError(f"K = 1/delta must be below 2^{INT64_BITS}, got {name_number(int(levels))}")


def _constant(name: str, value: int) -> int:
    """Return a constant as a Python integer: one of NumPy's would wrap around in what is made of it."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
        raise ProofError(f"the constant {name} must be an integer that is not negative, got {value!r}")
    return int(value)


def path_patterns(pattern: SparsityPattern, gamma: IntArray) -> IntArray:
    """Return l_2, ..., l_n: the first pattern in which gamma(i) attends to gamma(i - 1).

    Raises
    ------
    ProofError
        If gamma is no path of the union digraph.
    """
    held = np.array([layer.contains(gamma[1:], gamma[:-1]) for layer in pattern.layers])
    missing = np.flatnonzero(~held.any(axis=0))
    if missing.size:
        before, after = gamma[missing[0]], gamma[missing[0] + 1]
        raise ProofError(f"gamma is no path: token {after} attends to token {before} in no pattern")
    return np.asarray(np.argmax(held, axis=0))


def _bounds(
    stages: tuple[SelectiveShifts, AllMaxShifts],
    pattern: SparsityPattern,
    positions: IntArray,
    d: int,
    levels: int,
    step: int,
) -> tuple[int, int]:
    """Return bounds on all numbers up to the end of either stage; with the proof's c at most c^s n delta^{-nd}."""
    intervals = [initial_interval(position, d, levels, step) for position in positions.tolist()]
    low, high = (np.array(side, dtype=object) for side in zip(*intervals, strict=True))
    shifts, all_max = stages
    _, high = shifts.widen(low, high, pattern)
    greatest = int(high.max())
    shifted = max(1, greatest, *(shift.factor for shift in shifts.shifts[:1]))
    # the token with the greatest number attends to itself: a shift multiplies it by 1 + c
    return shifted, max(shifted, greatest * (1 + all_max.factor) ** all_max.count, all_max.factor)


def _silent(reason: str, remedy: str = REMEDY) -> ProofError:
    return ProofError(f"Theorem 1 does not apply: {reason.rstrip('.')}: {remedy}")


def _hop_count(pattern: SparsityPattern) -> int:
    """Return the s of Assumption 1.3, or a proved upper bound on it: S_k^t grows with t."""
    from theory.hops import hop_count

    hops = hop_count(pattern)
    s = hops.s if hops.s is not None else hops.upper
    if hops.answer is Answer.HOLDS and s is not None:
        return s
    raise _silent(f"Assumption 1.3 {_state(hops.answer)}: {hops.why}")


def _hamiltonian_path(pattern: SparsityPattern) -> IntArray:
    """Return gamma of Assumption 1.2."""
    from theory.hamiltonian import hamiltonian_path

    found = hamiltonian_path(pattern)
    if found.path is None:
        raise _silent(f"Assumption 1.2 {_state(found.answer)}: {found.why}")
    return np.asarray(found.path, dtype=np.int64)


def _state(answer: Answer) -> str:
    return "is undecided" if answer is Answer.UNDECIDED else "fails"


def _steps_to_see(pattern: SparsityPattern, token: int) -> int:
    steps = tighter_s(pattern, token)
    if steps is None:
        raise _silent(f"Assumption 1.3 fails: some token never sees token {token}")
    return steps


def _permutation(gamma: npt.ArrayLike, n: int) -> IntArray:
    path = wholes("a token of gamma", gamma)
    if path.shape != (n,) or not np.array_equal(np.sort(path), np.arange(n)):
        raise ProofError(f"gamma must list every token 0..{n - 1} once")
    return path


def _checked_patterns(pattern: SparsityPattern, gamma: IntArray, patterns: Sequence[int]) -> IntArray:
    """Return the given l_2, ..., l_n after checking that each holds its connection."""
    if len(patterns) != pattern.n - 1:
        raise ProofError(f"patterns must have {pattern.n - 1} entries, one a connection of gamma")
    for (before, after), layer in zip(pairwise(gamma.tolist()), patterns, strict=True):
        if not pattern.attends(after, before, layer):
            raise ProofError(f"token {after} does not attend to token {before} in pattern {layer}")
    return wholes("a pattern", patterns)
