"""The relay construction: a contextual mapping for any self-attending pattern, without a Hamiltonian path.

Every token's id codes exactly the inputs of reach(k), the tokens with a directed path to k: the reach theorem,
constructively. An id is a number in base K^d with one digit an input, so `RelayMapping.decode` reads it back.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from constructions.contextual_mapping import SELF_LOOPS, check_sizes
from constructions.mapping import StagedMapping
from constructions.numbers import ProofError
from constructions.relay_plan import plan_relay
from constructions.relay_slots import lay_out, words
from constructions.relay_stage import RelayStage, check_attended
from theory.checks import index, wholes
from theory.graph import self_attention_violations
from theory.patterns import PatternError
from theory.wording import name_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from constructions.relay_plan import Move, Plan, Shared
    from constructions.relay_slots import Slot
    from theory.patterns import IntArray, SparsityPattern

__all__ = ["RelayMapping", "build_relay"]

MAX_ID_BITS = 2**31  # of all ids of one input together: a quarter of a gigabyte


@dataclass(frozen=True, eq=False)
class RelayMapping(StagedMapping):
    """The relay construction's contextual mapping; see `build_relay`.

    Parameters
    ----------
    plan
        What absorbs what; `plan.shared` says how shared history is coded.
    slots
        Where every id lies: low <= id < low + K^{d digits}.
    """

    plan: Plan
    slots: tuple[Slot, ...]

    @cached_property
    def words(self) -> tuple[tuple[int, ...], ...]:
        """For every token the tokens whose inputs its id codes, least significant digit first."""
        return tuple(words(self.plan, self.pattern.n))

    @property
    def max_id_bits(self) -> int:
        """Bits of the largest id."""
        highest: int = max(low + self.K ** (self.d * digits) - 1 for low, digits in self.slots)
        return highest.bit_length()

    def decode(self, token: int, identifier: int) -> dict[int, tuple[int, ...]]:
        """Read the inputs of reach(token) back from the token's id: the inverse, so the mapping is one-to-one.

        Parameters
        ----------
        token
            The token, from 0.
        identifier
            Its id, in units of delta.

        Returns
        -------
        dict[int, tuple[int, ...]]
            For every token of reach(token) its column of the grid, in units of delta.

        Raises
        ------
        ProofError
            If no input gives the token this id.

        Examples
        --------
        >>> from theory.patterns import SparsityPattern
        >>> mapping = build_relay(SparsityPattern.from_lists([[0], [0, 1], [1, 2]]), d=2, K=3)
        >>> ids = mapping.ids(np.array([[2, 1, 0], [0, 2, 1]]))
        >>> mapping.decode(1, int(ids[1]))
        {1: (1, 2), 0: (2, 0)}
        """
        low, digits = self.slots[token]
        code = int(identifier) - low
        if not 0 <= code < self.K ** (self.d * digits):
            raise ProofError(
                f"{name_number(identifier)} is no id of token {token}: it lies outside the token's slot"
            )
        columns: dict[int, tuple[int, ...]] = {}
        for source in self.words[token]:
            column = []
            for _ in range(self.d):
                code, entry = divmod(code, self.K)
                column.append(entry)
            if columns.setdefault(source, tuple(column)) != tuple(column):
                raise ProofError(
                    f"{name_number(identifier)} is no id of token {token}: it codes two inputs of token {source}"
                )
        return columns


def build_relay(
    pattern: SparsityPattern,
    d: int,
    K: int,  # noqa: N803 - the paper's 1/delta
    *,
    root: int | None = None,
    order: Sequence[int] | None = None,
    shared: Shared | None = None,
) -> RelayMapping:
    """Build the relay construction: ids that are one-to-one in exactly the inputs of reach(k), token by token.

    Each absorb step takes p attention layers and four feed-forward layers, independent of delta and d. A strongly
    connected pattern takes 2(n - 1) steps, and its ids lie below 2 n K^(nd): n d log2 K + log2 n + 1 bits.

    Parameters
    ----------
    pattern
        Any pattern with Assumption 1.1: every token attends to itself in every pattern.
    d, K
        Embedding size and grid levels 1/delta.
    root
        Where its component gathers; any choice is sound and gives ids of the same length.
    order
        ``order[i]`` is the token that the embedding puts at position i; 0, 1, ..., n-1 where not given.
    shared
        How history that arrives in several ways is coded, `repeat` or `once`; see `plan_relay`.

    Raises
    ------
    ProofError
        If Assumption 1.1 fails (and n > 1), or the ids of one input would fill a quarter of a gigabyte.
    PatternError
        If d, K, `root`, `order` or `shared` is out of range.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> hub = SparsityPattern.from_lists([[0, 3], [1, 3], [2, 3], [0, 1, 2, 3]])
    >>> mapping = build_relay(hub, d=1, K=2)
    >>> mapping.attention_layers, mapping.feed_forward_layers, mapping.max_id_bits
    (6, 24, 7)
    >>> mapping.ids(np.array([[1, 0, 0, 1]])).tolist()
    [11, 27, 43, 59]
    """
    n = pattern.n
    _check_sizes(n, d, K, root, shared)
    d, K, root = int(d), int(K), None if root is None else int(root)  # noqa: N806 - NumPy's integers would wrap around
    _check_self_attention(pattern)
    positions = _positions(n, order)
    plan = plan_relay(pattern.union, root, shared, MAX_ID_BITS // (d * (K - 1).bit_length()))
    layout = lay_out(plan, _layers(pattern, plan.moves), d, K, positions)
    stages = tuple(
        RelayStage(phase.name, steps, pattern) for phase, steps in zip(plan.phases, layout.steps, strict=True)
    )
    check_attended([step for stage in stages for step in stage.steps], pattern)
    formula = {name: pattern.p * moves for name, moves in plan.formula.items()}
    bound = max([layout.top, *(step.bound for stage in stages for step in stage.steps)])
    return RelayMapping(
        pattern, d, K, "relay", positions, stages, bound, formula, K, plan=plan, slots=layout.slots
    )


def _check_sizes(n: int, d: int, levels: int, root: int | None, shared: str | None) -> None:
    check_sizes(d, levels)
    if root is not None:
        index(root, n)
    if shared not in (None, "repeat", "once"):
        raise PatternError(f"shared history is coded 'repeat' or 'once', not {shared!r}")


def _check_self_attention(pattern: SparsityPattern) -> None:
    """Require 1.1; a single token has nothing to absorb and needs none."""
    violations = self_attention_violations(pattern)
    if pattern.n > 1 and violations.size:
        layer, token = violations[0].tolist()
        raise ProofError(
            f"token {token} does not attend to itself in pattern {layer}: the relay construction needs 1.1:"
            f" {SELF_LOOPS}"
        )


def _positions(n: int, order: Sequence[int] | None) -> IntArray:
    """Return pos(k), the inverse of `order`."""
    if order is None:
        return np.arange(n)
    tokens = wholes("a token of the order", order)
    if tokens.shape != (n,) or not np.array_equal(np.sort(tokens), np.arange(n)):
        raise PatternError(f"order needs every token 0..{n - 1} once")
    positions: npt.NDArray[np.int64] = np.empty(n, dtype=np.int64)
    positions[tokens] = np.arange(n)
    return positions


def _layers(pattern: SparsityPattern, moves: Sequence[Move]) -> list[int]:
    """Return for every move the first pattern in which the query attends to the key."""
    queries = np.array([move.query for move in moves], dtype=np.int64)
    keys = np.array([move.key for move in moves], dtype=np.int64)
    chosen = np.zeros(queries.size, dtype=np.int64)
    for number in reversed(range(pattern.p)):
        chosen[pattern.layers[number].contains(queries, keys)] = number
    return chosen.tolist()
