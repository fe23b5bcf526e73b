"""The relay construction against the reach theorem: which inputs every id codes, exhaustively."""

from __future__ import annotations

import itertools
from functools import partial

import brute_force
import numpy as np
import pytest
from relay_oracle import all_grids, fault, literal_with_checks

from constructions.numbers import ProofError
from constructions.relay import build_relay
from constructions.stage import run_fused, run_literal
from theory.families import parse_family
from theory.patterns import PatternError, SparsityPattern

SMALL = list(itertools.chain(*(brute_force.self_attending_digraphs(n) for n in (1, 2, 3))))
DIAMONDS = [[0], [0, 1], [0, 2], [1, 2, 3], [3, 4, 5], [3, 4, 5], [3, 6], [4, 6, 7]]  # two, a component in each


def check(attends: brute_force.Attends, d: int, levels: int, *, literal: bool = True, **options: object) -> None:
    """Build, run all inputs, and compare with the definition of reach; literal equals fused."""
    mapping = build_relay(SparsityPattern.from_lists(*attends), d, levels, **options)  # type: ignore[arg-type]
    grids = all_grids(len(attends[0]), d, levels)
    ids = mapping.ids(grids)
    assert fault(attends, grids, ids) is None, (attends, options)
    if literal:
        assert np.array_equal(literal_with_checks(mapping, grids), ids)


@pytest.mark.parametrize("shared", ["repeat", "once"])
@pytest.mark.parametrize(("d", "levels"), [(1, 2), (1, 3), (2, 2)])
def test_every_digraph_on_up_to_three_tokens(d: int, levels: int, shared: str) -> None:
    for attends in SMALL:
        check(attends, d, levels, shared=shared)


def test_every_digraph_on_four_tokens() -> None:
    for attends in brute_force.self_attending_digraphs(4):
        check(attends, 1, 2, literal=False)


@pytest.mark.exhaustive
@pytest.mark.parametrize("shared", ["repeat", "once"])
@pytest.mark.parametrize("levels", [2, 3])
def test_every_digraph_on_four_tokens_block_by_block(levels: int, shared: str) -> None:
    for attends in brute_force.self_attending_digraphs(4):
        check(attends, 1, levels, shared=shared)


@pytest.mark.parametrize(("shared", "seed"), [(None, 7), ("repeat", 8), ("once", 9)])
def test_random_patterns_up_to_seven_tokens(shared: str | None, seed: int) -> None:
    for number, attends in enumerate(brute_force.random_patterns(1000, seed=seed, self_attending=True)):
        check(attends, 1, 2, literal=number % 20 == 0, shared=shared)


@pytest.mark.parametrize(
    "source",
    ["hub:n=6", "ring:n=6", "causal:n=6", "window:n=6,w=1", "star:n=6,w=1", "strided:n=6,w=2", "dense:n=5"],
)
def test_families(source: str) -> None:
    pattern = parse_family(source)
    check(pattern.to_lists(), 1, 2)
    check(pattern.to_lists(), 1, 3, literal=False)


def test_causal_windows_packed_documents_and_diamonds() -> None:
    causal_window = [[j for j in (k - 1, k) if j >= 0] for k in range(6)]
    packed = [[0], [0, 1], [0, 1, 2], [3, 4], [3, 4], [5, 6], [6]]
    for attends in (causal_window, packed, DIAMONDS):
        for shared in (None, "repeat", "once"):
            check([attends], 1, 2, shared=shared)


def test_any_root_and_any_order_are_sound() -> None:
    ring = [[k, (k - 1) % 4] for k in range(4)]
    tail = [*ring, [3, 4], [4, 5]]
    for root in range(4):
        check([ring], 1, 3, root=root)
        check([tail], 1, 2, root=root)
    for order in itertools.permutations(range(4)):
        check([ring], 1, 2, order=order)


def test_the_ids_fill_exactly_their_slots() -> None:
    """One-to-one in reach(k) with K^(d |reach(k)|) consecutive ids: no mapping has fewer."""
    for attends in SMALL:
        mapping = build_relay(SparsityPattern.from_lists(*attends), 1, 3, shared="once")
        ids = mapping.ids(all_grids(len(attends[0]), 1, 3))
        for token, members in enumerate(brute_force.reach(attends)):
            low, digits = mapping.slots[token]
            assert digits == len(members)
            assert np.unique(ids[:, token]).tolist() == list(range(low, low + 3**digits))


@pytest.mark.parametrize("source", ["window:n=16,w=1", "ring:n=9", "hub:n=33", "strided:n=16,w=4", "dense:n=2"])
@pytest.mark.parametrize(("d", "levels"), [(1, 2), (2, 3), (3, 5)])
def test_strongly_connected_patterns_cost_what_the_formula_says(source: str, d: int, levels: int) -> None:
    pattern = parse_family(source)
    mapping = build_relay(pattern, d, levels)
    n, p = pattern.n, pattern.p
    assert mapping.attention_layers == 2 * p * (n - 1) == sum(mapping.layers_formula.values())
    assert mapping.feed_forward_layers == 8 * (n - 1)
    assert sum(len(list(stage.blocks())) for stage in mapping.stages) == (2 * p + 8) * (n - 1)
    # n d log2 K + log2 n + 1 bits, exactly: 2^bits >= 2 n K^(nd)
    assert mapping.max_id_bits <= (2 * n * levels ** (n * d)).bit_length()
    assert mapping.bound.bit_length() <= mapping.max_id_bits + 2


