"""The engines of the exhaustive sweep against each other, against Python integers, and against what is wrong."""

from __future__ import annotations

import importlib
import itertools
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import literal_proof
import numpy as np
import pytest
import relay_oracle
from hypothesis import given, settings
from hypothesis import strategies as st

import verify.exhaustive.case as cases
import verify.exhaustive.engines as engines
from constructions.all_max_shift import AllMaxShifts
from constructions.backends import NUMPY, Backend
from constructions.cells import cells
from constructions.contextual_mapping import build_mapping
from constructions.mapping import StagedMapping
from constructions.numbers import ProofError
from constructions.relay import build_relay
from constructions.selective_shift import SelectiveShifts, TokenShift
from theory.families import parse_family
from theory.patterns import SparsityPattern
from theory.verdicts import Answer
from theory.wording import name_grid
from verify.contextual_mapping import check_contextual_mapping
from verify.exhaustive import arrays
from verify.exhaustive.arrays import ArrayEngine
from verify.exhaustive.case import SweepCase, fingerprint_weights, sweep_case
from verify.exhaustive.engines import SweepEngine, choose_sweep_engine
from verify.exhaustive.linear_form import LinearForm, fit_forms, is_one_to_one
from verify.exhaustive.shard_result import ShardResult
from verify.inputs import AllInputs

WORD = 2**64
LINE = "window:n=4,w=1"
STAR = parse_family("star:n=6,w=1")


# --- oracles: plain Python integers ---------------------------------------------------------------------------


def weight(number: int) -> int:
    """Output `number` (from 0) of splitmix64 started at 0, made odd."""
    mixed = (number + 1) * 0x9E3779B97F4A7C15 % WORD
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % WORD
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % WORD
    return (mixed ^ mixed >> 31) | 1


def exact_ids(mapping: StagedMapping, grid: Any) -> list[int] | None:
    """The ids of one grid, block by block in Python integers; None where a block is undefined."""
    wide = replace(mapping, bound=2**400)
    try:
        return [int(number) for number in wide.literal_ids(np.array(grid))]
    except ProofError:
        return None


def grids(case: SweepCase) -> list[Any]:
    """All inputs in lexicographic order."""
    d, n, levels = case.mapping.d, case.mapping.pattern.n, case.mapping.K
    return [np.array(entries).reshape(d, n) for entries in itertools.product(range(levels), repeat=d * n)]


