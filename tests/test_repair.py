"""Repairs are repairs, and the smallest: against every way of adding edges to every small digraph."""

from __future__ import annotations

from typing import Any

import brute_force
import numpy as np
import pytest
import repair_oracle as oracle

from theory.families import fixed, parse_family
from theory.patterns import PatternError, SparsityPattern
from theory.repair import repair
from theory.theorems import FunctionClass
from theory.verdicts import Answer

WANTED: dict[str, dict[str, Any]] = {
    "all": {},
    "causal": {"for_": FunctionClass.CAUSAL, "keep_causal": False},
    "paper": {"theorem": "paper"},
}


def check_one(n: int, mask: int, wanted: str) -> None:
    pattern = SparsityPattern.from_lists(oracle.rows_of(n, mask))
    found = repair(pattern, **WANTED[wanted])
    assert found.pattern is not None
    fewest = int(oracle.fewest(n, wanted)[mask])
    assert len(found.added) == fewest, (mask, found.added.tolist())
    assert found.optimal
    assert found.lower_bound == fewest
    added = [(int(key), int(query)) for _, query, key in found.added]
    repaired = mask | sum(1 << oracle.pairs(n).index(edge) for edge in added)
    assert oracle.mask_of(found.pattern.to_lists()[0]) == repaired
    assert oracle.good(n, wanted)[repaired]


@pytest.mark.parametrize("wanted", WANTED)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_digraph_is_repaired_with_the_fewest_edges(n: int, wanted: str) -> None:
    for mask in range(1 << (n * (n - 1))):
        check_one(n, mask, wanted)


@pytest.mark.parametrize("wanted", WANTED)
def test_some_digraphs_on_five_tokens(wanted: str) -> None:
    dice = np.random.default_rng(5)
    for size in range(21):  # sparse ones need the most repair
        for _ in range(12 if size < 12 else 2):
            check_one(5, int(np.sum(1 << dice.choice(20, size, replace=False))), wanted)


def test_symmetry_leaves_the_digraphs_that_are_counted_elsewhere() -> None:
    assert [len(oracle.representatives(n, "all")) for n in (1, 2, 3, 4)] == [1, 3, 16, 218]  # OEIS A000273
    # Burnside: 2 of the 6 pairs stay in place and 4 change in twos, so 2^4 of the 2^6 masks stay.
    assert len(oracle.representatives(3, "causal")) == (64 + 16) // 2


@pytest.mark.exhaustive
@pytest.mark.parametrize("wanted", ["all", "paper"])
def test_every_digraph_on_five_tokens_up_to_names(wanted: str) -> None:
    for mask in oracle.representatives(5, wanted):
        check_one(5, mask, wanted)


@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(16))
def test_every_digraph_on_five_tokens_for_causal_functions(part: int) -> None:
    for mask in oracle.representatives(5, "causal")[part::16]:
        check_one(5, mask, "causal")


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_causal_patterns_that_stay_causal(n: int) -> None:
    rising = [bit for bit, (key, query) in enumerate(oracle.pairs(n)) if key < query]
    for choice in range(1 << len(rising)):
        mask = sum(1 << bit for place, bit in enumerate(rising) if choice >> place & 1)
        pattern = SparsityPattern.from_lists(oracle.rows_of(n, mask))
        found = repair(pattern, for_=FunctionClass.CAUSAL)
        assert found.added.tolist() == repair(pattern, for_="causal", keep_causal=True).added.tolist()
        assert found.pattern is not None
        assert len(found.added) == found.lower_bound == oracle.fewest(n, "causal", rising=True)[mask]
        assert found.pattern.union.is_lower_triangular
        assert oracle.good(n, "causal")[oracle.mask_of(found.pattern.to_lists()[0])]


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("causal:n=4,w=0", {"for_": "causal"}, "the pattern is causal and stays so (--no-keep-causal allows keys"),
        ("causal:n=4,w=0", {"for_": "causal", "keep_causal": True}, None),
        ("causal:n=4,w=0", {"for_": "causal", "keep_causal": False}, None),
        ("causal:n=4", {}, "the pattern does not stay causal, as none is universal for all functions (--for"),
        (
            "documents:n=4,length=2",
            {"for_": "causal"},
            "the pattern is not causal (token 0 attends to 1), so keys",
        ),
        ("documents:n=4,length=2", {}, None),
        ("causal:n=4", {"for_": "causal"}, None),  # nothing to add
    ],
)
def test_what_becomes_of_causality_is_said_where_it_was_left_open(
    source: str, options: dict[str, Any], said: str | None
) -> None:
    why = repair(parse_family(source), **options).why
    if said is None:
        assert "keys after their query" not in why
        assert "stay" not in why
    else:
        assert said in why


def test_a_causal_pattern_gets_later_keys_only_when_asked() -> None:
    """Two interleaved chains, 0 -> 2 -> 4 and 1 -> 3 -> 5: two additions make a ring, five keep it causal."""
    chains = SparsityPattern.from_lists([[0], [1], [0, 2], [1, 3], [2, 4], [3, 5]])
    kept, free = repair(chains, for_="causal"), repair(chains, for_="causal", keep_causal=False)
    assert (len(kept.added), len(free.added)) == (5, 2)
    assert kept.pattern is not None
    assert kept.pattern.union.is_lower_triangular
    assert (free.added[:, 2] > free.added[:, 1]).any()


