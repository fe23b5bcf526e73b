"""The command line: one subcommand a file, imported only when called, and one clear line for every bad input."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

import click

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
BAD_INPUT = 2


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


@click.group(cls=House, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sparseuap")
def house() -> None:
    """Check sparsity patterns against the universal-approximation theorems for sparse Transformers."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit 0 yes, 1 no, 2 bad input (one line on stderr), 3 undecided."""
    try:
        code: Any = house.main(args=arguments, prog_name="sparseuap", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        code = BAD_INPUT
    except PatternError as error:
        code = _complain(str(error))
    except MemoryError:
        code = _complain("out of memory: give a sparser or a smaller pattern")
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code)


def _complain(message: str) -> int:
    click.echo("error: " + " ".join(message.split()), err=True)
    return BAD_INPUT
