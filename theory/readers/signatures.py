"""What a Python callable is by its signature: a mask function, and the options that its default arguments are."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from theory.patterns import PatternError
from theory.readers.guard import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

__all__ = ["is_function_of", "takes", "with_options"]

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def parameters(value: object) -> list[inspect.Parameter] | None:
    """Return the parameters of a callable; None where they cannot be told."""
    if not callable(value):
        return None
    try:
        return list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return None


def takes(value: object, name: str) -> bool:
    """Whether a callable takes an argument of that name, as far as its signature tells."""
    known = parameters(value)
    return known is None or any(one.name == name or one.kind is inspect.Parameter.VAR_KEYWORD for one in known)


def is_function_of(value: object, places: int, options: Collection[str] = ()) -> bool:
    """Tell a mask function by its `places` required arguments, none of which an option gives.

    Four, ``(b, h, q_idx, kv_idx)``, are FlexAttention's mask_mod; two are ``(query, key)``. A function to which
    the options give a required argument makes something else when called.

    Examples
    --------
    >>> is_function_of(lambda b, h, q, k, w=3: abs(q - k) <= w, 4, ["w"])
    True
    >>> is_function_of(lambda n, w: [[0]] * n, 2, ["n", "w"])
    False
    """
    if isinstance(value, type):
        return False
    required = [one.name for one in parameters(value) or () if one.default is one.empty and one.kind in POSITIONAL]
    return len(required) == places and not set(required) & set(options)


def with_options(function: Callable[..., Any], places: int, options: Mapping[str, Any]) -> Callable[..., Any]:
    """Return a mask function with its further arguments set.

    Raises
    ------
    PatternError
        If an option names none of them.

    Examples
    --------
    >>> with_options(lambda q, k, w=3: abs(q - k) <= w, 2, {"w": 5})(0, 4)
    True
    """
    further = (parameters(function) or [])[places:]
    names = [one.name for one in further if one.kind in (*POSITIONAL, inspect.Parameter.KEYWORD_ONLY)]
    unknown = [name for name in options if name not in names]
    if unknown and not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in further):
        name = getattr(function, "__name__", type(function).__name__)
        known = f"its own are {', '.join(names)}" if names else "it has none"
        raise PatternError(f"mask function {one_line(name, 60)} takes no option {', '.join(unknown)}: {known}")
    return partial(function, **options) if options else function
