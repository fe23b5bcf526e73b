"""Networks of more than a million blocks: built lazily, run block by block, and fused, bit for bit alike."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks.measure import Size, sizes
from constructions.network import build_network, choose_mapping
from constructions.targets import parse_target
from theory.families import parse_family

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.measure import Measure
    from constructions.mapping import StagedMapping
    from constructions.network import Network
    from constructions.numbers import Integers

STAR = parse_family("star:n=5,w=1")
WINDOWS = "{blocks:,} blocks: contextual and value mapping, `star:n=5,w=1`, d = 1, K = {K}, paper"
SHIFTS = "{blocks:,} attention blocks: contextual mapping, `star:n=5,w=1`, d = {d}, K = 4, paper"


@cache
def network(levels: int) -> Network:
    """Return a network with n K^n value windows; their ids and outputs are one table, and no block is made."""
    return build_network(STAR, 1, levels, parse_target("sort"))


@cache
def mapping(d: int) -> StagedMapping:
    """Return a mapping with (n - 1) K^d attention blocks and s more; it knows them by their number only."""
    return choose_mapping(STAR, d, 4, "paper")


def compare(measure: Measure, how: str, table: str, blocks: int, runs: dict[str, Callable[[], Integers]]) -> None:
    """Time one way to run; both give the same numbers."""
    fused = how == "fused"
    found = measure(
        runs[how],
        table=table,
        row=how,
        against="" if fused else "fused",
        goal="" if fused else ">= 1,000",
        size=Size(blocks, "blocks"),
        rounds=50 if fused else 1,
        warm=fused,
    )
    assert found.tolist() == runs["fused"]().tolist()


@sizes([12], [3])
def test_windows_build(measure: Measure, size: int) -> None:
    """The build of the network, ids of all its cells included."""
    measure(
        network.__wrapped__, fresh=lambda: (size,), table=windows_table(size), row="build", rounds=1, warm=False
    )


@pytest.mark.parametrize("how", ["literal", "fused"])
@sizes([12], [3])
def test_windows(measure: Measure, how: str, size: int) -> None:
    """Every layer one after another, or a few reductions and one bisection an id."""
    grid = np.random.default_rng(0).integers(0, size, (1, STAR.n))
    before, values = network(size).mapping, network(size).values
    runs = {
        "literal": lambda: values.apply_literal(before.literal_ids(grid)),
        "fused": lambda: values.apply(before.ids(grid)),
    }
    compare(measure, how, windows_table(size), blocks(network(size)), runs)


@sizes([9], [3])
def test_shifts_build(measure: Measure, size: int) -> None:
    """The build of the mapping, from the assumptions on."""
    measure(mapping.__wrapped__, fresh=lambda: (size,), table=shifts_table(size), row="build")


@pytest.mark.parametrize("how", ["literal", "fused"])
@sizes([9], [3])
def test_shifts(measure: Measure, how: str, size: int) -> None:
    """Both heads of every block for every token, or two reductions a token."""
    grid = np.random.default_rng(0).integers(0, 4, (size, STAR.n))
    runs = {"literal": lambda: mapping(size).literal_ids(grid), "fused": lambda: mapping(size).ids(grid)}
    compare(measure, how, shifts_table(size), mapping(size).attention_layers, runs)


def blocks(whole: Network) -> int:
    """Return the number of blocks behind quantization."""
    return whole.mapping.attention_layers + whole.values.feed_forward_layers


def windows_table(levels: int) -> str:
    """Return the title of the table."""
    return WINDOWS.format(blocks=blocks(network(levels)), K=levels)


def shifts_table(d: int) -> str:
    """Return the title of the table."""
    return SHIFTS.format(blocks=mapping(d).attention_layers, d=d)
