"""The benchmarks' report and growth fits, from recorded times with known ratios; every benchmark file imports."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from constructions.backends import Backend

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    path.stem for path in (ROOT / "benchmarks").glob("*.py") if path.stem not in ("__init__", "__main__")
)


@pytest.fixture(autouse=True)
def _root_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The benchmarks are no installed package: they are imported from the repository."""
    monkeypatch.syspath_prepend(str(ROOT))


def load(name: str) -> ModuleType:
    return importlib.import_module(f"benchmarks.{name}")


def record(row: str, seconds: float, *, size: tuple[int, str] | None = None, **info: Any) -> dict[str, Any]:
    counted = size and {"work": size[0], "unit": size[1]}
    facts = {"row": row, "against": "", "goal": "", "curve": None, "size": counted, **info}
    return {"group": info.pop("table", "T"), "stats": {"min": seconds, "mean": 10 * seconds}, "extra_info": facts}


def run_of(records: list[dict[str, Any]], *, quick: bool = False) -> dict[str, Any]:
    packages = {"numpy": "2.4.6"}
    info = {"processor": "a processor", "cores": 2, "python": "3.11.7", "packages": packages, "quick": quick}
    return {"machine_info": info, "benchmarks": records}


def curve(panel: str, name: str, points: list[tuple[int, float]]) -> list[dict[str, Any]]:
    where = {"panel": panel, "name": name}
    return [record("", seconds, size=(work, "inputs"), curve=where) for work, seconds in points]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_imports(name: str) -> None:
    assert load(name).__doc__


def test_no_benchmark_runs_among_the_tests(pytestconfig: pytest.Config) -> None:
    assert not any("benchmarks" in path for path in pytestconfig.getini("testpaths"))
    assert all(not re.match(r"test_", name) for name in MODULES)


def test_a_ratio_is_time_in_times_of_the_row_named() -> None:
    rows = [record("fast", 0.5), record("slow", 6.0, against="fast", goal=">= 10")]
    assert load("report").tables(rows) == {
        "T": [
            "|  | time | ratio to fast | goal |",
            "| --- | --- | --- | --- |",
            "| fast | 500 ms | 1 |  |",
            "| slow | 6 s | 12 | >= 10 |",
        ]
    }


def test_rows_of_different_sizes_are_compared_per_unit_of_work() -> None:
    small, large = record("small", 2.0, size=(10, "inputs")), record("large", 4.0, size=(1000, "inputs"))
    assert load("report").fraction(small, large) == pytest.approx((2 / 10) / (4 / 1000))
    assert load("report").fraction(small, record("unsized", 4.0)) == pytest.approx(0.5)


def test_several_bases_get_a_column_and_an_absent_one_no_ratio() -> None:
    rows = [
        record("a", 1.0),
        record("b", 2.0, against="a"),
        record("c", 8.0, against="b", facts={"s": 3}),
        record("d", 1.0, against="skipped"),
    ]
    lines = load("report").tables(rows)["T"]
    assert lines[0] == "|  | time | ratio | to | s |"
    assert lines[3:] == ["| b | 2 s | 2 | a |  |", "| c | 8 s | 4 | b | 3 |", "| d | 1 s |  |  |  |"]


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_the_slope_is_the_exponent(exponent: float) -> None:
    points = [(work, 3e-6 * work**exponent) for work in (10, 1000, 50, 70000)]
    (found,) = load("growth").growth_curves(curve("P", "", points))
    assert found.work == (10, 50, 1000, 70000)
    assert found.slope == pytest.approx(exponent)
    assert found.spread == pytest.approx(7000 ** abs(exponent - 1))


def test_a_single_size_is_no_curve() -> None:
    assert load("growth").growth_curves([*curve("P", "", [(10, 1.0), (10, 2.0)]), record("row", 1.0)]) == []


def test_the_report_writes_the_figure(tmp_path: Path) -> None:
    points = [(10, 1.0), (100, 10.0)]
    records = [record("row", 1e-4), *curve("Sweep", "numba", points), *curve("Hops", "", points)]
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(run_of(records)))
    text = load("report").report(path, tmp_path / "docs")
    assert text.startswith("2 cores of a processor, Python 3.11.7, numpy 2.4.6.")
    assert "| row | 100 µs |" in text
    assert "| Sweep: numba | inputs | 10 | 100 | 1.00 | 1.00 |" in text
    drawn = (tmp_path / "docs" / "growth.svg").read_text()
    assert all(word in drawn for word in ("Sweep", "numba, slope 1.00", "Hops", "inputs"))


def test_reduced_sizes_are_said_to_mean_nothing(tmp_path: Path) -> None:
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(run_of([record("row", 1.0)], quick=True)))
    assert "say nothing" in load("report").report(path, tmp_path)
    assert not (tmp_path / "growth.svg").exists()


def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert load("gpu").main([]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "skipped: PyTorch finds no CUDA GPU on this machine: leave --device out"
    ]


def test_the_gpu_script_runs_on_the_processor(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("joblib")
    assert load("gpu").main(["--device", "cpu", "--tiny"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.endswith("| equal |") for line in lines) == 10
    assert not any("differ" in line for line in lines)
    assert any(line.startswith("| exhaustive sweep, merged") for line in lines)


def test_the_gpu_script_sees_a_backend_that_computes_wrong() -> None:
    pytest.importorskip("torch")

    class Wrong(Backend):
        def fetch(self, array: Any) -> Any:
            return super().fetch(array) + 1

    assert not any(
        check.equal for check in load("gpu").checks(Wrong("torch", "cpu"), inputs=3, levels=2, prefer="numpy")
    )
