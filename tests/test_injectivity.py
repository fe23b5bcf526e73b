"""7.1, 7.2 and the reach theorem's ids against brute force over every pair, for mappings right and wrong."""

from __future__ import annotations

from itertools import combinations, pairwise, product
from typing import Any

import literal_proof
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.contextual_mapping import build_mapping
from constructions.dependence import reach_matrix
from constructions.numbers import ProofError
from constructions.relay import build_relay
from theory import families
from theory.patterns import SparsityPattern
from theory.verdicts import Answer
from verify import injectivity, inputs
from verify.contextual_mapping import Injectivity, check_contextual_mapping
from verify.injectivity import compare_all
from verify.inputs import AdversarialInputs, AllInputs, GivenInputs

BIG = 10**30


def _table(ids: np.ndarray, levels: int) -> Any:
    """The mapping that reads the ids of input number g from row g."""

    def mapping(grids: np.ndarray) -> np.ndarray:
        digits = grids.reshape(len(grids), -1)
        return ids[digits @ levels ** np.arange(digits.shape[1])[::-1]]

    return mapping


def _brute(ids: np.ndarray, n: int, levels: int, reach: np.ndarray) -> dict[str, Any]:
    """Compare every (input, token) with every other one, by the definitions."""
    every = [np.array(g) for g in product(range(levels), repeat=n)]
    places = [(g, k) for g in range(len(every)) for k in range(n)]
    within = across = depends = True
    gaps = []
    for (g, k), (h, j) in combinations(places, 2):
        same = ids[g, k] == ids[h, j]
        alike = k == j and (every[g][reach[k]] == every[h][reach[k]]).all()
        if g == h:
            within &= not same
        if alike:
            depends &= bool(same)
        elif g != h or not reach.all():
            across &= not same
        if not alike:
            gaps.append(abs(int(ids[g, k]) - int(ids[h, j])))
    return {"within": within, "across": across, "depends": depends, "gap": min(gaps, default=None)}


def _agrees(found: Injectivity, expected: dict[str, Any], *, with_reach: bool) -> None:
    assert (found.distinct_within is Answer.HOLDS) == expected["within"]
    if with_reach:
        assert (found.depends_on_reach_only is Answer.HOLDS) == expected["depends"]
    else:
        assert found.depends_on_reach_only is None
    if found.distinct_across is Answer.UNDECIDED:
        assert not expected["depends"]
    else:
        assert (found.distinct_across is Answer.HOLDS) == expected["across"]
    assert (found.answer is Answer.HOLDS) == all(expected[key] for key in ("within", "across", "depends"))
    if expected["depends"]:
        assert found.gap.across == expected["gap"]


def _witnesses_are_real(found: Injectivity, mapping: Any, reach: np.ndarray) -> None:
    for collision in found.collisions:
        first, second = (
            int(mapping(grid[None])[0, token])
            for grid, token in zip((collision.first, collision.second), collision.tokens, strict=True)
        )
        assert (first, second) == collision.ids
        one, other = collision.tokens
        agree = (collision.first[:, reach[one]] == collision.second[:, reach[one]]).all()
        if collision.kind == "within":
            assert (collision.first == collision.second).all()
            assert one != other
            assert first == second
        elif collision.kind == "reach":
            assert one == other
            assert agree
            assert first != second
        else:
            assert (collision.first != collision.second).any() or not reach.all()
            assert first == second
            assert one != other or not agree
    assert found.why == (found.collisions[0].why if found.collisions else found.why)


@st.composite
def _cases(draw: st.DrawFn) -> tuple[int, int, np.ndarray, np.ndarray]:
    n, levels = draw(st.sampled_from([(1, 2), (1, 3), (2, 2), (2, 3), (3, 2)]))
    count = levels**n * n
    kind = draw(st.sampled_from(["any", "distinct", "nearly"]))
    top = draw(st.sampled_from([3, 40, 10**6]))
    if kind == "any":
        ids = draw(st.lists(st.integers(-top, top), min_size=count, max_size=count))
    else:
        ids = draw(st.permutations(range(count)))
        if kind == "nearly":
            ids[draw(st.integers(0, count - 1))] = draw(st.sampled_from(ids))
    bits = draw(st.lists(st.booleans(), min_size=n * n, max_size=n * n))
    return n, levels, np.array(ids).reshape(-1, n), np.array(bits).reshape(n, n) | np.eye(n, dtype=bool)


