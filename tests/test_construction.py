"""Lemma 7 on every input: the mapping against the paper's formulas, literally and statement by statement."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import literal_proof
import numpy as np
import pytest

from constructions.cells import cell_count, cells
from constructions.contextual_mapping import build_mapping
from constructions.mapping import ContextualMapping, StagedMapping
from constructions.numbers import exact_dtype
from constructions.positional_embedding import initial_interval
from constructions.stage import run_literal
from theory import families
from theory.patterns import SparsityPattern

THREE = SparsityPattern.from_lists(  # p = 3; the path 0 -> 1 -> 2 -> 3 needs all three patterns
    [[0, 3], [1], [1, 2], [3]], [[0], [0, 1], [2], [3]], [[0], [1], [2], [2, 3]]
)
PATTERNS = {
    "dense": families.dense(3),
    "strided": families.strided(5, 3),
    "fixed": families.fixed(4, 2),
    "star": families.star(5, 1),
    "window": families.window(4, 1),
    "bigbird": families.bigbird(5, 1, 1, 1, seed=3),
    "ring": families.ring(4),
    "three patterns": THREE,
    "one token": families.dense(1),
}
SMALL = [  # the literal proof in fractions can follow
    ("dense", 1, 2), ("dense", 2, 2), ("dense", 1, 4), ("strided", 1, 2), ("strided", 1, 3), ("fixed", 1, 3),
    ("star", 1, 2), ("window", 1, 3), ("window", 2, 2), ("bigbird", 1, 2), ("ring", 1, 3),
    ("three patterns", 1, 3), ("one token", 1, 5), ("one token", 3, 2),
]  # fmt: skip
LARGE = [
    (families.dense(3), 2, 4), (families.dense(6), 1, 4), (families.strided(9, 4), 1, 2),
    (families.strided(6, 2), 1, 4), (families.fixed(6, 3), 2, 2), (families.fixed(6, 2), 1, 4),
    (families.star(6, 1), 1, 4), (families.star(4, 1), 3, 2), (families.window(12, 1), 1, 2),
    (families.window(5, 1), 1, 5), (families.bigbird(7, 1, 1, 1, seed=1), 1, 3), (families.ring(6), 1, 4),
    (families.ring(4), 3, 2), (THREE, 1, 8),
]  # fmt: skip
HUGE = [
    (families.dense(4), 2, 4), (families.strided(8, 3), 1, 4), (families.fixed(8, 4), 2, 2),
    (families.star(8, 2), 1, 4), (families.window(8, 1), 2, 2), (families.window(16, 1), 1, 2),
    (families.bigbird(8, 1, 1, 1, seed=5), 1, 4), (families.ring(8), 1, 4),
]  # fmt: skip


def _build(
    pattern: SparsityPattern, d: int, levels: int, construction: str = "paper", **more: int
) -> StagedMapping:
    attends = pattern.to_lists()
    gamma, s = literal_proof.hamiltonian_path(attends), literal_proof.smallest_s(attends)
    return build_mapping(pattern, d, levels, construction, gamma=gamma, **{"s": s, **more})


def _proof(pattern: SparsityPattern, d: int, levels: int) -> literal_proof.Proof:
    attends = pattern.to_lists()
    gamma, s = literal_proof.hamiltonian_path(attends), literal_proof.smallest_s(attends)
    assert gamma is not None
    assert s is not None
    return literal_proof.Proof(attends, d, levels, gamma, s)


@pytest.mark.parametrize(("name", "d", "levels"), SMALL)
@pytest.mark.parametrize("construction", ["paper", "merged"])
def test_ids_are_those_of_the_literal_proof(name: str, d: int, levels: int, construction: str) -> None:
    pattern = PATTERNS[name]
    proof, mapping = _proof(pattern, d, levels), _build(pattern, d, levels, construction)
    every = list(literal_proof.grids(d, pattern.n, levels))
    assert every == cells(d, pattern.n, levels).tolist()
    chosen = every[:: max(1, len(every) // 64)] + every[-1:]
    expected = [[value * levels for value in proof.ids(grid, construction == "merged")] for grid in chosen]
    assert mapping.ids(chosen).tolist() == expected
    used = [block.layer for stage in mapping.stages for block in stage.blocks()]
    assert used == proof.layers
    assert mapping.attention_layers == len(proof.layers) == sum(mapping.layers_formula.values())


@pytest.mark.parametrize(("name", "d", "levels"), SMALL)
@pytest.mark.parametrize("construction", ["paper", "merged"])
def test_literal_equals_fused_on_every_stage_and_input(name: str, d: int, levels: int, construction: str) -> None:
    pattern = PATTERNS[name]
    mapping = _build(pattern, d, levels, construction)
    grids = cells(d, pattern.n, levels)
    values = mapping.initial(grids)
    for shift in mapping.stages[0].shifts:
        literal = run_literal(shift, values, pattern)
        assert np.array_equal(shift.apply(values, pattern), literal)
        values = literal
    assert np.array_equal(mapping.stages[0].apply(mapping.initial(grids), pattern), values)
    assert np.array_equal(
        mapping.stages[1].apply(values, pattern), run_literal(mapping.stages[1], values, pattern)
    )
    assert np.array_equal(mapping.ids(grids), mapping.literal_ids(grids))


def test_block_counts_are_the_formulas() -> None:
    mapping = _build(THREE, 2, 3)
    s = literal_proof.smallest_s(THREE.to_lists())
    assert mapping.layers_formula == {"selective_shift": 3 * 3 * 9, "all_max_shift": s}
    assert [stage.attention_layers for stage in mapping.stages] == [81, s]
    assert sum(1 for stage in mapping.stages for _ in stage.blocks()) == mapping.attention_layers == 81 + s
    identities = [type(block).__name__ for block in mapping.stages[0].blocks()].count("Identity")
    assert identities == 2 * 3 * 9
    merged = _build(THREE, 2, 3, "merged")
    assert (merged.attention_layers, merged.feed_forward_layers) == (9 + s, 0)


def _statements(mapping: StagedMapping, gamma: list[int], s: int) -> None:
    """Eqs. (8)-(10), the intervals, the mod property, 7.1 and 7.2, on every input, in units of delta."""
    n, d, levels = mapping.pattern.n, mapping.d, mapping.K
    grids = cells(d, n, levels)
    z = mapping.initial(grids)
    for i, token in enumerate(gamma[1:], start=2):
        low = levels * (i - 2) * sum(levels**j for j in range(d))
        assert z[:, token].min() == low
        assert z[:, token].max() == low + levels**d - 1
    order = [*gamma[1:], gamma[0]]
    assert np.all(z[:, order[:-1]] < z[:, order[1:]])  # eq. (8)
    tilde = mapping.stages[0].apply(z, mapping.pattern)
    assert np.array_equal(tilde[:, gamma[0]], z[:, gamma[0]])
    for before, token in pairwise(gamma):
        assert np.array_equal(tilde[:, token], z[:, token] + levels**d * (tilde[:, before] - z[:, token]))
    chain = tilde[:, gamma]
    assert np.all(chain[:, :-1] < chain[:, 1:])  # eq. (9); z_{gamma(1)} is its first term
    assert tilde.max() < n * levels ** (n * d + 1)  # eq. (10)
    last = tilde[:, gamma[-1]]
    assert len(set(last.tolist())) == len(grids)  # H -> z~_{gamma(n)} is one-to-one
    c = 2 * s * n * levels ** (n * d + 1)
    q = mapping.ids(grids)
    assert np.all(q >= (c**s * last)[:, None])
    assert np.all(q < (c**s * (last + 1))[:, None])
    assert np.array_equal(q % c, tilde)  # in real units: q_k mod 2 s n delta^{-nd} = z~_k
    assert len(set(q.ravel().tolist())) == q.size  # 7.1 and 7.2
    assert q.max() <= mapping.bound < c**s * n * levels ** (n * d + 1)
    assert mapping.dtype == exact_dtype(mapping.bound) == q.dtype


def _check_statements(pattern: SparsityPattern, d: int, levels: int) -> None:
    attends = pattern.to_lists()
    gamma, s = literal_proof.hamiltonian_path(attends), literal_proof.smallest_s(attends)
    assert gamma is not None
    assert s is not None
    paper, merged = (_build(pattern, d, levels, construction) for construction in ("paper", "merged"))
    _statements(paper, gamma, s)
    grids = cells(d, pattern.n, levels)
    assert np.array_equal(paper.ids(grids), merged.ids(grids))
    assert paper.attention_layers == pattern.p * (pattern.n - 1) * levels**d + s
    assert merged.attention_layers == pattern.p * (pattern.n - 1) + s


@pytest.mark.parametrize(("name", "d", "levels"), SMALL)
def test_every_statement_on_every_small_input(name: str, d: int, levels: int) -> None:
    _check_statements(PATTERNS[name], d, levels)


@pytest.mark.parametrize(("pattern", "d", "levels"), LARGE, ids=str)
def test_every_statement_on_up_to_4096_inputs(pattern: SparsityPattern, d: int, levels: int) -> None:
    assert cell_count(d, pattern.n, levels) <= 2**12
    _check_statements(pattern, d, levels)


@pytest.mark.exhaustive
@pytest.mark.parametrize(("pattern", "d", "levels"), HUGE, ids=str)
def test_every_statement_on_65536_inputs(pattern: SparsityPattern, d: int, levels: int) -> None:
    assert cell_count(d, pattern.n, levels) == 2**16
    _check_statements(pattern, d, levels)


@pytest.mark.parametrize(("pattern", "d", "levels"), LARGE[:6], ids=str)
def test_python_integers_equal_int64(pattern: SparsityPattern, d: int, levels: int) -> None:
    from dataclasses import replace

    mapping = _build(pattern, d, levels, "merged")
    wide = replace(mapping, bound=2**100)
    grids = cells(d, pattern.n, levels)[::7]
    assert mapping.dtype == (np.int64 if mapping.bound < 2**62 else object)
    assert wide.ids(grids).dtype == object
    assert all(type(value) is int for value in wide.ids(grids).ravel().tolist())
    assert wide.ids(grids).tolist() == mapping.ids(grids).tolist()


def test_int64_ends_where_the_bound_says() -> None:
    sizes = [_build(families.dense(n), 1, 2, "merged") for n in range(2, 40)]
    assert [mapping.dtype == np.int64 for mapping in sizes] == [mapping.bound < 2**62 for mapping in sizes]
    assert sizes[0].dtype == np.int64
    assert sizes[-1].dtype == object
    edge = next(mapping for mapping in sizes if mapping.dtype == object)
    top = np.ones((1, edge.pattern.n), dtype=np.int64)
    assert edge.ids(top).tolist() == edge.literal_ids(top).tolist()


def test_shapes_batches_and_empty_batches() -> None:
    mapping = _build(PATTERNS["ring"], 2, 2)
    grids = cells(2, 4, 2)[:24]
    assert np.array_equal(mapping.ids(grids.reshape(2, 3, 4, 2, 4)), mapping.ids(grids).reshape(2, 3, 4, 4))
    assert np.array_equal(mapping.ids(grids[5]), mapping.ids(grids)[5])
    assert mapping.ids(grids[:0]).shape == (0, 4)
    before = mapping.initial(grids)
    copy = before.copy()
    mapping.stages[0].apply(before, mapping.pattern)
    assert np.array_equal(before, copy)


def test_long_sequences_run_in_linear_time() -> None:
    n, pattern = 2000, families.star(2000, 1)
    gamma = [*range(n - 1), n - 1]
    mapping = build_mapping(pattern, 1, 2, "paper", gamma=gamma, s=2)
    rng = np.random.default_rng(0)
    ids = mapping.ids(rng.integers(2, size=(2, 1, n)))
    assert len(set(ids.ravel().tolist())) == 2 * n
    assert int(ids.max()).bit_length() > 3 * n
    assert math.log2(mapping.bound) == pytest.approx((2 + 1) * n, rel=0.1)


def test_base_interval_is_eq_8_in_real_units() -> None:
    d, levels, i = 3, 4, 5
    delta = Fraction(1, levels)
    spread = sum(delta**-j for j in range(d))
    low, high = initial_interval(i - 2, d, levels, levels)
    assert low * delta == (i - 2) * spread
    assert high * delta == (i - 2) * spread + delta ** (1 - d) - delta


def test_the_mapping_is_what_verify_asks_for() -> None:
    mapping: ContextualMapping = _build(PATTERNS["dense"], 1, 2)
    assert (mapping.construction, mapping.K, mapping.d) == ("paper", 2, 1)
    assert mapping.positions.tolist() == [2, 0, 1]
