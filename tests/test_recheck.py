"""One false claim of every kind is refused, by name; and what cannot be checked is said not to be."""

from __future__ import annotations

import copy
import json
import random
from typing import TYPE_CHECKING, Any

import brute_force
import pytest
from certificates_by_hand import Json, certify, true_s

from theory.families import parse_family
from theory.patterns import SparsityPattern
from theory.verdicts import Answer
from verify import recheck_follow, recheck_hops, recheck_powers
from verify.certificate_format import LARGEST_FILE
from verify.recheck import UnreadableCertificate, read_certificate, recheck
from verify.recheck_intervals import Intervals
from verify.recheck_path import has_path
from verify.recheck_powers import first_full, smallest_hops

if TYPE_CHECKING:
    from pathlib import Path

RING = [[[0, 3], [0, 1], [1, 2], [2, 3]]]
STAR = [[[0, 3], [1, 3], [2, 3], [0, 1, 2, 3]]]
CAUSAL = [[[0], [0, 1], [1, 2], [2, 3]]]
BLOCKS = [[[0, 1], [0, 1], [1, 2, 3], [2, 3]]]  # two components, the first one seen by the second
GAPS = [[[0], [1], [0, 1, 2]]]  # 0 and 1 never see each other
SWAP = [[[1], [0]]]  # no token attends to itself, s does not exist
TWO = [[[0, 1], [1], [2]], [[0], [1, 2], [0, 2]]]  # a ring in two patterns
OTHER = [[[0, 1], [1], [0, 2]]]  # token 0 sees 1, token 1 sees nothing
DETOUR = [[[0, 2, 4], [0, 1, 3], [1, 2], [2, 3], [3, 4]]]  # a ring and two chords: no intervals
HALF = [[[0, 1, 2], [0, 2], [0, 1, 2]]]  # token 1 does not attend to itself
INTERVALS = [
    [[sorted({k, (k - 1) % 9, (k - 2) % 9}) for k in range(9)]],
    [[[0, 1], [0, 1], [2, 3], [2, 3], [4]], [[0], [1, 2], [1, 2], [3, 4], [3, 4]]],
    [[[0, 1, 2], [0, 1, 2], [1, 2, 3], [2, 3]], [[0, 3], [1], [2], [0, 3]]],
]


def edited(certificate: Json, **changes: object) -> Json:
    """A copy with the values at these places changed, given as claims__reach__answer=..."""
    changed = copy.deepcopy(certificate)
    for place, value in changes.items():
        *way, last = place.split("__")
        inner: Any = changed
        for key in way:
            inner = inner[int(key) if key.isdigit() else key]
        inner[int(last) if last.isdigit() else last] = value
    return changed


