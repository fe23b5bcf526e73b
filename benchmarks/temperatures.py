"""The temperature that relaxed ids take, guaranteed and measured: run with ``python -m benchmarks.temperatures``.

t is where the ids of all inputs are within delta/4 of the exact ones, so that the value mapping reads them;
guaranteed by the error budget for every input, and measured on all K^{dn}. Ten seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from constructions.cells import cells
from constructions.error_budget import Budgets
from constructions.network import choose_mapping
from theory import families
from theory.probability_maps import parse_map
from verify.soft_ids import measured_t

if TYPE_CHECKING:
    from theory.patterns import SparsityPattern

__all__ = ["CASES", "MAPS", "line", "main"]

CASES: tuple[tuple[str, SparsityPattern, int, int], ...] = (  # name, pattern, d, K
    ("star n=5 w=1", families.star(5, 1), 1, 2),
    ("star n=5 w=1", families.star(5, 1), 1, 3),
    ("strided n=5 w=3", families.strided(5, 3), 1, 2),
    ("window n=5 w=1", families.window(5, 1), 1, 2),
    ("bigbird n=5 window=1 random=1 globals=1", families.bigbird(5, 1, 1, 1, seed=3), 1, 2),
    ("bigbird n=5 window=1 random=1 globals=1", families.bigbird(5, 1, 1, 1, seed=3), 1, 4),
    ("dense n=3", families.dense(3), 2, 2),
)
MAPS = ("softmax", "entmax:1.5", "sparsemax")


def line(name: str, pattern: SparsityPattern, d: int, levels: int, construction: str) -> str:
    """Return a line of the Markdown table."""
    mapping, grids = choose_mapping(pattern, d, levels, construction), cells(d, pattern.n, levels)
    budgets, ids = Budgets(mapping), mapping.ids(grids)
    bits = mapping.bound.bit_length()
    entries = [name, str(d), str(levels), construction, str(bits), f"{budgets.smallest_gap * levels**2:.3g}"]
    for rho in map(parse_map, MAPS):
        guaranteed, measured = budgets.guaranteed_t(rho), measured_t(mapping, rho, grids, ids)
        entries += ["none" if t is None else f"{t:.4g}" for t in (guaranteed, measured)]
    return "| " + " | ".join(entries) + " |"


def main() -> None:
    """Print the table."""
    columns = [f"{name} {kind}" for name in MAPS for kind in ("guaranteed", "measured")]
    print("| pattern | d | K | construction | bits | zeta / delta^2 | " + " | ".join(columns) + " |")
    print("|" + "---|" * (6 + len(columns)))
    for case in CASES:
        for construction in ("paper", "merged", "relay"):
            print(line(*case, construction), flush=True)


if __name__ == "__main__":
    main()
