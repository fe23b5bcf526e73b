"""Float arrays that are 0/1 masks: exact 0.0 and 1.0, and nothing in between."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from theory.patterns import PatternError

__all__ = ["zero_one"]

CHUNK = 2**20


def zero_one(array: Any) -> npt.NDArray[np.bool_]:
    """Return a mask of exact 0.0 and 1.0 as booleans, reading a mapped file piece by piece.

    Raises
    ------
    PatternError
        If an entry is anything else; the message has its index.

    Examples
    --------
    >>> import numpy as np
    >>> zero_one(np.tri(2)).tolist()
    [[True, False], [True, True]]
    """
    given = np.asarray(array)
    result = np.empty(given.shape, dtype=bool)
    if not given.size:
        return result
    start = 0
    pieces = np.nditer(
        [given, result],
        flags=["external_loop", "buffered"],
        op_flags=[["readonly"], ["writeonly"]],
        order="C",
        buffersize=CHUNK,
    )
    with pieces:
        for entries, ones in pieces:
            ones[...] = entries == 1
            wrong = np.flatnonzero(~ones & (entries != 0))
            if wrong.size:
                place = tuple(int(index) for index in np.unravel_index(start + wrong[0], given.shape))
                raise PatternError(
                    f"with true= a float mask holds exact 0.0 and 1.0, but its entry {place} is"
                    f" {entries[wrong[0]]}: scores are no mask, and an additive mask says zero=attend"
                )
            start += entries.size
    return result