NONE: Json = {"pivots": [], "keys": [], "queries": []}
P12, P13, R12 = "claims__assumption_1_2", "claims__assumption_1_3", "claims__assumption_1_2__refutation"
THEOREMS, SPINE, CUT = "claims__theorems", "evidence__spine", "evidence__cut"
FALSE_CLAIMS = [
    (RING, "all", "", {"pattern__n": 5}, "pattern: n = 5"),
    (RING, "all", "", {"pattern__p": 2}, "pattern: p = 2"),
    (RING, "all", "", {"pattern__connections": 9}, "pattern: connections = 9"),
    (RING, "all", "", {"pattern__digest": "0" * 64}, "pattern: the digest"),
    (RING, "all", "", {"pattern__attends__0__1": [1, 2]}, "pattern: the digest"),
    (RING, "all", "", {"claims__assumption_1_1__answer": False}, "assumption_1_1"),
    (HALF, "all", "", {"claims__assumption_1_1__answer": True}, "assumption_1_1"),
    (HALF, "all", "", {"claims__assumption_1_1__violations": [[0, 0]]}, "assumption_1_1: the violations listed"),
    (HALF, "all", "", {"claims__assumption_1_1__violations": []}, "assumption_1_1: the violations listed"),
    (HALF, "all", "", {"claims__assumption_1_1__violation_count": 2}, "assumption_1_1: 1 times"),
    (RING, "all", "", {f"{P12}__gamma": [1, 0, 2, 3]}, "assumption_1_2: gamma steps from token 1 to token 0"),
    (RING, "all", "", {f"{P12}__gamma": [0, 1, 2, 2]}, "assumption_1_2: gamma lists a token twice"),
    (RING, "all", "", {f"{P12}__gamma": [0, 1, 2]}, "assumption_1_2: gamma needs 4 tokens"),
    (RING, "all", "", {f"{P12}__gamma": [0, 1, 2, 4]}, "gamma: 4 is no token"),
    (TWO, "all", "", {f"{P12}__patterns": [0, 0]}, "not attended to in pattern 0"),
    (RING, "all", "", {f"{P12}__patterns": [0, 0, 1]}, "patterns: 1 is no pattern"),
    (RING, "all", "", {P12: {"answer": False, "proved": True, "refutation": {"kind": "exhausted"}}}, "is a path"),
    (RING, "all", "", {P12: {"answer": None}}, 'theorems.yun_2020_theorem_1: "universal" is claimed'),
    (STAR, "all", "exhausted", {f"{P12}__proved": False}, "proved = false"),
    (STAR, "all", "solver", {f"{P12}__proved": True}, "proved = true"),
    (STAR, "all", "too_few_successors", {f"{R12}__successors": []}, "successors lacks token 3"),
    (STAR, "all", "too_few_successors", {f"{R12}__successors": [0, 3]}, "successors wrongly lists token 0"),
    (STAR, "all", "too_few_successors", {f"{R12}__set": [0, 1]}, "2 tokens with 1 successors are no obstacle"),
    (STAR, "all", "too_few_successors", {f"{R12}__set": [0, 1, 1]}, "set lists a token twice"),
    (STAR, "all", "too_few_predecessors", {f"{R12}__set": [0, 1]}, "2 tokens with 1 predecessors are no obstacle"),
    (STAR, "all", "too_few_predecessors", {f"{R12}__rank": [0, 0, 0]}, "rank needs 4 entries"),
    (STAR, "all", "too_few_predecessors", {f"{R12}__rank": [0, 1, 2, 3]}, "rank falls from token 3 to token 0"),
    (STAR, "all", "too_few_predecessors", {f"{R12}__rank": [1, 1, 1, 1]}, "rank does not use every number"),
    (STAR, "all", "too_many_parts", {f"{R12}__parts": [0, 0, 0, -1]}, "1 parts without 1 tokens"),
    (STAR, "all", "too_many_parts", {f"{R12}__parts": [0, 1, 2, 3]}, "-1 exactly on the cut"),
    (STAR, "all", "too_many_parts", {f"{R12}__cut": [], f"{R12}__parts": [0, 1, 2, 3]}, "joins two parts"),
    (STAR, "all", "three_ends", {f"{R12}__ends__0__door": 2}, "set 0 is joined to token 3, which is not its door"),
    (
        STAR,
        "all",
        "three_ends",
        {f"{R12}__ends__0__door": None},
        "set 0 is joined to token 3, which is not its door",
    ),
    (STAR, "all", "three_ends", {f"{R12}__ends__0__set": [1]}, "disjoint"),
    (STAR, "all", "three_ends", {f"{R12}__ends__0__set": []}, "none empty"),
    (STAR, "all", "three_ends", {f"{R12}__ends__0": {"set": [0], "door": 0}}, "lies inside its set"),
    (GAPS, "all", "incomparable", {f"{R12}__closed_a": [0, 1]}, "closed_a must hold token 0 and not token 1"),
    (GAPS, "all", "incomparable", {f"{R12}__closed_a": [0, 2]}, "token 2 in it attends to token 1 outside"),
    (GAPS, "all", "incomparable", {f"{R12}__b": 0}, "closed_a must hold token 0 and not token 0"),
    (RING, "all", "", {f"{P13}__answer": False}, None),
    (RING, "all", "", {P13: {"answer": False, "key": None}}, "assumption_1_3: every token attends to itself"),
    (RING, "all", "", {P13: {"answer": None}}, "assumption_1_3: every token attends to itself"),
    (CAUSAL, "all", "", {P13: {"answer": None}}, "assumption_1_3: the union digraph is not strongly connected"),
    (CAUSAL, "all", "", {f"{P13}__key": 0}, "assumption_1_3: every token sees token 0 in the end"),
    (SWAP, "all", "", {P13: {"answer": None}}, "assumption_1_3: recomputed: there is no s"),
    (HALF, "all", "", {P13: {"answer": False, "key": 1}}, "assumption_1_3: recomputed: s = 2"),
    (RING, "all", "", {f"{P13}__s": 2}, "assumption_1_3.upper: s = 2, but the bounds 3 and 3 meet"),
    (RING, "all", "", {f"{P13}__s": None}, "assumption_1_3.upper: s = null, but the bounds 3 and 3 meet"),
    (RING, "all", "", {f"{P13}__lower": 2, f"{P13}__s": None}, "the pair unseen after 2 layers"),
    (RING, "all", "", {f"{P13}__lower": 0, f"{P13}__s": None}, "assumption_1_3.lower: s is at least 1"),
    (RING, "all", "", {f"{P13}__upper": 2}, "the upper bound 2 lies below"),
    (RING, "all", "", {f"{P13}__unseen": None}, "assumption_1_3.lower: no pair unseen"),
    (RING, "all", "", {f"{P13}__unseen__layers": 1}, "assumption_1_3.lower: the pair unseen after 1 layers"),
    (RING, "all", "", {f"{P13}__unseen": {"layers": 2, "query": 0, "key": 2}}, "token 0 does see token 2"),
    (RING, "all", "", {f"{P13}__pivot": {"token": 0, "gathers": 2, "spreads": 1}}, "does not see token 1 after 2"),
    (RING, "all", "", {f"{P13}__pivot": {"token": 0, "gathers": 3, "spreads": 3}}, "the pivot is to show s <= 6"),
    (STAR, "all", "", {f"{P13}__pivot": {"token": 3, "gathers": 1, "spreads": 0}}, "the pivot is to show s <= 1"),
    (
        RING,
        "all",
        "",
        {f"{P13}__upper": 4, f"{P13}__s": None, f"{P13}__pivot": {"token": 0, "gathers": 3, "spreads": 1}},
        "token 2 does not see the pivot 0",
    ),
    (
        RING,
        "all",
        "",
        {
            f"{P13}__upper": 2,
            f"{P13}__lower": 2,
            f"{P13}__s": 2,
            f"{P13}__unseen__layers": 1,
            f"{P13}__pivot": None,
            f"{P13}__relays": None,
        },
        "assumption_1_3.upper: after 2 layers token 0 does not see token 1",
    ),
    (
        HALF,
        "all",
        "",
        {f"{P13}__upper": 3, f"{P13}__lower": 3, f"{P13}__s": 3, f"{P13}__unseen": None, f"{P13}__pivot": None},
        "assumption_1_3.lower: recomputed: s = 2",
    ),
    (
        RING,
        "all",
        "",
        {f"{P13}__relays": {"pivots": [0], "keys": [0, 1, 2], "queries": []}},
        "assumption_1_3.upper: the relays do not show that token 1 sees token 3 within 3 layers",
    ),
    (
        RING,
        "all",
        "",
        {f"{P13}__upper": 2, f"{P13}__s": 2, f"{P13}__lower": 2, f"{P13}__relays": {**NONE, "keys": [1]}},
        "assumption_1_3.upper: after 2 layers token 0 does not see token 1",
    ),
    (
        RING,
        "all",
        "",
        {f"{P13}__upper": 2, f"{P13}__s": 2, f"{P13}__lower": 2, f"{P13}__relays": {**NONE, "queries": [1]}},
        "assumption_1_3.upper: after 2 layers token 1 does not see token 2",
    ),
    (RING, "all", "", {"claims__strongly_connected__answer": False}, "strongly_connected: false is claimed"),
    (CAUSAL, "all", "", {"claims__strongly_connected__answer": True}, "strongly_connected: true is claimed"),
    (RING, "all", "", {"claims__reach__answer": "causal"}, 'reach: "causal" is claimed, right is "all"'),
    (CAUSAL, "all", "", {"claims__reach__answer": "within causal"}, 'right is "causal"'),
    (GAPS, "all", "", {"claims__reach__answer": "causal"}, 'right is "within causal"'),
    (OTHER, "all", "", {"claims__reach__answer": "within causal"}, 'right is "other"'),
    (RING, "all", "", {"claims__universal__answer": None}, "universal: null is claimed, right is true"),
    (HALF, "all", "", {"claims__universal__answer": True}, "universal: true is claimed, right is null"),
    (CAUSAL, "causal", "", {"claims__universal__for": "all"}, "universal: true is claimed, right is false"),
    (CAUSAL, "all", "", {"claims__universal__for": "causal"}, "universal: the certificate has no valid spine"),
    (GAPS, "causal", "", {"claims__universal__answer": True}, "universal: true is claimed, right is false"),
    (RING, "all", "", {f"{THEOREMS}__yun_2020_theorem_1__answer": "silent"}, "theorems.yun_2020_theorem_1"),
    (HALF, "all", "", {f"{THEOREMS}__yun_2020_theorem_1__answer": "undecided"}, "theorems.yun_2020_theorem_1"),
    (CAUSAL, "all", "", {f"{THEOREMS}__cheng_2025_corollary_2__answer": "universal"}, "theorems.cheng_2025"),
    (RING, "all", "", {f"{THEOREMS}__reach_theorem__answer": "silent"}, "theorems.reach_theorem"),
    (STAR, "all", "", {f"{THEOREMS}__bigbird_2020_theorem_1__hub": 0}, "token 0 is not joined to and from all"),
    (STAR, "all", "", {f"{THEOREMS}__bigbird_2020_theorem_1__hub": None}, "token 3 is a hub, claimed is"),
    (RING, "all", "", {f"{THEOREMS}__bigbird_2020_theorem_1__hub": 0}, "token 0 is not joined to and from all"),
    (STAR, "all", "", {f"{THEOREMS}__bigbird_2020_theorem_1__answer": "silent"}, '"silent" is claimed'),
    (HALF, "all", "", {f"{THEOREMS}__bigbird_2020_theorem_1__hub": 0}, "with token 0 as the hub"),
    (RING, "all", "", {SPINE: None}, "strongly_connected: the certificate has no valid spine"),
    (RING, "all", "", {f"{SPINE}__in_parent__0": 2}, "in_parent says that token 0 is attended to by token 2"),
    (RING, "all", "", {f"{SPINE}__out_parent__0": 2}, "out_parent says that token 0 attends to token 2"),
    (RING, "all", "", {f"{SPINE}__in_parent__0": 0}, "in_parent followed from token 0 does not end at the root 3"),
    (RING, "all", "", {f"{SPINE}__in_parent__3": 0}, "in_parent followed from token 0 does not end at the root 3"),
    (RING, "all", "", {f"{SPINE}__root": [2]}, "does not end at the root 2"),
    (RING, "all", "", {f"{SPINE}__root": [3, 3]}, "the root of some component"),
    (RING, "all", "", {f"{SPINE}__component__0": 1}, "a component label lies outside 0..0"),
    (RING, "all", "", {f"{SPINE}__component": [0, 0, 0]}, "must have 4 entries each"),
    (RING, "all", "", {f"{SPINE}__links": [[0, 1]]}, "1 components need 0 links"),
    (BLOCKS, "causal", "", {f"{SPINE}__links": [[0, 2]]}, "link 0 says that token 2 attends to token 0"),
    (BLOCKS, "causal", "", {f"{SPINE}__links": [[2, 1]]}, "link 0 does not join component 0"),
    (BLOCKS, "causal", "", {f"{SPINE}__in_parent__0": 2}, "in_parent of token 0 lies in another component"),
    (BLOCKS, "causal", "", {"claims__universal__for": "all"}, "no claim rests on a spine of 2 components"),
    (CAUSAL, "all", "", {CUT: None}, "strongly_connected: the certificate has no valid spine"),
    (CAUSAL, "all", "", {CUT: None}, "assumption_1_3: neither a spine nor a cut"),
    (CAUSAL, "all", "", {f"{CUT}__closed_set": [0, 2]}, "token 2 in it attends to token 1 outside"),
    (CAUSAL, "all", "", {f"{CUT}__closed_set": [1]}, "the closed set does not hold its query 0"),
    (CAUSAL, "all", "", {f"{CUT}__closed_set": [0, 1, 2, 3]}, "the closed set holds token 1"),
    (CAUSAL, "all", "", {f"{CUT}__closed_set": [0, 0]}, "the closed set lists a token twice"),
    (CAUSAL, "all", "", {f"{CUT}__key": 0}, "the closed set holds token 0"),
    (GAPS, "causal", "", {"evidence__causal_cut__query": 1, "evidence__causal_cut__key": 2}, "directly before"),
    (GAPS, "causal", "", {"evidence__causal_cut": None}, "universal: the certificate has no valid spine"),
]


