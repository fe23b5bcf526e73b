"""Whatever the bytes of a file, the outcome is a pattern or one clear line."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from theory.patterns import PatternError, SparsityPattern
from theory.readers.files import READERS, read_file
from theory.readers.source import read_source

CASE = (Path(__file__).parent / "cases" / "oa7_strided_p2.json").read_bytes()
MASK = np.random.default_rng(0).random((5, 5)) < 0.5


def saved(save):
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


def good_files():
    """Small files of every kind, by extension: what the mutations start from."""
    matrix = sp.coo_array(MASK.astype(float))
    graph = nx.DiGraph([(u, v) for v, u in np.argwhere(MASK).tolist()])
    edges = "# n=5\n" + "".join(f"{j} {k}\n" for k, j in np.argwhere(MASK))
    files = {
        ".json": [CASE, b"[[0], [0, 1], [1]]"],
        ".npy": [saved(lambda f: np.save(f, MASK)), saved(lambda f: np.save(f, np.where(MASK, 0, -np.inf)))],
        ".npz": [saved(lambda f: np.savez(f, MASK, MASK)), saved(lambda f: sp.save_npz(f, matrix.tocsr()))],
        ".mtx": [saved(lambda f: scipy.io.mmwrite(f, matrix))],
        ".graphml": [saved(lambda f: nx.write_graphml(graph, f))],
        ".gml": [saved(lambda f: nx.write_gml(graph, f))],
        ".adjlist": [saved(lambda f: nx.write_adjlist(graph, f))],
    }
    files[".npz"] += [
        saved(lambda f, a=a: sp.save_npz(f, matrix.asformat(a), False)) for a in ("coo", "bsr", "dia")
    ]
    return files | {extension: [edges.encode()] for extension in (".txt", ".edges", ".edgelist", ".csv", ".tsv")}


FILES = good_files()
OPTIONS = [{}, {"true": "attend"}, {"zero": "attend"}]
FUZZ = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def mutated(draw, contents):
    content = bytearray(draw(st.sampled_from(contents)))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(content)))
        length = draw(st.integers(0, 6))
        new = draw(
            st.one_of(st.binary(max_size=4), st.sampled_from([b"-1", b"9" * 7, b"NaN", b"\n", b"[", b'"', b""]))
        )
        content[place : place + length] = new
    return bytes(content[: draw(st.integers(0, len(content)))] if draw(st.integers(0, 4)) == 0 else content)


def survives(path, content, options):
    path.write_bytes(content)
    try:
        pattern = read_file(str(path), options).only()
    except PatternError as error:
        text = str(error)
        assert "\n" not in text
        assert text.isprintable()
        assert text.startswith(str(path))
    else:
        assert isinstance(pattern, SparsityPattern)
        assert pattern.n >= 1


def test_the_files_that_mutations_start_from_are_good(tmp_path):
    for extension, contents in FILES.items():
        for number, content in enumerate(contents):
            path = tmp_path / f"{number}{extension}"
            path.write_bytes(content)
            results = []
            for options in OPTIONS:
                try:
                    results.append(read_file(str(path), options).only())
                except PatternError:
                    continue
            assert len(results) == 1, path
    assert set(FILES) == set(READERS)


@pytest.mark.parametrize("extension", [".json", ".npy", ".npz", ".mtx", ".graphml", ".gml", ".adjlist", ".txt"])
def test_mutated_files(tmp_path, extension):
    @FUZZ
    @given(mutated(FILES[extension]), st.sampled_from(OPTIONS if extension.startswith(".np") else [{}]))
    def check(content, options):
        survives(tmp_path / f"x{extension}", content, options)

    check()


@pytest.mark.parametrize("extension", [".json", ".npy", ".npz", ".mtx", ".graphml", ".gml", ".adjlist", ".csv"])
def test_random_bytes(tmp_path, extension):
    @settings(FUZZ, max_examples=40)
    @given(
        st.one_of(st.binary(max_size=200), st.text(max_size=80).map(lambda text: text.encode("utf-8", "replace")))
    )
    def check(content):
        survives(tmp_path / f"x{extension}", content, {})

    check()


trees = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-2, 4), st.integers(), st.floats(), st.text(max_size=4)),
    lambda part: st.one_of(
        st.lists(part, max_size=4),
        st.dictionaries(
            st.sampled_from(["n", "p", "attends", "counting", "orientation", "id", "x"]), part, max_size=4
        ),
    ),
    max_leaves=12,
)


@FUZZ
@given(trees)
def test_any_json(tmp_path, tree):
    survives(tmp_path / "x.json", json.dumps(tree).encode(), {})


@FUZZ
@given(
    st.sampled_from(["arr_0", "format", "shape", "data", "indices", "indptr", "row", "col", "offsets"]), st.data()
)
def test_sparse_archives_with_a_strange_member(tmp_path, name, data):
    matrix = sp.coo_array(MASK.astype(float)).asformat(data.draw(st.sampled_from(["csr", "csc", "coo", "dia"])))
    with np.load(io.BytesIO(saved(lambda f: sp.save_npz(f, matrix)))) as archive:
        members = dict(archive)
    numbers = st.lists(st.integers(-3, 30), max_size=30)
    kinds = st.sampled_from([np.int8, np.int64, np.float64, np.bool_, "S3"])
    members[name] = np.array(data.draw(numbers)).astype(data.draw(kinds))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for member, array in members.items():
            archive.writestr(f"{member}.npy", saved(lambda f, a=array: np.save(f, a)))
    survives(tmp_path / "x.npz", buffer.getvalue(), {})


@FUZZ
@given(
    st.one_of(
        st.text(max_size=30),
        st.text("starn=16w,:?&+.jsonpyz%_ ", max_size=30),
        st.builds("star:n={},w={}{}".format, st.integers(-2, 9), st.integers(-2, 9), st.text(max_size=5)),
    )
)
def test_any_source(tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    try:
        said = str(read_source(source))
    except PatternError as error:
        said = str(error)
    assert said
    assert "\n" not in said


@pytest.mark.parametrize("letter", ["\u00e9", "\u0661", "\u1b1f", "\U00022db7", "\U000f8c57"])
@pytest.mark.parametrize("extension", [".csv", ".mtx"])
def test_letters_beyond_ascii_are_refused_by_line(tmp_path, extension, letter):
    """A number with such a letter crashed the interpreter inside NumPy; a comment may hold any."""
    path = tmp_path / f"x{extension}"
    head = "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n" if extension == ".mtx" else ""
    path.write_text(f"{head}1 1\n1 {letter}\n", encoding="utf-8")
    with pytest.raises(PatternError, match=r"line \d: .* is not 2 numbers"):
        read_file(str(path), {})
    path.write_text(f"{head}1 1\n1 2 {'%' if head else '#'} {letter}\n", encoding="utf-8")
    assert read_file(str(path), {}).only().connections == 2
