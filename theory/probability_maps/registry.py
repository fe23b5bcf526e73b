"""The maps by name, and the user's own: ``entmax:1.5``, ``topk:4``, ``module:callable``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theory.connections import PatternError
from theory.probability_maps.base import ProbabilityMap
from theory.probability_maps.counter_examples import SquaredNormalisation, TanhCappedSoftmax, Uniform
from theory.probability_maps.outside import UserMap, import_map
from theory.probability_maps.softmax import Softmax, TopKSoftmax
from theory.probability_maps.sparse import Entmax, Hardmax, SparselinGen, Sparsemax
from theory.readers.guard import one_line

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["MAPS", "PARAMETRIC", "parse_map", "probability_map"]

MAPS: dict[str, ProbabilityMap] = {
    item.name: item for item in (Softmax(), Sparsemax(), Hardmax(), Uniform(), SquaredNormalisation())
}
"""The maps without a parameter."""

PARAMETRIC: dict[str, tuple[str, Callable[[str], ProbabilityMap]]] = {
    "topk": ("topk:4", lambda text: TopKSoftmax(int(text))),
    "sparselin-gen": ("sparselin-gen:0.3", lambda text: SparselinGen(float(text))),
    "entmax": ("entmax:1.5", lambda text: Entmax(float(text))),
    "tanh-capped": ("tanh-capped:50", lambda text: TanhCappedSoftmax(float(text))),
}
"""The maps with one: an example of what `parse_map` reads, and the map made from the text after the colon."""


def parse_map(spec: str) -> ProbabilityMap:
    """Return a named map, or ``module:callable`` imported from the current directory or what is installed.

    Parameters
    ----------
    spec
        A key of `MAPS`; a key of `PARAMETRIC`, a colon and its number; or ``module:callable``, where the callable
        maps m float64 scores to m weights, or is a `ProbabilityMap` itself.

    Raises
    ------
    PatternError
        If there is no such map, number, module or callable.

    Examples
    --------
    >>> parse_map("entmax:1.5").exact_t(0.5)
    4.0
    >>> parse_map("topk")
    Traceback (most recent call last):
        ...
    theory.connections.PatternError: topk needs a number, as in topk:4
    """
    if spec in MAPS:
        return MAPS[spec]
    head, colon, text = spec.partition(":")
    if head in PARAMETRIC:
        example, make = PARAMETRIC[head]
        try:
            return make(text)
        except PatternError:
            raise
        except ValueError as error:
            if not _names_something(text):
                raise PatternError(f"{head} needs a number, as in {example}") from error
    if head in MAPS and not _names_something(text):
        raise PatternError(f"{head} takes no parameter, got {one_line(spec, 80)!r}")
    if not (colon and head and text):
        names = ", ".join([*MAPS, *(example for example, _ in PARAMETRIC.values())])
        raise PatternError(f"no map is called {one_line(spec, 80)!r}: {names} or module:callable")
    return import_map(spec)


def probability_map(given: ProbabilityMap | str | Callable[[Any], Any]) -> ProbabilityMap:
    """Return a map that is given itself, by its name (`parse_map`), or as a callable from m scores to m weights.

    Of a callable nothing is known but what it returns (`theory.assumption_2.check_assumption_2` tries it out).

    Raises
    ------
    PatternError
        If it is none of these.

    Examples
    --------
    >>> probability_map("sparsemax").exact_t(0.5)
    2.0
    >>> probability_map(lambda v: v**2 / (v**2).sum()).proved
    False
    """
    if isinstance(given, str):
        return parse_map(given)
    if isinstance(given, ProbabilityMap) and not isinstance(given, type):
        return given
    if not callable(given) or isinstance(given, type):
        raise PatternError(f"a map is a name, module:callable or a function, not {type(given).__name__}")
    return UserMap(getattr(given, "__name__", type(given).__name__), given)


def _names_something(text: str) -> bool:
    """Tell the callable of a module that happens to be called like a map from a number gone wrong."""
    return all(part.isidentifier() for part in text.split("."))
