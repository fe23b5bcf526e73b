"""The ranges, leads and leaders behind the budget, against every input run block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.blocks import AffineOnSlot, Identity, SelectiveShift
from constructions.cells import cells
from constructions.error_budget import Budgets
from constructions.mapping import StagedMapping
from constructions.network import choose_mapping
from constructions.numbers import ProofError
from constructions.soft_ranges import layer_ranges
from theory import families
from theory.layer_errors import AffineRanges, AttentionRanges
from theory.patterns import SparsityPattern

CASES = {
    "dense": (families.dense(3), 2, 2),
    "star": (families.star(4, 1), 1, 3),
    "strided": (families.strided(5, 3), 1, 2),
    "window": (families.window(4, 1), 1, 3),
    "bigbird": (families.bigbird(5, 1, 1, 1, seed=3), 1, 2),
}


def _states(mapping: StagedMapping, grids: np.ndarray) -> list[tuple[Any, np.ndarray, np.ndarray]]:
    """Every block that does something, the state of all inputs before it and after it."""
    out, values = [], mapping.initial(grids)
    for block in (block for stage in mapping.stages for block in stage.blocks()):
        after = block.apply(values, mapping.pattern)
        if not isinstance(block, Identity):
            out.append((block, values, after))
        values = after
    return out


def _check_attention(
    block: Any, pattern: SparsityPattern, ranges: AttentionRanges, values: Any, after: Any
) -> None:
    """For every input and token, one of the token's pieces claims no more than what is so."""
    thresholds = [block.low2 / 2, block.high2 / 2] if isinstance(block, SelectiveShift) else [0.0]
    for k in range(pattern.n):
        mine = np.flatnonzero(ranges.tokens == k)
        row = values[:, pattern.layers[block.layer].row(k)]
        ordered = np.sort(row, axis=1)
        signs = np.stack([values[:, k] >= b for b in thresholds])  # never equal in a selective shift
        moves = signs[0] & ~signs[-1]
        covered = np.zeros(len(values), dtype=bool)
        for piece in mine:
            assert ranges.sizes[piece] == row.shape[1]
            fits = np.ones(len(values), dtype=bool)
            for head, b, sign in zip(ranges.heads, thresholds, signs, strict=True):
                fits &= np.abs(values[:, k] - b) >= head.distance[piece]
                if row.shape[1] > 1:
                    lead = np.where(sign, ordered[:, -1] - ordered[:, -2], ordered[:, 1] - ordered[:, 0])
                    best = np.where(sign, row.argmax(axis=1), row.argmin(axis=1))
                    leader = pattern.layers[block.layer].row(k)[best]
                    fits &= (lead >= head.lead[piece]) & (
                        (head.leader[piece] < 0) | (leader == head.leader[piece])
                    )
            fits &= (np.ptp(row, axis=1) <= ranges.spread[piece]) & (
                np.abs(row).max(axis=1) <= ranges.largest[piece]
            )
            fits &= np.abs(after[:, k]) <= ranges.after[piece]
            fits &= (moves & (row.shape[1] > 1)) == ranges.selected[piece]
            covered |= fits
        assert covered.all()


def _check(mapping: StagedMapping) -> None:
    pattern = mapping.pattern
    states = _states(mapping, cells(mapping.d, pattern.n, mapping.K))
    for (block, values, after), (_, ranges) in zip(states, layer_ranges(mapping), strict=True):
        if isinstance(block, AffineOnSlot):
            assert isinstance(ranges, AffineRanges)
            inside = (values >= block.low) & (values <= block.high)
            assert not np.any(inside.any(axis=0) & ~ranges.inside)
            assert not np.any(inside.any(axis=0) & ~inside.all(axis=0) & ~ranges.stays)
            assert ranges.slope == abs(block.multiply) / block.divide
            assert np.all(np.abs(after).max(axis=0) <= ranges.after)
        else:
            assert isinstance(ranges, AttentionRanges)
            _check_attention(block, pattern, ranges, values, after)


@pytest.mark.parametrize("construction", ["paper", "merged", "relay"])
@pytest.mark.parametrize("case", CASES)
def test_ranges_hold_for_every_input(case: str, construction: str) -> None:
    _check(choose_mapping(*CASES[case], construction))


@pytest.mark.parametrize("construction", ["paper", "merged", "relay"])
def test_ranges_are_sharp(construction: str) -> None:
    """The last ranges are those of the ids, to the unit."""
    for case in CASES:
        mapping = choose_mapping(*CASES[case], construction)
        *_, (_, last) = layer_ranges(mapping)
        ids = mapping.ids(cells(mapping.d, mapping.pattern.n, mapping.K))
        if isinstance(last, AffineRanges):
            assert last.after.tolist() == ids.max(axis=0).tolist()
        else:
            assert np.all(last.after == [ids[:, k].max() for k in last.tokens])


@pytest.mark.parametrize("construction", ["paper", "merged", "relay"])
@pytest.mark.parametrize("case", CASES)
def test_the_smallest_gap_is_met_by_some_input(case: str, construction: str) -> None:
    """|u^T Z_k - b| times the leader's lead, least over all layers, heads, tokens and inputs: exactly."""
    mapping = choose_mapping(*CASES[case], construction)
    gaps = []
    for block, values, _ in _states(mapping, cells(mapping.d, mapping.pattern.n, mapping.K)):
        if isinstance(block, AffineOnSlot):
            continue
        for k in range(mapping.pattern.n):
            row = np.sort(values[:, mapping.pattern.layers[block.layer].row(k)], axis=1)
            for b2 in (block.low2, block.high2) if isinstance(block, SelectiveShift) else (0,):
                away = values[:, k] - b2 / 2
                if row.shape[1] > 1:
                    lead = np.where(away > 0, row[:, -1] - row[:, -2], row[:, 1] - row[:, 0])
                    gaps.append((lead * np.abs(away)).min())
    assert Budgets(mapping).smallest_gap == pytest.approx(min(gaps) / mapping.K**2)


@settings(max_examples=60)
@given(
    st.sampled_from([families.dense(3), families.star(4, 1), families.window(4, 1), families.strided(4, 3)]),
    st.sampled_from(["paper", "merged"]),
    st.integers(0, 9),
    st.integers(0, 200),
    st.integers(1, 4),
)
def test_ranges_hold_for_other_constants(
    pattern: SparsityPattern, construction: str, shift: int, c: int, step: int
) -> None:
    """Tokens that share an interval, shifts that fall into later windows: wider, never wrong."""
    mapping = choose_mapping(pattern, 1, 2, construction, shift_factor=shift, c=c, s=2, step=step)
    try:
        mapping.literal_ids(cells(1, pattern.n, 2))
    except ProofError:
        return
    _check(mapping)


def test_a_negative_number_before_an_all_max_shift_is_refused() -> None:
    from dataclasses import replace

    mapping = choose_mapping(families.dense(2), 1, 2, "merged")
    negative = replace(mapping, positions=mapping.positions - 3)
    with pytest.raises(ProofError, match="may be negative"):
        list(layer_ranges(negative))
