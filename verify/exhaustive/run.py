"""A whole sweep: all shards by any workers, resumable, in flat memory, with one digest at the end."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from constructions.numbers import ProofError
from verify.exhaustive.checkpoint import Checkpoint, Standing
from verify.exhaustive.workers import check_workers, shard_results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from verify.exhaustive.case import SweepCase
    from verify.exhaustive.engines import SweepEngine

__all__ = ["SweepResult", "sweep"]

METHOD = "every id read back by a linear form, streamed"


@dataclass(frozen=True)
class SweepResult:
    """What a sweep showed.

    Parameters
    ----------
    inputs
        Inputs read back: all K^{dn}, or those before the one that stopped the sweep.
    digest
        SHA-256 over the case's key and the results of all shards in order; the same from every engine and any
        workers, in one run or several.
    gap_within, largest
        As in `ShardResult`, over all inputs.
    stopped
        The first input that was not read back, and why; None if every id was, which proves 7.1 and 7.2.
    seconds, rate
        How long this run took, and how many inputs a second it made; None where a checkpoint left nothing to do.
    resumed
        How many inputs were in the checkpoint.
    engine
        The engine's name.
    method
        In words.
    """

    inputs: int
    digest: str
    gap_within: int | None
    largest: int
    stopped: str | None
    seconds: float
    rate: float | None
    resumed: int
    engine: str
    method: str = METHOD


def sweep(
    case: SweepCase,
    engine: SweepEngine,
    *,
    jobs: int = 1,
    dask: str | None = None,
    checkpoint: Path | None = None,
    progress: Callable[[str, float | None], None] | None = None,
) -> SweepResult:
    """Sweep all inputs of a case, or those that a checkpoint leaves.

    Parameters
    ----------
    case, engine
        See `sweep_case` and `choose_sweep_engine`.
    jobs, dask
        Workers on this machine (-1: all cores), or the address of a Dask scheduler that you trust.
    checkpoint
        A file that is written every few seconds and when the sweep ends, is interrupted or fails; from it a killed
        sweep goes on, with other workers or another engine if you like.
    progress
        Called with what is done in words, and the share of it.

    Raises
    ------
    ProofError
        If a package is missing, workers fail, or the checkpoint cannot be used.

    Examples
    --------
    >>> from constructions.backends import NUMPY
    >>> from constructions.contextual_mapping import build_mapping
    >>> from theory.patterns import SparsityPattern
    >>> from verify.exhaustive.case import sweep_case
    >>> from verify.exhaustive.engines import choose_sweep_engine
    >>> dense = SparsityPattern.from_lists([[0, 1], [0, 1]])
    >>> case = sweep_case(build_mapping(dense, 1, 4, "merged", gamma=[0, 1], s=1))
    >>> result = sweep(case, choose_sweep_engine(case, NUMPY, "numpy"))
    >>> result.inputs, result.stopped, len(result.digest)
    (16, None, 64)
    """
    start, say = time.perf_counter(), progress or (lambda _step, _share: None)
    check_workers(jobs, dask)
    file = None if checkpoint is None else Checkpoint(checkpoint, case)
    standing = Standing.start(case) if file is None else file.start
    resumed, queue = standing.met, _Queue(standing)
    try:
        with closing(shard_results(case, engine, queue.numbers(), jobs=jobs, dask=dask)) as results:
            for result in () if standing.ended else results:
                standing = standing.plus(result)
                queue.stopped = queue.stopped or result.stopped is not None
                if file is not None:
                    file.save_now_and_then(standing)
                met = standing.met
                say(_words(met, resumed, case.count, time.perf_counter() - start), met / case.count)
    finally:
        if file is not None:
            file.save(standing)
    if not standing.ended:
        raise ProofError(f"the workers gave up after {standing.met} of {case.count} inputs: run it again")
    seconds = time.perf_counter() - start
    fresh = standing.met - resumed
    return SweepResult(
        inputs=standing.inputs,
        digest=standing.digest,
        gap_within=standing.gap_within,
        largest=standing.largest,
        stopped=standing.stopped,
        seconds=seconds,
        rate=fresh / seconds if fresh else None,
        resumed=resumed,
        engine=engine.name,
    )


class _Queue:
    """The shards still to be swept, in order; no more once one stopped, as only those before it count then."""

    def __init__(self, standing: Standing) -> None:
        self.stopped = False
        self.first, self.ahead, self.shards = standing.done, frozenset(standing.ahead), standing.case.shards

    def numbers(self) -> Iterator[int]:
        """Iterate the shards."""
        for number in range(self.first, self.shards):
            if self.stopped:
                return
            if number not in self.ahead:
                yield number


def _words(met: int, resumed: int, count: int, seconds: float) -> str:
    """Say how far the sweep is, how fast, and how long it still takes."""
    words = f"comparing the ids: {_short(met)} of {_short(count)} inputs"
    if met == resumed:
        return words
    rate = (met - resumed) / seconds
    return f"{words}, {_short(rate)}/s, {_wait((count - met) / rate)} left"


def _short(number: float) -> str:
    """Write a number with three digits and a unit.

    Examples
    --------
    >>> _short(512), _short(4_194_304), _short(2**30)
    ('512', '4.19M', '1.07G')
    """
    for unit in ("", "k", "M", "G", "T", "P", "E"):
        if number < 999.5 or unit == "E":
            break
        number /= 1000
    return f"{number:.3g}{unit}"


def _wait(seconds: float) -> str:
    """Write a time in the unit that suits it.

    Examples
    --------
    >>> _wait(8.2), _wait(200), _wait(9000), _wait(10**6)
    ('8 s', '3 min', '2.5 h', '11.6 days')
    """
    for size, unit, digits in ((86400, "days", 1), (3600, "h", 1), (60, "min", 0)):
        if seconds >= size * (1.5 if unit == "min" else 1.0):
            return f"{seconds / size:.{digits}f} {unit}"
    return f"{seconds:.0f} s"
