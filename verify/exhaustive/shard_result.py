"""What the sweep of one shard shows: plain numbers, the same from every engine, to and from JSON."""

from __future__ import annotations

from dataclasses import dataclass

from constructions.numbers import ProofError

__all__ = ["ShardResult"]

EXACT_IN_JSON = 2**53  # beyond, readers that take numbers for doubles would round
FIELDS = ("number", "inputs", "fingerprint", "gap_within", "largest", "stopped")


@dataclass(frozen=True)
class ShardResult:
    """What the inputs of one shard showed; equal for equal cases, whatever engine ran them.

    Parameters
    ----------
    number
        The shard, from 0.
    inputs
        How many inputs were read back: all of the shard, or those before the one that stopped it.
    fingerprint
        Checksum of all ids of the shard in order, below 2^64; 0 where stopped. See `case.fingerprint_weights`.
    gap_within
        For `paper` and `merged` the least distance of two tokens' digits of weight c^0 in one input, which are
        z~_j and z~_k: the distance of their ids where the other digits agree, and where they do not, the ids are
        c - max z~ apart at least. For `relay` the least distance of two ids of one input. None where stopped, and
        for n = 1.
    largest
        The greatest id; 0 where stopped.
    stopped
        The first input that was not read back, and why; None if every id was. It need not be a collision: the
        caller asks `verify.contextual_mapping`, which decides.

    Examples
    --------
    >>> result = ShardResult(0, 512, 2**60, 3, 10**30, None)
    >>> ShardResult.from_json(result.as_json()) == result
    True
    """

    number: int
    inputs: int
    fingerprint: int
    gap_within: int | None
    largest: int
    stopped: str | None

    def as_json(self) -> dict[str, int | str | None]:
        """Return a dictionary for JSON; integers beyond 2^53 as hexadecimal strings."""
        return {
            "number": self.number,
            "inputs": self.inputs,
            "fingerprint": _number(self.fingerprint),
            "gap_within": None if self.gap_within is None else _number(self.gap_within),
            "largest": _number(self.largest),
            "stopped": self.stopped,
        }

    @classmethod
    def from_json(cls, data: object) -> ShardResult:
        """Read what `as_json` wrote.

        Raises
        ------
        ProofError
            If it is anything else.
        """
        if not isinstance(data, dict) or set(data) != set(FIELDS):
            raise ProofError(f"no result of a shard: {str(data)[:80]}; it needs {', '.join(FIELDS)}")
        gap, stopped = data["gap_within"], data["stopped"]
        if not (stopped is None or isinstance(stopped, str)):
            raise ProofError(f"no result of a shard: stopped is {str(stopped)[:80]}, neither null nor a sentence")
        number, inputs, fingerprint, largest = (
            _read(name, data[name]) for name in ("number", "inputs", "fingerprint", "largest")
        )
        if fingerprint >= 2**64:
            raise ProofError("no result of a shard: fingerprint has more than 64 bits")
        return cls(
            number, inputs, fingerprint, None if gap is None else _read("gap_within", gap), largest, stopped
        )


def _number(value: int) -> int | str:
    return value if value <= EXACT_IN_JSON else hex(value)


def _read(name: str, value: object) -> int:
    """Read a non-negative integer, given as such or in hexadecimal."""
    number = value
    if isinstance(value, str):
        try:
            number = int(value, 16)
        except ValueError:
            number = None
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise ProofError(f"no result of a shard: {name} is {str(value)[:80]}, no integer from 0")
    return number
