"""The soft engine on NumPy, PyTorch and an array library of nothing but the standard: one code, one answer.

The oracle is a dense one: all n x n scores, row by row, with what is not attended left out.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from array_api_compat import device

from constructions import relaxation, soft_blocks, soft_run
from constructions.backends import Backend, to_host
from constructions.blocks import AffineOnSlot, AllMaxShift, SelectiveShift
from constructions.cells import cells
from constructions.network import build_network, choose_mapping
from constructions.numbers import ProofError
from constructions.relaxation import RUNAWAY, SoftMapping, SoftNetwork, soften
from constructions.soft_blocks import soften_block
from constructions.soft_quantization import SoftQuantization
from constructions.targets import Target, parse_target
from sparseuap.cli import main
from theory import families
from theory.patterns import SparsityPattern
from theory.probability_maps import Softmax, UserMap, parse_map

MAPS = (
    *("softmax", "topk:2", "entmax:1", "entmax:1.2", "entmax:1.5", "entmax:2.5", "sparsemax"),
    *("sparselin-gen:0.3", "hardmax", "uniform", "squared", "tanh-capped:5"),
)
PATTERNS = {
    "star": families.star(5, 1),
    "strided": families.strided(6, 3),  # two patterns
    "bigbird": families.bigbird(9, 3, 1, 1, seed=0),
    "ragged": SparsityPattern.from_lists([[0], [0, 1, 2, 3], [2], [0, 3], [0, 1, 2, 3, 4]]),
}
BLOCKS = {
    "selective shift": SelectiveShift(0, 3, 7, 9),
    "all-max-shift": AllMaxShift(0, 5),
}
CONSTRUCTIONS = ("paper", "merged", "relay")
TORCH = Backend("torch")


def _values(n: int, batch: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Numbers without a tie, none on a threshold."""
    rng = np.random.default_rng(seed)
    return rng.permuted(np.broadcast_to(np.arange(n), (*batch, n)), axis=-1) + rng.uniform(0.1, 0.4, (*batch, n))


def _close(found: Any, wanted: np.ndarray, put: Any, scale: float = 1.0) -> None:
    like = put(wanted)
    assert (type(found), found.dtype, device(found)) == (type(like), like.dtype, device(like))
    assert tuple(found.shape) == wanted.shape
    np.testing.assert_allclose(to_host(found), wanted, rtol=1e-12, atol=1e-12 * scale)


def _weights(name: str, scores: np.ndarray) -> np.ndarray:
    """rho of one vector; softmax by its definition."""
    if name == "softmax":
        powers = np.exp(scores - scores.max())
        return powers / powers.sum()
    return np.asarray(parse_map(name)(scores))


def _dense(block: Any, name: str, sharpness: float, values: np.ndarray, pattern: SparsityPattern) -> np.ndarray:
    """Return v_k + c (psi~(b)_k - psi~(b')_k), or v_k + c psi~(0)_k, from all n^2 scores."""
    shift = isinstance(block, SelectiveShift)
    signs = ((1, block.low2 / 2), (-1, block.high2 / 2)) if shift else ((1, 0.0),)
    attends = pattern.layers[block.layer].matrix(np.bool_).toarray()
    after = values.copy()
    for at in np.ndindex(values.shape[:-1]):
        row = values[at]
        for sign, b in signs:
            scores = sharpness * row * (row - b)[:, np.newaxis]
            heads = [_weights(name, scores[k][attends[k]]) @ row[attends[k]] for k in range(row.size)]
            after[at] += sign * block.factor * np.array(heads)
    return after


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_blocks_are_what_dense_attention_gives(pattern: str, block: str, name: str, put: Any) -> None:
    hard, where = BLOCKS[block], PATTERNS[pattern]
    values = _values(where.n, (2, 3))
    for sharpness in (0.02, 0.5, 60.0):
        soft = soften_block(hard, parse_map(name), sharpness)
        assert soft is not None
        wanted = _dense(hard, name, sharpness, values, where)
        _close(soft.apply(put(values), where), wanted, put, scale=hard.factor * values.max())
        _close(soft.apply(put(values[0, 0]), where), wanted[0, 0], put, scale=hard.factor * values.max())


