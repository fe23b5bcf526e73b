"""The exact step: a SAT solver in a process of its own, which can be stopped at any moment."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from theory.hamiltonian.deadline import Deadline
    from theory.patterns import Connections, IntArray

__all__ = ["SolverAnswer", "ask_solver"]

WORKER = Path(__file__).with_name("sat_worker.py")
MOST_EDGES = 1_000_000
# Seconds to start Python, and edges a second that the question is written at.
START_UP, WRITTEN = 0.1, 2e6
LONGEST = 1e6


@dataclass(frozen=True, eq=False)
class SolverAnswer:
    """What the solver said: feasible with a path, its bare "infeasible", or nothing (None) and the reason."""

    feasible: bool | None
    path: IntArray | None = None
    reason: str = ""


def ask_solver(edges: Connections, rank: IntArray | None, deadline: Deadline) -> SolverAnswer:
    """Ask the solver for a Hamiltonian path.

    The solver ignores limits while it works, so it runs in a process that is killed at the deadline, or when this
    call is interrupted; plain numbers go in and out.
    """
    if edges.count > MOST_EDGES:
        return SolverAnswer(None, reason=f"{edges.count} edges are too many for the SAT solver")
    if not deadline.allows(START_UP * WRITTEN + edges.count, WRITTEN):
        return SolverAnswer(None, reason="no time was left for the SAT solver")
    question = {
        "n": edges.n,
        "tails": edges.keys.tolist(),
        "heads": edges.queries.tolist(),
        "rank": None if rank is None else rank.tolist(),
        "seconds": min(deadline.left, LONGEST),
    }
    try:
        return _read(_run(json.dumps(question), deadline), edges)
    except subprocess.TimeoutExpired:
        return SolverAnswer(None, reason="the SAT solver was stopped at the time limit")
    except (subprocess.SubprocessError, OSError, ValueError, KeyError, TypeError) as error:
        last_line = (getattr(error, "stderr", None) or str(error)).strip().rpartition("\n")[2]
        return SolverAnswer(None, reason=f"the SAT solver failed: {last_line}")


def _run(question: str, deadline: Deadline) -> str:
    """Run the worker until it answers or the deadline passes; whatever happens, no process is left."""
    # -P keeps this folder's own files from standing in for other modules.
    command = [sys.executable, "-P", str(WORKER)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:  # noqa: S603
        try:
            answer, complaint = process.communicate(question, timeout=min(deadline.left, LONGEST))
        finally:
            process.kill()
            process.wait()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, answer, complaint)
    return answer


def _read(answer: str, edges: Connections) -> SolverAnswer:
    """Read an answer, and check its path."""
    path = json.loads(answer)["path"]
    if path is None:
        return SolverAnswer(False)
    found = np.asarray(path, dtype=np.int64)
    if not np.array_equal(np.sort(found), np.arange(edges.n)) or not edges.contains(found[1:], found[:-1]).all():
        return SolverAnswer(None, reason="the SAT solver answered with something that is no path")
    return SolverAnswer(True, found)
