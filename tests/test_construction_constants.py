"""Every constant of Lemma 7 matters: scaled down, the mapping breaks; and whatever makes no sense is refused."""

from __future__ import annotations

import literal_proof
import numpy as np
import pytest

from constructions.all_max_shift import all_max_factor, tighter_s
from constructions.cells import cells
from constructions.contextual_mapping import build_mapping, path_patterns
from constructions.mapping import StagedMapping
from constructions.numbers import ProofError
from theory import families
from theory.patterns import SparsityPattern

CASES = [
    (families.strided(5, 3), 1, 2),
    (families.window(4, 1), 1, 2),
    (families.ring(4), 1, 3),
    (families.dense(3), 2, 2),
]


def _build(
    pattern: SparsityPattern, d: int, levels: int, construction: str = "merged", **more: int
) -> StagedMapping:
    attends = pattern.to_lists()
    gamma, s = literal_proof.hamiltonian_path(attends), literal_proof.smallest_s(attends)
    return build_mapping(pattern, d, levels, construction, gamma=gamma, **{"s": s, **more})


def _one_to_one(mapping: StagedMapping) -> bool:
    ids = mapping.ids(cells(mapping.d, mapping.pattern.n, mapping.K)).ravel().tolist()
    return len(set(ids)) == len(ids)


def test_claimed_two_hops_fail_on_strided_and_the_true_three_hold() -> None:
    pattern = families.strided(5, 3)
    assert literal_proof.smallest_s(pattern.to_lists()) == 3
    for construction in ("paper", "merged"):
        assert not _one_to_one(_build(pattern, 1, 2, construction, s=2))
        assert _one_to_one(_build(pattern, 1, 2, construction))
    two = _build(pattern, 1, 2, s=2)
    ids = two.ids(cells(1, 5, 2))
    repeated = [token for token in range(5) if len(set(ids[:, token].tolist())) < len(ids)]
    last = literal_proof.hamiltonian_path(pattern.to_lists())[-1]
    seen = [set(keys) for keys in pattern.to_lists()[0]]
    two_hops = [set().union(*(seen[j] for j in pattern.to_lists()[1][k])) for k in range(5)]
    assert repeated
    assert all(last not in two_hops[token] for token in repeated)


@pytest.mark.parametrize(("pattern", "d", "levels"), CASES, ids=str)
def test_one_all_max_shift_less_fails_when_gamma_n_is_not_seen(
    pattern: SparsityPattern, d: int, levels: int
) -> None:
    mapping = _build(pattern, d, levels)
    last = literal_proof.hamiltonian_path(pattern.to_lists())[-1]
    steps = tighter_s(pattern, last)
    c = all_max_factor(steps, pattern.n, d, levels)
    assert _one_to_one(mapping)
    assert _one_to_one(_build(pattern, d, levels, s=steps, c=c))
    assert not _one_to_one(_build(pattern, d, levels, s=steps - 1, c=c))


@pytest.mark.parametrize(("pattern", "d", "levels"), CASES, ids=str)
@pytest.mark.parametrize("construction", ["paper", "merged"])
def test_smaller_shift_factor_breaks_the_mapping(
    pattern: SparsityPattern, d: int, levels: int, construction: str
) -> None:
    assert not _one_to_one(_build(pattern, d, levels, construction, shift_factor=0))
    with pytest.raises(ProofError, match="tie"):
        _one_to_one(_build(pattern, d, levels, construction, shift_factor=1))
    if levels**d > 2:
        assert not _one_to_one(_build(pattern, d, levels, construction, shift_factor=levels**d - 1)) or d == 1
        assert not _one_to_one(_build(pattern, d, levels, construction, shift_factor=2))


@pytest.mark.parametrize(("pattern", "d", "levels"), CASES, ids=str)
def test_some_smaller_c_breaks_the_mapping(pattern: SparsityPattern, d: int, levels: int) -> None:
    proper = all_max_factor(literal_proof.smallest_s(pattern.to_lists()), pattern.n, d, levels)
    broken = [c for c in range(1, 24) if not _one_to_one(_build(pattern, d, levels, c=c))]
    assert broken
    assert max(broken) < proper


@pytest.mark.parametrize(("pattern", "d", "levels"), CASES, ids=str)
@pytest.mark.parametrize("step", [0, 1])
def test_smaller_embedding_meets_a_tie(pattern: SparsityPattern, d: int, levels: int, step: int) -> None:
    with pytest.raises(ProofError, match="tie"):
        _one_to_one(_build(pattern, d, levels, step=step))


@pytest.mark.parametrize(("pattern", "d", "levels"), CASES, ids=str)
@pytest.mark.parametrize("construction", ["paper", "merged"])
def test_wrong_constants_run_alike_literally_and_fused(
    pattern: SparsityPattern, d: int, levels: int, construction: str
) -> None:
    grids = cells(d, pattern.n, levels)[::5]
    for wrong in ({"c": 1}, {"shift_factor": 0}, {"shift_factor": 1}, {"step": 1}, {"s": 1}, {"shift_factor": 3}):
        mapping = _build(pattern, d, levels, construction, **wrong)
        try:
            fused = mapping.ids(grids)
        except ProofError:
            with pytest.raises(ProofError):
                mapping.literal_ids(grids)
        else:
            assert np.array_equal(fused, mapping.literal_ids(grids))
            assert np.abs(fused).max() <= mapping.bound


