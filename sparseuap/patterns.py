"""Whatever a caller has for a pattern, read in one place: a source, an array, a graph, a mask function."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import numpy as np

from theory.checks import PatternError, choice, whole
from theory.patterns import SparsityPattern
from theory.readers.source import read_heads

if TYPE_CHECKING:
    from collections.abc import Iterable

    from theory.readers.heads import HeadPatterns

__all__ = ["PatternLike", "Reading", "as_pattern", "name_of"]

PatternLike = Any
"""What `as_pattern` reads."""

OPTIONS = {
    "true_means": "true",
    "zero_means": "zero",
    "masked_below": "masked_below",
    "axis": "axis",
    "batch": "batch",
}
"""What an array needs said, and the option of a source that says it."""


class Reading(TypedDict, total=False):
    """What a pattern does not say itself; see `as_pattern`."""

    n: int
    true_means: Literal["attend", "masked"]
    zero_means: Literal["attend"]
    masked_below: float
    axis: Literal["heads", "layers"]
    batch: int
    heads: int
    head: int | Literal["union"]


def as_pattern(pattern: PatternLike, **reading: Unpack[Reading]) -> SparsityPattern:
    """Read a pattern from what the command line takes, or from a Python object.

    Parameters
    ----------
    pattern
        A SparsityPattern; a SOURCE (`theory.readers.source.read_source`) or a path; a boolean or additive mask as
        an array or tensor; key lists; a SciPy sparse matrix; a networkx graph (an edge is key -> query); a mask
        function of (query, key), or FlexAttention's mask_mod; a BlockMask and whatever else
        `theory.readers.objects.heads_of` knows. A list of masks, matrices, graphs or functions is a cycle.
    n
        Tokens, for a mask function.
    true_means, zero_means, masked_below, axis, batch
        What the entries of an array mean (one of the first two is required), and what its dimensions are; see
        `theory.masks.from_boolean_mask` and `theory.masks.from_additive_mask`.
    heads
        The number of heads of a mask_mod that depends on the head.
    head
        Which head to take, or "union" (what a token sees through all heads of a layer), where the heads differ.

    Raises
    ------
    PatternError
        If it is none of these, something that has to be said is not, something is said that has no effect, or
        heads differ.

    Examples
    --------
    >>> as_pattern("star:n=16,w=1").connections
    76
    >>> as_pattern(np.tri(3, dtype=bool), true_means="attend") == as_pattern(lambda q, k: k <= q, n=3)
    True
    """
    unknown = sorted(set(reading) - set(Reading.__annotations__))
    if unknown:
        raise TypeError(f"unexpected keyword argument {unknown[0]!r}")
    if isinstance(pattern, SparsityPattern):
        _refuse(reading, "a SparsityPattern says all there is to say")
        return pattern
    said: dict[str, Any] = dict(reading)
    head = said.pop("head", None)
    if isinstance(pattern, (str, os.PathLike)):
        _refuse(said, 'a source says it itself, as in "star:n=16,w=1" or "mask.npy?true=attend"')
        return read_heads(os.fspath(pattern)).chosen(_text(head)).only()
    return _shared(_read_object(pattern, said).chosen(_text(head)))


def name_of(pattern: PatternLike) -> str:
    """Return what to call a pattern in a sentence: the source that it came from, or what it is.

    Examples
    --------
    >>> name_of("star:n=16,w=1")
    'star:n=16,w=1'
    >>> name_of(SparsityPattern.from_lists([[0]]))
    'SparsityPattern(n=1, p=1, connections=1, density=100%)'
    """
    if isinstance(pattern, (str, os.PathLike)):
        return os.fspath(pattern)
    return repr(pattern) if isinstance(pattern, SparsityPattern) else f"the {type(pattern).__name__} given"


def _read_object(pattern: Any, said: dict[str, Any]) -> HeadPatterns:
    from theory.readers.flex import from_mask_mod, is_mask_mod
    from theory.readers.objects import heads_of

    if isinstance(pattern, (list, tuple)) and any(isinstance(part, (str, os.PathLike)) for part in pattern):
        raise PatternError('a list of sources is no pattern: give each by itself, or a cycle as "a.npz+b.npz"')
    n = whole("n", said.pop("n"), 1) if "n" in said else None
    heads = said.pop("heads", None)
    if n is None and callable(pattern) and not hasattr(pattern, "make_layout"):
        raise PatternError("a mask function does not know the number of tokens: add n=64, or whatever it is")
    if heads is not None:
        if not is_mask_mod(pattern):
            raise PatternError("heads is the number of heads of a mask_mod: to take a head, say head=0 instead")
        batch = said.pop("batch", 0)
        _refuse(said, "a mask_mod says itself what it lets through")
        return from_mask_mod(pattern, n or 0, heads=heads, batch=batch)
    if "true_means" in said:
        choice("true_means", said["true_means"], ("attend", "masked"))
    if "zero_means" in said:
        choice("zero_means", said["zero_means"], ("attend",))
    if _is_mask(pattern) and not {"true_means", "zero_means"} & set(said):
        raise PatternError(
            'the array does not say what its entries mean: add true_means="attend" or true_means="masked"'
            ' (booleans), or zero_means="attend" (added to the scores)'
        )
    return heads_of(pattern, {OPTIONS[name]: str(value) for name, value in said.items()}, n)


def _text(head: int | str | None) -> str | None:
    """Return a choice of head as a source has it."""
    return head if head is None or isinstance(head, str) else str(whole("head", head))


def _is_mask(pattern: Any) -> bool:
    """Tell plain arrays, tensors and lists of them; torch is not imported for that."""
    if isinstance(pattern, (list, tuple)):
        return bool(pattern) and all(isinstance(part, np.ndarray) and part.ndim > 1 for part in pattern)
    return isinstance(pattern, np.ndarray) or type(pattern) is getattr(sys.modules.get("torch"), "Tensor", None)


def _refuse(said: Iterable[str], why: str) -> None:
    """Refuse what would have no effect."""
    for name in said:
        raise PatternError(f"{name} has no effect here: {why}")


def _shared(read: HeadPatterns) -> SparsityPattern:
    """Return the pattern of all heads; `HeadPatterns.only` names a remedy that an object does not have."""
    patterns = read.distinct()
    if len(patterns) > 1:
        raise PatternError(
            f'head {patterns[1][0][0]} attends otherwise than head 0: say head=0, or another, or head="union"'
            " (what a token sees through all heads of a layer)"
        )
    return patterns[0][1]
