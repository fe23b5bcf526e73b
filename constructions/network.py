"""The network of the proof's second step: g_v . g_c . g_q equals the piecewise constant fbar (Lemma 3, §4.1).

embed               X + E                                        eq. 7
quantize            g_q: down to the grid                        Lemma 6
contextual mapping  g_c: one id a token, telling its whole input Lemma 7
value mapping       g_v: from the id to the output A_G           Lemma 8
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from constructions.cells import cell_count, cells, check_entries
from constructions.contextual_mapping import build_mapping, check_sizes
from constructions.dependence import dependence_violation, reach_matrix
from constructions.numbers import Integers, ProofError
from constructions.positional_embedding import embed
from constructions.quantization import Quantization
from constructions.targets import TargetError, corner_values
from constructions.value_mapping import build_value_mapping
from theory.read_only import ReadOnly

if TYPE_CHECKING:
    import numpy.typing as npt

    from constructions.mapping import StagedMapping
    from constructions.targets import Floats, Target
    from constructions.value_mapping import ValueMapping
    from theory.patterns import IntArray, SparsityPattern

__all__ = ["MAX_CELLS", "Network", "Output", "build_network", "choose_mapping", "compose", "dense_layers"]

MAX_CELLS = 2**22
"""Cells beyond which the table of value windows is refused."""

CHUNK = 2**14  # cells run at once


@dataclass(frozen=True, eq=False)
class Output(ReadOnly):
    """What a network makes of inputs.

    Parameters
    ----------
    ids
        g_c's ids, shape (..., n), in units of delta.
    references
        The window (cell * n + token) that wrote each column, -1 where none did.
    columns
        gbar(X), shape (..., d, n): A_G by reference; NaN in a column that is still a raw id.
    """

    ids: Integers
    references: IntArray
    columns: Floats


@dataclass(frozen=True, eq=False)
class Network:
    """The composition g_v . g_c . g_q; see `build_network`.

    Parameters
    ----------
    target
        f.
    mapping
        g_c, with its pattern, d, K and embedding.
    values
        g_v.
    """

    target: Target
    mapping: StagedMapping
    values: ValueMapping

    def run(self, x: npt.ArrayLike, resolution: int = 1) -> Output:
        """Run the network on exact inputs X in [0,1)^{d x n}.

        Parameters
        ----------
        x
            Integers in units of delta/resolution, shape (..., d, n), so in 0..K resolution - 1.
        resolution
            R >= 1.

        Raises
        ------
        ProofError
            If an input lies outside [0,1)^{d x n}, or a step of the proof fails on it.
        """
        mapping, quantization = self.mapping, self.quantization(resolution)
        inputs = check_entries(x, mapping.d, mapping.pattern.n, mapping.K * resolution, f"delta/{resolution}")
        embedded = embed(inputs, mapping.positions, mapping.step * resolution)
        quantized = quantization.on_grid(quantization.apply(embedded))
        ids = mapping.run(mapping.enter(quantized))
        references = self.values.apply(ids)
        return Output(ids, references, self.values.read(references))

    def run_cells(self, grids: npt.ArrayLike) -> Output:
        """Run the network on grid points, integers 0..K-1 in units of delta, shape (..., d, n)."""
        return self.run(grids)

    def quantization(self, resolution: int = 1) -> Quantization:
        """Return g_q for inputs in units of delta/resolution."""
        return Quantization(self.mapping.d, self.mapping.pattern.n, self.mapping.K, resolution)

    def first_inexact_cell(self) -> int | None:
        """Return the number of the first cell G with gbar(G) != A_G, bit for bit, or None (Lemma 3)."""
        d, n, levels = self.mapping.d, self.mapping.pattern.n, self.mapping.K
        for start in range(0, len(self.values.outputs), CHUNK):
            wanted = self.values.outputs[start : start + CHUNK]
            wrong = self.run_cells(cells(d, n, levels, start, start + len(wanted))).columns != wanted
            if wrong.any():
                return start + int(np.argwhere(wrong)[0, 0])
        return None

    @property
    def exact_on_cells(self) -> bool:
        """Whether gbar(G) equals A_G, bit for bit, on every cell."""
        return self.first_inexact_cell() is None

    @property
    def layers(self) -> dict[str, int]:
        """Layers used, one entry a stage family; those of the contextual mapping are its attention layers."""
        quantization = {"quantization": self.quantization().feed_forward_layers}
        counts = {**quantization, **dict.fromkeys(self.mapping.layers_formula, 0)}
        for stage in self.mapping.stages:
            family = stage.name.replace(" ", "_").replace("-", "_")
            counts[family] = counts.get(family, 0) + stage.attention_layers
        return {**counts, "value_mapping": self.values.feed_forward_layers}

    @property
    def layers_formula(self) -> dict[str, int]:
        """Layers by the paper's formulas: dn/delta, those of the contextual mapping, n/delta^{dn}."""
        d, n, levels = self.mapping.d, self.mapping.pattern.n, self.mapping.K
        return {
            "quantization": d * n * levels,
            **self.mapping.layers_formula,
            "value_mapping": n * cell_count(d, n, levels),
        }


