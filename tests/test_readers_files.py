"""Every kind of file, read from real small files, and every bad file that must end in one clear line."""

from __future__ import annotations

import io
import json
import os
import pickle
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import theory.readers.arrays
import theory.readers.lists
import theory.readers.tables
from theory.patterns import PatternError, SparsityPattern
from theory.readers import files
from theory.readers.files import READERS
from theory.readers.guard import one_line, reading

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))

# Query 0 sees 0; query 1 sees 0 and 1; query 2 sees 1: not symmetric, and token 2 misses itself.
ROWS = [[0], [0, 1], [1]]
SMALL = SparsityPattern.from_lists(ROWS)
MASK = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=bool)


def read_file(path, options=None):
    return files.read_file(path, options).only()


class Boom:
    """Unpickling this would leave a file behind."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


def refused(path, message, options=None):
    with pytest.raises(PatternError, match=message) as caught:
        read_file(str(path), options)
    text = str(caught.value)
    assert text.startswith(str(path)[:100])
    assert "\n" not in text
    assert len(text) < 800


def written(path, content):
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content, encoding="utf-8")
    return path


# JSON


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_cases_are_read(path):
    case = json.loads(path.read_text())
    pattern = read_file(str(path))
    assert (pattern.n, pattern.p) == (case["n"], case["p"])
    assert pattern.connections == case["expected"]["connections"]
    assert pattern.to_lists() == [[sorted(row) for row in rows] for rows in case["attends"]]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (ROWS, [ROWS]),
        ([ROWS, ROWS], [ROWS, ROWS]),
        ({"attends": [ROWS]}, [ROWS]),
        ({"attends": ROWS}, [ROWS]),
        ({"n": 3, "p": 1, "attends": [[[1, 0], [], [2]]]}, [[[0, 1], [], [2]]]),
        ({"attends": [[[1], [2, 1], [2]]], "counting": "tokens from 1"}, [ROWS]),
        ({"attends": [[[], []]]}, [[[], []]]),
        ({"attends": [[[], []], [[], [1]]]}, [[[], []], [[], [1]]]),
        ([[], [1]], [[[], [1]]]),
    ],
)
def test_json_forms(tmp_path, content, expected):
    for encoding in ("utf-8", "utf-8-sig"):
        path = tmp_path / f"{encoding}.JSON"
        path.write_text(json.dumps(content), encoding=encoding)
        assert read_file(str(path)).to_lists() == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[[0], [0, 1]", "not complete JSON"),
        ("[[0], [0, 1]] [", "not complete JSON"),
        ("[[0], [1]]garbage", "not complete JSON"),
        ("  \n", "not complete JSON"),
        ("3", "expected an object"),
        ("null", "expected an object"),
        ('"[[0]]"', "expected an object"),
        ("[]", "no tokens"),
        ("[[]]", "depth"),
        ("[[], []]", "depth"),
        ('{"attends": []}', "no tokens"),
        ('{"attends": [[]]}', "tokens, got 0"),
        ('{"n": 0, "p": 1, "attends": [[]]}', "tokens, got 0"),
        ("[[NaN], [1]]", "NaN is no number"),
        ("[[0], [Infinity]]", "Infinity is no number"),
        ("[[0.0], [1]]", "token 0: key 0.0 is not an integer"),
        ("[[0], [1e3]]", "not an integer"),
        ("[[true, false], [true, true]]", "what True means"),
        ('[["0"], [1]]', "key '0' is not an integer"),
        ("[[null], [1]]", "key None is not an integer"),
        ("[[0], 1]", "token 1: expected a list of keys, got 1"),
        ("[[[0], [1]], [0, 1]]", "pattern 1, token 0: expected a list of keys, got 0"),
        ("[[[0], [1]], 5]", "pattern 1 must be a list"),
        ("[[0], {}]", "token 1: expected a list"),
        ("[[0], [2]]", r"pattern 0, token 1: key 2 lies outside 0\.\.1"),
        ("[[0], [-1]]", r"key -1 lies outside 0\.\.1"),
        ("[[0], [99999999999999999999999999]]", "lies outside"),
        ("[[0], [" + "9" * 5000 + "]]", "malformed"),
        ("[[1, 0, 0], [0, 1, 0], [0, 0, 1]]", "key 0 is repeated.*0/1 mask"),
        ("[[[0], [1]], [[0]]]", "lies outside|pattern 1 has 1 tokens"),
        ("[[[0], [1]], [[0], [1], [2]]]", "pattern 1 has 3 tokens, pattern 0 has 2"),
        ('{"attends": [[[0]]], "n": 2}', '"n" says 2, but "attends" has n = 1'),
        ('{"attends": [[[0]]], "p": 2}', '"p" says 2'),
        ('{"attends": [[[0]]], "n": true}', '"n" says True'),
        ('{"attends": [[[0]]], "n": 1.0}', '"n" says 1.0'),
        ('{"attends": [[[0]]], "attends": [[[0]]]}', "field 'attends' is given twice"),
        ('{"atends": [[[0]]]}', "unknown field 'atends'"),
        ('{"n": 4}', '"attends" is missing'),
        ('{"attends": {"0": [0]}}', '"attends" is missing or no list'),
        ('{"attends": [[[0]]], "orientation": "attends[pattern][key] lists the queries"}', "unknown orientation"),
        ('{"attends": [[[0]]], "counting": "from one"}', "unknown counting 'from one'"),
        ('{"attends": [[[0]]], "counting": 1}', "unknown counting 1"),
        ('{"attends": [[[0]]], "counting": ["tokens from 1"]}', "unknown counting"),
        ('{"attends": [[[0]]], "counting": "tokens from 1"}', r"key 0 lies outside 1\.\.1"),
        ('{"attends": [[[1], [3]]], "counting": "tokens from 1"}', r"token 1: key 3 lies outside 1\.\.2"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        (b"\xff\xfe[\x00", "UTF-8"),
        (b"\x80\x04K\x01.", "UTF-8"),
    ],
)
def test_bad_json(tmp_path, content, message):
    refused(written(tmp_path / "bad.json", content), message)


# NumPy


@pytest.mark.parametrize(
    ("array", "options"),
    [
        (MASK, {"true": "attend"}),
        (~MASK, {"true": "masked"}),
        (MASK.astype(int), {"true": "attend"}),
        (np.asfortranarray(MASK), {"true": "attend"}),
        (MASK[None], {"true": "attend"}),
        (np.where(MASK, 0, -np.inf), {"zero": "attend"}),
        (np.where(MASK, 0, np.finfo(np.float32).min).astype(np.float32), {"zero": "attend"}),
        (np.where(MASK, 0, -np.inf).astype(">f4"), {"zero": "attend"}),
        (np.where(MASK, 0, -1e4), {"zero": "attend", "masked_below": "-10000"}),
    ],
)
def test_dense_masks(tmp_path, array, options):
    np.save(tmp_path / "mask.npy", array)
    assert read_file(str(tmp_path / "mask.npy"), options) == SMALL
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "mask.npz", array, array)
        assert read_file(str(tmp_path / "mask.npz"), options).to_lists() == [ROWS, ROWS]


def test_masks_of_an_archive_are_ordered_by_number(tmp_path):
    masks = [np.roll(np.eye(13, dtype=bool), shift, axis=1) for shift in range(12)]
    np.savez(tmp_path / "cycle.npz", *masks)
    pattern = read_file(str(tmp_path / "cycle.npz"), {"true": "attend"})
    assert [layer.row(0).tolist() for layer in pattern.layers] == [[shift] for shift in range(12)]


BOOLEAN = r"must say what True means: add \?true=attend or \?true=masked"


@pytest.mark.parametrize(
    ("array", "options", "message"),
    [
        (MASK, {}, BOOLEAN),
        (MASK, {"zero": "attend"}, BOOLEAN),
        (MASK, {"true": "yes"}, BOOLEAN),
        (MASK, {"true": "attend", "zero": "attend"}, BOOLEAN),
        (MASK.astype(int), {}, "must say what 1 means"),
        (MASK.astype(float), {}, r"add \?zero=attend"),
        (MASK * 0.5, {"true": "attend"}, "exact 0.0 and 1.0"),
        (MASK.astype(float), {"zero": "attend"}, r"entry \(query 0, key 0\) = 1.0"),
        (MASK.astype(float), {"zero": "masked"}, r"add \?zero=attend"),
        (np.where(MASK, 0, np.nan), {"zero": "attend"}, "= nan"),
        (np.where(MASK, 0, -1e4), {"zero": "attend", "masked_below": "low"}, "masked_below must be a number"),
        (MASK.astype(int) * 2, {"true": "attend"}, "= 2 is neither 0 nor 1"),
        (MASK[:2], {"true": "attend"}, "not square"),
        (MASK[0], {"true": "attend"}, "shape"),
        (np.zeros((0, 0), bool), {"true": "attend"}, "at least one token"),
        (np.zeros((0, 3, 3), bool), {"true": "attend"}, "empty|no mask"),
        (np.zeros((1, 2, 2, 3, 3), bool), {"true": "attend"}, "shape"),
        (MASK.astype(complex), {"true": "attend"}, "complex128"),
        (MASK.astype("U1"), {"true": "attend"}, "U1"),
        (MASK, {"n": "3"}, "unknown option 'n'.*it takes true, zero, masked_below, axis, batch"),
    ],
)
def test_masks_that_do_not_say_enough(tmp_path, array, options, message):
    np.save(tmp_path / "mask.npy", array)
    refused(tmp_path / "mask.npy", message, options)
    np.savez(tmp_path / "mask.npz", array)
    refused(tmp_path / "mask.npz", message, options)


def test_masks_of_different_size_in_one_archive(tmp_path):
    np.savez(tmp_path / "two.npz", np.eye(2, dtype=bool), np.eye(3, dtype=bool))
    refused(tmp_path / "two.npz", "pattern 1 has 3 tokens, pattern 0 has 2", {"true": "attend"})
    np.savez(tmp_path / "two.npz", a=np.eye(2, dtype=bool), b=np.ones((2, 3), dtype=bool))
    refused(tmp_path / "two.npz", "array 'b': mask 0 is not square", {"true": "attend"})


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def header(shape, dtype="|b1"):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": dtype, "fortran_order": False, "shape": shape})
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (npy(MASK)[:-1], r"truncated: shape \(3, 3\) needs 9 bytes, there are 8"),
        (npy(MASK)[:30], "malformed"),
        (npy(MASK)[:7], "version|format"),
        (npy(MASK) + b"x", "1 bytes too many"),
        (b"hello", "not in NumPy's .npy format"),
        (pickle.dumps([[0]]), "not in NumPy's .npy format .*never loaded"),
        (npy(MASK)[:6] + b"\x09\x00" + npy(MASK)[8:], "unknown .npy version"),
        (header((10**6, 10**6)), "more than the limit"),
        (header((40_000, 40_000)), "truncated"),
        (header((-3, -3)) + bytes(9), "impossible shape"),
        (header((3, 3), "|O") + bytes(72), "pickle, which is never loaded"),
        (header((10**30, 10**30)), "more than the limit"),
    ],
)
def test_bad_arrays(tmp_path, content, message):
    refused(written(tmp_path / "bad.npy", content), message, {"true": "attend"})
    with zipfile.ZipFile(tmp_path / "bad.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("arr_0.npy", content)
    refused(tmp_path / "bad.npz", message, {"true": "attend"})


def test_pickles_are_never_loaded(tmp_path):
    trace = tmp_path / "trace"
    boom = np.array([[Boom(trace)]], dtype=object)
    np.save(tmp_path / "a.npy", boom, allow_pickle=True)
    np.savez(tmp_path / "a.npz", boom)
    np.savez(tmp_path / "b.npz", format=np.array(b"csr"), shape=np.array([1, 1]), data=boom[0])
    for extension in READERS:
        written(tmp_path / f"raw{extension}", pickle.dumps(Boom(trace)))
    for path in sorted(tmp_path.iterdir()):
        with pytest.raises(PatternError):
            read_file(str(path), {"true": "attend"} if path.suffix in (".npy", ".npz") else None)
    assert not trace.exists()


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_sparse_archives(tmp_path, form, container):
    path = tmp_path / "sparse.npz"
    for compressed in (False, True):
        sp.save_npz(path, container(MASK.astype(float)).asformat(form), compressed=compressed)
        assert read_file(str(path)) == SMALL
    refused(path, "unknown option 'true' for a sparse matrix", {"true": "attend"})


def test_sparse_archives_without_entries_or_with_explicit_zeros(tmp_path):
    path = tmp_path / "sparse.npz"
    sp.save_npz(path, sp.csr_array((3, 3)))
    assert read_file(str(path)).to_lists() == [[[], [], []]]
    sp.save_npz(path, sp.coo_array(([1.0, 0.0], ([0, 1], [1, 0])), shape=(2, 2)))
    assert read_file(str(path)).to_lists() == [[[1], []]]


def sparse_parts(**changed):
    parts = {
        "format": np.array(b"csr"),
        "shape": np.array([3, 3]),
        "data": np.ones(4),
        "indices": np.array([0, 0, 1, 1], dtype=np.int32),
        "indptr": np.array([0, 1, 3, 4], dtype=np.int32),
    }
    return parts | changed


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"indices": np.array([0, 0, 1, 10**6], dtype=np.int32)}, "malformed|inconsistent"),
        ({"indices": np.array([0, 0, 1, -9], dtype=np.int32)}, "malformed|inconsistent"),
        ({"indptr": np.array([0, 3, 1, 4], dtype=np.int32)}, "malformed|inconsistent"),
        ({"indptr": np.array([0, 1, 3, 9], dtype=np.int32)}, "malformed|inconsistent"),
        ({"data": np.ones(3)}, "malformed|inconsistent"),
        ({"data": np.array([1, 1, np.nan, 1])}, r"entry \(query 1, key 1\) is nan"),
        ({"format": np.array(b"xyz")}, "malformed"),
        ({"shape": np.array([3, 4])}, "not square"),
        ({"shape": np.array([3])}, "malformed|not square"),
        ({"format": np.array(b"coo"), "shape": np.array([10**9, 10**9])}, "malformed|between 1 and"),
    ],
)
def test_bad_sparse_archives(tmp_path, changed, message):
    path = tmp_path / "sparse.npz"
    np.savez(path, **sparse_parts())
    assert read_file(str(path)) == SMALL
    np.savez(path, **sparse_parts(**changed))
    refused(path, message)


def test_a_huge_sparse_shape_asks_for_no_memory(tmp_path):
    path = tmp_path / "huge.npz"
    sp.save_npz(path, sp.coo_array(([1], ([0], [0])), shape=(2 * 10**9, 2 * 10**9)))
    refused(path, "between 1 and 67108864 tokens, got 2000000000")


def test_bad_archives(tmp_path, monkeypatch):
    path = tmp_path / "bad.npz"
    np.savez(path, MASK)
    whole = path.read_bytes()
    refused(written(path, whole[:-30]), "malformed", {"true": "attend"})
    refused(written(path, b"PK\x03\x04 nothing"), "malformed")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "hello")
    refused(path, "'readme.txt', which is no array")
    with zipfile.ZipFile(path, "w"):
        pass
    refused(path, "this one has 0")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("arr_0.npy", npy(np.zeros((2000, 2000), bool)))
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(theory.readers.arrays, "DENSE_LIMIT", 10**6)
    refused(path, r"unpacks to \d+ bytes, more than the limit")


def test_two_arrays_of_one_name(tmp_path):
    path = tmp_path / "twice.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", npy(MASK))
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.npy", npy(~MASK))
    refused(path, "two arrays of one name", {"true": "attend"})


# Matrix Market


@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_matrix_market_rows_are_queries(tmp_path, field):
    scipy.io.mmwrite(tmp_path / "m.mtx", sp.coo_array(MASK.astype(int)), field=field, comment="a comment")
    assert read_file(str(tmp_path / "m.mtx")) == SMALL


@pytest.mark.parametrize(
    ("symmetry", "mirror"), [("general", False), ("symmetric", True), ("skew-symmetric", True)]
)
def test_matrix_market_symmetry(tmp_path, symmetry, mirror):
    text = f"%%MatrixMarket matrix coordinate real {symmetry}\n%\n\n3 3 3\n2 1 1.5\n3 2 -2\n3 1 0\n"
    pattern = read_file(str(written(tmp_path / "m.mtx", text)))
    assert pattern.to_lists() == [[[1], [0, 2], [1]] if mirror else [[], [0], [1]]]


def test_matrix_market_sums_duplicates_and_may_be_empty(tmp_path):
    path = tmp_path / "m.mtx"
    text = "%%MatrixMarket matrix coordinate integer general\n2 2 4\n1 1 1\n1 1 -1\n2 1 1\n2 1 1\n"
    assert read_file(str(written(path, text))).to_lists() == [[[], [0]]]
    text = "%%MatrixMarket matrix coordinate pattern general\n2 2 0\n"
    assert read_file(str(written(path, text))).to_lists() == [[[], []]]


MTX = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hello\n", "not a Matrix Market file"),
        ("%%MatrixMarket matrix array real general\n1 1\n1\n", "save it as coordinate"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n", "no pattern"),
        ("%%MatrixMarket matrix coordinate real odd\n1 1 1\n1 1 1\n", "no pattern"),
        (MTX, "size line"),
        (MTX + "% only a comment\n", "size line"),
        (MTX + "3 3\n", "size line"),
        (MTX + "-3 -3 1\n", "size line"),
        (MTX + "2 3 1\n1 1 1\n", "not square: 2 queries by 3 keys"),
        (MTX + "0 0 0\n", "tokens, got 0"),
        (MTX + "2000000000 2000000000 1\n1 1 1\n", "tokens, got 2000000000"),
        (MTX + "3 3 99999999\n1 1 1\n", "truncated"),
        (MTX + "3 3 2\n1 1 1\n", "says 2 entries, but there are 1"),
        (MTX + "3 3 1\n1 1 1\n2 2 1\n", "says 1 entries, but there are 2"),
        (MTX + "3 3 2\n1 1 1\n2 2 ", "line 4: '2 2' is not 3 numbers"),
        (MTX + "3 3 2\n1 1 1\n2 2 x\n", "line 4: '2 2 x' is not 3 numbers"),
        (MTX + "3 3 2\n1 1 1\n2.0 2 1\n", "line 4"),
        (MTX + "3 3 1\n1 4 1\n", r"entry \(1, 4\), counted from 1.*outside 1\.\.3"),
        (MTX + "3 3 1\n0 1 1\n", r"entry \(0, 1\)"),
        (MTX + "3 3 1\n1 1 nan\n", r"entry \(query 0, key 0\) is nan"),
        (b"%%MatrixMarket matrix coordinate real general\n%\xff\n", "utf-8"),
    ],
)
def test_bad_matrix_market(tmp_path, content, message):
    refused(written(tmp_path / "bad.mtx", content), message)


def test_every_truncation_of_a_matrix_market_file_is_survived(tmp_path):
    """SciPy's own reader crashes the interpreter on some of these."""
    path = tmp_path / "m.mtx"
    scipy.io.mmwrite(path, sp.random_array((6, 6), density=0.5, rng=np.random.default_rng(1)))
    whole = path.read_text()
    last = len(whole.rstrip().rpartition(" ")[0])
    for end in range(1, last, 7):
        with pytest.raises(PatternError):
            read_file(str(written(path, whole[:end])))


