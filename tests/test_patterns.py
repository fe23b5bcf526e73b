"""SparsityPattern: what it accepts, what it refuses, and its algebra."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING

import brute_force
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from theory.patterns import Connections, PatternError, SparsityPattern

if TYPE_CHECKING:
    from collections.abc import Callable


@st.composite
def attends(draw: st.DrawFn, most_tokens: int = 6) -> brute_force.Attends:
    n, p = draw(st.integers(1, most_tokens)), draw(st.integers(1, 3))
    row = st.sets(st.integers(0, n - 1)).map(sorted)
    return [[draw(row) for _ in range(n)] for _ in range(p)]


@given(attends())
def test_lists_go_in_and_come_out(lists: brute_force.Attends) -> None:
    pattern = SparsityPattern.from_lists(*lists)
    assert pattern.to_lists() == lists
    assert (pattern.n, pattern.p) == (len(lists[0]), len(lists))
    assert pattern.connections == sum(len(row) for rows in lists for row in rows)


@given(attends())
def test_union_holds_the_edges_of_every_pattern(lists: brute_force.Attends) -> None:
    union = SparsityPattern.from_lists(*lists).union
    assert set(zip(union.keys.tolist(), union.queries.tolist(), strict=True)) == brute_force.union_edges(lists)


@given(attends(), st.randoms(use_true_random=False))
def test_relabel_renames_and_can_be_undone(lists: brute_force.Attends, dice: object) -> None:
    pattern = SparsityPattern.from_lists(*lists)
    order = list(range(pattern.n))
    dice.shuffle(order)  # type: ignore[attr-defined]
    renamed = pattern.relabel(order)
    for layer in range(pattern.p):
        for new, old in enumerate(order):
            assert sorted(order[j] for j in renamed.keys(new, layer)) == pattern.keys(old, layer).tolist()
    assert renamed.relabel(np.argsort(order)) == pattern


@given(attends())
def test_transposed_reverses_every_connection(lists: brute_force.Attends) -> None:
    layer = SparsityPattern.from_lists(*lists).layers[0]
    reverse = layer.transposed
    assert [[k for k in range(layer.n) if j in lists[0][k]] for j in range(layer.n)] == [
        reverse.row(j).tolist() for j in range(layer.n)
    ]


@given(attends())
def test_contains_agrees_with_membership(lists: brute_force.Attends) -> None:
    layer = SparsityPattern.from_lists(*lists).layers[0]
    queries, keys = (grid.ravel() for grid in np.mgrid[: layer.n, : layer.n])
    expected = [int(j) in lists[0][k] for k, j in zip(queries, keys, strict=True)]
    assert layer.contains(queries, keys).tolist() == expected
    assert layer.key_counts.tolist() == [sum(j in row for row in lists[0]) for j in range(layer.n)]
    assert layer.is_lower_triangular == all(j <= k for k, row in enumerate(lists[0]) for j in row)


@given(attends())
def test_self_loops_are_added_once(lists: brute_force.Attends) -> None:
    pattern = SparsityPattern.from_lists(*lists)
    looped = pattern.with_self_loops()
    assert looped.to_lists() == [[sorted({*row, k}) for k, row in enumerate(rows)] for rows in lists]
    assert looped.with_self_loops() is looped


def test_rotation_starts_the_cycle_later() -> None:
    pattern = SparsityPattern.from_lists([[0], [1]], [[0, 1], [1]], [[0], [0, 1]])
    assert pattern.rotate(1).to_lists() == [pattern.to_lists()[i] for i in (1, 2, 0)]
    assert pattern.rotate(3) == pattern
    assert pattern.rotate(-1).layers[0] is pattern.layers[2]


def test_equality_hash_and_digest_see_every_connection() -> None:
    one, same = SparsityPattern.from_lists([[0, 1], [1]]), SparsityPattern.from_lists([[1, 0], [1]])
    other = SparsityPattern.from_lists([[0, 1], [0]])
    assert one == same
    assert hash(one) == hash(same)
    assert one.digest == same.digest
    assert one != other
    assert one.digest != other.digest
    assert one != SparsityPattern.from_lists([[0, 1], [1]], [[0, 1], [1]])
    assert one != "a pattern"


def test_repr_says_something() -> None:
    assert (
        repr(SparsityPattern.from_lists([[0, 1], [1]])) == "SparsityPattern(n=2, p=1, connections=3, density=75%)"
    )


def test_arrays_cannot_be_changed_from_outside() -> None:
    indptr, keys = np.array([0, 1, 2]), np.array([0, 1], dtype=np.int32)
    layer = Connections(indptr, keys)
    keys[0] = 1
    assert layer.row(0).tolist() == [0]
    with pytest.raises(ValueError, match="read-only"):
        layer.keys[0] = 1
    with pytest.raises(AttributeError):
        layer.keys = keys  # type: ignore[misc]


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([[[0], [2]]], "key 2 lies outside 0..1"),
        ([[[0], [-1]]], "key -1 lies outside"),
        ([[[0], [1.0]]], "key 1.0 is not an integer"),
        ([[[0], [True]]], "key True is not an integer"),
        ([[[0], [10**30]]], "lies outside"),
        ([[[0], "1"]], "expected a list of keys"),
        ([[[0], 1]], "expected a list of keys"),
        ([["01"]], "expected a list of keys"),
        (["01"], "must be a list of key lists"),
        ([[]], "between 1 and"),
        ([], "at least one layer"),
        ([[[0]], [[0], [1]]], "pattern 1 has 2 tokens, pattern 0 has 1"),
    ],
)
def test_bad_lists_are_refused_by_name(lists: list[object], message: str) -> None:
    with pytest.raises(PatternError, match=message):
        SparsityPattern.from_lists(*lists)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("indptr", "keys", "message"),
    [
        ([0, 2], [0, 0], "unsorted or repeated"),
        ([0, 2, 2], [1, 0], "keys of token 0 are unsorted"),
        ([0, 1, 3], [0, 1], "indptr must rise"),
        ([0, 2, 1], [0, 1], "indptr must rise"),
        ([1, 1, 2], [0, 1], "indptr must rise"),
        ([0, 1, 2], [0, 2], "token 1 attends to key 2"),
        ([0], [], "between 1 and"),
        ([0, 1], [0.5], "flat integer array"),
        ([0, 1], [2**40], "out of range"),
        ([[0, 1]], [0], "flat integer array"),
    ],
)
def test_bad_csr_is_refused_by_name(indptr: list[int], keys: list[int], message: str) -> None:
    with pytest.raises(PatternError, match=message):
        Connections(np.array(indptr), np.array(keys))


@pytest.mark.parametrize(
    ("n", "queries", "keys", "message"),
    [(0, [], [], "between 1"), (2, [0], [0, 1], "in pairs"), (2, [2], [0], "query 2"), (2, [0], [-1], "key -1")],
)
def test_bad_pairs_are_refused_by_name(n: int, queries: list[int], keys: list[int], message: str) -> None:
    with pytest.raises(PatternError, match=message):
        Connections.from_pairs(n, queries, keys)


def test_relabel_and_keys_refuse_what_is_no_token() -> None:
    pattern = SparsityPattern.from_lists([[0], [1]])
    with pytest.raises(PatternError, match="permutation"):
        pattern.relabel([0, 0])
    with pytest.raises(PatternError, match="no token 2"):
        pattern.keys(2)


def test_a_row_that_can_be_read_once_is_read_once() -> None:
    rows = [iter([0, 2]), (key for key in (0, 1)), {1, 2}]
    assert SparsityPattern.from_lists(rows).to_lists() == [[[0, 2], [0, 1], [1, 2]]]
    assert SparsityPattern.from_lists(iter([iter([0]), iter([0, 1])])).to_lists() == [[[0], [0, 1]]]


@pytest.mark.parametrize("wrong", [[0.0, 1.7], [True, False], ["0", "1"], [0, None], [0, 2**63]])
def test_pairs_that_are_no_integers_are_refused(wrong: list[object]) -> None:
    for queries, keys in ((wrong, [0, 1]), ([0, 1], wrong)):
        with pytest.raises(PatternError, match=r"must be a whole number|beyond every token"):
            Connections.from_pairs(2, queries, keys)  # type: ignore[arg-type]
    with pytest.raises(PatternError, match="n must be a whole number"):
        Connections.from_pairs(2.0, [0], [0])  # type: ignore[arg-type]


def test_numpy_integers_are_integers() -> None:
    pairs = np.array([0, 1], dtype=np.uint8)
    assert Connections.from_pairs(np.int32(2), pairs, pairs.astype(np.uint64)).keys.tolist() == [0, 1]
    pattern = SparsityPattern.from_lists([[np.int64(0)], [np.uint8(0), 1]])
    assert pattern.attends(np.int16(1), np.uint8(0), np.int64(0))


@pytest.mark.parametrize("wrong", [-1, 2, 99, 1.0, True, "1", None])
def test_what_is_no_token_is_refused(wrong: object) -> None:
    pattern = SparsityPattern.from_lists([[0], [0, 1]])
    for question in (
        lambda: pattern.attends(wrong, 0),  # type: ignore[arg-type]
        lambda: pattern.attends(0, wrong),  # type: ignore[arg-type]
        lambda: pattern.keys(wrong),  # type: ignore[arg-type]
        lambda: pattern.union.row(wrong),  # type: ignore[arg-type]
    ):
        with pytest.raises(PatternError, match=rf"no token {wrong!r}: tokens are .*0\.\.1"):
            question()
    with pytest.raises(PatternError, match="no pattern"):
        pattern.attends(0, 0, layer=wrong if wrong != -1 else 1)  # type: ignore[arg-type]


def test_contains_refuses_what_is_no_token() -> None:
    layer = SparsityPattern.from_lists([[0], [0, 1]]).union
    for queries, keys, message in (([0], [2], "key 2"), ([-1], [0], "query -1"), ([0, 2], [0, 0], "query 2")):
        with pytest.raises(PatternError, match=rf"{message} lies outside 0\.\.1"):
            layer.contains(np.array(queries), np.array(keys))


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])  # noqa: S301
def test_copies_and_pickles_are_as_frozen_as_their_pattern(
    again: Callable[[SparsityPattern], SparsityPattern],
) -> None:
    pattern = SparsityPattern.from_lists([[0, 1], [1]], [[0], [0, 1]])
    digest, _ = pattern.digest, pattern.union.transposed
    twin = again(pattern)
    assert twin == pattern
    assert twin.digest == digest
    for layer in (*twin.layers, twin.union, again(pattern.union)):  # type: ignore[arg-type]
        for array in (layer.indptr, layer.keys, layer.self_attending, layer.hubs):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0
            assert not array.flags.writeable


def test_a_pickle_is_checked_again() -> None:
    pattern = SparsityPattern.from_lists([[0, 1], [1]])
    forged = SparsityPattern.__new__(SparsityPattern)
    forged.__setstate__({"layers": pattern.layers, "digest": "forged"})
    assert forged.digest == pattern.digest
    bad = Connections.__new__(Connections)
    for state, message in (
        ({"indptr": np.array([0, 1, 2]), "keys": np.array([0, 7])}, "token 1 attends to key 7"),
        ({"indptr": np.array([0, 2, 1]), "keys": np.array([0, 1])}, "indptr must rise"),
        ({"indptr": np.array([0, 1, 2]), "keys": np.array([0.0, 1.0])}, "flat integer array"),
    ):
        with pytest.raises(PatternError, match=message):
            bad.__setstate__(state)
    with pytest.raises(PatternError, match="at least one layer"):
        forged.__setstate__({"layers": ()})
    with pytest.raises(PatternError, match="not of list"):
        forged.__setstate__({"layers": ([[0]],)})