def dense_layers(d: int, n: int, levels: int) -> dict[str, int]:
    """Return the layers of the dense counterpart (Yun et al. 2019): dn/delta, n/delta^d + 1, n/delta^{dn}.

    Examples
    --------
    >>> dense_layers(d=1, n=3, levels=2)
    {'quantization': 6, 'contextual_mapping': 7, 'value_mapping': 24}
    """
    return {
        "quantization": d * n * levels,
        "contextual_mapping": n * int(levels**d) + 1,
        "value_mapping": n * cell_count(d, n, levels),
    }


def choose_mapping(
    pattern: SparsityPattern, d: int, levels: int, construction: str = "paper", **constants: Any
) -> StagedMapping:
    """Build the contextual mapping of one of the three constructions.

    Parameters
    ----------
    construction
        `paper`, `merged` or `relay`.
    **constants
        Those of `build_mapping`, or of `build_relay`.
    """
    check_sizes(d, levels)
    if construction == "relay":
        from constructions.relay import build_relay

        return build_relay(pattern, d, levels, **constants)
    return build_mapping(pattern, d, levels, construction, **constants)


def build_network(
    pattern: SparsityPattern,
    d: int,
    levels: int,
    target: Target,
    construction: str = "paper",
    **constants: Any,
) -> Network:
    """Build the network that equals fbar on every cell of the grid.

    Parameters
    ----------
    pattern, d, levels
        The sparsity pattern, embedding size and K = 1/delta.
    target
        f; on a pattern that is not strongly connected its output k has to depend on reach(k) only.
    construction, **constants
        As for `choose_mapping`.

    Raises
    ------
    ProofError
        If Theorem 1 does not apply, or there are more than `MAX_CELLS` cells.
    TargetError
        If the target is not a function of the right shape, or depends on more than the pattern lets it.

    Examples
    --------
    >>> from constructions.targets import parse_target
    >>> from theory.patterns import SparsityPattern
    >>> dense = SparsityPattern.from_lists([[0, 1], [0, 1]])
    >>> network = build_network(dense, 1, 2, parse_target("reverse"), gamma=[0, 1], s=1)
    >>> network.run([[19, 3]], resolution=10).columns.tolist()
    [[0.0, 0.5]]
    >>> network.exact_on_cells, network.layers == network.layers_formula
    (True, True)
    """
    check_sizes(d, levels)
    _check_cells(d, pattern.n, levels)
    return compose(choose_mapping(pattern, d, levels, construction, **constants), target)


def _check_cells(d: int, n: int, levels: int) -> int:
    """Return K^{dn} after checking that the table of windows can be made."""
    count = cell_count(d, n, levels)
    if count > MAX_CELLS:
        raise ProofError(f"{levels}^{d * n} cells are more than {MAX_CELLS}: a smaller d or 1/delta fits")
    return count


def compose(mapping: StagedMapping, target: Target) -> Network:
    """Put quantization in front of a contextual mapping and the value mapping of a target behind it.

    Raises
    ------
    ProofError, TargetError
        As `build_network`.
    """
    pattern, d, levels = mapping.pattern, mapping.d, mapping.K
    count = _check_cells(d, pattern.n, levels)
    reach = reach_matrix(pattern) if mapping.construction == "relay" else None
    if reach is not None and (witness := dependence_violation(target, reach, d, levels)) is not None:
        raise TargetError(f"target {target.name} is out of reach: {witness.why}")
    chunks = [cells(d, pattern.n, levels, start, start + CHUNK) for start in range(0, count, CHUNK)]
    ids = np.concatenate([mapping.ids(grids) for grids in chunks])
    outputs = np.concatenate([corner_values(target, grids, levels, reach) for grids in chunks])
    return Network(target, mapping, build_value_mapping(ids, outputs, levels))
