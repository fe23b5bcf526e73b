"""Every numbered statement holds on every input, for every construction, and the checks say so."""

from __future__ import annotations

import literal_proof
import numpy as np
import pytest

from constructions.contextual_mapping import build_mapping
from constructions.mapping import StagedMapping
from constructions.network import compose
from constructions.numbers import ProofError
from constructions.relay import build_relay
from constructions.targets import TARGETS
from theory import families
from theory.patterns import SparsityPattern
from theory.verdicts import Answer
from verify.inputs import AdversarialInputs, AllInputs
from verify.lemma_all_max import EQUATION_13
from verify.lemma_network import cell_numbers
from verify.lemma_shifts import EQUATION_10
from verify.lemmas import LEMMAS, check_ids, check_lemmas

PATTERNS = {
    "dense": (families.dense(3), 2, 2),
    "strided": (families.strided(5, 3), 1, 3),
    "fixed": (families.fixed(6, 3), 1, 2),
    "star": (families.star(5, 1), 1, 2),
    "window": (families.window(4, 1), 2, 2),
    "ring": (families.ring(5), 1, 3),
    "bigbird": (families.bigbird(6, 1, 1, 1, seed=3), 1, 2),
    "three patterns": (  # the path 0 -> 1 -> 2 -> 3 needs all of them
        SparsityPattern.from_lists([[0, 3], [1], [1, 2], [3]], [[0], [0, 1], [2], [3]], [[0], [1], [2], [2, 3]]),
        1,
        3,
    ),
    "one token": (families.dense(1), 2, 3),
}
ABOUT_THE_PROOF = [
    "Lemma 6", "eq. 8", "recurrence", "eq. 9", "eq. 10", "one-to-one", "eq. 12", "eq. 13", "leader seen",
    "intervals", "residues", "7.1", "7.2",
]  # fmt: skip
OF_NO_INPUT = {"eq. 12", "disjoint slots"}
ABOUT_RELAY = ["Lemma 6", "disjoint slots", "ids in slots", "reach", "7.1", "7.2"]


def build(name: str, construction: str, **more: int) -> StagedMapping:
    pattern, d, levels = PATTERNS[name]
    if construction == "relay":
        return build_relay(pattern, d, levels)
    s = literal_proof.smallest_s(pattern.to_lists())
    return build_mapping(pattern, d, levels, construction, gamma=np.arange(pattern.n), **{"s": s, **more})


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("construction", ["paper", "merged", "relay"])
def test_every_statement_holds_on_every_input(name: str, construction: str) -> None:
    pattern, d, levels = PATTERNS[name]
    network = compose(build(name, construction), TARGETS["softmax-attention"])
    checks = check_lemmas(network, AllInputs(d, pattern.n, levels))
    expected = ABOUT_RELAY if construction == "relay" else ABOUT_THE_PROOF
    assert [check.name for check in checks] == [*expected, "Lemma 8", "Lemma 3"]
    for check in checks:
        assert check.answer is Answer.HOLDS, check.why
        assert check.exhaustive
        assert check.inputs == (0 if check.name in OF_NO_INPUT else levels ** (d * pattern.n))
        assert check.statement


@pytest.mark.parametrize("name", ["strided", "fixed", "star", "ring"])
def test_the_tighter_s_is_enough(name: str) -> None:
    pattern, d, levels = PATTERNS[name]
    mapping = build_mapping(pattern, d, levels, "merged", gamma=np.arange(pattern.n), tight=True)
    assert all(check.answer is Answer.HOLDS for check in check_lemmas(mapping, AllInputs(d, pattern.n, levels)))


@pytest.mark.parametrize("target", ["identity", "reverse", "sort", "mean", "polynomial"])
def test_networks_of_other_targets(target: str) -> None:
    network = compose(build("strided", "merged"), TARGETS[target])
    assert all(check.answer is Answer.HOLDS for check in check_lemmas(network, AllInputs(1, 5, 3)))


