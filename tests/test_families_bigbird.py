"""BigBird at token and block level: what is not random against the formula, what is random against its counts."""

from __future__ import annotations

import json
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from theory.families import bigbird, longformer, random
from theory.patterns import PatternError, SparsityPattern

CASES = Path(__file__).parent / "cases"


def case(name: str) -> SparsityPattern:
    return SparsityPattern.from_lists(*json.loads((CASES / f"{name}.json").read_text())["attends"])


def known_units(unit: int, units: int, window: int, globals_: set[int]) -> set[int]:
    """Window and global units of one unit (from 0), all units for a global one."""
    if unit in globals_:
        return set(range(units))
    return globals_ | {j for j in range(units) if abs(unit - j) <= window}


@pytest.mark.parametrize("n", range(1, 11))
@pytest.mark.parametrize("block", [1, 2, 3, 12])
def test_every_row_is_window_and_globals_and_r_more(n: int, block: int) -> None:
    units = -(-n // block)
    choices: list[int | list[int]] = [0, 1, units, [units - 1], [0, units // 2]]
    for window, r, chosen in product((0, 1, 2, 20), (0, 1, 2, 20), choices):
        globals_ = set(range(chosen)) if isinstance(chosen, int) else set(chosen)
        if max(globals_, default=0) >= units:
            continue
        pattern = bigbird(n, window, r, chosen, seed=window + 7 * r, block=block)
        assert (pattern.n, pattern.p) == (n, 1)
        for token, row in enumerate(pattern.to_lists()[0]):
            attended = {key // block for key in row}
            assert row == [key for key in range(n) if key // block in attended], "whole blocks, cut at n"
            known = known_units(token // block, units, window, globals_)
            assert known <= attended
            assert len(attended) == min(units, len(known) + r)
            assert attended == {key // block for key in pattern.keys(token // block * block)}, "one row a block"


def test_without_random_keys_it_is_longformer() -> None:
    for n, window, g in product(range(1, 9), range(4), range(2)):
        assert bigbird(n, window, 0, g) == longformer(n, window, globals_=g)


def test_real_patterns() -> None:
    assert bigbird(15, window=1, random=0, globals_=[0, 7], block=2) == case("hf_bigbird_n15")
    assert bigbird(16, window=1, random=0, globals_=[0, 7], block=2) == case("hf_bigbird_eval_n16")
    assert bigbird(20, window=1, random=0, globals_=1, block=2) == case("ds_bslongformer_default")
    assert longformer(24, window=4, dilation=2) == case("gym_dilated_w4_d2_n24")
    assert longformer(16, window=2) == case("hf_longformer_noglobal_w4")
    assert longformer(16, window=2, globals_=1) == case("hf_longformer_global0_w4")
    assert longformer(16, window=3, globals_=[8, 0]) == case("gym_global_sliding_w3")


def test_deepspeeds_random_block_has_our_counts_where_it_falls_outside() -> None:
    theirs, ours = case("ds_bigbird_default"), bigbird(20, window=1, random=1, globals_=1, block=2)
    assert theirs.n == ours.n
    assert theirs.connections < ours.connections, "DeepSpeed's random block may fall into the window, ours may not"


@pytest.mark.parametrize("block", [1, 3])
def test_extended_globals_are_new_tokens_in_front(block: int) -> None:
    n, g, window = 10, 2, 1
    pattern = bigbird(n, window, 0, g, block=block, extended=True)
    front = g * block
    assert pattern.n == n + front
    text = bigbird(n, window, 0, 0, block=block).to_lists()[0]
    lists = pattern.to_lists()[0]
    assert lists[:front] == [list(range(n + front))] * front
    assert lists[front:] == [[*range(front), *(key + front for key in row)] for row in text]


def test_extended_globals_are_a_longer_text_with_internal_ones() -> None:
    assert bigbird(30, 2, 3, 2, seed=5, extended=True) == bigbird(32, 2, 3, 2, seed=5)


def test_block_level_is_the_block_graph_with_blocks_for_tokens() -> None:
    graph, pattern = bigbird(8, 1, 2, 1, seed=3), bigbird(8 * 4, 1, 2, 1, seed=3, block=4)
    dense_graph, dense_pattern = (np.zeros((p.n, p.n), dtype=bool) for p in (graph, pattern))
    dense_graph[graph.layers[0].queries, graph.layers[0].keys] = True
    dense_pattern[pattern.layers[0].queries, pattern.layers[0].keys] = True
    assert np.array_equal(dense_pattern, np.kron(dense_graph, np.ones((4, 4), dtype=bool)))
    assert pattern.connections == 16 * graph.connections


def test_seeds_repeat_and_differ_and_layers_too() -> None:
    assert bigbird(64, 1, 3, 2, seed=4) == bigbird(64, 1, 3, 2, seed=4)
    assert bigbird(64, 1, 3, 2, seed=4) != bigbird(64, 1, 3, 2, seed=5)
    three = bigbird(64, 1, 3, 2, seed=4, layers=3)
    assert three.p == 3
    assert three.layers[0].keys.tolist() == bigbird(64, 1, 3, 2, seed=4).layers[0].keys.tolist()
    assert all(a.keys.tolist() != b.keys.tolist() for a, b in pairwise(three.layers))
    assert len({layer.count for layer in three.layers}) == 1


def test_random_keys_are_uniform_over_what_is_left() -> None:
    # Token 7 of 14, window 1, globals 0 and 13: the 9 others are drawn equally often.
    counts = np.zeros(14, dtype=int)
    draws = 4000
    for layer in bigbird(14, 1, 3, [0, 13], seed=0, layers=draws).layers:
        counts[layer.row(7)] += 1
    left = [1, 2, 3, 4, 5, 9, 10, 11, 12]
    assert counts[[0, 6, 7, 8, 13]].tolist() == [draws] * 5
    expected, spread = draws * 3 / 9, np.sqrt(draws * (3 / 9) * (6 / 9))
    assert np.all(np.abs(counts[left] - expected) < 5 * spread)


def test_bad_requests_are_refused_in_one_line() -> None:
    bad: list[tuple[tuple[object, ...], dict[str, object]]] = [
        ((0, 1, 1, 1), {}),
        ((9, -1, 1, 1), {}),
        ((9, 1, -1, 1), {}),
        ((9, 1, 1, -1), {}),
        ((9, 1, 1, 10), {}),
        ((9, 1, 1, [9]), {}),
        ((9, 1, 1, 4), {"block": 3}),
        ((9, 1, 1, [0]), {"extended": True}),
        ((9, 1, 1, -1), {"extended": True}),
        ((9, 1, 1, 1), {"seed": -1}),
        ((9, 1, 1, 1), {"block": 0}),
        ((9, 1, 1, 1), {"layers": 0}),
        ((9, 1, 1.5, 1), {}),
    ]
    for numbers, options in bad:
        with pytest.raises(PatternError) as error:
            bigbird(*numbers, **options)  # type: ignore[arg-type]
        assert "\n" not in str(error.value)
    with pytest.raises(PatternError, match=r"no block 3, the text has 3 \(blocks from 0\)"):
        bigbird(9, 1, 1, [3], block=3)
    with pytest.raises(PatternError, match="r must be"):
        random(9, -1)
