"""The examples run as they are, and show what they promise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(name: str, *arguments: str) -> str:
    command = [sys.executable, str(EXAMPLES / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("verify_a_new_pattern.py", "universal: holds; s: 7"),
        ("break_the_mapping.py", "7.2 fails"),
        ("your_own_probability_map.py", "softplus_squared: fails"),
    ],
)
def test_an_example_runs(name: str, shown: str) -> None:
    assert shown in run(name)
