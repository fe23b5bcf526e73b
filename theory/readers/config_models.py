"""Models with sparse attention of their own: GPT-Neo, Longformer and LED, BigBird, LongT5, Reformer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theory.families.bigbird import bigbird, longformer
from theory.families.local import causal_part
from theory.families.rows import admit
from theory.patterns import PatternError, SparsityPattern
from theory.readers.blocks import expand_blocks
from theory.readers.config_fields import told
from theory.readers.config_layers import full, near, sliding
from theory.readers.heads import MAX_LAYERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from theory.patterns import Connections
    from theory.readers.config_fields import Fields

__all__ = ["bigbird_layers", "gpt_neo_layers", "longformer_layers", "longt5_layers", "reformer_layers"]

MAX_CHUNKS = 2**14
GLOBAL_HEADS = ("SequenceClassification", "QuestionAnswering", "MultipleChoice")


def gpt_neo_layers(fields: Fields, n: int, _: Sequence[int] | None) -> list[Connections]:
    """GPT-Neo: "global" is causal; "local" has the window_size keys k - W < j <= k."""
    kinds = fields.names("attention_layers")
    if kinds is None:
        kinds = _expanded(fields.need("attention_types"))
    elif fields.get("attention_types") is not None and kinds != _expanded(fields.get("attention_types")):
        raise PatternError("attention_layers and attention_types say different things: leave one out")
    if not kinds or any(kind not in ("global", "local") for kind in kinds):
        raise PatternError(f"attention_layers must be a list of 'global' and 'local', got {told(kinds)}")
    fields.check_layers("attention_layers", len(kinds), "num_layers")
    made = {}
    if "global" in kinds:
        made["global"] = full(n, causal=True)
    if "local" in kinds:
        made["local"] = sliding(n, fields.number("window_size"), causal=True)
    return [made[kind] for kind in kinds]


def _expanded(types: Any) -> list[str]:
    """Expand GPT-Neo's ``[[["global", "local"], 12]]``, as its configuration class does."""
    kinds: list[str] = []
    for item in types if isinstance(types, (list, tuple)) else [types]:
        if not (
            isinstance(item, (list, tuple)) and len(item) == 2 and _are_words(item[0]) and type(item[1]) is int
        ):
            raise PatternError(f"attention_types must look like [[['global', 'local'], 12]], got {told(types)}")
        names, times = item
        if len(kinds) + len(names) * max(times, 1) > MAX_LAYERS:
            raise PatternError(f"attention_types names more than {MAX_LAYERS} layers")
        kinds.extend([*names] * times)
    return kinds


def _are_words(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(word, str) for word in value)


def longformer_layers(fields: Fields, n: int, global_tokens: Sequence[int] | None) -> list[Connections]:
    """Longformer, LED's encoder: |k - j| <= attention_window / 2; the global tokens see and are seen by all."""
    if global_tokens is None:
        for name in fields.names("architectures") or ():
            if any(head in name for head in GLOBAL_HEADS):
                raise PatternError(f"a {name} makes some tokens global: say which, global=0 for the first")
    places = list(global_tokens or ())
    given = fields.need("attention_window")
    windows = given if isinstance(given, (list, tuple)) else [given]
    if isinstance(given, (list, tuple)):
        count = "encoder_layers" if fields.model_type == "led" else "num_hidden_layers"
        fields.check_layers("attention_window", len(given), count)
    made: dict[Any, Connections] = {}
    for window in windows:
        if isinstance(window, bool) or not isinstance(window, int) or window < 2 or window % 2:
            raise PatternError(f"attention_window must be even and at least 2, in every layer, got {told(window)}")
        if window not in made:
            made[window] = longformer(n, window=min(window // 2, n), globals_=places).layers[0]
    return [made[window] for window in windows]


def bigbird_layers(fields: Fields, n: int, _: Sequence[int] | None) -> list[Connections]:
    """BigBird in evaluation mode: the first and last block global, a window of 3 blocks, no random blocks.

    Up to (5 + 2 r) blocks of tokens the model itself changes to full attention. The last block is cut where the
    block size does not divide n.
    """
    block, random = fields.number("block_size"), fields.number("num_random_blocks", 0)
    kind, decoder = fields.need("attention_type"), fields.flag("is_decoder")
    if kind not in ("block_sparse", "original_full"):
        raise PatternError(f"attention_type must be block_sparse or original_full, got {told(kind)}")
    if kind == "original_full" or n <= (5 + 2 * random) * block:
        return [full(n, causal=decoder)]
    if decoder:
        raise PatternError("a BigBird decoder cannot be block_sparse: the model refuses it too")
    last = -(-n // block) - 1
    return [bigbird(n, window=1, random=0, globals_=[0, last], block=block).layers[0]]


def longt5_layers(fields: Fields, n: int, _: Sequence[int] | None) -> list[Connections]:
    """LongT5's encoder with local attention: |k - j| <= local_radius."""
    kind = fields.need("encoder_attention_type")
    if kind not in ("local", "transient-global"):
        raise PatternError(f"encoder_attention_type must be local or transient-global, got {told(kind)}")
    if kind != "local":
        raise PatternError(
            f"a LongT5 encoder with {kind} attention also attends to summaries of blocks of tokens, which are no"
            " tokens: no sparsity pattern says that"
        )
    return [near(n, fields.number("local_radius"))]


def reformer_layers(fields: Fields, n: int, _: Sequence[int] | None) -> list[Connections]:
    """Reformer's local layers: one's chunk, and those before and after it, wrapping round at both ends."""
    kinds = fields.names("attn_layers")
    if kinds is None:
        kinds = list(fields.need("attn_layers") or ())
    if "lsh" in kinds:
        raise PatternError(
            f"layer {kinds.index('lsh')} is lsh attention, whose buckets are hashed from the input: give the"
            " buckets of one input to theory.families.reformer instead"
        )
    if not kinds or set(kinds) != {"local"}:
        raise PatternError(f"attn_layers must be a list of 'local' and 'lsh', got {told(kinds)}")
    size, decoder = fields.number("local_attn_chunk_length"), fields.flag("is_decoder")
    if n <= size:
        return [full(n, causal=decoder)]
    before, after = fields.number("local_num_chunks_before", 0), fields.number("local_num_chunks_after", 0)
    chunks = -(-n // size)
    admit(n, n * min(before + 1 + after, chunks) * size)
    if chunks > MAX_CHUNKS:
        raise PatternError(f"n={n} makes {chunks} chunks, over the limit of {MAX_CHUNKS}: take a smaller n")
    grid = np.zeros((chunks, chunks), dtype=bool)
    for step in range(-min(before, chunks), min(after, chunks) + 1):
        grid[np.arange(chunks), (np.arange(chunks) + step) % chunks] = True
    pattern = SparsityPattern((expand_blocks(grid, size, n),))
    return [(causal_part(pattern) if decoder else pattern).layers[0]]
