"""Graph files: edges that lead both ways, self-loops, weights and edge data, and sizes out of proportion."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from refusals import refused

from sparseuap.commands.check import command
from theory.patterns import PatternError
from theory.readers.guard import MAX_IDLE_TOKENS, check_tokens
from theory.readers.lists import from_key_lists
from theory.readers.source import read_heads, read_source

INPUTS = Path(__file__).parent / "cases" / "inputs"
KARATE = nx.karate_club_graph()
ONE_WAY, LOOPS = "no edge is listed both ways", "no token is listed with itself"


def rows(graph: Any, *, loops: bool = False) -> list[list[list[int]]]:
    """The keys of every token, straight from the definition: the edge u -> v puts u into A_v."""
    keys: list[set[int]] = [{token} if loops else set() for token in range(len(graph))]
    for u, v in graph.edges():
        keys[v].add(u)
        if not graph.is_directed():
            keys[u].add(v)
    return [[sorted(row) for row in keys]]


def notes(source: str) -> list[str]:
    """Return the notes, the two long ones by their beginnings."""
    known = (ONE_WAY, LOOPS)
    return [next(filter(note.startswith, known), note) for note in read_heads(source).notes]


@pytest.mark.parametrize(
    ("file", "both_ways"),
    [
        ("F3_karate_nodata.edgelist", "?directed=false"),
        ("F3_karate.edgelist", "?directed=false"),
        ("F3_karate_w.edgelist", "?directed=false&third=weight"),
        ("F3_w01.edgelist", "?third=weight&directed=false"),
        ("F3_edge_hdr2.csv", "?directed=false"),
        ("F3_edge_index.npy", ""),
    ],
)
def test_the_karate_club_in_six_files(file: str, both_ways: str) -> None:
    source = f"{INPUTS}/{file}{both_ways}"
    result = CliRunner().invoke(command, [source, "--json"], standalone_mode=False)
    data = json.loads(result.output)
    assert result.return_value == 3
    assert (data["n"], data["p"], data["connections"], data["s"], data["reach"]) == (34, 1, 156, 5, "all")
    assert (data["assumption_1_1"], data["assumption_1_2"], data["universal"]) == (False, False, None)
    assert read_source(source).to_lists() == rows(KARATE)
    joined = "&" if both_ways else "?"
    assert read_source(f"{source}{joined}loops=true").to_lists() == rows(KARATE, loops=True)


def test_a_file_without_a_way_back_says_so() -> None:
    source = f"{INPUTS}/F3_karate_nodata.edgelist"
    assert notes(source) == [ONE_WAY, LOOPS]
    assert notes(f"{source}?directed=true&loops=false") == []
    assert notes(f"{source}?directed=true") == [LOOPS]
    assert notes(f"{source}?directed=false&loops=true") == []
    assert read_source(source).connections == read_source(f"{source}?directed=true&loops=false").connections == 78
    text = CliRunner().invoke(command, [source], standalone_mode=False).output
    assert text.startswith(
        f"Note: {ONE_WAY}, and each is read as key -> query alone: if the graph is undirected, add"
    )
    assert "directed=false" in text.splitlines()[0]
    for option in ("directed", "loops"):
        refused(f"{source}?{option}=yes", f"{option} must be true or false, got 'yes'")


def test_who_asks_for_the_pattern_alone_finds_the_notes_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    file = f"{INPUTS}/F3_karate_nodata.edgelist"
    read_source(f"{file}?directed=false")
    assert [LOOPS in line for line in caplog.messages] == [True]
    assert caplog.messages[0].startswith("Note: ")
    assert "?directed=false: " in caplog.messages[0]
    caplog.clear()
    read_source(f"{file}?directed=false&loops=true")
    read_heads(file)
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ("0 1\n1 2\n2 1\n", [LOOPS]),
        ("0 1\n1 2\n2 2\n", [ONE_WAY]),
        ("0 0\n1 1\n", []),
        ("0 0\n0 1\n1 0\n", []),
        ("0 1\n1 2\n2 0\n", [ONE_WAY, LOOPS]),
    ],
)
def test_one_edge_back_or_one_loop_is_enough(here: Path, edges: str, said: list[str]) -> None:
    for name, text in (("e.txt", edges), ("e.csv", edges.replace(" ", ","))):
        (here / name).write_text(text)
        assert notes(name) == said
    lines = edges.splitlines()
    entries = "".join(f"{int(line.split()[1]) + 1} {int(line.split()[0]) + 1}\n" for line in lines)
    head = "%%MatrixMarket matrix coordinate pattern general\n"
    n = 1 + max(int(word) for word in edges.split())
    (here / "e.mtx").write_text(f"{head}{n} {n} {len(lines)}\n{entries}")
    assert notes("e.mtx") == said
    assert read_source("e.mtx") == read_source("e.txt")
    for options in ("directed=false", "loops=true", "directed=false&loops=true"):
        assert read_source(f"e.mtx?{options}") == read_source(f"e.txt?{options}")


def test_the_way_back_is_found_beyond_the_first_slice(monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    monkeypatch.setattr("theory.readers.graphs.SLICE", 3)
    path = "".join(f"{k} {k + 1}\n" for k in range(20))
    (here / "e.txt").write_text(path)
    assert notes("e.txt") == [ONE_WAY, LOOPS]
    (here / "e.txt").write_text(f"{path}20 19\n")
    assert notes("e.txt") == [LOOPS]


def test_options_hold_for_every_pattern_of_a_cycle(here: Path) -> None:
    (here / "e.txt").write_text("0 1 0\n1 2 1\n")
    read = read_source("e.txt?third=pattern&directed=false&loops=true&n=3")
    assert read.to_lists() == [[[0, 1], [0, 1], [2]], [[0], [1, 2], [1, 2]]]


def test_a_third_column_is_asked_about(here: Path) -> None:
    for third in ("0", "1", "0.5", "4"):
        (here / "e.txt").write_text(f"# a comment\n0 1 {third}\n1 0 {third}\n")
        refused("e.txt", "line 2: the third column may number the patterns", "third=pattern", "third=weight")
        assert read_source("e.txt?third=weight").to_lists() == [[[1], [0]]]
    refused("e.txt?third=pattern", "must number the patterns 0, 1, .. without gaps")
    refused("e.txt?third=label", "third must be pattern or weight, got 'label'")
    assert "weights are not read: an edge of weight 0 counts as any other" in notes("e.txt?third=weight")
    (here / "e.txt").write_text("0 1 0\n1 0 1\n")
    assert read_source("e.txt?third=pattern").to_lists() == [[[], [0]], [[1], []]]
    assert notes("e.txt?third=pattern") == [ONE_WAY, LOOPS]
    (here / "e.txt").write_text("0 1 x\n")
    refused("e.txt?third=weight", "line 1: '0 1 x' is not 3 numbers")
    (here / "e.txt").write_text("0 1\n")
    refused("e.txt?third=weight", "third=weight, but there are two columns")


def test_a_named_third_column_is_what_its_name_says(here: Path) -> None:
    (here / "e.csv").write_text("src,dst,weight\n0,1,0.0\n1,0,1e-3\n")
    assert read_source("e.csv").to_lists() == [[[1], [0]]]
    refused("e.csv?third=weight", "names the columns: leave third out")
    (here / "e.csv").write_text("dst,pattern,weight,src\n1,0,0.5,0\n0,1,2,1\n")
    assert read_source("e.csv").to_lists() == [[[], [0]], [[1], []]]
    for names in ("from,to", "u,v", "src,target,source", "src,src", "weight,pattern"):
        (here / "e.csv").write_text(f"{names}\n0,1\n")
        refused("e.csv", "line 1: unknown columns", "source, target; src, dst")


def test_edge_data_are_cut_off_and_never_evaluated(here: Path) -> None:
    graph = nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 2)])
    nx.set_edge_attributes(graph, {edge: {"colour": "#f0f", "name": "\u00e9,{"} for edge in graph.edges()})
    for delimiter in (" ", ",", "\t"):
        nx.write_edgelist(graph, "e.edgelist", delimiter=delimiter)
        assert read_source("e.edgelist").to_lists() == rows(graph)
        assert notes("e.edgelist") == ["the data behind the edges, {..}, are not read"]
    trace = here / "trace"
    (here / "e.txt").write_text(f"0 1 {{}}\n1 0\n1 1 {{'a': open({str(trace)!r}, 'w')}}\n")
    assert read_source("e.txt").connections == 3
    assert not trace.exists()
    (here / "e.txt").write_text("0 1\n1 0 # {no data}\n")
    assert notes("e.txt") == [LOOPS]
    for line in ("0 1 {'a': 1", "0 1 {} 2", "0 {} 1", "x {}"):
        (here / "e.txt").write_text(f"0 1\n{line}\n")
        refused("e.txt", "line 2: ", "is not 2 numbers")


# Edge indices


def test_an_edge_index_has_sources_above_targets(here: Path) -> None:
    edges = np.array([[0, 0, 2], [1, 2, 1]])
    graph = nx.DiGraph(edges.T.tolist())
    for dtype in (np.int64, np.int32, np.uint8):
        np.save("e.npy", edges.astype(dtype))
        assert read_source("e.npy").to_lists() == rows(graph)
    assert notes("e.npy")[0].startswith("shape (2, 3) is read as an edge index: row 0 the sources (keys)")
    assert notes("e.npy")[1:] == [ONE_WAY, LOOPS]
    assert read_source("e.npy?directed=false&loops=true&n=3").to_lists() == rows(graph.to_undirected(), loops=True)
    assert read_source("e.npy?n=5").n == 5
    refused("e.npy?true=attend", "unknown option 'true' for an edge index: it takes n, directed, loops")
    refused("e.npy?n=2", "query 2 lies outside 0..1")
    refused("e.npy?n=two", "n must be a whole number")
    np.save("e.npy", -edges)
    refused("e.npy", "lies outside 0..")
    np.save("e.npy", np.array([[0, 2**63], [1, 1], [2, 2]], dtype=np.uint64).T)
    refused("e.npy", "tokens, got 9223372036854775809")
    np.save("e.npy", edges.T)
    refused("e.npy", "integers of shape (3, 2) are no mask; an edge index, (2, edges)")
    np.save("e.npy", edges.astype(float))
    refused("e.npy?zero=attend", "not square: 2 queries by 3 keys")


def test_two_by_two_integers_may_be_either(here: Path) -> None:
    np.save("e.npy", np.array([[0, 1], [1, 0]]))
    refused("e.npy", "may be a mask of 2 tokens (add true=attend", "an edge index of 2 edges (add n=")
    assert read_source("e.npy?true=masked").to_lists() == [[[0], [1]]]
    for option in ("n=2", "directed=true", "loops=false"):
        assert read_source(f"e.npy?{option}").to_lists() == [[[1], [0]]]
    np.savez("e.npz", np.array([[0, 1, 1], [1, 0, 0]]))
    refused("e.npz?true=attend", "an edge index, (2, edges), is read from a .npy file")


# Matrix Market, GraphML, GML, adjacency lists


def test_files_that_say_it_themselves_are_not_told_again(here: Path) -> None:
    (here / "m.mtx").write_text("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n")
    undirected, directed = nx.Graph([(0, 1), (1, 2)]), nx.DiGraph([(0, 1), (1, 2)])
    for write, name in ((nx.write_graphml, "graphml"), (nx.write_gml, "gml")):
        write(undirected, f"u.{name}")
        write(directed, f"d.{name}")
        assert read_source(f"u.{name}").to_lists() == rows(undirected)
        assert read_source(f"d.{name}").to_lists() == rows(directed)
        assert notes(f"u.{name}") == notes(f"d.{name}") == [LOOPS]
        assert read_source(f"d.{name}?directed=false&loops=true").to_lists() == rows(undirected, loops=True)
        refused(f"d.{name}?directed=true", "the file itself says that it is directed")
    for file in ("m.mtx", "u.graphml", "u.gml"):
        for option in ("true", "false"):
            refused(f"{file}?directed={option}", "the file itself says that its edges lead both ways")


def test_adjacency_lists(here: Path) -> None:
    nx.write_adjlist(KARATE, "k.adjlist")
    assert read_source("k.adjlist?directed=false").to_lists() == rows(KARATE)
    assert notes("k.adjlist") == [ONE_WAY, LOOPS]
    directed = nx.DiGraph([(2, 0), (0, 1), (1, 0), (1, 1)])
    directed.add_node(3)
    nx.write_adjlist(directed, "d.adjlist")
    assert read_source("d.adjlist").to_lists() == [rows(directed)[0]]
    assert notes("d.adjlist") == []
    assert read_source("d.adjlist?n=6").n == 6
    for text, message in (
        ("# nothing\n", "holds no edge"),
        ("0\n1\n", "holds no edge"),
        ("0 1\n1 a\n", "line 2: '1 a' is not a token and its neighbours"),
        ("0 -1\n", "line 1"),
        ("0 1_0\n", "line 1"),
        ("0 \u0661\n", "line 1"),
        (f"0 {'9' * 5000}\n", "line 1"),
        ("0 999999999999\n", "tokens, got 1000000000000"),
        ("0 67108863\n", "says n=67108864 tokens, but 1 connections"),
    ):
        (here / "bad.adjlist").write_text(text, encoding="utf-8")
        refused("bad.adjlist", message)
    refused("d.adjlist?third=weight", "unknown option 'third' for an adjacency list: it takes n, directed, loops")
    refused("d.adjlist?n=2", "lies outside 0..1")


def gml(body: str, before: str = "directed 1") -> str:
    return f"graph [ {before}\n{body}\n]\n"


def test_gml_labels_are_tokens_where_they_are_numbers(here: Path) -> None:
    graph = nx.DiGraph([(2, 0), (0, 1), (1, 1)])  # networkx gives its node 2 the id 0
    nx.write_gml(graph, "g.gml")
    assert read_source("g.gml").to_lists() == [[[2], [0, 1], []]]
    named = nx.Graph([("Mr Hi", "Officer")])
    nx.write_gml(named, "g.gml")
    assert read_source("g.gml").to_lists() == [[[1], [0]]]
    assert notes("g.gml") == ["tokens are the ids of the nodes: the labels are no numbers 0..n-1", LOOPS]
    (here / "g.gml").write_text(gml("node [ id 0 ]\nnode [ id 1 ]\nedge [ source 0 target 1 ]"))
    assert read_source("g.gml").to_lists() == [[[], [0]]]
    assert notes("g.gml") == [LOOPS]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", "malformed"),
        ("graph [", "malformed"),
        (gml(""), "tokens, got 0"),
        (gml("node [ id 1 ]\nnode [ id 2 ]"), "node '2' lies outside 0..1: number the 2 nodes from 0"),
        (gml('node [ id 0 label "0" ]\nnode [ id 1 label "00" ]\nnode [ id 3 label "x" ]'), "lies outside 0..2"),
        (gml("node [ id 0 ]\nnode [ id 0 ]"), "duplicated"),
        (gml('node [ id 0 label "0" ]\nnode [ id 1 label "n0" ]'), "two nodes name one token"),
        (gml("node [ id 0 ]\nedge [ source 0 target 1 ]"), "undefined target"),
        (gml("node [ id 1.5 ]"), "node '1.5' is no token"),
        (gml("a [ " * 5000), "nested too deeply"),
        (gml(f"node [ id {'9' * 5000} ]"), "malformed"),
        ("graph [ node [ id \"__import__('os')\" ] ]", "is no token"),
    ],
)
def test_bad_gml(here: Path, text: str, message: str) -> None:
    (here / "bad.gml").write_text(text)
    refused("bad.gml", message)


# Sizes


def test_tokens_out_of_proportion_to_the_connections_are_refused(here: Path) -> None:
    head = "%%MatrixMarket matrix coordinate real general\n"
    many = "says n=67108864 tokens, but {} connections"
    (here / "m.mtx").write_text(f"{head}67108864 67108864 1\n1 1 1\n")
    refused("m.mtx", many.format(1))
    (here / "m.mtx").write_text(f"{head}67108864 67108864 0\n")
    refused("m.mtx", many.format(0))
    for name, text in (
        ("e.txt", "0 67108863\n"),
        ("n.txt", "n=67108864\n0 1\n"),
        ("c.csv", "src,dst\n0,67108863\n"),
    ):
        (here / name).write_text(text)
        refused(name, many.format(1))
    (here / "e.txt").write_text("0 1\n")
    refused("e.txt?n=67108864", many.format(1))
    np.save("e.npy", np.array([[0], [67108863]]))
    refused("e.npy", many.format(1))
    sp.save_npz("s.npz", sp.coo_array(([1], ([0], [0])), shape=(2**26, 2**26)))
    refused("s.npz", many.format(1))
    (here / "e.txt").write_text(f"0 {MAX_IDLE_TOKENS - 1}\n")
    assert read_source("e.txt").n == MAX_IDLE_TOKENS
    check_tokens(10**7, 10**7 // 4)
    with pytest.raises(PatternError, match="at least half need a connection"):
        check_tokens(10**7, 10**7 // 4 - 1)


def test_a_repeated_key_is_found_without_a_scan_for_each_key() -> None:
    count = 3000
    rows_ = [[*range(count), count - 1], *([0] for _ in range(count - 1))]
    scans = 0

    def watch(_frame: object, event: str, called: object) -> None:
        nonlocal scans
        scans += event == "c_call" and getattr(called, "__name__", "") in ("count", "index")

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        with pytest.raises(PatternError, match=f"key {count - 1} is repeated"):
            from_key_lists(rows_)
    finally:
        sys.setprofile(before)
    assert scans < 10
