"""What comes from outside is checked once, in one line that names it; nothing is guessed from its truth value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "PatternError",
    "check_tokens",
    "choice",
    "flag",
    "index",
    "layers_listed",
    "real",
    "seconds",
    "whole",
    "wholes",
]

Choice = TypeVar("Choice")
MOST_LISTED = 1 << 16


class PatternError(ValueError):
    """The input is not a sparsity pattern; the message names the culprit and the remedy."""

    __module__ = "theory.connections"  # where it is known


def _is_integer(value: object) -> TypeGuard[int | np.integer[Any]]:
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


def whole(name: str, value: object, least: int = 0) -> int:
    """Return `value` as an integer of at least `least`.

    Raises
    ------
    PatternError
        If it is no whole number (True and 2.0 are none either), or too small.
    """
    if not _is_integer(value) or value < least:
        raise PatternError(f"{name} must be a whole number of at least {least}, got {value!r}")
    return int(value)


def layers_listed(value: object) -> int:
    """Return a number of layers, each of which gets an entry of its own in what is returned.

    Raises
    ------
    PatternError
        If it is no whole number of at least 1, or above 2^16.

    Examples
    --------
    >>> layers_listed(2**30)
    Traceback (most recent call last):
        ...
    theory.connections.PatternError: 1073741824 layers are too many to list, more than 65536: ask for fewer
    """
    layers = whole("a number of layers", value, 1)
    if layers > MOST_LISTED:
        raise PatternError(f"{layers} layers are too many to list, more than {MOST_LISTED}: ask for fewer")
    return layers


def index(value: object, count: int, name: str = "token") -> int:
    """Return `value` as the number of one of `count` tokens, patterns or the like, from 0.

    Raises
    ------
    PatternError
        If it is none of 0..count - 1, or no integer (True and 1.0 are none either).

    Examples
    --------
    >>> index(4, 4)
    Traceback (most recent call last):
        ...
    theory.connections.PatternError: no token 4: tokens are 0..3
    """
    if not _is_integer(value):
        raise PatternError(f"no {name} {value!r}: {name}s are the integers 0..{count - 1}")
    if not 0 <= value < count:
        raise PatternError(f"no {name} {value}: {name}s are 0..{count - 1}")
    return int(value)


def wholes(name: str, values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return `values` as a flat array of integers; an empty one may be of any type.

    Raises
    ------
    PatternError
        If they are no whole numbers (booleans and 2.0 are none either), or beyond int64.

    Examples
    --------
    >>> wholes("a key", [0, 2]).tolist()
    [0, 2]
    >>> wholes("a key", [0, 1.7])
    Traceback (most recent call last):
        ...
    theory.connections.PatternError: a key must be a whole number, got float64 numbers such as 0.0
    """
    given = np.asarray(values).ravel()
    if not given.size:
        return np.empty(0, dtype=np.int64)
    if given.dtype.kind not in "iu":
        raise PatternError(f"{name} must be a whole number, got {given.dtype} numbers such as {given[0]}")
    if given.dtype.kind == "u" and given.max() > np.iinfo(np.int64).max:
        raise PatternError(f"{name} is {given.max()}, beyond every token")
    return given.astype(np.int64)


def check_tokens(name: str, tokens: npt.NDArray[np.integer], n: int) -> None:
    """Refuse tokens outside 0..n-1.

    Raises
    ------
    PatternError
        Naming the first.
    """
    outside = np.flatnonzero((tokens < 0) | (tokens >= n))
    if outside.size:
        raise PatternError(f"{name} {tokens[outside[0]]} lies outside 0..{n - 1}")


def flag(name: str, value: object) -> bool:
    """Return a truth value; the text "false" is none, though Python takes it for true.

    Raises
    ------
    PatternError
        If it is neither True nor False.

    Examples
    --------
    >>> flag("residual", np.True_)
    True
    """
    if not isinstance(value, (bool, np.bool_)):
        raise PatternError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def choice(name: str, value: object, known: Iterable[Choice]) -> Choice:
    """Return the one of the known words that `value` is.

    Raises
    ------
    PatternError
        If it is none of them.

    Examples
    --------
    >>> choice("theorem", "papre", ("reach", "paper"))
    Traceback (most recent call last):
        ...
    theory.connections.PatternError: theorem must be 'reach' or 'paper', got 'papre'
    """
    words = list(known)
    for word in words:
        if type(value) is type(word) and value == word:
            return word
    raise PatternError(f"{name} must be {' or '.join(map(repr, words))}, got {value!r}")


def real(name: str, value: Any) -> float:
    """Return a real number as a float; text and truth values are none.

    Raises
    ------
    PatternError
        If it is anything else. NaN passes: it is in no range.

    Examples
    --------
    >>> real("p", "2")
    Traceback (most recent call last):
        ...
    theory.connections.PatternError: p must be a number, got '2'
    """
    kinds = (int, float, np.integer, np.floating)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, kinds):
        raise PatternError(f"{name} must be a number, got {value!r}")
    try:
        return float(value)
    except OverflowError as error:
        raise PatternError(f"{name} is a number beyond every float") from error


def seconds(value: Any) -> float:
    """Return a time limit in seconds.

    Raises
    ------
    PatternError
        If it is no number of at least 0.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)) or not value >= 0:
        raise PatternError(f"the time limit must be at least 0 seconds, got {value!r}")
    return float(value)
