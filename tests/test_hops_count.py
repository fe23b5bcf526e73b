"""The hop count against products of matrices: existence, s, bounds and witnesses."""

from __future__ import annotations

import importlib.util
import itertools
from types import SimpleNamespace
from typing import TYPE_CHECKING

import brute_force
import hops_oracle
import numpy as np
import pytest

import theory.hops.clock
import theory.hops.cycles
import theory.hops.kernels
from theory.families import parse_family
from theory.hops import HopCount, hop_count, seen
from theory.patterns import PatternError, SparsityPattern
from theory.verdicts import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from theory.hops.kernels import Engine

HAS_NUMBA = importlib.util.find_spec("numba") is not None
needs_numba = pytest.mark.skipif(not HAS_NUMBA, reason="the extra `fast` is not installed")
engines = pytest.mark.parametrize("engine", ["numpy", pytest.param("numba", marks=needs_numba)])


def check(layers: list[hops_oracle.Matrix], found: HopCount) -> None:
    """Check an exact answer and everything that it claims."""
    true = hops_oracle.history(layers)
    p = len(layers)
    if true.s is None:
        assert found.answer is Answer.FAILS
        assert (found.s, found.upper, found.pivot) == (None, None, None)
        assert found.unseen is not None
        assert found.unseen.layers is None
        pair = found.unseen.query, found.unseen.key
        assert not all(matrix[pair] for matrix in true.seen[true.loop + 1 :])
        if all(layer.diagonal().all() for layer in layers):
            assert not any(matrix[pair] for matrix in true.seen)
        return
    assert found.answer is Answer.HOLDS
    assert (found.s, found.lower, found.upper) == (true.s, true.s, true.s)
    if true.s > 1:
        assert found.unseen is not None
        assert found.unseen.layers == true.s - 1
        assert not true.seen[true.s - 1][found.unseen.query, found.unseen.key]
    else:
        assert found.unseen is None
    if found.pivot is not None:
        assert found.pivot.gathers + found.pivot.spreads == true.s
        assert true.seen[found.pivot.gathers][found.pivot.token].all()
        reached = np.eye(layers[0].shape[0], dtype=bool)
        for t in range(found.pivot.gathers, true.s):
            reached = hops_oracle.product(layers[t % p], reached)
        assert reached[:, found.pivot.token].all()


def free_digraphs(n: int) -> Iterator[hops_oracle.Matrix]:
    for bits in itertools.product((False, True), repeat=n * n):
        yield np.array(bits).reshape(n, n)


def test_every_digraph_up_to_three_tokens() -> None:
    for n in (1, 2, 3):
        for layer in free_digraphs(n):
            check([layer], hop_count(hops_oracle.as_pattern([layer])))


def test_every_pair_of_patterns_on_two_tokens() -> None:
    for layers in itertools.product(free_digraphs(2), repeat=2):
        check(list(layers), hop_count(hops_oracle.as_pattern(list(layers))))


def test_every_self_attending_digraph_on_four_tokens() -> None:
    for lists in brute_force.self_attending_digraphs(4):
        check(hops_oracle.matrices(lists), hop_count(SparsityPattern.from_lists(*lists)))


@pytest.mark.exhaustive
def test_every_triple_of_patterns_on_two_tokens() -> None:
    for layers in itertools.product(free_digraphs(2), repeat=3):
        check(list(layers), hop_count(hops_oracle.as_pattern(list(layers))))


@pytest.mark.exhaustive
def test_every_pair_of_patterns_on_three_tokens() -> None:
    for layers in itertools.product(free_digraphs(3), repeat=2):
        check(list(layers), hop_count(hops_oracle.as_pattern(list(layers))))


@engines
@pytest.mark.parametrize("loops", [True, False])
def test_random_patterns(engine: Engine, loops: bool) -> None:
    methods = set()
    for lists in brute_force.random_patterns(1000, seed=3, self_attending=loops):
        found = hop_count(SparsityPattern.from_lists(*lists), engine=engine)
        check(hops_oracle.matrices(lists), found)
        methods.add(found.method)
    expected = {"bit columns", "interval rows", "searches"} if loops else {"bit columns", "cyclic classes"}
    assert expected <= methods


