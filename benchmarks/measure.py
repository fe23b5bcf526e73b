"""One measurement: the time of a piece of work, and what the report needs to know of it."""

from __future__ import annotations

import gc
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_benchmark.fixture import BenchmarkFixture

__all__ = ["Curve", "Measure", "Size", "Sizes", "peak_memory", "seconds", "sizes"]

F = TypeVar("F", bound="Callable[..., None]")
T = TypeVar("T")

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Size(NamedTuple):
    """How much work there is: `Size(14_000_000, "connections")`."""

    work: int
    unit: str


class Curve(NamedTuple):
    """The growth curve that a measurement is a point of: a panel of the figure, and a name inside the panel."""

    panel: str
    name: str


class Sizes(NamedTuple):
    """The sizes of a benchmark, in earnest and reduced (``--quick``)."""

    full: list[int]
    quick: list[int]


def sizes(full: list[int], quick: list[int]) -> Callable[[F], F]:
    """Decorate a benchmark that takes an argument `size`."""

    def mark(benchmark: F) -> F:
        benchmark.sizes = Sizes(full, quick)  # type: ignore[attr-defined]
        return benchmark

    return mark


class Measure:
    """The fixture `measure`: times work with pytest-benchmark, and writes beside the times what was measured.

    Parameters
    ----------
    benchmark
        pytest-benchmark's fixture, of one test: one test is one measurement.
    """

    def __init__(self, benchmark: BenchmarkFixture) -> None:
        self.benchmark = benchmark

    def __call__(
        self,
        work: Callable[..., T],
        *,
        table: str,
        row: str = "",
        against: str = "",
        goal: str = "",
        size: Size | None = None,
        curve: Curve | None = None,
        fresh: Callable[[], tuple[Any, ...]] | None = None,
        rounds: int = 3,
        warm: bool = True,
        memory: bool = False,
    ) -> T:
        """Time `work` and return what it returned last.

        Parameters
        ----------
        work
            Takes what `fresh` made for the round, or nothing.
        table, row
            Where the report puts it; no row for a point of a curve only.
        against
            The row of the same table that the ratio is to: the time of this row in times of that one.
        goal
            What the ratio or the time should be, in words.
        size
            How much work it is. Rows that differ in size are compared per unit of work.
        curve
            The growth curve that it is a point of.
        fresh
            Makes the arguments of every round, outside the clock.
        rounds, warm
            Repetitions, of which the shortest counts, and whether one more comes first and is not timed.
        memory
            Whether to note how far the peak memory rose (Linux).
        """
        self.benchmark.group = table
        self.benchmark.extra_info |= {
            "row": row,
            "against": against,
            "goal": goal,
            "size": size and size._asdict(),
            "curve": curve and curve._asdict(),
        }

        def run() -> T:
            setup = None if fresh is None else lambda: (fresh(), {})
            result: T = self.benchmark.pedantic(work, setup=setup, rounds=rounds, warmup_rounds=int(warm))
            return result

        gc.collect()
        if not memory:
            return run()
        result, rise = peak_memory(run)
        if rise is not None:
            self.note(**{"peak memory": f"{rise / 1e6:.0f} MB"})
        return result

    def note(self, **facts: float | str | None) -> None:
        """Write facts beside the times: `note(s=3)`."""
        self.benchmark.extra_info.setdefault("facts", {}).update(facts)


def seconds(work: Callable[[], object]) -> float:
    """Return the time of one run, to choose among programs; what is reported is timed by pytest-benchmark."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def peak_memory(work: Callable[[], T]) -> tuple[T, int | None]:
    """Return what `work` returns, and how far the peak memory of this process rose over the start, in bytes.

    Linux keeps the peak and lets the process set it back; elsewhere it is None.
    """
    try:
        CLEAR.write_text("5")
    except OSError:
        return work(), None
    before = _status("VmRSS")
    result = work()
    return result, max(_status("VmHWM") - before, 0)


def _status(field: str) -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024
