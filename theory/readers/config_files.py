"""JSON files that are a configuration and no pattern: which source reads them, to be typed as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from theory.patterns import PatternError
from theory.readers.guard import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["refuse_configuration", "refuse_deepspeed"]

DEEPSPEED = {
    "dense": "DenseSparsityConfig",
    "fixed": "FixedSparsityConfig",
    "variable": "VariableSparsityConfig",
    "bigbird": "BigBirdSparsityConfig",
    "bslongformer": "BSLongformerSparsityConfig",
}
RANDOM_BLOCKS = {"variable": 0, "bigbird": 1}
"""The modes that draw blocks at random, with the default of num_random_blocks."""


def refuse_configuration(content: Mapping[str, Any], path: str, n: str | None = None) -> None:
    """Refuse a Hugging Face or DeepSpeed configuration, naming the source that reads it.

    Examples
    --------
    >>> refuse_configuration({"model_type": "gemma2"}, "config.json")
    Traceback (most recent call last):
        ...
    theory.connections.PatternError: is a Hugging Face configuration (gemma2): read it as "hf:config.json?n=512"
    """
    if "model_type" in content or "architectures" in content:
        name = one_line(content.get("model_type") or content.get("architectures"), 60)
        raise PatternError(f'is a Hugging Face configuration ({name}): read it as "hf:{path}?n={n or 512}"')
    refuse_deepspeed(content, n)


def refuse_deepspeed(content: Mapping[str, Any], n: str | None = None) -> None:
    """Refuse a DeepSpeed configuration, naming the source that makes its sparse_attention.

    Examples
    --------
    >>> refuse_deepspeed({"sparse_attention": {"mode": "fixed", "block": 16}})
    Traceback (most recent call last):
        ...
    theory.connections.PatternError: is a DeepSpeed configuration: read its sparse_attention as \
"layout:deepspeed.ops.sparse_attention:FixedSparsityConfig?num_heads=1&block=16&n=512" \
(num_heads as your model has)
    """
    if "sparse_attention" not in content:
        return
    said = content["sparse_attention"]
    mode = str(said.get("mode", "fixed")) if isinstance(said, dict) else ""
    kind = DEEPSPEED.get(mode)
    if kind is None:
        raise PatternError(
            "is a DeepSpeed configuration, but its sparse_attention names none of the modes"
            f" {', '.join(DEEPSPEED)}: make its SparsityConfig in Python, and read"
            f" layout:module:object?n={n or 512}"
        )
    fields = {name: value for name, value in said.items() if name != "mode"}
    if not all(isinstance(value, (bool, int, str)) for value in fields.values()):
        given = ", ".join(f"{name}={value!r}" for name, value in fields.items())
        raise PatternError(
            f"is a DeepSpeed configuration with lists, which no source can hold: put config = {kind}(num_heads=1,"
            f' {one_line(given, 200)}) into module.py, and read "layout:module:config?n={n or 512}"'
        )
    options: dict[str, Any] = {"num_heads": 1, **fields}
    note = "num_heads as your model has"
    if fields.get("attention") == "unidirectional":
        options["causal"] = True
        note += ", causal=false if it adds no causal mask of its own"
    if fields.get("num_random_blocks", RANDOM_BLOCKS.get(mode, 0)):
        options["seed"] = 0
    typed = "&".join(f"{name}={str(value).lower()}" for name, value in options.items())
    raise PatternError(
        "is a DeepSpeed configuration: read its sparse_attention as"
        f' "layout:deepspeed.ops.sparse_attention:{kind}?{typed}&n={n or 512}" ({note})'
    )
