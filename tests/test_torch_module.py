"""The relaxed network as a PyTorch module: equal to our own soft run, block by block what the paper writes."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np
import pytest

from constructions.cells import cell_count, cells
from constructions.network import build_network
from constructions.numbers import ProofError
from constructions.relaxation import SoftNetwork, soften
from constructions.targets import TARGETS
from constructions.torch_weights import schedule, weight_shapes
from theory import families
from theory.patterns import SparsityPattern
from theory.probability_maps import parse_map
from theory.probability_maps.outside import UserMap

torch = pytest.importorskip("torch", reason="needs PyTorch, the extra `soft`")

from constructions.torch_module import TorchNetwork, TransformerBlock, to_torch  # noqa: E402

RING = SparsityPattern.from_lists([[0, 2], [0, 1], [1, 2]])  # token k attends to itself and to the one before it
STAR3, STAR4 = families.star(3, 1), families.star(4, 1)
STRIDED = families.strided(4, 2)


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def _soft(
    pattern: SparsityPattern, d: int, levels: int, construction: str, t: float, rho: str = "softmax"
) -> SoftNetwork:
    network = build_network(pattern, d, levels, TARGETS["reverse"], construction)
    return soften(network, parse_map(rho), t, alpha=0.25)


def _corners(soft: SoftNetwork) -> np.ndarray:
    hard = soft.mapping.mapping
    count = cell_count(hard.d, hard.pattern.n, hard.K)
    return cells(hard.d, hard.pattern.n, hard.K, 0, count) / hard.K


def _run(module: TorchNetwork, x: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return module(torch.from_numpy(x)).numpy()


def _difference(soft: SoftNetwork, x: np.ndarray) -> float:
    """The largest relative difference to our own run; outputs below 1 count as 1."""
    ours = soft.run(x).columns
    assert np.isfinite(ours).all()
    return float(np.max(np.abs(_run(to_torch(soft), x) - ours) / np.maximum(np.abs(ours), 1)))


CASES = [
    (STAR3, 1, 2, "relay"),
    (STAR3, 2, 2, "relay"),
    (STAR4, 1, 2, "relay"),
    (RING, 1, 2, "relay"),
    (STAR3, 1, 3, "relay"),
    (STRIDED, 1, 2, "relay"),
    (STAR3, 1, 2, "merged"),
    (STAR3, 2, 2, "merged"),
    (STAR4, 1, 2, "merged"),
    (STAR3, 1, 3, "merged"),
    (STAR3, 1, 2, "paper"),
    (STAR3, 2, 2, "paper"),
]


@pytest.mark.parametrize(
    ("pattern", "d", "levels", "construction", "t"),
    [
        *[(*case, t) for case in CASES for t in (256.0, 4096.0)],
        (STRIDED, 1, 2, "merged", 4096.0),  # ids of 24 bits: at 256 rounding alone is 1e-8
    ],
)
def test_every_cell_comes_out_as_in_our_own_run(
    pattern: SparsityPattern, d: int, levels: int, construction: str, t: float
) -> None:
    soft = _soft(pattern, d, levels, construction, t)
    assert _difference(soft, _corners(soft)) <= 1e-9


@pytest.mark.parametrize(("pattern", "construction"), [(STAR3, "relay"), (STAR4, "relay"), (STAR3, "merged")])
def test_so_do_they_where_softmax_is_not_nearly_one_hot(pattern: SparsityPattern, construction: str) -> None:
    soft = _soft(pattern, 1, 2, construction, 16.0)
    ids = soft.run(_corners(soft)).ids
    assert np.abs(ids - np.rint(ids)).max() > 0.01  # the temperature is felt
    assert _difference(soft, _corners(soft)) <= 1e-9


@pytest.mark.parametrize(("pattern", "d"), [(STAR3, 1), (STAR3, 2), (STAR4, 1), (STRIDED, 1)])
def test_ramp_points_come_out_as_in_our_own_run(pattern: SparsityPattern, d: int) -> None:
    soft = _soft(pattern, d, 2, "merged", 1024.0)
    x = np.random.default_rng(0).random((64, d, pattern.n))
    ramps = ~soft.quantization.good(2 * x)
    assert ramps.sum() >= 16
    assert _difference(soft, x) <= 1e-9


def test_relay_ramp_points_differ_by_rounding_only() -> None:
    """Between two slots a relay network multiplies every rounding error by the slopes of its ramps."""
    soft = _soft(STAR3, 1, 2, "relay", 256.0)
    assert _difference(soft, np.random.default_rng(0).random((64, 1, 3))) <= 1e-6


@pytest.mark.parametrize("rho", ["entmax:1.5", "sparsemax", "topk:2", "hardmax"])
@pytest.mark.parametrize("construction", ["relay", "merged"])
def test_other_maps_come_out_as_in_our_own_run(rho: str, construction: str) -> None:
    soft = _soft(STAR3, 1, 2, construction, 64.0, rho)
    assert _difference(soft, _corners(soft)) <= 1e-9


def test_the_network_computes_the_target_on_every_cell() -> None:
    soft = _soft(STAR3, 2, 2, "relay", 256.0)
    x = _corners(soft)
    assert np.abs(_run(to_torch(soft), x) - x[..., ::-1]).max() <= 1e-9


def test_a_changed_weight_is_seen() -> None:
    soft = _soft(STAR3, 1, 2, "merged", 256.0)
    module, x = to_torch(soft), _corners(soft)
    with torch.no_grad():
        module.blocks[-1].b_2 += 1e-6
    assert np.abs(_run(module, x) - soft.run(x).columns).max() > 1e-7


def _formula(
    z: np.ndarray, weights: dict[str, np.ndarray], keys: list[list[int]], rho: str = "softmax"
) -> np.ndarray:
    """§3.1 for one matrix, head by head, column by column."""
    heads = np.zeros((2, z.shape[1]))
    for i in range(2):
        for k, attended in enumerate(keys):
            chosen = z[:, attended]
            scores = (weights["W_K"][i] @ chosen).T @ (weights["W_Q"][i] @ z[:, k] + weights["b_Q"][i])
            powers = np.exp(scores - scores.max())
            shares = powers / powers.sum() if rho == "softmax" else np.eye(scores.size)[scores.argmax()]
            heads[i, k] = (weights["W_V"][i] @ chosen @ shares).item()
    attended_to = z + weights["W_O"] @ heads
    hidden = np.maximum(weights["W_1"] @ attended_to + weights["b_1"][:, None], 0)
    return attended_to + weights["W_2"] @ hidden + weights["b_2"][:, None]


@pytest.mark.parametrize("rho", ["softmax", "hardmax"])
def test_a_block_is_the_formula_of_the_paper(rho: str) -> None:
    rng = np.random.default_rng(7)
    weights = {name: rng.normal(size=shape) for name, shape in weight_shapes(3).items()}
    keys = [[0, 3], [1, 2], [0, 1, 2, 3], [3]]  # not symmetric
    mask = torch.tensor([[j in row for j in range(4)] for row in keys])
    z = rng.normal(size=(5, 3, 4))
    block = TransformerBlock(3, weights, parse_map(rho))
    with torch.no_grad():
        given, turned = block(torch.from_numpy(z), mask).numpy(), block(torch.from_numpy(z), mask | mask.T).numpy()
    wanted = np.array([_formula(matrix, weights, keys, rho) for matrix in z])
    np.testing.assert_allclose(given, wanted, rtol=1e-12, atol=1e-12)
    assert np.abs(turned - wanted).max() > 1e-3


def test_a_block_without_weights_is_an_identity() -> None:
    z = torch.randn(2, 3, 4, dtype=torch.float64)
    for rho in ("softmax", "hardmax"):
        with torch.no_grad():
            assert torch.equal(TransformerBlock(3, {}, parse_map(rho))(z, torch.ones(4, 4, dtype=torch.bool)), z)


@pytest.mark.parametrize(
    ("name", "shape"),
    [("W_Q", (3, 1, 2)), ("W_K", (2, 2, 2)), ("W_1", (5, 2)), ("b_1", (5,)), ("W_O", (2, 3)), ("W_3", (2, 2))],
)
def test_weights_outside_the_class_are_refused(name: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(ProofError, match=f"{name} of shape .* does not fit 2 heads of size 1 and hidden width 4"):
        TransformerBlock(2, {name: np.zeros(shape)}, parse_map("softmax"))


@pytest.mark.parametrize(
    ("pattern", "d", "levels", "construction"),
    [
        *CASES,
        (STRIDED, 1, 2, "merged"),
        (STRIDED, 1, 3, "relay"),
        (families.strided(3, 2), 1, 3, "merged"),
        (families.strided(3, 2), 1, 3, "paper"),
    ],
)
def test_blocks_are_counted_as_by_the_formulas(
    pattern: SparsityPattern, d: int, levels: int, construction: str
) -> None:
    soft = _soft(pattern, d, levels, construction, 256.0)
    counts, hard, p = schedule(soft).counts, soft.mapping.mapping, pattern.p
    lift = soft.network.values.lifted_by != 0
    formula = soft.network.layers_formula
    first = formula["quantization"]
    windows = formula["value_mapping"] + lift
    assert counts.attention == hard.attention_layers
    assert counts.feed_forward == first + hard.feed_forward_layers + windows
    assert counts.blocks == counts.attention + counts.feed_forward + counts.padding - counts.shared
    if construction == "relay":
        # a step: down and up alone, idle till the cycle starts, the cycle with `back` in its last block, back home
        steps = hard.feed_forward_layers // 4
        blocks = first - 1
        for _ in range(steps):
            blocks += 3
            blocks += -blocks % p + p
        assert counts.blocks == blocks + 1 + windows
        assert counts.shared == steps
    else:
        assert counts.padding == -first % p
        assert counts.blocks == first + counts.padding + sum(hard.layers_formula.values()) + windows - 1
    assert len(to_torch(soft).blocks) == counts.blocks


def test_every_attention_block_meets_its_pattern() -> None:
    soft = _soft(families.strided(3, 2), 1, 3, "merged", 256.0)
    plan = schedule(soft)
    used = [number % 2 for number, block in enumerate(plan.blocks) if block.attends]
    assert used == [block.layer for stage in soft.mapping.mapping.stages for block in stage.blocks()]
    assert plan.counts.padding == 1  # nine quantization blocks come before
    keys = soft.mapping.mapping.pattern.layers[1]
    wanted = [[j in keys.row(k) for j in range(3)] for k in range(3)]
    assert to_torch(soft).masks[1].tolist() == wanted


def test_state_dict_saves_and_loads() -> None:
    soft = _soft(STAR3, 1, 2, "relay", 256.0)
    module, x = to_torch(soft), _corners(soft)
    file = io.BytesIO()
    torch.save(module.state_dict(), file)
    other = to_torch(soft)
    with torch.no_grad():
        for values in [*other.parameters(), other.embedding]:
            values.zero_()
        other.masks.fill_(True)
    assert not np.array_equal(_run(other, x), _run(module, x))
    file.seek(0)
    other.load_state_dict(torch.load(file, weights_only=True), strict=True)
    assert np.array_equal(_run(other, x), _run(module, x))
    with pytest.raises(RuntimeError, match="size mismatch"):
        to_torch(_soft(STAR4, 1, 2, "relay", 256.0)).load_state_dict(module.state_dict(), strict=False)


def test_all_weights_are_double_precision() -> None:
    state = to_torch(_soft(STAR3, 1, 2, "merged", 256.0)).state_dict()
    assert {values.dtype for name, values in state.items() if name != "masks"} == {torch.float64}
    assert state["masks"].dtype == torch.bool


@pytest.mark.parametrize("rho", ["softmax", "entmax:1.5"])
def test_gradients_flow(rho: str) -> None:
    """To the input, as a difference quotient has them, and to the weights."""
    module = to_torch(_soft(STAR3, 1, 2, "merged", 16.0, rho))
    x = torch.tensor([[[0.1, 0.45, 0.7]]], dtype=torch.float64, requires_grad=True)  # 0.45 lies in a ramp
    module(x).sum().backward()
    assert x.grad is not None
    step = torch.zeros_like(x)
    step[0, 0, 1] = 1e-7
    with torch.no_grad():
        quotient = (module(x + step).sum() - module(x - step).sum()).item() / 2e-7
    assert abs(quotient) > 1
    assert x.grad[0, 0, 1].item() == pytest.approx(quotient, rel=1e-4)
    gradients = [values.grad for values in module.parameters() if values.grad is not None]
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert any(gradient.any() for gradient in gradients)
    if rho == "softmax":
        assert len(gradients) == len(list(module.parameters()))


def test_a_users_map_runs_without_gradients() -> None:
    def softmax(scores: np.ndarray) -> np.ndarray:
        powers = np.exp(scores - scores.max())
        return powers / powers.sum()

    network = build_network(STAR3, 1, 2, TARGETS["reverse"], "relay")
    module = to_torch(soften(network, UserMap("mine", softmax), 64.0, 0.25))
    known = soften(network, parse_map("softmax"), 64.0, 0.25)
    x = _corners(known)[:2]
    np.testing.assert_allclose(_run(module, x), known.run(x).columns, rtol=1e-9, atol=1e-9)
    with pytest.raises(ProofError, match="map mine has no gradient"):
        module(torch.from_numpy(x))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.zeros((1, 3)), r"inputs must have shape \(batch, 1, 3\), not \(1, 3\)"),
        (np.zeros((2, 3, 1)), r"inputs must have shape \(batch, 1, 3\), not \(2, 3, 1\)"),
        (np.zeros((2, 1, 3), dtype=np.float32), "inputs must be float64, not torch.float32"),
    ],
)
def test_bad_inputs_are_refused(x: np.ndarray, message: str) -> None:
    module = to_torch(_soft(STAR3, 1, 2, "merged", 16.0))
    with pytest.raises(ProofError, match=message):
        module(torch.from_numpy(x))


def test_a_token_that_attends_to_nothing_is_refused() -> None:
    plan = schedule(_soft(STAR3, 1, 2, "merged", 16.0))
    weights = [block.weights for block in plan.blocks]
    deaf = SparsityPattern.from_lists([[0], [], [2]])
    with pytest.raises(ProofError, match="token 1 attends to nothing"):
        TorchNetwork(deaf, np.zeros((1, 3)), weights, parse_map("softmax"), plan.counts)
