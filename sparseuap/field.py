"""Receptive fields: what `sparseuap grow` prints, over as many layers as something changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np

from sparseuap.patterns import PatternLike, Reading, as_pattern
from theory.checks import PatternError, index, layers_listed, whole
from theory.read_only import read_only
from theory.receptive_field import ReceptiveField, receptive_field
from theory.receptive_field import first_seen_by as first_layers

if TYPE_CHECKING:
    from theory.patterns import IntArray

__all__ = ["MATRIX_TOKENS", "first_seen_by", "grow"]

MATRIX_TOKENS = 512
"""Tokens up to which the first layer is kept for every pair."""
MOST_BITS = 2**36  # n^2 times the layers
MOST_SIZES = 2**26  # n times the layers, each 8 bytes


def grow(pattern: PatternLike, layers: int | None = None, **reading: Unpack[Reading]) -> ReceptiveField:
    """Follow what each token sees after each layer, residual connections included.

    Parameters
    ----------
    layers
        Attention layers of a model; None: up to the last at which anything changes.
    **reading
        As for `sparseuap.patterns.as_pattern`.

    Returns
    -------
    ReceptiveField
        With the first layer of every pair up to `MATRIX_TOKENS` tokens.

    Raises
    ------
    PatternError
        If there is no such pattern, `layers` < 1, or n or n^2 times the layers are too many to follow.

    Examples
    --------
    >>> grow("ring:n=4").sizes[:, 0].tolist()
    [1, 2, 3, 4]
    """
    read = as_pattern(pattern, **reading)
    count = read.p * max(1, read.n - 1) if layers is None else layers_listed(layers)
    if read.n**2 * count > MOST_BITS or read.n * count > MOST_SIZES:
        if layers is None:
            raise PatternError(f"{read.n} tokens may need {count} layers: say how many to follow with --layers")
        raise PatternError(f"{read.n} tokens through {count} layers are too many to follow: ask for one --query")
    field = receptive_field(read, count, matrix=read.n <= MATRIX_TOKENS)
    if layers is None:  # each cycle adds a token to some set or is the last: nothing changes after `count` layers
        changes = np.flatnonzero((field.sizes[1:] != field.sizes[:-1]).any(axis=1))
        shown = max(1, int(changes[-1]) + 1 if changes.size else 0)
        field = ReceptiveField(field.sizes[: shown + 1], field.first_seen)
    return field


def first_seen_by(
    pattern: PatternLike, query: int, layers: int | None = None, **reading: Unpack[Reading]
) -> IntArray:
    """Return for every key the first layer after which one token sees it; -1 for never, 0 for the token itself.

    Parameters
    ----------
    query
        The token, from 0.
    layers
        Attention layers of a model, beyond which nothing counts.
    **reading
        As for `sparseuap.patterns.as_pattern`.

    Examples
    --------
    >>> first_seen_by("ring:n=4", 0).tolist(), first_seen_by("ring:n=4", 0, layers=2).tolist()
    ([0, 3, 2, 1], [0, -1, 2, 1])
    """
    read = as_pattern(pattern, **reading)
    first = first_layers(read, index(query, read.n))
    if layers is not None:
        first[first > whole("a number of layers", layers, 1)] = -1
    return read_only(first)
