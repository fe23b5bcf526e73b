"""What the relay construction promises, checked from the definitions; nothing here calls the construction."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import brute_force
import numpy as np

from constructions.blocks import AffineOnSlot, Identity, SelectiveShift

if TYPE_CHECKING:
    from constructions.numbers import Integers
    from constructions.relay import RelayMapping


def all_grids(n: int, d: int, levels: int) -> Integers:
    """Every input, shape (K^(dn), d, n)."""
    cells = itertools.product(range(levels), repeat=n * d)
    return np.array(list(cells)).reshape(-1, d, n)


def fault(attends: brute_force.Attends, grids: Integers, ids: Integers) -> str | None:
    """Say what is wrong: an id that depends on more than reach(k), or on less, or that two tokens share."""
    distinct = []
    for token, members in enumerate(brute_force.reach(attends)):
        seen = grids[:, :, sorted(members)].reshape(len(grids), -1)
        inputs = seen @ (int(grids.max(initial=1)) + 1) ** np.arange(seen.shape[1])
        values, which = np.unique(ids[:, token], return_inverse=True)
        pairs = np.unique(inputs * len(values) + which).size
        if pairs > np.unique(inputs).size:
            return f"the id of token {token} depends on more than its reach"
        if pairs > values.size:
            return f"token {token} has one id for two inputs of its reach"
        distinct.append(values.size)
    return "two tokens share an id" if np.unique(ids).size < sum(distinct) else None


def literal_with_checks(mapping: RelayMapping, grids: Integers) -> Integers:
    """Run the blocks one by one; after every one, all numbers within the bound and no two tokens ever equal.

    At rest (between two steps) the tokens' ranges over all inputs must be disjoint intervals; in a selective shift
    exactly one token may be in the window, and it must be the minimum of what it attends to.
    """
    values = mapping.initial(grids)
    maps = 0
    for stage in mapping.stages:
        for block in stage.blocks():
            if isinstance(block, SelectiveShift):
                _check_shift(mapping, block, values)
            values = block.apply(values, mapping.pattern)
            assert isinstance(block, SelectiveShift | Identity | AffineOnSlot)
            assert int(abs(values).max()) <= mapping.bound
            ordered = np.sort(values, axis=-1)
            assert np.all(ordered[:, 1:] > ordered[:, :-1])
            maps += isinstance(block, AffineOnSlot)
            if maps % 4 == 0 and isinstance(block, AffineOnSlot):
                low, high = values.min(axis=0), values.max(axis=0)
                order = np.argsort(low)
                assert np.all(high[order][:-1] < low[order][1:]), "slots overlap at rest"
    return values


def _check_shift(mapping: RelayMapping, block: SelectiveShift, values: Integers) -> None:
    inside = (2 * values > block.low2) & (2 * values < block.high2)
    tokens = np.flatnonzero(inside.any(axis=0))
    assert tokens.size == 1
    assert inside[:, tokens[0]].all()
    attended = values[:, mapping.pattern.keys(int(tokens[0]), block.layer)]
    assert np.all(attended.min(axis=1) == values[:, tokens[0]])
