"""Whether a number of layers is enough, at the sizes of real models: from the ends of the rows, or from s."""

from __future__ import annotations

import time

import numpy as np
import pytest

from theory.families import parse_family
from theory.hops import HopCount, hop_count
from theory.patterns import SparsityPattern
from theory.verdicts import Answer
from verify.depth import first_unseen, within_layers


def matrices_of(pattern: SparsityPattern) -> list[np.ndarray]:
    dense = np.zeros((pattern.p, pattern.n, pattern.n), dtype=bool)
    for number, layer in enumerate(pattern.layers):
        dense[number, np.repeat(np.arange(pattern.n), layer.degrees), layer.keys] = True
    return list(dense | np.eye(pattern.n, dtype=bool))


def missing(pattern: SparsityPattern, layers: int, *, causal: bool) -> set[tuple[int, int]]:
    """Return all required pairs that are not seen, by multiplying matrices."""
    seen = np.eye(pattern.n, dtype=bool)
    matrices = matrices_of(pattern)
    for step in range(layers):
        seen = matrices[step % pattern.p] @ seen
    unseen = ~seen & np.tri(pattern.n, dtype=bool) if causal else ~seen
    return {(int(query), int(key)) for query, key in np.argwhere(unseen)}


def interval_cycle(rng: np.random.Generator, *, around: bool) -> SparsityPattern:
    n, p = int(rng.integers(2, 12)), int(rng.integers(1, 4))
    cycle = []
    for _ in range(p):
        lists = []
        for query in range(n):
            ends = range(query - int(rng.integers(0, 3)), query + int(rng.integers(0, 3)) + 1)
            lists.append(sorted({key % n for key in ends} if around else {key for key in ends if 0 <= key < n}))
        cycle.append(lists)
    return SparsityPattern.from_lists(*cycle)


@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_rows_that_are_intervals_agree_with_matrices(causal: bool, around: bool) -> None:
    rng = np.random.default_rng(7)
    for _ in range(60):
        pattern = interval_cycle(rng, around=around)
        for layers in (1, 2, 3, 5, 8, 1000):
            expected = missing(pattern, min(layers, pattern.p * pattern.n), causal=causal)
            found = first_unseen(pattern, layers, causal=causal)
            assert found in expected if expected else found is Answer.HOLDS


@pytest.mark.parametrize(
    ("source", "for_", "layers", "answer"),
    [
        ("causal:n=65536,w=3", "causal", 21845, Answer.HOLDS),
        ("causal:n=65536,w=3", "causal", 21844, Answer.FAILS),
        ("window:n=65536,w=3", "all", 21845, Answer.HOLDS),
        ("window:n=65536,w=3", "all", 20000, Answer.FAILS),
    ],
)
def test_long_windows_are_decided_at_once(source: str, for_: str, layers: int, answer: Answer) -> None:
    pattern = parse_family(source)
    hops = hop_count(pattern)
    start = time.process_time()
    found = within_layers(pattern, layers, for_, hops, time_limit=2)
    assert (found.answer, time.process_time() - start < 5) == (answer, True)


def test_a_pair_unseen_one_layer_before_s_is_unseen_earlier_too() -> None:
    pattern = parse_family("strided:n=400,w=20")
    hops = hop_count(pattern)
    assert hops.s is not None
    found = within_layers(pattern, hops.s - 1, "all", hops, time_limit=0)
    assert found.answer is Answer.FAILS
    assert (found.query, found.key) in missing(pattern, hops.s - 1, causal=False)
    assert f"s = {hops.s} layers are needed" in found.why


def test_the_time_limit_bounds_this_question_too() -> None:
    pattern = parse_family("bigbird:n=64,window=3,random=3,globals=2,seed=0")
    unknown = HopCount(Answer.UNDECIDED, None, 1, None, None, None, "none", "not decided")
    found = within_layers(pattern, 2, "all", unknown, time_limit=0)
    assert found.why == "not decided within 0 s whether 2 layers are enough"
