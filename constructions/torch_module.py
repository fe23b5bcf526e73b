"""The relaxed network as a `torch.nn.Module`: ordinary Transformer blocks in ST^{2,1,4} with literal weights.

Needs PyTorch, which the distribution does not depend on; nothing else imports this module.

    SHead^i(Z)_k = W_V^i Z_{A_k} . rho[ (W_K^i Z_{A_k})^T (W_Q^i Z_k + b_Q^i) ]           (§3.1)
    SAttn(Z)     = Z + W_O [SHead^1(Z); SHead^2(Z)]
    block(Z)     = SAttn(Z) + W_2 ReLU(W_1 SAttn(Z) + b_1 1^T) + b_2 1^T
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import relu, scaled_dot_product_attention

from constructions.numbers import ProofError
from constructions.torch_weights import BlockCounts, schedule, weight_shapes
from theory.probability_maps.base import GroupMap
from theory.probability_maps.softmax import Softmax

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from constructions.relaxation import SoftNetwork
    from constructions.torch_weights import Floats
    from theory.patterns import SparsityPattern
    from theory.probability_maps import ProbabilityMap

__all__ = ["TorchNetwork", "TransformerBlock", "to_torch"]


class TransformerBlock(nn.Module):
    """One block of ST^{2,1,4}: two heads of size 1, hidden width 4, residual connections.

    Parameters
    ----------
    d
        Embedding size.
    weights
        Those that are not zero, by the paper's names: W_Q, W_K, W_V of shape (2, 1, d), b_Q (2, 1), W_O (d, 2),
        W_1 (4, d), b_1 (4,), W_2 (d, 4), b_2 (d,). They become float64 parameters.
    rho
        The probability map; the temperature is part of W_Q and b_Q.

    Raises
    ------
    ProofError
        If a weight's name or shape is none of ST^{2,1,4}.
    """

    W_Q: nn.Parameter
    b_Q: nn.Parameter  # noqa: N815 - the paper's name
    W_K: nn.Parameter
    W_V: nn.Parameter
    W_O: nn.Parameter
    W_1: nn.Parameter
    b_1: nn.Parameter
    W_2: nn.Parameter
    b_2: nn.Parameter

    def __init__(self, d: int, weights: Mapping[str, Floats], rho: ProbabilityMap) -> None:
        super().__init__()
        self.rho = rho
        shapes = weight_shapes(d)
        for name, given in weights.items():
            if given.shape != shapes.get(name):
                raise ProofError(
                    f"{name} of shape {given.shape} does not fit 2 heads of size 1 and hidden width 4 at d = {d}:"
                    f" it has shape {shapes.get(name, 'none')} there"
                )
        for name, shape in shapes.items():
            values = torch.zeros(shape, dtype=torch.float64)
            if name in weights:
                values.copy_(torch.from_numpy(np.ascontiguousarray(weights[name], dtype=np.float64)))
            self.register_parameter(name, nn.Parameter(values))

    def forward(self, z: Tensor, attends: Tensor) -> Tensor:
        """Return the state after the block.

        Parameters
        ----------
        z
            Z, shape (batch, d, n).
        attends
            Whether query k (row) attends to key j (column): boolean, (n, n).
        """
        z = z + self.W_O @ self.heads(z, attends)
        return z + self.W_2 @ relu(self.W_1 @ z + self.b_1[:, None]) + self.b_2[:, None]

    def heads(self, z: Tensor, attends: Tensor) -> Tensor:
        """Return SHead^1(Z) above SHead^2(Z), shape (batch, 2, n)."""
        rows = z.transpose(-2, -1)[:, None]  # (batch, 1, n, d): tokens as rows, as PyTorch has them
        query = rows @ self.W_Q.mT + self.b_Q[:, None]
        key, value = rows @ self.W_K.mT, rows @ self.W_V.mT  # (batch, 2, n, 1)
        if isinstance(self.rho, Softmax):
            mixed = scaled_dot_product_attention(query, key, value, attn_mask=attends, scale=1.0)
        else:
            mixed = self._mixed(query, key, value, attends)
        return mixed.squeeze(-1)

    def _mixed(self, query: Tensor, key: Tensor, value: Tensor, attends: Tensor) -> Tensor:
        """Return each query's values mixed by rho of its scores, for any rho: row by row over A_k."""
        mixed = torch.zeros_like(value)
        for head in torch.nonzero(self.W_O.any(dim=0)).flatten().tolist():  # of the others rho may not be defined
            columns = []
            for token, keys in enumerate(attends):
                scores = query[:, head, token] * key[:, head, keys, 0]
                columns.append((self._weights(scores) * value[:, head, keys, 0]).sum(dim=-1))
            mixed[:, head, :, 0] = torch.stack(columns, dim=-1)
        return mixed

    def _weights(self, scores: Tensor) -> Tensor:
        if isinstance(self.rho, GroupMap):
            return torch.as_tensor(self.rho(scores))
        if scores.requires_grad:
            raise ProofError(f"map {self.rho.name} has no gradient: run the network under torch.no_grad()")
        return torch.as_tensor(self.rho(scores.cpu().numpy()), device=scores.device)


