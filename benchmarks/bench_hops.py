"""The exact hop count s beside a copy of one n x n bit matrix, the least that any bit-set method moves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.measure import Curve, Size, sizes
from theory.families import parse_family
from theory.hops import hop_count
from theory.patterns import Connections, SparsityPattern

if TYPE_CHECKING:
    from benchmarks.measure import Measure
    from theory.hops.kernels import Engine

LARGE, QUICK = 2**16, 2**11
TABLE = "The exact s"
COPY = "copy of the bit matrix, n = {:,}"

# A pattern, and the ratios that an earlier engine reached: NumPy, and numba on two threads.
CASES: dict[str, tuple[str, str, str]] = {
    "strided, w = 256": ("strided:n={n},w=256", "< 626", "< 70"),
    "fixed, w = 256": ("fixed:n={n},w=256", "< 391", "< 25"),
    "star, w = 1": ("star:n={n},w=1", "< 23", "< 5.9"),
    "block BigBird, blocks of 64": ("bigbird:n={n},window=1,random=3,globals=1,block=64,seed=0", "< 14", "< 16"),
    "window 1": ("window:n={n},w=1", "< 49", "< 45"),
    "window 3": ("window:n={n},w=3", "", ""),
    "window 32": ("window:n={n},w=32", "", ""),
    "random-8 + ring": ("", "< 704", "< 127"),
    "random-8": ("random:n={n},r=8,seed=0", "", ""),
}


def build(case: str, n: int) -> SparsityPattern:
    """Return the pattern of a case; random-8 alone leaves some token seen by nobody."""
    text = CASES[case][0]
    if text:
        return parse_family(text.format(n=n))
    layer = parse_family(f"random:n={n},r=8,seed=0").layers[0]
    token = np.arange(n)
    queries, keys = np.concatenate((layer.queries, token)), np.concatenate((layer.keys, (token - 1) % n))
    return SparsityPattern((Connections.from_pairs(n, queries, keys),))


@sizes([LARGE], [QUICK])
def test_copy(measure: Measure, size: int) -> None:
    """Copy the bits, 512 MiB at n = 65,536, on one thread."""
    matrix = np.ones(size * size // 64, dtype=np.uint64)
    copy = np.zeros_like(matrix)
    measure(lambda: np.copyto(copy, matrix), table=TABLE, row=COPY.format(size), rounds=5)


@pytest.mark.parametrize("engine", ["numpy", "numba"])
@pytest.mark.parametrize("case", CASES)
@sizes([LARGE], [QUICK])
def test_hop_count(measure: Measure, case: str, engine: Engine, size: int) -> None:
    """Count the hops, s or proof that there is none."""
    pytest.importorskip(engine)
    pattern = build(case, size)
    found = measure(
        lambda: hop_count(pattern, engine=engine),
        table=TABLE,
        row=f"{case}, {engine}",
        against=COPY.format(size),
        goal=CASES[case][1 if engine == "numpy" else 2],
    )
    measure.note(s="none" if found.s is None else f"{found.s:,}", method=found.method)


@sizes([2**12, 2**13, 2**14, 2**15, 2**16], [2**10, 2**11])
@pytest.mark.parametrize("case", ["strided, w = 256", "random-8 + ring"])
def test_growth(measure: Measure, case: str, size: int) -> None:
    """Count the hops of a growing pattern."""
    pattern = build(case, size)
    measure(
        lambda: hop_count(pattern),
        table=TABLE,
        size=Size(size * size, "pairs of tokens"),
        curve=Curve("Hop count s", case.split(",")[0].replace("-8", "")),
    )
