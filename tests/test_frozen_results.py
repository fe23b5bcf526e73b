"""Results cannot be changed by accident, and travel between processes: every array in them is read-only."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from constructions.dependence import dependence_violation, reach_matrix
from constructions.targets import TARGETS
from theory.families import causal, star
from theory.graph import strong_components
from theory.hops import growth, hop_count
from theory.measures import measure
from theory.probability_maps import parse_map
from theory.read_only import ReadOnly
from theory.readers.source import read_source
from theory.receptive_field import receptive_field
from theory.repair import repair
from theory.spine import build_spine
from verify.contextual_mapping import check_contextual_mapping
from verify.error_study import study_error
from verify.inputs import AdversarialInputs, AllInputs, GivenInputs
from verify.pattern_verdict import assess
from verify.proof import prove

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CASE: dict[str, Any] = {"d": 1, "delta": "1/2", "target": "sort"}
REFUTED = {  # one source for every kind of evidence that there is no Hamiltonian path
    "incomparable": "documents:n=40,length=20",
    "too few": "hub:n=40",
}
RESULTS: dict[str, Callable[[], Any]] = {
    "assess": lambda: assess(read_source("star:n=16,w=1"), layers=2),
    "assess, cut": lambda: assess(read_source("fixed:n=23,w=5")),
    "assess, causal cut": lambda: assess(read_source("documents:n=12,length=3"), for_="causal"),
    **{name: lambda source=source: assess(read_source(source)) for name, source in REFUTED.items()},  # type: ignore[misc]
    "repair": lambda: repair(read_source("fixed:n=23,w=5")),
    "repair, paper": lambda: repair(read_source("hub:n=12"), theorem="paper"),
    "measure": lambda: measure(read_source("strided:n=9,w=3")),
    "growth": lambda: growth(read_source("ring:n=5")),
    "hop_count": lambda: hop_count(read_source("ring:n=5")),
    "receptive_field": lambda: receptive_field(star(5, 1), 2, matrix=True),
    "spine": lambda: build_spine(star(5, 1).union, strong_components(star(5, 1).union)),
    "prove, paper": lambda: prove(star(4, 1), **CASE),
    "prove, merged": lambda: prove(star(4, 1), **CASE, construction="merged", samples=9),
    "prove, relay": lambda: prove(star(4, 1), **CASE, construction="relay", exhaustive=True),
    "error": lambda: study_error(
        star(3, 1), d=1, levels=2, target=TARGETS["sort"], rho=parse_map("entmax:1.5"), t=[4.0], box=(-1.0, 1.0)
    ),
    "no contextual mapping": lambda: check_contextual_mapping(lambda grids: grids[:, 0], AllInputs(1, 2, 2)),
    "dependence": lambda: dependence_violation(TARGETS["sort"], reach_matrix(causal(3)), 1, 2),
    "given inputs": lambda: GivenInputs([[[0, 1]], [[1, 1]]], K=2),
    "adversarial inputs": lambda: AdversarialInputs(d=2, n=8, K=4, count=20, seed=1),
}


@cache
def result(name: str) -> Any:
    return RESULTS[name]()


def arrays(value: Any, path: str = "", met: set[int] | None = None) -> Iterator[tuple[str, np.ndarray[Any, Any]]]:
    """Yield every array that can be reached from a result, with the way there."""
    met = set() if met is None else met
    if id(value) in met:
        return
    met.add(id(value))
    if isinstance(value, np.ndarray):
        yield path, value
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from arrays(part, f"{path}[]", met)
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from arrays(part, f"{path}[{key!r}]", met)
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        for key, part in list(vars(value).items()):
            yield from arrays(part, f"{path}.{key}", met)
    elif is_dataclass(value):  # with slots
        for field in fields(value):
            yield from arrays(getattr(value, field.name), f"{path}.{field.name}", met)


def writable(value: Any) -> list[str]:
    return [path for path, array in arrays(value) if array.flags.writeable]


@pytest.mark.parametrize("name", RESULTS)
def test_every_array_of_a_result_is_read_only(name: str) -> None:
    assert writable(result(name)) == []


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])  # noqa: S301
@pytest.mark.parametrize("name", RESULTS)
def test_copies_and_pickles_say_the_same_and_are_read_only(name: str, again: Callable[[Any], Any]) -> None:
    first, second = result(name), again(result(name))
    assert writable(second) == []
    assert {path for path, _ in arrays(second)} <= {path for path, _ in arrays(first)}
    for word in ("answer", "why", "advice", "holds", "exact_on_cells", "added", "s", "full_after", "t_measured"):
        ours, theirs = getattr(first, word, None), getattr(second, word, None)
        assert np.array_equal(ours, theirs), word


def test_the_path_of_a_verdict_cannot_be_overwritten() -> None:
    with pytest.raises(ValueError, match="read-only"):
        result("assess").path.path[0] = 3


def test_the_walk_finds_what_can_be_written_to() -> None:
    @dataclass(frozen=True)
    class Loose:
        rows: tuple[np.ndarray[Any, Any], ...]

    @dataclass(frozen=True)
    class Tight(ReadOnly):
        rows: tuple[np.ndarray[Any, Any], ...]

    assert writable({"x": Loose((np.arange(3),))}) == ["['x'].rows[]"]
    assert writable(Tight((np.arange(3),))) == []
    assert {kind.split(",")[0] for kind in RESULTS} >= {"assess", "repair", "measure", "growth", "prove", "error"}
