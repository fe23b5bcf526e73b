"""Run all benchmarks, and print the tables that the README quotes: ``python -m benchmarks [--quick] [--out out]``.

The times go to OUT/bench.json (pytest-benchmark), the growth plot to OUT/growth.svg. To run one topic only:

    python -m benchmarks -k hops
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pytest

from benchmarks import footprint, slack, temperatures
from benchmarks.report import report

TABLES = (
    ("Memory of the verdict, and starting up", footprint),
    ("The constants of the proof", slack),
    ("The temperatures of the relaxation", temperatures),
)

# not the tests' settings: other files, and warnings of other packages do not matter here
SETTINGS = ("-oaddopts=", "-ofilterwarnings=", "-opython_files=bench_*.py", "-rs", "--benchmark-quiet")


def main() -> int:
    """Run, print, and return the exit status of pytest."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="reduced sizes: whether it runs, not how fast")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for bench.json and growth.svg")
    parser.add_argument("-k", dest="topic", default="", help="only benchmarks whose name has this, as pytest's -k")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    recorded = options.out / "bench.json"
    chosen = [*(["--quick"] if options.quick else []), *(["-k", options.topic] if options.topic else [])]
    status = pytest.main([str(Path(__file__).parent), *SETTINGS, f"--benchmark-json={recorded}", *chosen])
    if not recorded.exists() or not recorded.stat().st_size:
        return int(status)
    print(f"\n{report(recorded, options.out)}", flush=True)
    if not options.topic and not options.quick:
        for title, part in TABLES:
            print(f"\n### {title}\n", flush=True)
            part.main()
    return int(status)


if __name__ == "__main__":
    sys.exit(main())
