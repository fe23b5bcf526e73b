"""The array engine of a sweep: the stages themselves, on NumPy, PyTorch on the CPU or a CUDA GPU. Always exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device

from constructions.backends import NUMPY, Backend
from constructions.base_c import Digits, all_max_digits, assemble
from constructions.numbers import Integers, ProofError
from theory.wording import name_grid, name_number
from verify.exhaustive.case import fingerprint_weights
from verify.exhaustive.shard_result import ShardResult
from verify.input_set import first_raising

if TYPE_CHECKING:
    from collections.abc import Sequence

    from theory.patterns import IntArray
    from verify.exhaustive.case import SweepCase
    from verify.exhaustive.linear_form import LinearForm

__all__ = ["ArrayEngine", "BlockReader", "Tally", "form_rows", "stopped_at"]

CHUNK = {"cpu": 2**13, "cuda": 2**21}  # inputs: what a core's cache holds; what keeps a GPU busy
WORD = 2**64


class Tally(NamedTuple):
    """What inputs that were all read back add up to; as in `ShardResult`."""

    fingerprint: int
    gap_within: int | None
    largest: int

    def join(self, other: Tally) -> Tally:
        """Return the tally of the inputs of both."""
        gaps = [gap for gap in (self.gap_within, other.gap_within) if gap is not None]
        return Tally(
            (self.fingerprint + other.fingerprint) % WORD,
            min(gaps, default=None),
            max(self.largest, other.largest),
        )


@dataclass(frozen=True)
class ArrayEngine:
    """Sweeps a shard in chunks of whole blocks.

    Parameters
    ----------
    backend
        Where the arrays live. Numbers beyond int64 are Python integers, on NumPy only.
    """

    backend: Backend = NUMPY

    @property
    def name(self) -> str:
        """In words, for reports."""
        return f"arrays ({self.backend.name}, {self.backend.device})"

    def shard(self, case: SweepCase, number: int) -> ShardResult:
        """Sweep one shard."""
        blocks = case.blocks_of(number)
        step = max(1, CHUNK[self.backend.device] // case.block)
        reader, total = BlockReader(case, self.backend), Tally(0, None, 0)
        for first in range(blocks.start, blocks.stop, step):
            part = range(first, min(first + step, blocks.stop))
            try:
                total = total.join(reader.read(part))
            except ProofError:
                return stopped_at(case, number, part)
        return ShardResult(number, len(blocks) * case.block, *total, None)


class BlockReader:
    """Runs the mapping on whole blocks, compares the ids with their forms, and adds up.

    Parameters
    ----------
    case
        The case.
    backend
        Where the arrays and the tables live.

    Raises
    ------
    ProofError
        If the numbers are beyond int64 and the backend is not NumPy.
    """

    def __init__(self, case: SweepCase, backend: Backend) -> None:
        if case.dtype == object and backend.name != "numpy":
            raise ProofError(f"this case has numbers beyond int64, {backend.name} has none: leave --backend out")
        self.case, self.backend = case, backend
        self.relay = case.mapping.construction == "relay"
        self.base, self.places = 0, 1
        if not self.relay:
            maxima = case.path_stages[1]
            self.base, self.places = maxima.factor, maxima.count + 1
        rising = _rising(case)
        self.order = backend.put(rising)
        self.widest = int(rising[-1]) if self.relay else 0  # the form whose greatest value has the greatest id
        weights = fingerprint_weights(case.mapping.pattern.n, self.places)
        self.weights = [backend.put(np.ascontiguousarray(column)) for column in weights.T]
        entries = case.low_entries()
        self.low = [backend.put(form_rows(forms, entries, case, low=True)) for forms in (case.starts, case.forms)]

    def read(self, blocks: range) -> Tally:
        """Run all inputs of some consecutive blocks.

        Raises
        ------
        ProofError
            If the mapping does, an id is not what its form says, or two of one input share the digit of c^0.
        """
        start = blocks.start * self.case.block
        return self.check(*self.inputs(blocks), start)

    def inputs(self, blocks: range) -> tuple[Any, Any]:
        """Return z_k of all inputs of some blocks, (m, n), and what the forms say, (m, 1) or for relay (m, n)."""
        entries = self.case.high_entries(np.arange(blocks.start, blocks.stop, dtype=np.int64))
        both = []
        for forms, low in zip((self.case.starts, self.case.forms), self.low, strict=True):
            high = self.backend.put(form_rows(forms, entries, self.case, low=False))
            xp = array_namespace(low)
            rows = xp.reshape(high[:, :, None] + low[:, None, :], (low.shape[0], -1))
            both.append(xp.moveaxis(rows, 0, -1))
        return both[0], both[1]

    def check(self, values: Any, expected: Any, start: int) -> Tally:
        """Run inputs given by their z_k, the first being input number `start`; raises as `read`."""
        xp = array_namespace(values)
        digits = self._run(values)
        if any(xp.any(digit != 0) for digit in digits[self.places :]):
            raise ProofError(f"an id has more than s + 1 = {self.places} digits in base c")
        digits = digits[: self.places]
        if not xp.all(digits[-1] == expected):
            raise ProofError(self._differs(digits[-1], expected))
        largest = int(xp.argmax(expected[:, self.widest]))
        ids = assemble(Digits(tuple(self.backend.fetch(digit[largest, :]) for digit in digits), self.base))
        return Tally(self._fingerprint(digits, start), self._gap(digits[0]), max(map(int, ids.tolist())))

    def _run(self, values: Any) -> Sequence[Any]:
        """Return the digits of the ids in base c, for `relay` the ids, each (m, n)."""
        mapping = self.case.mapping
        if self.relay:
            for stage in mapping.stages:
                values = stage.apply(values, mapping.pattern)
            return (values,)
        shifts, maxima = self.case.path_stages
        return all_max_digits(maxima, shifts.apply(values, mapping.pattern), mapping.pattern).digits

    def _gap(self, digit: Any) -> int | None:
        """Return the least distance of two tokens' numbers of one input; one subtraction where they rise."""
        if digit.shape[-1] == 1:
            return None
        xp = array_namespace(digit)
        rising = xp.take(digit, self.order, axis=-1)
        gap = int(xp.min(rising[:, 1:] - rising[:, :-1]))
        if gap <= 0:
            rising = xp.sort(digit, axis=-1)
            gap = int(xp.min(rising[:, 1:] - rising[:, :-1]))
        if gap == 0:
            raise ProofError("two tokens have the same digit of weight c^0")
        return gap

    def _fingerprint(self, digits: Sequence[Any], start: int) -> int:
        """Return the fingerprint of the ids; int64 arithmetic wraps around."""
        xp = array_namespace(digits[0])
        mixed = 0
        for weights, digit in zip(self.weights, digits, strict=True):
            mixed = mixed + xp.sum(_wrapped(digit) * weights, axis=-1)
        stop = start + digits[0].shape[0]
        numbers = xp.arange(start, stop, dtype=xp.int64, device=device(digits[0]))
        return int(xp.sum(mixed * (2 * numbers + 1))) % WORD

    def _differs(self, found: Any, expected: Any) -> str:
        """Say which id, or digit of it, is not what its form says."""
        seen, said = np.broadcast_arrays(self.backend.fetch(found), self.backend.fetch(expected))
        row, token = np.argwhere(seen != said)[0].tolist()
        what = "id" if self.relay else "digit of weight c^s"
        one, other = (name_number(int(side[row, token])) for side in (seen, said))
        return f"the {what} of token {token} is {one}, its linear form says {other}"