def test_the_oracle_tells_patterns_apart() -> None:
    """One key more or less is noticed."""
    where, block = PATTERNS["star"], BLOCKS["all-max-shift"]
    other = SparsityPattern.from_lists([row if k else row[:-1] for k, row in enumerate(where.to_lists()[0])])
    values = _values(where.n, (3,))
    after = soften_block(block, parse_map("softmax"), 0.1).apply(values, where)
    assert np.allclose(after, _dense(block, "softmax", 0.1, values, where), rtol=1e-12)
    assert not np.allclose(after, _dense(block, "softmax", 0.1, values, other), rtol=1e-3)


def test_affine_layers(put: Any) -> None:
    """On the slot, on both ramps, at their ends and beyond."""
    block = AffineOnSlot(low=20, high=24, multiply=3, add=4, divide=2)
    soft = soften_block(block, parse_map("softmax"), 1.0)
    values = np.concatenate([np.arange(18.0, 26.0, 1 / 16), [-3.0, 1e9]]).reshape(2, 65)
    layers = [float(w) * np.maximum(values - float(b), 0.0) for w, b in soft.relu_terms()]
    after = soft.apply(put(values), families.dense(2))
    _close(after[0, ...], (values + sum(layers))[0], put, scale=100)
    assert to_host(after)[1, -2:].tolist() == [-3.0, 1e9]


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
@pytest.mark.parametrize("name", ["softmax", "entmax:1.5", "sparsemax", "topk:2", "squared"])
@pytest.mark.parametrize("pattern", ["star", "strided"])
def test_constructions(pattern: str, name: str, construction: str, put: Any) -> None:
    """Layer by layer as NumPy, and at the end the ids."""
    mapping = choose_mapping(PATTERNS[pattern], 1, 2, construction)
    soft = soften(mapping, parse_map(name), 30.0)
    start = mapping.initial(cells(1, mapping.pattern.n, 2)[::7]).astype(np.float64)
    trace = soft.trace(start)
    for (_, found), (_, wanted) in zip(soft.trace(put(start)), trace, strict=True):
        _close(found, wanted, put, scale=np.abs(wanted).max())
    _close(soft.run(put(start)), soft.run(start), put, scale=np.abs(wanted).max())


NETWORKS = {
    "paper": (families.star(3, 1), 1, 2, "sort", "softmax", 60.0),
    "merged": (families.dense(2), 2, 2, "mean", "softmax", 50.0),
    "relay": (families.hub(3), 1, 3, "softmax-attention", "entmax:1.5", 90.0),
}


def _network(construction: str, **where: Any) -> SoftNetwork:
    pattern, d, levels, target, rho, t = NETWORKS[construction]
    network = build_network(pattern, d, levels, parse_target(target), construction)
    return soften(network, parse_map(rho), t, 0.25, **where)


def _inputs(construction: str) -> np.ndarray:
    """Corners, good inputs, ramps: multiples of 1/64."""
    pattern, d, levels = NETWORKS[construction][:3]
    return np.random.default_rng(1).integers(64 * levels, size=(10, 4, d, pattern.n)) / 64


@pytest.mark.parametrize("construction", CONSTRUCTIONS)
def test_networks(construction: str, put: Any) -> None:
    soft, inputs = _network(construction), _inputs(construction)
    wanted, found = soft.run_units(inputs), soft.run_units(put(inputs))
    assert isinstance(wanted.ids, np.ndarray)
    for ours, theirs in zip(found, wanted, strict=True):
        _close(ours, theirs, put, scale=np.abs(wanted.ids).max())
    assert np.abs(wanted.columns).max() > 1  # some inputs are in a ramp and miss every window
    levels = soft.mapping.mapping.K
    _close(soft.run(put(inputs / levels)).columns, soft.run(inputs / levels).columns, put, scale=1e3)
    with pytest.raises(ProofError, match=r"must lie in \[0, 1\)"):
        soft.run_units(put(inputs + levels))
    with pytest.raises(ProofError, match=r"inputs must have shape \(\.\.\., \d, \d\), not \(10,"):
        soft.run_units(put(inputs[..., :-1]))


def test_quantization(put: Any) -> None:
    stage = SoftQuantization(2, 2, 3, 0.25)
    entries = np.random.default_rng(3).uniform(-0.5, 6.5, size=(20, 2, 2))
    _close(stage.apply(put(entries)), stage.apply(entries), put)
    block = next(stage.blocks())
    _close(block.apply(put(entries)), block.apply(entries), put)
    assert to_host(stage.good(put(entries))).tolist() == stage.good(entries).tolist()