@pytest.mark.parametrize(("attends", "target", "kind", "changes", "said"), FALSE_CLAIMS)
def test_a_false_claim_is_refused_by_name(
    attends: brute_force.Attends, target: str, kind: str, changes: Json, said: str | None
) -> None:
    certificate = certify(attends, target, kind=kind)
    assert not recheck(certificate).failures
    false = edited(certificate, **changes)
    if said is None:
        with pytest.raises(UnreadableCertificate, match="field"):
            recheck(false)
        return
    result = recheck(false)
    assert not result.valid
    assert any(said in failure for failure in result.failures), result.failures


@pytest.mark.parametrize("target", ["all", "causal"])
@pytest.mark.parametrize("attends", [RING, STAR, CAUSAL, BLOCKS, GAPS, SWAP, TWO, OTHER, HALF, [[[0]]], [[[]]]])
def test_a_true_certificate_is_confirmed_claim_by_claim(attends: brute_force.Attends, target: str) -> None:
    certificate = certify(attends, target)
    result = recheck(certificate)
    assert result.valid
    assert not result.failures
    assert {line.split(":")[0] for line in result.checked} >= {
        "pattern",
        "reach",
        "universal",
        "strongly_connected",
    }


def test_components_out_of_order_show_nothing_about_causal_functions() -> None:
    backward = certify([[[0, 1], [1]]], "causal")  # token 1 never sees token 0
    trees = {"component": [1, 0], "root": [1, 0], "in_parent": [0, 1], "out_parent": [0, 1], "links": [[1, 0]]}
    changes = {SPINE: trees, "claims__universal__answer": True, "evidence__causal_cut": None}
    result = recheck(edited(backward, **changes, **{f"{THEOREMS}__reach_theorem__answer": "universal"}))
    assert "not consecutive stretches of tokens between tokens 0 and 1" in result.failures[0]