@settings(max_examples=100)
@given(_cases(), st.booleans(), st.booleans(), st.booleans())
def test_any_table_against_brute_force(
    case: tuple[int, int, np.ndarray, np.ndarray], wide: bool, with_reach: bool, respect: bool
) -> None:
    n, levels, ids, reach = case
    if not with_reach:
        reach = np.ones((n, n), dtype=bool)
    if respect:  # make the ids functions of reach(k): those of the input with zeros elsewhere
        every = np.array(list(product(range(levels), repeat=n)))
        weights = levels ** np.arange(n)[::-1]
        ids = np.stack([ids[np.where(reach[k], every, 0) @ weights, k] for k in range(n)], axis=1)
    ids = ids.astype(object) * BIG if wide else ids
    mapping = _table(ids, levels)
    expected = _brute(ids, n, levels, reach)
    every_input = AllInputs(1, n, levels)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(injectivity, "LEAST_HELD", 4)
        patch.setattr(inputs, "ENTRIES", 3 * n)
        small = check_contextual_mapping(mapping, every_input, reach=reach if with_reach else None, memory_limit=1)
    plain = check_contextual_mapping(mapping, every_input, reach=reach if with_reach else None)
    for found in (plain, small):
        _agrees(found, expected, with_reach=with_reach)
        _witnesses_are_real(found, mapping, reach)
        assert found.exhaustive
    assert (plain.answer, plain.distinct_within, plain.distinct_across) == (
        small.answer,
        small.distinct_within,
        small.distinct_across,
    )
    assert plain.gap == small.gap


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(-50, 50), max_size=30), max_size=12), st.integers(1, 400), st.booleans())
def test_passes_agree_with_one_sort(parts: list[list[int]], limit: int, wide: bool) -> None:
    dtype, factor = (object, BIG) if wide else (np.int64, 1)
    arrays = [np.array(part, dtype=dtype) * factor for part in parts]
    flat = sorted(number * factor for part in parts for number in part)
    gap = min((b - a for a, b in pairwise(flat)), default=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(injectivity, "LEAST_HELD", 4)
        found = compare_all(lambda: iter(arrays), limit)
    assert found.numbers == len(flat)
    assert (found.repeated is None) == (gap != 0)
    if gap == 0:
        assert flat.count(found.repeated) > 1
    assert found.gap == gap


@pytest.mark.parametrize("place", range(39))
def test_the_gap_between_two_passes_counts(place: int) -> None:
    numbers = np.concatenate(([0], np.cumsum(np.where(np.arange(39) == place, 1, 10))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(injectivity, "LEAST_HELD", 4)
        found = compare_all(lambda: iter(np.split(numbers[::-1], 8)), 64)
    assert found.gap == 1
    assert found.passes > 5


def test_many_passes_are_named_and_hold_little() -> None:
    numbers = np.random.default_rng(0).permutation(200_000)
    held = []

    def scan() -> Any:
        yield from np.array_split(numbers, 100)

    class Watching(injectivity._Least):
        def take(self, values: np.ndarray) -> None:
            super().take(values)
            held.append(sum(part.nbytes for part in self.parts))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(injectivity, "_Least", Watching)
        found = compare_all(scan, 2**18)
    assert found.repeated is None
    assert found.gap == 1
    assert found.method == f"{found.passes} passes by range"
    assert 10 < found.passes < 40
    assert max(held) <= 2**18


def test_differences_beyond_int64_are_exact() -> None:
    ends = np.array([-(2**63), 2**63 - 1])
    assert compare_all(lambda: iter([ends])).gap == 2**64 - 1
    ids = np.array([[2**64 - 1, 0]], dtype=np.uint64)
    found = check_contextual_mapping(lambda grids: np.repeat(ids, len(grids), axis=0), GivenInputs([[[0, 1]]], 2))
    assert found.gap.within == 2**64 - 1
    assert found.max_id_bits == 64


def test_two_tokens_that_share_an_id_on_different_inputs() -> None:
    """Token 1 has the id 0 always; token 0 has it where its own input is 0. Each knows only itself."""
    alone = np.eye(2, dtype=bool)
    found = check_contextual_mapping(lambda grids: grids[:, 0] * [1, 0], AllInputs(1, 2, 2), reach=alone)
    assert found.distinct_within is found.distinct_across is Answer.FAILS
    assert found.depends_on_reach_only is Answer.HOLDS
    found = check_contextual_mapping(
        lambda grids: grids[:, 0] + [0, 1], GivenInputs([[[1, 1]], [[0, 0]]], 2), reach=alone
    )
    assert found.distinct_within is Answer.HOLDS
    assert found.distinct_across is Answer.FAILS
    pair = lambda grids: np.stack((grids[:, 0, 0], 5 - 5 * grids[:, 0, 0]), axis=1)  # noqa: E731
    found = check_contextual_mapping(pair, AllInputs(1, 2, 2), reach=np.array([[1, 0], [1, 1]], dtype=bool))
    assert found.distinct_within is Answer.HOLDS
    assert found.distinct_across is Answer.FAILS


def test_an_undefined_mapping_fails_with_the_input() -> None:
    def mapping(grids: np.ndarray) -> np.ndarray:
        if (grids == [[2, 1]]).all(axis=(1, 2)).any():
            raise ProofError("hardmax meets a tie: token 1")
        return 10 * (3 * grids[:, 0, :1] + grids[:, 0, 1:]) + np.arange(2)

    found = check_contextual_mapping(mapping, AllInputs(1, 2, 3))
    assert found.answer is Answer.FAILS
    assert found.distinct_within is Answer.UNDECIDED
    assert found.distinct_across is Answer.UNDECIDED
    assert found.collision is not None
    assert found.collision.kind == "undefined"
    assert found.collision.first.tolist() == [[2, 1]]
    assert "token 1" in found.why


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        (lambda grids: grids[:, 0] / 2, "must return integers, not float64"),
        (lambda grids: grids, "one id a token: shape"),
        (lambda grids: np.array([[0.5, 1]] * len(grids), dtype=object), "must return integers"),
        (lambda grids: grids[:, 0] > 0, "must return integers, not bool"),
    ],
)
def test_what_is_no_id_is_refused(mapping: Any, message: str) -> None:
    with pytest.raises(ProofError, match=message):
        check_contextual_mapping(mapping, AllInputs(1, 2, 2))


def test_bad_reach_and_moody_mappings_are_refused() -> None:
    with pytest.raises(ProofError, match="2 x 2"):
        check_contextual_mapping(lambda grids: grids[:, 0], AllInputs(1, 2, 2), reach=np.eye(3, dtype=bool))
    calls = iter(range(100))

    def moody(grids: np.ndarray) -> np.ndarray:
        return np.arange(2) + 2 * len(grids) * next(calls) + 0 * grids[:, 0]

    with pytest.raises(ProofError, match="changes from run to run"):
        check_contextual_mapping(moody, AllInputs(1, 2, 2))
    with pytest.raises(ValueError, match="read-only"):
        check_contextual_mapping(lambda grids: grids.sort(), AllInputs(1, 2, 2))


# The constructions themselves.

CONNECTED = {
    "dense": families.dense(4),
    "strided": families.strided(6, 3),
    "fixed": families.fixed(6, 3),
    "star": families.star(6, 1),
    "window": families.window(7, 1),
    "ring": families.ring(6),
    "bigbird": families.bigbird(6, 1, 1, 1, seed=2),
}
CUT = {
    "causal": families.causal(6),
    "causal window": families.causal(6, 1),
    "documents": families.documents([2, 3, 1]),
    "broken fixed": families.fixed(5, 2),
    "alone": SparsityPattern.from_lists([[0], [1], [2]]),
}


def _is_one_to_one_in_reach(ids: list[list[int]], grids: list[list[list[int]]], reach: np.ndarray) -> bool:
    """Dictionaries from id to what it must tell, and back."""
    tells: dict[int, Any] = {}
    has: dict[Any, int] = {}
    for row, grid in zip(ids, grids, strict=True):
        for k, identifier in enumerate(row):
            columns = (k, tuple(tuple(line[j] for line in grid) for j in np.flatnonzero(reach[k])))
            if (
                tells.setdefault(identifier, columns) != columns
                or has.setdefault(columns, identifier) != identifier
            ):
                return False
    return True


@pytest.mark.parametrize("name", CONNECTED)
@pytest.mark.parametrize("construction", ["paper", "merged", "relay"])
@pytest.mark.parametrize(("d", "levels"), [(1, 2), (1, 3), (2, 2)])
def test_the_constructions_are_contextual_mappings(name: str, construction: str, d: int, levels: int) -> None:
    pattern = CONNECTED[name]
    if construction == "relay":
        mapping: Any = build_relay(pattern, d, levels)
    else:
        s = literal_proof.smallest_s(pattern.to_lists())
        mapping = build_mapping(pattern, d, levels, construction, gamma=np.arange(pattern.n), s=s)
    found = check_contextual_mapping(mapping, AllInputs(d, pattern.n, levels))
    assert found.answer is found.distinct_within is found.distinct_across is Answer.HOLDS
    assert found.exhaustive
    assert found.inputs == levels ** (d * pattern.n)
    ids = mapping.ids(next(AllInputs(d, pattern.n, levels).chunks()))
    flat = sorted(ids.ravel().tolist())
    assert len(set(flat)) == len(flat)
    assert found.gap.across == min(b - a for a, b in pairwise(flat))
    assert found.gap.within == min(b - a for row in ids.tolist() for a, b in pairwise(sorted(row)))
    assert found.max_id_bits == flat[-1].bit_length()


@pytest.mark.parametrize("name", CUT)
@pytest.mark.parametrize("levels", [2, 3])
def test_relay_ids_code_reach_and_nothing_else(name: str, levels: int) -> None:
    pattern = CUT[name]
    reach = reach_matrix(pattern)
    mapping = build_relay(pattern, 1, levels)
    every = AllInputs(1, pattern.n, levels)
    found = check_contextual_mapping(mapping, every, reach=reach)
    assert found.answer is found.depends_on_reach_only is Answer.HOLDS
    grids = next(every.chunks())
    assert _is_one_to_one_in_reach(mapping.ids(grids).tolist(), grids.tolist(), reach)
    everything = check_contextual_mapping(mapping, every)
    assert everything.distinct_across is Answer.FAILS
    sample = check_contextual_mapping(mapping, AdversarialInputs(1, pattern.n, levels, 50, 1), reach=reach)
    assert sample.answer is Answer.HOLDS
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inputs, "ENTRIES", 7 * pattern.n)
        chunked = check_contextual_mapping(mapping, AdversarialInputs(1, pattern.n, levels, 50, 1), reach=reach)
    assert (chunked.answer, chunked.gap, chunked.why) == (sample.answer, sample.gap, sample.why)