def test_relay_where_not_everything_is_reached() -> None:
    for pattern in (families.causal(5, 1), families.documents([2, 3]), families.fixed(5, 2)):
        mapping = build_relay(pattern, 1, 3)
        checks = check_lemmas(mapping, AllInputs(1, 5, 3))
        assert [check.name for check in checks] == ABOUT_RELAY
        assert all(check.answer is Answer.HOLDS for check in checks)
    network = compose(build_relay(families.causal(5, 1), 1, 3), TARGETS["causal-mean"])
    assert all(check.answer is Answer.HOLDS for check in check_lemmas(network, AllInputs(1, 5, 3)))


def test_large_ids_are_python_integers_and_samples_say_that_they_are_samples() -> None:
    pattern = families.window(12, 1)
    mapping = build_mapping(
        pattern, 2, 4, "merged", gamma=np.arange(12), s=literal_proof.smallest_s(pattern.to_lists())
    )
    assert mapping.dtype == object
    inputs = AdversarialInputs(2, 12, 4, 40, seed=5)
    for check in check_lemmas(mapping, inputs):
        assert check.answer is Answer.HOLDS
        assert check.exhaustive == (check.name == "eq. 12")
        assert check.name == "eq. 12" or "40 of 4^24 inputs" in check.why


def test_one_statement_alone_and_by_name() -> None:
    mapping, every = build("window", "paper"), AllInputs(2, 4, 2)
    alone = EQUATION_13(mapping, every)
    (named,) = check_lemmas(mapping, every, ["eq. 13"])
    assert (alone.name, alone.answer, alone.why) == (named.name, named.answer, named.why)
    assert [check.name for check in check_lemmas(mapping, every, ["7.2", "eq. 8"])] == ["7.2", "eq. 8"]
    found = check_ids(mapping, every)
    assert check_lemmas(mapping, every, ["7.1"], found=found)[0].answer is Answer.HOLDS
    for name, lemma in LEMMAS.items():
        assert lemma.name == name
        assert lemma.applies_to(mapping) == (name in ABOUT_THE_PROOF)


@pytest.mark.parametrize(
    ("names", "levels", "message"),
    [
        (["eq. 99"], 2, "no statement is called 'eq. 99': choose from Lemma 6, eq. 8"),
        (["Lemma 3"], 2, "speaks of a network"),
        (["disjoint slots"], 2, "speaks of the constructions relay"),
        (["eq. 8"], 3, "inputs with d = 2, n = 4, K = 3 are not for a mapping with d = 2, n = 4, K = 2"),
    ],
)
def test_what_does_not_apply_is_refused(names: list[str], levels: int, message: str) -> None:
    with pytest.raises(ProofError, match=message):
        check_lemmas(build("window", "merged"), AllInputs(2, 4, levels), names)


def test_cells_are_numbered_as_they_are_listed() -> None:
    assert cell_numbers(next(AllInputs(2, 3, 3).chunks()), 3).tolist() == list(range(3**6))


def test_the_bound_of_equation_10_is_that_of_the_literal_proof() -> None:
    """z~ < n delta^{-nd} in real units, on every input, by the fractions of the literal proof."""
    for name in ("dense", "three patterns"):
        pattern, d, levels = PATTERNS[name]
        attends = pattern.to_lists()
        proof = literal_proof.Proof(attends, d, levels, list(range(pattern.n)), 1)
        largest = max(
            max(proof.project(proof.shifted(grid))) for grid in literal_proof.grids(d, pattern.n, levels)
        )
        assert largest < pattern.n * levels ** (pattern.n * d)
        assert EQUATION_10(build(name, "paper"), AllInputs(d, pattern.n, levels)).answer is Answer.HOLDS


def test_long_checks_say_which_statement_they_are_at() -> None:
    said: list[str] = []
    mapping = build("window", "merged")
    checks = check_lemmas(mapping, AllInputs(mapping.d, mapping.pattern.n, mapping.K), say=said.append)
    by_ids = {"7.1", "7.2", "reach"}
    assert set(said) == {check.name for check in checks} - by_ids