@pytest.mark.parametrize(
    "pattern",
    [families.window(6, 1), families.strided(7, 2), families.ring(5), families.star(6, 1), families.fixed(6, 3)],
    ids=str,
)
def test_tighter_s_is_what_following_the_layers_gives(pattern: SparsityPattern) -> None:
    attends = pattern.to_lists()
    for token in range(pattern.n):
        holders, steps = {token}, 0
        while len(holders) < pattern.n:
            rows = attends[steps % len(attends)]
            holders |= {k for k in range(pattern.n) if holders & set(rows[k])}
            steps += 1
        assert tighter_s(pattern, token) == steps
        assert steps <= literal_proof.smallest_s(attends)


@pytest.mark.parametrize(("pattern", "d", "levels"), [*CASES, (families.star(5, 1), 1, 2)], ids=str)
def test_tight_construction_keeps_every_statement(pattern: SparsityPattern, d: int, levels: int) -> None:
    gamma = literal_proof.hamiltonian_path(pattern.to_lists())
    mapping = build_mapping(pattern, d, levels, "paper", gamma=gamma, tight=True)
    s = mapping.stages[1].count
    c, grids = all_max_factor(s, pattern.n, d, levels), cells(d, pattern.n, levels)
    tilde = mapping.stages[0].apply(mapping.initial(grids), pattern)
    q = mapping.ids(grids)
    assert s == tighter_s(pattern, gamma[-1])
    assert mapping.stages[1].factor == c
    assert np.array_equal(q % c, tilde)
    last = tilde[:, gamma[-1]]
    assert np.all((q >= (c**s * last)[:, None]) & (q < (c**s * (last + 1))[:, None]))
    assert _one_to_one(mapping)


def test_tight_saves_layers() -> None:
    assert tighter_s(families.star(6, 1), 5) == 1
    assert literal_proof.smallest_s(families.star(6, 1).to_lists()) == 2


def test_tighter_s_is_none_when_a_token_never_sees_it() -> None:
    causal = families.causal(4)
    assert tighter_s(causal, 0) == 1
    assert tighter_s(causal, 1) is None
    assert tighter_s(families.dense(1), 0) == 1
    with pytest.raises(ProofError, match=r"Theorem 1 does not apply: .*token 3: use --construction relay"):
        build_mapping(causal, 1, 2, gamma=[0, 1, 2, 3], tight=True)


def test_self_attention_is_required() -> None:
    pattern = SparsityPattern.from_lists([[0, 1], [0, 1]], [[0, 1], [0]])
    with pytest.raises(ProofError, match=r"Assumption 1\.1 fails: token 1 .* pattern 1: let every token"):
        build_mapping(pattern, 1, 2, gamma=[0, 1], s=1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gamma": [0, 1, 1]}, "gamma must list every token"),
        ({"gamma": [0, 1]}, "gamma must list every token"),
        ({"gamma": [0, 2, 1]}, "gamma is no path: token 2 attends to token 0 in no pattern"),
        ({"patterns": [0]}, "patterns must have 2 entries"),
        ({"patterns": [0, 1]}, "no pattern 1"),
        ({"s": -1}, "constant s must be an integer that is not negative, got -1"),
        ({"c": -1}, "constant c must be an integer that is not negative"),
        ({"c": 40.0}, "constant c must be an integer"),
        ({"step": True}, "constant step must be an integer"),
        ({"levels": 1}, "K = 1/delta must be an integer of at least 2, got 1"),
        ({"levels": 2.5}, "K = 1/delta must be an integer"),
        ({"d": 0}, "d must be an integer of at least 1, got 0"),
        ({"construction": "fast"}, "unknown construction 'fast': choose paper, merged or relay"),
    ],
)
def test_nonsense_is_refused_in_one_line(arguments: dict[str, object], message: str) -> None:
    given = {"d": 1, "levels": 2, "gamma": [0, 1, 2], "s": 2, **arguments}
    with pytest.raises(ValueError, match=message) as caught:
        build_mapping(families.window(3, 1), **given)
    assert "\n" not in str(caught.value)


def test_patterns_must_hold_their_connections() -> None:
    pattern = SparsityPattern.from_lists([[0], [0, 1]], [[0, 1], [1]])
    assert path_patterns(pattern, np.array([0, 1])).tolist() == [0]
    with pytest.raises(ProofError, match="token 1 does not attend to token 0 in pattern 1"):
        build_mapping(pattern, 1, 2, gamma=[0, 1], s=2, patterns=[1])


@pytest.mark.parametrize(
    ("grids", "message"),
    [
        ([[0, 1, 2]], r"inputs must lie in 0\.\.1"),
        ([[0, -1, 1]], r"inputs must lie in 0\.\.1"),
        ([[0, 1]], r"inputs must be integers of shape \(\.\.\., 1, 3\)"),
        ([[0.0, 1.0, 1.0]], "not float64"),
        ([0, 1, 1], "inputs must be integers of shape"),
    ],
)
def test_inputs_off_the_grid_are_refused(grids: list[list[float]], message: str) -> None:
    mapping = _build(families.window(3, 1), 1, 2)
    with pytest.raises(ProofError, match=message):
        mapping.ids(grids)


def test_constants_of_numpy_do_not_wrap_around() -> None:
    """c^s in int64 would be 0 here."""
    pattern = families.dense(2)
    plain = build_mapping(pattern, 1, 4, "merged", gamma=[0, 1], s=2, c=2**33)
    numpy = build_mapping(
        pattern, np.int64(1), np.int64(4), "merged", gamma=[0, 1], s=np.int64(2), c=np.int64(2**33)
    )
    assert numpy.bound == plain.bound > 2**66
    assert numpy.ids([[3, 2]]).tolist() == plain.ids([[3, 2]]).tolist()
