"""Patterns written as key lists: JSON files, and nested lists that a Python callable returns."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from theory.patterns import Connections, PatternError, SparsityPattern
from theory.readers.config_files import refuse_configuration
from theory.readers.guard import check_options, regular_file

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["from_key_lists", "read_json"]

JSON_LIMIT = 256 * 2**20

ORIENTATION = "attends[pattern][query] lists the keys"
COUNTING = {"tokens from 0": 0, "tokens from 1": 1}
MEANT = ("n", "p", "counting", "orientation", "attends")
NOTES = (
    *("id", "name", "title", "source", "url", "description", "comment", "comments", "note", "notes"),
    *("author", "license", "date", "version", "seed", "family", "metadata", "expected"),
)

ROWS = (list, tuple, range, set, frozenset)


def read_json(path: str, options: Mapping[str, str]) -> SparsityPattern:
    """Read ``{"n": .., "p": .., "attends": [[[key, ..], ..], ..]}``, or the bare nested lists.

    ``attends[pattern][query]`` lists the keys; bare lists of depth 2 are one pattern. ``n`` and ``p`` are checked
    where given; ``"counting": "tokens from 1"`` shifts every key. A key repeated in its row is refused: that is
    what a 0/1 matrix would look like.

    Raises
    ------
    PatternError
        If the file is over 256 MiB, no JSON, repeats a field, has unknown fields, or is no pattern.
    """
    import json

    regular_file(path, JSON_LIMIT)
    try:
        with open(path, encoding="utf-8-sig") as file:
            content = json.load(file, parse_constant=_no_constant, object_pairs_hook=_distinct)
    except UnicodeDecodeError as error:
        raise PatternError(f"is not UTF-8 text: {error}") from error
    except json.JSONDecodeError as error:
        raise PatternError(f"is not complete JSON: {error}") from error
    if isinstance(content, dict) and "attends" not in content:
        refuse_configuration(content, path, options.get("n"))
    check_options(options, (), "a JSON file")
    if isinstance(content, list):
        return from_key_lists(content)
    if isinstance(content, dict):
        return _from_fields(content)
    raise PatternError('expected an object with "attends", or nested lists of keys')


def _no_constant(name: str) -> None:
    raise PatternError(f"{name} is no number that a sparsity pattern can hold")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise PatternError(f"field {name!r} is given twice")
            seen.add(name)
    return fields


def _from_fields(fields: dict[str, Any]) -> SparsityPattern:
    for name in fields:
        if name not in MEANT and name not in NOTES:
            raise PatternError(f"unknown field {name!r}: a pattern has {', '.join(MEANT)}, and a description")
    if not isinstance(fields.get("attends"), list):
        raise PatternError('"attends" is missing or no list: attends[pattern][query] lists the keys')
    if fields.get("orientation", ORIENTATION) != ORIENTATION:
        raise PatternError(f"unknown orientation {fields['orientation']!r}: only {ORIENTATION!r} is read")
    counting = fields.get("counting", "tokens from 0")
    if not isinstance(counting, str) or counting not in COUNTING:
        raise PatternError(f"unknown counting {counting!r}: say {' or '.join(map(repr, COUNTING))}")
    pattern = from_key_lists(fields["attends"], first=COUNTING[counting], depth=3)
    for name, true in (("n", pattern.n), ("p", pattern.p)):
        said = fields.get(name, true)
        if isinstance(said, bool) or not isinstance(said, int) or said != true:
            raise PatternError(f'"{name}" says {said!r}, but "attends" has {name} = {true}')
    return pattern


def from_key_lists(attends: Any, *, first: int = 0, depth: int | None = None) -> SparsityPattern:
    """Build from nested lists of keys, more strictly than `SparsityPattern.from_lists`: no key may repeat.

    Parameters
    ----------
    attends
        Depth 3, ``attends[pattern][query]``, or depth 2 for one pattern.
    first
        The number of the first token in these lists, 0 or 1.
    depth
        The depth where all rows are empty, so that it cannot be seen; None refuses such lists.

    Raises
    ------
    PatternError
        If the lists are no pattern; the message names pattern and token, counted from 0.

    Examples
    --------
    >>> from_key_lists([[1, 2], [2]], first=1).to_lists()
    [[[0, 1], [1]]]
    """
    if not isinstance(attends, (list, tuple)) or len(attends) == 0:
        raise PatternError("expected lists of keys, one a token; there are no tokens")
    seen = next((3 if _is_row(item) else 2 for row in attends if _is_row(row) for item in row), depth)
    if seen is None:
        raise PatternError('these lists hold no key: write {"attends": [[[..], ..]]} so that their depth is clear')
    patterns = attends if seen == 3 else [attends]
    layers = []
    for number, rows in enumerate(patterns):
        if not isinstance(rows, (list, tuple)):
            raise PatternError(f"pattern {number} must be a list of key lists, got {rows!r}")
        layers.append(_layer(rows, number, first))
    return SparsityPattern(tuple(layers))


def _is_row(value: object) -> bool:
    return isinstance(value, ROWS) or (isinstance(value, np.ndarray) and value.ndim > 0)


def _layer(rows: list[Any] | tuple[Any, ...], number: int, first: int) -> Connections:
    n = len(rows)
    lengths = np.zeros(n + 1, dtype=np.int64)
    parts: list[np.ndarray[tuple[int], np.dtype[np.int32]]] = [np.zeros(0, dtype=np.int32)]
    for query, row in enumerate(rows):
        if not _is_row(row):
            raise PatternError(f"pattern {number}, token {query}: expected a list of keys, got {row!r}")
        keys = row.tolist() if isinstance(row, np.ndarray) else list(row)
        if set(map(type, keys)) - {int} or (keys and not first <= min(keys) <= max(keys) < n + first):
            _refuse(keys, n, first, f"pattern {number}, token {query}")
        distinct = sorted(set(keys))
        if len(distinct) < len(keys):
            ordered = sorted(keys)
            twice = next(key for key, after in pairwise(ordered) if key == after)
            raise PatternError(
                f"pattern {number}, token {query}: key {twice} is repeated; each token lists its distinct keys (a"
                " 0/1 mask belongs in a .npy file, with what 1 means)"
            )
        lengths[query + 1] = len(distinct)
        parts.append(np.array(distinct, dtype=np.int64).astype(np.int32) - np.int32(first))
    return Connections(np.cumsum(lengths), np.concatenate(parts))


def _refuse(keys: list[Any], n: int, first: int, where: str) -> None:
    """Raise for the first key that is no integer in range; NumPy integers are taken to be integers."""
    for place, key in enumerate(keys):
        if isinstance(key, (bool, np.bool_)):
            raise PatternError(
                f"{where}: {key!r} is no key; a boolean mask belongs in an array, with what True means"
            )
        if not isinstance(key, (int, np.integer)):
            raise PatternError(f"{where}: key {key!r} is not an integer")
        if not first <= key < n + first:
            raise PatternError(f"{where}: key {key} lies outside {first}..{n - 1 + first}")
        keys[place] = int(key)
