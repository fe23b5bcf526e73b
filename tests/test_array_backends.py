"""The hardmax engine is one code on NumPy, PyTorch and array-api-strict: the same numbers, bit for bit, as plain
Python integers, the same errors, and the result stays where the input was."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy as np
import pytest
from array_api_compat import array_namespace, device

from constructions import blocks
from constructions.all_max_shift import AllMaxShifts
from constructions.backends import to_host
from constructions.blocks import AffineOnSlot, AllMaxShift, Identity, SelectiveShift
from constructions.cells import cell_count, cells, check_entries
from constructions.mapping import StagedMapping
from constructions.neighbours import neighbours
from constructions.network import build_network, choose_mapping
from constructions.numbers import ProofError, exact_dtype
from constructions.positional_embedding import embed, project
from constructions.quantization import Quantization
from constructions.selective_shift import SelectiveShifts, TokenShift
from constructions.stage import Stage, from_token_rows, run_literal, token_rows
from constructions.targets import parse_target
from constructions.value_mapping import build_value_mapping
from theory import families
from theory.families import parse_family
from theory.patterns import SparsityPattern

BIGBIRD = "bigbird:n=9,window=3,random=1,globals=2,seed=0"
PATTERNS = ["star:n=5,w=1", "strided:n=6,w=2", BIGBIRD, "random:n=6,r=2,layers=2,seed=3", "window:n=6,w=1"]


@cache
def _pattern(spec: str) -> SparsityPattern:
    return parse_family(spec)


def _same_place(after: Any, before: Any) -> None:
    assert array_namespace(after) is array_namespace(before)
    assert after.dtype == before.dtype
    assert device(after) == device(before)
    assert tuple(after.shape) == tuple(before.shape)


def _outcome(function: Any, values: Any, pattern: SparsityPattern) -> Any:
    """Return the numbers that come out, or the message of the ProofError; check that the input is left alone."""
    kept = to_host(values).copy()
    try:
        after = function(values, pattern)
    except ProofError as error:
        return str(error)
    assert np.array_equal(to_host(values), kept)
    _same_place(after, values)
    return to_host(after).tolist()


def _both(function: Any, put: Any, values: np.ndarray, pattern: SparsityPattern) -> Any:
    """Return what a function of (values, pattern) makes of int64 on the backend and of Python integers; equal."""
    found = _outcome(function, put(values), pattern)
    assert found == _outcome(function, values.astype(object), pattern)
    return found


def _distinct(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Values of which no two of an input are equal, some of them beyond 53 bits."""
    order = np.argsort(np.random.default_rng(seed).random(shape), axis=-1).astype(np.int64)
    return order * (2**54 + 3) // 7 * 2


def _psi(row: list[int], keys: list[list[int]], threshold2: int) -> list[int]:
    return [
        (max if 2 * own > threshold2 else min)(row[key] for key in attended)
        for own, attended in zip(row, keys, strict=True)
    ]


def _by_hand(block: Any, row: list[int], keys: list[list[int]]) -> list[int]:
    """A block on one input, by the definitions of App. E."""
    if isinstance(block, SelectiveShift):
        pairs = zip(_psi(row, keys, block.low2), _psi(row, keys, block.high2), strict=True)
        return [own + block.factor * (one - other) for own, (one, other) in zip(row, pairs, strict=True)]
    if isinstance(block, AllMaxShift):
        return [own + block.factor * one for own, one in zip(row, _psi(row, keys, -1), strict=True)]
    if isinstance(block, AffineOnSlot):
        inside = [block.low <= own <= block.high for own in row]
        return [
            (block.multiply * v + block.add) // block.divide if i else v for v, i in zip(row, inside, strict=True)
        ]
    return row


