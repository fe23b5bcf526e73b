"""The table of compare: nothing is lost on a narrow terminal without being named, and a pipe gets all."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from typing import Any

import pytest

from sparseuap.cli import main
from sparseuap.commands.compare import HEADINGS, LEAST, THEOREMS, _lines
from sparseuap.commands.grow import _matrix
from sparseuap.comparison import compare, default_sources
from sparseuap.text_table import Column, fit, fold
from theory.families import causal
from theory.receptive_field import receptive_field

ALL = [*HEADINGS.values(), *THEOREMS.values()]
WIDTHS = [20, 40, 60, 80, 100, 160, 200]


@pytest.fixture(scope="module")
def rows() -> Any:
    return compare(*default_sources(16), "fixed:n=7,w=3", "window:n=12,w=0", time_limit=5.0)


def read(lines: list[str], rows: list[dict[str, Any]]) -> tuple[list[str], list[str], list[list[str]]]:
    """Return headings, the headings named as left out, and the cells of every row, names put together again."""
    rule = lines[1]
    starts = [0] + [i + 2 for i in range(len(rule) - 1) if rule[i : i + 2] == "  "]
    ends = [*(start - 2 for start in starts[1:]), len(rule)]
    spans = list(zip(starts, ends, strict=True))
    blank = lines.index("") if "" in lines else len(lines)
    named = " ".join(lines[blank + 1 :]).partition(": ")[2].partition(". A wider")[0]
    found: list[list[str]] = []
    for line in lines[2:blank]:
        cells = [line[a:b].strip() for a, b in spans]
        if any(cells[1:]):
            found.append(cells)
        else:
            found[-1][0] += cells[0]
    assert [cells[0] for cells in found] == [row["source"] for row in rows]
    return [lines[0][a:b].strip() for a, b in spans], [name for name in named.split(", ") if name], found


@pytest.mark.parametrize("width", WIDTHS)
def test_every_column_is_shown_whole_or_named(width: int, rows: Any) -> None:
    lines = list(_lines(rows, width))
    shown, left_out, cells = read(lines, rows)
    assert sorted(shown + left_out) == sorted(ALL)
    if width >= 40:
        assert all(len(line) <= width for line in lines)
        assert {"pattern", "1.2", "1.3", "s", "universal"} <= set(shown)
    if width >= 60:
        assert {"n", "p", "1.1"} <= set(shown)
    if width >= 80:
        assert "reach" in shown
    full, none, everything = read(list(_lines(rows, None)), rows)
    assert none == []
    for column, heading in enumerate(shown):
        assert [row[column] for row in cells] == [row[full.index(heading)] for row in everything]
    assert [heading for heading in LEAST if heading in left_out] == list(LEAST[: len(left_out)])


def test_the_verdict_column_tells_causal_patterns_from_others(rows: Any) -> None:
    shown, _, cells = read(list(_lines(rows, None)), rows)
    verdicts = {row[0].partition(":")[0]: row[shown.index("universal")] for row in cells}
    assert verdicts["causal"] == "causal"
    assert cells[-2][-1] == "causal"  # Fixed, w not dividing n: reach(k) contains 0..k
    assert cells[-1][-1] == "NO"
    assert verdicts["ring"] == "yes"


def test_a_pipe_gets_every_column(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    with pytest.raises(SystemExit):
        main(["compare", "ring:n=5", "bigbird:n=16,window=1,random=2,globals=1,seed=0"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert lines[0].split("  ")[0] == "pattern"
    for heading in ALL:
        assert heading in lines[0]
    assert max(map(len, lines)) > 160


def test_a_terminal_of_80_columns_is_filled_and_not_passed() -> None:
    pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")
    fcntl = pytest.importorskip("fcntl")
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    program = "from sparseuap.cli import main; main(['compare', 'ring:n=5', 'star:n=16,w=1'])"
    subprocess.run(  # noqa: S603
        [sys.executable, "-c", program], stdout=writer, stderr=subprocess.DEVNULL, env=environment, check=True
    )
    os.close(writer)
    text = b""
    try:
        while chunk := os.read(reader, 65536):
            text += chunk
    except OSError:  # the terminal's other end is closed
        pass
    os.close(reader)
    lines = text.decode().splitlines()
    assert 60 < max(map(len, lines)) <= 80
    assert {"n", "p", "1.1", "1.2", "1.3", "s"} <= set(lines[0].split())
    assert any(line.startswith("Left out on 80 columns:") for line in lines)


def test_the_matrix_of_grow_is_told_in_parts_where_lines_are_short() -> None:
    field = receptive_field(causal(30), 2, matrix=True).first_seen
    assert field is not None
    wanted = {
        (str(k), str(j)): "." if t < 0 else str(t)
        for k, row in enumerate(field.tolist())
        for j, t in enumerate(row)
    }
    for room in (None, 80, 40, 12, 3):
        lines = list(_matrix(field, 2, room))
        assert len(lines) == 31 if room is None else all(len(line) <= max(room, 8) for line in lines)
        found: dict[tuple[str, str], str] = {}
        keys: list[str] = []
        for line in lines:
            query, colon, times = line.partition(" :")
            if not colon:
                keys = line.split()
                continue
            found |= {(query.strip(), key): t for key, t in zip(keys, times.split(), strict=True)}
        assert found == wanted


def test_json_keeps_its_keys(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["compare", "ring:n=5", "--json"])
    (row,) = json.loads(capsys.readouterr().out)
    assert {*HEADINGS, "theorems", "mean_distance_error", "universal_causal"} == set(row)


def test_names_are_folded_behind_separators_and_lose_nothing() -> None:
    for text in [*default_sources(64), "/a/very/long/path/to/some/file.npz?true=attend&head=union", "x" * 50, ""]:
        for width in (5, 10, 20):
            lines = fold(text, width)
            assert "".join(lines) == text
            assert all(len(line) <= width for line in lines)


def test_a_table_that_cannot_fit_keeps_what_must_stay() -> None:
    columns = [Column("name", ["a" * 30]), Column("wide", ["b" * 30]), Column("less", ["c" * 30])]
    lines, left_out = fit(columns, ["less"], 20)
    assert left_out == ["less"]
    assert lines[2].split() == ["a" * 10, "b" * 30]
