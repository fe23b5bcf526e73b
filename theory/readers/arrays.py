"""Patterns saved by NumPy and SciPy: dense masks in .npy and .npz, sparse matrices in .npz.

Headers are checked before any data is read, so neither a false shape nor a compressed bomb allocates memory;
object arrays are pickles and never loaded.
"""

from __future__ import annotations

import math
import re
import zipfile
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from theory.mask_shapes import as_array, check_axis, reading_of
from theory.masks import DENSE_LIMIT, additive_heads, boolean_heads
from theory.patterns import PatternError, SparsityPattern
from theory.readers.float_masks import zero_one
from theory.readers.graphs import from_edge_index, is_edge_index
from theory.readers.guard import check_options, check_tokens, regular_file, whole_number
from theory.readers.heads import HeadPatterns, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from theory.mask_shapes import Axis

__all__ = ["MASK_OPTIONS", "from_array", "from_arrays", "read_npy", "read_npz"]

MASK_OPTIONS = ("true", "zero", "masked_below", "axis", "batch")
MAGIC = b"\x93NUMPY"
MAX_MEMBERS = 4096


def from_array(array: Any, options: Mapping[str, str]) -> HeadPatterns:
    """Read a dense mask of which the options say what its entries, and its dimensions, mean.

    ``true=attend`` or ``true=masked`` for booleans, 0/1 integers and exact 0.0/1.0; ``zero=attend`` for additive
    floats, with ``masked_below=-10000`` if that constant means masked. ``axis=heads`` or ``axis=layers`` for shape
    (h, n, n); (b, h, n, n) is batch, head, query, key, with ``batch=0`` where the entries of the batch differ.

    Raises
    ------
    PatternError
        If nothing, or the wrong thing, is said, or the array is no such mask.
    """
    given = as_array(array)
    if given.dtype.kind not in "biuf":
        raise PatternError(f"a mask holds booleans, integers 0 and 1, or floats, not {given.dtype}")
    if given.dtype.kind in "iu" and given.ndim == 2 and 2 in given.shape and given.shape[0] != given.shape[1]:
        raise PatternError(
            f"integers of shape {given.shape} are no mask; an edge index, (2, edges), is read from a .npy file"
        )
    rest = dict(options)
    axis, batch = _dimensions(rest)
    if given.dtype.kind == "f" and "true" in rest:
        given = zero_one(given)
    if given.dtype.kind == "f":
        if rest.pop("zero", None) != "attend":
            raise PatternError(
                "a float array must say what it means: add ?zero=attend for an additive mask, ?true=attend for one"
                " of exact 0.0 and 1.0"
            )
        heads = additive_heads(given, axis=axis, batch=batch, **_bound(rest))
    else:
        said = rest.pop("true", None)
        if said not in ("attend", "masked") or rest:
            one = "True" if given.dtype.kind == "b" else "1"
            raise PatternError(f"a mask must say what {one} means: add ?true=attend or ?true=masked")
        heads = boolean_heads(given, attends=said == "attend", axis=axis, batch=batch)
    return HeadPatterns(tuple(heads), reading_of(given.shape, axis, batch))


def from_arrays(
    names: Sequence[str], read: Callable[[str], Any], flat: bool, options: Mapping[str, str]
) -> HeadPatterns:
    """Read several dense masks as the layers of one cycle; ``axis=heads`` makes them heads of one layer.

    Parameters
    ----------
    names, read
        What the arrays are called, and what returns one; one at a time is held.
    flat
        Whether all have shape (n, n), so that `axis` speaks of the list. Else it speaks of each array.
    options
        As in `from_array`.

    Raises
    ------
    PatternError
        As `from_array`, naming the array.
    """
    rest = dict(options)
    axis = check_axis(rest.pop("axis", None)) if flat else None
    parts: dict[str, HeadPatterns] = {}
    for name in names:
        try:
            parts[name] = from_array(read(name), rest)
        except PatternError as error:
            raise PatternError(f"array {name!r}: {error}") from error
    what = "heads of one layer" if axis == "heads" else "layers of one cycle"
    listed = ", ".join(names) if len(names) < 5 else f"{names[0]} .. {names[-1]}"
    note = f"the {len(names)} arrays {listed} are read as the {what}"
    if axis == "heads":
        return HeadPatterns(tuple(part.only() for part in parts.values()), (note,))
    cycle = joined(list(parts.values()))
    return replace(cycle, notes=(note, *cycle.notes)) if len(names) > 1 else cycle


def _dimensions(options: dict[str, str]) -> tuple[Axis | None, int | None]:
    """Take the options axis and batch out of `options`."""
    axis, batch = options.pop("axis", None), options.pop("batch", None)
    return check_axis(axis), None if batch is None else whole_number("batch", batch)


def _bound(options: Mapping[str, str]) -> dict[str, float]:
    if "masked_below" not in options:
        return {}
    try:
        return {"masked_below": float(options["masked_below"])}
    except ValueError as error:
        raise PatternError(f"masked_below must be a number, got {options['masked_below']!r}") from error


