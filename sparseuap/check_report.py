"""The verdict of `check`, as text for a person and as JSON for a program. Tokens and patterns count from 0."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparseuap.command_line import command_line
from theory.families import connection_formula
from theory.graph import Reach
from theory.hops import growth as grow
from theory.verdicts import Answer
from theory.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sparseuap.remedy import Remedy
    from theory.hops import Growth
    from verify.pattern_verdict import PatternVerdict

    Judged = tuple[list[int], PatternVerdict]

__all__ = ["as_json", "as_text", "judged_as_json", "judged_as_text"]

RECURSIONS = {False: "paper's recursion, eq. (3)", True: "residual recursion"}


def as_json(
    verdict: PatternVerdict, source: str, *, growth: float | None = None, remedy: Remedy | None = None
) -> dict[str, Any]:
    """Return the verdict as JSON-ready data; long witnesses are left to the certificate.

    Parameters
    ----------
    growth
        Seconds for following |S_k^t| layer by layer, by either recursion; None leaves it out.
    remedy
        What helps, for the keys `repair` and `hint`; see `sparseuap.remedy.find_remedy`.
    """
    pattern, hops, cut = verdict.pattern, verdict.hops, verdict.cut
    degrees = [layer.degrees for layer in pattern.layers]
    data: dict[str, Any] = {
        "source": source,
        "counting": "tokens and patterns from 0",
        "n": pattern.n,
        "p": pattern.p,
        "connections": pattern.connections,
        "connections_formula": connection_formula(source),
        "density": pattern.density,
        "degree": {"min": min(int(d.min()) for d in degrees), "max": max(int(d.max()) for d in degrees)},
        "digest": pattern.digest,
        "assumption_1_1": not verdict.violations.size,
        "violations": verdict.violations[:100].tolist(),
        "violation_count": len(verdict.violations),
        "assumption_1_2": verdict.path.answer.as_json(),
        "assumption_1_2_step": verdict.path.step,
        "assumption_1_2_why": verdict.path.why,
        "assumption_1_3": hops.answer.as_json(),
        "s": hops.s,
        "s_lower": hops.lower if hops.answer is Answer.HOLDS else None,
        "s_upper": hops.upper,
        "assumption_1_3_why": hops.why,
        "strongly_connected": verdict.strongly_connected,
        "components": verdict.components.count,
        "cut_off": None if cut is None else {"query": cut.query, "key": cut.key},
        "reach": verdict.reach.value,
        "star": None if verdict.star is None else verdict.star.hub,
        "theorems": {
            item.theorem: {
                "says": item.says.value,
                "functions": item.functions,
                "why": item.why,
                "source": item.source,
                **({} if item.universal_for is None else {"universal_for": item.universal_for}),
            }
            for item in verdict.statements
        },
        "for": verdict.for_.value,
        "universal": verdict.universal.as_json(),
        "advice": verdict.advice or None,
        **({} if remedy is None else remedy.as_json()),
    }
    if verdict.within is not None:
        within = verdict.within
        pair = None if within.query is None else {"query": within.query, "key": within.key}
        data["layers"] = within.layers
        data["holds_within_layers"] = within.answer.as_json()
        data["unseen_within_layers"] = pair
    if growth is not None:
        found = {
            name: _growth(verdict, residual, growth) for residual, name in ((False, "paper"), (True, "residual"))
        }
        data["growth"] = {
            name: [{"layer": t, "min": low, "mean": mean} for t, low, mean in _by_layer(seen)]
            for name, seen in found.items()
        }
        data["growth_stopped_by_time_limit"] = {name: seen.stopped for name, seen in found.items()}
    return data


def as_text(
    verdict: PatternVerdict, source: str, *, growth: float | None = None, remedy: Remedy | None = None
) -> str:
    """Return the verdict as text; a failing one ends with what is missing and what helps."""
    lines = [*_lines(verdict, source, growth=growth), *(() if remedy is None else remedy.lines())]
    return "\n".join(lines)


def judged_as_json(
    verdicts: Sequence[Judged],
    source: str,
    *,
    growth: float | None = None,
    remedies: Sequence[Remedy | None],
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what `check` prints of a source: one verdict, or those of heads that differ, and how it was read.

    Parameters
    ----------
    verdicts
        Verdicts with the numbers of their heads.
    growth, remedies
        As for `as_json`; a remedy for each verdict.
    notes
        How the source was read.
    """
    read = {"notes": list(notes)} if notes else {}
    if len(verdicts) == 1:
        return {**as_json(verdicts[0][1], source, growth=growth, remedy=remedies[0]), **read}
    heads = [
        {"heads": numbers, **as_json(verdict, source, growth=growth, remedy=remedy)}
        for (numbers, verdict), remedy in zip(verdicts, remedies, strict=True)
    ]
    return {"source": source, "counting": "tokens, patterns and heads from 0", "heads": heads, **read}


def judged_as_text(
    verdicts: Sequence[Judged],
    source: str,
    *,
    growth: float | None = None,
    remedies: Sequence[Remedy | None],
    notes: Sequence[str] = (),
) -> str:
    """Return the same as text, the notes first."""
    if len(verdicts) == 1:
        said = as_text(verdicts[0][1], source, growth=growth, remedy=remedies[0])
    else:
        said = _heads_as_text(verdicts, source, growth=growth, remedies=remedies)
    return "\n".join((*(f"Note: {note}." for note in notes), said))


