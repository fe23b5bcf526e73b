"""Malformed files of every kind, and Python modules that misbehave, for the tests of the command line."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

MODULE = """
import numpy as np


class Array:
    def __array__(self, *args, **kwargs):
        raise SystemExit(1)


class Text:
    def __repr__(self):
        raise ValueError("no repr")


def exits(n): raise SystemExit(1)
def exits_zero(n): raise SystemExit(0)
def raises(n): raise ValueError("line one\\nline two \\x1b[31m")
def none(n): return None
def text(n): return "pattern"
def ragged(n): return [[0], 5, "x"]
def huge(n): return [[10**30]] * n
def surrogate(n): raise ValueError("\\udcff\\u202e")
def recurses(n): return recurses(n)
def lazy_exit(n):
    def mask(q, k): raise SystemExit(1)
    return mask
def evil_array(n): return Array()
def evil_repr(n): return Text()
def interrupts(n): raise KeyboardInterrupt
def loud(n):
    print("loud")
    return 7
def own_pattern_error(n):
    from theory.patterns import PatternError
    raise PatternError("two\\nlines")
def mask(n): return np.eye(n)

def target_exits(x): raise SystemExit(1)
def target_raises(x): raise ValueError("a\\nb")
def target_none(x): return None
def target_text(x): return "x"
def target_shape(x): return x[..., :1]
def target_complex(x): return x * 1j
def target_nan(x): return x * float("nan")
def target_interrupts(x): raise KeyboardInterrupt
def target_lazy_exit(x): return Array()

def map_exits(v): raise SystemExit(1)
def map_raises(v): raise ValueError("a\\nb")
def map_none(v): return None
def map_text(v): return "x"
def map_shape(v): return v[:1]
def map_complex(v): return v * 1j
def map_nan(v): return v * float("nan")
def map_interrupts(v): raise KeyboardInterrupt
def map_lazy_exit(v): return Array()
"""

ENTITIES = (
    '<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in ("ab", "bc", "cd", "de", "ef", "fg", "gh"))
    + "]><graphml><graph>&h;</graph></graphml>"
)
MTX = "%%MatrixMarket matrix coordinate pattern general\n"
TEXTS = {
    "bad.json": '{"attends": [[[0, 1], [',
    "empty.json": "",
    "deep.json": "[" * 100_000,
    "numbers.json": '{"attends": [[[0, 1e999], [-7]]]}',
    "keys.json": '{"attends": [[[0]]], "attends": [[[0, 0]]]}',
    "range.json": '{"attends": [[[0, 99]]]}',
    "ragged.json": '{"attends": [[[0]], [[0], [1]]]}',
    "list.json": "[1, 2, 3]",
    "config.json": '{"model_type": "no_such_model", "sliding_window": "wide"}',
    "empty.npy": "",
    "magic.npy": "\x93NUMPY junk",
    "notzip.npz": "PK\x03\x04 junk",
    "garbage.mtx": "not a matrix\n1 2 3\n",
    "header.mtx": MTX + "4 4\n1 1\n",
    "range.mtx": MTX + "2 2 1\n9 9\n",
    "huge.mtx": MTX + "999999999999 999999999999 1\n1 1\n",
    "garbage.graphml": "<graphml><graph",
    "entities.graphml": ENTITIES,
    "nodes.graphml": "<graphml><graph edgedefault='directed'><edge source='a' target='b'/></graph></graphml>",
    "garbage.csv": "a;b;c\n;;\n",
    "header.csv": "source,target\n0\n",
    "negative.txt": "0 -1\n",
    "floats.txt": "0.5 1\n",
    "columns.tsv": "0\t1\t2\t3\t4\n",
    "nul.txt": "0 1\x00\n",
    "unknown.xyz": "0 1\n",
    "bad_module.py": MODULE,
    "exiting_module.py": "import sys\nsys.exit(1)\n",
    "interrupting_module.py": "raise KeyboardInterrupt\n",
    "broken_module.py": "def mask(:\n",
    "raising_module.py": "import no_such_package\n",
}


def write_malformed(folder: Path) -> None:
    """Write all of them into a folder."""
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="latin-1")
    (folder / "latin1.json").write_bytes(b'{"attends": "\xff\xfe"}')
    (folder / "latin1.edges").write_bytes(b"0 1 \xff\n")
    (folder / "folder.json").mkdir()
    (folder / "link.json").symlink_to("link.json")
    arrays: dict[str, Any] = {
        "mask.npy": np.ones((4, 4), dtype=bool),
        "cube.npy": np.ones((2, 2, 2, 2, 2), dtype=bool),
        "floats.npy": np.full((4, 4), 0.5),
        "nan.npy": np.full((4, 4), np.nan),
    }
    for name, array in arrays.items():
        np.save(folder / name, array)
    np.save(folder / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    whole = (folder / "mask.npy").read_bytes()
    (folder / "shape.npy").write_bytes(whole.replace(b"(4, 4)", b"(9, 9)"))
    np.savez_compressed(folder / "bomb.npz", np.zeros(2**20, dtype=bool))
    np.savez(folder / "pickle.npz", np.array([{}], dtype=object))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("../up.txt", "x")
    (folder / "names.npz").write_bytes(buffer.getvalue())
