"""The relaxed attention over the connections, beside dense masked attention in PyTorch: float64, on the CPU."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from benchmarks.measure import Curve, Size, seconds, sizes
from benchmarks.soft import DENSE, Dense, start, two_blocks
from constructions.backends import choose_backend
from theory.families import parse_family

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.measure import Measure

INPUTS = 256
PATTERNS = ("bigbird:n={n},window=3,random=3,globals=2,seed=0", "strided:n={n},w=22", "window:n={n},w=25")
TABLE = "Softmax, a selective shift and an all-max-shift on {inputs} inputs: `{source}`, density {density:.1%}"
DENSE_ROW = "fastest dense masked attention"
CLOSE = 1e-9


@pytest.fixture(autouse=True)
def _torch() -> None:
    """All of this is measured against PyTorch."""
    pytest.importorskip("torch")


def over_connections(source: str, inputs: int, name: str) -> Callable[[], Any]:
    """Return our engine's run on a backend; its arrays are there already."""
    pattern, backend = parse_family(source), choose_backend(name)
    blocks, values = two_blocks(pattern, backend), backend.put(start(pattern.n, inputs))
    return lambda: blocks.run(values)


@cache
def dense(source: str, inputs: int) -> tuple[str, Callable[[], Any]]:
    """Return the fastest dense program: of three ways to attend, and of three numbers of inputs at once."""
    pattern, torch = parse_family(source), choose_backend("torch")
    blocks, values = two_blocks(pattern, torch), torch.put(start(pattern.n, inputs))
    programs: dict[str, Callable[[], Any]] = {}
    for together in sorted({1, min(8, inputs), inputs}):
        given = Dense(blocks, together)
        for name, attend in DENSE.items():
            programs[f"{name}, {together} at once"] = partial(given.run, partial(attend, given), values)
    best = min(programs, key=lambda name: min(seconds(programs[name]) for _ in range(2)))
    return best, programs[best]


def table(source: str, inputs: int) -> str:
    """Return the title of the table."""
    return TABLE.format(inputs=inputs, source=source, density=parse_family(source).density)


@pytest.mark.parametrize("form", PATTERNS)
@sizes([512], [64])
def test_dense(measure: Measure, form: str, size: int) -> None:
    """All n^2 scores, masked."""
    source = form.format(n=size)
    name, work = dense(source, INPUTS)
    measure(work, table=table(source, INPUTS), row=DENSE_ROW, rounds=5)
    measure.note(program=name)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("form", PATTERNS)
@sizes([512], [64])
def test_connections(measure: Measure, form: str, backend: str, size: int) -> None:
    """The scores of the connections."""
    source = form.format(n=size)
    found = measure(
        over_connections(source, INPUTS, backend),
        table=table(source, INPUTS),
        row=f"over the connections, {backend}",
        against=DENSE_ROW,
        goal="<= 1/3",
        rounds=5,
    )
    assert np.allclose(np.asarray(found), np.asarray(dense(source, INPUTS)[1]()), rtol=CLOSE, atol=CLOSE)


@sizes([128, 256, 512, 1024], [32, 64])
@pytest.mark.parametrize("how", ["connections", "dense"])
def test_growth(measure: Measure, how: str, size: int) -> None:
    """Growing n at a density of a tenth; connections and pairs grow alike."""
    source, inputs = f"window:n={size},w={round(size * 0.05)}", 64
    work = over_connections(source, inputs, "torch") if how != "dense" else dense(source, inputs)[1]
    measure(
        work,
        table="Softmax, growth",
        size=Size(parse_family(source).connections * inputs, "connections x inputs"),
        curve=Curve("Soft blocks, density 10%", how),
    )
