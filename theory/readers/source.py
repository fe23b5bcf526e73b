"""SOURCE, as the command line takes it: a family, a file, a library's form, Python, or several joined by ``+``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from theory.patterns import PatternError, SparsityPattern

if TYPE_CHECKING:
    from collections.abc import Collection

    from theory.readers.heads import HeadPatterns

__all__ = ["read_heads", "read_source", "source_files"]

FORMS = (
    "a source is a family (star:n=16,w=1), a file ({}), a library's own form (flex:module:mask_mod?n=64,"
    " hf:config.json?n=64, layout:module:object?n=64, flash:left,right?n=64), or Python (module:callable?n=64)"
)


def read_source(source: str) -> SparsityPattern:
    """Read the pattern that `source` names.

    Parameters
    ----------
    source
        In this order: a known family before the colon, ``star:n=16,w=1``; a library's own form,
        ``flex:module:mask_mod?n=64``, ``hf:config.json?n=64``, ``layout:module:object?n=64``,
        ``flash:left,right?n=64`` (see `theory.readers.libraries`); a file, by its extension, with options
        behind a question mark where the file cannot say it itself, ``mask.npy?true=attend``; Python,
        ``module:callable?n=64``. Sources joined with ``+`` give the layers of one cycle, ``a.npz+b.npz``. ``%2B``,
        ``%26`` and the like stand for reserved characters in the value of an option.

    The notes on how it was read are logged as warnings, which go to standard error; `read_heads` returns them.

    Raises
    ------
    PatternError
        In one line: what is wrong with which source, and what to write instead; or that its heads differ.

    Examples
    --------
    >>> read_source("no_such_file.json")
    Traceback (most recent call last):
        ...
    theory.connections.PatternError: no_such_file.json: no such file
    """
    heads = read_heads(source)
    pattern = heads.only()
    if heads.notes:
        import logging

        from theory.readers.guard import one_line

        for note in heads.notes:
            logging.getLogger(__name__).warning("Note: %s: %s.", one_line(source, 100), note)
    return pattern


def read_heads(source: str) -> HeadPatterns:
    """Read a source whose heads may differ: one pattern a head.

    Parameters
    ----------
    source
        As for `read_source`. Where sources are joined by ``+``, one with one head for all stands for every head.

    Raises
    ------
    PatternError
        As `read_source`, but for heads that differ.

    Examples
    --------
    >>> read_heads("flash:1,0?n=3").only().to_lists()
    [[[0], [0, 1], [1, 2]]]
    """
    from dataclasses import replace

    from theory.readers.heads import joined

    if not isinstance(source, str):
        raise PatternError(f"a source is text, such as star:n=16,w=1, got {type(source).__name__}")
    whole = "+" not in source or os.path.isfile(source) or os.path.isfile(source.partition("?")[0])
    parts = [source] if whole else source.split("+")
    read = [_read_one(part) for part in parts]
    n = read[0].heads[0].n
    for part, heads in zip(parts, read, strict=True):
        if heads.heads[0].n != n:
            raise PatternError(
                f"{parts[0]} has n={n}, {part} has n={heads.heads[0].n}: one cycle of patterns needs one n"
            )
    if whole:
        return read[0]
    named = [
        replace(heads, notes=tuple(f"{part}: {note}" for note in heads.notes))
        for part, heads in zip(parts, read, strict=True)
    ]
    return joined(named)


def source_files(*sources: str) -> list[str]:
    """Return the files that sources or names of Python objects are read from, as far as their text shows it.

    Examples
    --------
    >>> source_files("star:n=16,w=1", "no_such_file.json")
    []
    """
    found = []
    for source in sources:
        for part in (source, *source.split("+")):
            place = part.partition("?")[0]
            modules = [f"{word.replace('.', '/')}.py" for word in place.split(":")]
            found += [name for name in (part, place, *place.split(":"), *modules) if os.path.isfile(name)]
    return found


def _read_one(source: str) -> HeadPatterns:
    from theory.families import FAMILIES, parse_family
    from theory.readers.heads import HeadPatterns

    head, _, rest = source.partition(":")
    if head.strip() in FAMILIES:
        return HeadPatterns((parse_family(source),))
    from theory.readers.files import READERS, extension, read_file
    from theory.readers.guard import one_line, reading
    from theory.readers.libraries import LIBRARIES, read_library

    if os.path.isfile(source):
        return read_file(source)
    if head in LIBRARIES and rest:
        place, mark, query = rest.partition("?")
        with reading(f"{head}:{place}"):
            return read_library(head, place, _options(query, mark))
    place, mark, query = source.partition("?")
    if extension(place) in READERS or os.path.exists(place):
        with reading(place):
            options = _options(query, mark)
        return read_file(place, options)
    from theory.readers.modules import MODULE, MissingModuleError, read_module

    if MODULE.fullmatch(place):
        try:
            with reading(place):
                return read_module(place, _options(query, mark))
        except MissingModuleError as error:
            raise PatternError(f"{error}{_nearest(head, FAMILIES)}") from error
    forms = FORMS.format(" ".join(READERS))
    raise PatternError(f"{one_line(source, 100)!r} is no source{_nearest(head, FAMILIES)}: {forms}")


def _nearest(name: str, families: Collection[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name.lower(), families, n=1)
    return f" (did you mean the family {close[0]}?)" if close else ""


def _options(query: str, mark: str) -> dict[str, str]:
    """Read ``key=value&key=value``."""
    from urllib.parse import unquote

    options: dict[str, str] = {}
    for item in query.split("&") if mark else []:
        name, equals, value = item.partition("=")
        if not equals or not name.isidentifier():
            raise PatternError(f"option {item!r} is not of the form name=value")
        if name in options:
            raise PatternError(f"option {name!r} is given twice")
        options[name] = unquote(value)
    return options
