"""Who sweeps the shards: this process, cores of this machine (joblib), or a Dask cluster; results as they come.

Nothing waits for a shard before it: results come in any order, and no more shards are under way than keep the
workers busy. A Dask cluster runs pickled code in both directions: connect to one that you trust.
"""

from __future__ import annotations

import logging
import warnings
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING, Any

from constructions.numbers import ProofError
from verify.exhaustive.arrays import ArrayEngine

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from verify.exhaustive.case import SweepCase
    from verify.exhaustive.engines import SweepEngine
    from verify.exhaustive.shard_result import ShardResult

__all__ = ["check_workers", "run_shard", "shard_results"]

MOST_JOBS = 1024
CONNECT = 10  # seconds that a scheduler, and a first worker, have to answer
AHEAD = 4  # tasks under way for every thread of a Dask cluster, so that none waits for the network
TOGETHER = 8  # shards of a task at most: a task costs the scheduler some milliseconds


def check_workers(jobs: int, dask: str | None) -> None:
    """Raise ProofError where the workers asked for make no sense or their package is not installed."""
    if isinstance(jobs, bool) or not isinstance(jobs, int) or not (1 <= jobs <= MOST_JOBS or jobs == -1):
        raise ProofError(f"jobs must be 1..{MOST_JOBS}, or -1 for all cores, got {jobs!r}")
    if jobs != 1 and dask is not None:
        raise ProofError("jobs and dask exclude each other: the cluster's workers are its own")
    for wanted, package, extra in ((jobs != 1, "joblib", "fast"), (dask is not None, "distributed", "dask")):
        if wanted and find_spec(package) is None:
            raise ProofError(f'this needs {package}: pip install "sparseuap[{extra}]"')


def shard_results(
    case: SweepCase, engine: SweepEngine, numbers: Iterator[int], *, jobs: int = 1, dask: str | None = None
) -> Generator[ShardResult, None, None]:
    """Iterate what shards show, in the order in which they are finished; close it to stop early.

    Parameters
    ----------
    case, engine
        What is swept, and by which engine; pickled where the workers are other processes.
    numbers
        Shards. Taken one by one, sometimes from another thread, when a worker is free.
    jobs
        Workers on this machine; -1 for all cores.
    dask
        Address of a Dask scheduler, in place of `jobs`.

    Raises
    ------
    ProofError
        If a package is missing, no scheduler answers, the cluster is lost, or a shard fails.

    Examples
    --------
    >>> from constructions.backends import NUMPY
    >>> from constructions.contextual_mapping import build_mapping
    >>> from theory.patterns import SparsityPattern
    >>> from verify.exhaustive.case import sweep_case
    >>> dense = SparsityPattern.from_lists([[0, 1], [0, 1]])
    >>> case = sweep_case(build_mapping(dense, 1, 4, "merged", gamma=[0, 1], s=1))
    >>> [result.inputs for result in shard_results(case, ArrayEngine(NUMPY), iter([0]))]
    [16]
    """
    check_workers(jobs, dask)
    if dask is not None:
        return _on_cluster(case, engine, numbers, dask)
    if jobs != 1:
        return _on_cores(case, engine, numbers, jobs)
    return (run_shard(case, engine, number) for number in numbers)


def run_shard(case: SweepCase, engine: SweepEngine, number: int) -> ShardResult:
    """Sweep one shard, on whichever worker; an error names it.

    Raises
    ------
    ProofError
        If the engine raised anything.
    """
    try:
        return engine.shard(case, number)
    except (MemoryError, ProofError):
        raise
    except Exception as error:
        raise ProofError(f"shard {number} failed: {type(error).__name__}: {error}") from error


def _run_shards(case: SweepCase, engine: SweepEngine, numbers: list[int]) -> list[ShardResult]:
    return [run_shard(case, engine, number) for number in numbers]


def _on_cores(
    case: SweepCase, engine: SweepEngine, numbers: Iterator[int], jobs: int
) -> Generator[ShardResult, None, None]:
    """Iterate the results of workers on this machine."""
    from joblib import Parallel, delayed

    # NumPy's steps over one block are short, and between them it holds Python's lock: threads would wait for it
    backend = "loky" if isinstance(engine, ArrayEngine) and engine.backend.name == "numpy" else "threading"
    pool = Parallel(n_jobs=jobs, backend=backend, return_as="generator_unordered", batch_size=1)
    results = pool(delayed(run_shard)(case, engine, number) for number in numbers)
    try:
        for result in results:  # noqa: UP028 - `yield from` would close them before the warning is silenced
            yield result
    except (MemoryError, ProofError):
        raise
    except Exception as error:
        raise ProofError(f"the workers failed: {type(error).__name__}: {error}") from error
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that shards under way were dropped: they run again
            results.close()


def _on_cluster(
    case: SweepCase, engine: SweepEngine, numbers: Iterator[int], address: str
) -> Generator[ShardResult, None, None]:
    """Iterate the results of a Dask cluster's workers."""
    distributed: Any = import_module("distributed")

    def submit(client: Any, tasks: int, together: int) -> list[Any]:
        parts = (list(islice(numbers, together)) for _ in range(tasks))
        return [client.submit(_run_shards, case, engine, part, pure=False) for part in parts if part]

    with _quiet("distributed.client"), _connect(distributed, address) as client:
        try:
            client.wait_for_workers(1, timeout=CONNECT)
            ahead = AHEAD * sum(client.nthreads().values())
            together = max(1, min(TOGETHER, case.shards // (AHEAD * ahead)))
            futures = distributed.as_completed(submit(client, ahead, together), loop=client.loop)
            for future in futures:
                yield from future.result()
                futures.update(submit(client, 1, together))
        except (MemoryError, ProofError):
            raise
        except TimeoutError as error:
            raise ProofError(
                f"the Dask cluster at {address} has no workers: start some with dask worker"
            ) from error
        except (CancelledError, OSError) as error:
            raise ProofError(f"the Dask scheduler at {address} was lost") from error
        except Exception as error:
            raise ProofError(f"a Dask worker failed: {type(error).__name__}: {error}") from error


def _connect(distributed: Any, address: str) -> Any:
    """Return a client of the scheduler at an address."""
    try:
        distributed.comm.get_address_host(address)  # the client of a malformed address could not be closed
        return distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except Exception as error:
        raise ProofError(f"no Dask scheduler answers at {address!r}: {error}") from error


@contextmanager
def _quiet(name: str) -> Iterator[None]:
    """Keep a logger from telling at length what the error says in a line."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)