@engines
@pytest.mark.parametrize("n", [63, 64, 65, 128, 130])
@pytest.mark.parametrize("loops", [True, False])
def test_word_edges(engine: Engine, n: int, loops: bool) -> None:
    rng = np.random.default_rng(n)
    for p, degree, ring in ((1, 3.0, True), (2, 2.0, True), (1, 6.0, False), (3, 1.0, True)):
        layers = hops_oracle.random_matrices(rng, n, p, degree, loops=loops, ring=ring)
        pattern = hops_oracle.as_pattern(layers)
        check(layers, hop_count(pattern, engine=engine))
        # so little memory that one word of keys is followed at a time
        check(layers, hop_count(pattern, engine=engine, memory_limit=40 * pattern.connections))


@pytest.mark.parametrize("n", [3, 4, 5, 8, 13])
def test_wielandt_digraphs(n: int) -> None:
    layers = hops_oracle.wielandt(n)
    found = hop_count(hops_oracle.as_pattern(layers))
    assert found.s == n**2 - 2 * n + 2
    check(layers, found)


def test_wielandt_digraph_by_powers_of_the_cycle() -> None:
    pattern = hops_oracle.as_pattern(hops_oracle.wielandt(65))
    found = hop_count(pattern)
    assert (found.s, found.method) == (65**2 - 2 * 65 + 2, "powers of the cycle")
    assert found.unseen is not None
    assert found.unseen.layers == 65**2 - 2 * 65 + 1
    assert not seen(pattern, found.unseen.query, found.unseen.layers)[found.unseen.key]


def test_powers_are_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory.hops.cycles, "STEPPED_LAYERS", 1)
    methods = set()
    for lists in brute_force.random_patterns(600, seed=5, self_attending=False):
        found = hop_count(SparsityPattern.from_lists(*lists))
        check(hops_oracle.matrices(lists), found)
        methods.add(found.method)
    assert "powers of the cycle" in methods


def test_full_once_but_not_for_ever() -> None:
    full, lossy = [[0, 1], [0, 1]], [[0, 1], []]
    found = hop_count(SparsityPattern.from_lists(full, lossy))
    assert (found.answer, found.s) == (Answer.HOLDS, 1)
    found = hop_count(SparsityPattern.from_lists(lossy, full))
    assert (found.answer, found.s) == (Answer.HOLDS, 2)
    found = hop_count(SparsityPattern.from_lists(full, [[], []]))
    assert (found.answer, found.s) == (Answer.HOLDS, 1)


def test_a_ring_without_self_loops_turns_for_ever() -> None:
    found = hop_count(SparsityPattern.from_lists([[2], [0], [1]]))
    assert (found.answer, found.method) == (Answer.FAILS, "cyclic classes")
    assert "arbitrarily late" in found.why


@pytest.mark.parametrize("value", [True, False, None])
def test_a_hint_on_connectivity_changes_nothing(value: bool | None) -> None:
    for lists in brute_force.random_patterns(150, seed=8):
        connected = all(len(members) == len(lists[0]) for members in brute_force.reach(lists))
        hint = value if value == connected else None
        check(hops_oracle.matrices(lists), hop_count(SparsityPattern.from_lists(*lists), strongly_connected=hint))


@pytest.mark.parametrize("loops", [True, False])
def test_without_time_nothing_wrong_is_said(loops: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory.hops.cycles, "STEPPED_LAYERS", 1)
    answers = set()
    for lists in brute_force.random_patterns(400, seed=11, self_attending=loops):
        true = hops_oracle.history(hops_oracle.matrices(lists))
        found = hop_count(SparsityPattern.from_lists(*lists), time_limit=0.0)
        answers.add((found.answer, found.s is None))
        if found.answer is Answer.FAILS:
            assert true.s is None
        elif found.answer is Answer.HOLDS:
            assert true.s is not None
            assert found.lower <= true.s <= (true.s if found.upper is None else found.upper)
            assert found.s in (None, true.s)
            if found.lower > 1:
                assert found.unseen is not None
                assert found.unseen.layers == found.lower - 1
                assert not true.seen[found.lower - 1][found.unseen.query, found.unseen.key]
    if loops:  # existence is always decided
        assert {answer for answer, _ in answers} == {Answer.HOLDS, Answer.FAILS}
        assert (Answer.HOLDS, True) in answers
    else:
        assert (Answer.UNDECIDED, True) in answers