@pytest.mark.parametrize(
    "kind", ["exhausted", "too_few_successors", "too_few_predecessors", "too_many_parts", "three_ends"]
)
def test_a_refutation_is_proof(kind: str) -> None:
    result = recheck(certify(STAR, kind=kind))
    assert result.valid
    assert not result.unproved


def test_two_ends_are_what_a_path_has() -> None:
    certificate = certify(STAR, kind="three_ends")
    del certificate["claims"]["assumption_1_2"]["refutation"]["ends"][0]
    with pytest.raises(UnreadableCertificate, match="must list three sets"):
        recheck(certificate)


def test_a_solvers_word_is_not_proof() -> None:
    result = recheck(certify(STAR, kind="solver"))
    assert result.answer is Answer.UNDECIDED
    assert not result.valid
    assert [line.split(":")[0] for line in result.unproved] == ["assumption_1_2", "theorems.yun_2020_theorem_1"]
    word = {"kind": "solver", "solver": "some", "proved": False}
    false = edited(certify(RING), **{P12: {"answer": False, "proved": False, "refutation": word}})
    assert "one of them is a path" in recheck(false).failures[0]


def test_an_undecided_path_is_no_failure() -> None:
    changes = {P12: {"answer": None}, f"{THEOREMS}__yun_2020_theorem_1__answer": "undecided"}
    result = recheck(edited(certify(RING), **changes))
    assert result.valid
    assert not result.unproved
    assert result.undecided == ("assumption_1_2: left undecided: no claim",)


