"""SOURCE as the command line takes it: families, files with options, Python callables, joined cycles."""

from __future__ import annotations

import itertools
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from theory.families import parse_family
from theory.patterns import PatternError, SparsityPattern
from theory.readers.modules import from_object
from theory.readers.source import read_source

ROWS = [[0], [0, 1], [1]]
SMALL = SparsityPattern.from_lists(ROWS)
MASK = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=bool)
FRESH = itertools.count()


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


@pytest.fixture
def module(here):
    """Write a module of a name never used before and return that name."""

    def write(text):
        name = f"module_of_a_test_{next(FRESH)}"
        (here / f"{name}.py").write_text(text)
        return name

    return write


def refused(source, message):
    with pytest.raises(PatternError, match=message) as caught:
        read_source(source)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 900


def test_families():
    assert read_source("star:n=16,w=1") == parse_family("star:n=16,w=1")
    refused("star:n=16", "star needs w")
    refused("star:n=16,m=1", "no key 'm'")
    refused("star", "star needs n")


def test_a_family_means_the_same_in_every_directory(here):
    (here / "star:n=4,w=1").write_text("[[0]]")
    (here / "star").mkdir()
    assert read_source("star:n=4,w=1").n == 4


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "'' is no source: a source is a family"),
        (" ", "is no source"),
        ("sta:n=16,w=1", r"did you mean the family star\?.*\.json.*module:callable"),
        ("Strided:n=16,w=1", "did you mean the family strided"),
        ("zzz:n=4", "'zzz:n=4' is no source: a source is"),
        ("nothing", "'nothing' is no source"),
        ("x" * 10_000, "is no source"),
        ("a\nb", "is no source"),
        ("no_such_file.json", "no_such_file.json: no such file"),
        ("no_such_file.npy?true=attend", "no_such_file.npy: no such file"),
        ("strided_:build", r"no module is called 'strided_', here or installed \(did you mean the family strided"),
        ("zzz_qqq:build", "no module is called 'zzz_qqq', here or installed"),
        ("star:n=4,w=1+", "'' is no source"),
        ("star:n=4,w=1+star:n=5,w=1", r"star:n=4,w=1 has n=4, star:n=5,w=1 has n=5"),
    ],
)
def test_no_source(here, source, message):
    refused(source, message)


def test_files_and_their_options(here):
    np.save(here / "mask.npy", MASK)
    assert read_source("mask.npy?true=attend") == SMALL
    assert read_source(f"{here}/mask.npy?true=attend") == SMALL
    refused("mask.npy", r"mask.npy: a mask must say what True means: add \?true=attend")
    refused("mask.npy?", "mask.npy: option '' is not of the form name=value")
    refused("mask.npy?true", "option 'true' is not of the form")
    refused("mask.npy?true=attend&true=masked", "option 'true' is given twice")
    (here / "e.txt").write_text("0 1\n")
    assert read_source("e.txt?n=5").n == 5
    (here / "note.md").write_text("text")
    refused("note.md", "note.md: unknown kind of file")
    refused(".", "is a directory")


def test_files_whose_names_hold_the_marks(here):
    for name in ("a+b.json", "a?b=c.json", "a:b.json"):
        (here / name).write_text("[[0], [0, 1], [1]]")
        assert read_source(name) == SMALL
    np.save(here / "c+d.npy", MASK)
    assert read_source("c+d.npy?true=attend") == SMALL


def test_joined_sources_are_the_layers_of_one_cycle(here):
    sp.save_npz(here / "a.npz", sp.csr_array(MASK))
    (here / "b.json").write_text("[[[0], [1], [2]], [[2], [1], [0]]]")
    pattern = read_source("a.npz+b.json+dense:n=3")
    assert pattern.to_lists() == [ROWS, [[0], [1], [2]], [[2], [1], [0]], [[0, 1, 2]] * 3]
    (here / "c.json").write_text("[[0]]")
    refused("a.npz+c.json", "a.npz has n=3, c.json has n=1: one cycle of patterns needs one n")


MAKER = """
import networkx, numpy, scipy.sparse
from theory.patterns import SparsityPattern

ROWS = [[0], [0, 1], [1]]
MASK = numpy.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=bool)

def pattern(n): return SparsityPattern.from_lists(ROWS)
def lists(n): return ROWS
def layers(n): return [ROWS, ROWS]
def tuples(n): return tuple({0} if k == 0 else range(k - 1, k + (k < 2)) for k in range(n))
def arrays(n): return [numpy.array(row) for row in ROWS]
def mask(n): return MASK
def inverted(n): return ~MASK
def masks(n): return [MASK, MASK]
def additive(n): return numpy.where(MASK, 0, -numpy.inf)
def weights(n): return MASK * 0.5
def sparse(n): return scipy.sparse.csr_array(MASK)
def sparses(n): return [scipy.sparse.csr_matrix(MASK)] * 2
def graph(n): return networkx.DiGraph([(0, 0), (0, 1), (1, 1), (1, 2)])
def function(n): return lambda q, k: ((q == k) & (k < 2)) | (q == k + 1)
def functions(n): return [function(n)] * 2
def matrix(n): return MASK.astype(int).tolist()
def booleans(n): return MASK.tolist()
def echo(**given): raise ValueError(repr(given))
def no_lists(n): return None
def number(n): return 4
def numpy_keys(n): return [[numpy.int64(key) for key in row] for row in ROWS]
def own_error(n): from theory.patterns import PatternError; raise PatternError("not for this n")
def rows_off(n): return [[0], [7]]
def mixed(n): return [pattern(n), SparsityPattern.from_lists([[0]])]

class Made:
    @staticmethod
    def build(n): return ROWS
"""


