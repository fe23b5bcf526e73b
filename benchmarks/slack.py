"""The constants of the proof beside the least that work: run with ``python -m benchmarks.slack``.

Every value is put to all K^{dn} inputs, the other constants staying at their values in the proof. Ten seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory import families
from verify.slack import smallest_constants

if TYPE_CHECKING:
    from theory.patterns import SparsityPattern
    from verify.slack import SlackRow

__all__ = ["CASES", "main", "table"]

CASES: tuple[tuple[str, SparsityPattern, int, int, int], ...] = (  # name, pattern, d, K, s of Assumption 1.3
    ("dense n=2", families.dense(2), 2, 2, 1),
    ("dense n=3", families.dense(3), 1, 2, 1),
    ("dense n=3", families.dense(3), 1, 4, 1),
    ("strided n=5 w=3", families.strided(5, 3), 1, 2, 3),
    ("strided n=5 w=3", families.strided(5, 3), 1, 3, 3),
    ("fixed n=4 w=2", families.fixed(4, 2), 1, 3, 2),
    ("star n=5 w=1", families.star(5, 1), 1, 2, 2),
    ("window n=4 w=1", families.window(4, 1), 1, 3, 3),
    ("ring n=4", families.ring(4), 1, 3, 3),
    ("bigbird n=5 window=1 random=1 globals=1", families.bigbird(5, 1, 1, 1, seed=3), 1, 2, 2),
)


def table(name: str, d: int, levels: int, rows: tuple[SlackRow, ...]) -> list[str]:
    """Return the lines of a Markdown table for one pattern."""
    lines = []
    for row in rows:
        slack = "" if row.slack is None else f"{row.slack:.3g}"
        every = "all" if row.tried == row.value + 1 else str(row.tried)
        cells = [name, d, levels, row.constant, row.formula, row.value, row.smallest, row.reliable, slack, every]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return lines


def main() -> None:
    """Print the table."""
    print("| pattern | d | K | constant | in the proof | value | least that works | works from | slack | tried |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, pattern, d, levels, s in CASES:
        rows = smallest_constants(pattern, d, levels, gamma=np.arange(pattern.n), s=s)
        print("\n".join(table(name, d, levels, rows)), flush=True)


if __name__ == "__main__":
    main()
