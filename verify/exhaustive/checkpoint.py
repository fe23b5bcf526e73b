"""Where a sweep stands, in constant memory, and the file from which a sweep that was killed goes on.

Results of shards come in any order. Those in order are folded into one chain of SHA-256, so the digest depends on
the case and the results alone, not on who swept them, and neither memory nor file grows with the number of shards;
those ahead of a shard still under way wait.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from constructions.numbers import ProofError
from theory.files import check_output, write_text
from theory.patterns import PatternError
from verify.exhaustive.shard_result import ShardResult

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from verify.exhaustive.case import SweepCase

__all__ = ["Checkpoint", "Standing"]

FORMAT, VERSION = "sparseuap sweep checkpoint", 1
EVERY = 5.0  # seconds between two writings
LONGEST = 2**26  # bytes of a checkpoint: far more than the results of all shards that can wait
SHA256 = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True)
class Standing:
    """What the shards finished so far showed.

    Parameters
    ----------
    case
        What is swept.
    done
        Shards 0..done-1 are folded into the numbers below.
    digest
        h_done of the chain h_0 = SHA-256(key), h_i = SHA-256(h_{i-1}, result i - 1 as JSON).
    inputs, gap_within, largest
        Number of inputs read back, the least gap within one and the greatest id, as in `ShardResult`.
    stopped
        What stopped the first shard that did; nothing after it counts.
    ahead
        Finished shards beyond `done`, by number.
    """

    case: SweepCase
    done: int
    digest: str
    inputs: int = 0
    gap_within: int | None = None
    largest: int = 0
    stopped: str | None = None
    ahead: Mapping[int, ShardResult] = field(default_factory=dict)

    @classmethod
    def start(cls, case: SweepCase) -> Standing:
        """Return where a sweep begins."""
        return cls(case, 0, hashlib.sha256(case.key.encode()).hexdigest())

    @property
    def met(self) -> int:
        """Inputs of all finished shards."""
        return self.inputs + sum(result.inputs for result in self.ahead.values())

    @property
    def ended(self) -> bool:
        """Whether no shard is left that counts."""
        return self.stopped is not None or self.done == self.case.shards

    def plus(self, result: ShardResult) -> Standing:
        """Return where the sweep stands after one more shard, in any order.

        Raises
        ------
        ProofError
            If it is no result of a shard that was still to come.
        """
        case, number = self.case, result.number
        size = min(case.shard, case.count - number * case.shard)
        whole = result.inputs == size if result.stopped is None else 0 <= result.inputs < size
        if not (self.done <= number < case.shards and number not in self.ahead and whole):
            raise ProofError(f"shard {number} came twice, or with {result.inputs} of its {size} inputs")
        standing = replace(self, ahead={**self.ahead, number: result})
        while standing.done in standing.ahead and standing.stopped is None:
            standing = standing._fold()
        return standing

    def _fold(self) -> Standing:
        """Return the same with the next shard folded in."""
        result = self.ahead[self.done]
        text = json.dumps(result.as_json(), sort_keys=True, separators=(",", ":"))
        gaps = (result.gap_within, self.gap_within if self.done else result.gap_within)
        rest = {number: other for number, other in self.ahead.items() if number != self.done}
        return Standing(
            case=self.case,
            done=self.done + 1,
            digest=hashlib.sha256(f"{self.digest} {text}".encode()).hexdigest(),
            inputs=self.inputs + result.inputs,
            gap_within=None if None in gaps else min(gap for gap in gaps if gap is not None),
            largest=max(self.largest, result.largest),
            stopped=result.stopped,
            ahead=rest if result.stopped is None else {},
        )

    def as_json(self) -> dict[str, Any]:
        """Return all of it but the case for JSON, folded shards as one `ShardResult`."""
        folded = ShardResult(self.done, self.inputs, 0, self.gap_within, self.largest, self.stopped)
        ahead = [self.ahead[number].as_json() for number in sorted(self.ahead)]
        return {"folded": folded.as_json(), "digest": self.digest, "ahead": ahead}

    @classmethod
    def from_json(cls, case: SweepCase, data: Mapping[str, Any]) -> Standing:
        """Read what `as_json` wrote.

        Raises
        ------
        ProofError
            If it is anything else, or not of this case.
        """
        if not SHA256.fullmatch(str(data.get("digest"))) or not isinstance(data.get("ahead"), list):
            raise ProofError("it has no digest, or no list of shards ahead")
        folded = ShardResult.from_json(data.get("folded"))
        done, size = folded.number, min(folded.number * case.shard, case.count)
        if done > case.shards or (folded.inputs != size if folded.stopped is None else folded.inputs >= size):
            raise ProofError(f"{done} shards with {folded.inputs} inputs are not of this case")
        gap, largest, stopped = folded.gap_within, folded.largest, folded.stopped
        standing = cls(case, done, data["digest"], folded.inputs, gap, largest, stopped)
        for entry in data["ahead"]:
            standing = standing.plus(ShardResult.from_json(entry))
        return standing


class Checkpoint:
    """A file that holds where a sweep stands; written whole and put in place at once, so it is never half written.

    Parameters
    ----------
    path
        The file. It need not exist; what is there and no checkpoint of this case is refused, never overwritten.
    case
        What is swept.

    Raises
    ------
    ProofError
        If the file cannot be read or written, or is no checkpoint of this case.
    """

    def __init__(self, path: Path, case: SweepCase) -> None:
        self.path = path
        try:
            check_output(path)
            data = _read(path) if path.exists() else None
        except PatternError as error:
            raise ProofError(f"checkpoint {error}") from error
        except OSError as error:
            raise ProofError(f"checkpoint {path} cannot be read: {error.strerror or error}") from error
        self.start = Standing.start(case) if data is None else self._standing(case, data)
        self.save(self.start)

    def _standing(self, case: SweepCase, data: bytes) -> Standing:
        """Return what the file says, if it speaks of this case."""
        another = "give another file, or remove this one"
        try:
            held = json.loads(data)
            checksum = held.pop("checksum")
            kind, version, of = held["format"], held["version"], (held["key"], held["shards"])
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise ProofError(f"{self.path} is no checkpoint of a sweep, or was cut short: {another}") from None
        if kind != FORMAT or version != VERSION:
            raise ProofError(f"{self.path} is no {FORMAT} of version {VERSION}: {another}")
        if checksum != _checksum(held):
            raise ProofError(f"checkpoint {self.path} was damaged or changed, its checksum is wrong: {another}")
        if of != (case.key, case.shards):
            which = "another case (pattern, d, delta, construction or constants)"
            raise ProofError(f"checkpoint {self.path} is of {which}: {another}")
        try:
            return Standing.from_json(case, held)
        except ProofError as error:
            raise ProofError(f"checkpoint {self.path} contradicts itself, {error}: {another}") from error

    def save_now_and_then(self, standing: Standing) -> None:
        """Write the file if it was not written for some seconds."""
        if time.monotonic() - self.saved >= EVERY:
            self.save(standing)

    def save(self, standing: Standing) -> None:
        """Write the file.

        Raises
        ------
        OutputError
            If it cannot be written; what was there before is unharmed.
        """
        case = standing.case
        head = {"format": FORMAT, "version": VERSION, "key": case.key, "shards": case.shards}
        held = head | standing.as_json()
        text = json.dumps(held | {"checksum": _checksum(held)}, indent=1)
        write_text(self.path, text + "\n")
        self.saved = time.monotonic()


def _read(path: Path) -> bytes:
    """Return the bytes of a file, none beyond what a checkpoint can have."""
    with path.open("rb") as file:
        return file.read(LONGEST)


def _checksum(held: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(held, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
