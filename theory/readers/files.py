"""One door for pattern files: the extension chooses the reader, every error names the file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from theory.patterns import PatternError, SparsityPattern
from theory.readers.arrays import read_npy, read_npz
from theory.readers.edges import read_adjlist, read_edges
from theory.readers.graphml import read_gml, read_graphml
from theory.readers.guard import reading
from theory.readers.heads import HeadPatterns
from theory.readers.lists import read_json
from theory.readers.tables import read_mtx

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["READERS", "extension", "read_file"]

READERS: dict[str, Callable[[str, Mapping[str, str]], SparsityPattern | HeadPatterns]] = {
    ".json": read_json,
    ".npz": read_npz,
    ".npy": read_npy,
    ".mtx": read_mtx,
    ".graphml": read_graphml,
    ".gml": read_gml,
    ".adjlist": read_adjlist,
    ".txt": read_edges,
    ".edges": read_edges,
    ".edgelist": read_edges,
    ".csv": read_edges,
    ".tsv": read_edges,
}


def extension(path: str) -> str:
    """Return the extension of a path in lower case, with its dot."""
    return os.path.splitext(path)[1].lower()


def read_file(path: str, options: Mapping[str, str] | None = None) -> HeadPatterns:
    """Read the pattern file `path`; `options` say what the file cannot, such as what True means in a mask.

    The option ``head=0`` or ``head=union`` chooses where the heads differ.

    Raises
    ------
    PatternError
        If the kind of file is unknown, or anything is wrong with the file: one line that names it.
    """
    with reading(path):
        reader = READERS.get(extension(path))
        if os.path.isdir(path):
            raise PatternError("is a directory, not a file")
        if reader is None:
            raise PatternError(f"unknown kind of file: the known ones are {', '.join(READERS)}")
        rest = dict(options or {})
        head = rest.pop("head", None)
        read = reader(path, rest)
        return (read if isinstance(read, HeadPatterns) else HeadPatterns((read,))).chosen(head)