def test_trying_all_orders_ends_at_sixteen_tokens() -> None:
    for n, valid in ((16, True), (17, False)):
        star = [[[k, n - 1] for k in range(n - 1)] + [list(range(n))]]
        assert recheck(certify(star, refutation={"kind": "exhausted"})).valid is valid
        word = {"kind": "solver", "solver": "some", "proved": False}
        assert recheck(certify(star, refutation=word)).unproved


def test_what_takes_too_long_to_recompute_is_unproved_and_not_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = edited(certify(DETOUR), **{f"{P13}__pivot": None, f"{P13}__relays": None})
    assert recheck(plain).valid
    monkeypatch.setattr(recheck_powers, "STEP_WORK", 2**40)
    monkeypatch.setattr(recheck_hops, "MOST_PRODUCTS", 0)
    result = recheck(plain)
    assert (result.answer, result.valid, result.failures) == (Answer.UNDECIDED, False, ())
    assert [line.split(":")[0] for line in result.unproved] == ["assumption_1_3.upper"]
    pivot = {"token": 0, "gathers": 4, "spreads": 4}
    loose = edited(plain, **{f"{P13}__upper": 8, f"{P13}__s": None, f"{P13}__pivot": pivot})
    assert recheck(loose).valid
    assert recheck(loose).undecided == ("assumption_1_3.s: left undecided: s is at least 4 and is at most 8",)
    ring = [[[3], [0, 1], [1, 2], [2, 3]]]  # token 0 does not attend to itself
    exact = certify(ring)["claims"]["assumption_1_3"] | {"pivot": None}
    for answer, kind in (
        ({"answer": False, "key": None}, "unproved"),
        ({"answer": None}, "undecided"),
        (exact, "unproved"),
    ):
        result = recheck(edited(certify(ring), **{P13: answer}))
        assert not result.failures
        assert result.valid is (kind == "undecided")
        assert any(line.startswith("assumption_1_3:") for line in getattr(result, kind))


