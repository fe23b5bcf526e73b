"""The report: one page, self-contained, escaped, deterministic, and true to the runs it shows."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from constructions.targets import TARGETS, parse_target
from sparseuap.cli import main
from sparseuap.remedy import find_remedy
from sparseuap.report_case import command_lines
from sparseuap.report_html import Markup, badge, escape, formula, script_json
from sparseuap.report_page import Report, page
from sparseuap.report_player import MOST_LAYERS, MOST_TOKENS, player_data
from theory.families import parse_family
from theory.probability_maps import parse_map
from theory.verdicts import Answer
from verify.error_study import study_error
from verify.pattern_certificate import certificate
from verify.pattern_verdict import assess
from verify.proof import prove

DEMO = (
    "star:n=5,w=1",
    "--d",
    "1",
    "--delta",
    "1/2",
    "--target",
    "sort",
    "--construction",
    "relay",
    "--rho",
    "softmax",
)
HOSTILE = "\"><script>alert(1)</script><img src=https://example.org/x onerror='alert(2)'>&amp;"
VOID = {"meta", "link", "input", "img", "br", "hr"}


class Page(HTMLParser):
    """What a page refers to; complains where tags do not match."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.ids: Counter[str] = Counter()
        self.addresses: list[tuple[str, str, str]] = []
        self.tags: Counter[str] = Counter()
        self.labelled: list[str] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), (tag, name)
            if name == "id":
                self.ids[value or ""] += 1
            if name in ("src", "href", "xlink:href", "action", "data", "srcset", "poster"):
                self.addresses.append((tag, name, value or ""))
            if name in ("aria-labelledby", "aria-describedby"):
                self.labelled.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag, tag

    def handle_data(self, data: str) -> None:
        (self.scripts if self.open and self.open[-1] in ("script", "style") else self.words).append(data)


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    return int(stop.value.code or 0)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo") / "made" / "here"
    assert run("report", *DEMO, "--out", str(folder)) == 0
    return folder


def check_self_contained(text: str) -> Page:
    """Nothing is loaded, every reference inside the page arrives, every id is there once."""
    read = Page(text)
    assert read.open == []
    assert {name for name, count in read.ids.items() if count > 1} == set()
    for tag, _name, address in read.addresses:
        inside = address.startswith("#") and address[1:] in read.ids
        assert inside or address.startswith("data:") or (tag == "a" and address == "certificate.json"), address
    for target in re.findall(r"url\(([^)]*)\)", text):
        assert target.startswith("#"), target
        assert target[1:] in read.ids, target
    assert all(name in read.ids for name in read.labelled)
    assert "@import" not in text
    assert "default-src 'none'" in text
    return read


def test_the_demo_page_is_self_contained_and_light(demo: Path) -> None:
    text = (demo / "index.html").read_text(encoding="utf-8")
    read = check_self_contained(text)
    assert len(text.encode()) < 2_000_000
    assert {"main", "header", "nav", "h1", "section"} <= set(read.tags)
    assert read.tags["h1"] == 1
    assert read.tags["figure"] >= 6
    words = " ".join("".join(read.words).split())
    assert "star:n=5,w=1 is universal for all continuous functions." in words
    assert (
        "Everything checked holds for the target sort; the construction is for all continuous functions." in words
    )
    assert (
        "sparseuap report star:n=5,w=1 --out report --d 1 --delta 1/2 --target sort --construction relay" in words
    )
    for kind in ("prefers-color-scheme: dark", "@media print", "focus-visible"):
        assert kind in text


def test_the_check_of_pages_refuses_what_would_be_loaded(demo: Path) -> None:
    text = (demo / "index.html").read_text(encoding="utf-8")
    for wrong in (
        '<img src="https://example.org/a.png">',
        '<link rel="stylesheet" href="style.css">',
        '<b id="verdict"></b>',
        '<a href="#nowhere">x</a>',
        '<p style="background:url(x.png)"></p>',
        '<p onclick="x()"></p>',
        "<p>",
    ):
        with pytest.raises(AssertionError):
            check_self_contained(text.replace("</main>", wrong + "</main>"))


def test_the_same_report_twice_is_the_same_bytes(demo: Path, tmp_path: Path) -> None:
    assert run("report", *DEMO, "--out", str(tmp_path)) == 0
    for name in ("index.html", "certificate.json"):
        assert (demo / name).read_bytes() == (tmp_path / name).read_bytes()


