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
    from collections.abc import Callable, Sequence

    from benchmarks.measure import Measure
    from benchmarks.plain_sweeps import Plain
    from verify.exhaustive.case import SweepCase
    from verify.exhaustive.engines import Prefer, SweepEngine

STAR, TOKENS, CORES = "star:n=6,w=1", 6, 2
CHUNKS = (1, 2, 4, 8, 16, 32, 64, 128)  # blocks of up to 1,024 inputs
TABLE = f"Injectivity over all inputs of `{STAR}`, d = 1, K = {{K}}, merged, s = {{s}}"
GROWTH = f"The first inputs of `{STAR}`, d = 1, K = {{K}}, merged, {CORES} threads"
KERNEL = "sweep, numba kernel"


def star_case(levels: int, *, tight: bool = False) -> SweepCase:
    """Return the case; with `tight` there is one all-max-shift, as every token sees the hub, and ids fit int64."""
    return sweep_case(build_mapping(parse_family(STAR), 1, levels, "merged", tight=tight))


def sweep_shards(engine: SweepEngine, case: SweepCase, threads: int, numbers: Sequence[int]) -> None:
    """Sweep shards on some threads."""
    with ThreadPoolExecutor(threads) as pool:
        assert not any(result.stopped for result in pool.map(partial(engine.shard, case), numbers))


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
        shards = [*range(self.case.shards)] * repeat
        self.time(name, self.case.count * repeat, lambda: sweep_shards(engine, self.case, self.threads, shards))

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


@sizes([2**24, 2**26, 2**28, 2**30], [2**16, 2**17])
def test_growth(measure: Measure, size: int) -> None:
    """The first inputs of the same case, up to all 32^6 = 1.07e9."""
    case = star_case(32 if size >= 2**24 else 8)
    engine, smallest = choose_sweep_engine(case, NUMPY), size in (2**24, 2**16)
    measure(
        lambda: sweep_shards(engine, case, CORES, range(size // case.shard)),
        table=GROWTH.format(K=case.mapping.K),
        row=f"{size:,} inputs",
        against="" if smallest else f"{2**24 if size >= 2**24 else 2**16:,} inputs",
        goal="" if smallest else "within 20%",
        size=Size(size, "inputs"),
        curve=Curve("Exhaustive sweep", ""),
        rounds=3 if size < 2**28 else 1,
        memory=True,
    )


@sizes([32], [6])
def test_whole(measure: Measure, size: int) -> None:
    """The whole proof as `prove --exhaustive --jobs 2` runs it, with its digest."""
    case = star_case(size)
    engine = choose_sweep_engine(case, NUMPY)
    found = measure(
        lambda: sweep(case, engine, jobs=CORES),
        table=GROWTH.format(K=size),
        row="all inputs, `--jobs 2`",
        size=Size(case.count, "inputs"),
        rounds=1,
        warm=False,
        memory=True,
    )
    assert found.stopped is None