def test_s_is_recomputed_where_neither_pivot_nor_intervals_show_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recheck_hops, "MOST_PRODUCTS", 0)  # no matrix powers
    for attends, s in ((DETOUR, 4), (HALF, 2)):
        true = certify(attends)
        exact = true["claims"]["assumption_1_3"] | {"s": s, "lower": s, "upper": s, "pivot": None, "relays": None}
        result = recheck(edited(true, **{P13: exact}))
        assert result.valid
        assert f"assumption_1_3.upper: s <= {s}: recomputed, s = {s}" in result.checked
        assert any(line.startswith(f"assumption_1_3.lower: s >= {s}: ") for line in result.checked)
        low = exact | {"s": s - 1, "lower": s - 1, "upper": s - 1, "unseen": None}
        said = "".join(recheck(edited(true, **{P13: low})).failures)
        assert f"assumption_1_3.upper: after {s - 1} layers token " in said
    high = exact | {"s": 3, "lower": 3, "upper": 3, "unseen": None}
    assert "assumption_1_3.lower: recomputed: s = 2" in recheck(edited(true, **{P13: high})).failures


def test_a_pivot_needs_no_self_attention(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recheck_hops, "MOST_PRODUCTS", 0)
    monkeypatch.setattr(recheck_powers, "STEP_WORK", 2**40)
    pivot = {"token": 0, "gathers": 1, "spreads": 1}
    claim = {"answer": True, "s": None, "lower": 1, "upper": 2, "unseen": None, "pivot": pivot, "relays": None}
    assert recheck(edited(certify(HALF), **{P13: claim})).valid
    open_end = claim | {"upper": None, "pivot": None, "lower": 2}
    result = recheck(edited(certify(HALF), **{P13: open_end}))
    assert not result.failures
    assert [line.split(": ")[0] for line in result.unproved] == ["assumption_1_3.lower", "assumption_1_3"]
    assert [line.split(": ")[0] for line in result.undecided] == ["assumption_1_3.upper", "assumption_1_3.s"]


