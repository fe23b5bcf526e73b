"""g_v . g_c . g_q equals fbar on every cell, bit for bit, and costs what the formulas say (Lemma 3)."""

from __future__ import annotations

from dataclasses import replace

import literal_proof
import numpy as np
import pytest

from constructions.cells import cell_count, cells
from constructions.network import Network, build_network, compose, dense_layers
from constructions.numbers import ProofError
from constructions.targets import TARGETS, Target, TargetError
from constructions.value_mapping import RAW
from theory import families
from theory.patterns import SparsityPattern

CASES = [
    (families.dense(3), 2, 2, "softmax-attention"),
    (families.strided(5, 3), 1, 3, "reverse"),
    (families.fixed(4, 2), 1, 3, "sort"),
    (families.star(5, 1), 1, 3, "mean"),
    (families.window(4, 1), 2, 2, "polynomial"),
    (families.bigbird(5, 1, 1, 1, seed=3), 1, 3, "shift"),
    (families.ring(4), 1, 4, "identity"),
    (families.dense(1), 2, 3, "polynomial"),
]


def _network(
    pattern: SparsityPattern, d: int, levels: int, target: str | Target, construction: str = "paper", **more: int
) -> Network:
    attends = pattern.to_lists()
    if construction != "relay":
        more = {
            "gamma": literal_proof.hamiltonian_path(attends),
            "s": literal_proof.smallest_s(attends),
            **more,
        }
    chosen = TARGETS[target] if isinstance(target, str) else target
    return build_network(pattern, d, levels, chosen, construction, **more)


@pytest.mark.parametrize(("pattern", "d", "levels", "target"), CASES, ids=str)
@pytest.mark.parametrize("construction", ["paper", "merged", "relay"])
def test_network_is_fbar_on_every_cell(
    pattern: SparsityPattern, d: int, levels: int, target: str, construction: str
) -> None:
    network = _network(pattern, d, levels, target, construction)
    grids = cells(d, pattern.n, levels)
    fbar = TARGETS[target](grids / levels)
    assert np.array_equal(network.run_cells(grids).columns, fbar)
    assert network.exact_on_cells
    # Any point of the cell, not only its corner.
    inside = grids * 7 + np.random.default_rng(1).integers(7, size=grids.shape)
    assert np.array_equal(network.run(inside, resolution=7).columns, fbar)
    lifted = network.values.lifted_by > 0
    formula = network.layers_formula
    assert network.layers == {**formula, "value_mapping": formula["value_mapping"] + lifted}
    assert formula["quantization"] == d * pattern.n * levels
    assert formula["value_mapping"] == pattern.n * cell_count(d, pattern.n, levels)


def test_layers_of_every_stage() -> None:
    network = _network(families.strided(5, 3), 1, 3, "reverse")
    assert network.layers == {
        "quantization": 15,
        "selective_shift": 2 * 4 * 3,
        "all_max_shift": 3,
        "value_mapping": 5 * 3**5,
    }
    assert dense_layers(1, 5, 3) == {"quantization": 15, "contextual_mapping": 16, "value_mapping": 5 * 3**5}
    blocks = [network.quantization(), *network.mapping.stages, network.values]
    assert [sum(1 for _ in stage.blocks()) for stage in blocks] == list(network.layers.values())


def test_a_broken_mapping_gives_an_inexact_network() -> None:
    network = _network(families.strided(5, 3), 1, 2, "mean", s=2)
    assert not network.exact_on_cells
    grid = cells(1, 5, 2)[network.first_inexact_cell()]
    assert not np.array_equal(network.run_cells(grid).columns, TARGETS["mean"](grid / 2))


def test_a_wrong_window_is_noticed() -> None:
    network = _network(families.ring(3), 1, 2, "reverse")
    values = replace(network.values, ids=np.roll(network.values.ids, 1, axis=0))
    assert replace(network, values=values).first_inexact_cell() == 0


def test_relay_on_a_pattern_that_is_not_strongly_connected() -> None:
    causal = families.causal(4)
    network = _network(causal, 1, 3, "causal-mean", "relay")
    grids = cells(1, 4, 3)
    assert network.exact_on_cells
    assert network.run_cells(grids).columns == pytest.approx(TARGETS["causal-mean"](grids / 3))
    with pytest.raises(TargetError, match="target mean is out of reach: output 0 depends on token 3, which"):
        _network(causal, 1, 3, "mean", "relay")


def test_relay_lifts_its_small_ids_above_large_outputs() -> None:
    far = Target("far", lambda x: 40 * x, "")
    network = _network(families.ring(3), 1, 3, far, "relay")
    assert network.values.lifted_by > 0
    assert network.exact_on_cells
    assert network.layers["value_mapping"] == network.layers_formula["value_mapping"] + 1


def test_output_of_one_input_and_of_a_batch() -> None:
    network = _network(families.dense(2), 2, 2, "reverse")
    x = np.array([[1, 9], [5, 0]])
    one = network.run(x, resolution=5)
    assert one.columns.tolist() == [[0.5, 0.0], [0.0, 0.5]]
    assert one.references.tolist() == [12, 13]
    assert np.array_equal(network.run(np.stack([x, x]), resolution=5).columns[1], one.columns)
    assert np.all(one.references != RAW)


@pytest.mark.parametrize(
    ("x", "resolution", "message"),
    [
        ([[0, 10]], 5, r"inputs must lie in 0\.\.9, in units of delta/5"),
        ([[0, -1]], 5, r"inputs must lie in 0\.\.9"),
        ([[0.5, 0.5]], 1, "inputs must be integers"),
        ([[0, 0, 0]], 1, r"shape \(\.\.\., 1, 2\)"),
        ([[0, 0]], 0, "resolution 0 does not fit"),
    ],
)
def test_inputs_outside_the_domain_are_refused(x: list[list[float]], resolution: int, message: str) -> None:
    network = _network(families.dense(2), 1, 2, "reverse")
    with pytest.raises(ProofError, match=message):
        network.run(x, resolution)


def test_too_many_cells_are_refused_before_anything_is_built() -> None:
    with pytest.raises(ProofError, match=r"2\^40 cells are more than"):
        build_network(families.dense(40), 1, 2, TARGETS["mean"], gamma=list(range(40)), s=1)


def test_compose_takes_a_mapping_as_it_is() -> None:
    network = _network(families.ring(3), 1, 2, "shift", "merged")
    again = compose(network.mapping, TARGETS["shift"])
    assert again.mapping is network.mapping
    assert again.exact_on_cells


@pytest.mark.exhaustive
@pytest.mark.parametrize("construction", ["paper", "merged", "relay"])
@pytest.mark.parametrize(
    ("pattern", "d", "levels"),
    [(families.strided(8, 3), 1, 4), (families.window(8, 1), 2, 2), (families.star(4, 1), 2, 4)],
    ids=str,
)
def test_network_on_65536_cells(pattern: SparsityPattern, d: int, levels: int, construction: str) -> None:
    network = _network(pattern, d, levels, "softmax-attention", construction)
    assert len(network.values.outputs) == 2**16
    assert network.exact_on_cells
