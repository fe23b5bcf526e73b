"""The whole contextual mapping in exact integers at real lengths: built from a fresh pattern, run on one input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.bench_verdict import bigbird, fresh
from benchmarks.measure import Curve, Size, sizes
from constructions.network import choose_mapping

if TYPE_CHECKING:
    from benchmarks.measure import Measure
    from constructions.mapping import StagedMapping
    from constructions.numbers import Integers
    from theory.patterns import IntArray, SparsityPattern

D, LEVELS = 4, 4
LARGE, QUICK = 4096, 256
TABLE = "One input in exact integers on `bigbird:n=4096,window=3,random=3,globals=2`, d = 4, K = 4"
SIZES = ([256, 1024, LARGE, 16384], [64, QUICK])


def one_input(n: int) -> IntArray:
    """Return a grid of shape (d, n)."""
    return np.random.default_rng(0).integers(0, LEVELS, (D, n))


def build_and_run(measure: Measure, n: int, construction: str) -> None:
    """Time a build from a pattern that has nothing cached, and the first run."""
    pattern, grid = bigbird(n), one_input(n)

    def work(given: SparsityPattern) -> tuple[StagedMapping, Integers]:
        mapping = choose_mapping(given, D, LEVELS, construction)
        return mapping, mapping.ids(grid)

    mapping, ids = measure(
        work,
        fresh=lambda: (fresh(pattern),),
        table=TABLE,
        row=f"{construction}: build and run" if n in (LARGE, QUICK) else "",
        against="" if construction == "relay" else "relay: build and run",
        goal="<= 2 s" if construction == "relay" else "",
        size=Size(pattern.connections, "connections"),
        curve=Curve("Build and run, exact", construction),
        rounds=2,
        warm=False,
    )
    measure.note(layers=f"{mapping.attention_layers:,}", **{"bits of an id": f"{int(ids.max()).bit_length():,}"})
    assert len(set(ids.tolist())) == n


def run(measure: Measure, n: int, construction: str) -> None:
    """Time a run of a mapping that has been run before."""
    pattern, grid = bigbird(n), one_input(n)
    mapping = choose_mapping(pattern, D, LEVELS, construction)
    measure(
        lambda: mapping.ids(grid),
        table=TABLE,
        row=f"{construction}: run" if n in (LARGE, QUICK) else "",
        against="" if construction == "relay" else "relay: run",
        size=Size(pattern.connections, "connections"),
        curve=Curve("Run, exact", construction),
    )


@sizes(*SIZES)
def test_relay_build(measure: Measure, size: int) -> None:
    """The relay construction."""
    build_and_run(measure, size, "relay")


@sizes(*SIZES)
def test_relay_run(measure: Measure, size: int) -> None:
    """The relay construction."""
    run(measure, size, "relay")


@pytest.mark.parametrize("construction", ["merged", "paper"])
@sizes(*SIZES)
def test_shifts_build(measure: Measure, construction: str, size: int) -> None:
    """The paper's construction, with delta^-d shifts a token or one."""
    build_and_run(measure, size, construction)


@pytest.mark.parametrize("construction", ["merged", "paper"])
@sizes(*SIZES)
def test_shifts_run(measure: Measure, construction: str, size: int) -> None:
    """The paper's construction, with delta^-d shifts a token or one."""
    run(measure, size, construction)
