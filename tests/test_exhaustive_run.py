"""Sweeps: one digest whoever sweeps, in one run or several; checkpoints that survive a kill, or are refused."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import verify.exhaustive.checkpoint
import verify.exhaustive.workers
from constructions.backends import NUMPY
from constructions.network import choose_mapping
from constructions.numbers import ProofError
from theory.families import parse_family
from verify.exhaustive.arrays import ArrayEngine
from verify.exhaustive.case import SweepCase, sweep_case
from verify.exhaustive.checkpoint import Checkpoint, Standing
from verify.exhaustive.engines import choose_sweep_engine
from verify.exhaustive.run import sweep
from verify.exhaustive.shard_result import ShardResult

ROOT = Path(__file__).parents[1]


def star(construction: str = "merged", levels: int = 4, shard: int = 1, d: int = 1) -> SweepCase:
    """Star with 6 tokens, a shard as many blocks as asked for."""
    case = sweep_case(choose_mapping(parse_family("star:n=6,w=1"), d, levels, construction))
    return dataclasses.replace(case, shard=case.block * shard)


def lengthened(shards: int) -> SweepCase:
    """A case that says it has more shards than any mapping gives it; for fake engines."""
    case = star()
    return dataclasses.replace(case, count=shards * case.shard)


def shown(case: SweepCase, number: int, stopped: str | None = None) -> ShardResult:
    """What a fake engine shows of a shard."""
    size = case.shard if stopped is None else 3
    return ShardResult(number, size, number * 2**55 % 2**64, 7 + number % 5, 10**20 + number, stopped)


class Fake:
    """An engine that sweeps nothing, or does what a test wants."""

    name = "fake"

    def __init__(self, act: Callable[[int], str | None] = lambda _number: None) -> None:
        self.act, self.swept = act, list[int]()

    def shard(self, case: SweepCase, number: int) -> ShardResult:
        stopped = self.act(number)
        self.swept.append(number)
        return shown(case, number, stopped)


def chained(case: SweepCase, results: list[ShardResult]) -> str:
    """The digest by its definition."""
    digest = hashlib.sha256(case.key.encode()).hexdigest()
    for result in results:
        text = json.dumps(result.as_json(), sort_keys=True, separators=(",", ":"))
        digest = hashlib.sha256(f"{digest} {text}".encode()).hexdigest()
    return digest


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write checkpoints after every shard."""
    monkeypatch.setattr(verify.exhaustive.checkpoint, "EVERY", 0.0)


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", protocol="tcp://"
    ) as local:
        yield local.scheduler_address


def test_the_digest_is_a_chain_over_the_results_in_order() -> None:
    case = star()
    engine = ArrayEngine()
    results = [engine.shard(case, number) for number in range(case.shards)]
    found = sweep(case, engine)
    assert case.shards > 3
    assert found.digest == chained(case, results)
    assert (found.inputs, found.stopped, found.resumed) == (4**6, None, 0)
    assert found.gap_within == min(result.gap_within or 0 for result in results)
    assert found.largest == max(result.largest for result in results)
    assert found.rate == pytest.approx(4**6 / found.seconds)


@pytest.mark.parametrize("construction", ["merged", "relay"])
def test_one_digest_whoever_sweeps(construction: str, cluster: str) -> None:
    pytest.importorskip("joblib")
    case = star(construction)
    alone = sweep(case, ArrayEngine())
    for engine in (ArrayEngine(), choose_sweep_engine(case, NUMPY)):
        for workers in ({"jobs": 1}, {"jobs": 2}, {"dask": cluster}):
            found = sweep(case, engine, **workers)
            assert (found.digest, found.gap_within, found.largest) == (
                alone.digest,
                alone.gap_within,
                alone.largest,
            )
    assert sweep(star(construction, levels=3), ArrayEngine()).digest != alone.digest


