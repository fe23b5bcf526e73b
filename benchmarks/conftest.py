"""What the benchmarks share: reduced sizes, the fixture `measure`, and the machine's name in the results."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from benchmarks.measure import Measure
from theory.hops.columns import usable_cores

SIBLINGS = Path("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list")
VECTORS = {"avx512f": "AVX-512", "avx2": "AVX2"}
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
    processor = _processor(machine_info.get("cpu", {})) or machine_info.get("processor", "")
    python = machine_info["python_version"]
    machine_info.clear()
    machine_info |= {
        "processor": processor,
        "cores": usable_cores(),
        "python": python,
        "packages": dict(filter(None, map(_installed, PACKAGES))),
        "quick": config.getoption("quick"),
    }


def _processor(cpu: dict[str, Any]) -> str:
    """Name a processor by what the ratios were seen to depend on: its generation, its vectors, shared cores."""
    if "brand_raw" not in cpu:
        return ""
    flags = cpu.get("flags", [])
    vectors = next((name for flag, name in VECTORS.items() if flag in flags), "no AVX2")
    shared = ", cores shared by two threads" if SIBLINGS.exists() and SIBLINGS.read_text().strip() != "0" else ""
    return f"{cpu['brand_raw']} (family {cpu.get('family')}, model {cpu.get('model')}, {vectors}{shared})"


def _installed(package: str) -> tuple[str, str] | None:
    try:
        return package, version(package)
    except PackageNotFoundError:
        return None
