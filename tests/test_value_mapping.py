"""Lemma 8: one window for every cell and token; written outputs must not be written again."""

from __future__ import annotations

from fractions import Fraction
from math import floor

import literal_proof
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.cells import cells
from constructions.contextual_mapping import build_mapping
from constructions.numbers import ProofError
from constructions.output_slots import output_slots
from constructions.targets import TARGETS, corner_values
from constructions.value_mapping import RAW, ValueMapping, build_value_mapping
from theory import families


def _lemma_8(ids: list[list[int]], outputs: np.ndarray, levels: int, token_ids: list[int]) -> list[int] | None:
    """The windows in real units, exactly: the window that wrote each token, None if one is written twice."""
    delta = Fraction(1, levels)
    u = [Fraction(levels) ** i for i in range(outputs.shape[1])]
    values = [identifier * delta for identifier in token_ids]
    writer = [RAW] * len(values)
    for cell, row in enumerate(ids):
        for token, identifier in enumerate(row):
            written = sum(w * Fraction(a) for w, a in zip(u, outputs[cell, :, token].tolist(), strict=True))
            center = identifier * delta
            for k, value in enumerate(values):
                if -delta / 2 <= value - center < delta / 2:
                    if writer[k] != RAW:
                        return None
                    values[k], writer[k] = value + written - center, cell * len(row) + token
    return writer


@st.composite
def _cases(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    d, n, levels, count = (draw(st.integers(1, high)) for high in (2, 3, 3, 4))
    levels += 1
    low = draw(st.integers(0, 6))
    ids = draw(st.lists(st.integers(low, low + 20), min_size=count * n, max_size=count * n))
    entry = st.one_of(st.integers(-3, 8).map(lambda x: x / 4), st.floats(-2, 6, width=16))
    outputs = draw(st.lists(entry, min_size=count * d * n, max_size=count * d * n))
    asked = draw(st.lists(st.integers(low - 2, low + 22), min_size=n, max_size=n))
    dtype = draw(st.sampled_from([np.int64, object]))
    table = np.array(ids, dtype=dtype).reshape(count, n)
    return table, np.array(outputs, dtype=float).reshape(count, d, n), levels, np.array([asked], dtype=dtype)


def _outcome(mapping: ValueMapping, asked: np.ndarray, literal: bool) -> list[int] | None:
    try:
        return (mapping.apply_literal(asked) if literal else mapping.apply(asked))[0].tolist()
    except ProofError:
        return None


@settings(max_examples=300)
@given(_cases())
def test_literal_equals_fused_equals_lemma_8(case: tuple[np.ndarray, np.ndarray, int, np.ndarray]) -> None:
    ids, outputs, levels, asked = case
    plain = ValueMapping(ids, outputs, output_slots(outputs, levels), 0)
    expected = _lemma_8(ids.tolist(), outputs, levels, asked[0].tolist())
    assert _outcome(plain, asked, literal=False) == _outcome(plain, asked, literal=True) == expected


@settings(max_examples=200)
@given(_cases())
def test_built_mapping_never_overwrites(case: tuple[np.ndarray, np.ndarray, int, np.ndarray]) -> None:
    ids, outputs, levels, asked = case
    mapping = build_value_mapping(ids, outputs, levels)
    every = np.concatenate([ids, asked.astype(ids.dtype)])
    references = mapping.apply(every)
    assert np.array_equal(references, mapping.apply_literal(every))
    first = {identifier: window for window, identifier in reversed(list(enumerate(ids.ravel().tolist())))}
    assert references.tolist() == [[first.get(identifier, RAW) for identifier in row] for row in every.tolist()]
    assert mapping.feed_forward_layers == sum(1 for _ in mapping.blocks()) == ids.size + (mapping.lifted_by > 0)
    needed = any(
        _lemma_8(ids.tolist(), outputs, levels, [identifier]) is None for identifier in set(ids.ravel().tolist())
    )
    assert (mapping.lifted_by > 0) == needed


@settings(max_examples=200)
@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=6, max_size=6),
    st.integers(2, 9),
    st.integers(-600, 40),
)
def test_output_slots_are_exact(entries: list[float], levels: int, exponent: int) -> None:
    with np.errstate(over="ignore"):
        outputs = np.nan_to_num(np.array(entries) * 2.0**exponent).reshape(1, 2, 3)
    expected = [
        floor(levels * (Fraction(outputs[0, 0, k]) + levels * Fraction(outputs[0, 1, k])) + Fraction(1, 2))
        for k in range(3)
    ]
    assert output_slots(outputs, levels).tolist() == [expected]


