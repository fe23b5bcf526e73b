"""The SAT solver's process: its answers, its limits, and that it never outlives the question."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest
from hamiltonian_oracle import (
    COMPLETE_4,
    PETERSEN,
    Rows,
    grid,
    has_path,
    petersen_inflated,
    random_attends,
    ring,
    shuffled,
    symmetric,
    union_edges,
    window,
)

from theory.hamiltonian import SolverWord, decide, growing, hamiltonian_path, merging, solver
from theory.hamiltonian.deadline import Deadline
from theory.hamiltonian.digraph import usable_edges
from theory.hamiltonian.sat_worker import find_path
from theory.hamiltonian.solver import ask_solver
from theory.patterns import Connections, SparsityPattern
from theory.verdicts import Answer

ROOT = Path(__file__).resolve().parents[1]


def split(edges: set[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [j for j, _ in edges], [k for _, k in edges]


def is_path(path: list[int] | None, n: int, edges: set[tuple[int, int]]) -> bool:
    return path is not None and sorted(path) == list(range(n)) and set(itertools.pairwise(path)) <= edges


def chain_of_windows(blocks: int, size: int) -> tuple[Rows, list[int]]:
    """Windows one after another; two tokens of each see one token of the window before."""
    rows = []
    for k in range(blocks * size):
        first = k // size * size
        row = {j for j in range(k - 2, k + 3) if first <= j < first + size}
        if first and k % size in (1, 4):
            row.add(first - 3)
        rows.append(sorted(row))
    return rows, [k // size for k in range(blocks * size)]


# What the worker answers.
def test_worker_against_the_oracle() -> None:
    rng = np.random.default_rng(1)
    for _ in range(400):
        attends = random_attends(rng)
        n, edges = len(attends[0]), union_edges(attends)
        if n == 1 or not edges:
            continue
        path = find_path(n, *split(edges))
        assert is_path(path, n, edges) if path is not None else not has_path(n, edges)


@pytest.mark.parametrize(
    "rows",
    [grid(12, 12), shuffled(ring(60)), symmetric(10, PETERSEN), shuffled(window(80, 2))],
    ids=["grid", "ring", "Petersen", "window"],
)
def test_worker_finds_paths(rows: Rows) -> None:
    edges = union_edges([rows])
    assert is_path(find_path(len(rows), *split(edges)), len(rows), edges)


@pytest.mark.parametrize("base", [COMPLETE_4, PETERSEN], ids=["K4", "Petersen"])
def test_worker_refuses_inflated_graphs(base: list[tuple[int, int]]) -> None:
    rows = petersen_inflated(base)
    edges = union_edges([rows])
    assert find_path(len(rows), *split(edges)) is None
    one_way = edges - {max(edges)}
    assert find_path(len(rows), *split(one_way)) is None


def test_worker_uses_the_rank() -> None:
    rows, rank = chain_of_windows(4, 12)
    edges = union_edges([rows])
    assert is_path(find_path(len(rows), *split(edges), rank), len(rows), edges)
    cut = {(j, k) for j, k in edges if rank[j] == rank[k] or rank[k] != 2}
    assert find_path(len(rows), *split(cut), rank) is None


# What the parent makes of it.
def edges_of(rows: Rows) -> Connections:
    return usable_edges(SparsityPattern.from_lists(rows).union)


def test_parent_gets_a_path_or_the_bare_word() -> None:
    rows = shuffled(grid(6, 6))
    answer = ask_solver(edges_of(rows), None, Deadline(60.0))
    assert answer.feasible is True
    assert answer.path is not None
    assert is_path(answer.path.tolist(), 36, union_edges([rows]))
    refused = ask_solver(edges_of(petersen_inflated(COMPLETE_4)), None, Deadline(60.0))
    assert (refused.feasible, refused.path) == (False, None)


def test_the_solver_decides_when_the_searches_find_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "grow_path", lambda *_, **__: None)
    monkeypatch.setattr(merging, "merge_cover", lambda *_, **__: None)
    for rows in (shuffled(grid(6, 7)), shuffled(chain_of_windows(3, 12)[0])):
        found = hamiltonian_path(SparsityPattern.from_lists(rows), time_limit=60.0)
        assert (found.answer, found.step) == (Answer.HOLDS, "SAT solver")
        assert found.path is not None
        assert is_path(found.path.tolist(), len(rows), union_edges([rows]))


def test_the_bare_word_is_marked_as_unproved() -> None:
    found = hamiltonian_path(SparsityPattern.from_lists(petersen_inflated(PETERSEN)), time_limit=60.0)
    assert (found.answer, found.step) == (Answer.FAILS, "SAT solver")
    assert isinstance(found.refutation, SolverWord)
    assert found.refutation.to_json()["proved"] is False


def worker(tmp_path: Path, body: str) -> Path:
    file = tmp_path / "worker.py"
    file.write_text(textwrap.dedent(body))
    return file


def sleeper(tmp_path: Path) -> Path:
    """A worker that notes its process id and never answers."""
    return worker(
        tmp_path,
        f"""
        import os, pathlib, time
        part = pathlib.Path({str(tmp_path / "part")!r})
        part.write_text(str(os.getpid()))
        part.rename({str(tmp_path / "pid")!r})
        time.sleep(600)
        """,
    )


class OnceRunning(Deadline):
    """A deadline that passes as soon as the worker runs, however busy the machine is."""

    def __init__(self, pid: Path) -> None:
        super().__init__(3600.0)
        self.pid, self.asked = pid, 0

    @property
    def left(self) -> float:
        self.asked += 1
        if self.asked <= 2:  # before the worker is started
            return 3600.0
        while not self.pid.exists():
            time.sleep(0.01)
        return 0.01


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_solver_past_the_limit_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "WORKER", sleeper(tmp_path))
    found = ask_solver(edges_of(ring(20)), None, OnceRunning(tmp_path / "pid"))
    assert (found.feasible, found.path) == (None, None)
    assert "stopped at the time limit" in found.reason
    assert is_gone(int((tmp_path / "pid").read_text()))


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_an_interrupted_question_leaves_no_process(tmp_path: Path) -> None:
    asker = f"""
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits an ignored one
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
import numpy as np
from theory.hamiltonian import solver
from theory.hamiltonian.deadline import Deadline
from theory.patterns import Connections
solver.WORKER = Path({str(sleeper(tmp_path))!r})
try:
    solver.ask_solver(Connections.from_pairs(3, [1, 2], [0, 1]), None, Deadline(600.0))
