"""Options that several commands share, so that one name means one thing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["json_wanted", "on_backend", "p_of_norm", "target"]

json_wanted = click.option("--json", "json_wanted", is_flag=True, help="Print JSON.")
target = click.option(
    "--target", default="identity", show_default=True, help="The function f, or module:callable."
)
p_of_norm = click.option("--p", "p", type=float, default=2.0, show_default=True, help="Of the norm, in [1, inf).")


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
