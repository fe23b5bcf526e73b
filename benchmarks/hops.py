"""Time the exact hop count s at n = 65,536 beside a copy of one n x n bit matrix, and print a markdown table.

    python -m benchmarks.hops [--engine numpy] [--engine numba] [--tokens 65536] [--repeat 3]

The copy (512 MiB, one thread) is made in the same run, so the ratios carry over from machine to machine. The
last columns hold the ratios to beat: seconds measured once on two cores, over those of the copy there (21 GB/s).
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from theory.families import parse_family
from theory.hops import hop_count
from theory.hops.columns import usable_cores
from theory.patterns import Connections, SparsityPattern

if TYPE_CHECKING:
    from collections.abc import Callable

    from theory.hops.kernels import Engine

EARLIER_COPY = 2 * 2**29 / 21e9  # seconds


@dataclass(frozen=True)
class Case:
    """A pattern, and seconds measured earlier: compiled on one thread, on two, NumPy only (None where not)."""

    name: str
    build: Callable[[int], SparsityPattern]
    earlier: tuple[float, float, float] | None


def _family(text: str) -> Callable[[int], SparsityPattern]:
    return lambda n: parse_family(text.format(n=n))


def _random_with_ring(n: int) -> SparsityPattern:
    """8 random keys a token and the key before it: without the ring some token is seen by nobody."""
    layer = parse_family(f"random:n={n},r=8,seed=0").layers[0]
    token = np.arange(n)
    queries = np.concatenate((layer.queries, token))
    return SparsityPattern((Connections.from_pairs(n, queries, np.concatenate((layer.keys, (token - 1) % n))),))


CASES = (
    Case("strided, w = 256", _family("strided:n={n},w=256"), (5.0, 3.6, 32.0)),
    Case("fixed, w = 256", _family("fixed:n={n},w=256"), (2.8, 1.3, 20.0)),
    Case("star, w = 1", _family("star:n={n},w=1"), (0.4, 0.3, 1.2)),
    Case(
        "block BigBird, blocks of 64",
        _family("bigbird:n={n},window=1,random=3,globals=1,block=64,seed=0"),
        (0.8, 0.8, 0.7),
    ),
    Case("window 1", _family("window:n={n},w=1"), (2.3, 2.3, 2.5)),
    Case("window 3", _family("window:n={n},w=3"), None),
    Case("window 32", _family("window:n={n},w=32"), None),
    Case("random-8 and a ring", _random_with_ring, (10.0, 6.5, 36.0)),
    Case("random-8", _family("random:n={n},r=8,seed=0"), None),
)


def time_copy(n: int) -> float:
    """Return the seconds that copying an n x n bit matrix takes on one thread, the best of three."""
    matrix = np.ones(n * n // 64, dtype=np.uint64)
    copy = np.zeros_like(matrix)
    return min(_seconds(lambda: np.copyto(copy, matrix)) for _ in range(3))


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _row(case: Case, n: int, engines: list[Engine], repeat: int, copy: float) -> str:
    pattern = case.build(n)
    cells = [case.name]
    for engine in engines:
        found = hop_count(pattern, engine=engine)  # compiles
        seconds = min(_seconds(partial(hop_count, pattern, engine=engine)) for _ in range(repeat))
        if len(cells) == 1:
            cells += ["none" if found.s is None else str(found.s), found.method]
        cells += [f"{seconds:.3f}", f"{seconds / copy:.1f}"]
    one, two, plain = (f"{s / EARLIER_COPY:.0f}" for s in case.earlier) if case.earlier else ("-", "-", "-")
    return "| " + " | ".join([*cells, one, two, plain]) + " |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--engine", action="append", choices=["numpy", "numba"], help="repeat for several")
    parser.add_argument("--tokens", type=int, default=65536)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    engines = options.engine or ["numpy", "numba"]
    copy = time_copy(options.tokens)
    print(f"n = {options.tokens}, {usable_cores()} cores; copying the bit matrix takes {copy:.4f} s\n")
    heads = [head for engine in engines for head in (f"{engine}, s", "ratio to the copy")]
    heads = ["pattern", "s", "method", *heads, "to beat: 1 thread", "2 threads", "NumPy only"]
    print("| " + " | ".join(heads) + " |")
    print("|" + " --- |" * len(heads))
    copies = [copy]
    for case in CASES:
        copies.append(time_copy(options.tokens))
        print(_row(case, options.tokens, engines, options.repeat, copies[-1]), flush=True)
    print(f"\nThe copy took {min(copies):.4f} to {max(copies):.4f} s; every ratio is to the one made just before.")


if __name__ == "__main__":
    main()
