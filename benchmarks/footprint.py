"""Peak memory of the verdict on a million tokens, and the cost of starting up: ``python -m benchmarks.footprint``.

Both are read from child processes (Linux); ratios are to the pattern's CSR, and to importing NumPy and scipy.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from theory.families import parse_family

__all__ = ["main", "peak_megabytes", "start_up"]

PATTERN = "bigbird:n={n},window=3,random=3,globals=2,seed=0"
BASE = "import theory.families, verify.pattern_verdict, scipy.sparse.csgraph"


def peak_megabytes(script: str) -> float:
    """Return the peak resident memory of a Python process that runs `script` (Linux)."""
    read = "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')))"
    done = subprocess.run([sys.executable, "-c", f"{script}\n{read}"], capture_output=True, text=True, check=True)  # noqa: S603
    return int(done.stdout.split()[-2]) * 1024 / 1e6


def start_up(command: list[str], repeats: int = 15) -> float:
    """Return the shortest user + system time of a child process, in seconds."""
    spent = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, capture_output=True, check=True)  # noqa: S603
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(spent)


def main(n: int = 2**20, repeats: int = 15) -> None:
    """Print the tables."""
    text = PATTERN.format(n=n)
    layer = parse_family(text).layers[0]
    csr = (layer.keys.nbytes + layer.indptr.nbytes) / 1e6
    base, build = peak_megabytes(BASE), f"{BASE}\np = theory.families.parse_family({text!r})"
    building = peak_megabytes(build) - base
    whole = peak_megabytes(f"{build}\nverify.pattern_verdict.assess(p)") - base
    print(f"| peak memory over imports, `{text}` | in CSRs of {csr:.0f} MB | goal |\n|---|---|---|")
    print(f"| building and verdict | {whole / csr:.1f} | <= 6 |")
    print(f"| building alone | {building / csr:.1f} | |\n")
    python = sys.executable
    imports = start_up([python, "-c", "import numpy, scipy.sparse"], repeats)
    check = start_up([str(Path(python).with_name("sparseuap")), "check", "star:n=16,w=1"], repeats)
    print("| start-up | CPU time | ratio | goal |\n|---|---|---|---|")
    print(f"| import numpy, scipy.sparse | {imports:.3f} s | 1 | |")
    print(f"| sparseuap check star:n=16,w=1 | {check:.3f} s | {check / imports:.2f} | <= 3 |")


if __name__ == "__main__":
    main()
