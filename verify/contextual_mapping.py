"""Is a mapping from grids to ids a contextual mapping (Lemma 7)? For any mapping, by comparing all ids.

7.1: the ids of one input are distinct. 7.2: different inputs share no id. With `reach`, what the reach theorem
asks instead: the id of token k depends on the columns in reach(k) only, is one-to-one in them, and is no other
token's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from constructions.numbers import Integers, ProofError
from theory.checks import whole
from theory.verdicts import Answer
from theory.wording import name_grid, name_number
from verify.injectivity import Comparison, as_integers, compare_all, smallest_step
from verify.injectivity_result import Collision, GapResult, Injectivity
from verify.input_set import first_raising, is_exhaustive

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

    from constructions.mapping import ContextualMapping
    from theory.patterns import IntArray
    from verify.input_set import Bools, InputSet

    Function = Callable[[IntArray], npt.ArrayLike]

__all__ = ["Collision", "GapResult", "Injectivity", "check_contextual_mapping"]


def check_contextual_mapping(
    mapping: ContextualMapping | Function,
    inputs: InputSet,
    *,
    reach: Bools | None = None,
    memory_limit: int = 2**30,
) -> Injectivity:
    """Compare the ids of all inputs and tokens.

    Parameters
    ----------
    mapping
        Anything that maps grids (m, d, n) to ids (m, n), int64 or Python integers, input by input; an object with
        a method `ids` will do.
    inputs
        `AllInputs` for a proof, or a sample.
    reach
        ``reach[k, j]``: token j reaches token k. Where not given, every token has to know everything.
    memory_limit
        Bytes for the ids; beyond it the mapping is run once more for every part that fits.

    Raises
    ------
    ProofError
        If `reach` has the wrong shape, or the mapping returns anything but integers of shape (m, n).

    Examples
    --------
    >>> from verify.inputs import AllInputs
    >>> check_contextual_mapping(lambda grids: 4 * grids[:, 0] + [0, 2], AllInputs(d=1, n=2, K=2)).why
    'inputs [[0, 0]] and [[0, 1]] share the id 0, at tokens 0 and 0'
    """
    whole("memory_limit", memory_limit, 1)
    run = _Run(mapping if callable(mapping) else mapping.ids, inputs, reach)
    try:
        comparison = compare_all(run.scan, memory_limit)
        return run.result(comparison, run.find(comparison.repeated))
    except _Undefined as error:
        return run.undefined(error)


class _Undefined(Exception):
    """The mapping raised ProofError on a grid."""

    def __init__(self, grid: IntArray, reason: str) -> None:
        super().__init__(reason)
        self.grid = grid


class _Run:
    """One check: runs the mapping over the inputs, as often as needed, and remembers what the first run showed."""

    def __init__(self, function: Function, inputs: InputSet, reach: Bools | None) -> None:
        self.function, self.inputs = function, inputs
        self.reach = None if reach is None else np.asarray(reach)
        if self.reach is not None and (self.reach.dtype != bool or self.reach.shape != (inputs.n, inputs.n)):
            raise ProofError(
                f"reach must be a boolean matrix of {inputs.n} x {inputs.n}, got {self.reach.dtype} of shape"
                f" {self.reach.shape}"
            )
        self.scanned = False
        self.within: Collision | None = None
        self.beyond: Collision | None = None
        self.gap_within: int | None = None
        self.largest = 0

    def scan(self) -> Iterator[Integers]:
        """Iterate the ids that have to be pairwise distinct; the first time, look for all else on the way."""
        for grids, ids, kept in self.chunks():
            if not self.scanned:
                self.look_within(grids, ids)
                if self.reach is not None and self.beyond is None:
                    self.look_beyond(grids, ids)
            yield ids[kept]
        self.scanned = True

    def chunks(self) -> Iterator[tuple[IntArray, Integers, Bools]]:
        """Iterate grids, ids, and which ids are compared across inputs.

        Without `reach` one of every id of an input: 7.2 speaks of different inputs. With it the id of the first
        input of all that agree on reach(k): the others' are the same, or else they depend on more.
        """
        start = 0
        for grids in self.inputs.chunks():
            grids.setflags(write=False)
            ids = self.run(grids)
            if self.reach is None or self.reach.all():
                kept = ~_repeated_in_row(ids)
            else:
                kept = self.inputs.first_on(self.reach, start, grids)
            yield grids, ids, kept
            start += len(grids)

    def run(self, grids: IntArray) -> Integers:
        """Run the mapping; where it raises ProofError, find one grid that makes it."""
        try:
            given = self.function(grids)
        except ProofError:
            raise _Undefined(*first_raising(self.function, grids)) from None
        return as_integers(given, (len(grids), self.inputs.n))

    def look_within(self, grids: IntArray, ids: Integers) -> None:
        """Compare the ids of every input (7.1)."""
        self.largest = max(self.largest, abs(int(ids.max())), abs(int(ids.min())))
        if self.inputs.n == 1:
            return
        step = smallest_step(np.sort(ids, axis=1))
        self.gap_within = step if self.gap_within is None else min(self.gap_within, step)
        if step == 0 and self.within is None:
            row, second = np.argwhere(_repeated_in_row(ids))[0].tolist()
            identifier = ids[row, second]
            first = int(np.flatnonzero(ids[row] == identifier)[0])
            grid = grids[row].copy()
            shared = name_number(int(identifier))
            why = f"tokens {first} and {second} of input {name_grid(grid)} have the same id {shared}"
            self.within = Collision("within", grid, grid, (first, second), (int(identifier),) * 2, why)

    def look_beyond(self, grids: IntArray, ids: Integers) -> None:
        """Set the columns outside reach(k) to 0: the id of token k must not change."""
        reach = np.asarray(self.reach)
        for row in np.unique(reach[~reach.all(axis=1)], axis=0):
            tokens = np.flatnonzero((reach == row).all(axis=1))
            others = np.where(row, grids, 0)
            moved = self.run(others)
            changed = np.argwhere(ids[:, tokens] != moved[:, tokens])
            if changed.size:
                number, token = int(changed[0, 0]), int(tokens[changed[0, 1]])
                pair = int(ids[number, token]), int(moved[number, token])
                first, second = grids[number].copy(), others[number]
                why = (
                    f"inputs {name_grid(first)} and {name_grid(second)} agree on the tokens that reach token"
                    f" {token}, its ids are {name_number(pair[0])} and {name_number(pair[1])}"
                )
                self.beyond = Collision("reach", first, second, (token, token), pair, why)
                return

    def find(self, identifier: int | None) -> Collision | None:
        """Return two inputs, or with `reach` two tokens of any inputs, that share an id."""
        if identifier is None:
            return None
        places: list[tuple[IntArray, int]] = []
        for grids, ids, kept in self.chunks():
            for number, token in np.argwhere(kept & (ids == identifier))[: 2 - len(places)].tolist():
                places.append((grids[number].copy(), token))
            if len(places) == 2:
                (first, one), (second, other) = places
                why = (
                    f"inputs {name_grid(first)} and {name_grid(second)} share the id {name_number(identifier)},"
                    f" at tokens {one} and {other}"
                )
                return Collision("across", first, second, (one, other), (identifier,) * 2, why)
        shown = name_number(identifier)
        raise ProofError(f"the id {shown} did not come again: the mapping changes from run to run")

    def result(self, comparison: Comparison, across: Collision | None) -> Injectivity:
        """Put the answers together."""
        depends = None if self.reach is None else _unless(self.beyond)
        unseen = Answer.UNDECIDED if self.beyond and not across else _unless(across)
        collisions = tuple(filter(None, (self.beyond, self.within, across)))
        why = f"{comparison.numbers} ids of {self.inputs.description} are distinct"
        if self.reach is not None:
            why += ", each a function of the columns that reach its token"
        return Injectivity(
            answer=Answer.FAILS if collisions else Answer.HOLDS,
            distinct_within=_unless(self.within),
            distinct_across=unseen,
            depends_on_reach_only=depends,
            inputs=self.inputs.count,
            exhaustive=is_exhaustive(self.inputs),
            method=comparison.method,
            collisions=collisions,
            gap=GapResult(self.gap_within, 0 if self.within else comparison.gap),
            max_id_bits=self.largest.bit_length(),
            why=collisions[0].why if collisions else why,
        )

    def undefined(self, error: _Undefined) -> Injectivity:
        """Return the result for a mapping that raised ProofError."""
        why = f"the mapping is undefined on input {name_grid(error.grid)}: {error}"
        broken = Collision("undefined", error.grid, error.grid, (), (), why)
        return Injectivity(
            answer=Answer.FAILS,
            distinct_within=_unless(self.within, Answer.UNDECIDED),
            distinct_across=Answer.UNDECIDED,
            depends_on_reach_only=None if self.reach is None else _unless(self.beyond, Answer.UNDECIDED),
            inputs=self.inputs.count,
            exhaustive=is_exhaustive(self.inputs),
            method="stopped where the mapping is undefined",
            collisions=tuple(filter(None, (broken, self.beyond, self.within))),
            gap=GapResult(None, None),
            max_id_bits=self.largest.bit_length(),
            why=why,
        )


def _unless(collision: Collision | None, otherwise: Answer = Answer.HOLDS) -> Answer:
    return otherwise if collision is None else Answer.FAILS


def _repeated_in_row(ids: Integers) -> Bools:
    """Return for every id whether the row has it further left."""
    repeated = np.zeros(ids.shape, dtype=bool)
    ranked = np.sort(ids, axis=1)
    if not np.any(ranked[:, 1:] == ranked[:, :-1]):
        return repeated
    order = np.argsort(ids, axis=1, kind="stable")
    ranked = np.take_along_axis(ids, order, axis=1)
    np.put_along_axis(repeated, order[:, 1:], np.asarray(ranked[:, 1:] == ranked[:, :-1], dtype=bool), axis=1)
    return repeated
