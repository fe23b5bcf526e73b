"""What every reader shares: limits checked before reading, and errors that are one line and name their source."""

from __future__ import annotations

import os
import stat
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from theory.patterns import PatternError
from theory.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = [
    "MAX_READ_TOKENS",
    "check_options",
    "check_tokens",
    "flag",
    "one_line",
    "reading",
    "regular_file",
    "whole_number",
]

MAX_READ_TOKENS = 2**26
"""Tokens of all patterns read from one file: a short hostile file must not ask for gigabytes of row starts."""

MAX_IDLE_TOKENS = 2**18
"""Tokens that a file may have without a connection for most of them."""


def one_line(text: object, limit: int = 400) -> str:
    """Return `text` on one printable line of at most `limit` characters."""
    line = printable(" ".join(str(text)[: 4 * limit].split()))
    return line if len(line) <= limit else line[: limit - 3] + "..."


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn whatever goes wrong inside into a one-line PatternError that begins with `name`; hush warnings."""
    start = one_line(printable(name), 200)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except PatternError as error:
        raise type(error)(f"{start}: {one_line(error)}") from error
    except OSError as error:
        raise PatternError(f"{start}: cannot be read: {one_line(error.strerror or error)}") from error
    except RecursionError as error:
        raise PatternError(f"{start}: nested too deeply") from error
    except MemoryError as error:
        raise PatternError(f"{start}: does not fit in memory") from error
    except Exception as error:
        raise PatternError(f"{start}: malformed: {one_line(error) or type(error).__name__}") from error


def regular_file(path: str, limit: int) -> int:
    """Return the bytes of a file, refusing what is missing, empty, no regular file, or larger than `limit`."""
    try:
        status = os.stat(path)
    except (
        FileNotFoundError,
        NotADirectoryError,
        ValueError,
    ) as error:  # ValueError: no name at all for the system
        raise PatternError("no such file") from error
    if stat.S_ISDIR(status.st_mode):
        raise PatternError("is a directory, not a file")
    if not stat.S_ISREG(status.st_mode):
        raise PatternError("is not a regular file")
    if status.st_size == 0:
        raise PatternError("the file is empty")
    if status.st_size > limit:
        raise PatternError(f"the file has {status.st_size} bytes, more than the limit of {limit} for its kind")
    return status.st_size


def check_tokens(n: int, connections: int | None = None) -> None:
    """Refuse a number of tokens outside 1..MAX_READ_TOKENS, before anything of that size is allocated.

    With `connections`, refuse over `MAX_IDLE_TOKENS` tokens of which most cannot have any: each names two.
    """
    if not 1 <= n <= MAX_READ_TOKENS:
        raise PatternError(f"a pattern read from outside needs between 1 and {MAX_READ_TOKENS} tokens, got {n}")
    if connections is not None and n > max(MAX_IDLE_TOKENS, 4 * connections):
        raise PatternError(
            f"says n={n} tokens, but {connections} connections reach at most {2 * connections} of them: beyond"
            f" {MAX_IDLE_TOKENS} tokens, at least half need a connection"
        )


def whole_number(name: str, text: str) -> int:
    """Read an option that is a whole number."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise PatternError(f"{name} must be a whole number, got {text!r}")
    return int(text)


def flag(name: str, text: str) -> bool:
    """Read an option that is true or false."""
    if text.lower() not in ("true", "false"):
        raise PatternError(f"{name} must be true or false, got {text!r}")
    return text.lower() == "true"


def check_options(options: Mapping[str, str], known: tuple[str, ...], what: str) -> None:
    """Refuse an option behind the source's question mark that this kind of source does not have."""
    for option in options:
        if option not in known:
            listed = f"it takes {', '.join(known)}" if known else "it takes none"
            raise PatternError(f"unknown option {option!r} for {what}: {listed}")
