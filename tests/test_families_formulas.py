"""Every deterministic family against a double loop written from its formula, tokens from 1 as in the sources."""

from __future__ import annotations

from functools import partial
from math import ceil
from typing import TYPE_CHECKING

import pytest

from theory.families import (
    arrange_heads,
    bigbird,
    causal,
    causal_part,
    dense,
    documents,
    equal_documents,
    fixed,
    hub,
    longformer,
    parse_family,
    ring,
    star,
    strided,
    window,
)
from theory.patterns import PatternError, SparsityPattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SIZES = range(1, 13)


def rows(n: int, attends: Callable[[int], Iterable[int]]) -> list[list[int]]:
    """Turn A_k, k = 1..n, intersected with [n], into lists that count from 0."""
    return [sorted({j - 1 for j in attends(k) if 1 <= j <= n}) for k in range(1, n + 1)]


def between(before: int, after: int, k: int) -> range:
    return range(k - before, k + after + 1)


def segment(w: int, k: int) -> range:
    return range(ceil(k / w) * w - w + 1, ceil(k / w) * w + 1)


def multiples(k: int, w: int, n: int) -> set[int]:
    return {k + i * w for i in range(-n, n + 1)}


@pytest.mark.parametrize("n", SIZES)
def test_families_without_width(n: int) -> None:
    everything = range(1, n + 1)
    assert dense(n).to_lists() == [rows(n, lambda k: everything)]
    assert causal(n).to_lists() == [rows(n, lambda k: range(1, k + 1))]
    assert hub(n).to_lists() == [rows(n, lambda k: everything if k == n else {k, n})]
    assert ring(n).to_lists() == [rows(n, lambda k: {k, k - 1 if k > 1 else n})]


@pytest.mark.parametrize("n", SIZES)
def test_window_and_causal_window(n: int) -> None:
    for w in range(n + 3):
        near = rows(n, partial(between, w, w))
        back = rows(n, partial(between, w, 0))
        assert window(n, w).to_lists() == [near]
        assert causal(n, w).to_lists() == [back]
        assert causal_part(window(n, w)).to_lists() == [back]


def strided_rows(n: int, w: int) -> list[list[list[int]]]:
    """Write eq. (4) out."""
    near = rows(n, lambda k: range(k - ceil(w / 2), k + w // 2 + 1))
    return [near, rows(n, lambda k: multiples(k, w, n))]


def fixed_rows(n: int, w: int) -> list[list[list[int]]]:
    """Write eq. (5) out."""
    return [rows(n, partial(segment, w)), rows(n, lambda k: {k} | {i * w for i in range(1, n + 1)})]


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(("build", "oracle"), [(strided, strided_rows), (fixed, fixed_rows)])
def test_strided_and_fixed(
    build: Callable[[int, int], SparsityPattern], oracle: Callable[[int, int], list[list[list[int]]]], n: int
) -> None:
    for w in range(1, n + 4):
        pattern, expected = build(n, w), oracle(n, w)
        assert pattern.to_lists() == expected
        lower = [[[j for j in row if j <= k] for k, row in enumerate(layer)] for layer in expected]
        assert causal_part(pattern).to_lists() == lower
        assert parse_family(f"{build.__name__}:n={n},w={w},causal=true").to_lists() == lower
        both = [sorted({*near, *far}) for near, far in zip(*expected, strict=True)]
        for heads in ("union", "multihead"):
            assert arrange_heads(pattern, heads).to_lists() == [both]
            assert parse_family(f"{build.__name__}:n={n},w={w},heads={heads}").to_lists() == [both]
        assert arrange_heads(pattern, "sequential") is pattern


@pytest.mark.parametrize("n", SIZES)
def test_star(n: int) -> None:
    for w in range(n + 3):

        def attends(k: int, w: int = w) -> set[int]:
            if k == n:
                return set(range(1, n + 1))
            return {n} | {(i - 1) % (n - 1) + 1 for i in range(k - w, k + w + 1)}

        assert star(n, w).to_lists() == [rows(n, attends)]


@pytest.mark.parametrize("n", SIZES)
def test_longformer(n: int) -> None:
    for w in range(n + 2):
        for dilation in range(1, n + 3):
            for chosen in (0, min(2, n), n, [n - 1], [n - 1, n // 2, n - 1]):
                globals_ = {j + 1 for j in (range(chosen) if isinstance(chosen, int) else chosen)}

                def attends(k: int, w: int = w, g: int = dilation, globals_: set[int] = globals_) -> set[int]:
                    if k in globals_:
                        return set(range(1, n + 1))
                    return globals_ | {j for j in range(1, n + 1) if abs(k - j) <= w and (k - j) % g == 0}

                assert longformer(n, w, dilation, chosen).to_lists() == [rows(n, attends)]


@pytest.mark.parametrize("n", SIZES)
def test_documents_of_one_length(n: int) -> None:
    for length in range(1, n + 3):
        same = rows(n, partial(segment, length))
        assert equal_documents(n, length).to_lists() == [same]
        assert equal_documents(n, length, causal=True) == causal_part(equal_documents(n, length))


def test_documents_of_any_lengths() -> None:
    lengths = [3, 1, 4]
    owner = [number for number, length in enumerate(lengths) for _ in range(length)]
    expected = [[j for j in range(8) if owner[j] == owner[k]] for k in range(8)]
    assert documents(lengths).to_lists() == [expected]
    assert documents(lengths, causal=True).to_lists() == [
        [[j for j in row if j <= k] for k, row in enumerate(expected)]
    ]


def test_strided_and_fixed_by_hand() -> None:
    # By hand: with w not dividing n, Fixed's last segment has no representative.
    assert fixed(5, 2).to_lists()[1] == [[0, 1, 3], [1, 3], [1, 2, 3], [1, 3], [1, 3, 4]]
    assert strided(9, 4).to_lists()[0][4] == [2, 3, 4, 5, 6]
    assert strided(9, 3).to_lists()[0][4] == [2, 3, 4, 5]


@pytest.mark.parametrize("n", [1, 2, 7])
def test_a_width_beyond_the_text_means_the_text(n: int) -> None:
    huge = 10**30
    for build in (window, causal, star, longformer, strided, fixed, equal_documents):
        assert build(n, huge) == build(n, 2 * n), build.__name__
    assert longformer(n, huge, huge) == window(n, 0)
    assert bigbird(n, huge, huge, 0, block=huge) == dense(n) == bigbird(n, 0, huge, 0)


@pytest.mark.parametrize(
    "build",
    [
        lambda: dense(0),
        lambda: dense(True),
        lambda: dense(2.0),  # type: ignore[arg-type]
        lambda: window(5, -1),
        lambda: causal(5, -1),
        lambda: strided(5, 0),
        lambda: fixed(5, 0),
        lambda: star(0, 1),
        lambda: star(5, -1),
        lambda: ring(-3),
        lambda: hub("4"),  # type: ignore[arg-type]
        lambda: longformer(4, 1, dilation=0),
        lambda: longformer(4, 1, globals_=5),
        lambda: longformer(4, 1, globals_=[4]),
        lambda: longformer(4, 1, globals_=[-1]),
        lambda: documents([]),
        lambda: documents([2, 0]),
        lambda: equal_documents(4, 0),
        lambda: arrange_heads(strided(4, 2), "both"),
    ],
)
def test_bad_numbers_are_refused_in_one_line(build: Callable[[], SparsityPattern]) -> None:
    with pytest.raises(PatternError) as error:
        build()
    assert "\n" not in str(error.value)
