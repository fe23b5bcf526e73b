"""Command lines that we print: they run as they stand when pasted into a shell."""

from __future__ import annotations

import shlex
from typing import Literal

__all__ = ["command_line", "of_head"]


def command_line(name: str, source: str, *options: str) -> str:
    """Return ``sparseuap name source options``, quoted for a POSIX shell.

    Examples
    --------
    >>> command_line("check", "mask.npy?true=attend", "--for", "causal")
    "sparseuap check 'mask.npy?true=attend' --for causal"
    >>> command_line("repair", "-odd.npz", "--for", "causal")
    'sparseuap repair --for causal -- -odd.npz'
    """
    words = [*options, "--", source] if source.startswith("-") else [source, *options]
    return " ".join(("sparseuap", name, *map(_quote, words)))


def of_head(source: str, head: int | Literal["union"]) -> str | None:
    """Return the source of one head, or of their union; None where several joined sources would each need it.

    Examples
    --------
    >>> of_head("layout:my.masks:blocks?n=64", 3), of_head("my.masks:heads", 0), of_head("a.npy+b.npy", 0)
    ('layout:my.masks:blocks?n=64&head=3', 'my.masks:heads?head=0', None)
    """
    if "+" in source:
        return None
    return f"{source}{'&' if '?' in source else '?'}head={head}"


def _quote(word: str) -> str:
    """Quote a word; with a character that no terminal shows, as bash's $'...'."""
    return shlex.quote(word) if word.isprintable() else f"$'{''.join(map(_escape, word))}'"


def _escape(character: str) -> str:
    number = ord(character)
    if character in "\\'":
        return "\\" + character
    if character.isprintable():
        return character
    if 0xDC80 <= number <= 0xDCFF:  # a byte of a name that is not UTF-8 (surrogateescape)
        return f"\\x{number - 0xDC00:02x}"
    return f"\\x{number:02x}" if number < 0x80 else f"\\U{number:08x}"
