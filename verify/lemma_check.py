"""A numbered statement of the proof as a named check: it runs over a set of inputs and says what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from constructions.numbers import Integers, ProofError
from theory.read_only import ReadOnly
from theory.verdicts import Answer
from theory.wording import name_grid, name_number
from verify.input_set import first_raising, is_exhaustive
from verify.lemma_trace import Trace, mapping_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from theory.patterns import IntArray
    from verify.input_set import Bools, InputSet
    from verify.lemma_trace import Subject

__all__ = ["Lemma", "LemmaCheck", "Witness", "first_bad", "look_through"]


@dataclass(frozen=True, eq=False)
class Witness(ReadOnly):
    """Where a statement fails.

    Parameters
    ----------
    grid
        The input, shape (d, n), in units of delta; None where the statement speaks of no input.
    token
        From 0; None where the statement speaks of no token.
    values
        The numbers that should have been otherwise, in units of delta.
    why
        What is wrong with them.
    """

    grid: IntArray | None
    token: int | None
    values: dict[str, int]
    why: str

    def __str__(self) -> str:
        place = [] if self.token is None else [f"token {self.token}"]
        place += [] if self.grid is None else [f"input {name_grid(self.grid)}"]
        numbers = ", ".join(f"{name} = {name_number(value)}" for name, value in self.values.items())
        return f"{' of '.join(place)}: {self.why}".lstrip(": ") + (f" ({numbers})" if numbers else "")


@dataclass(frozen=True, eq=False)
class LemmaCheck:
    """What the check of one statement found.

    Parameters
    ----------
    name, statement
        Of the lemma.
    answer
        HOLDS on all inputs that were run, FAILS with a witness; a proof for this pattern, d and K if `exhaustive`.
    inputs, exhaustive
        How many inputs were to be run, and whether these are all K^{dn}; 0 where the statement speaks of none.
    witness
        The first place where it fails.
    """

    name: str
    statement: str
    answer: Answer
    inputs: int
    exhaustive: bool
    witness: Witness | None
    why: str


@dataclass(frozen=True)
class Lemma:
    """A statement and how to look for a place where it fails.

    Parameters
    ----------
    name
        Short; the number that the paper gives it where it has one.
    statement
        One line.
    find
        Takes a mapping or network and all inputs, and returns a witness or None; ProofError counts as a failure.
    constructions
        Which contextual mappings it speaks of.
    look
        In place of `find` where chunks of inputs can be looked at one by one: takes the run of one.
    of_network
        Whether it speaks of the whole network.
    of_inputs
        Whether it speaks of inputs at all.
    """

    name: str
    statement: str
    find: Callable[[Subject, InputSet], Witness | None] | None = None
    constructions: tuple[str, ...] = ("paper", "merged", "relay")
    look: Callable[[Trace], Witness | None] | None = None
    of_network: bool = False
    of_inputs: bool = True

    def applies_to(self, subject: Subject) -> bool:
        """Return whether the statement speaks of this mapping or network."""
        mapping = mapping_of(subject)
        return mapping.construction in self.constructions and not (self.of_network and mapping is subject)

    def __call__(self, subject: Subject, inputs: InputSet) -> LemmaCheck:
        """Check the statement.

        Parameters
        ----------
        subject
            A contextual mapping, or a network; statements about the mapping take either.
        inputs
            Grids for the mapping's pattern, d and K.

        Raises
        ------
        ProofError
            If the statement does not speak of `subject`, or the inputs are not for it.
        """
        self.refuse(subject, inputs)
        return self.result(inputs, self.search(subject, inputs))

    def refuse(self, subject: Subject, inputs: InputSet) -> None:
        """Raise ProofError if the statement does not speak of `subject`, or the inputs are not for it."""
        mapping = mapping_of(subject)
        if not self.applies_to(subject):
            kind = "a network" if self.of_network else f"the constructions {', '.join(self.constructions)}"
            raise ProofError(
                f"{self.name} speaks of {kind}, not of {type(subject).__name__} ({mapping.construction})"
            )
        if (inputs.d, inputs.n, inputs.K) != (mapping.d, mapping.pattern.n, mapping.K):
            raise ProofError(
                f"inputs with d = {inputs.d}, n = {inputs.n}, K = {inputs.K} are not for a mapping with"
                f" d = {mapping.d}, n = {mapping.pattern.n}, K = {mapping.K}"
            )

    def search(self, subject: Subject, inputs: InputSet) -> Witness | None:
        """Return a place where the statement fails, or None."""
        if self.look is not None:
            return look_through([self], subject, inputs)[self.name]
        if self.find is None:
            raise ProofError(f"nothing says how to check {self.name}")
        try:
            return self.find(subject, inputs)
        except ProofError as error:
            return Witness(None, None, {}, f"the run breaks off: {error}")

    def result(self, inputs: InputSet, witness: Witness | None) -> LemmaCheck:
        """Put what was found into words."""
        count = inputs.count if self.of_inputs else 0
        why = str(witness) if witness else f"holds on {inputs.description}" if self.of_inputs else "holds"
        answer = Answer.FAILS if witness else Answer.HOLDS
        exhaustive = is_exhaustive(inputs) or not self.of_inputs
        return LemmaCheck(self.name, self.statement, answer, count, exhaustive, witness, why)


def look_through(
    lemmas: Sequence[Lemma], subject: Subject, inputs: InputSet, say: Callable[[str], None] = lambda _name: None
) -> dict[str, Witness | None]:
    """Look at the run of every chunk for all these lemmas at once; where it breaks off, one such input is found.

    Parameters
    ----------
    say
        Called with the name of every lemma before it is looked at.

    Returns
    -------
    dict[str, Witness | None]
        The first witness for every lemma, by name.
    """
    found: dict[str, Witness | None] = dict.fromkeys(lemma.name for lemma in lemmas)
    for grids in inputs.chunks():
        trace = Trace(subject, grids)
        for lemma in lemmas:
            if lemma.look is not None and found[lemma.name] is None:
                say(lemma.name)
                found[lemma.name] = _look(lemma.look, trace)
        if None not in found.values():
            break
    return found


def _look(look: Callable[[Trace], Witness | None], trace: Trace) -> Witness | None:
    try:
        return look(trace)
    except ProofError:
        grid, reason = first_raising(lambda grids: look(Trace(trace.subject, grids)), trace.grids)
        return Witness(grid, None, {}, f"the run breaks off: {reason}")


def first_bad(
    bad: Bools, grids: IntArray, why: str, tokens: Iterable[int] | None = None, **values: Integers | int
) -> Witness | None:
    """Return the first place where `bad` is true as a witness, or None.

    Parameters
    ----------
    bad
        Shape (m, t).
    grids
        Shape (m, d, n).
    tokens
        The token of each of the t columns; 0..t-1 where not given.
    **values
        Arrays of shape (m, t), or numbers, to be shown at that place; an underscore at the end is dropped.
    """
    places = np.argwhere(bad)
    if not places.size:
        return None
    row, column = places[0].tolist()
    shown = {
        name: int(value if isinstance(value, int) else np.broadcast_to(value, bad.shape)[row, column])
        for name, value in values.items()
    }
    return Witness(grids[row].copy(), column if tokens is None else list(tokens)[column], shown, why)
