"""The relaxed network as literal weights: which block of ST^{2,1,4} holds which sublayer, and its nine matrices.

Z is in real units, as in the paper (§3.1). A block is one attention sublayer and one feed-forward sublayer, zero
weights make either an identity, and block number l (from 0) uses pattern l mod p. Needs NumPy only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from constructions.blocks import Identity
from constructions.numbers import ProofError
from constructions.soft_blocks import SoftAffine, SoftAllMaxShift, SoftSelectiveShift, soften_block

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt

    from constructions.relaxation import SoftNetwork
    from constructions.soft_relu import ReluTerms

    Floats = npt.NDArray[np.float64]
    Weights = dict[str, Floats]

__all__ = ["HEADS", "HEAD_SIZE", "HIDDEN", "BlockCounts", "BlockPlan", "Schedule", "schedule", "weight_shapes"]

HEADS, HEAD_SIZE, HIDDEN = 2, 1, 4
"""ST^{2,1,4}: what Theorem 1 needs."""


def weight_shapes(d: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a block's weights in ST^{2,1,4}; the heads' are stacked.

    Examples
    --------
    >>> weight_shapes(3)["W_Q"], weight_shapes(3)["W_2"]
    ((2, 1, 3), (3, 4))
    """
    head = (HEADS, HEAD_SIZE, d)
    attention = {"W_Q": head, "b_Q": head[:2], "W_K": head, "W_V": head, "W_O": (d, HEADS * HEAD_SIZE)}
    return {**attention, "W_1": (HIDDEN, d), "b_1": (HIDDEN,), "W_2": (d, HIDDEN), "b_2": (d,)}


class Sublayer(NamedTuple):
    """Weights of one sublayer; `pattern` is that of an attention sublayer, None for a feed-forward one."""

    pattern: int | None
    weights: Weights


class BlockCounts(NamedTuple):
    """How the blocks come about: blocks = attention + feed_forward + padding - shared.

    `attention` and `feed_forward` are the sublayers of the construction, the identity blocks of the paper's cycles
    included; `shared` blocks hold one of each; `padding` blocks are idle, where the next pattern of the cycle is
    not the one that the construction asks for.
    """

    blocks: int
    attention: int
    feed_forward: int
    padding: int
    shared: int


@dataclass
class BlockPlan:
    """One block: the weights that are not zero, and which of its sublayers the construction uses."""

    weights: Weights = field(default_factory=dict)
    attends: bool = False
    feeds_forward: bool = False


class Schedule(NamedTuple):
    """The blocks in order, block l using pattern l mod p, and how many of what."""

    blocks: tuple[BlockPlan, ...]
    counts: BlockCounts


def schedule(network: SoftNetwork) -> Schedule:
    """Lay the sublayers of a relaxed network out as blocks.

    A feed-forward sublayer joins the block before it if that one's is still free. An attention sublayer starts
    a block, after as many idle ones as the cycle of the patterns needs.

    Examples
    --------
    >>> from constructions.network import build_network
    >>> from constructions.relaxation import soften
    >>> from constructions.targets import TARGETS
    >>> from theory.patterns import SparsityPattern
    >>> from theory.probability_maps import parse_map
    >>> dense = SparsityPattern.from_lists([[0, 1], [0, 1]])
    >>> network = build_network(dense, 1, 2, TARGETS["reverse"], "merged")
    >>> schedule(soften(network, parse_map("softmax"), 400.0, 0.25)).counts
    BlockCounts(blocks=13, attention=2, feed_forward=12, padding=0, shared=1)
    """
    cycle = network.mapping.mapping.pattern.p
    blocks: list[BlockPlan] = []
    attention = feed_forward = padding = 0
    for pattern, weights in _sublayers(network):
        if pattern is None:
            feed_forward += 1
            if not blocks or blocks[-1].feeds_forward:
                blocks.append(BlockPlan())
            blocks[-1].feeds_forward = True
        else:
            attention += 1
            idle = (pattern - len(blocks)) % cycle
            padding += idle
            blocks += [BlockPlan() for _ in range(idle)]
            blocks.append(BlockPlan(attends=True))
        blocks[-1].weights |= weights
    shared = sum(block.attends and block.feeds_forward for block in blocks)
    return Schedule(tuple(blocks), BlockCounts(len(blocks), attention, feed_forward, padding, shared))


def _sublayers(network: SoftNetwork) -> Iterator[Sublayer]:
    """Iterate the sublayers in order, identity blocks of the cycle included."""
    soft, hard = network.mapping, network.mapping.mapping
    u: Floats = np.power(float(hard.K), np.arange(hard.d))
    axes: Floats = np.eye(hard.d)
    for row in network.quantization.blocks():
        yield Sublayer(None, _relus(axes[row.row], row.relu_terms(), hard.K, axes[row.row]))
    for block in (block for stage in hard.stages for block in stage.blocks()):
        match soften_block(block, soft.rho, soft.t / hard.K**2):
            case SoftSelectiveShift(block=shift):
                thresholds = (shift.low2 / (2 * hard.K), shift.high2 / (2 * hard.K))
                yield Sublayer(shift.layer, _heads(u, soft.t, thresholds, (shift.factor, -shift.factor)))
            case SoftAllMaxShift(block=shift):
                yield Sublayer(shift.layer, _heads(u, soft.t, (0.0,), (shift.factor,)))
            case SoftAffine() as affine:
                yield Sublayer(None, _relus(u, affine.relu_terms(), hard.K, axes[0]))
            case None if isinstance(block, Identity):
                yield Sublayer(block.layer, {})
            case _:
                raise ProofError(f"no weights are known for the block {block!r}")
    if network.network.values.lifted_by:
        yield Sublayer(None, {"b_2": axes[0] * network.network.values.lifted_by / hard.K})
    for window in network.values.blocks():
        yield Sublayer(None, _relus(u, window.relu_terms(), hard.K, window.difference * hard.K))


def _heads(u: Floats, t: float, thresholds: Iterable[float], factors: Iterable[int]) -> Weights:
    """Return heads psi~(Z; b)_k, one a threshold, with W_K = W_V = u^T and query t (u^T Z_k - b)."""
    shapes = weight_shapes(u.size)
    weights = {name: np.zeros(shapes[name]) for name in ("W_Q", "b_Q", "W_K", "W_V", "W_O")}
    for head, (threshold, factor) in enumerate(zip(thresholds, factors, strict=True)):
        weights["W_Q"][head, 0] = t * u
        weights["b_Q"][head, 0] = -t * threshold
        weights["W_K"][head, 0] = weights["W_V"][head, 0] = u
        weights["W_O"][0, head] = factor
    return weights


def _relus(reads: Floats, terms: ReluTerms, levels: int, writes: Floats) -> Weights:
    """Return the layer Z + writes sum_i w_i ReLU(reads^T Z - b_i delta), at most four terms.

    The hidden units hold multiples of delta, ReLU(reads^T Z / delta - b_i): the breakpoints are exact that way.
    """
    if len(terms) > HIDDEN:
        raise ProofError(f"{len(terms)} ReLUs do not fit hidden width {HIDDEN}")
    shapes = weight_shapes(reads.size)
    weights = {name: np.zeros(shapes[name]) for name in ("W_1", "b_1", "W_2")}
    for unit, (weight, breakpoint) in enumerate(terms):
        weights["W_1"][unit] = levels * reads
        weights["b_1"][unit] = -float(breakpoint)
        weights["W_2"][:, unit] = writes * float(weight / levels)
    return weights
