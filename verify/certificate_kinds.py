"""The kinds of value that a certificate's fields may have; each refuses any other value and says where.

A kind takes a value and the name of its place, and returns the value ready for use: a list of integers comes back
as an int64 array. Booleans are no integers, and an object has exactly the fields that its kind names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.patterns import Connections, PatternError, SparsityPattern

if TYPE_CHECKING:
    from theory.patterns import IntArray

__all__ = [
    "Kind",
    "UnreadableCertificate",
    "attends",
    "by",
    "count",
    "integers",
    "nullable",
    "one_of",
    "pairs",
    "record",
    "sequence",
    "shown",
    "text",
]

LARGEST_NUMBER = 2**62  # sums of two stay inside 64 bits

Kind = Callable[[object, str], Any]


class UnreadableCertificate(ValueError):
    """The certificate is not of the documented form, or its pattern is missing; the message says where."""


def shown(value: object) -> str:
    """Show a value in at most 60 plain characters, on one line.

    Examples
    --------
    >>> shown(True), shown([1, 2]), shown(10**999)
    ('True', 'a list', 'an integer beyond 2^62')
    """
    if value is None:
        return "null"
    if type(value) is int and abs(value) > LARGEST_NUMBER:
        return "an integer beyond 2^62"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    plain = ascii(value)
    return plain if len(plain) <= 60 else f"{plain[:57]}..."


def _refusal(where: str, wanted: str, value: object) -> UnreadableCertificate:
    return UnreadableCertificate(f"{where} must be {wanted}, is {shown(value)}")


def record(**kinds: Kind) -> Kind:
    """Return the kind of an object with exactly these fields.

    Examples
    --------
    >>> record(n=count)({"n": True}, "pattern")
    Traceback (most recent call last):
    verify.certificate_kinds.UnreadableCertificate: pattern.n must be an integer from 0 to 2^62, is True
    """

    def read(value: object, where: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _refusal(where, "an object", value)
        for name in kinds:
            if name not in value:
                raise UnreadableCertificate(f"{where} lacks the field {name!r}")
        if len(value) > len(kinds):
            unknown = next(name for name in value if name not in kinds)
            raise UnreadableCertificate(f"{where} has the unknown field {shown(unknown)}")
        return {name: kind(value[name], f"{where}.{name}") for name, kind in kinds.items()}

    return read


def by(tag: str, *cases: tuple[object, dict[str, Kind]]) -> Kind:
    """Return the kind of an object whose field `tag` decides which other fields it has."""

    def read(value: object, where: str) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _refusal(where, "an object", value)
        if tag not in value:
            raise UnreadableCertificate(f"{where} lacks the field {tag!r}")
        label = one_of(*(label for label, _ in cases))(value[tag], f"{where}.{tag}")
        kinds = next(kinds for other, kinds in cases if _same(label, other))
        fields: dict[str, Any] = record(**{tag: one_of(label)}, **kinds)(value, where)
        return fields

    return read


def _same(value: object, label: object) -> bool:
    return type(value) is type(label) and value == label  # 1 is not true


def one_of(*labels: object) -> Kind:
    """Return the kind of a value that equals one of these in type and value."""

    def read(value: object, where: str) -> object:
        if not any(_same(value, label) for label in labels):
            raise _refusal(where, " or ".join(map(json.dumps, labels)), value)
        return value

    return read


def nullable(kind: Kind) -> Kind:
    """Return the kind that also takes null."""
    return lambda value, where: None if value is None else kind(value, where)


def text(value: object, where: str) -> str:
    """Take a string."""
    if not isinstance(value, str):
        raise _refusal(where, "a string", value)
    return value


def count(value: object, where: str) -> int:
    """Take an integer from 0 to 2^62."""
    if type(value) is not int or not 0 <= value <= LARGEST_NUMBER:
        raise _refusal(where, "an integer from 0 to 2^62", value)
    return value


def sequence(value: object, where: str, what: str) -> list[Any] | tuple[Any, ...]:
    """Take a list."""
    if not isinstance(value, (list, tuple)):
        raise _refusal(where, f"a list of {what}", value)
    return value


def integers(value: object, where: str) -> IntArray:
    """Take a list of integers; int64 array."""
    items = sequence(value, where, "integers")
    if not set(map(type, items)) <= {int}:
        position = next(i for i, item in enumerate(items) if type(item) is not int)
        raise _refusal(f"{where}[{position}]", "an integer", items[position])
    try:
        return np.array(items, dtype=np.int64)
    except OverflowError:
        raise UnreadableCertificate(f"{where} holds an integer beyond 64 bits") from None


def pairs(value: object, where: str) -> IntArray:
    """Take a list of pairs of integers; array of shape (length, 2)."""
    items = sequence(value, where, "pairs")
    for item in items:
        if not isinstance(item, (list, tuple)) or len(item) != 2:
            raise UnreadableCertificate(f"{where} must be a list of pairs")
    return integers(list(chain.from_iterable(items)), where).reshape(-1, 2)


def attends(value: object, where: str) -> SparsityPattern:
    """Take ``attends[pattern][query]``, the nested lists of keys, every list strictly increasing."""
    layers = []
    for number, layer in enumerate(sequence(value, where, "patterns")):
        here = f"{where}[{number}]"
        rows = sequence(layer, here, "key lists")
        for query, row in enumerate(rows):
            sequence(row, f"{here}[{query}]", "keys")
        ends = np.cumsum(np.array([0, *map(len, rows)], dtype=np.int64))
        layers.append((ends, integers(list(chain.from_iterable(rows)), here)))
    try:
        return SparsityPattern(tuple(Connections(ends, keys) for ends, keys in layers))
    except PatternError as error:
        raise UnreadableCertificate(f"{where}: {error}") from error
