"""What the benchmarks share: reduced sizes, the fixture `measure`, and the machine's name in the results."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Any

import pytest

from benchmarks.measure import Measure
from theory.hops.columns import usable_cores

PACKAGES = ("numpy", "scipy", "numba", "torch", "distributed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--quick`."""
    parser.addoption("--quick", action="store_true", help="reduced sizes: whether it runs, not how fast")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a benchmark with `sizes` once for every size of the list that is asked for, as its argument `size`."""
    lists = getattr(metafunc.function, "sizes", None)
    if lists is not None:
        metafunc.parametrize("size", lists.quick if metafunc.config.getoption("quick") else lists.full)


@pytest.fixture
def measure(benchmark: Any) -> Measure:
    """Return what times one piece of work."""
    return Measure(benchmark)


def pytest_benchmark_update_machine_info(config: pytest.Config, machine_info: dict[str, Any]) -> None:
    """Name the machine by what the figures depend on, and by nothing else."""
    processor = machine_info.get("cpu", {}).get("brand_raw", machine_info.get("processor", ""))
    python = machine_info["python_version"]
    machine_info.clear()
    machine_info |= {
        "processor": processor,
        "cores": usable_cores(),
        "python": python,
        "packages": dict(filter(None, map(_installed, PACKAGES))),
        "quick": config.getoption("quick"),
    }


def _installed(package: str) -> tuple[str, str] | None:
    try:
        return package, version(package)
    except PackageNotFoundError:
        return None
