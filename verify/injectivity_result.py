"""What comparing the ids of a contextual mapping shows: answers, a collision as witness, the smallest gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from theory.read_only import ReadOnly

if TYPE_CHECKING:
    from theory.patterns import IntArray
    from theory.verdicts import Answer

__all__ = ["Collision", "GapResult", "Injectivity"]


@dataclass(frozen=True)
class GapResult:
    """The smallest distance between two ids, in units of delta; None where there are no two.

    Parameters
    ----------
    within
        Between two tokens of one input; after a sweep of `paper` or `merged`, no more than it.
    across
        Between any two ids of all inputs and tokens; with `reach`, ids that have to be equal count once. A sweep
        does not tell.
    """

    within: int | None
    across: int | None


@dataclass(frozen=True, eq=False)
class Collision(ReadOnly):
    """A witness that a mapping is no contextual mapping. Tokens count from 0.

    Parameters
    ----------
    kind
        `within`: two tokens of one input have the same id. `across`: two inputs share an id (with `reach`, this
        may be one input and two tokens). `reach`: two inputs agree on reach(k) and their ids at token k differ.
        `undefined`: the mapping raised ProofError.
    first, second
        Grids of shape (d, n), in units of delta; one twice for `within` and `undefined`.
    tokens
        The token of either; empty for `undefined`.
    ids
        The id of either, in units of delta; empty for `undefined`.
    why
        One sentence.
    """

    kind: Literal["within", "across", "reach", "undefined"]
    first: IntArray
    second: IntArray
    tokens: tuple[int, ...]
    ids: tuple[int, ...]
    why: str


@dataclass(frozen=True, eq=False)
class Injectivity:
    """What comparing all ids showed; every answer speaks of the inputs that were run.

    Parameters
    ----------
    answer
        FAILS with a collision as witness, or HOLDS; a proof of 7.1 and 7.2 only if `exhaustive`.
    distinct_within
        7.1: the ids of one input are distinct. UNDECIDED when the mapping is undefined somewhere.
    distinct_across
        7.2: no two inputs share an id. With `reach`: the id of token k is one-to-one in reach(k), and no other
        token has it on any input. UNDECIDED when the mapping is undefined somewhere, or depends on more than
        reach(k) and no two ids were found equal.
    depends_on_reach_only
        None without `reach`. On a sample, a token's columns outside reach(k) were set to 0 and the ids compared.
    inputs, exhaustive
        How many inputs, and whether these are all K^{dn}.
    method
        How the ids were compared: sorted in memory, in several passes by range, or streamed (`verify.exhaustive`).
    collisions
        One of every kind that was found.
    gap
        How close two ids come.
    max_id_bits
        Bits of the largest id.
    digest
        Of all ids, as hexadecimal digits, where they were streamed.
    """

    answer: Answer
    distinct_within: Answer
    distinct_across: Answer
    depends_on_reach_only: Answer | None
    inputs: int
    exhaustive: bool
    method: str
    collisions: tuple[Collision, ...]
    gap: GapResult
    max_id_bits: int
    why: str
    digest: str | None = None

    @property
    def collision(self) -> Collision | None:
        """The first witness, None if all answers are HOLDS."""
        return self.collisions[0] if self.collisions else None
