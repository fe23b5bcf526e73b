"""The sources that name a library's own form: ``flex:``, ``hf:``, ``layout:`` and ``flash:``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from theory.patterns import PatternError
from theory.readers.guard import check_options, flag, whole_number
from theory.readers.heads import HeadPatterns
from theory.readers.modules import MODULE, argument, call, module_object
from theory.readers.signatures import is_function_of, takes, with_options

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["LIBRARIES", "read_library"]


def read_library(kind: str, place: str, options: Mapping[str, str]) -> HeadPatterns:
    """Read ``kind:place?options``.

    Parameters
    ----------
    kind
        One of `LIBRARIES`.
    place
        ``flex``, ``layout``: module:name. ``hf``: a config.json, or module:name. ``flash``: left,right.
    options
        ``n``, the number of tokens; ``head=0`` or ``head=union``, where heads may differ. Further:

        * ``flex``: ``heads``, ``batch``; anything else is a default argument of the mask_mod to be set, or an
          argument of a function that makes the mask_mod.
        * ``hf``: ``global=0,5`` (positions), ``causal=true``.
        * ``layout``: ``causal``, ``seed``; anything else is an argument of the class or function.
        * ``flash``: ``causal=true``, by which the right side is 0.

    Raises
    ------
    PatternError
        In one line: what is wrong with it.
    """
    rest = dict(options)
    head = rest.pop("head", None)
    if "n" not in rest and kind != "flex":
        raise PatternError(f"{kind}: does not know the number of tokens: add n, as in ?n=64")
    n = whole_number("n", rest.pop("n")) if "n" in rest else None
    return LIBRARIES[kind](place, n, rest).chosen(head)


def _flex(place: str, n: int | None, options: dict[str, str]) -> HeadPatterns:
    from theory.readers.block_masks import from_block_mask, is_block_mask
    from theory.readers.flex import from_mask_mod

    heads = whole_number("heads", options.pop("heads")) if "heads" in options else None
    batch = whole_number("batch", options.pop("batch")) if "batch" in options else None
    arguments = {name: argument(text) for name, text in options.items()}
    with module_object(place) as target:
        if is_block_mask(target):
            if arguments:
                raise PatternError(f"a BlockMask takes no {', '.join(arguments)}")
        elif is_function_of(target, 4, arguments):
            target = with_options(target, 4, arguments)
        elif callable(target):
            with_n = n is not None and takes(target, "n")
            target = call(target, {**arguments, "n": n} if with_n else arguments)
        if is_block_mask(target):
            return from_block_mask(target, n, heads=heads, batch=batch)
        if n is None:
            raise PatternError("a mask_mod does not know the number of tokens: add n, as in ?n=64")
        return from_mask_mod(target, n, heads=heads, batch=batch or 0)


def _hf(place: str, n: int | None, options: dict[str, str]) -> HeadPatterns:
    from theory.readers.huggingface import from_config, is_config, read_config

    check_options(options, ("global", "causal"), "a Hugging Face configuration (with n, head)")
    places = options.get("global")
    tokens = None if places is None else [whole_number("global", one) for one in places.split(",") if one]
    causal = flag("causal", options["causal"]) if "causal" in options else None
    if MODULE.fullmatch(place) and not os.path.exists(place):
        with module_object(place) as target:
            if not is_config(target):
                raise PatternError(f"{type(target).__name__} is no configuration object of transformers")
            return HeadPatterns((from_config(target, n or 0, global_tokens=tokens, causal=causal),))
    return read_config(place, n or 0, global_tokens=tokens, causal=causal)


def _layout(place: str, n: int | None, options: dict[str, str]) -> HeadPatterns:
    from theory.readers.layouts import from_layout, has_layout

    causal = flag("causal", options.pop("causal")) if "causal" in options else None
    seed = whole_number("seed", options.pop("seed")) if "seed" in options else None
    arguments = {name: argument(text) for name, text in options.items()}
    with module_object(place) as target:
        if not has_layout(target):
            target = call(target, arguments)
        elif arguments:
            raise PatternError(f"{place} is already made, so it takes no {', '.join(arguments)}")
        if not has_layout(target):
            raise PatternError(f"{type(target).__name__} has no make_layout(seq_len)")
        return from_layout(target, n or 0, causal=causal, seed=seed)


def _flash(place: str, n: int | None, options: dict[str, str]) -> HeadPatterns:
    from theory.readers.windows import from_window, parse_window

    check_options(options, ("causal",), "a window (with n)")
    left, right = parse_window(place)
    if "causal" in options and flag("causal", options["causal"]):
        right = 0
    return HeadPatterns((from_window(n or 0, left, right),))


LIBRARIES: dict[str, Callable[[str, int | None, dict[str, str]], HeadPatterns]] = {
    "flex": _flex,
    "hf": _hf,
    "layout": _layout,
    "flash": _flash,
}
"""The prefixes of such sources."""
