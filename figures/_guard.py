"""What figures refuse to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from theory.patterns import SparsityPattern

__all__ = ["check_drawable"]


def check_drawable(patterns: Mapping[str, SparsityPattern], largest: int, what: str) -> None:
    """Raise ValueError if there is no pattern, or one has more tokens than `what` can show."""
    if not patterns:
        raise ValueError("there is no pattern to draw: give at least one")
    for name, pattern in patterns.items():
        if pattern.n > largest:
            raise ValueError(f"{name} has {pattern.n} tokens: {what} shows at most {largest}")
