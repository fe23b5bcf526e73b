"""Thousands of changed certificates: one is accepted only where a brute-force oracle finds it still true."""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import Any

import brute_force
import pytest
from certificate_oracle import is_true
from certificates_by_hand import Json, certify
from hypothesis import given, settings
from hypothesis import strategies as st

from verify.recheck import UnreadableCertificate, recheck

POOL = [
    certify(attends, target, random.Random(number))  # noqa: S311
    for number, attends in enumerate(brute_force.random_patterns(150, seed=11, most_tokens=5))
    for target in ("all", "causal")
]
WORDS = (
    "all",
    "causal",
    "within causal",
    "other",
    "universal",
    "not universal",
    "silent",
    "undecided",
    "solver",
    "",
)
Path = tuple[Any, ...]


def places(value: object, path: Path = ()) -> list[Path]:
    """Every place in a JSON value, its root aside."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += places(item, (*path, key))
    return found


def at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def put(certificate: Json, path: Path, value: object) -> Json:
    changed = copy.deepcopy(certificate)
    at(changed, path[:-1])[path[-1]] = value
    return changed


def accepted(certificate: Json) -> bool:
    """Whether recheck finds nothing false; nothing but UnreadableCertificate may escape."""
    try:
        return not recheck(certificate).failures
    except UnreadableCertificate:
        return False


def other_value(value: Any, n: int, dice: random.Random) -> object:
    """A different value of the same type, or null."""
    if value is None or dice.random() < 0.05:
        return dice.choice((None, 0, True, "all", [], {}))
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return dice.choice((value + 1, value - 1, dice.randrange(n), -1, n, 10**6, 2**62, 2**70))
    if isinstance(value, str):
        return dice.choice((*WORDS, value.upper(), value[:-1]))
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if key != dice.choice(list(value))} | (
            {"more": 1} if dice.random() < 0.3 else {}
        )
    items = list(value)
    if not items or dice.random() < 0.2:
        return [*items, dice.randrange(n)]
    match dice.randrange(4):
        case 0:
            items.pop(dice.randrange(len(items)))
        case 1:
            items.append(dice.choice(items))
        case 2:
            items.reverse()
        case 3:
            items[dice.randrange(len(items))] = dice.choice(items)
    return items


def test_certificates_made_by_hand_are_confirmed() -> None:
    for certificate in POOL:
        assert is_true(certificate)
        result = recheck(certificate)
        assert not result.failures
        refutation = certificate["claims"]["assumption_1_2"].get("refutation", {})
        assert result.valid is (refutation.get("kind") != "solver")


def test_a_changed_value_is_refused_unless_still_true() -> None:
    dice = random.Random(2)  # noqa: S311
    refused: Counter[str] = Counter()
    for _ in range(6000):
        certificate = dice.choice(POOL)
        part = dice.choice(("claims", "claims", "evidence", "pattern"))
        path = dice.choice(places(certificate[part], (part,)))
        changed = put(certificate, path, other_value(at(certificate, path), certificate["pattern"]["n"], dice))
        if changed == certificate:
            continue
        if accepted(changed):
            assert is_true(changed), (path, at(certificate, path), at(changed, path), certificate)
        else:
            refused[".".join(map(str, path[:2]))] += 1
    assert sum(refused.values()) > 4500
    assert {f"claims.{name}" for name in POOL[0]["claims"]} <= set(refused)


def test_a_part_of_another_certificate_is_refused_unless_true_here_too() -> None:
    dice = random.Random(3)  # noqa: S311
    refused = 0
    for _ in range(4000):
        certificate = dice.choice(POOL)
        n = certificate["pattern"]["n"]
        donor = dice.choice([other for other in POOL if other["pattern"]["n"] == n])
        path = dice.choice(
            [p for p in places(certificate) if len(p) <= 3 and p[0] in ("claims", "evidence", "pattern")]
        )
        try:
            changed = put(certificate, path, at(donor, path))
        except (LookupError, TypeError):
            continue
        if changed == certificate:
            continue
        if accepted(changed):
            assert is_true(changed), (path, at(changed, path), certificate)
        else:
            refused += 1
    assert refused > 1000


def test_every_leaf_has_its_type() -> None:
    swaps: dict[type, tuple[object, ...]] = {
        bool: (0, 1, "true"),
        int: (True, 1.0, "1", [1]),
        str: (1, True, ["all"], None),
        list: ({}, "", 0),
        dict: ([], "", 0),
    }
    for certificate in POOL[::25]:
        for path in places(certificate):
            for value in swaps.get(type(at(certificate, path)), (1.5, {"a": 1})):
                with pytest.raises(UnreadableCertificate):
                    recheck(put(certificate, path, value))


def test_every_field_is_needed_and_no_other_is_known() -> None:
    for certificate in POOL[::25]:
        for path in [(), *places(certificate)]:
            if isinstance(at(certificate, path), dict):
                for name in at(certificate, path):
                    lacking = copy.deepcopy(certificate)
                    del at(lacking, path)[name]
                    with pytest.raises(UnreadableCertificate, match="lacks the field"):
                        recheck(lacking)
                with pytest.raises(UnreadableCertificate, match="unknown field"):
                    recheck(put(certificate, (*path, "more"), 1))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=400)
@given(data=st.data())
def test_any_json_in_any_place_is_refused_or_true(data: st.DataObject) -> None:
    certificate = data.draw(st.sampled_from(POOL))
    path = data.draw(st.sampled_from(places(certificate)))
    changed = put(certificate, path, data.draw(ANYTHING))
    assert not accepted(changed) or is_true(changed)


@given(ANYTHING)
def test_any_json_is_unreadable(value: Any) -> None:
    with pytest.raises(UnreadableCertificate):
        recheck(value)
