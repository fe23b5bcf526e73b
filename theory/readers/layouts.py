"""Objects with ``make_layout(seq_len)``, DeepSpeed's SparsityConfig classes: a grid of blocks for every head."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from theory.checks import flag
from theory.families.local import causal_part
from theory.families.rows import whole
from theory.patterns import PatternError, SparsityPattern
from theory.readers.blocks import expand_blocks
from theory.readers.guard import check_tokens, one_line
from theory.readers.heads import HeadPatterns

__all__ = ["from_layout", "has_layout"]


def has_layout(value: object) -> bool:
    """Tell an object with ``make_layout``, by its method alone."""
    return callable(getattr(value, "make_layout", None)) and not isinstance(value, type)


def from_layout(config: Any, n: int, *, causal: bool | None = None, seed: int | None = None) -> HeadPatterns:
    """Read ``config.make_layout(n)``, shape (heads, m, m): row = block of queries, column = block of keys.

    Parameters
    ----------
    config
        An object with `make_layout` and the block size `block`.
    n
        Tokens.
    causal
        True: keep the keys j <= k. It has to be said where ``config.attention`` is "unidirectional": the layout is
        then causal between blocks only, every token sees its whole own block, and DeepSpeed's kernel adds no
        causal mask to it by itself, only one that the model passes as `attn_mask`.
    seed
        For a layout with random blocks: what Python's `random` is seeded with.

    Raises
    ------
    PatternError
        If the layout fails, is none, is drawn at random without a seed, or `causal` has to be said.
    """
    n = whole("n", n, 1)
    check_tokens(n)
    if causal is not None:
        flag("causal", causal)
    if causal is None and getattr(config, "attention", None) == "unidirectional":
        raise PatternError(
            "a unidirectional layout is causal between blocks only: say causal=true if the model adds a causal"
            " mask inside the diagonal blocks (attn_mask), causal=false if it does not"
        )
    layout = _layout(config, n, seed)
    if seed is None and not np.array_equal(layout, _layout(config, n, None)):
        raise PatternError("this layout has random blocks: say seed=0, or another, to draw the same ones again")
    block = getattr(config, "block", None)
    if block is None:
        raise PatternError(f"{type(config).__name__} has no block size: give it an attribute `block`")
    if layout.ndim == 2:
        layout = layout[None]
    if layout.ndim != 3:
        raise PatternError(f"make_layout returned shape {layout.shape}, not (heads, blocks, blocks)")
    patterns: list[SparsityPattern] = []
    for head, grid in enumerate(layout):
        if head and np.array_equal(grid, layout[0]):
            patterns.append(patterns[0])
            continue
        pattern = SparsityPattern((expand_blocks(grid, block, n),))
        patterns.append(causal_part(pattern) if causal else pattern)
    return HeadPatterns(tuple(patterns))


def _layout(config: Any, n: int, seed: int | None) -> Any:
    state = random.getstate()
    try:
        if seed is not None:
            random.seed(seed)
        made = config.make_layout(n)
        return np.asarray(made.detach().cpu() if hasattr(made, "detach") else made)
    except Exception as error:
        raise PatternError(f"{type(config).__name__}.make_layout({n}) failed: {one_line(error)}") from error
    finally:
        if seed is not None:
            random.setstate(state)
