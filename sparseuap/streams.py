"""Standard output and error as they may be: closed, full, or a pipe that nobody reads any more."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TextIO

import click

from theory.files import OutputError
from theory.wording import printable

__all__ = ["complain", "hold_streams", "is_lost_output", "settle_streams"]

LOST = {errno.EPIPE, errno.ENOSPC, errno.EBADF, errno.EIO, errno.EFBIG, errno.EDQUOT}
LONGEST, HEAD, TAIL = 1000, 650, 300  # characters of a complaint; of a longer one, both ends


def hold_streams() -> None:
    """Put something where a stream is closed, so that no file opened later takes its number.

    Characters that the terminal's encoding lacks are written as escapes from here on.

    Raises
    ------
    OutputError
        If standard output is closed: no answer could be read.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    closed = sys.stdout is None
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open to the end
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if closed:
        raise OutputError("standard output is closed: send it to /dev/null if only the exit status is wanted")


def is_lost_output(error: OSError) -> bool:
    """Tell the errors of a stream that cannot be written; files have their own, `theory.files.OutputError`."""
    return error.errno in LOST


def settle_streams() -> None:
    """Write out what is pending; a stream that refuses it leads nowhere from then on, or Python would stumble."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            _send_nowhere(stream)


def _send_nowhere(stream: TextIO) -> None:
    try:
        place = stream.fileno()
    except (OSError, ValueError):  # no file of the system, or closed
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, place)
    os.close(nowhere)


def complain(message: str) -> None:
    """Write one printable line to standard error, if it can be written."""
    line = " ".join(message.split())
    line = line if len(line) <= LONGEST else f"{line[:HEAD]} ... {line[-TAIL:]}"
    try:
        click.echo(printable(line), err=True)
    except (OSError, ValueError):
        return