def read_npy(path: str, options: Mapping[str, str]) -> HeadPatterns:
    """Read a dense mask, see `from_array`, or integers of shape (2, edges), see `from_edge_index`.

    The file is mapped, not loaded: memory follows the connections.

    Raises
    ------
    PatternError
        If the file is over 2 GiB, truncated, no .npy file, holds objects, or is no mask with stated polarity.
    """
    size = regular_file(path, DENSE_LIMIT + 2**16)
    with open(path, "rb") as file:
        shape, kind = _check_header(file, size)
    if 0 in shape:
        raise PatternError(f"the array of shape {shape} is empty: a pattern needs at least one token")
    array = np.load(path, mmap_mode="r", allow_pickle=False)
    if kind in "iu" and is_edge_index(shape, options):
        return from_edge_index(array, options)
    check_options(options, MASK_OPTIONS, "a .npy mask")
    return from_array(array, options)


def read_npz(path: str, options: Mapping[str, str]) -> HeadPatterns:
    """Read a sparse matrix saved by ``scipy.sparse.save_npz``, or dense masks, one a layer, ordered by name.

    In a sparse matrix an entry (k, j) that is not 0 means that query k attends to key j. Dense masks need the
    options of `from_array`; names are ordered with their numbers as numbers, arr_2 before arr_10.

    Raises
    ------
    PatternError
        If the file is no such archive, or holds over 2 GiB when unpacked.
    """
    regular_file(path, DENSE_LIMIT)
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        _check_members(members)
        shapes = {}
        for member in members:
            with archive.open(member) as stream:
                shapes[member.filename], _ = _check_header(stream, member.file_size, member.filename)
        if not {"format.npy", "shape.npy", "data.npy"} <= set(shapes):
            check_options(options, MASK_OPTIONS, "a .npz of masks")
            flat = len(shapes) > 1 and all(len(shape) == 2 for shape in shapes.values())
            names = [name.removesuffix(".npy") for name in sorted(shapes, key=_natural)]
            return from_arrays(names, lambda name: _member(archive, name), flat, options)
    check_options(options, (), "a sparse matrix, whose stored entries attend")
    return HeadPatterns((_from_sparse(path),))


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    with archive.open(f"{name}.npy") as stream:
        return np.lib.format.read_array(stream, allow_pickle=False)


def _from_sparse(path: str) -> SparsityPattern:
    from scipy.sparse import load_npz

    from theory.conversions import from_scipy

    matrix: Any = load_npz(path)
    check_tokens(max(matrix.shape), matrix.nnz)
    return from_scipy(matrix)


def _check_members(members: list[zipfile.ZipInfo]) -> None:
    if not 1 <= len(members) <= MAX_MEMBERS:
        raise PatternError(f"an .npz needs between 1 and {MAX_MEMBERS} arrays, this one has {len(members)}")
    if len({member.filename for member in members}) < len(members):
        raise PatternError("the .npz holds two arrays of one name")
    total = sum(member.file_size for member in members)
    if total > DENSE_LIMIT:
        raise PatternError(f"the .npz unpacks to {total} bytes, more than the limit of {DENSE_LIMIT}")
    for member in members:
        if not member.filename.endswith(".npy"):
            raise PatternError(f"the .npz holds {member.filename!r}, which is no array")


def _natural(name: str) -> list[tuple[int, str]]:
    """Order names by their numbers' values: every second piece of the split is a number."""
    pieces = re.split(r"(\d+)", name.removesuffix(".npy"))
    return [(int(piece), "") if place % 2 else (0, piece) for place, piece in enumerate(pieces)]


def _check_header(stream: IO[bytes], size: int, name: str = "the array") -> tuple[tuple[int, ...], str]:
    """Return the shape of an array and the kind of its entries, from its header, checked against `size`."""
    start = stream.read(len(MAGIC) + 2)
    if not start.startswith(MAGIC):
        raise PatternError(f"{name} is not in NumPy's .npy format (pickled data is never loaded)")
    read_header = {
        b"\x01\x00": np.lib.format.read_array_header_1_0,
        b"\x02\x00": np.lib.format.read_array_header_2_0,
    }.get(start[len(MAGIC) :])
    if read_header is None:
        raise PatternError(f"{name} has the unknown .npy version {list(start[len(MAGIC) :])}")
    shape, _, dtype = read_header(stream)
    if dtype.hasobject:
        raise PatternError(f"{name} holds Python objects, that is a pickle, which is never loaded")
    promised = math.prod(shape) * dtype.itemsize
    if promised > DENSE_LIMIT:
        raise PatternError(f"{name} of shape {shape} needs {promised} bytes, more than the limit of {DENSE_LIMIT}")
    if any(side < 0 for side in shape):
        raise PatternError(f"{name} has the impossible shape {shape}")
    held = size - stream.tell()
    if held < promised:
        raise PatternError(f"{name} is truncated: shape {shape} needs {promised} bytes, there are {held}")
    if held > promised:
        raise PatternError(f"{name} has {held - promised} bytes too many behind its {promised} bytes of data")
    return shape, dtype.kind
