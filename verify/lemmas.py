"""All statements of the construction by name: `LEMMAS`, and `check_lemmas`, which runs those that apply."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constructions.dependence import reach_matrix
from constructions.numbers import ProofError
from verify.contextual_mapping import check_contextual_mapping
from verify.lemma_all_max import EQUATION_12, EQUATION_13, INTERVALS, LEADER, RESIDUES
from verify.lemma_check import Lemma, LemmaCheck, Witness, look_through
from verify.lemma_network import LEMMA_3, LEMMA_6, LEMMA_8
from verify.lemma_relay import DISJOINT_SLOTS, IN_SLOT
from verify.lemma_shifts import EQUATION_8, EQUATION_9, EQUATION_10, ONE_TO_ONE, RECURRENCE
from verify.lemma_trace import mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from verify.contextual_mapping import Injectivity
    from verify.input_set import InputSet
    from verify.lemma_trace import Subject

__all__ = ["LEMMAS", "Lemma", "LemmaCheck", "Witness", "check_ids", "check_lemmas"]


def check_ids(subject: Subject, inputs: InputSet) -> Injectivity:
    """Compare all ids of a mapping: for `relay` with reach(k), for `paper` and `merged` with everything."""
    mapping = mapping_of(subject)
    reach = reach_matrix(mapping.pattern) if mapping.construction == "relay" else None
    return check_contextual_mapping(mapping, inputs, reach=reach)


def _witness(found: Injectivity, kinds: Iterable[str]) -> Witness | None:
    """Return the first collision of these kinds, or that the mapping is undefined somewhere."""
    for collision in found.collisions:
        if collision.kind in (*kinds, "undefined"):
            numbers = {"id": collision.ids[0]} if collision.ids else {}
            return Witness(collision.first, None, numbers, collision.why)
    return None


KINDS = {"7.1": ("within",), "7.2": ("across", "reach"), "reach": ("reach",)}


def _by_ids(name: str) -> Callable[[Subject, InputSet], Witness | None]:
    return lambda subject, inputs: _witness(check_ids(subject, inputs), KINDS[name])


DISTINCT_WITHIN = Lemma("7.1", "the ids of one input are distinct", find=_by_ids("7.1"))
"""The first property of a contextual mapping."""

DISTINCT_ACROSS = Lemma(
    "7.2",
    "different inputs share no id; for relay, inputs that differ in reach(k) share no q_k, two tokens no value",
    find=_by_ids("7.2"),
)
"""The second property of a contextual mapping."""

DEPENDS_ON_REACH = Lemma(
    "reach", "q_k depends on the columns in reach(k) only", find=_by_ids("reach"), constructions=("relay",)
)
"""The easy half of the reach theorem, for the network that there is."""

LEMMAS: dict[str, Lemma] = {
    lemma.name: lemma
    for lemma in (
        LEMMA_6,
        EQUATION_8,
        RECURRENCE,
        EQUATION_9,
        EQUATION_10,
        ONE_TO_ONE,
        EQUATION_12,
        EQUATION_13,
        LEADER,
        INTERVALS,
        RESIDUES,
        DISJOINT_SLOTS,
        IN_SLOT,
        DEPENDS_ON_REACH,
        DISTINCT_WITHIN,
        DISTINCT_ACROSS,
        LEMMA_8,
        LEMMA_3,
    )
}
"""Every statement by name, in the order of the proof."""


def check_lemmas(
    subject: Subject,
    inputs: InputSet,
    names: Iterable[str] | None = None,
    *,
    found: Injectivity | None = None,
    compared: InputSet | None = None,
    say: Callable[[str], None] = lambda _name: None,
) -> list[LemmaCheck]:
    """Check all statements that speak of a mapping or network, in the order of the proof.

    Parameters
    ----------
    subject
        A contextual mapping, or a network; Lemmas 8 and 3 need a network.
    inputs
        Grids for the mapping's pattern, d and K.
    names
        Only these, of the keys of `LEMMAS`.
    found
        What `check_ids` or a sweep showed for the same mapping, if it is known already.
    compared
        The inputs that `found` speaks of, where it is not `inputs`: the answers of 7.1, 7.2 and reach then do too.
    say
        Called with the name of every statement before it is checked.

    Raises
    ------
    ProofError
        If a name is unknown or its statement does not apply, or the inputs are not for the mapping.

    Examples
    --------
    >>> from constructions.contextual_mapping import build_mapping
    >>> from theory.patterns import SparsityPattern
    >>> from verify.inputs import AllInputs
    >>> dense = SparsityPattern.from_lists([[0, 1], [0, 1]])
    >>> mapping = build_mapping(dense, 1, 2, gamma=[0, 1], s=1, c=2)
    >>> for check in check_lemmas(mapping, AllInputs(1, 2, 2)):
    ...     print(check.name, check.answer.value)
    Lemma 6 holds
    eq. 8 holds
    recurrence holds
    eq. 9 holds
    eq. 10 holds
    one-to-one holds
    eq. 12 fails
    eq. 13 holds
    leader seen holds
    intervals fails
    residues fails
    7.1 holds
    7.2 fails
    """
    chosen = [lemma for lemma in LEMMAS.values() if lemma.applies_to(subject)] if names is None else []
    for name in names or ():
        if name not in LEMMAS:
            raise ProofError(f"no statement is called {name!r}: choose from {', '.join(LEMMAS)}")
        chosen.append(LEMMAS[name])
    for lemma in chosen:
        lemma.refuse(subject, inputs)
    witnesses = look_through([lemma for lemma in chosen if lemma.look], subject, inputs, say)
    for lemma in chosen:
        if lemma.name in KINDS:
            found = check_ids(subject, inputs) if found is None else found
            witnesses[lemma.name] = _witness(found, KINDS[lemma.name])
        elif lemma.find is not None:
            say(lemma.name)
            witnesses[lemma.name] = lemma.search(subject, inputs)
    by_ids = inputs if compared is None else compared
    return [lemma.result(by_ids if lemma.name in KINDS else inputs, witnesses[lemma.name]) for lemma in chosen]