def test_bounds_of_a_large_pattern_without_memory_or_time() -> None:
    torus = np.arange(4096).reshape(64, 64)
    lists = np.stack([torus, np.roll(torus, 1, 0), np.roll(torus, 1, 1)], axis=-1).reshape(4096, 3)
    pattern = SparsityPattern.from_lists(lists.tolist())
    found = hop_count(pattern, time_limit=0.0, memory_limit=1000)
    assert (found.answer, found.s) == (Answer.HOLDS, None)
    assert found.upper is not None
    assert 64 <= found.lower <= 126 <= found.upper
    assert found.pivot is not None
    assert found.pivot.gathers + found.pivot.spreads == found.upper
    assert f"{found.lower} <= s <= {found.upper}" in found.why


def test_without_1_1_limits_leave_existence_or_s_open(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = SparsityPattern.from_lists([[2], [0], [1]])
    assert hop_count(ring, memory_limit=1).answer is Answer.UNDECIDED
    step = [[0, 1], [1, 2], [2, 0]]
    early = SparsityPattern.from_lists(step, step, [[], [], []])  # full after two layers only
    assert hop_count(early).s == 2
    assert hop_count(early, time_limit=0.0).answer is Answer.UNDECIDED
    monkeypatch.setattr(theory.hops.cycles, "DOUBLED_TOKENS", 1)
    ticks = itertools.count()
    monkeypatch.setattr(theory.hops.clock, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    found = hop_count(hops_oracle.as_pattern(hops_oracle.wielandt(200)), time_limit=50.0)
    assert (found.answer, found.s, found.upper) == (Answer.HOLDS, None, 199**2 + 1)
    assert found.unseen is not None
    assert found.unseen.layers == found.lower - 1 > 1


@pytest.mark.parametrize("n", range(1, 41))
def test_strided_and_fixed_against_the_paper(n: int) -> None:
    """The paper's "s = 2 for all w" (§3.2): Strided needs 3 at its ends, Fixed fails unless w divides n."""
    for w in range(1, n + 1):
        for name in ("strided", "fixed"):
            pattern = parse_family(f"{name}:n={n},w={w}")
            found = hop_count(pattern)
            if n <= 20 or w % 7 == 0:
                check(hops_oracle.matrices(pattern.to_lists()), found)
            if name == "strided":
                assert found.s is not None
                assert found.s <= 3
            else:
                assert (found.answer is Answer.FAILS) == (w < n and n % w > 0)


def test_strided_needs_three_layers_in_741_of_819_cases() -> None:
    cases = [(n, w) for n in range(2, 41) for w in range(1, n + 1)]
    counts = [hop_count(parse_family(f"strided:n={n},w={w}")).s for n, w in cases]
    assert (len(cases), counts.count(3)) == (819, 741)


def test_progress_is_told() -> None:
    told: list[tuple[str, float | None]] = []
    pattern = parse_family("random:n=200,r=6,seed=0,layers=2")
    hop_count(pattern, progress=lambda doing, share: told.append((doing, share)))
    assert told
    assert all(share is None or 0.0 <= share <= 1.0 for _, share in told)


def test_engines_that_are_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = SparsityPattern.from_lists([[0]])
    with pytest.raises(PatternError, match='no engine \'cuda\': take "auto", "numpy" or "numba"'):
        hop_count(pattern, engine="cuda")  # type: ignore[arg-type]
    monkeypatch.setattr(theory.hops.kernels, "find_spec", lambda _: None)
    with pytest.raises(PatternError, match="needs the extra"):
        hop_count(pattern, engine="numba")
    assert theory.hops.kernels.choose_kernels("auto", 1e15).name == "numpy"


@needs_numba
def test_auto_compiles_large_work_only() -> None:
    assert theory.hops.kernels.choose_kernels("auto", 1e15).name == "numba"
    assert theory.hops.kernels.choose_kernels("auto", 1e3).name == "numpy"
