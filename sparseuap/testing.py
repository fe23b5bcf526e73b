"""Assertions about sparsity patterns for your own tests: they fail with a message that says what to do.

Examples
--------
>>> from sparseuap.testing import assert_sees, assert_universal
>>> assert_universal("star:n=16,w=1")
>>> assert_universal("causal:n=16,w=2", for_="causal")
>>> assert_sees("window:n=16,w=2", query=15, keys=[11, 12], layers=2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

import numpy as np

from sparseuap.patterns import PatternLike, Reading, as_pattern
from theory.checks import index, whole
from theory.theorems import FunctionClass
from theory.verdicts import Answer
from theory.wording import name_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from theory.patterns import SparsityPattern

__all__ = ["assert_sees", "assert_universal"]

SHOWN = 3


def assert_universal(pattern: PatternLike, for_: FunctionClass | str = "all", **reading: Unpack[Reading]) -> None:
    """Assert that a sparse Transformer with this pattern approximates every function of a class (reach theorem).

    Linear in the connections. Depth is not limited; `assert_sees` looks at a number of layers.

    Parameters
    ----------
    pattern
        Whatever `sparseuap.patterns.as_pattern` reads: a SOURCE as the command line takes it (``"star:n=16,w=1"``,
        a file, ``"module:mask?n=8"``), a mask, a graph, a mask function.
    for_
        ``"all"`` continuous functions, or ``"causal"`` ones (output k depends on tokens 0..k).
    **reading
        As for `as_pattern`: ``true_means="attend"`` for a boolean mask, ``n=64`` for a mask function.

    Raises
    ------
    AssertionError
        If it does not, or no theorem says so (a token that does not attend to itself).
    PatternError
        If the pattern cannot be read, or there is no such class.

    Examples
    --------
    >>> assert_universal("fixed:n=23,w=5")
    Traceback (most recent call last):
    AssertionError: fixed:n=23,w=5 is not universal for all continuous functions:
      output 0 can never depend on token 22
      tokens 20..22 are never seen from outside: no connection leaves the last segment
      smallest repair (1 connection): pattern 1: token 19 attends to token 22
    """
    from verify.reach_verdict import reach_verdict

    functions = FunctionClass.of(for_)
    read = as_pattern(pattern, **reading)
    name = pattern if isinstance(pattern, str) else repr(read)
    verdict = reach_verdict(read, functions)
    if verdict.answer is Answer.HOLDS:
        return
    what = {"all": "all continuous functions", "causal": "all causal continuous functions"}[functions.value]
    state = "is not universal" if verdict.answer is Answer.FAILS else "is not known to be universal"
    lines = [f"{name} {state} for {what}:", verdict.why, verdict.advice, _repair_line(read, functions)]
    raise AssertionError("\n  ".join(lines))


def _repair_line(pattern: SparsityPattern, for_: FunctionClass) -> str:
    from theory.repair import repair

    found = repair(pattern, for_=for_)
    count = len(found.added)
    shown = "; ".join(
        f"pattern {number}: token {query} attends to {'itself' if query == key else f'token {key}'}"
        for number, query, key in found.added[:SHOWN].tolist()
    )
    more = f"; and {count - SHOWN} more" if count > SHOWN else ""
    return f"smallest repair ({count} connection{'s' * (count > 1)}): {shown}{more}"


def assert_sees(
    pattern: PatternLike,
    query: int,
    keys: int | Iterable[int],
    layers: int | None = None,
    **reading: Unpack[Reading],
) -> None:
    """Assert that the output at `query` can depend on each of `keys`, residual connections included.

    Parameters
    ----------
    pattern
        Whatever `sparseuap.patterns.as_pattern` reads.
    query, keys
        Tokens, from 0.
    layers
        Attention layers of the model, the cycle of patterns starting with pattern 0; None: any depth.
    **reading
        As for `as_pattern`.

    Raises
    ------
    AssertionError
        Naming the keys that are not seen, and from which layer on they would be.
    PatternError
        If the pattern cannot be read, there is no such token, or `layers` < 0.

    Examples
    --------
    >>> assert_sees("window:n=16,w=2", query=15, keys=range(9, 13), layers=2)
    Traceback (most recent call last):
    AssertionError: window:n=16,w=2: token 15 does not see tokens 9..10 within 2 layers
      token 10 is seen from layer 3 on, token 9 from layer 3 on
    """
    from theory.receptive_field import first_seen_by

    read = as_pattern(pattern, **reading)
    name = pattern if isinstance(pattern, str) else repr(read)
    query = index(query, read.n)
    several = keys if hasattr(keys, "__iter__") and not isinstance(keys, str) else [keys]
    wanted = np.array(sorted({index(key, read.n) for key in several}), dtype=np.int64)
    if layers is not None:
        whole("a number of layers", layers)
    first = first_seen_by(read, query)
    missing = wanted[(first[wanted] < 0) | ((first[wanted] > layers) if layers is not None else False)]
    if not missing.size:
        return
    within = "at any depth" if layers is None else f"within {layers} layer{'s' * (layers != 1)}"
    lines = [f"{name}: token {query} does not see {name_tokens(missing)} {within}"]
    never = missing[first[missing] < 0]
    if layers is not None:
        late = missing[first[missing] >= 0][::-1][:SHOWN].tolist()
        parts = [f"token {late[0]} is seen from layer {first[late[0]]} on"] if late else []
        parts += [f"token {token} from layer {first[token]} on" for token in late[1:]]
        if parts:
            lines.append(", ".join(parts))
    if never.size:
        lines.append(f"no path leads from {name_tokens(never)} to token {query}: add a connection that joins them")
    raise AssertionError("\n  ".join(lines))
