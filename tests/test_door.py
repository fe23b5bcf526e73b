"""The package's own door: it takes for a pattern whatever the command line does, and Python's own objects."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
import numpy as np
import pytest

import sparseuap
from sparseuap.patterns import as_pattern
from theory.patterns import PatternError, SparsityPattern

if TYPE_CHECKING:
    from collections.abc import Callable

N = 6
MASK = np.tri(N, dtype=bool)
CAUSAL = as_pattern(f"causal:n={N}")


def graph() -> nx.DiGraph[int]:
    return nx.DiGraph([(key, query) for query in range(N) for key in range(query + 1)])


def mask_mod(b: Any, h: Any, q: Any, k: Any) -> Any:
    return q >= k


GIVEN: dict[str, tuple[Any, dict[str, Any]]] = {
    "pattern": (CAUSAL, {}),
    "source": (f"causal:n={N}", {}),
    "mask, True attends": (MASK, {"true_means": "attend"}),
    "mask, True is masked": (~MASK, {"true_means": "masked"}),
    "0/1 mask": (MASK.astype(np.int8), {"true_means": "attend"}),
    "additive mask": (np.where(MASK, 0.0, -np.inf), {"zero_means": "attend"}),
    "graph": (graph(), {}),
    "key lists": ([[*range(query + 1)] for query in range(N)], {}),
    "mask_mod": (mask_mod, {"n": N}),
    "mask_mod with heads": (mask_mod, {"n": np.int64(N), "heads": 2}),
    "mask function": (lambda q, k: q >= k, {"n": N}),
    "sparse matrix": (sparseuap.to_scipy(CAUSAL)[0], {}),
}
DOORS: dict[str, Callable[..., Any]] = {
    "as_pattern": sparseuap.as_pattern,
    "assess": lambda given, **reading: sparseuap.assess(given, **reading).pattern,
    "repair": lambda given, **reading: sparseuap.repair(given, for_="causal", **reading).pattern,
    "measure": sparseuap.measure,
    "hop_count": sparseuap.hop_count,
    "growth": sparseuap.growth,
    "grow": lambda given, **reading: sparseuap.grow(given, **reading).sizes.tolist(),
    "first_seen_by": lambda given, **reading: sparseuap.first_seen_by(given, N - 1, **reading).tolist(),
    "hamiltonian_path": lambda given, **reading: sparseuap.hamiltonian_path(given, **reading).path.tolist(),
    "certificate": lambda given, **reading: sparseuap.certificate(given, "it", **reading),
    "recheck": lambda given, **reading: sparseuap.recheck(sparseuap.certificate(CAUSAL), given, **reading).valid,
    "compare": lambda given, **reading: [{**row, "source": ""} for row in sparseuap.compare(given, **reading)],
    "prove": lambda given, **reading: (
        sparseuap.prove(
            given, d=1, delta="1/2", target="causal-mean", construction="relay", **reading
        ).exact_on_cells
    ),
    "assert_universal": lambda given, **reading: sparseuap.assert_universal(given, for_="causal", **reading),
    "assert_sees": lambda given, **reading: sparseuap.assert_sees(given, N - 1, 0, layers=1, **reading),
}


@pytest.mark.parametrize("form", GIVEN)
@pytest.mark.parametrize("name", DOORS)
def test_every_function_takes_every_form(name: str, form: str) -> None:
    given, reading = GIVEN[form]
    assert DOORS[name](given, **reading) == DOORS[name](CAUSAL)


def test_the_error_and_the_report_take_them_too(tmp_path: Path) -> None:
    case: dict[str, Any] = {"d": 1, "delta": "1/2", "t": 64, "rho": "sparsemax"}
    small = np.ones((2, 2), dtype=bool)
    found = sparseuap.measure_error(small, true_means="attend", **case).rows[0].errors
    assert found == sparseuap.measure_error("dense:n=2", **case).rows[0].errors
    written = sparseuap.report(small, tmp_path / "page", true_means="attend", **case)
    assert written.proof.holds  # type: ignore[union-attr]
    assert written.study.rows[0].t == 64  # type: ignore[union-attr]
    page = written.page.read_text()
    assert "the ndarray given is universal" in page
    assert "sparseuap check" not in page  # no command line names an array
    (tmp_path / "file").touch()
    with pytest.raises(PatternError, match="is no folder"):
        sparseuap.report("no such pattern", tmp_path / "file" / "page")
    assert sparseuap.recheck(written.certificate).valid


@pytest.mark.parametrize(
    ("given", "reading", "message"),
    [
        (MASK, {}, 'add true_means="attend" or true_means="masked"'),
        ([MASK, MASK], {}, 'add true_means="attend"'),
        (np.where(MASK, 0.0, -np.inf), {}, 'zero_means="attend"'),
        (MASK, {"true_means": "atend"}, "true_means must be 'attend' or 'masked', got 'atend'"),
        (MASK, {"true_means": True}, "true_means must be 'attend' or 'masked', got True"),
        (np.where(MASK, 0.0, -np.inf), {"zero_means": "masked"}, "zero_means must be 'attend'"),
        (mask_mod, {}, "does not know the number of tokens: add n="),
        (mask_mod, {"n": "6"}, "n must be a whole number of at least 1, got '6'"),
        (lambda b, h, q, k: (q >= k) & (q - k <= h), {"n": 6}, "depends on the head: say how many"),
        (
            lambda b, h, q, k: (q >= k) & (q - k <= h),
            {"n": 6, "heads": 2},
            r'head 1 attends otherwise.*head="union"',
        ),
        (mask_mod, {"n": 6, "heads": 2, "head": 2}, r"head must be union or one of 0\.\.1"),
        (mask_mod, {"n": 6, "true_means": "attend"}, "true"),
        (graph(), {"true_means": "attend"}, "true"),
        (graph(), {"heads": 2}, "heads is the number of heads of a mask_mod"),
        (CAUSAL, {"n": 6}, "n has no effect here"),
        ("causal:n=6", {"n": 7}, r"n has no effect here: a source says it itself"),
        ("causal:n=6", {"true_means": "attend"}, "true_means has no effect here"),
        ("no such thing", {}, "is no source"),
        (5, {}, "int is no pattern"),
        (None, {}, "NoneType is no pattern"),
        (nx.path_graph(["a", "b"]), {}, "node 'a' is no integer"),
    ],
)
def test_what_is_missing_or_without_effect_is_refused(given: Any, reading: dict[str, Any], message: str) -> None:
    with pytest.raises(PatternError, match=message) as caught:
        sparseuap.assess(given, **reading)
    assert "\n" not in str(caught.value)


def test_a_head_or_the_union_can_be_chosen() -> None:
    def by_head(b: Any, h: Any, q: Any, k: Any) -> Any:
        return (q >= k) & (q - k <= h)

    for head, width in ((0, 0), ("1", 1), ("union", 1)):
        assert as_pattern(by_head, n=5, heads=2, head=head) == as_pattern(f"causal:n=5,w={width}")  # type: ignore[arg-type]


def test_the_dimensions_of_a_mask_are_said() -> None:
    two = np.stack([np.eye(4, dtype=bool), np.tri(4, dtype=bool)])
    assert as_pattern(two, true_means="attend", axis="layers").p == 2
    assert as_pattern(two, true_means="attend", axis="heads", head="union") == as_pattern("causal:n=4")
    assert as_pattern(np.stack([~two, two]), true_means="attend", batch=1, head=1) == as_pattern("causal:n=4")
    for reading, message in (
        ({}, "axis=heads"),
        ({"axis": "rows"}, "axis must be heads or layers"),
        ({"axis": "heads"}, r'head 1 attends otherwise than head 0: say head=0, or another, or head="union"'),
    ):
        with pytest.raises(PatternError, match=message):
            as_pattern(two, true_means="attend", **reading)  # type: ignore[arg-type]


def test_a_keyword_that_nobody_knows_is_refused() -> None:
    for function in (
        sparseuap.assess,
        sparseuap.repair,
        sparseuap.grow,
        sparseuap.compare,
        sparseuap.assert_universal,
    ):
        with pytest.raises(TypeError, match="unexpected keyword argument 'layer_s'"):
            function("ring:n=4", layer_s=3)  # type: ignore[arg-type]


def double(x: Any) -> Any:
    return 2 * x


def even(scores: Any) -> Any:
    return np.ones(scores.size) / scores.size


def test_targets_and_maps_may_be_callables() -> None:
    proof = sparseuap.prove("dense:n=2", d=1, delta="1/2", target=double)
    assert proof.exact_on_cells
    assert proof.network.run_cells([[1, 0]]).columns.tolist() == [[1.0, 0.0]]  # type: ignore[union-attr]
    assert pickle.loads(pickle.dumps(proof)).network.target.name == "double"  # noqa: S301
    mapped = sparseuap.probability_map(even)
    assert (mapped.name, mapped.proved, mapped(np.zeros(4)).tolist()) == ("even", False, [0.25] * 4)
    assert sparseuap.probability_map(mapped) is mapped
    study = sparseuap.measure_error("dense:n=2", d=1, delta="1/2", target=double, rho=even, t=1)
    assert (study.network.target.name, study.rho.name, study.t_guaranteed) == ("double", "even", None)
    for wrong in (5, None, int, ["sort"]):
        with pytest.raises(ValueError, match="a name, module:callable or a function"):
            sparseuap.prove("dense:n=2", d=1, delta="1/2", target=wrong)  # type: ignore[arg-type]
        with pytest.raises(PatternError, match="a name, module:callable or a function"):
            sparseuap.probability_map(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("delta", value) for value in (None, True, "x", [1], 2)),
        *(("p", value) for value in ("2", None, True)),
        *(("alpha", value) for value in ("0.5", True, 2)),
        *(("t", value) for value in ("4", [1, "2"], True, -1, [], b"1")),
        *(("box", value) for value in ("0,1", (0, 1, 2), 5, (0, "1"), (1, 0))),
        *(("seed", value) for value in (-1, "0", 1.5)),
        *(("backend", value) for value in ("jax", None, 1)),
        *(("construction", value) for value in ("papre", None)),
    ],
)
def test_an_argument_that_makes_no_sense_is_one_line(name: str, value: object, tmp_path: Path) -> None:
    case: dict[str, Any] = {"d": 1, "delta": "1/2", "t": 4.0}
    with pytest.raises(ValueError, match=r"\w+") as caught:
        sparseuap.measure_error("dense:n=2", **case | {name: value})
    assert "\n" not in str(caught.value)
    assert type(caught.value).__name__ in ("PatternError", "ProofError")
    if name in ("p", "alpha", "t", "box", "seed", "construction"):
        with pytest.raises(ValueError, match=r"\w+"):
            sparseuap.report("dense:n=2", tmp_path / "none", **case | {name: value})
        assert not (tmp_path / "none").exists()


def test_a_sweep_takes_a_function_of_n() -> None:
    by_name = sparseuap.sweep("fixed:w=5", "8:30")
    by_function = sparseuap.sweep(lambda n: f"fixed:n={n},w=5", range(8, 31))
    assert by_function == by_name
    assert by_name.summary == {"holds": "when 5 divides n", "fails": "unless 5 divides n"}
    assert by_name.answer is sparseuap.Answer.FAILS
    assert sparseuap.sweep("star:w=1", [9, 7]).answer is sparseuap.Answer.HOLDS
    for source in (5, None, ["star:w=1"]):
        with pytest.raises(PatternError, match="a sweep is of a source or a function of n"):
            sparseuap.sweep(source, "8:9")  # type: ignore[arg-type]
    for lengths in (8, b"8:9", None):
        with pytest.raises(PatternError, match='lengths are "8:512" or several numbers'):
            sparseuap.sweep("star:w=1", lengths)  # type: ignore[arg-type]
    with pytest.raises(PatternError, match="time limit"):
        sparseuap.sweep("star:w=1", "8:9", time_limit="1")  # type: ignore[arg-type]
    with pytest.raises(PatternError, match="no length"):
        sparseuap.sweep("star:w=1", [])
    with pytest.raises(PatternError, match="a length must be a whole number"):
        sparseuap.sweep("star:w=1", [8.5])  # type: ignore[list-item]
    with pytest.raises(PatternError, match="full must be True or False"):
        sparseuap.sweep("star:w=1", "8:9", full="no")  # type: ignore[arg-type]


def test_figures_come_by_name(tmp_path: Path) -> None:
    drawn = sparseuap.figures("probability_maps", out=tmp_path / "new", kind="png")
    assert list(drawn) == ["probability_maps"]
    assert sorted(file.name for file in (tmp_path / "new").iterdir()) == ["figures.html", "probability_maps.png"]
    with pytest.raises(PatternError, match="did you mean 'relay'"):
        sparseuap.figures("realy")
    with pytest.raises(PatternError, match="kind must be 'png' or 'svg' or 'pdf', got 'jpg'"):
        sparseuap.figures("relay", kind="jpg")


def test_a_contextual_mapping_is_checked_by_its_ids() -> None:
    inputs = sparseuap.AllInputs(d=1, n=2, K=2)
    found = sparseuap.check_contextual_mapping(lambda grids: 4 * grids[:, 0] + [0, 2], inputs)
    assert found.answer is sparseuap.Answer.FAILS
    for reach in ([[True, "false"], [True, True]], np.ones((2, 2))):
        with pytest.raises(sparseuap.ProofError, match="boolean matrix"):
            sparseuap.check_contextual_mapping(lambda grids: grids[:, 0], inputs, reach=reach)  # type: ignore[arg-type]


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = (
        "import sys, sparseuap; names = dir(sparseuap);"
        "heavy = ('numpy', 'scipy', 'torch', 'matplotlib', 'networkx', 'sympy', 'click', 'theory', 'verify');"
        "print([name for name in heavy if name in sys.modules]);"
        "sparseuap.assess('ring:n=4');"
        "unneeded = ('torch', 'matplotlib', 'sympy', 'rich', 'constructions', 'networkx');"
        "print([name for name in unneeded if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout.splitlines() == ["[]", "[]"]


def test_the_module_runs_as_the_command_does() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sparseuap", "check", "fixed:n=23,w=5"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "")
    assert "Tokens 20..22 are never seen" in done.stdout
    version = subprocess.run(
        [sys.executable, "-m", "sparseuap", "--version"], capture_output=True, text=True, check=True
    )
    assert version.stdout.split()[-1] == sparseuap.__version__


class Tags(HTMLParser):
    """Every tag that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.met: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.met.append(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.met.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("n", [1, 64, 65])
def test_a_notebook_shows_words_and_a_small_picture(n: int) -> None:
    pattern = as_pattern(f"causal:n={n}")
    for value, said in ((pattern, repr(pattern)), (sparseuap.assess(pattern), "for all continuous functions")):
        page = Tags()
        page.feed(value._repr_html_())
        assert page.open == []
        assert said in page.text
        assert ("svg" in page.met) == (n <= 64)


def test_a_picture_shows_every_connection_and_is_small() -> None:
    checkers = SparsityPattern.from_lists(*[[[*range(k % 2, 64, 2)] for k in range(64)]] * 4)
    picture = checkers._repr_html_()
    assert picture.count("M") == checkers.connections
    assert len(picture) < 250_000
    assert 'd=""' in SparsityPattern.from_lists([[]])._repr_html_()
    shown = sparseuap.assess(SparsityPattern.from_lists([[0], [1]]))._repr_html_()
    assert "->" not in shown
    assert "NOT universal" in shown


@pytest.mark.parametrize("name", ["to_additive_mask", "to_boolean_mask", "to_callable", "to_networkx", "to_scipy"])
@pytest.mark.parametrize("value", ["ring:n=4", None, [[0]], np.eye(2, dtype=bool)])
def test_what_writes_a_pattern_says_that_it_needs_one(name: str, value: object) -> None:
    options = {"true_means": "attend"} if name == "to_boolean_mask" else {}
    with pytest.raises(PatternError, match=r"^expected a SparsityPattern, got \w+: sparseuap\.as_pattern"):
        getattr(sparseuap, name)(value, **options)


@pytest.mark.parametrize("value", [None, 5, Path("relay"), ("relay",)])
def test_figures_are_called_by_name(value: Any) -> None:
    with pytest.raises(PatternError, match=r"^figures are called by name, as in 'relay', not by \w+$"):
        sparseuap.figures(value)


@pytest.mark.parametrize("name", ["growth", "grow"])
@pytest.mark.parametrize("layers", [2**16 + 1, 10**30])
def test_layers_that_no_list_holds_are_refused(name: str, layers: int) -> None:
    with pytest.raises(PatternError, match="layers are too many to list, more than 65536: ask for fewer"):
        getattr(sparseuap, name)("ring:n=4", layers)


def test_layers_after_which_nothing_changes_cost_nothing() -> None:
    start = time.process_time()
    found, field = sparseuap.growth("ring:n=4", 2**16), sparseuap.grow("ring:n=4", 2**16)
    assert (len(found.min), found.min[:4], set(found.min[3:]), found.full) == (2**16, (2, 3, 4, 4), {4}, True)
    assert (field.sizes.shape, field.full_after, int(field.sizes[5:].min())) == ((2**16 + 1, 4), 3, 4)
    with pytest.raises(PatternError, match="through 65536 layers are too many to follow"):
        sparseuap.grow("ring:n=1100", 2**16)
    swap = [[[1], [0, 2], [1]]]  # no self-attention: the sets need not grow, and the time limit ends the list
    assert sparseuap.growth(swap, 2**16, time_limit=0).stopped
    assert time.process_time() - start < 5


def test_a_list_of_sources_is_no_pattern() -> None:
    with pytest.raises(PatternError, match="a list of sources is no pattern: give each by itself"):
        sparseuap.compare(["ring:n=4", "star:n=4,w=1"])


@pytest.mark.parametrize("dtype", ["float33", "1/0", object(), [1]])
def test_a_mask_of_no_known_dtype_is_refused_in_one_line(dtype: Any) -> None:
    with pytest.raises(PatternError, match=r"^an additive mask holds floats \(np\.float32\): there is no"):
        sparseuap.to_additive_mask(CAUSAL, dtype)