def test_a_sample_finds_what_depends_on_too_much() -> None:
    pattern = families.window(40, 2)
    mapping = build_relay(pattern, 2, 4)
    sample = AdversarialInputs(2, 40, 4, 100, seed=1)
    assert check_contextual_mapping(mapping, sample).answer is Answer.HOLDS
    reach = np.tril(np.ones((40, 40), dtype=bool))
    found = check_contextual_mapping(mapping, sample, reach=reach)
    assert found.depends_on_reach_only is Answer.FAILS
    assert found.distinct_across is Answer.UNDECIDED
    assert not found.exhaustive
    _witnesses_are_real(found, mapping.ids, reach)


@pytest.mark.exhaustive
def test_ten_million_ids_in_one_pass_and_in_many() -> None:
    weights = 10 * 4 ** np.arange(10)[::-1]

    def mapping(grids: np.ndarray) -> np.ndarray:
        return (grids[:, 0] @ weights)[:, None] + np.arange(10)

    whole = check_contextual_mapping(mapping, AllInputs(1, 10, 4))
    parts = check_contextual_mapping(mapping, AllInputs(1, 10, 4), memory_limit=2**24)
    assert whole.answer is parts.answer is Answer.HOLDS
    assert whole.gap == parts.gap
    assert (whole.method, parts.method) == ("sorted in memory", "19 passes by range")
