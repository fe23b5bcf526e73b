"""What each theorem says of one pattern, and why.

"Silent" is not "not universal": a pattern that fails an assumption is only outside that theorem. What refutes
universality is dependence: a closed set of tokens that never sees the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from theory.graph import Reach
from theory.patterns import PatternError
from theory.verdicts import Answer
from theory.wording import name_tokens

if TYPE_CHECKING:
    from theory.graph import ClosedSet
    from theory.hamiltonian import HamiltonianPath
    from theory.hops import HopCount
    from theory.patterns import IntArray, SparsityPattern

__all__ = [
    "FunctionClass",
    "Says",
    "Star",
    "Statement",
    "bigbird_theorem",
    "connectivity_corollary",
    "designer_sentence",
    "find_star",
    "reach_theorem",
    "universal_within",
    "yun_theorem",
]


class FunctionClass(Enum):
    """The continuous functions asked for: all of them, or those whose output k depends on columns 0..k only."""

    ALL = "all"
    CAUSAL = "causal"

    @classmethod
    def of(cls, named: FunctionClass | str) -> FunctionClass:
        """Return a function class, given itself or by its name.

        Raises
        ------
        PatternError
            If it is anything else.

        Examples
        --------
        >>> FunctionClass.of("causal")
        <FunctionClass.CAUSAL: 'causal'>
        """
        if isinstance(named, (cls, str)) and named in {*cls, *(item.value for item in cls)}:
            return cls(named)
        choices = " or ".join(repr(item.value) for item in cls)
        raise PatternError(f"for_ must be {choices}, got {named!r}")

    @property
    def functions(self) -> str:
        """The class in words, as every sentence names it.

        Examples
        --------
        >>> FunctionClass.CAUSAL.functions
        'all causal continuous functions'
        """
        return f"all {'causal ' if self is FunctionClass.CAUSAL else ''}continuous functions"


class Says(Enum):
    """What a theorem says of a pattern."""

    UNIVERSAL = "universal"
    NOT_UNIVERSAL = "not universal"
    SILENT = "silent"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Statement:
    """One theorem's word on one pattern.

    Parameters
    ----------
    theorem
        Short name, the key in JSON.
    source
        Where the theorem is stated.
    says
        Its answer.
    functions
        The functions that the answer is about.
    why
        One sentence.
    universal_for
        Where the theorem says for exactly which functions the pattern is universal: those, otherwise None.
    """

    theorem: str
    source: str
    says: Says
    functions: str
    why: str
    universal_for: str | None = None


@dataclass(frozen=True)
class Star:
    """A hub joined to and from every other token, and whether the leaves attend to themselves (BigBird)."""

    hub: int
    layer: int
    leaves_self_attend: bool


def find_star(pattern: SparsityPattern, violations: IntArray) -> Star | None:
    """Return the star subgraph of BigBird's theorem inside one of the p patterns, or None.

    Parameters
    ----------
    violations
        The (pattern, token) pairs that fail Assumption 1.1.
    """
    best: Star | None = None
    for number, layer in enumerate(pattern.layers):
        if not layer.hubs.size:
            continue
        failing = violations[violations[:, 0] == number, 1]
        fitting = layer.hubs if not failing.size else np.intersect1d(layer.hubs, failing)
        if fitting.size and failing.size <= 1:
            return Star(int(fitting[0]), number, leaves_self_attend=True)
        best = best or Star(int(layer.hubs[0]), number, leaves_self_attend=False)
    return best


def yun_theorem(violations: IntArray, path: HamiltonianPath, hops: HopCount) -> Statement:
    """State Theorem 1 of the paper: Assumptions 1.1, 1.2 and 1.3 make the pattern universal."""
    failing = [
        name
        for name, answer in (
            ("1.1", Answer.FAILS if violations.size else Answer.HOLDS),
            ("1.2", path.answer),
            ("1.3", hops.answer),
        )
        if answer is Answer.FAILS
    ]
    open_ones = [
        name for name, answer in (("1.2", path.answer), ("1.3", hops.answer)) if answer is Answer.UNDECIDED
    ]
    if failing:
        says, why = Says.SILENT, f"{_assumptions(failing)} fail{'s' if len(failing) == 1 else ''}"
    elif open_ones:
        says, why = Says.UNDECIDED, f"{_assumptions(open_ones)}: undecided within the time limit"
    else:
        s = f"s = {hops.s}" if hops.s is not None else f"s between {hops.lower} and {hops.upper}"
        says, why = Says.UNIVERSAL, f"Assumptions 1.1, 1.2 and 1.3 hold with {s}"
    return Statement("yun_2020_theorem_1", "Yun et al. 2020, Theorem 1", says, "all continuous functions", why)


def _assumptions(names: list[str]) -> str:
    """Name one or more assumptions."""
    if len(names) == 1:
        return f"Assumption {names[0]}"
    return f"Assumptions {', '.join(names[:-1])} and {names[-1]}"


def bigbird_theorem(star: Star | None) -> Statement:
    """State BigBird's Theorem 1: a star subgraph suffices, its hub being an extra token without input."""
    functions = "all continuous functions of the tokens other than the hub"
    source = "Zaheer et al. 2020, Theorem 1"
    if star is None:
        why = "no token is joined to and from every other token within one pattern"
        return Statement("bigbird_2020_theorem_1", source, Says.SILENT, functions, why)
    if not star.leaves_self_attend:
        why = f"token {star.hub} is a hub, but some other token does not attend to itself"
        return Statement("bigbird_2020_theorem_1", source, Says.SILENT, functions, why)
    why = f"token {star.hub} is joined to and from every other token (the theorem treats it as an extra token)"
    return Statement("bigbird_2020_theorem_1", source, Says.UNIVERSAL, functions, why)