@pytest.mark.parametrize("seed", range(50))
def test_any_order_gives_the_same_standing(seed: int) -> None:
    case = lengthened(9)
    order = np.random.default_rng(seed).permutation(9).tolist()
    standing = Standing.start(case)
    for number in order:
        standing = standing.plus(shown(case, number))
        back = Standing.from_json(case, json.loads(json.dumps(standing.as_json())))
        assert back.as_json() == standing.as_json()
    assert standing.digest == chained(case, [shown(case, number) for number in range(9)])
    assert (standing.done, standing.ahead, standing.ended) == (9, {}, True)
    assert (standing.inputs, standing.gap_within, standing.largest) == (case.count, 7, 10**20 + 8)


def test_an_unknown_gap_stays_unknown() -> None:
    case = lengthened(3)
    standing = Standing.start(case)
    for number in range(3):
        gap = None if number == 1 else 5
        standing = standing.plus(dataclasses.replace(shown(case, number), gap_within=gap))
    assert standing.gap_within is None


@pytest.mark.parametrize("wrong", ["again", "beyond", "short"])
def test_a_result_that_cannot_be_is_refused(wrong: str) -> None:
    case = lengthened(4)
    standing = Standing.start(case).plus(shown(case, 0)).plus(shown(case, 2))
    results = {
        "again": shown(case, 2),
        "beyond": dataclasses.replace(shown(case, 0), number=4),
        "short": dataclasses.replace(shown(case, 1), inputs=5),
    }
    with pytest.raises(ProofError, match="came twice, or with"):
        standing.plus(results[wrong])


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_first_stop_counts_whatever_comes_first(jobs: int) -> None:
    if jobs > 1:
        pytest.importorskip("joblib")
    case = lengthened(400)

    def act(number: int) -> str | None:
        time.sleep(0.2 if number == 3 else 0.002)
        return f"input {number}" if number in (3, 5, 9) else None

    engine = Fake(act)
    found = sweep(case, engine, jobs=jobs)
    expected = [shown(case, number) for number in range(3)] + [shown(case, 3, "input 3")]
    assert (found.stopped, found.digest) == ("input 3", chained(case, expected))
    assert found.inputs == 3 * case.shard + 3
    assert len(engine.swept) < 300


def test_a_long_sweep_takes_no_more_memory(tmp_path: Path) -> None:
    held, sizes = [], []
    ours = [tracemalloc.Filter(True, str(place)) for place in (ROOT / "verify" / "exhaustive" / "*", __file__)]

    def measure(_: str, share: float | None) -> None:
        if share == 1:
            snapshot = tracemalloc.take_snapshot().filter_traces(ours)  # a cluster's threads allocate as well
            held.append(sum(trace.size for trace in snapshot.traces))

    for shards in (100, 6000):
        file = tmp_path / str(shards)
        engine = Fake()
        engine.swept = _Forgetful()
        tracemalloc.start()
        sweep(lengthened(shards), engine, checkpoint=file, progress=measure)
        tracemalloc.stop()
        sizes.append(file.stat().st_size)
    assert held[1] < held[0] + 10_000  # the results of 6000 shards take a megabyte
    assert sizes[1] < sizes[0] + 50


class _Forgetful(list[int]):
    def append(self, _: int) -> None:
        pass


def test_progress_says_rate_and_time_left() -> None:
    said: list[tuple[str, float | None]] = []
    case = star()
    sweep(case, ArrayEngine(), progress=lambda words, share: said.append((words, share)))
    words, shares = zip(*said, strict=True)
    assert list(shares) == pytest.approx([(i + 1) / case.shards for i in range(case.shards)])
    assert words[-1].startswith("comparing the ids: 4.1k of 4.1k inputs, ")
    assert words[-1].endswith("/s, 0 s left")