# GraphML


def test_graphml_edges_go_from_key_to_query(tmp_path):
    graph = nx.DiGraph([(0, 0), (0, 1), (1, 1), (1, 2)])
    nx.write_graphml(graph, tmp_path / "g.graphml")
    assert read_file(str(tmp_path / "g.graphml")) == SMALL
    nx.write_graphml(nx.relabel_nodes(graph, lambda k: f"n{k}"), tmp_path / "g.graphml")
    assert read_file(str(tmp_path / "g.graphml")) == SMALL
    nx.write_graphml(nx.Graph([(0, 0), (0, 1), (1, 2)]), tmp_path / "g.graphml")
    assert read_file(str(tmp_path / "g.graphml")).to_lists() == [[[0, 1], [0, 2], [1]]]


def graphml(body, before=""):
    space = "http://graphml.graphdrawing.org/xmlns"
    return f'<?xml version="1.0" encoding="utf-8"?>{before}<graphml xmlns="{space}">{body}</graphml>'


def graph(body):
    return graphml(f'<graph edgedefault="directed">{body}</graph>')


ENTITIES = '<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("hello", "malformed"),
        (graph('<node id="0"/>')[:-5], "malformed"),
        (graphml(""), "no <graph>"),
        (graph(""), "tokens, got 0"),
        (graph('<node id="a"/>'), "node 'a' is no token"),
        (graph('<node id="1"/>'), r"node '1' lies outside 0\.\.0"),
        (graph('<node id="0"/><node id="n0"/>'), "two nodes name one token"),
        (graph('<node id="0"/><node id="00"/>'), "node '00' is no token"),
        (graph('<node id="0"/><node id="0"/>'), "node '0' is declared twice"),
        (graph('<node id="0"/><edge source="0" target="1"/>'), "not declared"),
        (graph('<node id="0"><node id="1"/></node>'), "inside another"),
        (graph('<node id="0"/><edge source="0"/>'), "not declared"),
        (graph("") + "<x/>", "malformed"),
        (graphml("<graph edgedefault='directed'/><graph edgedefault='directed'/>"), "several graphs"),
        (graphml("<graph>&b;</graph>", ENTITIES), "document type"),
        (graphml("<graph>&b;</graph>", ENTITIES).replace("utf-8", "utf-16").encode("utf-16"), "document type"),
        (graphml("<graph/>", '<!DOCTYPE g SYSTEM "file:///etc/passwd">'), "document type"),
    ],
)
def test_bad_graphml(tmp_path, content, message):
    refused(written(tmp_path / "bad.graphml", content), message)


