"""Real patterns with known answers: what people reported, and what libraries build by default."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from theory.graph import Reach
from theory.readers.source import read_source
from theory.theorems import FunctionClass
from theory.verdicts import Answer
from verify.pattern_certificate import certificate
from verify.pattern_verdict import assess
from verify.recheck import recheck

if TYPE_CHECKING:
    from theory.patterns import SparsityPattern

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))


def load(path: Path) -> tuple[dict[str, Any], SparsityPattern]:
    return json.loads(path.read_text()), read_source(str(path))


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_known_answers_come_out(path: Path) -> None:
    case, pattern = load(path)
    expected = case["expected"]
    verdict = assess(pattern)
    found = {
        "assumption_1_1": not verdict.violations.size,
        "assumption_1_2": verdict.path.answer.as_json(),
        "assumption_1_3": verdict.hops.answer.as_json(),
        "s": verdict.hops.s,
        "strongly_connected": verdict.strongly_connected,
        "reach": verdict.reach.value,
        "connections": pattern.connections,
    }
    assert found == expected
    assert (pattern.n, pattern.p) == (case["n"], case["p"])


@pytest.mark.parametrize("target", list(FunctionClass))
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_verdict_has_a_certificate_that_rechecks(path: Path, target: FunctionClass) -> None:
    _, pattern = load(path)
    verdict = assess(pattern, for_=target)
    made = json.loads(json.dumps(certificate(verdict, path.name)))
    result = recheck(made)
    assert result.valid, result.failures
    assert not result.unproved


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_verdict_follows_from_reach(path: Path) -> None:
    _, pattern = load(path)
    for target, enough in (
        (FunctionClass.ALL, {Reach.ALL}),
        (FunctionClass.CAUSAL, {Reach.ALL, Reach.CAUSAL}),
    ):
        verdict = assess(pattern, for_=target)
        if verdict.reach in enough and not verdict.violations.size:
            assert verdict.answer is Answer.HOLDS
            assert not verdict.advice
        elif target is FunctionClass.ALL or verdict.reach is Reach.WITHIN_CAUSAL:
            assert verdict.answer is Answer.FAILS
            assert verdict.advice