# Checkpoints


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_sweep_goes_on(tmp_path: Path, jobs: int) -> None:
    if jobs > 1:
        pytest.importorskip("joblib")
    file, case = tmp_path / "sweep.json", lengthened(40)
    whole = sweep(case, Fake())
    counted: list[float | None] = []

    def interrupt(_: str, share: float | None) -> None:
        counted.append(share)
        if len(counted) == 11:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(case, Fake(), jobs=jobs, checkpoint=file, progress=interrupt)
    assert Checkpoint(file, case).start.met == 11 * case.shard
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    rest = Fake()
    found = sweep(case, rest, jobs=jobs, checkpoint=file)
    assert found.digest == whole.digest
    assert found.resumed == 11 * case.shard
    assert len(rest.swept) == 40 - 11
    again = Fake()
    third = sweep(case, again, jobs=jobs, checkpoint=file)
    assert (third.digest, third.rate, again.swept) == (whole.digest, None, [])


CHILD = """
import signal, sys, time, pathlib
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits an ignored one
import verify.exhaustive.checkpoint
from test_exhaustive_run import star
from verify.exhaustive.arrays import ArrayEngine
from verify.exhaustive.run import sweep

class Slow(ArrayEngine):
    def shard(self, case, number):
        time.sleep(0.05)
        return super().shard(case, number)

verify.exhaustive.checkpoint.EVERY = 0.0
sweep(star(levels=5), Slow(), checkpoint=pathlib.Path(sys.argv[1]))
"""


def child(file: Path) -> subprocess.Popen[bytes]:
    path = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", CHILD, str(file)],
        env={**os.environ, "PYTHONPATH": path},
        cwd=file.parent,
        stderr=subprocess.PIPE,
    )


def some_shards(file: Path, running: subprocess.Popen[bytes]) -> None:
    """Wait until the file has some shards, but not all."""
    while running.poll() is None:
        if file.exists() and json.loads(file.read_text())["folded"]["number"] >= 3:
            return
        time.sleep(0.01)
    raise AssertionError("the sweep ended before it was stopped")


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_sweep_goes_on_and_ends_with_the_same_digest(tmp_path: Path, end: signal.Signals) -> None:
    file, case = tmp_path / "sweep.json", star(levels=5)
    running = child(file)
    try:
        some_shards(file, running)
        running.send_signal(end)
        _, complaint = running.communicate()
    finally:
        running.kill()
    assert running.returncode != 0
    assert (end is signal.SIGINT) == (b"KeyboardInterrupt" in complaint)
    whole = sweep(case, ArrayEngine())
    found = sweep(case, ArrayEngine(), checkpoint=file)
    assert 0 < found.resumed < case.count
    assert (found.digest, found.gap_within, found.largest) == (whole.digest, whole.gap_within, whole.largest)


