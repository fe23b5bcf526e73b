"""What a sweep over all K^{dn} inputs shows, and how it is cut up.

The inputs in lexicographic order (the entries of the (d, n) grid are digits, the last one fastest) are cut into
blocks, in which the last `low` entries take all their values, and whole blocks into shards. For every input:

paper, merged: the ids q_k have s + 1 digits in base c, the digits of weight c^0 are pairwise different, and the
    digit of weight c^s is L(H) for every token, L one linear form. So one input's ids are distinct (7.1), and as L
    is one-to-one (`linear_form`), two inputs share no id (7.2).
relay: the id of every token k is L_k(H). The weights of L_k vanish outside reach(k), L_k is one-to-one on the
    columns of reach(k), and no two tokens' ids lie between each other's least and greatest value.

The forms are what dn + 1 inputs say they must be; that all inputs agree is what the sweep shows.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from constructions.all_max_shift import AllMaxShifts
from constructions.base_c import digits_dtype
from constructions.cells import cell_count
from constructions.dependence import reach_matrix
from constructions.numbers import INT64_BITS, ProofError, exact_dtype
from constructions.relay_stage import RelayStage
from constructions.selective_shift import SelectiveShifts
from verify.exhaustive.linear_form import LinearForm, fit_forms, is_one_to_one

if TYPE_CHECKING:
    import numpy.typing as npt

    from constructions.mapping import StagedMapping
    from theory.patterns import IntArray

__all__ = ["SweepCase", "fingerprint_weights", "sweep_case"]

VERSION = 1  # of everything that a fingerprint or the cut depends on
BLOCK = 2**10  # inputs whose rows stay in a core's own cache
WIDEST = 2**18  # the least block holds K inputs
SMALL, LARGEST = 2**7, 2**12  # a block below SMALL costs more to set up than one up to LARGEST to run
SHARD = 2**22  # inputs: some tens of milliseconds
LEAST_SHARD = 2**16
LEAST_SHARDS = 64


@dataclass(frozen=True, eq=False)
class SweepCase:
    """A mapping, the forms that its ids are compared with, and the cut of all inputs; see `sweep_case`.

    Parameters
    ----------
    mapping
        `paper`, `merged` or `relay`.
    starts
        z_k = u^T H_k, one form a token.
    forms
        L, or for `relay` L_k, one a token.
    dtype
        int64 where no number that the sweep meets (ids in base c) is too large, else object.
    low
        How many of the last entries run through a block.
    block, shard, count
        Inputs of a block, of a shard but the last, and altogether; multiples of the one before.
    key
        SHA-256 of all that determines the results, as hexadecimal digits: what a checkpoint has to agree on.
    """

    mapping: StagedMapping
    starts: tuple[LinearForm, ...]
    forms: tuple[LinearForm, ...]
    dtype: np.dtype[Any]
    low: int
    block: int
    shard: int
    count: int
    key: str

    @property
    def path_stages(self) -> tuple[SelectiveShifts, AllMaxShifts]:
        """The stages of `paper` and `merged`."""
        return _path_stages(self.mapping)

    @property
    def shards(self) -> int:
        """Number of shards."""
        return -(-self.count // self.shard)

    def blocks_of(self, number: int) -> range:
        """Return the blocks of a shard."""
        first = number * self.shard
        return range(first // self.block, min(first + self.shard, self.count) // self.block)

    def low_entries(self) -> IntArray:
        """Return what the last `low` entries are in a block, shape (block, low)."""
        return self._entries(np.arange(self.block, dtype=np.int64), self.low)

    def high_entries(self, blocks: IntArray) -> IntArray:
        """Return what the other entries are in some blocks, shape (len(blocks), dn - low)."""
        return self._entries(blocks, len(self.forms[0].weights) - self.low)

    def _entries(self, numbers: IntArray, digits: int) -> IntArray:
        entries = np.empty((numbers.size, digits), dtype=np.int64)
        for digit in reversed(range(digits)):
            numbers, entries[:, digit] = np.divmod(numbers, self.mapping.K)
        return entries


def sweep_case(mapping: StagedMapping) -> SweepCase:
    """Find the forms of a mapping's ids, check that they can be read back, and cut the inputs into shards.

    Parameters
    ----------
    mapping
        Of stages `SelectiveShifts`, `AllMaxShifts` (`paper`, `merged`), or `RelayStage` only.

    Raises
    ------
    ProofError
        With the reason, where a sweep would not show that the ids are distinct; they may be all the same.

    Examples
    --------
    >>> from constructions.contextual_mapping import build_mapping
    >>> from theory.patterns import SparsityPattern
    >>> dense = SparsityPattern.from_lists([[0, 1], [0, 1]])
    >>> case = sweep_case(build_mapping(dense, 1, 4, "merged", gamma=[0, 1], s=1))
    >>> case.forms, case.count, case.shards
    ((LinearForm(constant=16, weights=(4, -3)),), 16, 1)
    """
    n, d, levels = mapping.pattern.n, mapping.d, mapping.K
    count = cell_count(d, n, levels)
    if count.bit_length() > INT64_BITS:
        raise ProofError(f"{levels}^{d * n} inputs are too many to number")
    if levels > WIDEST:
        raise ProofError(f"a block of K = {levels} inputs is too wide: up to {WIDEST} fit flat memory")
    starts = fit_forms(mapping.initial, d, n)
    if mapping.construction == "relay":
        forms, dtype = _relay_forms(mapping)
    else:
        forms, dtype = _path_forms(mapping, starts)
    low, block = 1, levels
    while low < d * n and block * levels <= (LARGEST if block < SMALL else BLOCK):
        low, block = low + 1, block * levels
    target = min(SHARD, max(LEAST_SHARD, count // LEAST_SHARDS))
    shard = block * max(1, target // block)
    key = _key(mapping, f"block={block} shard={shard}")
    return SweepCase(mapping, starts, forms, dtype, low, block, shard, count, key)


def _path_forms(
    mapping: StagedMapping, starts: tuple[LinearForm, ...]
) -> tuple[tuple[LinearForm, ...], np.dtype[Any]]:
    """Return the form of the digit of weight c^s, after checking that it is all tokens', and a dtype."""
    shifts, maxima = _path_stages(mapping)
    if maxima.count < 1 or maxima.factor < 2:
        raise ProofError(
            f"with s = {maxima.count} and c = {maxima.factor} the ids have no digit that all tokens share"
        )
    top = maxima.factor**maxima.count
    forms = set(fit_forms(lambda grids: mapping.ids(grids).astype(object) // top, mapping.d, mapping.pattern.n))
    if len(forms) > 1:
        raise ProofError("the ids of different tokens differ in the digit of weight c^s")
    form = forms.pop()
    if not is_one_to_one(form.weights, mapping.K):
        raise ProofError(f"the digit of weight c^s, with weights {form.weights}, is not shown to be one-to-one")
    low = np.array([start.least(mapping.K) for start in starts], dtype=object)
    high = np.array([start.greatest(mapping.K) for start in starts], dtype=object)
    ends = np.concatenate((low, high, *shifts.widen(low, high, mapping.pattern)))
    bound = max(abs(int(end)) for end in ends)
    return (form,), digits_dtype(maxima.factor, max(2 * bound, form.size(mapping.K)))


def _path_stages(mapping: StagedMapping) -> tuple[SelectiveShifts, AllMaxShifts]:
    match mapping.stages:
        case (SelectiveShifts() as shifts, AllMaxShifts() as maxima):
            return shifts, maxima
    raise ProofError(f"no sweep of a mapping with the stages {[stage.name for stage in mapping.stages]}")


def _relay_forms(mapping: StagedMapping) -> tuple[tuple[LinearForm, ...], np.dtype[Any]]:
    """Return the forms of the ids, after checking that each can be read back and their slots are disjoint."""
    n, d, levels = mapping.pattern.n, mapping.d, mapping.K
    if not all(isinstance(stage, RelayStage) for stage in mapping.stages):
        raise ProofError(f"no sweep of a mapping with the stages {[stage.name for stage in mapping.stages]}")
    forms = fit_forms(mapping.ids, d, n)
    for token, (form, reach) in enumerate(zip(forms, reach_matrix(mapping.pattern), strict=True)):
        weights = np.array(form.weights, dtype=object).reshape(d, n)
        if np.any(weights[:, ~reach] != 0):
            raise ProofError(f"the id of token {token} depends on a token that does not reach it")
        if not is_one_to_one(weights[:, reach].ravel().tolist(), levels):
            raise ProofError(f"the id of token {token} is not shown to be one-to-one in what reaches it")
    slots = sorted((form.least(levels), form.greatest(levels), token) for token, form in enumerate(forms))
    for (_, last, token), (first, _, other) in pairwise(slots):
        if first <= last:
            raise ProofError(f"the ids of tokens {token} and {other} do not lie apart")
    bound = max(mapping.bound, *(form.size(levels) for form in forms))
    return forms, exact_dtype(bound)


def _key(mapping: StagedMapping, cut: str) -> str:
    """Return the SHA-256 of all that the results of the shards depend on."""
    stages = [stage.steps if isinstance(stage, RelayStage) else stage for stage in mapping.stages]
    parts = (mapping.pattern.digest, mapping.d, mapping.K, mapping.construction, mapping.step)
    text = f"sweep {VERSION} {parts} {mapping.positions.tolist()} {cut} {stages}"
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint_weights(rows: int, digits: int) -> npt.NDArray[np.int64]:
    """Return odd 64-bit numbers a[k, j], pseudorandom and the same everywhere, wrapped to int64.

    The fingerprint of ids with digits D_kj (for `relay` a single one, the id) is, modulo 2^64, the sum over the
    inputs number i of (2 i + 1) sum_kj a[k, j] D_kj. It changes where a single number does, unless by a
    multiple of 2^64.

    Examples
    --------
    >>> fingerprint_weights(1, 2).tolist()
    [[-2152535657050944081, 7960286522194355701]]
    """
    mixed = np.arange(1, rows * digits + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # splitmix64
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return (mixed | np.uint64(1)).view(np.int64).reshape(rows, digits)
