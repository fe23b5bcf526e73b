"""Injectivity over all inputs: the sweep, beside plain means that only run the network, and beside a copy.

The plain rows run the network and sum its ids, the sweep's rows also read every id back and fingerprint it. Small
cases are swept several times over, as a long one would be.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmarks.measure import Curve, Size, seconds, sizes
from benchmarks.plain_sweeps import compiled_ids, looped_sum, plain
from constructions.backends import NUMPY
from constructions.contextual_mapping import build_mapping
from theory.families import parse_family
from verify.contextual_mapping import check_contextual_mapping
from verify.exhaustive.case import sweep_case
from verify.exhaustive.engines import choose_sweep_engine
from verify.exhaustive.run import sweep
from verify.inputs import AllInputs

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.measure import Measure
    from benchmarks.plain_sweeps import Plain
    from verify.exhaustive.case import SweepCase
    from verify.exhaustive.engines import Prefer, SweepEngine

STAR, TOKENS, CORES = "star:n=6,w=1", 6, 2
CHUNKS = (1, 2, 4, 8, 16, 32, 64, 128)  # blocks of up to 1,024 inputs
TABLE = f"Injectivity over all inputs of `{STAR}`, d = 1, K = {{K}}, merged, s = {{s}}"
GROWTH = f"Injectivity over all inputs of `{STAR}`, d = 1, merged: growing K, {CORES} threads"
KERNEL = "sweep, numba kernel"


def star_case(levels: int, *, tight: bool = False) -> SweepCase:
    """Return the case; with `tight` there is one all-max-shift, as every token sees the hub, and ids fit int64."""
    return sweep_case(build_mapping(parse_family(STAR), 1, levels, "merged", tight=tight))


def sweep_shards(engine: SweepEngine, case: SweepCase, threads: int, repeat: int) -> None:
    """Sweep all shards, on some threads, some times over."""
    with ThreadPoolExecutor(threads) as pool:
        results = pool.map(partial(engine.shard, case), [*range(case.shards)] * repeat)
        assert not any(result.stopped for result in results)


class Ways:
    """All ways to go through the inputs of a case, each with a number of threads."""

    def __init__(self, measure: Measure, case: SweepCase, threads: int) -> None:
        self.measure, self.case, self.threads = measure, case, threads
        self.table = TABLE.format(K=case.mapping.K, s=case.path_stages[1].count)

    def time(self, name: str, inputs: int, work: Callable[[], Any], goal: str = "") -> None:
        """Time a way; the ratio is to the kernel on all cores."""
        row, kernel = (
            f"{way}, {threads} thread{'s' * (threads > 1)}"
            for way, threads in ((name, self.threads), (KERNEL, CORES))
        )
        against, size = kernel if row != kernel else "", Size(inputs, "inputs")
        self.measure(work, table=self.table, row=row, against=against, goal=goal, size=size, rounds=5)

    def kernel(self) -> None:
        """Sweep in compiled code."""
        pytest.importorskip("numba")
        self._sweep(KERNEL, "numba", 2**24)

    def arrays(self) -> None:
        """Sweep on NumPy."""
        self._sweep("sweep, NumPy arrays", "numpy", 2**20)

    def _sweep(self, name: str, prefer: Prefer, least: int) -> None:
        engine, repeat = choose_sweep_engine(self.case, NUMPY, prefer), max(1, least // self.case.count)
        inputs = self.case.count * repeat
        self.time(name, inputs, lambda: sweep_shards(engine, self.case, self.threads, repeat))

    def plain(self) -> None:
        """Run every block as it is written, on chunks of the best size."""
        numbers, blocks = plain(self.case), self.case.count // self.case.block
        ends = [part * blocks // self.threads for part in range(self.threads + 1)]

        def run(chunk: int) -> None:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(lambda part: numbers.sum(range(*part), chunk), pairwise(ends)))

        best = min(CHUNKS, key=lambda chunk: seconds(lambda: run(chunk)))
        goal = ">= 12" if self.threads == CORES else ""
        self.time("plain chunked NumPy", self.case.count, lambda: run(best), goal)

    def compiled(self) -> None:
        """Run the same through torch.compile, on a chunk of 2^16 inputs."""
        torch = pytest.importorskip("torch")
        numbers, values = self._chunk()
        before, tensor = torch.get_num_threads(), torch.tensor(values)
        torch.set_num_threads(self.threads)
        try:
            ids = compiled_ids(numbers)
            found = ids(tensor).numpy()
        except Exception as error:  # it needs a C++ compiler, among others
            pytest.skip(f"torch.compile does not work here: {type(error).__name__}")
        else:
            assert np.array_equal(found, numbers.ids(values))
            self.time("plain, torch.compile", values.shape[1], lambda: ids(tensor))
        finally:
            torch.set_num_threads(before)

    def looped(self) -> None:
        """Run the same as a compiled loop over single inputs."""
        pytest.importorskip("numba")
        numbers, values = self._chunk()
        (layer,) = self.case.mapping.pattern.layers
        given = values, layer.indptr, layer.keys, np.array(numbers.windows), numbers.count, numbers.base
        assert looped_sum()(*given) == int(numbers.ids(values).sum())
        self.time("plain, numba, input by input", values.shape[1], lambda: looped_sum()(*given))

    def sorted(self) -> None:
        """Sort all ids in memory: what the sweep replaces."""
        mapping, every = self.case.mapping, AllInputs(1, TOKENS, self.case.mapping.K)
        self.time("all ids sorted in memory", self.case.count, lambda: check_contextual_mapping(mapping, every))

    def copy(self) -> None:
        """Copy: bytes read and written, over the 8 n bytes of an input's ids."""
        source = np.ones((self.threads, 2**24), dtype=np.int64)
        target = np.zeros_like(source)

        def run() -> None:
            with ThreadPoolExecutor(self.threads) as pool:
                list(pool.map(np.copyto, target, source))

        self.time("copy bandwidth / 8 n", 2 * source.nbytes // (8 * TOKENS), run)

    def _chunk(self) -> tuple[Plain, Any]:
        numbers = plain(self.case)
        return numbers, numbers.rows(range(min(self.case.count, 2**16) // self.case.block))


@pytest.mark.parametrize(
    ("way", "threads"),
    [
        *(("plain", 1), ("plain", CORES), ("compiled", CORES), ("looped", 1), ("sorted", 1)),
        *(("arrays", 1), ("kernel", 1), ("kernel", CORES), ("copy", CORES)),
    ],
)
@sizes([8], [4])
def test_way(measure: Measure, way: str, threads: int, size: int) -> None:
    """Every way on the proof's constants, s = 2; the ids of the plain ones wrap around in int64."""
    getattr(Ways(measure, star_case(size), threads), way)()


@pytest.mark.parametrize("way", ["plain", "sorted", "kernel"])
@sizes([8], [4])
def test_tight(measure: Measure, way: str, size: int) -> None:
    """With s = 1 the ids fit int64."""
    getattr(Ways(measure, star_case(size, tight=True), 1 if way == "sorted" else CORES), way)()


@sizes([12, 16, 24, 32], [4, 6])
def test_growth(measure: Measure, size: int) -> None:
    """The whole proof as `prove --exhaustive --jobs 2` runs it, up to 32^6 = 1.07e9 inputs."""
    case = star_case(size)
    engine = choose_sweep_engine(case, NUMPY)
    smallest = size in (4, 12)
    found = measure(
        lambda: sweep(case, engine, jobs=CORES),
        table=GROWTH,
        row=f"K = {size}",
        against="" if smallest else f"K = {4 if size == 6 else 12}",
        goal="" if smallest else "within 20%",
        size=Size(case.count, "inputs"),
        curve=Curve("Exhaustive sweep", ""),
        rounds=1 if size > 16 else 3,
        warm=size <= 16,
        memory=True,
    )
    assert found.stopped is None