def test_columns_that_meet_several_windows(put: Any) -> None:
    """Cells that share an id have a window each; heights hit, graze and miss."""
    packed, same = SparsityPattern.from_lists([[0], [1]]), Target("same", lambda x: 2.0 + 0 * x, "2")
    network = build_network(packed, 1, 2, same, "relay")
    values = soften(network, parse_map("softmax"), 1.0, 0.25).values
    ids = np.arange(-2, 12, 1 / 16)
    start = values.enter(ids, np.zeros((ids.size, 1)))
    wanted = values.apply_literal(start)
    found = values.apply(values.enter(put(ids), put(np.zeros((ids.size, 1)))))
    _close(found.heights, wanted.heights, put)
    _close(found.entries, wanted.entries, put)


def test_a_run_that_runs_away(put: Any) -> None:
    mapping = choose_mapping(families.window(5, 1), 1, 2, "merged", c=10, s=1)
    start = mapping.initial(cells(1, 5, 2)[:3]).astype(np.float64)
    start[1] *= RUNAWAY / 10
    ids = to_host(SoftMapping(mapping, parse_map("softmax"), 0.02).run(put(start)))
    assert np.isnan(ids[1]).all()
    assert np.isfinite(ids[[0, 2]]).all()


def test_a_token_that_attends_to_nothing() -> None:
    block = soften_block(BLOCKS["all-max-shift"], parse_map("softmax"), 1.0)
    with pytest.raises(ProofError, match="token 1 attends to nothing"):
        block.apply(np.array([1.0, 2.0]), SparsityPattern.from_lists([[0, 1], []]))


@pytest.mark.parametrize("shape", [(0, 5), (2, 0, 5), (5,), (2, 3, 5)])
def test_shapes(shape: tuple[int, ...], put: Any) -> None:
    soft = soften(choose_mapping(PATTERNS["star"], 1, 2, "merged"), parse_map("softmax"), 30.0)
    assert tuple(soft.run(put(np.zeros(shape))).shape) == shape


def test_a_backend_takes_and_gives_numpy() -> None:
    pytest.importorskip("torch")
    for construction in CONSTRUCTIONS:
        inputs = _inputs(construction)
        wanted, found = (
            _network(construction).run_units(inputs),
            _network(construction, backend=TORCH).run_units(inputs),
        )
        for ours, theirs in zip(found, wanted, strict=True):
            assert isinstance(ours, np.ndarray)
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12 * np.abs(wanted.ids).max())


def test_a_mapping_brings_its_backend() -> None:
    pytest.importorskip("torch")
    mapping, rho = choose_mapping(PATTERNS["star"], 1, 2, "relay"), parse_map("softmax")
    assert soften(mapping.on(TORCH), rho, 20.0).backend == TORCH
    assert soften(mapping, rho, 20.0).backend == Backend()
    assert soften(mapping, rho, 20.0, backend=TORCH).backend == TORCH
    grids = cells(1, 5, 2)
    ids = soften(mapping.on(TORCH), rho, 20.0).ids(grids)
    np.testing.assert_allclose(ids, soften(mapping, rho, 20.0).ids(grids), rtol=1e-12)


@dataclass
class Counting:
    """softmax that counts the scores that it is given."""

    scores: int = 0
    name = definition = source = "counting"
    proved = False

    def __call__(self, scores: Any, *, axis: int = -1) -> Any:
        self.scores += scores.size
        return Softmax()(scores, axis=axis)


@pytest.mark.parametrize("block", BLOCKS)
def test_work_is_that_of_the_connections(block: str) -> None:
    """A global token costs its own degree: nothing is padded to it."""
    pattern, rho = families.star(400, 1), Counting()
    soften_block(BLOCKS[block], rho, 0.1).apply(_values(400, (2,)), pattern)
    heads = 2 if block == "selective shift" else 1
    assert rho.scores == heads * 2 * pattern.layers[0].count < heads * 2 * 400 * 10


