"""The two factorised patterns of Sparse Transformers (Child et al. 2019): Strided and Fixed, p = 2."""

from __future__ import annotations

import numpy as np

from theory.families.local import interval, interval_count, segments, segments_count
from theory.families.rows import admit, merged, progressions, whole
from theory.patterns import SparsityPattern

__all__ = ["fixed", "strided"]


def strided(n: int, w: int) -> SparsityPattern:
    r"""Strided pattern (paper, eq. 4), p = 2.

    .. math::

        A^1_k = [n] \cap \{k - \lceil w/2 \rceil, \dots, k + \lfloor w/2 \rfloor\}, \qquad
        A^2_k = [n] \cap \{\dots, k - 2w, k - w, k, k + w, k + 2w, \dots\}.

    Raises
    ------
    PatternError
        If n < 1, w < 1, or the connections would not fit.

    Examples
    --------
    >>> near, far = strided(6, w=2).to_lists()
    >>> near[3], far[3]
    ([2, 3, 4], [1, 3, 5])
    """
    n, w = whole("n", n, 1), whole("w", w, 1)
    step = min(w, n)  # a longer stride reaches no other token
    # A residue class of m tokens has m^2 connections; n mod w classes hold one token more than the others.
    small, larger = divmod(n, step)
    distant = (step - larger) * small**2 + larger * (small + 1) ** 2
    before, after = (w + 1) // 2, w // 2
    admit(n, interval_count(n, before, after) + distant, patterns=2)
    near = interval(n, before, after)
    first = np.arange(n) % step
    return SparsityPattern((near, progressions(first, (n - 1 - first) // step + 1, step)))


def fixed(n: int, w: int) -> SparsityPattern:
    r"""Segments of w tokens represented by their last, the Fixed pattern (paper, eq. 5), p = 2.

    .. math::

        A^1_k = [n] \cap \{\lceil k/w \rceil w - w + 1, \dots, \lceil k/w \rceil w\}, \qquad
        A^2_k = [n] \cap (\{k\} \cup \{w, 2w, 3w, \dots\}).

    As printed, so: when w does not divide n, the last, shorter segment has no representative.

    Raises
    ------
    PatternError
        If n < 1, w < 1, or the connections would not fit.

    Examples
    --------
    >>> segment, representatives = fixed(5, w=2).to_lists()
    >>> segment[2], representatives[2], representatives[4]
    ([2, 3], [1, 2, 3], [1, 3, 4])
    """
    n, w = whole("n", n, 1), whole("w", w, 1)
    representatives = n // w
    admit(n, segments_count(n, w) + n * (representatives + 1), patterns=2)
    candidates = np.empty((n, representatives + 1), dtype=np.int32)
    candidates[:, 0] = np.arange(n)
    candidates[:, 1:] = np.arange(1, representatives + 1) * min(w, n) - 1
    return SparsityPattern((segments(n, w), merged(n, candidates)))