def test_the_certificate_beside_the_page_passes_the_checker(demo: Path) -> None:
    assert run("recheck", str(demo / "certificate.json")) == 0
    data = json.loads((demo / "certificate.json").read_text(encoding="utf-8"))
    text = (demo / "index.html").read_text(encoding="utf-8")
    assert escape(json.dumps(data)) in text


def test_a_hostile_source_stays_text() -> None:
    verdict = assess(parse_family("star:n=5,w=1"))
    why = f"It was not run: {HOSTILE}"
    commands = {"report": f"sparseuap report {HOSTILE}"}
    text = page(Report(HOSTILE, verdict, certificate(verdict, HOSTILE), why, why, HOSTILE, commands, 0))
    read = check_self_contained(text)
    assert read.tags["script"] == 0
    assert "<script" not in text.split("</style>")[1].lower()
    assert HOSTILE in "".join(read.words)


@pytest.mark.parametrize("construction", ["paper", "merged", "relay"])
@pytest.mark.parametrize("source", ["star:n=4,w=1", "strided:n=5,w=2"])
def test_the_player_ends_at_the_ids_and_shows_every_layer(construction: str, source: str) -> None:
    proof = prove(parse_family(source), d=1, delta="1/2", target="reverse", construction=construction)
    data = player_data(proof)
    assert isinstance(data, dict)
    mapping = proof.mapping
    assert len(data["layers"]) == mapping.attention_layers + mapping.feed_forward_layers
    assert len(data["inputs"]) == 2**mapping.pattern.n
    f = parse_target("reverse")
    for run_ in data["inputs"]:
        grid = np.array(run_["grid"])
        values = [int(value) for value in run_["start"]]
        assert values == mapping.initial(grid[None])[0].tolist()
        assert len(run_["changes"]) == len(data["layers"])
        for layer, changes in zip(data["layers"], run_["changes"], strict=True):
            before = list(values)
            for token, value in changes:
                assert isinstance(value, str)
                assert int(value) != values[token]
                values[token] = int(value)
            check_by_hand(data, layer, before, values)
        assert values == mapping.ids(grid[None])[0].tolist()
        outputs = [float(value) for value in run_["outputs"]]
        assert outputs == f(grid[None] / 2)[0, 0].tolist()


def check_by_hand(data: dict[str, Any], layer: dict[str, Any], before: list[int], after: list[int]) -> None:
    """Recompute an attention layer from the page's own data, by the formulas of App. E.2."""
    if layer["kind"] == "affine":
        low, high = map(int, layer["band"])
        assert all(low < 2 * was < high for was, now in zip(before, after, strict=True) if was != now)
        return
    for token, (was, now) in enumerate(zip(before, after, strict=True)):
        seen = [before[key] for key in data["attends"][layer["pattern"]][token]]
        expected = was
        if layer["kind"] == "all-max":
            expected += int(layer["factor"]) * max(seen)
        elif layer["kind"] == "shift":
            low, high = map(int, layer["band"])
            if low < 2 * was < high:
                expected += int(layer["factor"]) * (max(seen) - min(seen))
        assert now == expected, (layer, token)


def test_large_numbers_travel_as_text() -> None:
    proof = prove(parse_family("window:n=8,w=1"), d=2, delta="1/2", samples=20)
    data = player_data(proof)
    assert isinstance(data, dict)
    largest = max(int(value) for run_ in data["inputs"] for changes in run_["changes"] for _, value in changes)
    assert largest.bit_length() > 63
    assert str(largest) in json.dumps(data)
    assert "outputs" in data["inputs"][0]
    assert 1 < len(data["inputs"]) < 20


def test_runs_too_long_for_a_player_are_named() -> None:
    wide = player_data(prove(parse_family(f"star:n={MOST_TOKENS + 1},w=1"), d=1, delta="1/2", samples=2))
    deep = player_data(prove(parse_family("star:n=8,w=1"), d=1, delta="1/200", samples=2))
    for reason in (wide, deep):
        assert isinstance(reason, str)
        assert reason.startswith(f"The player is left out: it is for runs of at most {MOST_LAYERS} layers")


