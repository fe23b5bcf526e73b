"""Patterns made by the user's own Python: ``module:callable?n=64``."""

from __future__ import annotations

import importlib
import math
import os
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from theory.patterns import PatternError, SparsityPattern
from theory.readers.arrays import MASK_OPTIONS, from_array
from theory.readers.guard import check_tokens, one_line
from theory.readers.lists import from_key_lists
from theory.readers.signatures import parameters, takes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from theory.readers.heads import HeadPatterns

__all__ = ["MODULE", "MissingModuleError", "argument", "call", "from_object", "module_object", "read_module"]

MODULE = re.compile(r"([^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*(?:\.[^\W\d]\w*)*)")
"""What such a source looks like before its question mark."""


class MissingModuleError(PatternError):
    """There is no module of that name, so that the source may be a misspelt family."""


def read_module(source: str, options: Mapping[str, str]) -> HeadPatterns:
    """Import a module, from the current directory too, call its callable and read what that returns.

    What a library's own form reads, and a mask function of (query, key), is read as it is.

    Parameters
    ----------
    source
        ``package.module:name``; a name that is no callable is read as it is.
    options
        Keyword arguments of the callable, read as int, float, bool or else str (n, where it takes none, is for the
        mask function that it returns); except ``true``, ``zero`` and ``masked_below``, which say what the entries
        of a returned mask mean, ``axis`` and ``batch``, which say what its dimensions mean (unless they are
        parameters of the callable), and ``head``, which chooses one.

    Raises
    ------
    PatternError
        If importing or calling fails, or the result is nothing that `theory.readers.objects.heads_of` reads.
    """
    from theory.readers.objects import heads_of
    from theory.readers.own_forms import read_own_form

    read = read_own_form(source, options)
    if read is not None:
        return read
    with module_object(source) as target:
        own = {"axis", "batch"} & {one.name for one in parameters(target) or ()}
        meaning = {name: text for name, text in options.items() if name in {*MASK_OPTIONS, "head"} - own}
        arguments = {name: argument(text) for name, text in options.items() if name not in meaning}
        passed = {name: value for name, value in arguments.items() if name != "n" or takes(target, "n")}
        if callable(target):
            result = call(target, passed)
        elif arguments:
            raise PatternError(f"{source.partition(':')[2]} is no callable, so it takes no {', '.join(arguments)}")
        else:
            result = target
        heads = heads_of(result, meaning, arguments.get("n"))
    if len(passed) < len(arguments) and heads.heads[0].n != arguments["n"]:
        raise PatternError(f"it has {heads.heads[0].n} tokens and takes no n={arguments['n']}: leave n out")
    return heads


@contextmanager
def module_object(source: str) -> Iterator[Any]:
    """Import ``package.module:name``, from the current directory too; it stays importable inside the block.

    Raises
    ------
    PatternError
        If it is not of that form, or importing fails.
    """
    match = MODULE.fullmatch(source)
    if match is None:
        raise PatternError(f"{source!r} is not of the form module:callable")
    with _current_directory_first():
        yield _imported(match[1], match[2])


def from_object(value: Any, options: Mapping[str, str], n: object = None) -> SparsityPattern:
    """Read a SparsityPattern, key lists, mask, SciPy matrix, networkx graph or mask function, or a list of these.

    Parameters
    ----------
    value
        The object. A list of objects gives the layers of one cycle.
    options
        What the entries of a mask mean, as in `theory.readers.arrays.from_array`.
    n
        The number of tokens, which a mask function does not know.

    Raises
    ------
    PatternError
        If it is none of these.
    """
    from theory.conversions import from_callable, from_networkx, from_scipy

    if isinstance(value, SparsityPattern):
        return _without_options(value, options)
    if _is_a(value, "scipy.sparse", "sparray") or _is_a(value, "scipy.sparse", "spmatrix"):
        check_tokens(max(value.shape))
        return _without_options(from_scipy(value), options)
    if _is_a(value, "networkx", "Graph"):
        return _without_options(from_networkx(value), options)
    if hasattr(value, "__array__"):
        return from_array(value, options).only()
    if callable(value):
        if not isinstance(n, int) or isinstance(n, bool):
            raise PatternError("a mask function does not know the number of tokens: add n, as in ?n=64")
        return _without_options(from_callable(value, n), options)
    if isinstance(value, (list, tuple)):
        if value and all(map(_is_layer, value)):
            return SparsityPattern(
                tuple(layer for part in value for layer in from_object(part, options, n).layers)
            )
        return _without_options(from_key_lists(value), options)
    raise PatternError(
        f"{type(value).__name__} is no pattern: return a SparsityPattern, key lists, a mask, a SciPy matrix,"
        " a networkx graph or a mask function"
    )


def _is_layer(value: Any) -> bool:
    """Tell an object that is a pattern by itself from a row of keys."""
    if hasattr(value, "__array__"):
        return getattr(value, "ndim", 0) >= 2
    return not isinstance(value, (list, tuple, set, frozenset, range, int, float, str, bytes, type(None)))


def _without_options(pattern: SparsityPattern, options: Mapping[str, str]) -> SparsityPattern:
    if options:
        raise PatternError(f"{', '.join(options)} says what the entries of a mask mean, but this is no mask")
    return pattern


def _is_a(value: object, module: str, name: str) -> bool:
    """Test for a class of a heavy module without importing it: no object of it exists before it is imported."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


@contextmanager
def _current_directory_first() -> Iterator[None]:
    here = os.getcwd()
    sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        if here in sys.path:
            sys.path.remove(here)


def _imported(module: str, name: str) -> Any:
    try:
        target: Any = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and (module == error.name or module.startswith(f"{error.name}.")):
            raise MissingModuleError(f"no module is called {module!r}, here or installed") from error
        raise PatternError(f"importing {module} failed: {one_line(error)}") from error
    except (Exception, SystemExit) as error:
        raise PatternError(f"importing {module} failed: {type(error).__name__}: {one_line(error)}") from error
    place = getattr(target, "__file__", None) or "built in"
    for part in name.split("."):
        try:
            target = getattr(target, part)
        except Exception as error:
            raise PatternError(f"module {module} ({place}) has no {name!r}") from error
    return target


def call(target: Any, arguments: Mapping[str, object]) -> Any:
    """Call the user's function, turning whatever it raises into one line."""
    said = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    try:
        return target(**arguments)
    except PatternError:
        raise
    except (Exception, SystemExit) as error:
        name = getattr(target, "__name__", "the callable")
        raise PatternError(f"{name}({said}) failed: {type(error).__name__}: {one_line(error)}") from error


def argument(text: str) -> int | float | bool | str:
    """Read an argument as int, float, bool or, failing these, str."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if math.isfinite(value):
            return value
    return text