def expected(case: SweepCase, ids: list[list[int] | None]) -> list[ShardResult]:
    """What the sweep must show, from the ids of all inputs: the sentence of a stop is its input only."""
    relay = case.mapping.construction == "relay"
    base, places = (1, 1) if relay else (case.mapping.stages[1].factor, case.mapping.stages[1].count + 1)
    every, found = grids(case), []
    for number in range(case.shards):
        start, total, gaps, largest, stopped = number * case.shard, 0, [], 0, None
        for i in range(start, min(start + case.shard, case.count)):
            numbers, entries = ids[i], every[i].ravel().tolist()
            said = [f.constant + sum(w * x for w, x in zip(f.weights, entries, strict=True)) for f in case.forms]
            said *= 1 if relay else case.mapping.pattern.n
            if numbers is not None:
                digits = [[q] if relay else [q // base**j % base for j in range(places)] for q in numbers]
                tops = numbers if relay else [q // base ** (places - 1) for q in numbers]
                lowest = sorted(each[0] for each in digits)
                steps = [b - a for a, b in itertools.pairwise(lowest)]
            if numbers is None or tops != said or 0 in steps or not (relay or max(tops) < base):
                stopped = f"input {name_grid(every[i])}: "
                break
            mixed = sum(
                weight(k * places + j) * digit for k, each in enumerate(digits) for j, digit in enumerate(each)
            )
            total, largest = (total + (2 * i + 1) * mixed) % WORD, max(largest, *numbers)
            gaps += steps
        if stopped is None:
            inputs = min(case.shard, case.count - start)
            found.append(ShardResult(number, inputs, total, min(gaps, default=None), largest, None))
        else:
            found.append(ShardResult(number, i - start, 0, None, 0, stopped))
    return found


def injective(case: SweepCase, ids: list[list[int] | None]) -> bool:
    """Whether no two inputs, and no two tokens of one, share an id; with relay, as the reach theorem asks."""
    if None in ids:
        return False
    if case.mapping.construction == "relay":
        every = np.array(grids(case))
        attends = case.mapping.pattern.union.matrix().astype(bool).toarray()
        lists = [np.flatnonzero(row).tolist() for row in attends]
        return relay_oracle.fault([lists], every, np.array(ids, dtype=object).astype(np.int64)) is None
    flat = [number for numbers in ids for number in numbers or ()]
    return len(set(flat)) == len(flat)


def cut(case: SweepCase, low: int, blocks: int) -> SweepCase:
    """The same inputs in blocks of K^low, and shards of a few blocks."""
    block = case.mapping.K**low
    return replace(case, low=low, block=block, shard=block * blocks)


def available() -> list[SweepEngine]:
    found: list[SweepEngine] = [ArrayEngine()]
    try:
        import torch  # noqa: F401

        found.append(ArrayEngine(Backend("torch", "cpu")))
    except ImportError:
        pass
    try:
        import numba  # noqa: F401

        from verify.exhaustive.kernel_engine import KernelEngine

        found.append(KernelEngine())
    except ImportError:
        pass
    return found


ENGINES = available()


def able(case: SweepCase) -> list[SweepEngine]:
    """The engines that can sweep a case."""
    small, path = case.dtype == np.int64, case.mapping.construction != "relay"
    return [e for e in ENGINES if e.name == "arrays (numpy, cpu)" or (small and (path or e.name[:6] == "arrays"))]


def shards(engine: SweepEngine, case: SweepCase) -> list[ShardResult]:
    """All results, a stop's sentence cut after its input, as the oracle has it."""
    found = [engine.shard(case, number) for number in range(case.shards)]
    return [replace(r, stopped=r.stopped and r.stopped[: r.stopped.index(": ") + 2]) for r in found]


# --- (a) engines agree with each other and with the oracle ------------------------------------------------------

PATHS = [
    ("star:n=4,w=1", 1, 3, {}),
    ("star:n=4,w=1", 1, 3, {"tight": True}),
    ("star:n=3,w=1", 2, 2, {}),
    ("strided:n=4,w=2", 1, 3, {}),
    ("window:n=4,w=1", 1, 3, {}),
    ("window:n=5,w=1", 1, 2, {"tight": True}),
    ("bigbird:n=5,window=1,random=1,globals=1", 1, 3, {}),
    ("fixed:n=4,w=2", 1, 3, {}),
    ("window:n=2,w=1", 2, 5, {}),
    ("window:n=2,w=1", 1, 4, {}),
]


@pytest.mark.parametrize("construction", ["paper", "merged"])
@pytest.mark.parametrize(("family", "d", "levels", "constants"), PATHS)
def test_every_engine_finds_what_python_integers_find(
    family: str, d: int, levels: int, constants: dict[str, Any], construction: str
) -> None:
    mapping = build_mapping(parse_family(family), d, levels, construction, **constants)
    case = sweep_case(mapping)
    ids = [exact_ids(mapping, grid) for grid in grids(case)]
    assert injective(case, ids)
    for low, blocks in ((1, 2), (2, 3)):
        for one in (cut(case, low, blocks), replace(cut(case, low, blocks), dtype=np.dtype(object))):
            want = expected(one, ids)
            assert all(result.stopped is None for result in want)
            for engine in able(one):
                assert shards(engine, one) == want, engine.name


@pytest.mark.parametrize(("family", "d", "levels"), [("star:n=3,w=1", 1, 3), ("window:n=4,w=1", 1, 2)])
@pytest.mark.parametrize("merged", [False, True])
def test_the_ids_are_those_of_the_proof_as_the_paper_writes_it(
    family: str, d: int, levels: int, *, merged: bool
) -> None:
    pattern = parse_family(family)
    attends = pattern.to_lists()
    gamma, s = literal_proof.hamiltonian_path(attends), literal_proof.smallest_s(attends)
    assert gamma is not None
    assert s is not None
    case = sweep_case(build_mapping(pattern, d, levels, "merged" if merged else "paper", gamma=gamma, s=s))
    proof = literal_proof.Proof(attends, d, levels, gamma, s)
    ids = [
        [int(q * levels) for q in proof.ids(grid, merged)] for grid in literal_proof.grids(d, pattern.n, levels)
    ]
    for engine in able(case):
        assert shards(engine, case) == expected(case, ids), engine.name


RELAYS = [
    (SparsityPattern.from_lists([[0], [0, 1], [1, 2]]), 1, 3),
    (SparsityPattern.from_lists([[0, 2], [0, 1], [1, 2]]), 2, 2),
    (SparsityPattern.from_lists([[0], [1], [0, 1, 2], [2, 3]]), 1, 3),
    (SparsityPattern.from_lists([[0, 1], [1], [2, 1]], [[0], [1, 0], [2]]), 1, 4),
    (
        SparsityPattern.from_lists([[0, 3], [1, 0], [2], [3]], [[0], [1], [2, 1], [3]], [[0], [1], [2], [3, 2]]),
        1,
        3,
    ),
    (parse_family("fixed:n=4,w=2"), 1, 3),
]


@pytest.mark.parametrize(("pattern", "d", "levels"), RELAYS)
@pytest.mark.parametrize("shared", ["repeat", "once"])
def test_relay(pattern: SparsityPattern, d: int, levels: int, shared: Any) -> None:
    mapping = build_relay(pattern, d, levels, shared=shared)
    case = cut(sweep_case(mapping), 1, 4)
    ids = [exact_ids(mapping, grid) for grid in grids(case)]
    assert injective(case, ids)
    want = expected(case, ids)
    assert all(result.stopped is None for result in want)
    for one in (case, replace(case, dtype=np.dtype(object))):
        for engine in able(one):
            assert shards(engine, one) == want, engine.name


@pytest.mark.parametrize(
    ("pattern", "d", "levels", "constants"),
    [
        (STAR, 1, 5, {}),
        (STAR.relabel([5, 0, 1, 2, 3, 4]), 1, 4, {"gamma": [1, 2, 3, 4, 5, 0]}),  # what is greatest comes first
        (parse_family("window:n=7,w=1"), 1, 3, {}),  # s = 6: numbers of up to seven digits
        (parse_family("strided:n=9,w=3"), 1, 3, {"tight": True}),
        (parse_family("bigbird:n=6,window=1,random=1,globals=1"), 2, 2, {}),
    ],
)
def test_the_engines_agree_where_shards_are_large(
    pattern: SparsityPattern, d: int, levels: int, constants: dict[str, Any]
) -> None:
    case = sweep_case(build_mapping(pattern, d, levels, "merged", **constants))
    one, *others = [shards(engine, case) for engine in able(case)]
    assert one[0].stopped is None
    assert all(other == one for other in others)
    assert sum(result.inputs for result in one) == case.count == levels ** (d * case.mapping.pattern.n)
    for finer in (cut(case, 2, 7), cut(case, 3, 1000)):  # the fingerprints add up whatever the cut
        parts = shards(able(case)[-1], finer)
        assert sum(part.fingerprint for part in parts) % WORD == sum(part.fingerprint for part in one) % WORD
        assert max(part.largest for part in parts) == max(part.largest for part in one)
        assert min(part.gap_within or 0 for part in parts) == min(part.gap_within or 0 for part in one)


def test_the_results_are_those_of_comparing_all_ids() -> None:
    mapping = build_mapping(parse_family("star:n=5,w=1"), 1, 4, "merged")
    case = sweep_case(mapping)
    compared = check_contextual_mapping(mapping, AllInputs(1, 5, 4))
    assert compared.answer is Answer.HOLDS
    for engine in able(case):
        (result,) = shards(engine, case)
        assert result.largest.bit_length() == compared.max_id_bits
        assert result.gap_within == compared.gap.within


def test_one_token() -> None:
    alone = SparsityPattern.from_lists([[0]])
    for mapping in (build_mapping(alone, 2, 3, "merged", gamma=[0], s=1), build_relay(alone, 2, 3)):
        case = sweep_case(mapping)
        ids = [exact_ids(mapping, grid) for grid in grids(case)]
        for engine in able(case):
            assert shards(engine, case) == expected(case, ids)
            assert engine.shard(case, 0).gap_within is None


# --- (b) wrong constants never give a clean result ---------------------------------------------------------------


@st.composite
def experiments(draw: st.DrawFn) -> tuple[SparsityPattern, int, int, dict[str, Any]]:
    """A pattern with a Hamiltonian cycle, and up to two constants of any kind."""
    sizes = [(2, 4, 1), (3, 3, 1), (4, 2, 1), (2, 2, 2), (3, 4, 1), (5, 2, 1), (6, 2, 1)]
    n, levels, d = draw(st.sampled_from(sizes))
    p = draw(st.integers(1, 3))
    gamma = draw(st.permutations(range(n)))
    rows = [[{k} for k in range(n)] for _ in range(p)]
    for before, after in itertools.pairwise([*gamma, gamma[0]]):
        rows[draw(st.integers(0, p - 1))][after].add(before)
    for layer, query, key in draw(
        st.lists(st.tuples(st.integers(0, p - 1), st.integers(0, n - 1), st.integers(0, n - 1)), max_size=6)
    ):
        rows[layer][query].add(key)
    if draw(st.booleans()):
        rows[0][gamma[draw(st.integers(0, n - 1))]] = set(range(n))
    pattern = SparsityPattern.from_lists(*[[sorted(row) for row in layer] for layer in rows])
    constants = {
        "gamma": gamma,
        "s": n * p,
        "c": levels ** (n * d + 2) * n * p,  # enough
        "shift_factor": levels**d,
        "step": levels,
        "construction": draw(st.sampled_from(["paper", "merged"])),
    }
    largest = n * levels ** (n * d)
    wrong = {
        "s": st.integers(1, n * p + 2),
        "c": st.integers(largest // 4, largest) | st.integers(0, 4 * largest),
        "shift_factor": st.integers(0, 2 * levels**d),
        "step": st.integers(0, 2 * levels),
    }
    for name in draw(st.lists(st.sampled_from(sorted(wrong)), max_size=2, unique=True)):
        constants[name] = draw(wrong[name])
    return pattern, d, levels, constants


@given(experiments(), st.integers(1, 2), st.integers(1, 5))
@settings(max_examples=150)
def test_a_clean_result_is_a_proof_whatever_the_constants(
    experiment: tuple[SparsityPattern, int, int, dict[str, Any]], low: int, blocks: int
) -> None:
    pattern, d, levels, constants = experiment
    mapping = build_mapping(pattern, d, levels, **constants)
    try:
        case = cut(sweep_case(mapping), low, blocks)
    except ProofError:
        return
    ids = [exact_ids(mapping, grid) for grid in grids(case)]
    want = expected(case, ids)
    for engine in able(case):
        assert shards(engine, case) == want, engine.name
    if all(result.stopped is None for result in want):
        assert injective(case, ids)


@given(experiments(), st.data())
@settings(max_examples=300)
def test_the_engines_agree_where_no_proof_applies(
    experiment: tuple[SparsityPattern, int, int, dict[str, Any]], data: st.DataObject
) -> None:
    """Windows, thresholds and factors of any kind, and forms that are not one-to-one: all but the greatest id."""
    pattern, d, levels, constants = experiment
    mapping = build_mapping(pattern, d, levels, **constants)
    lowered = data.draw(st.sampled_from([0, 0, 0, 1, pattern.n]))
    below = 2 * lowered * mapping.step * sum(levels**i for i in range(d))
    given_shifts, maxima = mapping.stages
    assert isinstance(given_shifts, SelectiveShifts)
    shifts = [replace(shift, low2=shift.low2 - below) for shift in given_shifts.shifts]
    for _ in range(data.draw(st.integers(0, 2))):
        place = data.draw(st.integers(0, len(shifts) - 1))
        one = shifts[place]
        change = data.draw(st.sampled_from(["drop", "twice", "low2", "width2", "factor", "count"]))
        values = {"low2": one.low2, "width2": one.width2, "factor": one.factor, "count": one.count}
        if change in values:
            least = {"low2": one.low2 - 5, "factor": 0}.get(change, 1)
            values[change] = data.draw(st.integers(least, values[change] + 5))
            shifts[place] = replace(one, **values)
        else:
            shifts[place : place + 1] = [one] * (2 if change == "twice" else 0)
        if not shifts:
            break
    changed = replace(
        mapping, positions=mapping.positions - lowered, stages=(SelectiveShifts(tuple(shifts)), maxima)
    )
    try:
        with patch.object(cases, "is_one_to_one", lambda *_: True):
            case = cut(sweep_case(changed), 1, 10**6)
    except ProofError:
        return
    ids = [exact_ids(changed, grid) for grid in grids(case)]
    want = [replace(result, largest=0) for result in expected(case, ids)]
    for engine in (able(case)[0], able(case)[-1]):
        assert [replace(result, largest=0) for result in shards(engine, case)] == want, engine.name


def test_wrong_constants_are_met_on_the_way() -> None:
    """The property above would be empty if constants were all right, or all refused beforehand."""
    wrong = (
        (
            "star:n=4,w=1",
            4,
            "merged",
            {"c": 824},
            "[[2, 0, 0, 0]]: an id has more than s + 1 = 2 digits in base c",
        ),
        ("star:n=4,w=1", 4, "paper", {"c": 888}, "[[3, 0, 0, 0]]: an id has more than s + 1 = 2 digits in base c"),
        ("window:n=4,w=1", 3, "merged", {"c": 801}, "[[2, 0, 0, 0]]: the digit of weight c^s of token 1 is 268, "),
        ("star:n=4,w=1", 3, "merged", {"step": 2}, "[[0, 0, 0, 2]]: hardmax meets a tie: token 0 attends to two"),
        ("window:n=4,w=1", 3, "paper", {"step": 2}, "[[0, 0, 2, 0]]: hardmax meets a tie: token 2 attends to two"),
    )
    for family, levels, construction, constants, where in wrong:
        case = sweep_case(build_mapping(parse_family(family), 1, levels, construction, **constants))
        for engine in able(case):
            stopped = engine.shard(case, 0).stopped
            assert stopped is not None
            assert stopped.startswith(f"input {where}")
    for family, levels, enough in (("star:n=4,w=1", 4, 889), ("window:n=4,w=1", 3, 802)):
        case = sweep_case(build_mapping(parse_family(family), 1, levels, "merged", c=enough))
        assert [engine.shard(case, 0).stopped for engine in able(case)] == [None] * len(able(case))


@pytest.mark.parametrize(
    ("constants", "why"),
    [
        ({"s": 0}, "no digit that all tokens share"),
        ({"c": 1}, "no digit that all tokens share"),
        ({"s": 1}, r"differ in the digit of weight c\^s"),
        ({"shift_factor": 1}, "hardmax meets a tie"),
        ({"shift_factor": 2}, "not shown to be one-to-one"),
    ],
)
def test_what_cannot_be_shown_is_refused(constants: dict[str, int], why: str) -> None:
    with pytest.raises(ProofError, match=why):
        sweep_case(build_mapping(parse_family("window:n=4,w=1"), 1, 3, "merged", **constants))


def test_relay_forms_that_overlap_or_see_too_much_or_too_little_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mapping = build_relay(SparsityPattern.from_lists([[0], [0, 1], [1, 2]]), 1, 3)
    assert [form.weights for form in sweep_case(mapping).forms] == [(1, 0, 0), (3, 1, 0), (9, 3, 1)]
    with pytest.raises(ProofError, match="the id of token 2 is not shown to be one-to-one in what reaches it"):
        sweep_case(replace(mapping, stages=mapping.stages[:1]))
    apart = build_relay(SparsityPattern.from_lists([[0], [1], [2]]), 1, 3)
    with pytest.raises(ProofError, match="the ids of tokens 0 and 2 do not lie apart"):
        sweep_case(replace(apart, positions=np.array([1, 0, 1])))
    monkeypatch.setattr(cases, "reach_matrix", lambda _: np.eye(3, dtype=bool))
    with pytest.raises(ProofError, match="the id of token 1 depends on a token that does not reach it"):
        sweep_case(mapping)


def test_other_stages_are_refused() -> None:
    mapping = build_mapping(parse_family("star:n=4,w=1"), 1, 2, "merged")
    for changed in (replace(mapping, stages=mapping.stages[1:]), replace(mapping, construction="relay")):
        with pytest.raises(ProofError, match="no sweep of a mapping with the stages"):
            sweep_case(changed)
    with pytest.raises(ProofError, match="too many to number"):
        sweep_case(build_relay(parse_family("star:n=80,w=1"), 1, 2))


# --- (c) the lemma on linear forms ------------------------------------------------------------------------------


@given(st.integers(2, 6), st.lists(st.integers(-80, 80), min_size=1, max_size=4))
@settings(max_examples=300)
def test_a_form_declared_one_to_one_is(levels: int, weights: list[int]) -> None:
    boxes = itertools.product(range(levels), repeat=len(weights))
    values = [sum(w * x for w, x in zip(weights, entries, strict=True)) for entries in boxes]
    if is_one_to_one(weights, levels):
        assert len(set(values)) == len(values)
    form = LinearForm(7, tuple(weights))
    assert (form.least(levels), form.greatest(levels)) == (7 + min(values), 7 + max(values))
    assert form.size(levels) >= max(abs(7 + value) for value in values)


@given(
    st.integers(2, 6),
    st.permutations(range(4)),
    st.lists(st.integers(-30, 30).filter(bool), min_size=4, max_size=4),
)
@settings(max_examples=200)
def test_a_unit_times_each_power_of_k_is_declared_one_to_one(
    levels: int, exponents: list[int], units: list[int]
) -> None:
    coprime = [unit if np.gcd(unit, levels) == 1 else 1 for unit in units]
    weights = [unit * levels**exponent for unit, exponent in zip(coprime, exponents, strict=True)]
    assert is_one_to_one(weights, levels)
    assert not is_one_to_one([*weights, weights[0]], levels)
    assert not is_one_to_one([*weights, 0], levels)
    if levels in (4, 6):
        assert not is_one_to_one([*weights, 2 * levels**5], levels)


def test_forms_are_fitted_to_all_rows() -> None:
    form = LinearForm(2**70, (3, -(2**80), 0, 5))
    fitted = fit_forms(
        lambda grids: np.array(
            [[2**70 + 3 * int(g[0, 0]) - 2**80 * int(g[0, 1]) + 5 * int(g[1, 1])] * 2 for g in grids], dtype=object
        ),
        2,
        2,
    )
    assert fitted == (form, form)
    with pytest.raises(ProofError, match="returns float64 of shape"):
        fit_forms(lambda grids: grids[:, 0] / 2, 1, 2)


# --- (d) irregular blocks ---------------------------------------------------------------------------------------


def with_shifts(mapping: StagedMapping, *more: TokenShift) -> StagedMapping:
    shifts, maxima = mapping.stages
    assert isinstance(shifts, SelectiveShifts)
    return replace(mapping, stages=(SelectiveShifts((*more, *shifts.shifts)), maxima))


def test_irregular_blocks_are_run_by_the_array_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    from verify.exhaustive.kernel_engine import KernelEngine

    mapping = build_mapping(parse_family("star:n=4,w=1"), 1, 4, "merged")
    plain = cut(sweep_case(mapping), 2, 8)
    # gamma(1), token 0, holds 12 + x: a shift by nothing fires where x >= 2, over all of a block or none of it
    idle = TokenShift(token=0, layer=0, factor=0, low2=2 * 14 - 1, width2=4, count=1, cycle=1)
    case = cut(sweep_case(with_shifts(mapping, idle)), 2, 8)
    read: list[int] = []
    original = arrays.BlockReader.read

    def spy(self: Any, blocks: range) -> Any:
        read.extend(blocks)
        return original(self, blocks)

    monkeypatch.setattr(arrays.BlockReader, "read", spy)
    kernel = shards(KernelEngine(), case)
    assert read == list(range(8, 16))
    read.clear()
    assert kernel == shards(KernelEngine(), plain)
    assert read == []
    assert kernel == shards(ArrayEngine(), case)
    # an entry of the block decides: the window holds a part of every row
    part = TokenShift(token=3, layer=0, factor=0, low2=2 * 9 - 1, width2=4, count=1, cycle=1)
    case = cut(sweep_case(with_shifts(mapping, part)), 2, 8)
    read.clear()
    assert shards(KernelEngine(), case) == kernel
    assert read == list(range(16))


DENSE = SparsityPattern.from_lists([[0, 1, 2]] * 3)
FIRST, SECOND = (0, 4, -1, 7), (0, 4, 7, 15)  # layer, factor, 2 b, 2 b'


@pytest.mark.parametrize(
    ("rows", "windows", "base", "gap"),
    [
        ([[8, 9], [0, 3], [4, 7]], [FIRST, SECOND], 200, 18),
        ([[8, 9], [0, 3], [4, 7]], [FIRST, SECOND], 112, -1),  # the greatest is 7 + 4 (33 - 7) + 1 = 111
        ([[8, 9], [0, 3], [4, 7]], [FIRST], 200, -1),  # token 2 never fires
        ([[8, 9], [0, 3], [4, 7]], [FIRST, SECOND, (0, 4, 25, 75)], 999, -1),  # token 1 fires again
        ([[8, 9], [0, 1], [2, 3]], [FIRST, (0, 4, -1, 3)], 999, -1),  # two in one window
        ([[8, 9], [0, 4], [5, 7]], [FIRST, SECOND], 200, -1),  # a part of a row
        ([[8, 9], [0, 3], [5, 7]], [(0, 4, 0, 7), SECOND], 200, -1),  # on b
        ([[8, 9], [0, 3], [5, 7]], [(0, 4, -1, 6), SECOND], 200, -1),  # on b'
        ([[8, 9], [0, 3], [5, 7]], [(0, 1, -1, 7), SECOND], 200, -1),  # no higher than the top
        ([[-3, -2], [-11, -8], [-7, -4]], [(0, 4, -23, -15), (0, 4, -15, -7)], 200, -1),  # below 0
    ],
)
def test_which_blocks_are_regular(rows: list[list[int]], windows: list[Any], base: int, gap: int) -> None:
    kernel = pytest.importorskip("verify.exhaustive.kernel")
    from verify.exhaustive.kernel_engine import _attended

    values = np.array(rows, dtype=np.int64)
    ranges, fired = np.stack((values.min(axis=1), values.max(axis=1)), axis=1), np.zeros(3, dtype=bool)
    spare = np.zeros((kernel.SPARE, 2), dtype=np.int64)
    table = np.array(windows, dtype=np.int64)
    assert kernel._shift(values, ranges, _attended(DENSE), table, fired, spare, base, 999) == gap


@pytest.mark.parametrize(("limit", "gap"), [(120, 18), (119, -1)])
def test_a_shift_that_could_pass_the_limit_is_not_regular(limit: int, gap: int) -> None:
    """By the ends of the rows the last shift brings 7 to 7 + 4 (32 - 4) = 119 at most; 32 bits must hold it."""
    kernel = pytest.importorskip("verify.exhaustive.kernel")
    from verify.exhaustive.kernel_engine import _attended

    values = np.array([[8, 9], [0, 3], [4, 7]], dtype=np.int32)
    ranges, fired = np.stack((values.min(axis=1), values.max(axis=1)), axis=1).astype(np.int64), np.zeros(3, bool)
    spare, table = np.zeros((kernel.SPARE, 2), dtype=np.int32), np.array([FIRST, SECOND], dtype=np.int64)
    assert kernel._shift(values, ranges, _attended(DENSE), table, fired, spare, 200, limit) == gap


@pytest.mark.parametrize("spec", ["star:n=4,w=1", "ring:n=5", "strided:n=5,w=2"])
@pytest.mark.parametrize("levels", [2, 3, 4])
def test_rows_of_32_and_of_64_bits_give_the_same_shards(
    spec: str, levels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    from verify.exhaustive import kernel_engine

    def swept(short: int) -> tuple[Any, list[ShardResult]]:
        kernel_engine._tables.cache_clear()
        monkeypatch.setattr(kernel_engine, "SHORT", short)
        case = sweep_case(build_mapping(parse_family(spec), 1, levels, "merged"))
        return kernel_engine._tables(case)[0].form.dtype, shards(kernel_engine.KernelEngine(), case)

    (narrow, found), (wide, same) = swept(2**28), swept(0)
    assert (narrow, wide) == (np.int32, np.int64)
    assert found == same


def test_cases_without_regular_blocks() -> None:
    tables = pytest.importorskip("verify.exhaustive.kernel_engine")._tables
    star = parse_family("star:n=4,w=1")
    case = sweep_case(build_mapping(star, 1, 4, "paper"))
    shifts, maxima = case.path_stages
    first, *others = shifts.shifts
    thresholds = [replace(first, low2=0), replace(first, width2=3)]  # some on numbers that tokens may hold
    meeting = (replace(case.starts[0], constant=case.starts[1].constant), *case.starts[1:])
    irregular = [
        replace(case, starts=meeting),
        sweep_case(build_mapping(star, 1, 4, "paper", c=888)),
        *(
            replace(case, mapping=replace(case.mapping, stages=(SelectiveShifts((one, *others)), maxima)))
            for one in thresholds
        ),
        replace(case, mapping=replace(case.mapping, pattern=SparsityPattern.from_lists([[], [1], [2], [3]]))),
    ]
    assert tables(case) is not None
    assert [tables(one) for one in irregular] == [None] * 5


@pytest.mark.parametrize("step", [3, 5])
def test_thresholds_that_are_met_stop_the_sweep(step: int) -> None:
    mapping = build_mapping(parse_family("star:n=4,w=1"), 1, 4, "paper")
    on = TokenShift(token=3, layer=0, factor=0, low2=2 * 11, width2=step, count=2, cycle=1)
    case = cut(sweep_case(with_shifts(mapping, on)), 1, 64)
    assert [exact_ids(case.mapping, grid) for grid in grids(case)][3] is None
    for engine in able(case):
        result = engine.shard(case, 0)
        assert result == ShardResult(0, 3, 0, None, 0, result.stopped)
        assert result.stopped == (
            "input [[0, 0, 0, 3]]: u^T Z_k = b at token 3: the selective shift is undefined there"
        )


# --- (e) a corrupted form, mapping or kernel --------------------------------------------------------------------


@pytest.mark.parametrize(("family", "levels", "s"), [("star:n=4,w=1", 4, 1), ("star:n=6,w=1", 2, 2), (LINE, 3, 3)])
@pytest.mark.parametrize("entry", [0, 1, 3])
def test_a_wrong_form_is_found_at_the_first_input_that_shows_it(
    family: str, levels: int, s: int, entry: int
) -> None:
    case = cut(sweep_case(build_mapping(parse_family(family), 1, levels, "merged")), 1, 256)
    assert case.path_stages[1].count == s
    (form,) = case.forms
    weights = list(form.weights)
    weights[entry] += 64
    wrong = replace(case, forms=(replace(form, weights=tuple(weights)),))
    first = levels ** (len(weights) - 1 - entry)
    for engine in able(case):
        result = engine.shard(wrong, 0)
        assert (result.inputs, result.fingerprint) == (first, 0)
        assert result.stopped is not None
        assert result.stopped.startswith(
            f"input {name_grid(grids(case)[first])}: the digit of weight c^s of token 0"
        )
        off = replace(case, forms=(replace(form, constant=form.constant + 1),))
        assert engine.shard(off, 0).inputs == 0


def test_a_wrong_relay_form_is_found() -> None:
    case = sweep_case(build_relay(parse_family("star:n=3,w=1"), 1, 3))
    first, *rest = case.forms
    wrong = replace(case, forms=(replace(first, weights=(first.weights[0] + 1, *first.weights[1:])), *rest))
    for engine in able(case):
        result = engine.shard(wrong, 0)
        assert result.inputs == 9
        assert result.stopped is not None
        assert result.stopped.startswith("input [[1, 0, 0]]: the id of token 0 is ")


def test_a_mapping_other_than_the_forms_say_is_found() -> None:
    case = cut(sweep_case(build_mapping(parse_family("star:n=4,w=1"), 1, 4, "merged")), 2, 16)
    shifts, maxima = case.path_stages
    last = shifts.shifts[-1]
    for stages in (
        (SelectiveShifts((*shifts.shifts[:-1], replace(last, factor=5))), maxima),
        (SelectiveShifts((*shifts.shifts[:-1], replace(last, low2=last.low2 + 2))), maxima),
        (SelectiveShifts(shifts.shifts[:-1]), maxima),
        (shifts, AllMaxShifts(maxima.count, 850, maxima.cycle)),
    ):
        wrong = replace(case, mapping=replace(case.mapping, stages=stages))
        want = expected(wrong, [exact_ids(wrong.mapping, grid) for grid in grids(case)])
        assert want[0].stopped is not None
        for engine in able(case):
            assert shards(engine, wrong) == want, (engine.name, stages)


@pytest.mark.parametrize("what", ["windows", "attended"])
def test_a_corrupted_kernel_is_overruled(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    from verify.exhaustive import kernel_engine

    case = cut(sweep_case(build_mapping(parse_family("star:n=4,w=1"), 1, 4, "merged")), 2, 16)
    tables = kernel_engine._tables(case)
    assert tables is not None
    grid, attended, windows, *rest = tables
    if what == "windows":
        windows = windows.copy()
        windows[-1, 1] += 1  # the factor of the last shift
    else:
        attended = attended._replace(keys=np.zeros_like(attended.keys))
    monkeypatch.setattr(kernel_engine, "_tables", lambda _: (grid, attended, windows, *rest))
    blocks: list[int] = []
    original = arrays.BlockReader.read
    monkeypatch.setattr(arrays.BlockReader, "read", lambda self, part: blocks.extend(part) or original(self, part))
    assert shards(kernel_engine.KernelEngine(), case) == shards(ArrayEngine(), case)
    assert set(blocks) == set(range(16))


# --- the rest of the contract -----------------------------------------------------------------------------------


def test_the_cut_and_the_key() -> None:
    star = parse_family("star:n=6,w=1")
    case = sweep_case(build_mapping(star, 1, 32, "merged"))
    assert (case.block, case.shard, case.shards, case.count) == (1024, 2**22, 256, 2**30)
    assert case.dtype == np.int64
    assert case.blocks_of(1) == range(4096, 8192)
    odd = sweep_case(build_mapping(parse_family("star:n=7,w=1"), 1, 5, "merged"))
    assert (odd.block, odd.shard, odd.shards) == (625, 65000, 2)
    assert sum(len(odd.blocks_of(number)) * odd.block for number in range(odd.shards)) == odd.count == 5**7
    keys = {
        sweep_case(mapping).key
        for mapping in (
            build_mapping(star, 1, 4, "merged"),
            build_mapping(star, 1, 4, "paper"),
            build_mapping(star, 1, 5, "merged"),
            build_mapping(star, 1, 4, "merged", s=3),
            build_mapping(star, 1, 4, "merged", c=10**9),
            build_mapping(star, 1, 4, "merged", gamma=[1, 2, 3, 4, 0, 5]),
            build_mapping(parse_family("star:n=6,w=2"), 1, 4, "merged"),
            build_relay(star, 1, 4),
            build_relay(star, 1, 4, root=2),
        )
    }
    assert len(keys) == 9
    again = sweep_case(build_mapping(star, 1, 4, "merged"))
    assert again.key in keys
    assert len(again.key) == 64


def test_cases_and_engines_travel() -> None:
    case = cut(sweep_case(build_mapping(parse_family("star:n=4,w=1"), 1, 3, "merged")), 1, 9)
    for engine in able(case):
        there, other = pickle.loads(pickle.dumps((case, engine)))  # noqa: S301 - what was just written
        assert [other.shard(there, 1)] == [engine.shard(case, 1)]


def test_numbers_beyond_int64_stay_with_numpy() -> None:
    case = sweep_case(build_mapping(parse_family("star:n=3,w=1"), 1, 2, "merged", c=2**70))
    assert case.dtype == object
    ids = [exact_ids(case.mapping, grid) for grid in grids(case)]
    assert shards(ArrayEngine(), case) == expected(case, ids)
    pytest.importorskip("torch")
    with pytest.raises(ProofError, match="numbers beyond int64, torch has none"):
        ArrayEngine(Backend("torch", "cpu")).shard(case, 0)


def test_the_engine_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    star = parse_family("star:n=6,w=1")
    small, large = (sweep_case(build_mapping(star, 1, levels, "merged")) for levels in (4, 16))
    relay, long = sweep_case(build_relay(star, 1, 16)), replace(large, dtype=np.dtype(object))
    torch = Backend("torch", "cpu")
    arrays_only = [(small, NUMPY), (relay, NUMPY), (long, NUMPY), (large, torch)]
    for case, backend in arrays_only:
        assert choose_sweep_engine(case, backend) == ArrayEngine(backend)
    assert choose_sweep_engine(large, NUMPY, "numpy") == ArrayEngine()
    for case, backend, why in (
        (relay, NUMPY, "knows paper and merged, not relay"),
        (long, NUMPY, "computes in int64"),
        (large, torch, "runs beside NumPy, not torch"),
    ):
        if engines.find_spec("numba"):
            with pytest.raises(ProofError, match=why):
                choose_sweep_engine(case, backend, "numba")
    with pytest.raises(ProofError, match="no sweep engine 'fast'"):
        choose_sweep_engine(large, NUMPY, "fast")  # type: ignore[arg-type]
    if engines.find_spec("numba"):
        assert choose_sweep_engine(large, NUMPY).name == "numba kernel"
        assert choose_sweep_engine(small, NUMPY, "numba").name == "numba kernel"
    monkeypatch.setattr(engines, "find_spec", lambda _: None)
    assert choose_sweep_engine(large, NUMPY) == ArrayEngine()
    with pytest.raises(ProofError, match=r"needs numba: pip install \"sparseuap\[fast\]\""):
        choose_sweep_engine(large, NUMPY, "numba")


def test_the_plain_sweeps_of_the_benchmarks_run_the_same_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent))
    plain_sweeps = importlib.import_module("benchmarks.plain_sweeps")
    case = sweep_case(build_mapping(parse_family("star:n=4,w=1"), 1, 4, "merged", tight=True))
    numbers, ids = plain_sweeps.plain(case), case.mapping.ids(cells(1, 4, 4))
    values = numbers.rows(range(1))
    assert numbers.ids(values).T.tolist() == ids.tolist()
    assert numbers.sum(range(1), 1) == ids.sum()
    pytest.importorskip("numba")
    (layer,) = case.mapping.pattern.layers
    given = values, layer.indptr, layer.keys, np.array(numbers.windows), numbers.count, numbers.base
    assert plain_sweeps.looped_sum()(*given) == ids.sum()


def test_fingerprint_weights_are_splitmix64_made_odd() -> None:
    found = fingerprint_weights(3, 4)
    assert [int(number) % WORD for number in found.ravel()] == [weight(number) for number in range(12)]


@given(
    st.integers(0, 2**40),
    st.integers(0, 2**64 - 1),
    st.none() | st.integers(0, 2**90),
    st.integers(0, 2**900),
    st.none() | st.text(),
)
@settings(max_examples=50)
def test_results_survive_json(
    number: int, fingerprint: int, gap: int | None, largest: int, stopped: str | None
) -> None:
    result = ShardResult(number, 5, fingerprint, gap, largest, stopped)
    assert ShardResult.from_json(json.loads(json.dumps(result.as_json()))) == result


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"number": -1}, "number is -1"),
        ({"inputs": 1.5}, "inputs is 1.5"),
        ({"inputs": True}, "inputs is True"),
        ({"fingerprint": "zz"}, "fingerprint is zz"),
        ({"fingerprint": hex(2**64)}, "more than 64 bits"),
        ({"largest": None}, "largest is None"),
        ({"gap_within": []}, r"gap_within is \[\]"),
        ({"stopped": 3}, "stopped is 3"),
        ({"more": 3}, "no result of a shard"),
    ],
)
def test_what_is_no_result_is_refused(change: dict[str, Any], why: str) -> None:
    good = ShardResult(0, 1, 2, 3, 4, None).as_json()
    with pytest.raises(ProofError, match=why):
        ShardResult.from_json({**good, **change})
    for data in ([], None, {}, "text"):
        with pytest.raises(ProofError, match="no result of a shard"):
            ShardResult.from_json(data)
