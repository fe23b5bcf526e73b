"""Every step of the hop count, forced on and compared: kernels, classes, runs, intervals, searches, powers."""

from __future__ import annotations

import importlib.util
from functools import partial
from itertools import pairwise

import brute_force
import hops_oracle
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import theory.hops.bounds
import theory.hops.classes
import theory.hops.monotone
import theory.hops.numpy_kernels as plain
import theory.hops.schedule
from theory.families import parse_family
from theory.hops import hop_count
from theory.hops.bitsets import blank_state, count_bits, first_open_bit, first_open_row
from theory.hops.bounds import Bounds
from theory.hops.classes import distinct_rows
from theory.hops.clock import Clock
from theory.hops.columns import Columns, for_blocks
from theory.hops.existence import find_phases
from theory.hops.intervals import count_intervals
from theory.hops.kernels import Kernels, Stack, UnionLists, choose_kernels
from theory.hops.monotone import count_dominated, count_far, count_near, spread
from theory.hops.powers import multiply
from theory.hops.results import HopCount
from theory.hops.runs import find_runs
from theory.hops.schedule import Schedule
from theory.patterns import SparsityPattern
from theory.verdicts import Answer

HAS_NUMBA = importlib.util.find_spec("numba") is not None
NAMES = ["numpy", "numba"] if HAS_NUMBA else ["numpy"]


@pytest.fixture(params=NAMES)
def kernels(request: pytest.FixtureRequest) -> Kernels:
    return choose_kernels(request.param)


