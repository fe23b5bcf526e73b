"""Results that nobody changes by accident: their arrays are read-only, in copies and after pickling too."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

__all__ = ["ReadOnly", "read_only"]

Held = TypeVar("Held")


def read_only(value: Held) -> Held:
    """Return `value` itself; if it is an array, or a tuple of them, nobody can write through it any more.

    Examples
    --------
    >>> read_only(np.arange(3)).flags.writeable
    False
    """
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, tuple):
        for part in value:
            read_only(part)
    return value


class ReadOnly:
    """What a frozen dataclass inherits so that the arrays in its fields are frozen as well.

    Copies and pickles carry arrays that can be written to; they are frozen again as they are put back.

    Examples
    --------
    >>> from copy import deepcopy
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Path(ReadOnly):
    ...     tokens: np.ndarray
    >>> path = Path(np.arange(3))
    >>> path.tokens.flags.writeable, deepcopy(path).tokens.flags.writeable
    (False, False)
    """

    def __post_init__(self) -> None:
        for value in vars(self).values():
            read_only(value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, read_only(value))