def test_one_token_needs_nothing() -> None:
    for rows in ([0], []):
        mapping = build_relay(SparsityPattern.from_lists([rows]), 2, 3)
        grids = all_grids(1, 2, 3)
        assert mapping.stages == ()
        assert np.array_equal(mapping.ids(grids), mapping.initial(grids))
        assert mapping.decode(0, 7) == {0: (1, 2)}


@pytest.mark.parametrize(
    ("source", "levels"),
    [
        ("ring:n=14", 2**4),
        ("window:n=14,w=1", 2**4),
        ("hub:n=14", 2**4),
        ("ring:n=3", 2**19),
        ("causal:n=3", 3**12),
    ],
)
def test_python_integers_and_int64_agree_up_to_the_last_bit(source: str, levels: int) -> None:
    pattern = parse_family(source)
    mapping = build_relay(pattern, 1, levels)
    assert mapping.dtype == np.int64
    assert mapping.bound.bit_length() >= 59
    grids = np.random.default_rng(5).integers(0, levels, (50, 1, pattern.n))
    grids[0], grids[1] = 0, levels - 1
    ids = mapping.ids(grids)
    objects = mapping.initial(grids).astype(object)
    assert np.array_equal(run_fused(list(mapping.stages), objects, pattern), ids)
    assert np.array_equal(mapping.literal_ids(grids), ids)
    for stage in mapping.stages:
        objects = run_literal(stage, objects, pattern)
    assert np.array_equal(objects, ids)


@pytest.mark.parametrize(
    "source",
    ["bigbird:n=256,window=1,random=2,globals=1,seed=3", "ring:n=256", "causal:n=256", "random:n=256,r=2,seed=1"],
)
def test_decoding_gives_the_inputs_of_reach_back(source: str) -> None:
    pattern = parse_family(source)
    grids = np.random.default_rng(11).integers(0, 5, (3, 256))
    mapping = build_relay(pattern, 3, 5)
    assert mapping.dtype == object
    ids = mapping.ids(grids)
    assert len(set(ids.tolist())) == 256
    for token in (0, 1, 100, 255):
        members = brute_force_reach(pattern, token)
        expected = {j: tuple(grids[:, j].tolist()) for j in members}
        assert mapping.decode(token, ids[token]) == expected


def brute_force_reach(pattern: SparsityPattern, token: int) -> set[int]:
    found, frontier = {token}, [token]
    while frontier:
        query = frontier.pop()
        new = {key for layer in range(pattern.p) for key in pattern.keys(query, layer).tolist()} - found
        found |= new
        frontier += new
    return found


def test_literal_equals_fused_with_python_integers() -> None:
    pattern = parse_family("bigbird:n=24,window=1,random=1,globals=0,seed=2")
    mapping = build_relay(pattern, 2, 7)
    assert mapping.dtype == object
    grids = np.random.default_rng(0).integers(0, 7, (3, 2, 24))
    assert np.array_equal(mapping.literal_ids(grids), mapping.ids(grids))
    assert np.array_equal(mapping.ids(grids[0]), mapping.ids(grids)[0])
    assert mapping.ids(grids.reshape(3, 1, 2, 24)).shape == (3, 1, 24)


def test_shared_history_repeated_or_once() -> None:
    """A chain of diamonds doubles the words; left to itself the construction then codes history once."""
    n = 31
    rows = [[k] for k in range(n)]
    for top in range(0, n - 1, 3):
        rows[top + 1].append(top)
        rows[top + 2].append(top)
        rows[top + 3] += [top + 1, top + 2]
    pattern = SparsityPattern.from_lists(rows)
    build = partial(build_relay, pattern, 1, 2)
    assert build(shared="repeat").max_id_bits > 2**11
    mapping = build()
    assert mapping.plan.shared == "once"
    assert mapping.max_id_bits <= n + 6
    ids = mapping.ids(np.ones((1, n), dtype=int))
    assert mapping.decode(n - 1, ids[-1]) == dict.fromkeys(range(n), (1,))
    assert np.array_equal(mapping.literal_ids(np.ones((1, n), dtype=int)), ids)


def test_an_impossible_id_is_not_decoded() -> None:
    mapping = build_relay(SparsityPattern.from_lists([[0], [0, 1], [0, 2], [1, 2, 3]]), 1, 2)
    assert mapping.words[3].count(0) == 2
    low, digits = mapping.slots[3]
    for wrong in (low - 1, low + 2**digits):
        with pytest.raises(ProofError, match="outside the token's slot"):
            mapping.decode(3, wrong)
    first = mapping.words[3].index(0)
    with pytest.raises(ProofError, match="two inputs of token 0"):
        mapping.decode(3, low + 2**first)


def test_bad_input_is_named() -> None:
    ring = SparsityPattern.from_lists([[0, 2], [0, 1], [1, 2]])
    with pytest.raises(ProofError, match=r"token 1 does not attend to itself in pattern 1.*1\.1"):
        build_relay(SparsityPattern.from_lists([[0, 1], [0, 1]], [[0], [0]]), 1, 2)
    with pytest.raises(PatternError, match="no token 3"):
        build_relay(ring, 1, 2, root=3)
    with pytest.raises(PatternError, match=r"every token 0\.\.2 once"):
        build_relay(ring, 1, 2, order=[0, 1, 1])
    with pytest.raises(ProofError, match="K = 1/delta must be an integer of at least 2"):
        build_relay(ring, 1, 1)
    with pytest.raises(ProofError, match="d must be an integer of at least 1"):
        build_relay(ring, 0, 2)
    with pytest.raises(PatternError, match="'repeat' or 'once'"):
        build_relay(ring, 1, 2, shared="twice")  # type: ignore[arg-type]
    with pytest.raises(ProofError, match="too long to compute with"):
        build_relay(ring, 10**9, 2)
