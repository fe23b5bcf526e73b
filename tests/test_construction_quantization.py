"""Lemma 6: dn/delta feed-forward layers round X + E down to the grid, literally and at once."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.numbers import ProofError
from constructions.positional_embedding import embed, positions_along, project
from constructions.quantization import Quantization


def _eq_14(z: list[list[Fraction]], delta: Fraction, n: int) -> list[list[Fraction]]:
    """The layers in real units, one after another."""
    for i in range(len(z)):
        for k in range(int(n / delta)):
            for j in range(n):
                t = z[i][j] - k * delta
                z[i][j] += -t if 0 <= t < delta else 0
    return z


@st.composite
def _inputs(draw: st.DrawFn) -> tuple[Quantization, np.ndarray]:
    d, n, levels = draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw(st.integers(2, 4))
    stage = Quantization(d, n, levels, draw(st.integers(1, 7)))
    top = n * levels * stage.resolution
    edge = draw(st.integers(0, 3))
    entries = st.lists(st.integers(-edge, top - 1 + edge), min_size=d * n, max_size=d * n)
    return stage, np.array(draw(entries)).reshape(d, n)


@settings(max_examples=60)
@given(_inputs())
def test_literal_equals_fused_equals_eq_14(case: tuple[Quantization, np.ndarray]) -> None:
    stage, entries = case
    literal, unit = entries, Fraction(1, stage.levels * stage.resolution)
    for block in stage.blocks():
        literal = block.apply(literal)
    fused = stage.apply(entries)
    assert np.array_equal(fused, literal)
    exact = [[int(entry) * unit for entry in row] for row in entries]
    assert [[int(entry) * unit for entry in row] for row in fused] == _eq_14(
        exact, Fraction(1, stage.levels), stage.n
    )


def test_count_is_the_formula() -> None:
    stage = Quantization(d=3, n=4, levels=5, resolution=2)
    assert stage.feed_forward_layers == sum(1 for _ in stage.blocks()) == 3 * 4 * 5
    assert (stage.attention_layers, stage.name) == (0, "quantization")


def test_every_point_of_a_cell_goes_to_its_lower_corner() -> None:
    stage = Quantization(d=1, n=2, levels=2, resolution=3)
    points = np.arange(12)
    pairs = np.array([[[a, b]] for a in points for b in points])
    assert np.array_equal(stage.on_grid(stage.apply(pairs)), pairs // 3)


def test_entries_outside_meet_no_layer_and_are_reported() -> None:
    stage = Quantization(d=1, n=1, levels=2, resolution=3)
    after = stage.apply(np.array([[[-1]], [[6]], [[7]], [[5]]]))
    assert after.ravel().tolist() == [-1, 6, 7, 3]
    with pytest.raises(ProofError, match=r"outside \[0, 1\) was not quantized"):
        stage.on_grid(after)


@pytest.mark.parametrize("resolution", [0, -2, 2**62])
def test_resolution_must_fit(resolution: int) -> None:
    with pytest.raises(ProofError, match="does not fit"):
        Quantization(d=1, n=2, levels=2, resolution=resolution)


def test_embedding_is_eq_7() -> None:
    gamma = np.array([3, 1, 0, 2])
    positions = positions_along(gamma)
    n = 4
    assert positions[gamma[0]] == n - 1
    assert [positions[gamma[i - 1]] for i in range(2, n + 1)] == [i - 2 for i in range(2, n + 1)]
    assert embed(np.zeros((2, 4), dtype=np.int64), positions, 10).tolist() == [[10, 0, 20, 30]] * 2


def test_projection_beyond_int64() -> None:
    matrix = np.array([[1, 2], [0, 1], [3, 0]])
    assert project(matrix, 10**12).tolist() == [1 + 3 * 10**24, 2 + 10**12]
    assert project(matrix, 10).dtype == np.int64
