"""The repair: what each theorem needs, and the fewest connections that give it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from theory.checks import choice, flag, index, seconds
from theory.graph import strong_components
from theory.hamiltonian.deadline import Deadline
from theory.hamiltonian.subsets import MOST_TOKENS
from theory.patterns import Connections, PatternError, SparsityPattern
from theory.repair.causal import causal_plan
from theory.repair.orders import OrderPlan, best_order
from theory.repair.result import Repair
from theory.repair.strong import Condensation, condense, strong_additions
from theory.theorems import FunctionClass
from theory.verdicts import Answer

if TYPE_CHECKING:
    from theory.graph import Components
    from theory.patterns import IntArray

__all__ = ["THEOREMS", "Theorem", "repair"]

Theorem = Literal["reach", "paper"]
THEOREMS: tuple[Theorem, ...] = ("reach", "paper")
Edge = tuple[int, int]  # key, query

SELF = "every missing self-loop is forced"


def repair(
    pattern: SparsityPattern,
    *,
    for_: FunctionClass | str = FunctionClass.ALL,
    theorem: Theorem = "reach",
    keep_causal: bool | None = None,
    layer: int | None = None,
    time_limit: float = 10.0,
) -> Repair:
    """Find a smallest set of connections to add so that a theorem applies.

    Both theorems need each token to attend to itself in each pattern (1.1): every missing self-loop is forced.
    What else they need concerns the union digraph only, where self-loops play no part, so the two counts add up.

    * ``reach``, all functions: strong connectivity; Eswaran and Tarjan's optimum, in linear time.
    * ``reach``, causal functions: token k - 1 reaches token k; exact (`theory.repair.causal`).
    * ``paper`` (Theorem 1): a Hamiltonian path (1.2) and, given 1.1, strong connectivity (1.3). Exact up to 16
      tokens (`theory.repair.orders`); beyond, a repair and a lower bound, which meet more often than not.

    Parameters
    ----------
    for_
        The functions to approximate.
    theorem
        The theorem to satisfy.
    keep_causal
        Whether a pattern in which no key comes after its query must stay so. None: it must where causal functions
        are asked for and the pattern is such a one; `why` then says so.
    layer
        The pattern that takes the new connections, from 0; by default the last. Self-loops go where they are
        missing.
    time_limit
        Seconds for what is hard: Hamiltonian paths, and the causal optimum for thousands of tokens.

    Returns
    -------
    Repair
        `answer` FAILS when no repair exists: a causal pattern is never universal for all functions.

    Raises
    ------
    PatternError
        If there is no such pattern or class of functions, nothing causal to keep, or the paper's theorem is asked
        about causal functions.

    Examples
    --------
    Fixed with w not dividing n: no connection leaves the last segment, and one that does repairs it.

    >>> from theory.families import fixed
    >>> found = repair(fixed(23, w=5))
    >>> found.added.tolist(), found.optimal
    ([[1, 19, 22]], True)
    """
    for_ = FunctionClass.of(for_)
    number = pattern.p - 1 if layer is None else index(layer, pattern.p, "pattern")
    theorem = choice("theorem", theorem, THEOREMS)
    if theorem == "paper" and for_ is FunctionClass.CAUSAL:
        raise PatternError("the paper's Theorem 1 is about all functions: for causal ones ask for --theorem reach")
    deadline = Deadline(seconds(time_limit))
    union = pattern.union
    falling = _falling(union)
    if keep_causal is not None:
        flag("keep_causal", keep_causal)
    rising = keep_causal or (keep_causal is None and for_ is FunctionClass.CAUSAL and falling is None)
    if keep_causal:
        if falling is not None:
            raise PatternError(f"the pattern is not causal ({falling}): drop --keep-causal")
        if for_ is FunctionClass.ALL and pattern.n > 1:
            why = (
                f"no causal pattern is universal for all functions: token 0 never sees token {pattern.n - 1}, "
                "which comes after it, whatever is added; ask for causal functions, or drop --keep-causal"
            )
            return Repair(Answer.FAILS, np.empty((0, 3), dtype=np.int64), 0, None, None, why)
    if theorem == "paper":
        edges, lower, path, why = _for_paper(pattern, deadline)
    else:
        edges, lower, why = _for_reach(union, for_, rising, deadline)
        path = None
    if edges and keep_causal is None:
        why += _direction(for_, rising, falling)
    return _add(pattern, edges, lower, path, why, number)


def _falling(union: Connections) -> str | None:
    """Say the first connection to a key after its query; None in a causal pattern."""
    later = np.flatnonzero(union.keys > union.queries)
    return f"token {union.queries[later[0]]} attends to {union.keys[later[0]]}" if later.size else None


def _direction(for_: FunctionClass, rising: bool, falling: str | None) -> str:
    """Say whether keys after their query were allowed, where the caller left that open."""
    if rising:
        return "; the pattern is causal and stays so (--no-keep-causal allows keys after their query)"
    if falling is None:
        return "; the pattern does not stay causal, as none is universal for all functions (--for causal)"
    if for_ is FunctionClass.CAUSAL:
        return f"; the pattern is not causal ({falling}), so keys after their query are allowed"
    return ""


def _add(
    pattern: SparsityPattern, edges: list[Edge], lower: int, path: IntArray | None, why: str, number: int
) -> Repair:
    """Put the self-loops where they are missing and the other edges into one pattern."""
    loops = [(k, token, token) for k, rows in enumerate(pattern.layers) for token in _unseeing(rows)]
    chosen = [(number, query, key) for key, query in edges]
    added = np.array([*loops, *chosen], dtype=np.int64).reshape(-1, 3)
    layers = []
    for k, rows in enumerate(pattern.layers):
        mine = added[added[:, 0] == k]
        if not mine.size:
            layers.append(rows)
            continue
        queries, keys = np.concatenate((rows.queries, mine[:, 1])), np.concatenate((rows.keys, mine[:, 2]))
        layers.append(Connections.from_pairs(pattern.n, queries, keys))
    if loops:
        why = f"{len(loops)} self-loop{'s' * (len(loops) > 1)}, {SELF}; {why}"
    return Repair(Answer.HOLDS, added, lower + len(loops), SparsityPattern(tuple(layers)), path, why)


def _unseeing(rows: Connections) -> list[int]:
    missing: list[int] = np.flatnonzero(~rows.self_attending).tolist()
    return missing


def _for_reach(
    union: Connections, for_: FunctionClass, rising: bool, deadline: Deadline
) -> tuple[list[Edge], int, str]:
    components = strong_components(union)
    if components.count == 1:
        return [], 0, "the union digraph is strongly connected already"
    if for_ is FunctionClass.ALL:
        graph = Condensation(components.count, *condense(components.labels, union.keys, union.queries))
        edges = _between(union, components, strong_additions(graph))
        ins, outs = (len(ends) + len(graph.isolated) for ends in (graph.sources, graph.sinks))
        why = (
            f"{components.count} strong components, {ins} entered by no other and {outs} left for no other: each "
            f"needs an edge, so {max(ins, outs)} at least (Eswaran and Tarjan)"
        )
        return edges, len(edges), why
    plan = causal_plan(union, components, rising=rising, deadline=deadline)
    edges = [*_between(union, components, list(plan.inside)), *((k - 1, k) for k in plan.joints)]
    if not edges:
        why = "token k - 1 reaches token k for all k already"
    elif rising:
        why = "paths of a causal pattern only rise, so token k has to attend to k - 1 itself: all are forced"
    elif plan.count == plan.lower_bound:
        why = "token k - 1 reaches token k for all k; the best of all ways to cut the tokens into stretches"
    else:
        why = "token k - 1 reaches token k for all k; not proved to be the fewest within the time limit"
    return edges, plan.lower_bound, why


def _between(union: Connections, components: Components, edges: list[Edge]) -> list[Edge]:
    """Name tokens: of the component left, one that sees the most; of the component entered, one seen the most.

    That keeps the number of layers small. Ties go to the later token.
    """
    if not edges:
        return []
    sees, seen = (_leading(components.labels, counts) for counts in (union.degrees, union.key_counts))
    return [(int(sees[tail]), int(seen[head])) for tail, head in edges]


def _leading(labels: IntArray, counts: IntArray) -> IntArray:
    order = np.lexsort((np.arange(labels.size), counts, labels))
    last = np.append(np.flatnonzero(np.diff(labels[order])), labels.size - 1)
    leading: IntArray = order[last]
    return leading


def _for_paper(pattern: SparsityPattern, deadline: Deadline) -> tuple[list[Edge], int, IntArray, str]:
    from theory.hamiltonian import hamiltonian_path
    from theory.repair.covers import order_by_cover

    union = pattern.union
    if pattern.n <= MOST_TOKENS:
        plan = best_order(union)
    else:
        components = strong_components(union)
        found = hamiltonian_path(pattern, time_limit=deadline.part(0.4, np.inf).left)
        if found.path is not None:
            closed = components.count > 1
            plan = OrderPlan(found.path, closed, int(closed))
        else:
            plan = order_by_cover(union, components, refuted=found.answer is Answer.FAILS, deadline=deadline)
    order = plan.order
    missing = ~union.contains(order[1:], order[:-1])
    edges = list(zip(order[:-1][missing].tolist(), order[1:][missing].tolist(), strict=True))
    if plan.closed:
        edges.append((int(order[-1]), int(order[0])))
    if not edges:
        return [], 0, order, "a Hamiltonian path and strong connectivity are there already"
    if plan.closed and len(edges) == 1:  # any edge from the last component to the first will do
        edges, _, _ = _for_reach(union, FunctionClass.ALL, False, deadline)
    proof = f"at least {plan.lower_bound} are needed"
    if len(edges) > plan.lower_bound:
        proof += ", so the optimum is not proved"
    what = f"{len(edges) - plan.closed} for a Hamiltonian path" if len(edges) > plan.closed else ""
    ring = "1 from its end to its start for strong connectivity" if plan.closed else ""
    return edges, plan.lower_bound, order, f"{' and '.join(filter(None, (what, ring)))}; {proof}"