def test_output_slots_on_the_edge_of_a_window() -> None:
    below, above = np.nextafter(0.25, 0), np.nextafter(0.25, 1)
    assert output_slots(np.array([[below, 0.25, above, -0.25, np.nextafter(-0.25, -1)]]), 2).tolist() == [
        0,
        1,
        1,
        0,
        -1,
    ]


def test_a_hundred_thousand_layers_literally() -> None:
    pattern, d, levels = families.strided(7, 3), 2, 2
    attends = pattern.to_lists()
    gamma, s = literal_proof.hamiltonian_path(attends), literal_proof.smallest_s(attends)
    grids = cells(d, 7, levels)
    ids = build_mapping(pattern, d, levels, "merged", gamma=gamma, s=s).ids(grids)
    mapping = build_value_mapping(ids, corner_values(TARGETS["polynomial"], grids, levels), levels)
    assert mapping.feed_forward_layers == 7 * 2**14 > 10**5
    rows = np.array([0, 1, 5000, 2**14 - 1])
    asked = np.concatenate([ids[rows], ids[:1] + 1])
    literal = mapping.apply_literal(asked)
    assert np.array_equal(mapping.apply(asked), literal)
    assert np.array_equal(literal[:4], rows[:, None] * 7 + np.arange(7))
    assert np.all(literal[4] == RAW)
    assert np.array_equal(mapping.apply(ids), np.arange(ids.size).reshape(ids.shape))


def test_paper_ids_stay_above_ordinary_outputs_and_are_lifted_for_huge_ones() -> None:
    pattern, d, levels = families.ring(3), 1, 2
    grids = cells(d, 3, levels)
    ids = build_mapping(pattern, d, levels, gamma=[0, 1, 2], s=2).ids(grids)
    outputs = corner_values(TARGETS["reverse"], grids, levels)
    quiet = build_value_mapping(ids, outputs, levels)
    assert quiet.below_ids
    assert quiet.lifted_by == 0
    huge = outputs + float(ids.max() // levels)  # in units of delta the ids' own size
    loud = build_value_mapping(ids, huge, levels)
    assert not loud.below_ids
    assert loud.lifted_by > 0
    assert loud.feed_forward_layers == quiet.feed_forward_layers + 1
    assert np.array_equal(loud.read(loud.apply(ids)), huge)
    assert np.array_equal(loud.apply(ids), loud.apply_literal(ids))
    unlifted = ValueMapping(loud.ids, huge, loud.slots, 0)
    assert (quiet.sound, loud.sound, unlifted.sound) == (True, True, False)
    with pytest.raises(ProofError, match="falls in the window"):
        unlifted.apply(ids)
    with pytest.raises(ProofError, match="falls in the window"):
        unlifted.apply_literal(ids)


def test_raw_columns_read_as_nan() -> None:
    mapping = build_value_mapping(np.array([[50, 60]]), np.array([[[0.5, 0.25], [1.0, 2.0]]]), 2)
    columns = mapping.read(mapping.apply(np.array([[60, 55]])))
    assert columns[0, :, 0].tolist() == [0.25, 2.0]
    assert np.isnan(columns[0, :, 1]).all()


def test_ids_beyond_int64_are_unknown_to_a_small_table_and_no_error() -> None:
    mapping = build_value_mapping(np.array([[50, 60]]), np.array([[[0.5, 0.25]]]), 2)
    assert mapping.apply(np.array([[60, 2**80]], dtype=object)).tolist() == [[1, RAW]]