@pytest.mark.parametrize("spec", PATTERNS)
@pytest.mark.parametrize("shape", [(), (7,), (2, 3), (0,)])
def test_blocks_by_hand(put: Any, spec: str, shape: tuple[int, ...]) -> None:
    pattern = _pattern(spec)
    values = _distinct((*shape, pattern.n))
    middle = int(np.median(values)) if values.size else 8
    for layer, connections in enumerate(pattern.layers):
        keys = [connections.row(k).tolist() for k in range(pattern.n)]
        for block in (
            SelectiveShift(layer, 3, 2 * middle - 3, 2 * middle + 2**55 + 1),
            SelectiveShift(layer, 1, -1, 1),
            AllMaxShift(layer, 2),
            AffineOnSlot(middle - 1, middle + 2**56, -3, 5),
            AffineOnSlot(0, 0, 2, 10, 5),
            Identity(layer),
        ):
            wanted = [_by_hand(block, row, keys) for row in values.reshape(-1, pattern.n).tolist()]
            assert _both(block.apply, put, values, pattern) == np.reshape(wanted, values.shape).tolist()
        rows = values.reshape(-1, pattern.n).tolist()
        for function, reduce in ((blocks.hard_max, max), (blocks.hard_min, min)):
            found = _both(lambda v, _, f=function, c=connections: f(v, c), put, values, pattern)
            wanted = [[reduce(row[j] for j in attended) for attended in keys] for row in rows]
            assert found == np.reshape(wanted, values.shape).tolist()
        found = _both(lambda v, _, c=connections: blocks.psi(v, c, 2 * middle - 1), put, values, pattern)
        assert found == np.reshape([_psi(row, keys, 2 * middle - 1) for row in rows], values.shape).tolist()


def test_blocks_stay_on_a_device_that_numpy_cannot_read() -> None:
    strict = pytest.importorskip("array_api_strict")
    away = strict.asarray([[3, 0, 8, 5, 1]], device=strict.Device("device1"))
    star = families.star(5, 1)
    for block in (SelectiveShift(0, 2, 1, 7), AllMaxShift(0, 2), AffineOnSlot(1, 3, 2, 1)):
        _same_place(block.apply(away, star), away)
    with pytest.raises(ProofError, match="tie: token 0 "):
        blocks.hard_max(strict.zeros_like(away), star.layers[0])


def test_no_row_is_padded(put: Any) -> None:
    pattern = _pattern("bigbird:n=200,window=3,random=3,globals=2,seed=0")
    values = put(_distinct((3, pattern.n)))
    gathered = neighbours(pattern.layers[0], values).gather(values)
    assert sum(prod(part.shape) for part in gathered) == 3 * pattern.connections


@cache
def _mapping(spec: str, construction: str, d: int, levels: int) -> StagedMapping:
    return choose_mapping(_pattern(spec), d, levels, construction)


def _inputs(mapping: StagedMapping, most: int) -> np.ndarray:
    d, n, levels = mapping.d, mapping.pattern.n, mapping.K
    if cell_count(d, n, levels) <= most:
        return cells(d, n, levels)
    return np.random.default_rng(5).integers(0, levels, (most, d, n))


@pytest.mark.parametrize(
    ("d", "levels", "most"), [(1, 2, 2**9), pytest.param(2, 3, 40, id="d2"), pytest.param(1, 4, 400, id="K4")]
)
@pytest.mark.parametrize("construction", ["paper", "merged", "relay"])
@pytest.mark.parametrize("spec", PATTERNS)
def test_stages(put: Any, spec: str, construction: str, d: int, levels: int, most: int) -> None:
    """Fused on the backend, fused and literal in Python integers; up to where the numbers leave int64."""
    mapping = _mapping(spec, construction, d, levels)
    values = mapping.initial(_inputs(mapping, most)).astype(object)
    ran = 0
    for stage in mapping.stages:
        wanted = run_literal(stage, values[:24], mapping.pattern)
        after = stage.apply(values, mapping.pattern)
        assert after[:24].tolist() == wanted.tolist()
        if (
            exact_dtype(max(abs(after.max()), abs(after.min()), 2 * mapping.bound * (construction == "relay")))
            == np.int64
        ):
            given = put(values.astype(np.int64))
            assert _outcome(stage.apply, given, mapping.pattern) == after.tolist()
            assert _outcome(stage.apply, given[0, ...], mapping.pattern) == after[0].tolist()
            literal = _outcome(lambda v, p, s=stage: run_literal(s, v, p), given[:3, ...], mapping.pattern)
            assert literal == after[:3].tolist()
            ran += 1
        values = after
    assert ran >= 1


def test_a_whole_mapping_from_inputs_made_on_the_device(put: Any) -> None:
    mapping = _mapping("star:n=5,w=1", "relay", 1, 3)
    grids = cells(1, 5, 3, like=put(np.array(0)))
    values = project(embed(check_entries(grids, 1, 5, 3), mapping.positions, mapping.step), 3)
    for stage in mapping.stages:
        values = stage.apply(values, mapping.pattern)
    _same_place(values, put(np.zeros((3**5, 5), dtype=np.int64)))
    assert np.array_equal(to_host(values), mapping.ids(cells(1, 5, 3)))


