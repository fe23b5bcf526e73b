"""Python objects of every known kind, to one pattern a head; no library is imported to tell its objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theory.patterns import PatternError, SparsityPattern
from theory.readers.arrays import from_array, from_arrays
from theory.readers.heads import HeadPatterns, joined
from theory.readers.modules import from_object
from theory.readers.torch_masks import is_tensor, tensor_to_array

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["heads_of"]


def heads_of(value: Any, options: Mapping[str, str] | None = None, n: object = None) -> HeadPatterns:
    """Read what libraries hold: mask_mod, BlockMask, ``make_layout``, model config, splash mask, attention bias.

    A list of these gives the layers of one cycle. Anything else is read by `theory.readers.modules.from_object`.

    Parameters
    ----------
    value
        The object.
    options
        ``head``: one head, or their union; the rest says what the entries of a mask mean.
    n
        Tokens, for an object that does not know.

    Raises
    ------
    PatternError
        If it is none of these, or n is needed.
    """
    meaning = dict(options or {})
    head = meaning.pop("head", None)
    heads = _from_library(value, n)
    if heads is None:
        heads = _from_masks(value, meaning) or HeadPatterns((from_object(value, meaning, n),))
    elif meaning:
        raise PatternError(
            f"{', '.join(meaning)} says what the entries of a mask mean, which this object says itself"
        )
    return heads.chosen(head)


def _from_masks(value: Any, meaning: Mapping[str, str]) -> HeadPatterns | None:
    """Read a dense mask, or a list of them; None for anything else."""
    several = isinstance(value, (list, tuple))
    masks = [tensor_to_array(one) if is_tensor(one) else one for one in (value if several else [value])]
    if not masks or not all(hasattr(mask, "__array__") and getattr(mask, "ndim", 0) >= 2 for mask in masks):
        return None
    if not several:
        return from_array(masks[0], meaning)
    flat = all(mask.ndim == 2 for mask in masks)
    return from_arrays(list(map(str, range(len(masks)))), lambda name: masks[int(name)], flat, meaning)


def _from_library(value: Any, n: object) -> HeadPatterns | None:
    """Read an object of a library, or a list of them; None for anything else."""
    from theory.readers import block_masks, flex, huggingface, layouts, lazy_masks

    if isinstance(value, (list, tuple)):
        first = _from_library(value[0], n) if value else None
        return None if first is None else joined([first, *(heads_of(one, None, n) for one in value[1:])])
    if isinstance(value, (SparsityPattern, dict)) or value is None:
        return None
    if block_masks.is_block_mask(value):
        return block_masks.from_block_mask(value, None if n is None else _tokens(n, value))
    if layouts.has_layout(value):
        return layouts.from_layout(value, _tokens(n, value))
    if flex.is_mask_mod(value):
        return flex.from_mask_mod(value, _tokens(n, value))
    if huggingface.is_config(value):
        return HeadPatterns((huggingface.from_config(value, _tokens(n, value)),))
    if lazy_masks.is_splash_mask(value):
        return lazy_masks.from_splash_mask(value)
    if lazy_masks.is_attention_bias(value):
        return lazy_masks.from_attention_bias(value, None if n is None else _tokens(n, value))
    if type(value).__name__ == "CausalBias":
        from theory.readers.torch_masks import from_torch_mask

        return from_torch_mask(value)
    return None


def _tokens(n: object, value: object) -> int:
    if not isinstance(n, int) or isinstance(n, bool):
        raise PatternError(f"a {type(value).__name__} does not know the number of tokens: add n, as in ?n=64")
    return n