def _cut(text: str) -> str:
    return text[: len(text) // 2]


def _tampered(text: str) -> str:
    held = json.loads(text)
    held["folded"]["gap_within"], held["folded"]["largest"] = 10**6, 1
    return json.dumps(held)


def _signed(text: str, change: Callable[[dict[str, Any]], object]) -> str:
    """Change a checkpoint and put the checksum right."""
    held = json.loads(text)
    del held["checksum"]
    change(held)
    plain = json.dumps(held, sort_keys=True, separators=(",", ":"))
    return json.dumps(held | {"checksum": hashlib.sha256(plain.encode()).hexdigest()})


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda _: "", "is no checkpoint"),
        (lambda _: "notes\n", "is no checkpoint"),
        (lambda _: "[" * 10**5, "is no checkpoint"),
        (lambda _: "[1, 2]", "is no checkpoint"),
        (lambda _: '{"format": 1, "checksum": ""}', "is no checkpoint"),
        (lambda _: "9" * 10**5, "is no checkpoint"),
        (_cut, "cut short"),
        (_tampered, "checksum is wrong"),
        (lambda text: text.replace('"number": 12', '"number": 11'), "checksum is wrong"),
        (lambda text: _signed(text, lambda held: held.update(version=2)), "of version 1"),
        (lambda text: _signed(text, lambda held: held.update(key="0" * 64)), "is of another case"),
        (lambda text: _signed(text, lambda held: held.update(shards=39)), "is of another case"),
        (lambda text: _signed(text, lambda held: held.update(digest=None)), "contradicts itself"),
        (lambda text: _signed(text, lambda held: held.update(ahead={})), "contradicts itself"),
        (lambda text: _signed(text, lambda held: held.update(ahead=[3])), "contradicts itself"),
        (lambda text: _signed(text, lambda held: held.update(folded=None)), "contradicts itself"),
        (lambda text: _signed(text, lambda held: held["folded"].update(number=41)), "contradicts itself"),
        (lambda text: _signed(text, lambda held: held["folded"].update(inputs=1)), "contradicts itself"),
    ],
)
def test_a_wrong_checkpoint_is_refused_and_left_alone(
    tmp_path: Path, spoil: Callable[[str], str], named: str
) -> None:
    file, case = tmp_path / "sweep.json", lengthened(40)
    standing = Standing.start(case)
    for number in range(12):
        standing = standing.plus(shown(case, number))
    Checkpoint(file, case).save(standing.plus(shown(case, 20)))
    assert Checkpoint(file, case).start.met == 13 * case.shard
    file.write_text(spoil(file.read_text()))
    before = file.read_text()
    engine = Fake()
    with pytest.raises(ProofError, match=named) as error:
        sweep(case, engine, checkpoint=file)
    assert "\n" not in str(error.value)
    assert "give another file" in str(error.value)
    assert (file.read_text(), engine.swept) == (before, [])


def test_a_checkpoint_of_another_case_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "sweep.json"
    sweep(star("merged"), ArrayEngine(), checkpoint=file)
    for other in (star("relay"), star("merged", levels=3), star("merged", shard=2)):
        with pytest.raises(ProofError, match="is of another case"):
            sweep(other, ArrayEngine(), checkpoint=file)


def test_patterns_of_equal_stages_do_not_share_a_checkpoint(tmp_path: Path) -> None:
    """Windows of width 1 and 2 with s = 3: the same shifts and all-max-shifts, over other attended sets."""
    narrow, wide = (choose_mapping(parse_family(f"window:n=4,w={w}"), 1, 4, "merged", s=3) for w in (1, 2))
    assert narrow.stages == wide.stages
    assert narrow.positions.tolist() == wide.positions.tolist()
    grids = [[[0, 1, 2, 3]]]
    assert narrow.ids(grids).tolist() != wide.ids(grids).tolist()
    file = tmp_path / "sweep.json"
    sweep(sweep_case(narrow), ArrayEngine(), checkpoint=file)
    with pytest.raises(ProofError, match="is of another case"):
        sweep(sweep_case(wide), ArrayEngine(), checkpoint=file)


def test_a_checkpoint_that_cannot_be_written_is_refused_before_the_work(tmp_path: Path) -> None:
    for place in (tmp_path / "no" / "where", tmp_path):
        engine = Fake()
        with pytest.raises(ProofError, match="checkpoint"):
            sweep(star(), engine, checkpoint=place)
        assert engine.swept == []


# Workers that fail


def _fail(number: int) -> None:
    if number == 4:
        raise ZeroDivisionError("no such luck")


