"""Patterns saved by NumPy and SciPy: dense masks in .npy and .npz, sparse matrices in .npz.

Headers are checked before any data is read, so neither a false shape nor a compressed bomb allocates memory;
object arrays are pickles and never loaded.
"""

from __future__ import annotations

import math
import re
import zipfile
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from theory.masks import DENSE_LIMIT, from_additive_mask, from_boolean_mask
from theory.patterns import Connections, PatternError, SparsityPattern
from theory.readers.float_masks import zero_one
from theory.readers.guard import check_options, check_tokens, regular_file

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MASK_OPTIONS", "from_array", "read_npy", "read_npz"]

MASK_OPTIONS = ("true", "zero", "masked_below")
MAGIC = b"\x93NUMPY"
MAX_MEMBERS = 4096


def from_array(array: Any, options: Mapping[str, str]) -> SparsityPattern:
    """Read a dense mask of which the options say what its entries mean.

    ``true=attend`` or ``true=masked`` for booleans, 0/1 integers and exact 0.0/1.0; ``zero=attend`` for additive
    floats, with
    ``masked_below=-10000`` if that constant means masked.

    Raises
    ------
    PatternError
        If nothing, or the wrong thing, is said, or the array is no such mask.
    """
    dtype = np.asarray(array).dtype
    if dtype.kind not in "biuf":
        raise PatternError(f"a mask holds booleans, integers 0 and 1, or floats, not {dtype}")
    if dtype.kind == "f" and "true" in options:
        array = zero_one(array)
    elif dtype.kind == "f":
        if options.get("zero") != "attend":
            raise PatternError(
                "a float array must say what it means: add ?zero=attend for an additive mask, ?true=attend for one"
                " of exact 0.0 and 1.0"
            )
        return from_additive_mask(array, zero_means="attend", **_bound(options))
    said = options.get("true")
    if said not in ("attend", "masked") or len(options) > 1:
        one = "True" if dtype.kind == "b" else "1"
        raise PatternError(f"a mask must say what {one} means: add ?true=attend or ?true=masked")
    return from_boolean_mask(array, true_means="attend" if said == "attend" else "masked")


def _bound(options: Mapping[str, str]) -> dict[str, float]:
    if "masked_below" not in options:
        return {}
    try:
        return {"masked_below": float(options["masked_below"])}
    except ValueError as error:
        raise PatternError(f"masked_below must be a number, got {options['masked_below']!r}") from error


def read_npy(path: str, options: Mapping[str, str]) -> SparsityPattern:
    """Read a dense mask of shape (n, n) or (p, n, n); see `from_array` for what the options must say.

    The file is mapped, not loaded: memory follows the connections.

    Raises
    ------
    PatternError
        If the file is over 2 GiB, truncated, no .npy file, holds objects, or is no mask with stated polarity.
    """
    check_options(options, MASK_OPTIONS, "a .npy mask")
    size = regular_file(path, DENSE_LIMIT + 2**16)
    with open(path, "rb") as file:
        shape = _check_header(file, size)
    if 0 in shape:
        raise PatternError(f"the array of shape {shape} is empty: a pattern needs at least one token")
    return from_array(np.load(path, mmap_mode="r", allow_pickle=False), options)


def read_npz(path: str, options: Mapping[str, str]) -> SparsityPattern:
    """Read a sparse matrix saved by ``scipy.sparse.save_npz``, or dense masks, one a pattern, ordered by name.

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
        for member in members:
            with archive.open(member) as stream:
                _check_header(stream, member.file_size, member.filename)
        names = sorted((member.filename for member in members), key=_natural)
        if not {"format.npy", "shape.npy", "data.npy"} <= set(names):
            return _from_members(archive, names, options)
    check_options(options, (), "a sparse matrix, whose stored entries attend")
    return _from_sparse(path)


def _from_members(archive: zipfile.ZipFile, names: list[str], options: Mapping[str, str]) -> SparsityPattern:
    check_options(options, MASK_OPTIONS, "a .npz of masks")
    layers: list[Connections] = []
    for name in names:
        with archive.open(name) as stream:
            array = np.lib.format.read_array(stream, allow_pickle=False)
        try:
            layers.extend(from_array(array, options).layers)
        except PatternError as error:
            raise PatternError(f"array {name.removesuffix('.npy')!r}: {error}") from error
    return SparsityPattern(tuple(layers))


def _from_sparse(path: str) -> SparsityPattern:
    from scipy.sparse import load_npz

    from theory.conversions import from_scipy

    matrix: Any = load_npz(path)
    check_tokens(max(matrix.shape))
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


def _check_header(stream: IO[bytes], size: int, name: str = "the array") -> tuple[int, ...]:
    """Return the shape of an array; refuse objects, and other bytes than it needs. Only the header is read."""
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
    return shape
