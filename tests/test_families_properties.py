"""What holds for families whatever the numbers, and that none takes more memory than its connections."""

from __future__ import annotations

import sys
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theory.families as families
from theory.families import FAMILIES, causal_part, longformer, parse_family, ring, star, window
from theory.patterns import PatternError, SparsityPattern

if TYPE_CHECKING:
    from collections.abc import Callable

EXACT = ("dense", "window", "causal", "strided", "random", "reformer", "routing", "documents")
SMALL: dict[str, st.SearchStrategy[Any]] = {
    "n": st.integers(1, 24),
    **dict.fromkeys(("window", "random", "r", "seed"), st.integers(0, 30)),
    "globals": st.integers(0, 1),
    **dict.fromkeys(("dilation", "block", "buckets", "clusters", "length", "rounds", "layers"), st.integers(1, 4)),
    "causal": st.sampled_from(("true", "false")),
    "extended": st.sampled_from(("true", "false")),
    "heads": st.sampled_from(families.HEADS),
}


@st.composite
def specifications(draw: st.DrawFn, names: tuple[str, ...] = tuple(FAMILIES)) -> str:
    family = FAMILIES[draw(st.sampled_from(names))]
    chosen = [p for p in family.parameters if p.required or draw(st.booleans())]
    values = {p.name: draw(st.integers(p.least, 30) if p.name == "w" else SMALL[p.name]) for p in chosen}
    return f"{family.name}:" + ",".join(f"{key}={value}" for key, value in values.items())


@given(specifications())
def test_every_token_attends_to_itself_and_text_is_reproducible(spec: str) -> None:
    pattern = parse_family(spec)
    for layer in pattern.layers:
        own = layer.queries == layer.keys
        assert np.array_equal(layer.queries[own], np.arange(pattern.n)), "Assumption 1.1"
    assert parse_family(spec).digest == pattern.digest


@pytest.mark.parametrize("name", FAMILIES)
@settings(max_examples=60)
@given(st.data())
def test_what_is_admitted_is_what_is_built_or_more(name: str, data: st.DataObject) -> None:
    spec = data.draw(specifications((name,)))
    admitted: list[tuple[int, int, int]] = []

    def record(n: int, connections: int, patterns: int = 1) -> None:
        admitted.append((n, connections, patterns))

    with pytest.MonkeyPatch.context() as patch:
        for module in ("bigbird", "clustered", "draws", "factorised", "local", "relay"):
            patch.setattr(sys.modules[f"theory.families.{module}"], "admit", record)
        pattern = parse_family(spec)
    n, connections, patterns = admitted[-1]
    assert n == pattern.n
    assert connections >= pattern.connections
    assert patterns >= pattern.p
    if name in EXACT:
        assert connections == pattern.connections or "causal=true" in spec or "heads=" in spec


def symmetric(pattern: SparsityPattern) -> bool:
    return all(np.array_equal(layer.keys, layer.transposed.keys) for layer in pattern.layers)


@given(st.integers(1, 20), st.integers(0, 25), st.integers(1, 4), st.integers(0, 1))
def test_windows_are_symmetric_and_read_the_same_backwards(n: int, w: int, dilation: int, g: int) -> None:
    assert symmetric(window(n, w))
    assert symmetric(longformer(n, w, dilation, g))
    assert not symmetric(ring(n + 2))
    assert window(n, w).relabel(np.arange(n)[::-1]) == window(n, w)


@given(st.integers(2, 20), st.integers(0, 25), st.integers(0, 30))
def test_star_stays_the_same_when_the_spokes_turn(n: int, w: int, turn: int) -> None:
    order = np.append((np.arange(n - 1) + turn) % (n - 1), n - 1)
    assert star(n, w).relabel(order) == star(n, w)


@given(specifications())
def test_the_causal_part_keeps_just_the_past(spec: str) -> None:
    pattern = parse_family(spec)
    past = [[[j for j in row if j <= k] for k, row in enumerate(layer)] for layer in pattern.to_lists()]
    assert causal_part(pattern).to_lists() == past


def test_the_causal_part_of_empty_rows() -> None:
    pattern = SparsityPattern.from_lists([[1], [], [2]])
    assert causal_part(pattern).to_lists() == [[[], [], [2]]]


def peak_of(build: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        build()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("spec", "times"),
    [
        ("bigbird:n=65536,window=3,random=3,globals=2", 5),
        ("bigbird:n=16384,window=1,random=2,globals=1,block=32", 3),
        ("strided:n=8192,w=64", 1.6),
        ("fixed:n=8192,w=64", 2.2),
        ("star:n=65536,w=3", 4),
        ("window:n=65536,w=64", 1.75),
        ("random:n=65536,r=8", 4),
        ("random:n=1000,r=900", 5),
        ("longformer:n=65536,window=8,dilation=2,globals=2", 4.5),
        ("reformer:n=8192,buckets=64,rounds=2", 2),
        ("documents:n=8192,length=64,causal=true", 2.5),
    ],
)
def test_memory_is_a_few_times_the_connections(spec: str, times: float) -> None:
    pattern = parse_family(spec)
    own = sum(layer.keys.nbytes + layer.indptr.nbytes for layer in pattern.layers)
    peak = peak_of(lambda: parse_family(spec))
    assert peak < times * own, f"{peak / own:.2f} times the CSR"


@pytest.mark.parametrize(
    "spec",
    [
        "dense:n=1000000",
        "causal:n=1000000",
        "causal:n=999999999999999999,w=0",
        "window:n=1000000,w=600",
        "window:n=70000000,w=0",
        "strided:n=1000000,w=1000000",
        "strided:n=1000000,w=2",
        "fixed:n=1000000,w=900000",
        "fixed:n=1000000,w=2",
        "star:n=1000000,w=999999",
        "hub:n=999999999999",
        "ring:n=999999999999",
        "random:n=1000000,r=1000",
        "random:n=10,r=3,layers=999999999",
        "longformer:n=1000000,window=0,globals=900000",
        "bigbird:n=1000000,window=0,random=0,globals=1000000",
        "bigbird:n=10,window=0,random=0,globals=999999999,extended=true",
        "bigbird:n=1000000,window=0,random=0,globals=0,block=100000",
        "bigbird:n=1000,window=0,random=0,globals=0,layers=99999999",
        "reformer:n=999999999999,buckets=9",
        "routing:n=10,clusters=2,layers=99999999999",
        "documents:n=999999999,length=1",
    ],
)
def test_what_would_not_fit_is_refused_before_it_is_allocated(spec: str) -> None:
    def refuse() -> None:
        with pytest.raises(
            PatternError, match=r"means up to [0-9]+ connections, .* the limit is 2 GiB: take fewer"
        ):
            parse_family(spec)

    assert peak_of(refuse) < 2**20
