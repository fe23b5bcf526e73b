"""The verdict on a pattern: every assumption, every theorem, and the answer for the functions asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from theory.graph import (
    ClosedSet,
    Components,
    Reach,
    classify_reach,
    closed_set,
    self_attention_violations,
    strong_components,
    unseen_predecessor,
)
from theory.hamiltonian import HamiltonianPath, hamiltonian_path
from theory.hops import HopCount, hop_count
from theory.notebook import shown
from theory.read_only import ReadOnly
from theory.theorems import (
    FunctionClass,
    Says,
    Star,
    Statement,
    bigbird_theorem,
    connectivity_corollary,
    designer_sentence,
    find_star,
    reach_theorem,
    yun_theorem,
)
from theory.verdicts import Answer
from verify.depth import WithinLayers, within_layers

if TYPE_CHECKING:
    from collections.abc import Callable

    from theory.patterns import IntArray, SparsityPattern

__all__ = ["PatternVerdict", "assess"]


@dataclass(frozen=True, eq=False)
class PatternVerdict(ReadOnly):
    """Everything found out about one pattern, with witnesses.

    Parameters
    ----------
    violations
        The (pattern, token) pairs that fail Assumption 1.1.
    path
        Assumption 1.2.
    hops
        Assumption 1.3, by the paper's recursion (eq. 3).
    components
        Strong components of the union digraph, in topological order.
    cut
        A proper closed set when the union digraph is not strongly connected.
    causal_cut
        A closed set with k inside and k - 1 outside, when some reach(k) does not contain 0..k.
    universal
        The answer for the class `for_`, whatever the depth.
    within
        What a model of the given number of attention layers can see; None if no number was given.
    """

    pattern: SparsityPattern
    for_: FunctionClass
    violations: IntArray
    path: HamiltonianPath
    hops: HopCount
    components: Components
    reach: Reach
    cut: ClosedSet | None
    causal_cut: ClosedSet | None
    star: Star | None
    statements: tuple[Statement, ...]
    universal: Answer
    within: WithinLayers | None

    @property
    def strongly_connected(self) -> bool:
        """Whether every token reaches every token in the union digraph."""
        return self.components.count == 1

    @property
    def universal_causal(self) -> Answer:
        """The answer for all causal functions, whatever was asked for."""
        if self.causal_cut is not None:
            return Answer.FAILS
        return Answer.UNDECIDED if self.violations.size else Answer.HOLDS

    @property
    def answer(self) -> Answer:
        """The answer to the question asked: universal, and all that is needed seen within the layers given."""
        if self.within is None or self.universal is Answer.FAILS:
            return self.universal
        return self.universal if self.within.answer is Answer.HOLDS else self.within.answer

    @property
    def advice(self) -> str:
        """The one sentence that a designer needs; empty when the answer is yes."""
        if self.universal is Answer.FAILS:
            cut = self.cut if self.for_ is FunctionClass.ALL else self.causal_cut
            if cut is None:
                return ""
            if self.for_ is FunctionClass.CAUSAL:
                return f"token {cut.query} never sees token {cut.key}, which comes before it: no path leads there"
            return designer_sentence(cut, self.pattern.n)
        if self.universal is Answer.UNDECIDED:
            layer, token = self.violations[0].tolist()
            return (
                f"token {token} does not attend to itself in pattern {layer}: no theorem here covers that; add it"
            )
        return self.within.why if self.within is not None and self.within.answer is not Answer.HOLDS else ""

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        functions = {FunctionClass.ALL: "all", FunctionClass.CAUSAL: "all causal"}[self.for_]
        word = {Answer.HOLDS: "universal", Answer.FAILS: "NOT universal", Answer.UNDECIDED: "undecided"}
        said = f"{word[self.universal]} for {functions} continuous functions"
        lines = [
            f"{said}; {self.pattern!r}",
            f"1.1 {(Answer.FAILS if self.violations.size else Answer.HOLDS).value}",
            f"1.2 {self.path.answer.value}: {self.path.why}",
            f"1.3 {self.hops.answer.value}: {self.hops.why}",
        ]
        return shown([*lines, self.advice] if self.advice else lines, self.pattern)


def assess(
    pattern: SparsityPattern,
    *,
    for_: FunctionClass | str = FunctionClass.ALL,
    layers: int | None = None,
    time_limit: float = 10.0,
    progress: Callable[[str, float | None], None] | None = None,
) -> PatternVerdict:
    """Check every assumption and theorem on a pattern.

    Parameters
    ----------
    for_
        The class of functions asked for: "all", "causal", or the enum.
    layers
        Attention layers of the model, if the verdict should also say what that many layers see.
    time_limit
        Seconds for each of the questions that can be hard: the Hamiltonian path, the hop count and the layers.
    progress
        Called with the name of each step as it starts, and its share done where that is known.

    Raises
    ------
    PatternError
        If there is no such class of functions, or `layers` < 1.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> verdict = assess(SparsityPattern.from_lists([[0, 2], [0, 1], [1, 2]]))
    >>> verdict.answer, verdict.hops.s, verdict.path.path.tolist()
    (<Answer.HOLDS: 'holds'>, 2, [0, 1, 2])
    """
    for_ = FunctionClass.of(for_)
    say = progress or (lambda _step, _share: None)
    say("self-attention (1.1)", None)
    violations = self_attention_violations(pattern)
    say("strong components", None)
    components = strong_components(pattern.union)
    connected = components.count == 1
    cut = closed_set(pattern.union, components)
    causal_cut = unseen_predecessor(pattern.union, components)
    reach = classify_reach(pattern.union, components)
    say("Hamiltonian path (1.2)", None)
    path = hamiltonian_path(
        pattern, time_limit=time_limit, progress=lambda step: say(f"Hamiltonian path (1.2): {step}", None)
    )
    say("hop count s (1.3)", None)
    hops = hop_count(pattern, strongly_connected=connected, time_limit=time_limit, progress=say)
    star = find_star(pattern, violations)
    by_reach = reach_theorem(violations, reach, cut, causal_cut, for_)
    statements = (
        yun_theorem(violations, path, hops),
        bigbird_theorem(star),
        connectivity_corollary(violations, reach),
        by_reach,
    )
    universal = {Says.UNIVERSAL: Answer.HOLDS, Says.NOT_UNIVERSAL: Answer.FAILS}.get(
        by_reach.says, Answer.UNDECIDED
    )
    say("layers", None)
    within = None if layers is None else within_layers(pattern, layers, for_, hops, time_limit=time_limit)
    return PatternVerdict(
        pattern,
        for_,
        violations,
        path,
        hops,
        components,
        reach,
        cut,
        causal_cut,
        star,
        statements,
        universal,
        within,
    )