def connectivity_corollary(violations: IntArray, reach: Reach) -> Statement:
    """State Corollary 2 of Cheng, Lin, Shen and Li: self-attention and connectivity suffice (softmax, d >= 2)."""
    source = "Cheng et al. 2025 (arXiv 2506.23551), Corollary 2"
    functions = "all continuous functions, softmax and d >= 2, without a construction"
    if violations.size:
        says, why = Says.SILENT, "some token does not attend to itself"
    elif reach is not Reach.ALL:
        says, why = Says.SILENT, "the union digraph is not strongly connected"
    else:
        says, why = Says.UNIVERSAL, "every token attends to itself and the union digraph is strongly connected"
    return Statement("cheng_2025_corollary_2", source, says, functions, why)


def reach_theorem(
    violations: IntArray,
    reach: Reach,
    cut: ClosedSet | None,
    causal_cut: ClosedSet | None,
    for_: FunctionClass,
) -> Statement:
    """State the reach theorem (paper_notes, "Beyond the paper") for the class of functions asked for.

    A pattern with 1.1 is universal for exactly the functions whose k-th output depends on reach(k) only
    (`universal_within`). The half that refutes needs no 1.1: no network lets output k depend on a token outside
    reach(k).

    Examples
    --------
    >>> from theory.families import causal
    >>> from theory.graph import closed_set, strong_components
    >>> union = causal(4).union
    >>> cut = closed_set(union, strong_components(union))
    >>> said = reach_theorem(np.empty((0, 2), dtype=np.int64), Reach.CAUSAL, cut, None, FunctionClass.ALL)
    >>> said.says.value, said.functions
    ('not universal', 'all continuous functions')
    >>> said.universal_for
    'all causal continuous functions'
    """
    blocking = cut if for_ is FunctionClass.ALL else causal_cut
    if blocking is not None:
        says, why = Says.NOT_UNIVERSAL, f"output {blocking.query} can never depend on token {blocking.key}"
    elif violations.size:
        layer, token = violations[0].tolist()
        says = Says.SILENT
        why = f"token {token} does not attend to itself in pattern {layer}, and every token would have to"
    elif for_ is FunctionClass.ALL:
        says, why = Says.UNIVERSAL, "every token attends to itself and reaches every other token"
    else:
        says, why = Says.UNIVERSAL, "every token attends to itself and reach(k) contains 0..k for every k"
    source = "the reach theorem (paper_notes, Beyond the paper)"
    exactly = None if violations.size else universal_within(reach)
    return Statement("reach_theorem", source, says, for_.functions, why, exactly)


def universal_within(reach: Reach) -> str:
    """Name the functions for which a pattern of this reach is universal, given 1.1: all that dependence allows.

    Examples
    --------
    >>> universal_within(Reach.WITHIN_CAUSAL)
    'the causal continuous functions whose output k depends on reach(k) only'
    """
    return {
        Reach.ALL: FunctionClass.ALL.functions,
        Reach.CAUSAL: FunctionClass.CAUSAL.functions,
        Reach.WITHIN_CAUSAL: "the causal continuous functions whose output k depends on reach(k) only",
        Reach.OTHER: "the continuous functions whose output k depends on reach(k) only",
    }[reach]


def designer_sentence(cut: ClosedSet, n: int) -> str:
    """Say in one sentence which connection is missing.

    Examples
    --------
    >>> from theory.graph import ClosedSet
    >>> designer_sentence(ClosedSet(np.arange(20), 0, 22, True), 23)
    'tokens 20..22 are never seen from outside: no connection leaves the last segment'
    """
    hidden = np.setdiff1d(np.arange(n), cut.tokens, assume_unique=True)
    named = hidden if cut.unseen else cut.tokens
    names, plural = name_tokens(named), named.size > 1
    contiguous = int(named[-1] - named[0]) == named.size - 1
    where = "this set"
    if contiguous and plural and int(named[-1]) == n - 1:
        where = "the last segment"
    elif contiguous and plural and int(named[0]) == 0:
        where = "the first segment"
    elif not plural:
        where = f"token {named[0]}"
    if cut.unseen:
        return f"{names} {'are' if plural else 'is'} never seen from outside: no connection leaves {where}"
    own = "themselves" if plural else "itself"
    return f"{names} {'see' if plural else 'sees'} nothing but {own}: no connection enters {where}"