def _heads_as_text(
    verdicts: Sequence[Judged],
    source: str,
    *,
    growth: float | None,
    remedies: Sequence[Remedy | None],
) -> str:
    """Return the verdicts of heads that differ, one after the other; the commands that help are shown once."""
    parts = []
    for (numbers, verdict), remedy in zip(verdicts, remedies, strict=True):
        name = f"{_heads(numbers)}, by itself"
        parts.append(f"{name}\n{'-' * len(name)}\n{as_text(verdict, source, growth=growth)}")
        if remedy is not None and remedy.found is not None:
            parts.append(f"{remedy.sentence()}.")
        parts.append("")
    parts.append(
        "The heads differ. Each verdict is about a model in which every head attends like this one; what a token"
        " sees through all heads of a layer is judged by --heads union."
    )
    if any(remedy is not None and remedy.causal_reason for remedy in remedies):
        parts += [
            "For a decoder ask for causal functions:",
            f"    {command_line('check', source, '--for', 'causal')}",
        ]
    helped = [(numbers[0], remedy) for (numbers, _), remedy in zip(verdicts, remedies, strict=True) if remedy]
    if helped and helped[0][1].repair_command:
        parts += [f"A head is repaired by itself, here head {helped[0][0]}:", f"    {helped[0][1].repair_command}"]
    return "\n".join(parts)


def _heads(numbers: list[int]) -> str:
    return f"Head{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _lines(verdict: PatternVerdict, source: str, *, growth: float | None) -> Iterator[str]:
    pattern = verdict.pattern
    formula = connection_formula(source)
    counted = "" if formula is None else f" (the formula n(2w+r+g) says {formula})"
    yield f"{printable(source)}: n = {pattern.n} tokens, counted from 0; p = {pattern.p}"
    yield f"{pattern.connections} connections{counted}, {100 * pattern.density:.3g} % of dense"
    yield ""
    yield f"Assumption 1.1  {_word(not verdict.violations.size)}  {_self_attention(verdict)}"
    yield f"Assumption 1.2  {verdict.path.answer.value:9}  {verdict.path.why}"
    yield f"Assumption 1.3  {verdict.hops.answer.value:9}  {verdict.hops.why}"
    yield f"Reach           {_reach(verdict)}"
    yield ""
    width = max(len(item.source) for item in verdict.statements)
    for item in verdict.statements:
        yield f"{item.source:{width}}  {item.says.value}"
        yield f"    {item.functions}: {item.why}"
        if item.universal_for not in (None, item.functions):
            yield f"    universal for exactly these: {item.universal_for}"
    if growth is not None:
        yield from _growth_table(verdict, growth)
    yield ""
    yield _conclusion(verdict)
    if verdict.within is not None and verdict.within.why != verdict.advice:
        yield f"Within {verdict.within.layers} layers: {verdict.within.answer.value}; {verdict.within.why}."
    if verdict.advice:
        yield verdict.advice[0].upper() + verdict.advice[1:] + "."


def _word(holds: bool) -> str:
    return f"{(Answer.HOLDS if holds else Answer.FAILS).value:9}"


def _self_attention(verdict: PatternVerdict) -> str:
    if not verdict.violations.size:
        return "every token attends to itself"
    shown = ", ".join(f"token {token} in pattern {layer}" for layer, token in verdict.violations[:3].tolist())
    more = f" and {len(verdict.violations) - 3} more" if len(verdict.violations) > 3 else ""
    return f"not attending to themselves: {shown}{more}"


def _reach(verdict: PatternVerdict) -> str:
    sentence = {
        Reach.ALL: "every token reaches every token",
        Reach.CAUSAL: "token k is reached by exactly 0..k",
        Reach.WITHIN_CAUSAL: "token k is reached by some of 0..k only",
        Reach.OTHER: f"{verdict.components.count} strong components",
    }[verdict.reach]
    cut = verdict.cut
    pair = "" if cut is None else f"; output {cut.query} never sees token {cut.key}"
    return f"{verdict.reach.value:9}  {sentence}{pair}"


def _conclusion(verdict: PatternVerdict) -> str:
    word = {
        Answer.HOLDS: "universal",
        Answer.FAILS: "NOT universal",
        Answer.UNDECIDED: "UNDECIDED: not known to be universal",
    }[verdict.universal]
    instead = verdict.statements[-1].universal_for
    tail = f"; universal for {instead}" if verdict.universal is Answer.FAILS and instead is not None else ""
    return f"Verdict: {word} for {verdict.for_.functions}{tail}."


def _growth(verdict: PatternVerdict, residual: bool, seconds: float) -> Growth:
    return grow(verdict.pattern, verdict.hops.s, residual=residual, time_limit=seconds)


def _by_layer(seen: Growth) -> Iterator[tuple[int, int, float]]:
    for layer, (low, mean) in enumerate(zip(seen.min, seen.mean, strict=True), start=1):
        yield layer, int(low), float(mean)


def _growth_table(verdict: PatternVerdict, seconds: float) -> Iterator[str]:
    """Show both recursions where they differ; with 1.1 they are the same."""
    for residual in (False, True) if verdict.violations.size else (False,):
        seen = _growth(verdict, residual, seconds)
        yield ""
        yield f"|S_k^t|, {RECURSIONS[residual]}:  layer  min  mean"
        for layer, low, mean in _by_layer(seen):
            yield f"{layer:>{len(RECURSIONS[residual]) + 17}}  {low:>3}  {mean:.6g}"
        if seen.stopped:
            yield f"Stopped after {len(seen.min)} layers by --time-limit ({seconds:g} s)."
