"""Files that are written whole or not at all, and refused before the work where they cannot be written."""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from theory.patterns import PatternError
from theory.wording import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["OutputError", "check_folder", "check_output", "make_folder", "replaced", "write_text"]


class OutputError(Exception):
    """What was worked out could not be written; the message names the file or stream."""


def check_output(path: Path, inputs: Iterable[str | Path] = ()) -> None:
    """Refuse a file that cannot be written, or is one of the inputs, before any work is done; leave it as it is.

    Parameters
    ----------
    path
        The file; it need not exist, its folder has to.
    inputs
        Files that are read.

    Raises
    ------
    PatternError
        If the file is an input or what standard output goes into, or neither a regular file nor a device such as
        /dev/null, or its folder lets nobody write.

    Examples
    --------
    >>> check_output(Path("no/such/folder/file.json"))
    Traceback (most recent call last):
        ...
    theory.connections.PatternError: no/such/folder/file.json cannot be written: No such file or directory
    """
    with _refusing(path):
        held = os.stat(path) if path.exists() else None
        if held is not None:
            _check_held(path, held, inputs)
        if held is None or stat.S_ISREG(held.st_mode):
            draft = _draft(path)
            draft.touch(exist_ok=False)
            draft.unlink()


@contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn what goes wrong inside into a PatternError that names the path."""
    name = printable(str(path))
    try:
        yield
    except PatternError:
        raise
    except (OSError, ValueError) as error:  # ValueError: no name at all for the system
        raise PatternError(f"{name} cannot be written: {getattr(error, 'strerror', None) or error}") from error


def _check_held(path: Path, held: os.stat_result, inputs: Iterable[str | Path]) -> None:
    """Refuse a file that is there and may not be replaced."""
    name = printable(str(path))
    if stat.S_ISDIR(held.st_mode):
        raise PatternError(f"{name} cannot be written: it is a directory")
    if stat.S_ISCHR(held.st_mode):
        return
    if not stat.S_ISREG(held.st_mode):
        raise PatternError(f"{name} cannot be written: it is not a regular file")
    if not os.access(path, os.W_OK):
        raise PatternError(f"{name} cannot be written: it is read-only")
    for other in inputs:
        if os.path.exists(other) and os.path.samefile(path, other):
            read = printable(str(other))
            same = "an input" if read == name else f"the same file as the input {read}"
            raise PatternError(f"{name} is {same}: write to another file")
    with suppress(OSError):
        if os.path.samestat(held, os.fstat(1)):
            raise PatternError(f"{name} is where the printed output goes: write to another file")


def check_folder(folder: Path, names: Iterable[str], inputs: Iterable[str | Path] = ()) -> None:
    """Refuse a folder in which files of these names cannot be written, before any work is done; make nothing.

    Raises
    ------
    PatternError
        As `check_output`, or if the folder, or the nearest one above it that is there, is no folder or lets nobody
        write.
    """
    with _refusing(folder):
        if folder.is_dir():
            for name in names:
                check_output(folder / name, inputs)
            return
        above = next(parent for parent in (folder, *folder.absolute().parents) if os.path.lexists(parent))
        if not above.is_dir():
            raise PatternError(f"{printable(str(folder))} cannot be written: {printable(str(above))} is no folder")
        draft = _draft(above / folder.name)
        draft.mkdir()
        draft.rmdir()


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it, where it is not there.

    Raises
    ------
    OutputError
        If it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{printable(str(folder))} cannot be made: {error.strerror or error}") from error


def write_text(path: Path, text: str) -> None:
    """Write a file whole (UTF-8), or leave what was there.

    Raises
    ------
    OutputError
        If it cannot be written.
    """
    with replaced(path) as draft:
        draft.write_text(text, encoding="utf-8")


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Give a draft beside a file to write to; it takes the file's place when the block ends well.

    A link stays a link to the new file, and a file keeps its mode. Without a block that ends well the file is
    as it was.

    Raises
    ------
    OutputError
        If the draft cannot be written, or not take the file's place.
    """
    try:
        if path.exists() and not path.is_file():  # a device: there is nothing to keep
            yield path
            return
        draft = _draft(path)
        try:
            yield draft
            with draft.open("rb") as file:
                os.fsync(file.fileno())
            target = _target(path)
            if target.exists():
                draft.chmod(stat.S_IMODE(target.stat().st_mode))
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{printable(str(path))} cannot be written: {error.strerror or error}") from error


def _target(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _draft(path: Path) -> Path:
    """Return a new name in the file's folder."""
    return _target(path).parent / f".sparseuap-{os.getpid()}-{token_hex(4)}.tmp"