@pytest.mark.parametrize(
    ("call", "layers"),
    [
        ("pattern?n=3", 1),
        ("lists?n=3", 1),
        ("layers?n=3", 2),
        ("tuples?n=3", 1),
        ("arrays?n=3", 1),
        ("numpy_keys?n=3", 1),
        ("mask?n=3&true=attend", 1),
        ("inverted?true=masked&n=3", 1),
        ("masks?n=3&true=attend", 2),
        ("additive?n=3&zero=attend", 1),
        ("sparse?n=3", 1),
        ("sparses?n=3", 2),
        ("graph?n=3", 1),
        ("function?n=3", 1),
        ("functions?n=3", 2),
        ("Made.build?n=3", 1),
        ("ROWS", 1),
    ],
)
def test_python_results(module, call, layers):
    assert read_source(f"{module(MAKER)}:{call}").to_lists() == [ROWS] * layers


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("mask?n=3", r"must say what True means: add \?true=attend or \?true=masked"),
        ("masks?n=3", "must say what True means"),
        ("additive?n=3", r"add \?zero=attend"),
        ("weights?n=3", r"add \?zero=attend"),
        ("weights?n=3&zero=attend", r"entry \(query 0, key 0\) = 0.5"),
        ("pattern?n=3&true=attend", "this is no mask"),
        ("lists?n=3&true=attend", "this is no mask"),
        ("matrix?n=3", "key 0 is repeated"),
        ("booleans?n=3", "what True means"),
        ("no_lists?n=3", "NoneType is no pattern"),
        ("number?n=3", "int is no pattern"),
        ("own_error?n=3", "own_error: not for this n"),
        ("rows_off?n=3", r"pattern 0, token 1: key 7 lies outside 0\.\.1"),
        ("mixed?n=3", "pattern 1 has 1 tokens"),
        ("pattern", r"pattern\(\) failed: TypeError"),
        ("pattern?m=3", r"pattern\(m=3\) failed: TypeError"),
        ("absent?n=3", "has no 'absent'"),
        ("Made.absent?n=3", "has no 'Made.absent'"),
        ("ROWS?n=3", "ROWS is no callable, so it takes no n"),
        ("echo?a=1&b=-2.5&c=true&d=False&e=text&f=nan&g=1e3&h=%2B1&i=a%26b", "'a': 1, 'b': -2.5, 'c': True"),
        ("echo?d=False&e=text&f=nan&g=1e3", "'d': False, 'e': 'text', 'f': 'nan', 'g': 1000.0"),
        ("echo?h=a%2Bb&i=a%26b", "'h': 'a.b', 'i': 'a&b'"),
        ("echo?2=1", "option '2=1' is not of the form"),
    ],
)
def test_python_that_gives_no_pattern(module, call, message):
    name = module(MAKER)
    refused(f"{name}:{call}", message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def build(n) return", "importing .* failed: SyntaxError"),
        ("import a_module_that_is_not_there", "importing .* failed: No module named 'a_module_that_is_not_there'"),
        ("raise SystemExit(3)", "importing .* failed: SystemExit: 3"),
        ("1 / 0", "importing .* failed: ZeroDivisionError: division by zero"),
        ("def build(): raise SystemExit('bye')", r"build\(\) failed: SystemExit: bye"),
        ("def build(): return build()", r"build\(\) failed: RecursionError"),
        ("def build(): raise ValueError('two\\nlines')", r"build\(\) failed: ValueError: two lines"),
        ("def build(): return lambda q, k: q", "add n"),
    ],
)
def test_python_that_fails(module, text, message):
    refused(f"{module(text)}:build", message)


def test_packages_and_neighbours_in_the_current_directory(here, module):
    neighbour = module("ROWS = [[0], [0, 1], [1]]")
    package = here / "a_package_of_a_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "part.py").write_text(f"def build():\n    import {neighbour}\n    return {neighbour}.ROWS\n")
    before = list(sys.path)
    assert read_source("a_package_of_a_test.part:build") == SMALL
    assert sys.path == before
    refused("a_package_of_a_test.absent:build", "no module is called 'a_package_of_a_test.absent'")


def test_objects_are_refused_by_what_they_are():
    for value in (None, 3, "text", b"bytes", {0: [0]}, object()):
        with pytest.raises(PatternError, match="is no pattern"):
            from_object(value, {})
    for value in ([], ["a"], [None], [3], [[0], None]):
        with pytest.raises(PatternError):
            from_object(value, {})
    with pytest.raises(PatternError, match="square"):
        from_object(sp.csr_array((2, 3)), {})
    with pytest.raises(PatternError, match="tokens, got 2000000000"):
        from_object(sp.coo_array((2 * 10**9, 2 * 10**9)), {})
    with pytest.raises(PatternError, match="relabel"):
        from_object(nx.DiGraph([(1, 2)]), {})


def test_a_family_loads_nothing_heavy():
    heavy = {
        "scipy.sparse",
        "networkx",
        "sympy",
        "matplotlib",
        "zipfile",
        "theory.conversions",
        "theory.readers.files",
    }
    code = (
        "import sys, numpy; before = set(sys.modules); from theory.readers.source import read_source;"
        f"read_source('star:n=16,w=1'); print(sorted((set(sys.modules) - before) & {heavy}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.strip() == "[]"
