"""Why a digraph has no Hamiltonian path: each kind carries what a reader needs to check it by hand.

Edges run key -> query; self-loops never count. Several kinds may carry a `rank` of the tokens, 0..m-1 with
every value used, that no edge j -> k lowers: rank[j] <= rank[k]. A Hamiltonian path then never returns to an
earlier rank and cannot skip one, so it uses only edges that keep the rank or raise it by one: the *usable*
edges. Without a rank every edge is usable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from theory.read_only import ReadOnly
from theory.wording import name_tokens

if TYPE_CHECKING:
    from theory.patterns import IntArray

__all__ = [
    "End",
    "Exhausted",
    "Incomparable",
    "Refutation",
    "SolverWord",
    "ThreeEnds",
    "TooFewPredecessors",
    "TooFewSuccessors",
    "TooManyParts",
]


def _ranks(rank: IntArray | None) -> list[int] | None:
    return None if rank is None else rank.tolist()


@dataclass(frozen=True, eq=False)
class Refutation(ReadOnly):
    """Evidence that there is no Hamiltonian path."""

    kind: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """Return the evidence as plain numbers, tokens from 0."""
        raise NotImplementedError

    @property
    def sentence(self) -> str:
        """The argument in one sentence, tokens from 0."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Incomparable(Refutation):
    """Two tokens of which neither reaches the other.

    By hand: for every k in `closed_a`, all keys of k lie in `closed_a`; so no edge enters it, and b, which is
    outside, does not reach a, which is inside. Likewise a does not reach b. But one of them comes first on a
    Hamiltonian path and reaches the other along it.
    """

    kind: ClassVar[str] = "incomparable"
    a: int
    b: int
    closed_a: IntArray
    closed_b: IntArray

    def to_json(self) -> dict[str, Any]:
        """Return kind, a, b, closed_a, closed_b."""
        return {
            "kind": self.kind,
            "a": self.a,
            "b": self.b,
            "closed_a": self.closed_a.tolist(),
            "closed_b": self.closed_b.tolist(),
        }

    @property
    def sentence(self) -> str:
        """The argument in one sentence."""
        return (
            f"neither of tokens {self.a} and {self.b} reaches the other, "
            "but the one that comes first on a Hamiltonian path would"
        )


@dataclass(frozen=True, eq=False)
class TooFewSuccessors(Refutation):
    """A set X of tokens with at most |X| - 2 successors, N(X).

    By hand: list the tokens that members of X have a usable edge to; that is `successors`. On a Hamiltonian path
    every member of X but at most one (the last token of the path) is followed by a token of N(X), all different:
    |N(X)| >= |X| - 1.
    """

    kind: ClassVar[str] = "too_few_successors"
    tokens: IntArray
    successors: IntArray
    rank: IntArray | None = None

    def to_json(self) -> dict[str, Any]:
        """Return kind, set, successors, rank."""
        return {
            "kind": self.kind,
            "set": self.tokens.tolist(),
            "successors": self.successors.tolist(),
            "rank": _ranks(self.rank),
        }

    @property
    def sentence(self) -> str:
        """The argument in one sentence."""
        return _shortage(self.tokens, self.successors, "followed")


@dataclass(frozen=True, eq=False)
class TooFewPredecessors(Refutation):
    """A set X of tokens with at most |X| - 2 predecessors: `TooFewSuccessors` with every edge reversed.

    By hand: list the tokens with a usable edge into X. On a Hamiltonian path every member of X but at most one
    (the first token of the path) follows a token of that list, all different.
    """

    kind: ClassVar[str] = "too_few_predecessors"
    tokens: IntArray
    predecessors: IntArray
    rank: IntArray | None = None

    def to_json(self) -> dict[str, Any]:
        """Return kind, set, predecessors, rank."""
        return {
            "kind": self.kind,
            "set": self.tokens.tolist(),
            "predecessors": self.predecessors.tolist(),
            "rank": _ranks(self.rank),
        }

    @property
    def sentence(self) -> str:
        """The argument in one sentence."""
        return _shortage(self.tokens, self.predecessors, "preceded")


