"""Small stand-ins for DeepSpeed's SparsityConfig classes: the same shapes, fields and conventions, on NumPy."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

__all__ = ["BigBird", "Fixed", "Local", "Variable"]


class Config:
    def __init__(self, num_heads: int = 1, block: int = 2, attention: str = "bidirectional") -> None:
        self.num_heads, self.block, self.attention = num_heads, block, attention

    def make_layout(self, seq_len: int) -> Any:
        if seq_len % self.block:
            raise ValueError(f"Sequence Length, {seq_len}, needs to be dividable by Block size {self.block}!")
        m = seq_len // self.block
        rows, columns = np.arange(m)[:, None], np.arange(m)[None, :]
        grids = np.stack([self.grid(head, rows, columns) for head in range(self.num_heads)])
        return (grids & (columns <= rows) if self.attention == "unidirectional" else grids).astype(np.int64)

    def grid(self, head: int, rows: Any, columns: Any) -> Any:
        raise NotImplementedError


class Fixed(Config):
    """Local windows of 4 blocks; the last block of a window (head 0, the one before it for head 1) is global."""

    def __init__(self, num_heads: int = 1, different: bool = False, num_global: int = 1, **more: Any) -> None:
        super().__init__(num_heads, **more)
        self.different, self.num_global = different, num_global

    def grid(self, head: int, rows: Any, columns: Any) -> Any:
        seen = columns % 4 == 3 - (head if self.different else 0)
        return (rows // 4 == columns // 4) | (seen & (self.num_global > 0))


class Variable(Config):
    """Windows of 4 blocks and the global block 0, which attends to all only with `horizontal`."""

    def __init__(self, horizontal: bool = False, **more: Any) -> None:
        super().__init__(**more)
        self.horizontal = horizontal

    def grid(self, head: int, rows: Any, columns: Any) -> Any:
        return (rows // 4 == columns // 4) | (columns == 0) | ((rows == 0) & self.horizontal)


class Local(Config):
    """A window of 3 blocks."""

    def grid(self, head: int, rows: Any, columns: Any) -> Any:
        return abs(rows - columns) <= 1


class BigBird(Config):
    """A window of 3 blocks, global block 0, and a random block in every row."""

    def grid(self, head: int, rows: Any, columns: Any) -> Any:
        drawn = np.array([random.randrange(len(rows)) for _ in rows])[:, None]  # noqa: S311
        return (abs(rows - columns) <= 1) | (columns == 0) | (rows == 0) | (columns == drawn)


MADE = Local(num_heads=2)
TWO_HEADS = Fixed(num_heads=2, different=True)
