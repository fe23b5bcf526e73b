"""The verdict on a million tokens beside scipy's and networkx's strong components, and the cost of starting up.

Run with ``python -m benchmarks.verdict``. All figures of a table come from one run on one machine; the minimum of
several repetitions is quoted. Peak memory is read from child processes.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
from scipy.sparse.csgraph import connected_components

from theory.families import parse_family
from theory.patterns import Connections, SparsityPattern
from verify.pattern_verdict import assess

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["main"]

LARGE = "bigbird:n=1048576,window=3,random=3,globals=2,seed=0"
SMALLER = (16384, 131072)  # inside the processor's caches, and outside as the large pattern is
REPEATS = 5
BASE = "import theory.families, verify.pattern_verdict, scipy.sparse.csgraph"


def best(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """Return the shortest of several timings, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def fresh(pattern: SparsityPattern) -> SparsityPattern:
    """Return an equal pattern that has nothing cached."""
    return SparsityPattern(tuple(Connections(layer.indptr, layer.keys) for layer in pattern.layers))


def peak_megabytes(script: str) -> float:
    """Return the peak resident memory of a Python process that runs `script` (Linux)."""
    read = "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    done = subprocess.run([sys.executable, "-c", f"{script}\n{read}"], capture_output=True, text=True, check=True)  # noqa: S603
    return int(done.stdout.split()[-2]) * 1024 / 1e6


def networkx_seconds(n: int) -> tuple[float, int]:
    """Return the shortest time of networkx's strong components on a smaller pattern, and its connections."""
    union = parse_family(f"bigbird:n={n},window=3,random=3,globals=2,seed=0").union
    graph = nx.DiGraph()
    graph.add_edges_from(zip(union.keys.tolist(), union.queries.tolist(), strict=True))
    return best(lambda: list(nx.strongly_connected_components(graph)), 2), union.count


def start_up(command: list[str], repeats: int = 15) -> float:
    """Return the shortest user + system time of a child process, in seconds."""
    spent = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=True)  # noqa: S603
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


def main() -> None:
    """Print the tables."""
    pattern = parse_family(LARGE)
    layer = pattern.layers[0]
    matrix = layer.matrix()
    components = best(lambda: connected_components(matrix, directed=True, connection="strong"))
    patterns = iter([fresh(pattern) for _ in range(REPEATS)])
    verdict = best(lambda: assess(next(patterns)))
    others = [networkx_seconds(n) for n in SMALLER]
    csr = (layer.keys.nbytes + layer.indptr.nbytes) / 1e6
    base = peak_megabytes(BASE)
    build = peak_megabytes(f"{BASE}\np = theory.families.parse_family({LARGE!r})") - base
    run = (
        f"p = theory.families.parse_family({LARGE!r})\nv = verify.pattern_verdict.assess(p)\nassert v.hops.s == 2"
    )
    whole = peak_megabytes(f"{BASE}\n{run}") - base
    found = assess(pattern)
    print(f"`{LARGE}`: {pattern.connections} connections, s = {found.hops.s}, {found.answer.value}\n")
    print("| | seconds | ratio | goal |\n|---|---|---|---|")
    print(f"| scipy strong components alone | {components:.3f} | 1 | |")
    print(f"| verdict with witnesses | {verdict:.3f} | {verdict / components:.2f} | <= 3 |")
    for n, (slow, connections) in zip(SMALLER, others, strict=True):
        ratio = (slow / connections) / (verdict / pattern.connections)
        print(f"| networkx strong components, n = {n}, per connection | {slow:.3f} | {ratio:.0f} | >= 100 |")
    print(
        f"| peak memory over imports: building and verdict, in CSRs of {csr:.0f} MB | | {whole / csr:.1f} | <= 6 |"
    )
    print(f"| the same, building alone | | {build / csr:.1f} | |\n")
    python = sys.executable
    tool = str(Path(python).with_name("sparseuap"))
    imports = start_up([python, "-c", "import numpy, scipy.sparse"])
    check = start_up([tool, "check", "star:n=16,w=1"])
    print("| start-up | CPU seconds | ratio | goal |\n|---|---|---|---|")
    print(f"| import numpy, scipy.sparse | {imports:.3f} | 1 | |")
    print(f"| sparseuap check star:n=16,w=1 | {check:.3f} | {check / imports:.2f} | <= 3 |")
    print(f"\nnumpy {np.__version__}, Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
