"""``module:name`` where the object is one that a library's own form reads: read as that form, and said so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from theory.readers.block_masks import is_block_mask
from theory.readers.huggingface import is_config
from theory.readers.libraries import read_library
from theory.readers.modules import argument, module_object
from theory.readers.signatures import is_function_of, with_options

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from theory.readers.heads import HeadPatterns

__all__ = ["read_own_form"]

KINDS = {
    "flex": "a FlexAttention mask",
    "hf": "a Hugging Face configuration",
    "layout": "a layout of blocks (make_layout)",
}


def read_own_form(source: str, options: Mapping[str, str]) -> HeadPatterns | None:
    """Read ``module:name`` as ``flex:``, ``layout:`` or ``hf:`` does, or as a mask function of (query, key).

    Parameters
    ----------
    source
        ``package.module:name``.
    options
        As in `theory.readers.libraries.read_library`.

    Returns
    -------
    HeadPatterns or None
        With a note of what it was taken for; None where the object is something else.

    Raises
    ------
    PatternError
        If it is such an object and cannot be read.
    """
    from theory.readers.objects import heads_of

    with module_object(source) as target:
        kind = _kind(target, options)
        if kind is None and is_function_of(target, 2, options):
            given = {name: argument(text) for name, text in options.items() if name != "head"}
            n = given.pop("n", None)
            heads = heads_of(with_options(target, 2, given), {}, n)
            return replace(heads, notes=("read as a mask function of (query, key)",)).chosen(options.get("head"))
    if kind is None:
        return None
    heads = read_library(kind, source, options)
    return replace(heads, notes=(f"read as {kind}:{source}, {KINDS[kind]}", *heads.notes))


def _kind(target: Any, options: Collection[str]) -> str | None:
    if callable(getattr(target, "make_layout", None)):
        return "layout"
    if is_config(target) and not isinstance(target, type):
        return "hf"
    return "flex" if is_block_mask(target) or is_function_of(target, 4, options) else None
