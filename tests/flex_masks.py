"""Mask functions as users of FlexAttention write them, written for torch tensors (they run on NumPy too)."""

from __future__ import annotations

from typing import Any

__all__ = ["OBJECT", "branchy", "by_head", "causal", "make_window", "near", "reducing", "rows", "within"]


def causal(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
    return q_idx >= kv_idx


def by_head(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
    """Head 0 sees itself, head 1 also the token before, and so on."""
    return (q_idx >= kv_idx) & (q_idx - kv_idx <= h)


def make_window(left: int) -> Any:
    def window(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return (q_idx - kv_idx <= left) & (q_idx >= kv_idx)

    return window


def branchy(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
    """Python's `if` cannot be mapped over tensors."""
    if q_idx >= kv_idx:
        return q_idx - kv_idx <= 2
    return q_idx < 0


def reducing(b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
    """A reduction, harmless for one pair, that broadcasting would get wrong."""
    return (q_idx == 3).any() | (kv_idx <= q_idx)


def within(b: Any, h: Any, q_idx: Any, kv_idx: Any, w: int = 3, *, step: int = 1) -> Any:
    """A window with options of its own."""
    return (abs(q_idx - kv_idx) <= w) & ((q_idx - kv_idx) % step == 0)


def near(query: Any, key: Any, w: int = 1) -> Any:
    return abs(query - key) <= w


def rows(n: int, w: int) -> list[list[int]]:
    """A maker of two required arguments, which is no mask function."""
    return [list(range(max(0, k - w), k + 1)) for k in range(n)]


class Window:
    def __init__(self, w: int) -> None:
        self.w = w

    def __call__(self, b: Any, h: Any, q_idx: Any, kv_idx: Any) -> Any:
        return abs(q_idx - kv_idx) <= self.w


OBJECT = Window(2)