@pytest.mark.parametrize("workers", [{"jobs": 1}, {"jobs": 2}, {"dask": "cluster"}])
def test_a_shard_that_fails_is_named_and_the_rest_kept(
    tmp_path: Path, workers: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    if "dask" in workers:
        workers = {"dask": request.getfixturevalue("cluster")}
    elif workers["jobs"] > 1:
        pytest.importorskip("joblib")
    file, case = tmp_path / "sweep.json", lengthened(30)
    with pytest.raises(ProofError, match="shard 4 failed: ZeroDivisionError: no such luck"):
        sweep(case, Fake(_fail), checkpoint=file, **workers)
    found = sweep(case, Fake(), checkpoint=file)
    assert found.digest == chained(case, [shown(case, number) for number in range(30)])


def test_a_worker_that_dies_is_one_clear_error() -> None:
    pytest.importorskip("joblib")

    class Dying(ArrayEngine):
        def shard(self, case: SweepCase, number: int) -> ShardResult:
            os._exit(1)

    with pytest.raises(ProofError, match="the workers failed: TerminatedWorkerError"):
        sweep(star(), Dying(), jobs=2)


@pytest.mark.parametrize(
    ("workers", "named"),
    [
        ({"jobs": 0}, "jobs must be 1..1024, or -1"),
        ({"jobs": -2}, "jobs must be 1..1024, or -1"),
        ({"jobs": 10**11}, "jobs must be 1..1024, or -1"),
        ({"jobs": 2, "dask": "tcp://127.0.0.1:1"}, "exclude each other"),
    ],
)
def test_workers_that_make_no_sense(tmp_path: Path, workers: dict[str, Any], named: str) -> None:
    with pytest.raises(ProofError, match=named):
        sweep(star(), Fake(), checkpoint=tmp_path / "file", **workers)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("workers", "named"), [({"jobs": 2}, r"joblib.*\[fast\]"), ({"dask": "x:1"}, r"distributed.*\[dask\]")]
)
def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, workers: dict[str, Any], named: str) -> None:
    monkeypatch.setattr(verify.exhaustive.workers, "find_spec", lambda _name: None)
    with pytest.raises(ProofError, match=named):
        sweep(star(), Fake(), **workers)


@pytest.mark.parametrize("address", ["127.0.0.1:1", "nonsense", "foo://127.0.0.1:1"])
def test_no_scheduler_answers(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(verify.exhaustive.workers, "CONNECT", 0.5)
    with pytest.raises(ProofError, match=f"no Dask scheduler answers at '{address}'"):
        sweep(star(), Fake(), dask=address)


def test_a_cluster_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(verify.exhaustive.workers, "CONNECT", 0.5)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0", protocol="tcp://") as empty,
        pytest.raises(ProofError, match="has no workers"),
    ):
        sweep(star(), Fake(), dask=empty.scheduler_address)


def test_a_lost_scheduler_leaves_a_checkpoint(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    file, case = tmp_path / "sweep.json", lengthened(200)
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", protocol="tcp://"
    ) as local:
        said: list[str] = []

        def lose(words: str, _: float | None) -> None:
            said.append(words)
            if len(said) == 5:
                local.close()

        with pytest.raises(ProofError, match=r"the Dask scheduler at tcp://.* was lost"):
            sweep(case, Fake(), dask=local.scheduler_address, checkpoint=file, progress=lose)
    found = sweep(case, Fake(), checkpoint=file)
    assert found.resumed >= 5 * case.shard
    assert found.digest == chained(case, [shown(case, number) for number in range(200)])


def test_workers_that_end_early_prove_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """HOLDS needs the result of every shard, whatever became of those who ran them."""
    case = star(levels=6)
    assert case.shards > 1

    def first_only(*_: Any, **__: Any) -> Iterator[ShardResult]:
        yield ArrayEngine(NUMPY).shard(case, 0)

    monkeypatch.setattr("verify.exhaustive.run.shard_results", first_only)
    with pytest.raises(ProofError, match=f"gave up after {case.shard} of {case.count} inputs"):
        sweep(case, ArrayEngine(NUMPY))


def test_a_block_that_would_not_fit_is_refused() -> None:
    wide = choose_mapping(parse_family("star:n=2,w=1"), 1, 2**18 + 1, "relay")
    with pytest.raises(ProofError, match="a block of K = 262145 inputs is too wide"):
        sweep_case(wide)
