"""Windows (left, right), as FlashAttention counts them: both ends inclusive, negative for unlimited."""

from __future__ import annotations

from theory.families.local import interval, interval_count
from theory.families.rows import admit, whole
from theory.patterns import PatternError, SparsityPattern
from theory.readers.guard import check_tokens

__all__ = ["WHO_MEANS_WHAT", "from_window", "parse_window"]

WHO_MEANS_WHAT = {
    "W-1,0": "Hugging Face sliding_window and GPT-Neo (W keys with oneself)",
    "W,0": "FlashAttention (W, W) if causal",
    "W,W": "FlashAttention (W, W), JAX, xFormers, LongT5",
    "W/2,W/2": "Longformer, ModernBERT",
}
"""The (left, right) that one number W means, and to whom."""


def from_window(n: int, left: int, right: int) -> SparsityPattern:
    """Read a window: A_k = {j : k - left <= j <= k + right}, a negative number being no limit on that side.

    FlashAttention's ``window_size=(left, right)`` for as many queries as keys; with ``causal=True`` it sets right
    to 0 itself. ``(-1, -1)`` is dense; ``(0, 0)`` is each token by itself.

    Raises
    ------
    PatternError
        If n, left or right is no whole number, or the connections would not fit.

    Examples
    --------
    >>> from_window(4, 1, 0).to_lists()[0]
    [[0], [0, 1], [1, 2], [2, 3]]
    >>> from_window(3, -1, 0).to_lists()[0]
    [[0], [0, 1], [0, 1, 2]]
    """
    n = whole("n", n, 1)
    check_tokens(n)
    before, after = (
        n - 1 if reach < 0 else reach for reach in (whole("left", left, -(2**62)), whole("right", right, -(2**62)))
    )
    admit(n, interval_count(n, before, after))
    return SparsityPattern((interval(n, before, after),))


def parse_window(text: str) -> tuple[int, int]:
    """Read ``left,right``; a bare ``W`` is refused, since libraries mean different things by it.

    Raises
    ------
    PatternError
        If it is not two whole numbers; for one, the message says who means what by it.

    Examples
    --------
    >>> parse_window("4,0")
    (4, 0)
    """
    parts = text.split(",")
    try:
        numbers = [int(part) for part in parts]
    except ValueError as error:
        raise PatternError(f"a window is left,right in whole numbers (-1: unlimited), got {text!r}") from error
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    table = "; ".join(f"{said} to {who}" for said, who in WHO_MEANS_WHAT.items())
    raise PatternError(f"a bare window W={text} means {table}: write left,right, both inclusive, -1 for unlimited")
