"""Conversions against loops over all pairs, round trips, and everything that must be refused."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import theory.mask_functions
import theory.masks
from theory.conversions import (
    from_additive_mask,
    from_boolean_mask,
    from_callable,
    from_networkx,
    from_scipy,
    to_additive_mask,
    to_boolean_mask,
    to_callable,
    to_networkx,
    to_scipy,
)
from theory.patterns import PatternError, SparsityPattern


@st.composite
def patterns(draw, largest=7, layers=3):
    n = draw(st.integers(1, largest))
    row = st.sets(st.integers(0, n - 1))
    rows = st.lists(row, min_size=n, max_size=n)
    return SparsityPattern.from_lists(*draw(st.lists(rows, min_size=1, max_size=layers)))


def pairs(pattern):
    """All (layer, query, key) by asking one at a time."""
    n = range(pattern.n)
    return {(a, k, j) for a in range(pattern.p) for k in n for j in n if pattern.attends(k, j, layer=a)}


quick = settings(max_examples=60)


@quick
@given(patterns(), st.sampled_from(["attend", "masked"]))
def test_boolean_masks_hold_the_pattern_and_round_trip(pattern, meaning):
    mask = to_boolean_mask(pattern, true_means=meaning)
    assert mask.shape == (pattern.p, pattern.n, pattern.n)
    assert {tuple(map(int, i)) for i in np.argwhere(mask == (meaning == "attend"))} == pairs(pattern)
    for given_ in (mask, mask.tolist(), list(mask), mask.astype(np.int8), np.asfortranarray(mask)):
        assert from_boolean_mask(given_, true_means=meaning, axis="layers") == pattern


@quick
@given(patterns(), st.sampled_from([np.float16, np.float32, np.float64]), st.booleans())
def test_additive_masks_hold_the_pattern_and_round_trip(pattern, dtype, finite):
    mask = to_additive_mask(pattern, dtype)
    assert mask.dtype == dtype
    assert {tuple(map(int, i)) for i in np.argwhere(mask == 0)} == pairs(pattern)
    if finite:
        mask[np.isneginf(mask)] = np.finfo(dtype).min
    for given_ in (mask, -mask * -1.0):
        assert from_additive_mask(given_, zero_means="attend", axis="layers") == pattern


@quick
@given(patterns(), st.sampled_from(["csr", "csc", "coo", "bsr", "dia", "lil", "dok"]))
def test_scipy_round_trips_in_every_format(pattern, form):
    matrices = to_scipy(pattern)
    assert {
        (a, k, j)
        for a, m in enumerate(matrices)
        for k, j in zip(*map(np.ndarray.tolist, m.nonzero()), strict=True)
    } == pairs(pattern)
    assert from_scipy([m.asformat(form) for m in matrices]) == pattern
    assert from_scipy([sp.csr_matrix(m) for m in matrices]) == pattern


@quick
@given(patterns())
def test_networkx_round_trips_with_edges_from_key_to_query(pattern):
    graphs = to_networkx(pattern)
    assert {(a, v, u) for a, g in enumerate(graphs) for u, v in g.edges()} == pairs(pattern)
    assert from_networkx(graphs) == pattern
    assert from_networkx([nx.MultiDiGraph(g) for g in graphs]) == pattern
    both = from_networkx([g.to_undirected() for g in graphs])
    assert pairs(both) == pairs(pattern) | {(a, j, k) for a, k, j in pairs(pattern)}


@quick
@given(patterns(), st.sampled_from([None, True, False]))
def test_mask_functions_round_trip(pattern, vectorised):
    functions = to_callable(pattern)
    n = range(pattern.n)
    assert {(a, k, j) for a, f in enumerate(functions) for k in n for j in n if f(k, j)} == pairs(pattern)
    assert from_callable(functions, pattern.n, vectorised=vectorised) == pattern


def test_what_leaves_cannot_change_the_pattern():
    pattern = SparsityPattern.from_lists([[0], [0, 1]])
    matrix = to_scipy(pattern)[0]
    matrix.indices[:] = 0
    matrix.indptr[:] = 0
    assert pattern.to_lists() == [[[0], [0, 1]]]


def test_blocks_of_rows_are_joined(monkeypatch):
    monkeypatch.setattr(theory.masks, "BLOCK_ENTRIES", 10)
    mask = np.random.default_rng(0).random((7, 7)) < 0.4
    expected = SparsityPattern.from_lists([np.flatnonzero(row).tolist() for row in mask])
    assert from_boolean_mask(mask, true_means="attend") == expected
    assert from_boolean_mask(~mask, true_means="masked") == expected
    assert from_callable(lambda q, k: mask[q, k], 7) == expected
    with pytest.raises(PatternError, match=r"query 5, key 2\) = 2"):
        from_boolean_mask(np.where(np.arange(49).reshape(7, 7) == 37, 2, mask), true_means="attend")


def test_polarity_has_to_be_stated():
    with pytest.raises(TypeError):
        from_boolean_mask(np.eye(2, dtype=bool))
    with pytest.raises(TypeError):
        from_additive_mask(np.zeros((2, 2)))
    with pytest.raises(PatternError, match="true_means"):
        from_boolean_mask(np.eye(2, dtype=bool), true_means="keep")
    with pytest.raises(PatternError, match="true_means"):
        to_boolean_mask(SparsityPattern.from_lists([[0]]), true_means="keep")
    with pytest.raises(PatternError, match="zero_means"):
        from_additive_mask(np.zeros((2, 2)), zero_means="masked")


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.ones((2, 3), dtype=bool), "mask 0 is not square: 2 queries by 3 keys"),
        (np.ones(4, dtype=bool), "shape"),
        (np.ones((1, 2, 1, 3, 3), dtype=bool), "shape"),
        (np.ones((0, 0), dtype=bool), "at least one token"),
        (np.ones((0, 2, 2), dtype=bool), "no mask given"),
        ([], "shape"),
        ([[True, False], [True]], "ragged"),
        ([np.eye(2, dtype=bool), np.eye(3, dtype=bool)], "pattern 1 has 3 tokens, pattern 0 has 2"),
        ([[[True]], [[True, False], [True, True]]], "ragged"),
        ([np.eye(2, dtype=bool), np.ones((2, 3), dtype=bool)], "mask 1 is not square"),
        (np.array([[0, 1], [2, 1]]), r"mask 0, entry \(query 1, key 0\) = 2"),
        (np.array([[0.0, 1.0], [1.0, 1.0]]), "floats"),
        (np.array([[None, 1], [1, 1]]), "object"),
        ([["a", "b"], ["c", "d"]], "holds"),
        (np.ma.masked_array(np.eye(2, dtype=bool), mask=np.eye(2)), "masked array"),
        (sp.csr_array(np.eye(2)), "shape"),
    ],
)
def test_no_boolean_mask(mask, message):
    with pytest.raises(PatternError, match=message):
        from_boolean_mask(mask, true_means="attend")


def test_a_broadcast_batch_and_head_axis_is_dropped():
    mask = np.eye(3, dtype=bool)[None, None]
    assert from_boolean_mask(mask, true_means="attend").to_lists() == [[[0], [1], [2]]]


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (-1.5, r"mask 0, entry \(query 1, key 0\) = -1.5 .*soft bias"),
        (1.0, "= 1.0"),
        (np.nan, "= nan"),
        (np.inf, "= inf"),
        (-10000.0, "masked_below"),
    ],
)
def test_soft_and_strange_biases_are_refused(entry, message):
    mask = np.array([[0, -np.inf], [entry, 0]])
    with pytest.raises(PatternError, match=message):
        from_additive_mask(mask, zero_means="attend")


def test_the_constant_that_means_masked_can_be_stated():
    mask = np.array([[0, -1e4], [0, 0]])
    assert from_additive_mask(mask, zero_means="attend", masked_below=-1e4).to_lists() == [[[0], [0, 1]]]
    for constant in (-1e9, np.finfo(np.float32).min):
        assert from_additive_mask([[0, constant], [0, 0]], zero_means="attend").to_lists() == [[[0], [0, 1]]]
    with pytest.raises(PatternError, match="negative"):
        from_additive_mask(mask, zero_means="attend", masked_below=0)
    with pytest.raises(PatternError, match="float"):
        from_additive_mask(np.eye(2, dtype=int), zero_means="attend")
    with pytest.raises(PatternError, match="float"):
        to_additive_mask(SparsityPattern.from_lists([[0]]), dtype=np.int64)


def test_a_dense_request_that_does_not_fit_is_refused_before_allocating():
    n = 50_000
    pattern = from_scipy(sp.eye_array(n))
    for ask in (lambda: to_boolean_mask(pattern, true_means="attend"), lambda: to_additive_mask(pattern)):
        with pytest.raises(PatternError, match=rf"n={n}, p=1 needs \d+ bytes.*to_scipy"):
            ask()


def test_too_many_connections_are_refused(monkeypatch):
    monkeypatch.setattr(theory.masks, "DENSE_LIMIT", 4 * 8)
    with pytest.raises(PatternError, match="over 8 connections"):
        from_callable(lambda q, k: q == q + 0 * k, 3)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float32, np.float64, np.complex128])
def test_scipy_entries_count_when_their_sum_is_not_zero(dtype):
    minus = np.array(-1).astype(dtype)
    values = np.array([1, minus, 0, 5, 128 if dtype == np.uint8 else 64, 128 if dtype == np.uint8 else 64], dtype)
    rows, columns = [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 0, 0]
    sums = {(0, 0): dtype == np.uint8, (0, 1): False, (1, 1): True, (1, 0): True}
    expected = [[[j for j in (0, 1) if sums[k, j]] for k in (0, 1)]]
    coo = sp.coo_array((values, (rows, columns)), shape=(2, 2))
    assert from_scipy(coo).to_lists() == expected
    raw = sp.csr_array((values[[0, 1, 2, 3, 4, 5]], columns, [0, 3, 6]), shape=(2, 2))
    assert from_scipy(raw).to_lists() == expected
    assert raw.nnz == 6, "the caller's matrix is left as it was"


def test_tiny_entries_are_not_lost():
    tiny = np.nextafter(np.float32(0), np.float32(1))
    assert from_scipy(sp.csr_array(np.array([[tiny]], dtype=np.float32))).connections == 1


def inconsistent():
    matrix = sp.csr_array(np.eye(3))
    matrix.indices[1] = 7
    return matrix


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(2), "matrix 0 is no SciPy sparse matrix but ndarray"),
        (sp.csr_array((2, 3)), "not square"),
        (sp.coo_array([1, 2, 3]), "not square"),
        (sp.csr_array((0, 0)), "between 1 and"),
        (sp.csr_array(np.array([[0, np.nan], [0, 1]])), r"entry \(query 0, key 1\) is nan"),
        (sp.csr_array(np.array([[0, 1], [-np.inf, 1]])), r"entry \(query 1, key 0\) is -inf"),
        (inconsistent(), "inconsistent"),
        ([], "at least one layer"),
        ([sp.eye_array(2), sp.eye_array(3)], "pattern 1 has 3 tokens"),
    ],
)
def test_no_sparse_pattern(matrix, message):
    with pytest.raises(PatternError, match=message):
        from_scipy(matrix)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.DiGraph([("a", "b")]), "node 'a' is no integer in 0..1: relabel"),
        (nx.DiGraph([(1, 2)]), "node 2"),
        (nx.DiGraph([(0, True)]), "node True"),
        (nx.DiGraph([(0, 1.0)]), "node 1.0"),
        (nx.DiGraph(), "between 1 and"),
        ("graph", "no networkx graph but str"),
        ([nx.DiGraph([(0, 1)]), nx.DiGraph([(0, 1), (1, 2)])], "pattern 1 has 3 tokens"),
    ],
)
def test_no_graph_pattern(graph, message):
    with pytest.raises(PatternError, match=message):
        from_networkx(graph)


def test_isolated_nodes_are_tokens_and_edge_data_is_not_read():
    graph = nx.DiGraph()
    graph.add_nodes_from(range(3))
    graph.add_edge(2, 0, weight=0)
    assert from_networkx(graph).to_lists() == [[[2], [], []]]


def test_functions_of_one_axis_broadcast_and_scalar_functions_fall_back():
    assert from_callable(lambda q, k: k <= 1, 3).to_lists() == [[[0, 1]] * 3]
    assert from_callable(lambda q, k: q == 1, 3).to_lists() == [[[], [0, 1, 2], []]]
    assert from_callable(lambda q, k: k <= q and k > q - 2, 3).to_lists() == [[[0], [0, 1], [1, 2]]]
    assert from_callable(lambda q, k: True, 2).to_lists() == [[[0, 1], [0, 1]]]


def test_a_function_that_folds_arrays_is_not_believed():
    def near(query, key):
        return np.any(abs(query - key) <= 1)

    assert from_callable(near, 4).to_lists() == [[[0, 1], [0, 1, 2], [1, 2, 3], [2, 3]]]


def fails(query, key):
    raise RuntimeError("no such mask")


@pytest.mark.parametrize(
    ("function", "n", "vectorised", "message"),
    [
        (lambda q, k: q - k, 3, None, "must return booleans"),
        (lambda q, k: int(q <= k), 3, None, r"must return a bool, \(0, 0\) gave 1"),
        (lambda q, k: q[:, 0] == 0, 3, True, "broadcasts"),
        (lambda q, k: q[:2] == k, 4, True, "failed on arrays"),
        (lambda q, k: k <= q and k > 0, 3, True, "failed on arrays"),
        (fails, 3, None, r"fails failed on \(0, 0\): no such mask"),
        (3, 3, None, "callable"),
        (max, 0, None, "n between 1"),
        (max, True, None, "n between 1"),
        (max, 2.0, None, "n between 1"),
        (max, 10**6, None, "n between 1 and 65536"),
        ([], 3, None, "at least one layer"),
    ],
)
def test_no_mask_function(function, n, vectorised, message):
    with pytest.raises(PatternError, match=message):
        from_callable(function, n, vectorised=vectorised)


def test_scalar_functions_have_their_own_limit(monkeypatch):
    monkeypatch.setattr(theory.mask_functions, "MAX_SCALAR_TOKENS", 3)
    with pytest.raises(PatternError, match="make it accept arrays"):
        from_callable(lambda q, k: k <= q and k > 0, 4)


def test_a_token_that_does_not_exist_cannot_be_asked_about():
    (attends,) = to_callable(SparsityPattern.from_lists([[], [0]]))
    for query, key in ((2, 0), (0, -1), (0, np.array([0, 2]))):
        with pytest.raises(PatternError, match=r"outside 0\.\.1"):
            attends(query, key)
    assert to_callable(SparsityPattern.from_lists([[]]))[0](0, 0) == np.False_


def test_arrays_that_numpy_cannot_reach():
    class OnDevice:
        ndim = 2

        def __array__(self, dtype=None, copy=None):
            raise TypeError("can't convert a device tensor")

    with pytest.raises(PatternError, match="cannot be read as a NumPy array: can't convert a device tensor"):
        from_boolean_mask(OnDevice(), true_means="attend")


def test_sparse_matrices_of_objects_are_refused():
    matrix = sp.coo_array(np.eye(2))
    matrix.data = matrix.data.astype(object)
    with pytest.raises(PatternError, match="matrix 0 holds object"):
        from_scipy(matrix)