# Edge lists


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0 0\n0 1\n1 1\n1 2\n", [ROWS]),
        ("0\t0\n0\t1\r\n1\t1\n1\t2", [ROWS]),
        ("0,0\n0, 1\n1,1\n1,2\n", [ROWS]),
        ("# n=3\n\n1 2 # a comment\n0 0\n0 1\n0 1\n1 1\n# the end\n", [ROWS]),
        ("n = 3\n0 0\n0 1\n1 1\n1 2\n", [ROWS]),
        ("key,query\n0,0\n0,1\n1,1\n1,2\n", [ROWS]),
        ('"query","key"\n0,0\n1,0\n1,1\n2,1\n', [ROWS]),
        ("target source\n0 0\n1 0\n1 1\n2 1\n", [ROWS]),
        ("key query pattern\n0 0 0\n0 1 0\n1 1 0\n1 2 0\n2 2 1\n", [ROWS, [[], [], [2]]]),
        ("pattern key query\n1 2 2\n0 0 0\n0 0 1\n0 1 1\n0 1 2\n", [ROWS, [[], [], [2]]]),
        ("# n=4\n0 1\n", [[[], [0], [], []]]),
        ("\ufeff0 1\n", [[[], [0]]]),
    ],
)
def test_edge_lists(tmp_path, content, expected):
    for extension in (".txt", ".edges", ".edgelist", ".csv", ".tsv"):
        assert read_file(str(written(tmp_path / f"e{extension}", content))).to_lists() == expected


