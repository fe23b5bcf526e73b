"""The relaxed network's attention over the connections, against masked dense attention in PyTorch.

Two blocks of the contextual mapping with softmax, a selective shift (two heads) and an all-max-shift (one head),
on a batch of inputs, in float64 on the CPU: our engine on NumPy and on PyTorch, and three dense programs of the
same blocks. `bench_soft` times them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from constructions.blocks import AllMaxShift, SelectiveShift
from constructions.mapping import StagedMapping
from constructions.relaxation import SoftMapping
from constructions.stage import run_literal
from theory.probability_maps import parse_map

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from constructions.backends import Backend
    from theory.patterns import SparsityPattern

__all__ = ["DENSE", "Dense", "start", "two_blocks"]

LEVELS, T = 2, 64.0


@dataclass(frozen=True)
class TwoBlocks:
    """A stage of a selective shift that acts on the middle token, and an all-max-shift."""

    n: int

    name = "two blocks"
    attention_layers = 2
    feed_forward_layers = 0

    def blocks(self) -> Iterator[SelectiveShift | AllMaxShift]:
        """Iterate the two blocks."""
        low = LEVELS * (self.n // 2)
        yield SelectiveShift(0, LEVELS, 2 * low - 1, 2 * (low + LEVELS) - 1)
        yield AllMaxShift(0, 2 * self.n)

    def apply(self, values: Any, pattern: SparsityPattern) -> Any:
        """Apply the two blocks."""
        return run_literal(self, values, pattern)


def two_blocks(pattern: SparsityPattern, backend: Backend) -> SoftMapping:
    """Return the two blocks with softmax; ids of whole networks of this length pass float64."""
    n = pattern.n
    positions = np.arange(n)
    mapping = StagedMapping(pattern, 1, LEVELS, "merged", positions, (TwoBlocks(n),), 8 * n**3, {}, LEVELS)
    return SoftMapping(mapping, parse_map("softmax"), T, backend)


def start(n: int, inputs: int) -> npt.NDArray[np.float64]:
    """Return u^T Z of random inputs, shape (inputs, n), in units of delta."""
    grids = np.random.default_rng(0).integers(LEVELS, size=(inputs, n))
    return (grids + LEVELS * np.arange(n)).astype(np.float64)


class Dense:
    """The same two blocks with all n^2 scores, masked.

    Parameters
    ----------
    soft
        The two blocks.
    inputs
        Taken at once; what is best depends on the cache.
    """

    def __init__(self, soft: SoftMapping, inputs: int) -> None:
        import torch

        self.torch, self.soft, self.inputs = torch, soft, inputs
        pattern = soft.mapping.pattern
        allowed = np.zeros((pattern.n, pattern.n), dtype=bool)
        allowed[pattern.layers[0].queries, pattern.layers[0].keys] = True
        self.allowed = torch.tensor(allowed)
        self.added = torch.where(self.allowed, 0.0, -torch.inf).double()

    def attend_mask(self, query: Any, key: Any) -> Any:
        """PyTorch's fused attention with a mask of booleans."""
        return self.torch.nn.functional.scaled_dot_product_attention(
            query, key, key, attn_mask=self.allowed, scale=1.0
        )

    def attend_added(self, query: Any, key: Any) -> Any:
        """PyTorch's fused attention with a mask of 0 and -inf, which is added."""
        return self.torch.nn.functional.scaled_dot_product_attention(
            query, key, key, attn_mask=self.added, scale=1.0
        )

    def attend_plain(self, query: Any, key: Any) -> Any:
        """Matrix products, a mask and softmax."""
        scores = (query @ key.mT).masked_fill_(~self.allowed, -self.torch.inf)
        return self.torch.softmax(scores, dim=-1) @ key

    def run(self, attend: Callable[[Any, Any], Any], values: Any) -> Any:
        """Return the state after the two blocks, (inputs, n)."""
        return self.torch.cat([self._run(attend, chunk) for chunk in values.split(self.inputs)])

    def _run(self, attend: Callable[[Any, Any], Any], values: Any) -> Any:
        for layer in self.soft.layers:
            block = layer.block.block
            shift = isinstance(block, SelectiveShift)
            thresholds = (block.low2 / 2, block.high2 / 2) if shift else (0.0,)
            away = self.torch.stack([values - threshold for threshold in thresholds], dim=1)
            key = values[:, None, :, None].expand(*away.shape, 1)
            heads = attend(layer.block.sharpness * away[..., None], key)[..., 0]
            values = values + float(block.factor) * (heads[:, 0] - heads[:, 1] if shift else heads[:, 0])
        return values


DENSE = {"fused, mask": Dense.attend_mask, "fused, added": Dense.attend_added, "plain": Dense.attend_plain}
