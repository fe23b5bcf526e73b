"""What the hop count answers: every answer carries its witness and says why."""

from __future__ import annotations

from dataclasses import dataclass, field

from theory.verdicts import Answer

__all__ = [
    "ClaimedHops",
    "Growth",
    "HopCount",
    "Pivot",
    "Relays",
    "Unseen",
    "between",
    "exactly",
    "never",
    "undecided",
]


@dataclass(frozen=True)
class Unseen:
    """A pair that is not seen: ``key not in S_query^layers``.

    Parameters
    ----------
    layers
        After how many layers; None when the pair stays unseen: for ever if Assumption 1.1 holds, in
        arbitrarily late layers if it does not.
    query, key
        Tokens, from 0.
    """

    layers: int | None
    query: int
    key: int


@dataclass(frozen=True)
class Pivot:
    """A token through which everything passes: it proves s <= gathers + spreads in linear time.

    Parameters
    ----------
    token
        The pivot x.
    gathers
        S_x^gathers = [n].
    spreads
        Starting after `gathers` layers of the cycle, every token sees x within `spreads` more layers.
    """

    token: int
    gathers: int
    spreads: int


@dataclass(frozen=True)
class Relays:
    """The tokens whose searches prove an upper bound on s together; to search from them again proves it again.

    Parameters
    ----------
    pivots
        Tokens through which other tokens are bounded.
    keys, queries
        Tokens that were followed to all queries, or back to all keys.
    """

    pivots: tuple[int, ...]
    keys: tuple[int, ...]
    queries: tuple[int, ...]


@dataclass(frozen=True)
class HopCount:
    """The answer to Assumption 1.3: whether a finite s has S_k^s = [n] for all k, and the smallest one.

    Parameters
    ----------
    answer
        Whether a finite s exists.
    s
        The smallest s; None if there is none, or it is not known exactly.
    lower
        s >= lower is proved (when a finite s exists).
    upper
        s <= upper is proved, or None.
    unseen
        When s exists and lower > 1: a pair not seen after lower - 1 layers. When none exists: a pair
        never seen.
    pivot
        The token that proves ``upper``, where one does; None if it was proved otherwise.
    method
        How s was settled, in a few words.
    why
        One sentence; tokens from 0.
    relays
        The tokens that prove ``upper`` where searches from several did; None if it was proved otherwise.
    """

    answer: Answer
    s: int | None
    lower: int
    upper: int | None
    unseen: Unseen | None
    pivot: Pivot | None
    method: str
    why: str
    relays: Relays | None = None


@dataclass(frozen=True)
class Growth:
    """How many tokens a token sees, layer by layer.

    Parameters
    ----------
    min, mean
        Entry t - 1: the least and the average of |S_k^t| over k, exactly (the mean as the nearest float).
    full
        Whether every token sees all of [n] after the last layer listed.
    residual
        Whether R_k^t = R_k^{t-1} united with the R_j^{t-1}, j in A_k^t, was followed (the residual
        connection), and not the paper's S_k^t (eq. 3). With Assumption 1.1 they are the same.
    stopped
        Whether the time limit ended the list before its last layer.
    """

    min: tuple[int, ...]
    mean: tuple[float, ...]
    full: bool
    residual: bool
    stopped: bool = field(default=False, repr=False)


@dataclass(frozen=True)
class ClaimedHops:
    """Whether S_k^claimed is [n] for every token k, with an unseen pair if not.

    Parameters
    ----------
    claimed
        The number of layers that was claimed to be enough.
    answer
        Whether it is.
    unseen
        A pair not seen after `claimed` layers, when it is not.
    why
        One sentence; tokens from 0.
    """

    claimed: int
    answer: Answer
    unseen: Unseen | None
    why: str


def exactly(s: int, unseen: Unseen | None, method: str, pivot: Pivot | None = None) -> HopCount:
    """Return the answer with s known; `pivot` is kept if it proves s."""
    why = f"s = {s}: after {s} layer{'s' * (s > 1)} every token sees every token"
    if unseen is not None:
        why += f"; after {s - 1}, token {unseen.query} does not see token {unseen.key}"
    proves = pivot is not None and pivot.gathers + pivot.spreads == s
    return HopCount(Answer.HOLDS, s, s, s, unseen, pivot if proves else None, method, why)


def between(lower: int, upper: int | None, unseen: Unseen | None, pivot: Pivot | None, reason: str) -> HopCount:
    """Return the answer with a finite s that is not known exactly."""
    least = f"s >= {lower}" if upper is None else f"{lower} <= s <= {upper}"
    proves = pivot is not None and pivot.gathers + pivot.spreads == upper
    why = f"a finite s exists, {least}; {reason}"
    return HopCount(Answer.HOLDS, None, lower, upper, unseen, pivot if proves else None, "bounds", why)


def never(unseen: Unseen, method: str, *, self_attending: bool = True) -> HopCount:
    """Return the answer that no s exists."""
    if self_attending:
        why = f"token {unseen.query} never sees token {unseen.key}"
    else:
        why = f"in arbitrarily late layers token {unseen.query} does not see token {unseen.key}"
    return HopCount(Answer.FAILS, None, 1, None, unseen, None, method, why)


def undecided(reason: str) -> HopCount:
    """Return the answer that time or memory ran out before the existence of s was decided."""
    return HopCount(Answer.UNDECIDED, None, 1, None, None, None, "none", reason)