def test_what_does_not_apply_is_left_out_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("report", "hub:n=6", "--construction", "paper", "--out", str(tmp_path)) == 0
    assert capsys.readouterr().out.strip() == f"The report is in {tmp_path / 'index.html'}"
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    check_self_contained(text)
    assert "The proof was not run: Theorem 1 does not apply: Assumption 1.2 fails" in text
    assert "player-data" not in text
    assert "sparseuap prove" not in text

    assert run("report", "star:n=600,w=1", "--out", str(tmp_path)) == 0
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    check_self_contained(text)
    assert "star:n=600,w=1 has 600 tokens: a matrix shows at most 512." in text
    assert "Give --d and --delta to run it." in text


def test_a_failing_pattern_leads_with_what_is_missing(tmp_path: Path) -> None:
    assert run("report", "fixed:n=7,w=3", "--out", str(tmp_path)) == 1
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    check_self_contained(text)
    head = text[text.index("<header>") : text.index("</header>")]
    verdict = assess(parse_family("fixed:n=7,w=3"))
    assert (
        "is not universal for all continuous functions; it is universal for the continuous functions whose" in head
    )
    assert escape(verdict.advice[1:]) in head
    proof = text[text.index('<section id="proof"') : text.index('<section id="player"')]
    assert '<p class="verdict">Everything checked holds for the target identity; the construction is for' in proof
    assert "It does not make the pattern universal for all continuous functions." in proof
    assert "selective shifts" not in proof
    assert "relay: gather to the root" in proof
    assert "use --construction relay" not in text
    assert '<figure id="figure-depth">' in text
    assert run("report", "causal:n=4", "--for", "causal", "--out", str(tmp_path)) == 0
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "is universal for all causal continuous functions" in text
    assert "--for causal" in text


