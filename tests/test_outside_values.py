"""Values that come from outside: every word, truth value and number that is not known is refused, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from constructions.contextual_mapping import build_mapping
from constructions.network import choose_mapping
from constructions.relay import build_relay
from theory.checks import check_tokens, choice, flag, index, real, seconds, whole, wholes
from theory.families import bigbird, documents, equal_documents, fixed, parse_family, ring
from theory.hamiltonian import hamiltonian_path
from theory.hops import growth, hop_count
from theory.hops.growth import seen, seers
from theory.mask_functions import from_callable
from theory.masks import from_additive_mask
from theory.patterns import PatternError
from theory.readers.layouts import from_layout
from theory.readers.source import read_source
from theory.receptive_field import first_seen_by, receptive_field
from theory.repair import repair
from verify.contextual_mapping import check_contextual_mapping
from verify.inputs import AllInputs
from verify.pattern_verdict import assess
from verify.proof import choose_inputs, prove
from verify.repair_check import check_repair

if TYPE_CHECKING:
    from collections.abc import Callable

RING = ring(4)
CASE: dict[str, Any] = {"d": 1, "delta": "1/2"}

FLAGS: dict[str, Callable[[Any], object]] = {
    "keep_causal": lambda value: repair(RING, for_="causal", keep_causal=value),
    "residual in growth": lambda value: growth(RING, residual=value),
    "residual in seen": lambda value: seen(RING, 0, 1, residual=value),
    "residual in seers": lambda value: seers(RING, 0, 1, residual=value),
    "matrix": lambda value: receptive_field(RING, 1, matrix=value),
    "strongly_connected": lambda value: hop_count(RING, strongly_connected=value),
    "vectorised": lambda value: from_callable(lambda q, k: q >= k, 3, vectorised=value),
    "causal in documents": lambda value: documents([2, 1], causal=value),
    "causal in equal_documents": lambda value: equal_documents(5, 2, causal=value),
    "causal in from_layout": lambda value: from_layout(object(), 4, causal=value),
    "extended": lambda value: bigbird(9, 1, 1, 1, extended=value),
    "tight": lambda value: build_mapping(RING, 1, 2, tight=value),
    "exhaustive": lambda value: prove(RING, **CASE, exhaustive=value),
}
WORDS: dict[str, Callable[[Any], object]] = {
    "theorem of repair": lambda value: repair(RING, theorem=value),
    "theorem of check_repair": lambda value: check_repair(RING, repair(RING), theorem=value),
    "for_ of assess": lambda value: assess(RING, for_=value),
    "construction": lambda value: choose_mapping(RING, 1, 2, value),
}
LIMITS: dict[str, Callable[[Any], object]] = {
    "repair": lambda value: repair(RING, time_limit=value),
    "hamiltonian_path": lambda value: hamiltonian_path(RING, time_limit=value),
    "hop_count": lambda value: hop_count(RING, time_limit=value),
    "assess": lambda value: assess(RING, time_limit=value),
}
COUNTS: dict[str, Callable[[Any], object]] = {
    "layers of assess": lambda value: assess(RING, layers=value),
    "layers of growth": lambda value: growth(RING, value),
    "layers of seen": lambda value: seen(RING, 0, value),
    "layers of receptive_field": lambda value: receptive_field(RING, value),
    "layer of repair": lambda value: repair(RING, layer=value),
    "query of first_seen_by": lambda value: first_seen_by(RING, value),
    "query of seen": lambda value: seen(RING, value, 1),
    "key of seers": lambda value: seers(RING, value, 1),
    "n of from_callable": lambda value: from_callable(lambda q, k: q >= k, value),
    "d of prove": lambda value: prove(RING, d=value, delta="1/2"),
    "K of relay": lambda value: build_relay(RING, 1, value),
    "memory_limit": lambda value: check_contextual_mapping(
        lambda grids: grids, AllInputs(1, 1, 2), memory_limit=value
    ),
    "n of AllInputs": lambda value: AllInputs(1, value, 2),
    "root of relay": lambda value: build_relay(RING, 1, 2, root=value),
}


@pytest.mark.parametrize("value", ["false", "", 0, 1, [], "True"])
@pytest.mark.parametrize("name", FLAGS)
def test_a_truth_value_is_true_or_false_and_no_text(name: str, value: object) -> None:
    with pytest.raises(
        PatternError, match=f"{name.split()[0]} must be True or False, got {value!r}".replace("[]", r"\[\]")
    ):
        FLAGS[name](value)


@pytest.mark.parametrize("value", ["Reach", "papre", "", True, 0, ["reach"]])
@pytest.mark.parametrize("name", WORDS)
def test_a_word_that_is_not_known_is_refused(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"must be|unknown construction"):
        WORDS[name](value)


@pytest.mark.parametrize("value", ["10", float("nan"), -1, True])
@pytest.mark.parametrize("name", LIMITS)
def test_a_time_limit_is_a_number_of_seconds(name: str, value: object) -> None:
    with pytest.raises(PatternError, match="the time limit must be at least 0 seconds"):
        LIMITS[name](value)


@pytest.mark.parametrize("value", ["1", 1.0, True, -1, 1.7])
@pytest.mark.parametrize("name", COUNTS)
def test_a_number_of_things_is_an_integer(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"whole number|no token|no pattern|an integer|between 1 and"):
        COUNTS[name](value)


@pytest.mark.parametrize(
    "value", [[0.0, 1.0, 2.0, 3.0], [0.7, 1.0, 2.0, 3.0], "0123", [False, True, 2.0, 3.0], None]
)
@pytest.mark.parametrize("name", ["relabel", "gamma", "order"])
def test_an_order_of_the_tokens_is_made_of_integers(name: str, value: Any) -> None:
    """0.7 was cut to 0, and truth values chose tokens instead of naming them."""
    orders: dict[str, Callable[[Any], object]] = {
        "relabel": RING.relabel,
        "gamma": lambda gamma: build_mapping(RING, 1, 2, gamma="" if gamma is None else gamma),
        "order": lambda order: build_relay(RING, 1, 2, order="" if order is None else order),
    }
    with pytest.raises(ValueError, match=r"must be a whole number|permutation|every token"):
        orders[name](value)
    with pytest.raises(PatternError, match="a token must be a whole number, got bool"):
        ring(2).relabel([False, True])


@pytest.mark.parametrize("value", [None, 5, b"ring:n=4", ["ring:n=4"]])
def test_a_source_is_text(value: Any) -> None:
    for read in (read_source, parse_family):
        with pytest.raises(PatternError, match=f"is text, such as star:n=16,w=1, got {type(value).__name__}"):
            read(value)


@pytest.mark.parametrize("value", [None, "-1e4", True, [], 0, float("nan")])
def test_what_counts_as_masked_is_a_negative_number(value: Any) -> None:
    with pytest.raises(PatternError, match="masked_below must be"):
        from_additive_mask(np.zeros((2, 2)), zero_means="attend", masked_below=value)


def test_numpy_integers_count_as_they_should() -> None:
    """4^(8 x 16) cells are no 0 cells, as NumPy's arithmetic would have them."""
    inputs = choose_inputs(np.int64(8), 16, 4, exhaustive=False, samples=8, seed=0)
    assert inputs.count == 8
    assert not choose_inputs(np.int64(8), 16, 4, exhaustive=False, samples=None, seed=0).description.startswith(
        "all"
    )
    wide, plain = (build_relay(RING, kind(40), kind(4)) for kind in (np.int64, int))
    assert (wide.bound, wide.slots) == (plain.bound, plain.slots)


def test_the_checks_return_what_they_let_pass() -> None:
    assert (index(np.uint8(3), 4), whole("n", np.int16(5)), flag("x", np.True_), seconds(np.float32(2))) == (
        3,
        5,
        1,
        2,
    )
    assert choice("for_", "all", ("all", "causal")) == "all"
    assert wholes("a key", []).dtype == np.int64
    with pytest.raises(PatternError, match=r"key 3 lies outside 0\.\.2"):
        check_tokens("key", np.array([0, 3]), 3)
    with pytest.raises(PatternError, match="no token True: tokens are the integers"):
        index(True, 4)
    assert fixed(9, 3).attends(np.int64(0), np.int64(0))


def test_a_real_number_fits_a_float() -> None:
    assert (real("p", np.float32(2)), real("p", np.int8(3))) == (2.0, 3.0)
    for value, message in (
        (10**400, "beyond every float"),
        ("2", "must be a number"),
        (np.bool_(True), "must be a"),
    ):
        with pytest.raises(PatternError, match=message):
            real("p", value)