@pytest.mark.parametrize("wanted", WANTED)
def test_self_loops_are_forced_in_every_pattern(wanted: str) -> None:
    for attends in brute_force.random_patterns(150, 7, most_tokens=4):
        found = repair(SparsityPattern.from_lists(*attends), **WANTED[wanted])
        assert found.pattern is not None
        n = len(attends[0])
        missing = [(number, k, k) for number, rows in enumerate(attends) for k in range(n) if k not in rows[k]]
        union = [sorted({key for rows in attends for key in rows[k]}) for k in range(n)]
        fewest = len(missing) + int(oracle.fewest(n, wanted)[oracle.mask_of(union)])
        assert len(found.added) == found.lower_bound == fewest
        assert [tuple(row) for row in found.added[: len(missing)].tolist()] == missing
        assert {number for number, query, key in found.added.tolist() if query != key} <= {len(attends) - 1}
        together = [
            [
                sorted({*keys, *(key for a, q, key in found.added.tolist() if (a, q) == (number, k))})
                for k, keys in enumerate(rows)
            ]
            for number, rows in enumerate(attends)
        ]
        assert found.pattern.to_lists() == together


@pytest.mark.parametrize(("n", "w"), [(n, w) for n in (5, 12, 23, 64) for w in range(2, 9) if w < n and n % w])
def test_fixed_with_a_partial_last_segment_takes_one_connection(n: int, w: int) -> None:
    found = repair(fixed(n, w))
    assert found.optimal
    [[number, query, key]] = found.added.tolist()
    assert number == 1
    assert query < n // w * w <= key  # a connection target in the last segment, which nothing left before
    assert found.pattern is not None
    assert brute_force.reach_kind(found.pattern.to_lists()) == "all"


def test_fixed_whose_width_divides_n_needs_nothing() -> None:
    assert repair(fixed(24, 4)).added.size == 0


def test_the_pattern_to_add_to_can_be_chosen() -> None:
    assert repair(fixed(23, 5), layer=0).added.tolist() == [[0, 19, 22]]
    with pytest.raises(PatternError, match=r"no pattern 2: patterns are 0\.\.1"):
        repair(fixed(23, 5), layer=2)


def test_a_causal_pattern_cannot_serve_all_functions() -> None:
    for theorem in ("reach", "paper"):
        found = repair(parse_family("causal:n=6,w=2"), keep_causal=True, theorem=theorem)
        assert found.answer is Answer.FAILS
        assert found.pattern is None
        assert not found.optimal
        assert "no causal pattern is universal for all functions: token 0 never sees token 5" in found.why


@pytest.mark.parametrize(
    ("spec", "options", "message"),
    [
        ("ring:n=5", {"keep_causal": True}, r"not causal \(token 0 attends to 4\): drop --keep-causal"),
        ("ring:n=5", {"theorem": "paper", "for_": FunctionClass.CAUSAL}, "Theorem 1 is about all functions"),
        ("ring:n=5", {"theorem": "cheng"}, "theorem must be 'reach' or 'paper', got 'cheng'"),
        ("ring:n=5", {"time_limit": float("nan")}, "time limit must be at least 0"),
    ],
)
def test_bad_questions_are_refused(spec: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(PatternError, match=message):
        repair(parse_family(spec), **options)


@pytest.mark.parametrize("spec", ["hub:n=40", "documents:n=60,length=7", "fixed:n=43,w=5", "causal:n=30,w=1"])
def test_larger_patterns_for_the_paper(spec: str) -> None:
    pattern = parse_family(spec)
    found = repair(pattern, theorem="paper")
    assert found.optimal
    check_for_paper(found)


@pytest.mark.parametrize("seed", range(12))
def test_larger_random_patterns_for_the_paper(seed: int) -> None:
    pattern = parse_family(f"random:n={20 + 5 * seed},r=1,seed={seed}")
    found = repair(pattern, theorem="paper", time_limit=2)
    assert found.lower_bound <= len(found.added)
    check_for_paper(found)


def check_for_paper(found: Any) -> None:
    attends = found.pattern.to_lists()
    edges = brute_force.union_edges(attends)
    assert sorted(found.path.tolist()) == list(range(found.pattern.n))
    assert all((int(one), int(other)) in edges for one, other in zip(found.path, found.path[1:], strict=False))
    assert brute_force.reach_kind(attends) == "all"


def test_without_time_a_repair_is_still_a_repair() -> None:
    rows = [[0], [1], [0, 2], [1, 3], [2, 4], [3, 5]]  # two interleaved chains: 2 is best, the finest cut takes 5
    found = repair(SparsityPattern.from_lists(rows), for_="causal", keep_causal=False, time_limit=0)
    assert found.pattern is not None
    assert brute_force.reach_kind(found.pattern.to_lists()) == "all"
    assert found.lower_bound <= len(found.added)
    hub = repair(parse_family("hub:n=30"), theorem="paper", time_limit=0)
    check_for_paper(hub)
