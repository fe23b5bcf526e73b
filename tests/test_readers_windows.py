"""Windows (left, right) as FlashAttention counts them, and block sparse rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import bsr_array

from theory.conversions import from_scipy
from theory.patterns import PatternError
from theory.readers.blocks import from_bsr
from theory.readers.source import read_source
from theory.readers.windows import from_window, parse_window

CASES = Path(__file__).parent / "cases"


@given(st.integers(1, 12), st.integers(-3, 14), st.integers(-3, 14))
def test_both_ends_are_inclusive_and_negative_is_unlimited(n: int, left: int, right: int) -> None:
    expected = [
        [j for j in range(n) if (left < 0 or j >= k - left) and (right < 0 or j <= k + right)] for k in range(n)
    ]
    assert from_window(n, left, right).to_lists() == [expected]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("hf_swa_fa2_W4", "flash:4,4?n=16&causal=true"),
        ("maxtext4289_local", "flash:4,0?n=16"),
        ("la5_exact_or", "flash:4,0?n=16"),
        ("unsloth8253_fa_zero", "flash:0,0?n=16"),
        ("hf_swa_eager_W1", "flash:0,-1?n=16&causal=true"),
    ],
)
def test_the_kinds_of_fault_that_people_reported(name: str, source: str) -> None:
    assert read_source(source) == read_source(str(CASES / f"{name}.json"))


def test_a_bare_window_is_refused_with_the_table_of_who_means_what() -> None:
    with pytest.raises(PatternError) as caught:
        read_source("flash:256?n=1024")
    message = str(caught.value)
    for who in ("Hugging Face", "GPT-Neo", "FlashAttention", "JAX", "xFormers", "Longformer", "ModernBERT"):
        assert who in message
    assert message.endswith("-1 for unlimited")


@pytest.mark.parametrize("text", ["", "a,b", "1,2,3", "1.0,2", "1,"])
def test_what_is_no_window_is_refused(text: str) -> None:
    with pytest.raises(PatternError):
        parse_window(text)


@pytest.mark.parametrize("source", ["flash:1,0", "flash:1,0?n=0", "flash:1,0?n=4&w=3", "flash:1,0?n=x"])
def test_bad_options_are_refused(source: str) -> None:
    with pytest.raises(PatternError):
        read_source(source)


@given(st.data())
def test_block_sparse_rows_against_their_dense_form(data: st.DataObject) -> None:
    rows, width, columns = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    n = width * columns
    many = -(-n // rows)
    lists = [data.draw(st.lists(st.integers(0, columns - 1), unique=True, max_size=columns)) for _ in range(many)]
    indptr = np.cumsum([0, *map(len, lists)])
    indices = np.array([column for row in lists for column in row], dtype=np.int32)
    bits = data.draw(st.lists(st.booleans(), min_size=1, max_size=8))
    mask = np.resize(np.array(bits), (len(indices), rows, width))
    dense = np.zeros((many * rows, n), dtype=bool)
    for row, keys in enumerate(lists):
        for place, column in enumerate(keys):
            block = mask[indptr[row] + place]
            dense[row * rows : (row + 1) * rows, column * width : (column + 1) * width] = block
    expected = [np.flatnonzero(line).tolist() for line in dense[:n]]
    assert from_bsr(indptr, indices, n, (rows, width), mask=mask).to_lists() == [expected]
    full = from_bsr(indptr, indices, n, (rows, width), mask=np.ones_like(mask))
    assert from_bsr(indptr, indices, n, (rows, width)) == full


def test_scipy_bsr_is_read_by_its_entries_not_its_blocks() -> None:
    data = np.array([[[1, 0], [1, 1]], [[1, 1], [0, 1]]])
    matrix = bsr_array((data, [0, 1], [0, 1, 2]), shape=(4, 4))
    assert from_scipy(matrix).to_lists() == [[[0], [0, 1], [2, 3], [3]]]
    inner = from_bsr(matrix.indptr, matrix.indices, 4, (2, 2), mask=data.astype(bool))
    assert inner == from_scipy(matrix)


@pytest.mark.parametrize(
    ("indptr", "indices", "n", "block", "message"),
    [
        ([0, 1], [0], 5, (2, 2), "not divisible"),
        ([0, 1], [0], 4, (2, 2), "must rise from 0"),
        ([0, 2, 1], [0], 4, (2, 2), "must rise from 0"),
        ([0, 1, 2], [0, 2], 4, (2, 2), "outside 0..1"),
        ([0, 1, 2], [0.0, 1.0], 4, (2, 2), "flat arrays of integers"),
    ],
)
def test_wrong_block_rows_are_refused(
    indptr: list[int], indices: list[int], n: int, block: tuple[int, int], message: str
) -> None:
    with pytest.raises(PatternError, match=message):
        from_bsr(indptr, indices, n, block)
    with pytest.raises(PatternError, match="mask must be booleans"):
        from_bsr([0, 1], [0], 2, (2, 2), mask=np.ones((1, 2, 2)))
