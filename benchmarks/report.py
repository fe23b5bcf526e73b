"""Tables and a figure from one run of the benchmarks: ``python -m benchmarks.report out/bench.json --out docs``.

Every ratio is between two times of the same run: the shortest of a row's repetitions, in times of the row that it
is compared with (per unit of work where the two differ in size).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.growth import growth_curves, growth_figure, growth_table
from figures.style import save

__all__ = ["fraction", "machine", "main", "report", "scaled", "tables"]

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (0.0, "ns"))
PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (0.0, ""))


def machine(info: dict[str, Any]) -> str:
    """Return the line that names the machine and the versions."""
    packages = ", ".join(f"{name} {number}" for name, number in info["packages"].items())
    quick = "**Reduced sizes: these figures say nothing.** " if info["quick"] else ""
    return f"{quick}{info['cores']} cores of {info['processor']}, Python {info['python']}, {packages}."


def tables(records: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return for every table of pytest-benchmark's records its Markdown lines."""
    groups: dict[str, dict[str, dict[str, Any]]] = {}
    for record in records:
        if record["extra_info"].get("row"):
            groups.setdefault(record["group"], {})[record["extra_info"]["row"]] = record
    return {title: _table(rows) for title, rows in groups.items()}


def _table(rows: dict[str, dict[str, Any]]) -> list[str]:
    bases = list(dict.fromkeys(record["extra_info"]["against"] for record in rows.values()))
    bases = [base for base in bases if base in rows]
    facts = list(dict.fromkeys(fact for record in rows.values() for fact in record["extra_info"].get("facts", {})))
    ratio = f"ratio to {bases[0]}" if len(bases) == 1 else "ratio"
    heads = ["", "time", "rate", ratio, "to", "goal", *facts]
    lines = [_cells(name, record, rows, bases, facts) for name, record in rows.items()]
    shown = [place for place in range(len(heads)) if place == 0 or any(line[place] for line in lines)]
    return [
        "| " + " | ".join(line[place] for place in shown) + " |" for line in (heads, ["---"] * len(heads), *lines)
    ]


def _cells(
    name: str, record: dict[str, Any], rows: dict[str, dict[str, Any]], bases: list[str], facts: list[str]
) -> list[str]:
    info, seconds = record["extra_info"], record["stats"]["min"]
    base = info["against"] if info["against"] in rows else ""
    ratio = "1" if name in bases else ""
    if base:
        ratio = _plain(fraction(record, rows[base]))
    rate = f"{scaled(info['size']['work'] / seconds)} {info['size']['unit']}/s" if info["size"] else ""
    found = [str(info.get("facts", {}).get(fact, "")) for fact in facts]
    return [name, _time(seconds), rate, ratio, base if len(bases) > 1 else "", info["goal"], *found]


def fraction(record: dict[str, Any], base: dict[str, Any]) -> float:
    """Return the time of a record in times of another's, per unit of work where both say how much work it was."""
    sizes = [one["extra_info"]["size"] for one in (record, base)]
    work = sizes[0]["work"] / sizes[1]["work"] if all(sizes) else 1.0
    return float(record["stats"]["min"] / base["stats"]["min"] / work)


def _plain(value: float) -> str:
    """Three digits, and no exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _time(seconds: float) -> str:
    step, unit = next((step, unit) for step, unit in UNITS if seconds >= step)
    return f"{_plain(seconds / (step or 1e-9))} {unit}"


def scaled(value: float) -> str:
    """Write a number with three digits and a prefix.

    Examples
    --------
    >>> scaled(98_000_000.0), scaled(12.0)
    ('98M', '12')
    """
    step, prefix = next((step, prefix) for step, prefix in PREFIXES if value >= step)
    return f"{_plain(value / (step or 1.0))}{prefix}"


def report(recorded: Path, out: Path) -> str:
    """Write the growth plot to `out`/growth.svg, and return the Markdown of all tables.

    Parameters
    ----------
    recorded
        What ``pytest benchmarks --benchmark-json`` wrote.
    out
        A folder; made where missing.
    """
    run = json.loads(recorded.read_text())
    named = machine(run["machine_info"])
    parts = [named]
    for title, lines in tables(run["benchmarks"]).items():
        parts.append("\n".join([f"### {title}\n", *lines]))
    curves = growth_curves(run["benchmarks"])
    if curves:
        out.mkdir(parents=True, exist_ok=True)
        path = out / "growth.svg"
        save(growth_figure(curves, named.replace("*", "")), path)
        parts.append("\n".join([f"### Growth ({path})\n", *growth_table(curves)]))
    return "\n\n".join(parts)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("recorded", type=Path, help="the JSON of pytest-benchmark")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for growth.svg")
    options = parser.parse_args()
    print(report(options.recorded, options.out))


if __name__ == "__main__":
    main()
