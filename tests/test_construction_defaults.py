"""Left to itself, the construction finds gamma and s, or says which assumption of Theorem 1 fails."""

from __future__ import annotations

import literal_proof
import numpy as np
import pytest

from constructions.cells import cells
from constructions.contextual_mapping import build_mapping
from constructions.network import build_network, choose_mapping
from constructions.numbers import ProofError
from constructions.targets import TARGETS
from theory import families
from theory.patterns import SparsityPattern


@pytest.mark.parametrize(
    ("pattern", "d", "levels"),
    [
        (families.dense(1), 1, 3),
        (families.dense(3), 2, 2),
        (families.strided(5, 3), 1, 2),
        (families.fixed(6, 3), 1, 2),
        (families.star(5, 1), 1, 3),
        (families.window(6, 1), 1, 2),
        (families.bigbird(6, 1, 1, 1, seed=2), 1, 2),
        (families.ring(5), 1, 2),
    ],
    ids=str,
)
@pytest.mark.parametrize("tight", [False, True])
def test_defaults_satisfy_the_assumptions(pattern: SparsityPattern, d: int, levels: int, tight: bool) -> None:
    mapping = build_mapping(pattern, d, levels, "merged", tight=tight)
    s = mapping.layers_formula["all_max_shift"]
    true_s = literal_proof.smallest_s(pattern.to_lists())
    assert s <= true_s if tight else s == true_s
    ids = mapping.ids(cells(d, pattern.n, levels)).ravel().tolist()
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        (families.causal(4), r"Assumption 1\.3 fails.*: use --construction relay"),
        (families.hub(5), r"Assumption 1\.2 fails.*: use --construction relay"),
        (families.fixed(5, 2), r"Assumption 1\.3 fails.*: use --construction relay"),
        (
            SparsityPattern.from_lists([[1], [0, 1]]),
            r"Assumption 1\.1 fails: token 0.*: let every token attend to itself .*",
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("construction", ["paper", "merged"])
def test_failed_assumption_is_named_with_the_remedy(
    pattern: SparsityPattern, message: str, construction: str
) -> None:
    with pytest.raises(ProofError, match=f"^Theorem 1 does not apply: {message}$") as caught:
        build_network(pattern, 1, 2, TARGETS["identity"], construction)
    assert "\n" not in str(caught.value)


def test_relay_takes_what_theorem_1_leaves() -> None:
    mapping = choose_mapping(families.hub(5), 1, 2, "relay")
    ids = mapping.ids(cells(1, 5, 2)).ravel().tolist()
    assert len(set(ids)) == len(ids)


def test_network_with_defaults() -> None:
    network = build_network(families.ring(4), 1, 2, TARGETS["sort"])
    assert network.exact_on_cells
    assert np.array_equal(network.run([[7, 3, 5, 0]], resolution=4).columns, [[0.0, 0.0, 0.5, 0.5]])