def test_following_without_self_attention_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recheck_follow, "MOST_FOLLOWED", 10**5)
    far = {"answer": True, "s": None, "lower": 1, "upper": 2**61, "unseen": None, "relays": None}
    pivot = {"token": 0, "gathers": 2**60, "spreads": 2**60}
    result = recheck(edited(certify(HALF), **{P13: far | {"pivot": pivot}}))
    assert any("too long" in line for line in result.unproved)


def test_the_pattern_may_be_given_beside_the_certificate() -> None:
    certificate, ring, star = certify(RING), SparsityPattern.from_lists(*RING), SparsityPattern.from_lists(*STAR)
    digest_only = edited(certificate, pattern__attends=None)
    assert recheck(certificate, ring).valid
    assert recheck(digest_only, ring).valid
    assert "pattern: connections = 8" in recheck(digest_only, star).failures[0]
    turned = SparsityPattern.from_lists([[0, 1], [1, 2], [2, 3], [0, 3]])
    assert "not the one in the certificate" in recheck(certificate, turned).failures[0]
    assert "the digest is another" in recheck(digest_only, turned).failures[0]
    with pytest.raises(UnreadableCertificate, match="give the pattern"):
        recheck(digest_only)


@pytest.mark.parametrize(
    ("attends", "said"),
    [
        ([[[0, 4], [1]]], "token 0 attends to key 4"),
        ([[[0, 0], [1]]], "unsorted or repeated"),
        ([[[1, 0], [1]]], "unsorted or repeated"),
        ([[[0], [1]], [[0]]], "pattern 1 has 1 tokens"),
        ([], "at least one layer"),
        ([[]], "between 1 and"),
        ([[[-1], [1]]], "key -1"),
        ([[[2**40], [1]]], "out of range"),
        ([[[2**70], [1]]], "beyond 64 bits"),
        ([[[0], 1]], "must be a list of keys"),
        ([[[0], [True]]], "must be an integer"),
    ],
)
def test_what_is_no_pattern_is_unreadable(attends: object, said: str) -> None:
    with pytest.raises(UnreadableCertificate, match=said):
        recheck(edited(certify(RING), pattern__attends=attends))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the file is empty"),
        (b"[1]", "holds a list"),
        (b"null", "holds null"),
        (b'{"a": 1, "a": 1}', "occurs twice"),
        (b'{"a": {"b": 1, "b": 2}}', "occurs twice"),
        (b'{"a": NaN}', "NaN is no JSON number"),
        (b'{"a": -Infinity}', "-Infinity is no JSON number"),
        (b'{"a": [1, 2', "not strict JSON"),
        (b'{"a": "\xff"}', "not strict JSON"),
        (b"\xef\xbb\xbf{}", "not strict JSON"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not strict JSON"),
    ],
)
def test_a_file_that_is_not_strict_json_is_unreadable(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "certificate.json"
    path.write_bytes(content)
    with pytest.raises(UnreadableCertificate, match=said) as caught:
        read_certificate(path)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read_are_unreadable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (tmp_path, tmp_path / "none.json", "a\0b"):
        with pytest.raises(UnreadableCertificate, match="cannot read"):
            read_certificate(path)
    path = tmp_path / "certificate.json"
    path.write_text(json.dumps(certify(RING)))
    assert recheck(read_certificate(path)).valid
    assert path.stat().st_size < LARGEST_FILE
    monkeypatch.setattr("verify.certificate_format.LARGEST_FILE", 100)
    with pytest.raises(UnreadableCertificate, match="more than the limit of 100"):
        read_certificate(path)


def test_s_by_definition_against_brute_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recheck_powers, "COLUMNS", 2)  # many blocks of keys
    monkeypatch.setattr(recheck_powers, "FEW", 1)
    for attends in brute_force.random_patterns(150, seed=4, most_tokens=5):
        pattern, s = SparsityPattern.from_lists(*attends), true_s(attends)
        loops = all(k in row for rows in attends for k, row in enumerate(rows))
        assert smallest_hops(pattern) == s
        assert first_full(pattern, 60, grows=False).t == s
        assert not loops or first_full(pattern, 60, grows=True).t == s
        for most in range(1, s or 4):
            found = first_full(pattern, most, grows=loops)
            assert found.t is None
            assert found.unseen is not None
            query, key = found.unseen
            assert key not in brute_force.layers_seen(attends, most)[query]
    with pytest.raises(OverflowError):
        first_full(SparsityPattern.from_lists(*SWAP), 10**18, grows=False)
    with pytest.raises(OverflowError):
        first_full(SparsityPattern.from_lists(*RING), 9, grows=True, work=50_000)