def _shortage(tokens: IntArray, others: IntArray, verb: str) -> str:
    """Say that `tokens` can only be followed (or preceded) by `others`, too few of them."""
    whom = name_tokens(others) if others.size else "no token"
    return (
        f"{name_tokens(tokens)} can only be {verb} by {whom}: {others.size} for {tokens.size} tokens, "
        f"where a Hamiltonian path needs {tokens.size - 1}"
    )


@dataclass(frozen=True, eq=False)
class TooManyParts(Refutation):
    """A cut S whose removal leaves more than |S| + 1 parts.

    By hand: check that no usable edge joins two tokens with different labels, -1 (the cut) aside, so that the
    labels 0..parts-1, all used, are parts not joined to each other. Removing the |S| tokens of the cut leaves at
    most |S| + 1 pieces of a Hamiltonian path, each piece inside one part.
    """

    kind: ClassVar[str] = "too_many_parts"
    cut: IntArray
    parts: IntArray
    rank: IntArray | None = None

    def to_json(self) -> dict[str, Any]:
        """Return kind, cut, parts, rank."""
        return {
            "kind": self.kind,
            "cut": self.cut.tolist(),
            "parts": self.parts.tolist(),
            "rank": _ranks(self.rank),
        }

    @property
    def sentence(self) -> str:
        """The argument in one sentence."""
        return (
            f"removing {name_tokens(self.cut)} leaves {int(self.parts.max()) + 1} parts not joined to each other, "
            f"and a Hamiltonian path would leave at most {self.cut.size + 1} pieces"
        )


@dataclass(frozen=True, eq=False)
class End(ReadOnly):
    """A set of tokens joined to the rest by one token, its door (outside the set); None if by none."""

    tokens: IntArray
    door: int | None


@dataclass(frozen=True, eq=False)
class ThreeEnds(Refutation):
    """Three disjoint sets of tokens, each joined to the rest by at most one token.

    By hand: for each of the sets, every usable edge between a member and a token outside has the door at its outer
    end. A path with no end inside a set would enter it from the door and leave it to the door, visiting the door
    twice. So every one of three disjoint sets holds an end of the path, which has two.
    """

    kind: ClassVar[str] = "three_ends"
    ends: tuple[End, End, End]
    rank: IntArray | None = None

    def to_json(self) -> dict[str, Any]:
        """Return kind, ends (set and door of each), rank."""
        ends = [{"set": end.tokens.tolist(), "door": end.door} for end in self.ends]
        return {"kind": self.kind, "ends": ends, "rank": _ranks(self.rank)}

    @property
    def sentence(self) -> str:
        """The argument in one sentence."""
        sets = ", ".join(f"{{{name_tokens(end.tokens)}}} by token {end.door}" for end in self.ends)
        return f"three sets are each joined to the rest by one token only ({sets}), and a path has but two ends"


@dataclass(frozen=True, eq=False)
class Exhausted(Refutation):
    """Every set of tokens was tried (n <= 16).

    By hand: for each set of tokens and each member, decide whether some path visits exactly that set and ends at
    that member, from the answers for the sets with one token less (Held and Karp 1962). No token ends a path
    through all n.
    """

    kind: ClassVar[str] = "exhausted"

    def to_json(self) -> dict[str, Any]:
        """Return kind."""
        return {"kind": self.kind}

    @property
    def sentence(self) -> str:
        """The argument in one sentence."""
        return "no order of the tokens is a path: every set of tokens was tried"


@dataclass(frozen=True, eq=False)
class SolverWord(Refutation):
    """A SAT solver answered "infeasible". This is its word, not a proof that a reader can follow."""

    kind: ClassVar[str] = "solver"
    solver: str = "cadical153"

    def to_json(self) -> dict[str, Any]:
        """Return kind, solver, and that nothing is proved."""
        return {"kind": self.kind, "solver": self.solver, "proved": False}

    @property
    def sentence(self) -> str:
        """The argument in one sentence."""
        return f"the SAT solver {self.solver} found the path infeasible: its word, not a proof to follow"
