"""What several test files share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from sparseuap.cli import main

# One profile for all property tests: the same examples everywhere, and no clock that a busy machine could lose to.
settings.register_profile(
    "deterministic", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("deterministic")


@pytest.fixture(params=["numpy", "array_api_strict", "torch"])
def put(request: pytest.FixtureRequest) -> Any:
    """How to bring a NumPy array to the backend; PyTorch takes the GPU where there is one."""
    if request.param == "numpy":
        return np.asarray
    library = pytest.importorskip(request.param)
    if request.param == "array_api_strict":
        return library.asarray
    place = "cuda" if library.cuda.is_available() else "cpu"
    return lambda array: library.tensor(array, device=place)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def prove_command(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run `sparseuap prove`: the exit status, what it printed, and what it complained of."""

    def call(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["prove", *arguments])
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call
