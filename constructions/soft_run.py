"""How a soft run is cut up: inputs in chunks that stay in a CPU's cache, a thread a chunk; whole on a GPU."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from array_api_compat import array_namespace, device, is_torch_array

from constructions.stage import token_rows
from theory.hops.columns import usable_cores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["in_chunks", "runs_on"]

STATES = {"cpu": 2**16, "cuda": 2**22}
"""Numbers of a state run at once."""

SHARE = 2**13
"""Numbers of a state that are worth a thread of their own."""

WORKERS = usable_cores()
"""Threads of a run on the CPU."""


def runs_on(array: Any) -> str:
    """Return `cpu` or `cuda`, by which sizes of work are chosen."""
    return "cuda" if str(device(array)).startswith("cuda") else "cpu"


def in_chunks(run: Callable[[Any], Any], values: Any, *, threads: bool) -> Any:
    """Run a function of states (m, n), an input a row, on inputs of any number and shape.

    Parameters
    ----------
    run
        Returns a state of the same shape. What it gets is a view whose memory has the tokens first, as
        `constructions.neighbours` reads and writes it.
    values
        Inputs (..., n), an array of any backend.
    threads
        Whether `run` bears threads.

    Examples
    --------
    >>> import numpy as np
    >>> in_chunks(lambda state: state + 1, np.zeros((2, 1, 3)), threads=True).tolist()
    [[[1.0, 1.0, 1.0]], [[1.0, 1.0, 1.0]]]
    """
    xp, place, n = array_namespace(values), runs_on(values), values.shape[-1]
    flat = xp.reshape(values, (-1, n))
    inputs = flat.shape[0]
    workers = WORKERS if threads and place == "cpu" else 1
    size = max(1, min(STATES[place] // n, max(-(-inputs // workers), SHARE // n)))
    chunks = [flat[a:b, :] for a, b in pairwise([*range(0, inputs, size), inputs])]
    with _one_thread_an_operation(values):
        if workers > 1 and len(chunks) > 1:
            with ThreadPoolExecutor(workers) as pool:
                done = list(pool.map(lambda chunk: run(token_rows(chunk).T), chunks))
        else:
            done = [run(token_rows(chunk).T) for chunk in chunks]
    return xp.reshape(xp.concat(done, axis=0), values.shape) if done else values


@contextmanager
def _one_thread_an_operation(values: Any) -> Iterator[None]:
    """Keep PyTorch on the CPU from sharing out operations: it waits for all its threads after every one."""
    if not is_torch_array(values) or runs_on(values) == "cuda":
        yield
        return
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