class TorchNetwork(nn.Module):
    """The whole network: X + E, then its blocks one after another; see `to_torch`.

    Parameters
    ----------
    pattern
        The sparsity pattern; block number l, from 0, uses pattern l mod p.
    embedding
        E, shape (d, n), in real units.
    blocks
        The weights of every block that are not zero, as `TransformerBlock` takes them.
    rho
        The probability map.
    counts
        How the blocks came about.

    Raises
    ------
    ProofError
        If a weight does not fit ST^{2,1,4}, or some token attends to nothing.
    """

    embedding: Tensor
    masks: Tensor

    def __init__(
        self,
        pattern: SparsityPattern,
        embedding: Floats,
        blocks: Sequence[Mapping[str, Floats]],
        rho: ProbabilityMap,
        counts: BlockCounts,
    ) -> None:
        super().__init__()
        self.counts = counts
        masks = torch.zeros(pattern.p, pattern.n, pattern.n, dtype=torch.bool)
        for mask, layer in zip(masks, pattern.layers, strict=True):
            if not layer.degrees.all():
                raise ProofError(f"token {int(np.argmin(layer.degrees))} attends to nothing: it has no head")
            mask[torch.tensor(layer.queries), torch.tensor(layer.keys)] = True
        self.register_buffer("masks", masks)
        self.register_buffer("embedding", torch.from_numpy(np.array(embedding, dtype=np.float64)))
        self.blocks = nn.ModuleList(TransformerBlock(embedding.shape[0], weights, rho) for weights in blocks)

    def forward(self, x: Tensor) -> Tensor:
        """Return g(X) for X in [0, 1)^{d x n}.

        Parameters
        ----------
        x
            Shape (batch, d, n), float64.

        Raises
        ------
        ProofError
            If the shape or dtype is another.
        """
        if x.dim() != 3 or x.shape[1:] != self.embedding.shape:
            d, n = self.embedding.shape
            raise ProofError(f"inputs must have shape (batch, {d}, {n}), not {tuple(x.shape)}")
        if x.dtype != torch.float64:
            raise ProofError(f"inputs must be float64, not {x.dtype}: ids a unit apart would not be told apart")
        z: Tensor = x + self.embedding
        for number, block in enumerate(self.blocks):
            z = block(z, self.masks[number % len(self.masks)])
        return z


def to_torch(network: SoftNetwork) -> TorchNetwork:
    """Build the relaxed network as a PyTorch module, in float64.

    The forward pass multiplies the matrices as they stand and has the rounding that `SoftNetwork.run` avoids: a
    value window below a raw id v adds about v^2 2^-50 / delta to it where exact arithmetic adds nothing. With
    the ids of a relay network that is little; where 1/delta is a power of two and t so large that the ids come out
    as exact multiples of delta, it is nothing.

    Parameters
    ----------
    network
        From `soften`, of any construction.

    Examples
    --------
    >>> from constructions.network import build_network
    >>> from constructions.relaxation import soften
    >>> from constructions.targets import TARGETS
    >>> from theory.patterns import SparsityPattern
    >>> from theory.probability_maps import parse_map
    >>> dense = SparsityPattern.from_lists([[0, 1], [0, 1]])
    >>> network = build_network(dense, 1, 2, TARGETS["reverse"])
    >>> module = to_torch(soften(network, parse_map("softmax"), 400.0, 0.25))
    >>> module(torch.tensor([[[0.6, 0.3]]], dtype=torch.float64)).tolist()
    [[[0.0, 0.5]]]
    """
    plan = schedule(network)
    hard = network.mapping.mapping
    embedding = np.tile(hard.positions * (hard.step / hard.K), (hard.d, 1))
    return TorchNetwork(
        hard.pattern, embedding, [block.weights for block in plan.blocks], network.mapping.rho, plan.counts
    )