@pytest.mark.parametrize(
    ("arguments", "culprit"),
    [
        (("--delta", "2/3"), "delta must be 1/K"),
        (("--target", "nothing"), "nothing"),
        (("--rho", "nothing"), "nothing"),
        (("--t", "1,x"), "--t takes"),
        (("--t", "-1"), "t must be positive"),
        (("--alpha", "2"), "alpha must lie between 0 and 1"),
        (("--p", "0.5"), "p must be at least 1"),
        (("--box", "1,0"), "a < b"),
        (("--exhaustive", "--samples", "3"), "exclude each other"),
    ],
)
def test_bad_options_are_one_line(
    arguments: tuple[str, ...], culprit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("report", "star:n=4,w=1", "--out", str(tmp_path / "no"), *arguments) == 2
    errors = capsys.readouterr().err
    assert culprit in errors
    assert len(errors.splitlines()) == 1
    assert not (tmp_path / "no").exists()


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert run("report", "star:n=30,w=1", "--out", str(tmp_path / "file")) == 2
    assert "file is no folder" in capsys.readouterr().err


def test_command_lines_name_what_was_taken() -> None:
    proof = prove(parse_family("hub:n=4"), d=1, delta="1/2", construction="relay")
    options = {"construction": "auto", "d": None, "delta": None, "target": "a b:f", "seed": 3, "exhaustive": True}
    given = frozenset({"target", "seed", "exhaustive"})
    softmax, identity = parse_map("softmax"), TARGETS["identity"]
    study = study_error(
        proof.mapping.pattern, d=1, levels=2, target=identity, rho=softmax, construction="relay", t=[9]
    )
    lines = command_lines("hub:n=4", options, given, proof=proof, study=study, remedy=None)
    wanted = "--d 1 --delta 1/2 --target 'a b:f' --construction relay"
    assert lines["check"] == "sparseuap check hub:n=4"
    assert lines["prove"] == f"sparseuap prove hub:n=4 {wanted} --exhaustive --seed 3"
    assert lines["error"] == f"sparseuap error hub:n=4 {wanted} --seed 3"


QUICK = ("--d", "1", "--delta", "1/2", "--t", "9")


@pytest.mark.parametrize(
    ("source", "options", "status", "parts"),
    [
        ("star:n=4,w=1", (), 0, ("report", "check", "prove", "error")),
        ("fixed:n=4,w=3", (), 1, ("report", "check", "prove", "error", "repair")),
        ("fixed:n=4,w=3", ("--for", "causal"), 0, ("report", "check", "prove", "error")),
        ("causal:n=3", ("--target", "mean", "--seed", "1"), 1, ("report", "check", "prove", "repair")),
        ("hub:n=4", ("--construction", "paper"), 0, ("report", "check")),
        ("some swap.json", (), 3, ("report", "check", "repair")),
        ("window:n=4,w=1", ("--layers", "2"), 1, ("report", "check", "prove", "error")),
    ],
)
def test_every_command_that_a_report_prints_runs(
    source: str,
    options: tuple[str, ...],
    status: int,
    parts: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for part in ("verdict_figures", "proof_figures", "error_figures"):
        monkeypatch.setattr(f"sparseuap.report_page.{part}", lambda *_: Markup(""))
    Path("some swap.json").write_text('{"attends": [[[1], [0, 1]]]}')
    assert run("report", source, *QUICK, *options, "--out", ".") == status
    text = Path("index.html").read_text(encoding="utf-8")
    assert capsys.readouterr().err == ""
    shown = [html.unescape(line) for line in re.findall(r"<code>(sparseuap [^<]*)</code>", text)]
    assert "sparseuap recheck certificate.json" in shown
    assert tuple(re.findall(r"<dt>(\w+)</dt><dd><code>sparseuap", text)) == parts
    causal = ("--for", "causal")
    proved = 1 if "The proof fails on this case (target)." in text else 0
    for command in {tuple(shlex.split(line)[1:]) for line in shown}:
        expected = {"check": status, "report": status, "prove": proved}.get(command[0], 0)
        if command[0] == "check" and causal == command[-2:]:
            expected = 3 if "swap" in source else 0
        assert run(*command) == expected, command
        assert capsys.readouterr().err == ""


@pytest.mark.parametrize("for_", ["all", "causal"])
@pytest.mark.parametrize("source", ["star:n=4,w=1", "causal:n=4", "fixed:n=4,w=3", "window:n=4,w=0"])
def test_headline_lights_and_rows_agree(source: str, for_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in ("verdict_figures", "proof_figures"):
        monkeypatch.setattr(f"sparseuap.report_page.{part}", lambda *_: Markup(""))
    verdict = assess(parse_family(source), for_=for_)
    proof = prove(verdict.pattern, d=1, delta="1/2", construction="relay")
    made = certificate(verdict, source)
    text = page(Report(source, verdict, made, proof, "none", "identity", {}, 0, find_remedy(verdict, source)))
    said = "universal" if verdict.universal is Answer.HOLDS else "not universal"
    functions = {"all": "all continuous functions", "causal": "all causal continuous functions"}[for_]
    light = str(badge(said))
    head = text[text.index("<header>") : text.index("</header>")]
    assert f"{light} {source} is {said} for {functions}" in head
    row = re.search(r"the reach theorem[^<]*</th><td>(.*?)</td><td>(.*?)</td>", text)
    assert row is not None
    assert row.groups() == (light, functions)
    (first,) = re.findall(r'<p class="verdict">(.*?Everything checked holds.*?)</p>', text.split("</header>")[1])
    assert ("badge holds" in first) == (said == "universal")
    assert f"the construction is for {verdict.statements[-1].universal_for}." in first
    assert ("To repair it" in text) == (said == "not universal")


def test_a_collision_comes_first_in_the_player() -> None:
    proof = prove(parse_family("star:n=4,w=1"), d=1, delta="1/2", c=8)
    assert proof.ids.collision is not None
    data = player_data(proof)
    assert isinstance(data, dict)
    assert data["inputs"][0]["grid"] == proof.ids.collision.first.tolist()
    assert data["inputs"][1]["grid"] == proof.ids.collision.second.tolist()


def test_formulas_and_markup() -> None:
    assert formula("c^s (z~_gamma(n) + delta)") == "c<sup>s</sup> (z\u0303<sub>\u03b3(n)</sub> + δ)"
    assert formula("A_{H-E} <b> & u^T Z_k") == "A<sub>H-E</sub> &lt;b&gt; &amp; u<sup>T</sup> Z<sub>k</sub>"
    assert formula("sparseuap_path my_file deltas") == "sparseuap_path my_file deltas"
    assert escape(Markup("<b>")) == "<b>"
    assert json.loads(re.sub("<[^>]*>", "", script_json("x", ["</script>"]).replace("\\u003c", "LT"))) == [
        "LT/script>"
    ]


def test_a_swept_case_says_what_is_known_of_gaps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verify.proof.SWEPT", 10)
    with pytest.raises(SystemExit) as stop:
        main(["report", "star:n=4,w=1", "--d", "1", "--delta", "1/3", "--exhaustive", "--out", str(tmp_path)])
    assert stop.value.code == 0
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert re.search(r"Smallest gap of two ids of one input</dt><dd>at least \d+ δ", page)
    assert "every id read back by a linear form, streamed" in page
