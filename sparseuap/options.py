"""Options that several commands share, so that one name means one thing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from theory.theorems import FunctionClass
from theory.verdicts import Answer

if TYPE_CHECKING:
    from collections.abc import Callable

Command = TypeVar("Command", bound="Callable[..., Any]")

__all__ = [
    "EXIT",
    "OUTPUT",
    "for_functions",
    "json_wanted",
    "on_backend",
    "p_of_norm",
    "target",
    "time_limit",
]

EXIT = {Answer.HOLDS: 0, Answer.FAILS: 1, Answer.UNDECIDED: 3}
"""The exit status of a command that answers a question."""


class _Output(click.Path):
    """The name of a file or folder to be written; an empty one would be the current folder."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        if value == "":
            self.fail("the name is empty.", param, ctx)
        return super().convert(value, param, ctx)


OUTPUT = _Output(path_type=Path)
"""The type of an option that names what is written; see `theory.files` for what is refused before the work."""

json_wanted = click.option("--json", "json_wanted", is_flag=True, help="Print JSON.")
target = click.option(
    "--target", default="identity", show_default=True, help="The function f, or module:callable."
)
p_of_norm = click.option("--p", "p", type=float, default=2.0, show_default=True, help="Of the norm, in [1, inf).")


for_functions = click.option(
    "--for",
    "for_",
    type=click.Choice([item.value for item in FunctionClass]),
    default=FunctionClass.ALL.value,
    show_default=True,
    help="The continuous functions to approximate: all, or causal ones (output k depends on tokens 0..k).",
)


def time_limit(default: float, what: str) -> Callable[[Command], Command]:
    """Return --time-limit, in seconds, with its default and what it is for."""
    limit = click.FloatRange(min=0, min_open=True)
    return click.option("--time-limit", type=limit, default=default, show_default=True, help=what)


def on_backend(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --backend and --device; `constructions.backends.choose_backend` reads them."""
    for option in (
        click.option(
            "--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True, help="For torch."
        ),
        click.option(
            "--backend",
            type=click.Choice(["numpy", "torch"]),
            default="numpy",
            show_default=True,
            help="Array library.",
        ),
    ):
        command = option(command)
    return command