def test_s_by_definition_across_machine_words_and_blocks() -> None:
    for n, chord in ((63, 3), (64, 3), (65, 7), (128, 5), (130, 9), (1030, 32)):
        pattern = SparsityPattern.from_lists([sorted({k, (k - 1) % n, (k - chord) % n}) for k in range(n)])
        seen, s = {0}, 0  # every token sees the same, turned around
        while len(seen) < n:
            seen |= {(k + step) % n for k in seen for step in (1, chord)}
            s += 1
        assert first_full(pattern, n, grows=True).t == s
        assert first_full(pattern, s + 2, grows=False).t == s


def test_equal_rows_are_joined_once_and_own_tokens_aside() -> None:
    for n, w in ((40, 5), (23, 7)):
        for spec in (
            f"fixed:n={n},w={w}",
            f"strided:n={n},w={w}",
            f"bigbird:n={n},window=1,random=1,globals=1,seed=0",
        ):
            pattern = parse_family(spec)
            assert first_full(pattern, 9, grows=True).t == true_s_with_loops(pattern.to_lists())


def true_s_with_loops(attends: brute_force.Attends) -> int | None:
    n = len(attends[0])
    full = (t for t in range(1, 9) if all(len(seen) == n for seen in brute_force.layers_seen(attends, t)))
    return next(full, None)


def test_intervals_against_brute_force() -> None:
    read = 0
    for attends in (*brute_force.random_patterns(300, seed=4, most_tokens=5), *INTERVALS):
        if not all(k in row for rows in attends for k, row in enumerate(rows)):
            continue
        intervals = Intervals.read(SparsityPattern.from_lists(*attends))
        read += intervals is not None
        for layers in range(1, 20) if intervals is not None else ():
            seen, unseen = brute_force.layers_seen(attends, layers), intervals.unseen(layers)
            assert (unseen is None) == all(len(keys) == len(seen) for keys in seen)
            assert unseen is None or unseen[1] not in seen[unseen[0]]
        assert intervals is None or intervals.unseen(2**62) == intervals.unseen(len(attends) * len(attends[0]))
    assert read > 90


def test_rows_with_holes_or_falling_ends_are_no_intervals() -> None:
    for rows in ([[0, 2], [1], [2], [3]], [[0, 2, 4], [0, 1], [2], [3], [4, 0]], [[0, 1, 2, 3], [1], [2], [3]]):
        assert Intervals.read(SparsityPattern.from_lists(rows)) is None


def test_paths_through_all_sets_against_all_orders() -> None:
    for attends in brute_force.random_patterns(150, seed=6, most_tokens=6):
        assert has_path(SparsityPattern.from_lists(*attends)) == brute_force.has_hamiltonian_path(attends)


def test_the_longest_walk_that_a_pattern_can_need() -> None:
    n = 40  # a ring with one chord (Wielandt): s = (n-1)^2 + 1
    rows = [[n - 2, n - 1], *([k - 1] for k in range(1, n))]
    assert smallest_hops(SparsityPattern.from_lists(rows)) == (n - 1) ** 2 + 1
    assert first_full(SparsityPattern.from_lists(rows), 10**4, grows=False).t == (n - 1) ** 2 + 1


def test_one_sentence_names_the_source_of_every_refusal() -> None:
    dice = random.Random(1)  # noqa: S311
    for attends in brute_force.random_patterns(20, seed=8, most_tokens=5):
        certificate = certify(attends, dice=dice)
        reach = certificate["claims"]["reach"]
        reach["answer"] = "all" if reach["answer"] == "causal" else "causal"
        failures = recheck(certificate).failures
        assert [failure.split(":")[0] for failure in failures] == ["reach"]
        assert "\n" not in failures[0]
