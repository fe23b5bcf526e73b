"""The exhaustive sweep on a Dask cluster of one and of two worker processes: the same digest, and how soon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.measure import Size, sizes
from constructions.backends import NUMPY
from constructions.network import choose_mapping
from theory.families import parse_family
from verify.exhaustive.case import SweepCase, sweep_case
from verify.exhaustive.engines import choose_sweep_engine
from verify.exhaustive.run import sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.measure import Measure

TABLE = "Dask: all inputs of `star:n=6,w=1`, d = 1, K = {K}, merged"


def case_of(levels: int) -> SweepCase:
    """Return the sweep over K^6 inputs."""
    return sweep_case(choose_mapping(parse_family("star:n=6,w=1"), 1, levels, "merged"))


@pytest.fixture(params=[1, 2])
def cluster(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Start workers of one thread each on this machine."""
    distributed = pytest.importorskip("distributed")
    settings = {"threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(n_workers=request.param, **settings) as started:
        yield started


@sizes([32], [8])
def test_dask(measure: Measure, cluster: Any, size: int) -> None:
    """Sweep with every worker; the first sweep, outside the clock, imports and compiles."""
    case, workers = case_of(size), len(cluster.workers)
    engine = choose_sweep_engine(case, NUMPY)
    found = measure(
        lambda: sweep(case, engine, dask=cluster.scheduler_address),
        table=TABLE.format(K=size),
        row=f"{workers} worker" + "s" * (workers > 1),
        against="2 workers" if workers == 1 else "",
        goal=">= 1.7" if workers == 1 else "",
        size=Size(case.count, "inputs"),
    )
    measure.note(digest=found.digest[:12], engine=found.engine)
    assert found.digest == sweep(case, engine, jobs=2).digest