except KeyboardInterrupt:
    print("interrupted")
"""
    with subprocess.Popen([sys.executable, "-c", asker], stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        for _ in range(600):
            if (tmp_path / "pid").exists():
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=60)
        finally:
            process.kill()
    assert out.strip() == "interrupted"
    assert is_gone(int((tmp_path / "pid").read_text()))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise ImportError('no solver here')", "no solver here"),
        ("print('not JSON')", "failed"),
        ("print('{}')", "failed"),
        ("print('[1, 2]')", "failed"),
        ("import json; print(json.dumps({'path': [0, 0, 1]}))", "no path"),
        ("import json; print(json.dumps({'path': list(range(36))[::-1]}))", "no path"),
        ("import json; print(json.dumps({'path': 'abc'}))", "failed"),
    ],
)
def test_a_broken_worker_is_no_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, reason: str
) -> None:
    monkeypatch.setattr(solver, "WORKER", worker(tmp_path, body))
    found = hamiltonian_path(SparsityPattern.from_lists(petersen_inflated(COMPLETE_4)), time_limit=60.0)
    assert found.answer is Answer.UNDECIDED
    assert reason in found.why


def test_questions_that_are_too_large_or_too_late_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "WORKER", Path("nowhere"))
    assert "no time" in ask_solver(edges_of(ring(20)), None, Deadline(0.0)).reason
    monkeypatch.setattr(solver, "MOST_EDGES", 10)
    assert "too many" in ask_solver(edges_of(ring(20)), None, Deadline(60.0)).reason


def test_the_worker_speaks_json_and_needs_only_its_own_file() -> None:
    question = {"n": 3, "tails": [2, 0], "heads": [0, 1], "rank": None, "seconds": 60}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-P", str(solver.WORKER)],
        input=json.dumps(question),
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    assert json.loads(done.stdout) == {"path": [2, 0, 1]}
    assert not done.stderr


def test_a_wrong_path_of_a_search_is_an_error_not_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decide, "bandwidth_order", lambda graph: np.arange(graph.n))
    monkeypatch.setattr(growing, "grow_path", lambda graph, *_, **__: np.arange(graph.n))
    with pytest.raises(RuntimeError, match="no Hamiltonian path"):
        hamiltonian_path(SparsityPattern.from_lists(shuffled(grid(7, 7))))