def _random_case(rng: np.random.Generator) -> tuple[SparsityPattern, list[Stage], np.ndarray]:
    """Small values and windows anywhere: ties, thresholds met, empty rows and tokens that fire again."""
    n, p = int(rng.integers(1, 8)), int(rng.integers(1, 3))
    rows = [[np.flatnonzero(rng.random(n) < 0.5).tolist() for _ in range(n)] for _ in range(p)]
    own = rng.random() < 0.9
    pattern = SparsityPattern.from_lists(
        *([sorted({*row, k} if own else row) for k, row in enumerate(r)] for r in rows)
    )
    shifts = tuple(
        TokenShift(
            token=0,
            layer=int(rng.integers(p)),
            factor=int(rng.integers(4)),
            low2=int(rng.integers(-5, 40)),
            width2=int(rng.choice([1, 2, 2, 2, 3, 4, 10])),
            count=int(rng.integers(1, 4)),
            cycle=p,
        )
        for _ in range(rng.integers(1, 5))
    )
    values = np.array([rng.permutation(30)[:n] for _ in range(rng.integers(1, 4))]) - int(rng.integers(3))
    if rng.random() < 0.2:
        values //= 2
    return pattern, [SelectiveShifts(shifts), AllMaxShifts(2, int(rng.integers(4)), p)], values


def test_any_constants_give_the_same_numbers_or_the_same_error(put: Any) -> None:
    rng, met = np.random.default_rng(11), set()
    reasons = ("tie", "attends to nothing", "u^T Z_k = b", "u^T Z_k < 0")
    for _ in range(250):
        pattern, stages, values = _random_case(rng)
        for stage in stages:
            fused = _both(stage.apply, put, values, pattern)
            literal = _both(lambda v, p, s=stage: run_literal(s, v, p), put, values, pattern)
            assert fused == literal or (isinstance(fused, str) and isinstance(literal, str))
            met.add(next(why for why in reasons if why in fused) if isinstance(fused, str) else "ran")
    assert met == {"ran", *reasons}


