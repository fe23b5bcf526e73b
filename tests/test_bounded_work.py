"""Huge numbers in options: an answer, or a refusal that names the size, in seconds and little memory."""

from __future__ import annotations

import os
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest

import constructions.shift_mapping
from constructions.base_c import assemble
from constructions.cells import cell_count
from constructions.contextual_mapping import build_mapping
from constructions.numbers import ProofError
from constructions.positional_embedding import project, spread
from figures import all_max_shift
from figures.style import new_figure
from sparseuap.cli import main
from sparseuap.report_figures import _one
from theory.assumption_2_search import Trials
from theory.families import parse_family
from theory.hops import growth
from verify.inputs import ENTRIES, AdversarialInputs, AllInputs, GivenInputs, fitted
from verify.proof import grid_levels

PROVE = ["prove", "ring:n=4", "--d", "1", "--delta", "1/2"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Return exit status and what was printed, after at most five seconds and two gigabytes."""
    tracemalloc.start()
    start = time.process_time()
    try:
        with pytest.raises(SystemExit) as stop:
            main(list(arguments))
        assert time.process_time() - start < 5
        assert tracemalloc.get_traced_memory()[1] < 2e9
    finally:
        tracemalloc.stop()
    captured = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, captured.out + captured.err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([*PROVE[:-1], "1e-99999999"], "delta = 1e-99999999 is no 1/K for a K below 2^62"),
        ([*PROVE[:-1], "1E+99_999_999"], "K below 2^62"),
        ([*PROVE[:-1], "1e-30"], "K = 1/delta must be below 2^62, got about 2^99"),
        ([*PROVE[:3], "1000000000", "--delta", "1/2"], "d n = 4000000000 entries"),
        (["error", *PROVE[1:3], "1000000000", "--delta", "1/2"], "d n = 4000000000 entries"),
        (["error", *PROVE[1:3], "100000", "--delta", "1/2"], "2^400000 cells are more than"),
        (["prove", "window:n=4096,w=1", *PROVE[2:]], "bits for 4096 tokens are 8.6 GB an input"),
        ([*PROVE, "--s", "1000000000000"], "bits for 4 tokens are 2.4e+04 GB an input"),
        ([*PROVE[:3], "10000", "--delta", "1/2", "--samples", "100000"], "at most 1677 samples"),
    ],
)
def test_a_size_is_refused_by_name(capsys: pytest.CaptureFixture[str], arguments: list[str], named: str) -> None:
    status, said = run(capsys, *arguments)
    assert status == 2
    assert named in said
    assert said.count("\n") == 1


def test_many_all_max_shifts_are_answered(capsys: pytest.CaptureFixture[str]) -> None:
    status, said = run(capsys, *PROVE, "--s", "300")
    assert status == 0
    assert "largest id 4875 bits" in said


def test_growth_keeps_the_time_limit(capsys: pytest.CaptureFixture[str]) -> None:
    status, said = run(capsys, "check", "window:n=4096,w=1", "--growth", "--time-limit", "0.05")
    assert status == 0
    assert "Stopped after " in said
    stopped = growth(parse_family("ring:n=9"), time_limit=0.0)
    assert (stopped.stopped, stopped.min) == (True, (2,))
    assert not growth(parse_family("ring:n=9"), time_limit=60.0).stopped


def test_a_report_leaves_out_what_cannot_be_drawn() -> None:
    def too_long(_: object) -> Any:
        raise OverflowError("int too large to convert to float")

    def crowded(_: object) -> Any:
        figure = new_figure(1.0, 1.0)
        figure.add_subplot().set_xlabel("x\n" * 400)
        return figure

    assert "its numbers are too long to draw" in _one("relay", too_long)
    assert "its labels leave no room for it" in _one("relay", crowded)


def test_all_max_shifts_of_one_token_are_drawn() -> None:
    mapping = build_mapping(parse_family("dense:n=1"), 1, 2)
    assert all_max_shift.draw(mapping, all_max_shift.run(mapping, [[1]])).axes


def test_a_fifo_is_no_checkpoint(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    os.mkfifo(tmp_path / "pipe")
    status, said = run(capsys, *PROVE, "--exhaustive", "--checkpoint", str(tmp_path / "pipe"))
    assert status == 2
    assert "is not a regular file" in said


def test_exponents_are_read_as_fractions_read_them() -> None:
    assert grid_levels("1e-1") == grid_levels("1E-0001") == grid_levels("100e-0_3") == 10
    with pytest.raises(ProofError):
        grid_levels("1e-1000")


def test_the_number_of_cells_has_a_limit() -> None:
    assert cell_count(2**20, 1, 4) == 4 ** (2**20)
    with pytest.raises(ProofError, match="bits"):
        cell_count(2**20 + 1, 1, 4)


def test_python_integers_and_digits_give_the_same_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    mapping = build_mapping(parse_family("window:n=12,w=1"), 1, 3)
    grids = AdversarialInputs(1, 12, 3, 50, 0).grids.astype(np.int64)
    found = []
    for most in (0, 10**9):
        monkeypatch.setattr(constructions.shift_mapping, "MOST_DIGITS", most)
        found.append(mapping.ids(grids).tolist())
    assert found[0] == found[1] == assemble(mapping.digits(grids)).tolist()


@pytest.mark.parametrize("d", [1, 2, 3, 64, 65, 127])
def test_the_projection_of_long_columns_is_the_sum(d: int) -> None:
    matrix = np.random.default_rng(d).integers(0, 10**6, size=(3, d, 2))
    wanted = [[sum(7**i * int(grid[i, k]) for i in range(d)) for k in range(2)] for grid in matrix]
    before = matrix.copy()
    assert project(matrix, 7).tolist() == wanted
    assert (matrix == before).all()
    assert spread(d, 7) == sum(7**i for i in range(d))


def test_chunks_follow_the_size_of_the_ids() -> None:
    every, given = AllInputs(1, 4, 2), GivenInputs(np.arange(16).reshape(4, 1, 4) % 3, 3)
    assert fitted(every, 64) is every
    for inputs in (every, given):
        small = fitted(inputs, 64 * ENTRIES)
        assert {len(chunk) for chunk in small.chunks()} == {1}
        assert np.concatenate(list(small.chunks())).tolist() == np.concatenate(list(inputs.chunks())).tolist()
        assert len(next(inputs.chunks())) == inputs.count


@pytest.mark.parametrize("zeta", ["0.3", "7", "3e-50"])
def test_a_map_that_is_sharp_at_every_t_is_searched_with_long_steps(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, zeta: str
) -> None:
    calls: list[float] = []
    at = Trials.at

    def counted(trials: Trials, t: float) -> Any:
        calls.append(t)
        return at(trials, t)

    monkeypatch.setattr(Trials, "pass_at", lambda trials, t: counted(trials, t).kept)
    status, said = run(capsys, "map", "entmax:1e15", "--zeta", zeta, "--eta", "0.1", "--n", "4")
    assert (status, "holds" in said) == (0, True)
    assert len(calls) < 10