def test_the_number_of_tokens_may_be_an_option(tmp_path):
    path = written(tmp_path / "e.txt", "# n=4\n0 1\n")
    assert read_file(str(path), {"n": "4"}).n == 4
    refused(path, "n is said twice: 4 by line 1, 5 by the option n", {"n": "5"})
    refused(path, "n must be a whole number, got 'four'", {"n": "four"})
    refused(path, "unknown option 'm'", {"m": "4"})
    refused(written(path, "0 1\n"), r"query 1 lies outside 0\.\.0", {"n": "1"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("# nothing\n", "no edge"),
        ("n=4\n", "no edge"),
        ("0\n", "line 1: 1 columns"),
        ("0 1 2 3\n", "line 1: 4 columns"),
        ("# c\n0 1\n\n1 2 3\n", "line 4: '1 2 3' is not 2 numbers"),
        ("0 1\n1 x\n", "line 2: '1 x' is not 2 numbers"),
        ("0 1\n1 2.0\n", "line 2"),
        ("0 1\n1 nan\n", "line 2"),
        ("0,1\n1,,2\n", "line 2"),
        ("0,1\n1 2\n", "line 2"),
        ("0 1\n1 99999999999999999999\n", "line 2"),
        ("0 1\n1 1_0\n", "line 2"),
        ("0 1\nn=5\n", "line 2"),
        ("0 1 {\n", "line 1"),
        ("0 -1\n", "query -1 lies outside|tokens, got"),
        ("0 999999999999\n", "tokens, got 1000000000000"),
        ("n=0\n0 1\n", "tokens, got 0"),
        ("n=2\n0 2\n", r"query 2 lies outside 0\.\.1"),
        ("n=2\nn=3\n0 1\n", "said twice: 3 by line 2, 2 by line 1"),
        ("from to\n0 1\n", "line 1: unknown columns 'from to'"),
        ("key query colour\n0 1 1\n", "unknown columns"),
        ("key,query,pattern\n0,1,1\n", "without gaps"),
        ("key,query,pattern\n0,1,0\n0,1,2\n", "without gaps"),
        ("key,query,pattern\n0,1,-1\n", "without gaps"),
        ("key,query,pattern\n0,1,999999999\n", "without gaps"),
        ("key query pattern\nn=60000000\n0 1 0\n0 1 1\n", "n=60000000 tokens, but 2 connections"),
        (b"0 1\n\xff\xfe\n", "utf-8"),
    ],
)
def test_bad_edge_lists(tmp_path, content, message):
    refused(written(tmp_path / "bad.txt", content), message)