ERRORS = {
    "tie of the greatest": (
        SelectiveShift(0, 2, 1, 7),
        [[9, 5, 1, 9]],
        "token 1 attends to two tokens of greatest",
    ),
    "tie of the least": (SelectiveShift(0, 2, 1, 7), [[1, 8, 9, 1]], "token 1 attends to two tokens of least"),
    "first threshold": (SelectiveShift(0, 2, 4, 7), [[8, 9, 1, 2]], "u^T Z_k = b at token 3"),
    "second threshold": (SelectiveShift(0, 2, 1, 6), [[8, 3, 1, 2]], "u^T Z_k = b at token 1"),
    "tie before the second threshold": (SelectiveShift(0, 2, 1, 6), [[8, 3, 1, 1]], "hardmax meets a tie"),
    "tie of all-max": (
        AllMaxShift(0, 2),
        [[1, 2, 3, 4], [4, 7, 7, 5]],
        "token 1 attends to two tokens of greatest",
    ),
    "negative": (AllMaxShift(0, 2), [[1, 2, 3, -4]], "u^T Z_k < 0 at token 3"),
    "not divisible": (AffineOnSlot(2, 9, 1, 0, 2), [[1, 2, 3, 4]], "slot 2..9 is not divisible by 2"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(put: Any, case: str) -> None:
    block, values, message = ERRORS[case]
    pattern = SparsityPattern.from_lists([[0, 1], [0, 1, 2, 3], [1, 2], [2, 3]])
    assert message in _both(block.apply, put, np.array(values), pattern)


def test_empty_row(put: Any) -> None:
    pattern = SparsityPattern.from_lists([[0, 1], []])
    values = np.array([[0, 2]])
    stages = [SelectiveShifts((TokenShift(0, 0, 2, -1, 2, 1, 1),)), AllMaxShifts(1, 2, 1)]
    for apply in (SelectiveShift(0, 2, 1, 3).apply, *(stage.apply for stage in stages)):
        assert _both(apply, put, values, pattern) == "token 1 attends to nothing: hardmax of an empty set"
    wide = values[0].astype(object)
    with pytest.raises(ProofError, match="token 1 attends to nothing"):
        stages[1].widen(wide, wide, pattern)


def test_relay_stage_errors(put: Any) -> None:
    mapping = _mapping("window:n=6,w=1", "relay", 1, 2)
    stage, start = mapping.stages[0], mapping.initial(cells(1, 6, 2)[:2])
    start[1, stage.steps[0].query] = -1
    assert f"token {stage.steps[0].query} is outside its slot" in _both(stage.apply, put, start, mapping.pattern)
    alone = SparsityPattern.from_lists([[k] for k in range(6)])
    assert "does not attend to token" in _both(stage.apply, put, start, alone)


def test_inputs(put: Any) -> None:
    grids = cells(2, 3, 2)
    given = put(grids)
    assert check_entries(given, 2, 3, 2) is given
    assert check_entries(grids.tolist(), 2, 3, 2).tolist() == grids.tolist()
    for wrong, shape, top in (
        (given, (3, 2), 2),
        (put(grids / 2), (2, 3), 2),
        (given, (2, 3), 1),
        (given - 1, (2, 3), 2),
    ):
        with pytest.raises(ProofError) as error:
            check_entries(wrong, *shape, top)
        if "of shape" not in str(error.value):
            assert str(error.value) == f"inputs must lie in 0..{top - 1}, in units of delta"
    made = cells(2, 3, 2, 5, 9, like=given)
    _same_place(made, put(grids[5:9]))
    assert np.array_equal(to_host(made), grids[5:9])
    assert cells(1, 2, 2, 3, 3, like=given).shape[0] == 0


def test_quantization(put: Any) -> None:
    stage = Quantization(d=2, n=3, levels=2, resolution=5)
    entries = np.random.default_rng(1).integers(-4, 40, (6, 2, 3))
    after = stage.apply(put(entries))
    literal = put(entries)
    for block in stage.blocks():
        literal = block.apply(literal)
    wanted = [v - v % 5 if 0 <= v < 30 else v for v in entries.ravel().tolist()]
    for found in (after, literal):
        _same_place(found, put(entries))
        assert to_host(found).ravel().tolist() == wanted
    with pytest.raises(ProofError, match=r"outside \[0, 3\)"):
        stage.on_grid(after)
    inside = stage.on_grid(stage.apply(put(entries % 30)))
    assert to_host(inside).tolist() == (entries % 30 // 5).tolist()


def test_projection(put: Any) -> None:
    grids = np.random.default_rng(2).integers(0, 5, (4, 3, 2))
    positions = np.array([1, 0])
    found = project(embed(put(grids), positions, 10), 5)
    wanted = [[sum(5**i * (g[i][k] + 10 * (1 - k)) for i in range(3)) for k in range(2)] for g in grids.tolist()]
    assert to_host(found).tolist() == wanted
    assert to_host(project(put(np.array([[100], [100]], dtype=np.int8)), 100)).tolist() == [10100]
    assert project(put(np.zeros((0, 3, 2), dtype=np.int64)), 5).shape == (0, 2)
    big = np.array([[1, 2], [3, 1]])
    if put is np.asarray:
        assert project(big, 2**63).tolist() == [1 + 3 * 2**63, 2 + 2**63]
    else:
        with pytest.raises(ProofError, match="does not fit int64"):
            project(put(big), 2**63)


def test_value_mapping(put: Any) -> None:
    ids, outputs = np.array([[5, 6], [8, 7]]), np.full((2, 1, 2), 4.0)
    stage = build_value_mapping(ids, outputs, levels=2)
    assert stage.lift is not None
    for apply in (stage.apply, stage.apply_literal):
        assert apply(put(np.array([[7, 4], [5, 6]]))).tolist() == [[3, -1], [0, 1]]
    network = build_network(families.star(4, 1), 1, 2, parse_target("reverse"), "relay")
    mapping = network.mapping
    values = put(mapping.initial(cells(1, 4, 2)))
    for part in mapping.stages:
        values = part.apply(values, mapping.pattern)
    columns = network.values.read(network.values.apply(values))
    assert np.array_equal(columns, network.values.outputs)


@pytest.mark.parametrize("shape", [(3,), (4, 3), (2, 4, 3), (0, 3)])
def test_token_rows(put: Any, shape: tuple[int, ...]) -> None:
    values = put(np.arange(prod(shape)).reshape(shape))
    rows = token_rows(values)
    assert tuple(rows.shape) == (3, prod(shape[:-1]))
    assert to_host(rows).tolist() == np.arange(prod(shape)).reshape(-1, 3).T.tolist()
    _same_place(from_token_rows(rows, values.shape), values)
    assert np.array_equal(to_host(from_token_rows(rows, values.shape)), to_host(values))
    rows[...] = rows + 1
    assert np.array_equal(to_host(values), np.arange(prod(shape)).reshape(shape))
