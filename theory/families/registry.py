"""The table of families that can be named in text: what each takes, means and comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from theory.families.bigbird import bigbird, longformer
from theory.families.clustered import equal_documents, seeded_reformer, seeded_routing
from theory.families.draws import random
from theory.families.factorised import fixed, strided
from theory.families.heads import HEADS, arrange_heads
from theory.families.local import causal, causal_part, dense, ring, window
from theory.families.relay import hub, star

if TYPE_CHECKING:
    from collections.abc import Callable

    from theory.patterns import SparsityPattern

__all__ = ["FAMILIES", "Family", "Parameter"]


@dataclass(frozen=True)
class Parameter:
    """One ``key=value`` of a family.

    Parameters
    ----------
    name, alias
        The key, and a second name for it.
    meaning
        One phrase.
    kind
        A whole number, true or false, or one of HEADS.
    least
        The smallest whole number that is accepted.
    default
        The value where the key is not given; `required` keys have none.
    """

    name: str
    meaning: str
    kind: Literal["whole number", "true/false", "heads"] = "whole number"
    least: int = 0
    default: int | bool | str | None = None
    required: bool = True
    alias: str | None = None

    @property
    def argument(self) -> str:
        """Name of the Python argument (``globals`` is a built-in function of Python)."""
        return "globals_" if self.name == "globals" else self.name

    @property
    def accepts(self) -> str:
        """What the value may be, in words."""
        if self.kind == "whole number":
            return f"a whole number >= {self.least}"
        return "true or false" if self.kind == "true/false" else " | ".join(HEADS)


@dataclass(frozen=True)
class Family:
    """A named family.

    Parameters
    ----------
    name
        As written before the colon.
    parameters
        What it takes.
    formula
        The pattern in one sentence, tokens from 1 as in the sources.
    source
        Where it comes from.
    build
        Builds the pattern from the parameters' arguments.
    example
        A specification that `parse_family` accepts.
    """

    name: str
    parameters: tuple[Parameter, ...]
    formula: str
    source: str
    build: Callable[..., SparsityPattern]
    example: str


def _optional(name: str, meaning: str, default: int | None, least: int = 0, alias: str | None = None) -> Parameter:
    return Parameter(name, meaning, least=least, default=default, required=False, alias=alias)


def _flag(name: str, meaning: str) -> Parameter:
    return Parameter(name, meaning, kind="true/false", default=False, required=False)


def _two_patterns(make: Callable[[int, int], SparsityPattern]) -> Callable[..., SparsityPattern]:
    """Give a family of two patterns the keys `causal` and `heads`."""

    def build(n: int, w: int, causal: bool = False, heads: str = "sequential") -> SparsityPattern:
        pattern = make(n, w)
        return arrange_heads(causal_part(pattern) if causal else pattern, heads)

    return build


_N = Parameter("n", "tokens", least=1)
_W = Parameter("w", "keys on each side", alias="window")
_WINDOW = Parameter("window", "w, keys on each side", alias="w")
_SEED = _optional("seed", "seed of the random draw", 0)
_LAYERS = _optional("layers", "patterns p, each with its own draw", 1, least=1)
_CAUSAL = _flag("causal", "keys j <= k only")
_HEADS = Parameter(
    "heads",
    "head configuration; for what depends on what, multihead is the union",
    kind="heads",
    default="sequential",
    required=False,
)

_TABLE = (
    Family("dense", (_N,), "A_k = [n].", "Vaswani et al. 2017", dense, "dense:n=16"),
    Family(
        "causal",
        (_N, _optional("w", "keys back; all without it", None, alias="window")),
        "A_k = {j : j <= k}, or {j : k-w <= j <= k}.",
        "decoder-only Transformers; with w Mistral (Jiang et al. 2023)",
        causal,
        "causal:n=16",
    ),
    Family(
        "window",
        (_N, _W),
        "A_k = {j : |k-j| <= w}.",
        "Beltagy et al. 2020, without global tokens",
        window,
        "window:n=16,w=2",
    ),
    Family(
        "strided",
        (_N, Parameter("w", "stride", least=1), _CAUSAL, _HEADS),
        "A^1_k = {k-ceil(w/2), ..., k+floor(w/2)}, A^2_k = {..., k-w, k, k+w, k+2w, ...}.",
        "Yun et al. 2020, eq. (4); Child et al. 2019",
        _two_patterns(strided),
        "strided:n=16,w=4",
    ),
    Family(
        "fixed",
        (_N, Parameter("w", "segment length", least=1), _CAUSAL, _HEADS),
        "A^1_k = {ceil(k/w)w-w+1, ..., ceil(k/w)w}, A^2_k = {k} and {w, 2w, 3w, ...}.",
        "Yun et al. 2020, eq. (5); Child et al. 2019",
        _two_patterns(fixed),
        "fixed:n=16,w=4",
    ),
    Family(
        "star",
        (_N, _W),
        "A_k = {n} and {((i-1) mod (n-1))+1 : |i-k| <= w} for k < n, A_n = [n].",
        "Yun et al. 2020, eq. (6); Guo et al. 2019",
        star,
        "star:n=16,w=1",
    ),
    Family("hub", (_N,), "A_k = {k, n} for k < n, A_n = [n].", "BigBird, Zaheer et al. 2020", hub, "hub:n=16"),
    Family("ring", (_N,), "A_k = {k, k-1 mod n}.", "a directed ring", ring, "ring:n=16"),
    Family(
        "random",
        (_N, Parameter("r", "random keys of each token", alias="random"), _SEED, _LAYERS),
        "A_k = {k} and min(r, n-1) other tokens, drawn without repetition.",
        "Yun et al. 2020, §5",
        random,
        "random:n=16,r=3,seed=0",
    ),
    Family(
        "longformer",
        (
            _N,
            _WINDOW,
            _optional("dilation", "g: only the multiples of g inside the window", 1, least=1),
            _optional("globals", "global tokens, the first ones", 0, alias="g"),
        ),
        "A_k = {j : |k-j| <= w, g divides k-j} and the global tokens, which attend to [n].",
        "Beltagy et al. 2020",
        longformer,
        "longformer:n=16,window=2,globals=1",
    ),
    Family(
        "bigbird",
        (
            _N,
            _WINDOW,
            Parameter("random", "r, more random keys, outside window and globals", alias="r"),
            Parameter("globals", "g, global tokens, the first ones", alias="g"),
            _SEED,
            _optional("block", "tokens in a block; window, random, globals then count blocks", 1, least=1),
            _flag("extended", "the globals are new tokens in front: n + globals * block tokens"),
            _LAYERS,
        ),
        "A_k = {j : |k-j| <= w}, r random tokens and the global tokens, which attend to [n].",
        "Zaheer et al. 2020",
        bigbird,
        "bigbird:n=64,window=3,random=3,globals=2,seed=0",
    ),
    Family(
        "reformer",
        (
            _N,
            Parameter("buckets", "buckets in a round", least=1),
            _optional("rounds", "hashing rounds p, each with its own draw", 1, least=1),
            _SEED,
        ),
        "A^l_k = {j : bucket^l_j = bucket^l_k}, buckets at random; give real ones to the Python function.",
        "Kitaev et al. 2020",
        seeded_reformer,
        "reformer:n=16,buckets=4,rounds=2,seed=0",
    ),
    Family(
        "routing",
        (_N, Parameter("clusters", "clusters in a layer, of equal size", least=1), _SEED, _LAYERS),
        "A^l_k = {j : cluster^l_j = cluster^l_k}, clusters at random; give real ones to the Python function.",
        "Roy et al. 2021",
        seeded_routing,
        "routing:n=16,clusters=4,seed=0",
    ),
    Family(
        "documents",
        (_N, Parameter("length", "tokens in a document", least=1), _CAUSAL),
        "A_k = {j : ceil(j/length) = ceil(k/length)}.",
        "packed training sequences",
        equal_documents,
        "documents:n=16,length=4,causal=true",
    ),
)

FAMILIES: dict[str, Family] = {family.name: family for family in _TABLE}
"""Every family by its name, in the order of the table."""
