"""`sparseuap recheck`: check a certificate again, without any search."""

from __future__ import annotations

from pathlib import Path

import click

from sparseuap.progress import Steps
from theory.patterns import PatternError
from theory.readers.source import read_source
from verify.recheck import UnreadableCertificate, read_certificate, recheck

__all__ = ["command"]


@click.command("recheck")
@click.argument("certificate", type=click.Path(path_type=Path))
@click.option("--pattern", "source", help="The pattern, as in `check`; needed when the certificate omits it.")
def command(certificate: Path, source: str | None) -> int:
    """Check every claim of CERTIFICATE by its evidence.

    The checker shares no code with the searches of `check` and calls no solver.

    Exit status: 0 valid, 1 some claim is false, 2 unreadable.
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
    for sentence in result.checked:
        click.echo(f"checked   {sentence}")
    for sentence in result.unproved:
        click.echo(f"unproved  {sentence}")
    for sentence in result.failures:
        click.echo(f"FALSE     {sentence}")
    click.echo("The certificate is valid." if result.valid else "The certificate is FALSE.")
    return 0 if result.valid else 1
