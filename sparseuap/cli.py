"""The command line: a file a subcommand, imported only when called, and one line for whatever goes wrong."""

from __future__ import annotations

import os
import sys
import traceback
from importlib import import_module

import click
from click.shell_completion import shell_complete

import sparseuap.own_packages  # noqa: F401 - before theory: a file theory.py of the user's own is not ours
from sparseuap.streams import complain, hold_streams, is_lost_output, settle_streams
from theory.files import OutputError
from theory.patterns import PatternError

__all__ = ["main"]

COMMANDS = {
    "check": "sparseuap.commands.check",
    "recheck": "sparseuap.commands.recheck",
    "prove": "sparseuap.commands.prove",
    "error": "sparseuap.commands.error",
    "map": "sparseuap.commands.map",
    "claims": "sparseuap.commands.claims",
    "figures": "sparseuap.commands.figures",
    "report": "sparseuap.commands.report",
    "compare": "sparseuap.commands.compare",
    "families": "sparseuap.commands.families",
    "grow": "sparseuap.commands.grow",
    "sweep": "sparseuap.commands.sweep",
    "repair": "sparseuap.commands.repair",
}
BAD_INPUT, BUG, LOST_OUTPUT, INTERRUPTED = 2, 70, 74, 130
EPILOG = """\b
Exit status:
  0    yes, or done
  1    the verdict is no
  2    bad input
  3    undecided
  70   an unexpected exception, that is a bug
  74   the output could not be written
  130  interrupted
"""


class House(click.Group):
    """A group whose commands live in modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order in which a reader needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command when it is called."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(COMMANDS[cmd_name]).command
        return command if isinstance(command, click.Command) else None


@click.group(
    cls=House,
    invoke_without_command=True,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="sparseuap")
@click.option("--debug", is_flag=True, envvar="SPARSEUAP_DEBUG", help="Show the traceback of what goes wrong.")
@click.pass_context
def house(context: click.Context, debug: bool) -> None:
    """Check sparsity patterns against the universal-approximation theorems for sparse Transformers."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help(), err=True)
        context.exit(BAD_INPUT)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; exit with a status of those that `sparseuap --help` lists. 1 is a verdict of no."""
    os.environ.pop("MPLBACKEND", None)  # figures go into files: a backend for windows plays no part
    status = _run(sys.argv[1:] if arguments is None else arguments)
    settle_streams()
    sys.exit(status)


def _run(arguments: list[str]) -> int:
    """Run a command; whatever it raises ends in one line and a status of its own."""
    context: click.Context | None = None
    try:
        hold_streams()
        if wanted := os.environ.get("_SPARSEUAP_COMPLETE"):
            refused = shell_complete(house, {}, "sparseuap", "_SPARSEUAP_COMPLETE", wanted)
            return BAD_INPUT if refused else 0
        try:
            context = house.make_context("sparseuap", [_without_null(word) for word in arguments])
            with context:
                status = int(house.invoke(context) or 0)
        except click.exceptions.Exit as stop:
            status = stop.exit_code
        sys.stdout.flush()
    except BaseException as error:
        if context is not None and context.params["debug"]:
            traceback.print_exception(error)
        status, message = _explain(error)
        complain(message)
    return status


def _without_null(word: str) -> str:
    """Return an argument that can be a file's name; the shell hands over no other."""
    if "\0" in word:
        raise click.UsageError("an argument holds a null character, which no file name has")
    return word


def _explain(error: BaseException) -> tuple[int, str]:
    """Return the exit status of an exception, and the sentence."""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return BAD_INPUT, f"error: {error.format_message()} (see {error.ctx.command_path} --help)"
    if isinstance(error, click.ClickException):
        return BAD_INPUT, f"error: {error.format_message()}"
    if isinstance(error, PatternError):
        return BAD_INPUT, f"error: {error}"
    if isinstance(error, MemoryError):
        return BAD_INPUT, "error: out of memory: give a sparser or a smaller pattern"
    if isinstance(error, SystemExit):
        return BAD_INPUT, f"error: Python code that a source or option names asked to exit ({error.code!r})"
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return INTERRUPTED, "interrupted"
    if isinstance(error, OutputError):
        return LOST_OUTPUT, f"error: {error}"
    if isinstance(error, OSError) and is_lost_output(error):
        return LOST_OUTPUT, f"error: the output could not be written: {error.strerror}"
    what = f"{type(error).__name__}: {error}"
    return BUG, f"error: unexpected {what} (a bug: sparseuap --debug ... shows where)"
