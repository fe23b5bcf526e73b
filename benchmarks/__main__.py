"""Run the benchmarks whose figures the README quotes: ``python -m benchmarks``."""

from __future__ import annotations

from benchmarks import hops, slack, temperatures, verdict

for title, part in (
    ("The verdict, and starting up", verdict),
    ("The hop count s", hops),
    ("The constants of the proof", slack),
    ("The temperatures of the relaxation", temperatures),
):
    print(f"\n## {title}\n", flush=True)
    part.main()