def random_rows(rng: np.random.Generator, rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    mask = rng.random((rows, columns)) < rng.choice([0.02, 0.1, 0.5])
    mask[rng.random(rows) < 0.2] = False
    mask[rng.random(rows) < 0.1] = True
    return np.concatenate(([0], np.cumsum(mask.sum(axis=1)))), np.nonzero(mask)[1].astype(np.int32)


def sets(indptr: np.ndarray, entries: np.ndarray) -> list[list[int]]:
    return [entries[begin:end].tolist() for begin, end in pairwise(indptr)]


@pytest.mark.parametrize("seed", range(8))
def test_sparse_kernels(kernels: Kernels, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "_SLICE", 50)
    monkeypatch.setattr(plain, "_WORTH_SCIPY", 200)
    rng = np.random.default_rng(seed)
    rows, columns = int(rng.integers(1, 40)), int(rng.integers(1, 600))
    indptr, entries = random_rows(rng, rows, columns)
    labels = rng.integers(0, max(1, columns // 3), columns).astype(np.int32)
    starts, found = kernels.label_sets(indptr, entries, labels, columns)
    assert sets(starts, found) == [sorted({int(labels[j]) for j in row}) for row in sets(indptr, entries)]
    table = theory.hops.classes.hash_table(columns)
    expected = [sum(int(table[j]) for j in row) % 2**64 for row in sets(indptr, entries)]
    assert kernels.row_sums(indptr, entries, table).tolist() == expected
    other = rng.integers(0, rows, rows)
    same = [a == sets(indptr, entries)[b] for a, b in zip(sets(indptr, entries), other, strict=True)]
    assert kernels.same_rows(indptr, entries, other).tolist() == same
    turned = kernels.transpose(indptr, entries, columns)
    assert sets(*turned) == [
        [r for r, row in enumerate(sets(indptr, entries)) if j in row] for j in range(columns)
    ]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("by_runs", [False, True])
def test_unions_of_bit_rows(kernels: Kernels, seed: int, by_runs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "_CACHED_ROWS", 7)
    rng = np.random.default_rng(seed)
    rows, before, bits = int(rng.integers(1, 80)), int(rng.integers(1, 90)), int(rng.integers(1, 200))
    indptr, entries = random_rows(rng, rows, before)
    runs = find_runs(indptr, entries, before, worth=0.0) if by_runs else None
    dense = rng.random((before, bits)) < rng.choice([0.01, 0.2, 0.9])
    dense[rng.random(before) < 0.1] = True
    old = blank_state(before, bits)
    starts, keys = np.arange(bits + 1) * before, np.tile(np.arange(before, dtype=np.int32), bits)
    held = dense.T.ravel()
    starts = np.concatenate(([0], np.cumsum(held))).astype(np.int64)[starts]
    kernels.set_bits(old, starts, keys[held], np.arange(bits))
    new = np.empty((rows, old.shape[1]), dtype=np.uint64)
    open_row = kernels.or_rows(old, new, UnionLists(indptr, entries, runs))
    expected = np.array([dense[row].any(axis=0) for row in sets(indptr, entries)])
    unpacked = np.unpackbits(new.view(np.uint8), axis=1, bitorder="little", count=bits)
    assert np.array_equal(unpacked.astype(bool), expected)
    short = np.flatnonzero(~expected.all(axis=1))
    assert open_row == (short[0] if short.size else -1)
    assert (
        count_bits(new, bits)[expected.any(axis=1)].tolist() == expected.sum(axis=1)[expected.any(axis=1)].tolist()
    )
    if short.size:
        assert first_open_bit(new[open_row]) == np.flatnonzero(~expected[open_row])[0]
    assert first_open_row(new) == open_row


@pytest.mark.parametrize("seed", range(6))
def test_searches_follow_the_recursion(kernels: Kernels, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain, "_FEW", 2 if seed % 2 else 64)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        n, p = int(rng.integers(1, 12)), int(rng.integers(1, 4))
        layers = hops_oracle.random_matrices(rng, n, p, float(rng.choice([1, 2])), loops=True)
        pattern = hops_oracle.as_pattern(layers)
        back = Stack.of([(layer.indptr, layer.keys) for layer in pattern.layers])
        forth = Stack.of([(layer.transposed.indptr, layer.transposed.keys) for layer in pattern.layers])
        target = int(rng.integers(n))
        times = kernels.gather(back, target)
        for phase in range(p):
            seen = [np.eye(n, dtype=bool)]
            for t in range(2 * n * p):
                seen.append(hops_oracle.product(layers[(phase + t) % p], seen[-1]))
            first = np.where(np.any(seen, axis=0), np.argmax(seen, axis=0), -1)  # first[query, key]
            key = int(rng.integers(n))
            assert kernels.arrive(forth, np.array([key]), phase, p * n).tolist() == first[:, key].tolist()
            limited = np.where(first[:, key] > 1, -1, first[:, key])
            assert kernels.arrive(forth, np.array([key]), phase, 1).tolist() == limited.tolist()
            assert times[phase].tolist() == first[target].tolist()


def test_equal_rows_are_found_and_a_weak_hash_changes_no_answer(
    kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    indptr, entries = np.array([0, 2, 4, 5, 7, 7, 8]), np.array([0, 2, 1, 2, 1, 0, 2, 1], dtype=np.int32)
    found = distinct_rows(kernels, indptr, entries, 3)
    assert found.labels.tolist() == [0, 1, 2, 0, 3, 2]
    assert sets(found.indptr, found.entries) == [[0, 2], [1, 2], [1], []]
    labelled = distinct_rows(kernels, indptr, entries, 2, np.array([0, 1, 1], dtype=np.int32))
    assert labelled.labels.tolist() == [0, 1, 1, 0, 2, 1]
    monkeypatch.setattr(theory.hops.classes, "hash_table", lambda count: np.zeros(count, dtype=np.uint64))
    weak = distinct_rows(kernels, indptr, entries, 3)
    assert weak.count > found.count
    assert [sets(weak.indptr, weak.entries)[label] for label in weak.labels] == sets(indptr, entries)
    assert_all_paths_agree(kernels, count=200, seed=21)


def assert_all_paths_agree(kernels: Kernels, count: int, seed: int) -> None:
    """Compare bit columns over the schedule with products of matrices."""
    for lists in brute_force.random_patterns(count, seed=seed, most_tokens=9, self_attending=True):
        true = hops_oracle.history(hops_oracle.matrices(lists))
        pattern = SparsityPattern.from_lists(*lists)
        columns = Columns(Schedule(pattern, kernels), kernels, pattern.n)
        found = count_near(columns, 1, Clock(None))
        if true.s is not None:
            assert isinstance(found, HopCount)
            assert found.s == true.s
        else:
            assert not isinstance(found, HopCount)


def check_states(pattern: SparsityPattern, kernels: Kernels, *, reduce: bool) -> None:
    """Compare every S^t that the schedule forms, row by row, with products of matrices."""
    schedule = Schedule(pattern, kernels, reduce=reduce)
    columns = Columns(schedule, kernels, pattern.n)
    layers = hops_oracle.matrices(pattern.to_lists())
    seen = np.eye(pattern.n, dtype=bool)
    for layer in columns.layers(np.arange(pattern.n)):
        seen = hops_oracle.product(layers[(layer.t - 1) % pattern.p], seen)
        bits = np.unpackbits(layer.state.view(np.uint8), axis=1, bitorder="little", count=pattern.n).astype(bool)
        tokens = schedule.tokens(layer.t)
        assert np.array_equal(bits, seen[tokens])
        rows = [row.tobytes() for row in seen]
        sizes: dict[bytes, int] = dict.fromkeys(rows, 0)
        for token, size in zip(tokens.tolist(), schedule.sizes(layer.t).tolist(), strict=True):
            sizes[rows[token]] += size
        assert sizes == {row: rows.count(row) for row in rows}
        if layer.t == 9:
            break
    kept = schedule.sources.tolist()
    first = layers[0]
    assert {first[:, key].tobytes() for key in kept} == {first[:, key].tobytes() for key in range(pattern.n)}


@pytest.mark.parametrize("builds", [64, 0])
@pytest.mark.parametrize("reduce", [True, False])
def test_classes_of_tokens(kernels: Kernels, builds: int, reduce: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory.hops.schedule, "MOST_BUILDS", builds)
    for lists in brute_force.random_patterns(120, seed=13, most_tokens=9):
        check_states(SparsityPattern.from_lists(*lists), kernels, reduce=reduce)
    for text in ("fixed:n=24,w=5", "strided:n=21,w=4", "bigbird:n=24,window=1,random=1,globals=0,block=3,seed=0"):
        check_states(parse_family(text), kernels, reduce=reduce)


def test_classes_are_few_where_rows_are_equal(kernels: Kernels) -> None:
    fixed = Schedule(parse_family("fixed:n=64,w=8"), kernels)
    fixed.lists(2)
    assert (fixed.tokens(1).size, fixed.tokens(2).size, fixed.sources.size) == (8, 1, 8)
    strided = Schedule(parse_family("strided:n=64,w=8"), kernels)
    strided.lists(3)
    assert strided.tokens(2).size == 8
    blocks = Schedule(parse_family("bigbird:n=256,window=1,random=1,globals=0,block=16,seed=0"), kernels)
    assert (blocks.tokens(1).size, blocks.sources.size) == (16, 16)


def test_dominating_keys(kernels: Kernels) -> None:
    """Whatever the keys are: the rarest take t layers, dominating ones less, so s = t; or nothing is said."""
    settled = 0
    for lists in brute_force.random_patterns(200, seed=31, most_tokens=12, self_attending=True):
        pattern = SparsityPattern.from_lists(lists[0])
        schedule = Schedule(pattern, kernels)
        chosen = schedule.dominating_keys().tolist()
        assert set(chosen) <= set(schedule.sources.tolist())
        alike = [x for x in range(pattern.n) if schedule.source_of[x] in chosen]
        assert set().union(*(lists[0][x] for x in alike)) == set(range(pattern.n))
    for seed in range(40):
        rng = np.random.default_rng(seed)
        layers = hops_oracle.random_matrices(rng, 200, 1, float(rng.choice([3, 5, 8])), loops=True, ring=True)
        pattern = hops_oracle.as_pattern(layers)
        found = count_dominated(Columns(Schedule(pattern, kernels), kernels, 200), 1, 100, Clock(None))
        if found is not None:
            true = hops_oracle.history(layers)
            assert found.s == true.s
            assert found.unseen is not None
            assert found.unseen.layers == found.s - 1
            assert not true.seen[found.unseen.layers][found.unseen.query, found.unseen.key]
            settled += 1
    assert 5 < settled < 40


def test_dominating_keys_are_tried_where_keys_are_many(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory.hops.monotone, "FEWEST_BLOCKS", 0)
    methods = set()
    for seed in range(12):
        layers = hops_oracle.random_matrices(
            np.random.default_rng(seed), 200, 1, 3.0 + seed % 6, loops=True, ring=True
        )
        pattern = hops_oracle.as_pattern(layers)
        found = count_near(Columns(Schedule(pattern, kernels), kernels, 200), 1, Clock(None))
        assert isinstance(found, HopCount)
        assert found.s == hops_oracle.history(layers).s
        methods.add(found.method)
    assert methods == {"dominating keys", "bit columns"}


def test_runs_are_forced(kernels: Kernels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory.hops.schedule, "find_runs", partial(find_runs, worth=0.0))
    for lists in brute_force.random_patterns(150, seed=17, most_tokens=9):
        check_states(SparsityPattern.from_lists(*lists), kernels, reduce=True)
    pattern = parse_family("bigbird:n=150,window=6,random=1,globals=0,seed=0")
    check_states(pattern, kernels, reduce=True)


def test_runs_are_taken_where_they_pay() -> None:
    window = parse_family("bigbird:n=400,window=16,random=1,globals=0,seed=0").layers[0]
    assert find_runs(window.indptr, window.keys, 400) is not None
    scattered = parse_family("random:n=400,r=16,seed=0").layers[0]
    assert find_runs(scattered.indptr, scattered.keys, 400) is None


def interval_layer(rng: np.random.Generator, n: int, *, ring: bool) -> hops_oracle.Matrix:
    layer = np.zeros((n, n), dtype=bool)
    for k in range(n):
        left, right = rng.integers(0, 3, 2) if rng.random() < 0.9 else rng.integers(0, n, 2)
        keys = np.arange(k - left, k + right + 1)
        layer[k, keys % n if ring else keys[(keys >= 0) & (keys < n)]] = True
    return layer


@pytest.mark.parametrize("ring", [False, True])
def test_interval_rows_by_doubling(ring: bool) -> None:
    rng = np.random.default_rng(ring)
    fails = 0
    for _ in range(300):
        n, p = int(rng.integers(1, 14)), int(rng.integers(1, 4))
        layers = [interval_layer(rng, n, ring=ring) for _ in range(p)]
        found = count_intervals(hops_oracle.as_pattern(layers))
        true = hops_oracle.history(layers)
        assert found is not None
        assert found.s == true.s
        fails += true.s is None
        if true.s is None:
            assert found.unseen is not None
            assert not true.seen[-1][found.unseen.query, found.unseen.key]
        elif true.s > 1:
            assert found.unseen is not None
            assert found.unseen.layers == true.s - 1
            assert not true.seen[true.s - 1][found.unseen.query, found.unseen.key]
    assert fails > 0


def test_rows_that_are_no_intervals_are_left_alone() -> None:
    assert count_intervals(SparsityPattern.from_lists([[0, 2], [1], [2], [3]])) is None
    # a row with two gaps beside one that wraps around with none inside
    assert count_intervals(SparsityPattern.from_lists([[0, 2, 4], [0, 1, 2, 3, 4], [2], [3], [4]])) is None


def test_long_windows_and_rings() -> None:
    for w in (1, 3, 32):
        assert hop_count(parse_family(f"window:n=30000,w={w}")).s == -(-29999 // w)
    assert hop_count(parse_family("ring:n=30000")).s == 29999


@pytest.mark.parametrize("rounds", [0, 2, 16])
@pytest.mark.parametrize("columns", ["none", "plain", "classes"])
def test_searches_are_forced(kernels: Kernels, rounds: int, columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theory.hops.bounds, "MOST_ROUNDS", rounds)
    methods = set()
    for lists in brute_force.random_patterns(150, seed=19, most_tokens=10, self_attending=True):
        true = hops_oracle.history(hops_oracle.matrices(lists))
        pattern = SparsityPattern.from_lists(*lists)
        bounds = Bounds(pattern, kernels)
        schedule = Schedule(pattern, kernels, reduce=columns == "classes")
        found = count_far(
            bounds, None if columns == "none" else Columns(schedule, kernels, pattern.n), 1, Clock(None)
        )
        methods.add(found.method)
        if true.s is None:
            assert found.answer is Answer.FAILS
            assert found.unseen is not None
            assert not true.seen[-1][found.unseen.query, found.unseen.key]
        else:
            assert (found.s, found.lower, found.upper) == (true.s, true.s, true.s)
            first = np.argmax(true.seen, axis=0)  # first[query, key]
            assert np.all(np.maximum(first.max(axis=0), 1) <= bounds.key_bound)
            assert np.all(np.maximum(first.max(axis=1), 1) <= bounds.query_bound)
    assert "searches" in methods


def test_a_relabelled_window_is_settled_by_searches(kernels: Kernels) -> None:
    order = np.random.default_rng(0).permutation(2000)
    pattern = parse_family("window:n=2000,w=3").relabel(order)
    found = hop_count(pattern, engine="numba" if kernels.name == "numba" else "numpy")
    assert (found.s, found.method) == (-(-1999 // 3), "searches")


def test_a_torus_needs_columns_for_all_keys(kernels: Kernels) -> None:
    torus = np.arange(900).reshape(30, 30)
    steps = [torus, *(np.roll(torus, shift, axis) for axis in (0, 1) for shift in (1, -1))]
    pattern = SparsityPattern.from_lists(np.stack(steps, axis=-1).reshape(900, 5).tolist())
    far = count_far(Bounds(pattern, kernels), Columns(Schedule(pattern, kernels), kernels, 900), 4, Clock(None))
    assert (far.s, far.method) == (30, "bit columns")


@settings(max_examples=60)
@given(n=st.integers(1, 130), seed=st.integers(0, 2**32 - 1), density=st.sampled_from([0.0, 0.02, 0.3, 1.0]))
def test_products_of_bit_matrices(n: int, seed: int, density: float) -> None:
    rng = np.random.default_rng(seed)
    left, right = (rng.random((2, n, n)) < density)[:]
    packed = []
    for matrix in (left, right):
        state = blank_state(n, n)
        indptr = np.concatenate(([0], np.cumsum(matrix.sum(axis=0))))
        plain.set_bits(state, indptr, np.nonzero(matrix.T)[1].astype(np.int32), np.arange(n))
        packed.append(state)
    product = multiply(packed[0], packed[1], n)
    bits = np.unpackbits(product.view(np.uint8), axis=1, bitorder="little", count=n).astype(bool)
    assert np.array_equal(bits, hops_oracle.product(left, right))


def test_phases_that_end_full(kernels: Kernels) -> None:
    for lists in brute_force.random_patterns(1200, seed=23, most_tokens=6, self_attending=False):
        layers = hops_oracle.matrices(lists)
        n, p = layers[0].shape[0], len(layers)
        found = find_phases(SparsityPattern.from_lists(*lists), kernels)
        cycle = np.eye(n, dtype=bool)
        for layer in layers:
            cycle = hops_oracle.product(layer, cycle)
        lost = np.flatnonzero(~cycle.any(axis=0))
        assert found.vanishes == (lost.size == n)
        power = np.eye(n, dtype=bool)
        for _ in range(n * n):  # beyond (n - 1)^2 + 1, primitive means full
            power = hops_oracle.product(cycle, power)
        phases = set()
        for r in range(p):
            if power.all():
                phases.add(r)
            power = hops_oracle.product(layers[r], power)
        assert found.phases == phases
        assert (found.unseen is None) == bool(phases)


def test_an_error_in_a_thread_is_raised() -> None:
    def work(keys: np.ndarray) -> int:
        if 3 in keys:
            raise MemoryError
        return 0

    with pytest.raises(MemoryError):
        for_blocks(work, spread(np.arange(8), 4), lambda _: False, Clock(None))