def test_pieces_chunks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    mapping = choose_mapping(PATTERNS["strided"], 1, 2, "merged")
    soft, grids = soften(mapping, parse_map("softmax"), 25.0), cells(1, 6, 2)
    whole = soft.ids(grids)
    for states, pieces, workers in ((2**15, 8, 1), (60, 2**17, 3), (6, 1, 2)):
        monkeypatch.setitem(soft_run.STATES, "cpu", states)
        monkeypatch.setitem(soft_blocks.PIECES, "cpu", pieces)
        monkeypatch.setattr(soft_run, "WORKERS", workers)
        np.testing.assert_allclose(soft.ids(grids), whole, rtol=1e-14)


def test_the_users_map_is_run_in_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may not bear more; ours are run in several."""
    monkeypatch.setitem(soft_run.STATES, "cpu", 60)
    mapping, grids = choose_mapping(PATTERNS["star"], 1, 2, "merged"), cells(1, 5, 2)
    seen: set[str] = set()

    def mine(v: np.ndarray) -> np.ndarray:
        seen.add(threading.current_thread().name)
        return np.exp(v - v.max()) / np.exp(v - v.max()).sum()

    ids = soften(mapping, UserMap("mine", mine), 25.0).ids(grids)
    assert seen == {threading.current_thread().name}
    np.testing.assert_allclose(ids, soften(mapping, parse_map("softmax"), 25.0).ids(grids), rtol=1e-12)


def test_an_error_in_a_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(soft_run.STATES, "cpu", 5)
    soft = soften(choose_mapping(PATTERNS["star"], 1, 2, "merged"), parse_map("hardmax"), 1.0)
    with pytest.raises(ValueError, match="hardmax is not defined on a tie"):
        soft.run(np.ones((4, 5)))


def test_a_users_map_on_pytorch() -> None:
    torch = pytest.importorskip("torch")
    mine = UserMap("mine", lambda v: torch.softmax(torch.as_tensor(v), dim=-1))
    mapping, grids = choose_mapping(PATTERNS["star"], 1, 2, "relay"), cells(1, 5, 2)
    ids = soften(mapping, mine, 25.0, backend=TORCH).ids(grids)
    np.testing.assert_allclose(ids, soften(mapping, parse_map("softmax"), 25.0).ids(grids), rtol=1e-12)


@pytest.mark.parametrize("t", [1e101, 1e300])
def test_scores_do_not_overflow(t: float) -> None:
    mapping = choose_mapping(PATTERNS["star"], 1, 2, "merged")
    with pytest.raises(ProofError, match=r"t must be positive and at most 1e\+100"):
        soften(mapping, parse_map("softmax"), t)
    soft = soften(mapping, parse_map("softmax"), relaxation.LARGEST_T)
    assert np.isfinite(soft.run(np.arange(5.0) * (RUNAWAY / 1e12))).all()


CASE = ("star:n=4,w=1", "--d", "1", "--delta", "1/2", "--target", "sort", "--construction", "relay")


def _error(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(["error", *CASE, *arguments])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def _numbers(data: Any) -> dict[str, Any]:
    """Flatten JSON to its leaves."""
    if isinstance(data, dict | list):
        pairs = data.items() if isinstance(data, dict) else enumerate(data)
        return {f"{key}.{at}": leaf for key, part in pairs for at, leaf in _numbers(part).items()}
    return {"": data}


@pytest.mark.parametrize("rho", ["softmax", "entmax:1.5"])
def test_the_command_gives_the_same_figures(rho: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    runs = [
        json.loads(_error(capsys, "--rho", rho, "--backend", name, "--json")[1]) for name in ("numpy", "torch")
    ]
    assert [run.pop("backend") for run in runs] == ["numpy, cpu", "torch, cpu"]
    ours, theirs = map(_numbers, runs)
    assert ours.keys() == theirs.keys()
    for key, value in ours.items():
        assert theirs[key] == (pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value), (
            key
        )


def test_the_command_names_the_backend(capsys: pytest.CaptureFixture[str]) -> None:
    assert "run on numpy, cpu" in _error(capsys, "--t", "8")[1]


def test_a_device_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = _error(capsys, "--device", "cuda")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "--device cuda needs --backend torch" in err
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has a CUDA GPU")
    code, out, err = _error(capsys, "--backend", "torch", "--device", "cuda")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "PyTorch finds no CUDA GPU" in err