def stopped_at(case: SweepCase, number: int, blocks: range) -> ShardResult:
    """Return the result of a shard, given blocks that hold the first of its inputs that is not read back."""
    reader = BlockReader(case, NUMPY)
    values, expected = reader.inputs(blocks)
    first = blocks.start * case.block

    def check(rows: IntArray) -> Tally:
        low, high = int(rows[0]), int(rows[-1]) + 1
        return reader.check(values[low:high], expected[low:high], first + low)

    row, reason = first_raising(check, np.arange(len(values)))
    found = first + int(row)
    entries = [*case.high_entries(np.array([found // case.block]))[0], *case.low_entries()[found % case.block]]
    grid = np.array(entries, dtype=np.int64).reshape(case.mapping.d, -1)
    done = found - number * case.shard
    return ShardResult(number, done, 0, None, 0, f"input {name_grid(grid)}: {reason}")


def form_rows(forms: Sequence[LinearForm], entries: IntArray, case: SweepCase, *, low: bool) -> Integers:
    """Return what some of the entries add to each form, shape (forms, m); the constants go with the high ones.

    Parameters
    ----------
    entries
        The last entries (`low`) or the others, shape (m, number of entries).
    """
    width = entries.shape[1]
    rows = np.zeros((len(forms), len(entries)), dtype=case.dtype)
    for row, form in zip(rows, forms, strict=True):
        row += 0 if low else form.constant
        for weight, column in zip(form.weights[-width:] if low else form.weights[:width], entries.T, strict=True):
            row += weight * column.astype(case.dtype)
    return rows


def _rising(case: SweepCase) -> IntArray:
    """Return the tokens in the order in which the proof's ids rise: along gamma, or by slot."""
    tokens = range(case.mapping.pattern.n)
    if case.mapping.construction == "relay":
        return np.array(sorted(tokens, key=lambda token: case.forms[token].least(case.mapping.K)), dtype=np.int64)
    along = [shift.token for shift in case.path_stages[0].shifts]
    return np.array([*sorted(set(tokens) - set(along)), *along], dtype=np.int64)


def _wrapped(digit: Any) -> Any:
    """Return numbers modulo 2^64 as int64."""
    if digit.dtype != object:
        return digit
    return (digit & (WORD - 1)).astype(np.uint64).view(np.int64)
