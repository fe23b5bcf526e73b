"""`sparseuap recheck`: check a certificate again, without any search."""

from __future__ import annotations

from pathlib import Path

import click

from sparseuap.options import EXIT
from sparseuap.progress import Steps
from theory.patterns import PatternError
from theory.readers.source import read_source
from verify.recheck import Recheck, UnreadableCertificate, read_certificate, recheck

__all__ = ["command"]


@click.command("recheck")
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option("--pattern", "source", help="The pattern, as in `check`; needed when the certificate omits it.")
def command(certificate: Path, source: str | None) -> int:
    """Check every claim of CERTIFICATE by its evidence.

    The checker shares no code with the searches of `check` and calls no solver. A question that the certificate
    itself leaves undecided is no claim; a source that is a file or code is not read again.

    Exit status: 0 every claim is confirmed, 1 some claim is false, 2 unreadable, 3 nothing is false, but some
    claim is unproved: its evidence does not show it, and recomputing it takes too long.
    """
    try:
        with Steps() as say:
            say("reading")
            content = read_certificate(certificate)
            pattern = None if source is None else read_source(source)
            say("checking the claims")
            result = recheck(content, pattern)
    except UnreadableCertificate as error:
        raise PatternError(str(error)) from error
    for word, sentences in {
        "checked": result.checked,
        "undecided": result.undecided,
        "unchecked": result.unchecked,
        "unproved": result.unproved,
        "FALSE": result.failures,
    }.items():
        for sentence in sentences:
            click.echo(f"{word:9} {sentence}")
    click.echo(_conclusion(result))
    return EXIT[result.answer]


def _conclusion(result: Recheck) -> str:
    """Return the last line, which names every claim that is not confirmed."""
    sentences = result.failures or result.unproved or result.undecided
    named = ", ".join(sentence.partition(":")[0] for sentence in sentences)
    if result.failures:
        return f"The certificate is FALSE: {named}."
    if result.unproved:
        return f"Nothing is false, but the certificate is not valid. Unproved: {named}."
    said = "The certificate is valid: every claim that it makes is confirmed."
    return f"{said} It claims nothing on what it leaves undecided: {named}." if named else said
