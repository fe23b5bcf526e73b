"""Window, random keys and global tokens: Longformer (Beltagy et al. 2020) and BigBird (Zaheer et al. 2020)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theory.checks import flag
from theory.families.draws import distinct_ranks
from theory.families.rows import admit, merged, repeated, whole
from theory.patterns import Connections, IntArray, PatternError, SparsityPattern

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["bigbird", "longformer"]


def longformer(n: int, window: int, dilation: int = 1, globals_: int | Sequence[int] = 0) -> SparsityPattern:
    """Longformer: A_k = {j : |k - j| <= w, g divides k - j}, and global tokens G; p = 1.

    A token of G attends to all tokens and is attended by all.

    Parameters
    ----------
    n
        Tokens.
    window
        w, the reach to each side, in tokens.
    dilation
        g: only the multiples of g inside the window.
    globals_
        How many tokens, from the front, are global; or their positions, from 0.

    Raises
    ------
    PatternError
        If n < 1, window < 0, dilation < 1, a global token lies outside [0, n), or the connections would not fit.

    Examples
    --------
    >>> longformer(6, window=2, dilation=2, globals_=1).to_lists()[0][:4]
    [[0, 1, 2, 3, 4, 5], [0, 1, 3], [0, 2, 4], [0, 1, 3, 5]]
    """
    n, dilation = whole("n", n, 1), min(whole("dilation", dilation, 1), whole("n", n, 1))
    reach = min(whole("window", window), n - 1) // dilation * dilation
    full = _global_units(globals_, n, "token")
    offsets = range(-reach, reach + 1, dilation)
    admit(n, len(full) * n + (n - len(full)) * min(len(offsets) + len(full), n))
    return SparsityPattern((_layer(n, offsets, np.array(full, dtype=np.int64)),))


def bigbird(
    n: int,
    window: int,
    random: int,
    globals_: int | Sequence[int],
    seed: int = 0,
    *,
    block: int = 1,
    extended: bool = False,
    layers: int = 1,
) -> SparsityPattern:
    """BigBird: window |i - j| <= w, r random keys a query, and g global tokens; p = 1, or p = layers.

    Written for *units*, which are blocks of `block` tokens: with ``block=1`` (token-level) a unit is a token; with
    a larger block (block-level) every token attends to all tokens of the units that its own unit attends to, and
    the last unit is cut short where `block` does not divide n.

    * A global unit attends to all units and is attended by all.
    * Any other unit i attends to the units j with |i - j| <= w, to the global units, and to r *more* units: drawn
      uniformly without repetition from those outside its window that are not global, all of them if fewer than r
      are left. So the number of connections does not depend on the seed: a unit that is not global has
      min(u, m + r) keys of u units, m being the size of its window united with the global units.

    Parameters
    ----------
    n
        Tokens of the text.
    window
        w, the reach to each side, in units (Hugging Face's "3 window blocks" are window=1).
    random
        r, random units for each unit that is not global.
    globals_
        g: how many units, from the front, are global. Or their positions, from 0 (Hugging Face's BigBird has the
        first and the last block).
    seed
        The same seed gives the same pattern under the same NumPy.
    block
        B, tokens in a block.
    extended
        False: global units are existing tokens (BigBird-ITC). True: g units of `block` tokens are added *in front*
        (BigBird-ETC), so that the pattern has n + g * block tokens, and its tokens 0..g*block-1 are the new ones.
    layers
        p: how many patterns, each with new random units; the first is that of ``layers=1``.

    Raises
    ------
    PatternError
        If n, block or layers < 1, another number is negative, a global unit lies outside the text, positions are
        given for extended global units, or the connections would not fit.

    Examples
    --------
    >>> bigbird(8, window=1, random=0, globals_=1).to_lists()[0][4]
    [0, 3, 4, 5]
    >>> bigbird(8, window=0, random=0, globals_=1, block=2).to_lists()[0][5]
    [0, 1, 4, 5]
    >>> bigbird(1000, window=3, random=3, globals_=2, extended=True)
    SparsityPattern(n=1002, p=1, connections=13992, density=1.39%)
    """
    n, block, layers = whole("n", n, 1), whole("block", block, 1), whole("layers", layers, 1)
    window, random, seed = whole("window", window), whole("random", random), whole("seed", seed)
    if flag("extended", extended):
        if not isinstance(globals_, (int, np.integer)):
            raise PatternError("extended global tokens are new tokens in front: give their number, not positions")
        n += whole("globals", globals_) * block
    block = min(block, n)
    units = -(-n // block)
    full = _global_units(globals_, units, "token" if block == 1 else "block")
    reach = min(window, units - 1)
    random = min(random, units - len(full))
    keys = min((2 * reach + 1 + len(full) + random) * block, n)
    full_rows = min(len(full) * block, n)
    admit(n, layers * (full_rows * n + (n - full_rows) * keys), layers)
    rng = np.random.default_rng(seed)
    positions = np.array(full, dtype=np.int64)
    drawn = (_layer(units, range(-reach, reach + 1), positions, random, rng) for _ in range(layers))
    return SparsityPattern(tuple(graph if block == 1 else _expand(graph, block, n) for graph in drawn))


def _global_units(globals_: int | Sequence[int], units: int, kind: str) -> Sequence[int]:
    """Return the sorted positions of the global units, before anything is allocated for them."""
    if isinstance(globals_, (list, tuple, range, np.ndarray)):
        positions = sorted({whole("a global position", position) for position in globals_})
        if positions and positions[-1] >= units:
            raise PatternError(
                f"globals: there is no {kind} {positions[-1]}, the text has {units} ({kind}s from 0)"
            )
        return positions
    count = whole("globals", globals_)
    if count > units:
        raise PatternError(f"globals={count} is more than the text has: {units} {kind}s")
    return range(count)


def _layer(
    n: int, offsets: range, full: IntArray, random: int = 0, rng: np.random.Generator | None = None
) -> Connections:
    """Window, global and random keys of n units; `full` holds the global ones."""
    is_free = np.ones(n, dtype=bool)
    is_free[full] = False
    free = np.flatnonzero(is_free).astype(np.int32)
    near, known = len(offsets), len(offsets) + full.size
    candidates = np.empty((free.size, known + random), dtype=np.int32)
    np.add(free[:, None], np.array(offsets, dtype=np.int32), out=candidates[:, :near])
    candidates[:, :near][candidates[:, :near] < 0] = n
    candidates[:, near:known] = full
    if random and rng is not None:
        # Counted among the free units only, a window is still an interval, so a rank steps over it at once.
        low = np.searchsorted(free, free + offsets[0])
        skipped = np.searchsorted(free, free + offsets[-1], side="right") - low
        ranks = distinct_ranks(rng, free.size - skipped, random)
        none = ranks < 0
        ranks += np.where(ranks >= low[:, None], skipped[:, None], 0)
        ranks[none] = 0
        candidates[:, known:] = np.where(none, n, free[ranks])
    return merged(n, candidates, full)


def _expand(graph: Connections, block: int, n: int) -> Connections:
    """Replace every unit by its `block` tokens, the last one cut at n."""
    first: IntArray = graph.keys * np.int32(block)
    tokens = np.add(first[:, None], np.arange(block, dtype=np.int32)).ravel()
    counts = graph.degrees * block
    # Rows are sorted: a row that ends in the last unit is the one that is cut.
    counts[graph.keys[graph.indptr[1:] - 1] == graph.n - 1] -= graph.n * block - n
    return repeated(counts, tokens[tokens < n], np.arange(n) // block)