# Any file


@pytest.mark.parametrize("extension", READERS)
def test_files_that_cannot_be_read(tmp_path, extension):
    path = tmp_path / f"x{extension}"
    refused(path, "no such file")
    refused(written(path, b""), "the file is empty")
    path.unlink()
    os.mkfifo(path)
    refused(path, "not a regular file")
    path.unlink()
    path.mkdir()
    refused(path, "is a directory")
    with pytest.raises(PatternError, match="no such file"):
        read_file(f"x\0{extension}")
    with pytest.raises(PatternError, match="File name too long"):
        read_file("x" * 5000 + extension)


@pytest.mark.parametrize("extension", READERS)
def test_over_large_files_are_refused_unread(tmp_path, extension):
    path = tmp_path / f"x{extension}"
    with open(path, "wb") as file:
        file.truncate(3 * 2**30)  # a sparse file: no such space is taken
    refused(path, "more than the limit")


def test_unknown_kinds(tmp_path):
    refused(written(tmp_path / "x.pkl", b"x"), r"unknown kind of file: the known ones are \.json")
    refused(tmp_path, "is a directory")


def test_errors_keep_to_one_printable_line():
    assert one_line("a\n b\x00\ud800\t" + "c" * 999) == r"a b\x00\ud800 " + "c" * 383 + "..."
    for error, text in (
        (MemoryError(), "name: does not fit in memory"),
        (RecursionError(), "name: nested too deeply"),
        (KeyError(), "name: malformed: KeyError"),
        (PermissionError(13, "Permission denied"), "name: cannot be read: Permission denied"),
    ):
        with pytest.raises(PatternError, match=text), reading("name"):
            raise error
