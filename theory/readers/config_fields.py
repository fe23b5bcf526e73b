"""The fields of a model configuration, whether a dict from config.json or an object of transformers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from theory.patterns import PatternError
from theory.readers.config_defaults import DEFAULTS, TEXT_MODELS
from theory.readers.guard import one_line

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["Fields", "told"]

MISSING = object()


def told(value: object) -> str:
    """Return a short form of any value for a message, also of one that Python refuses to write out."""
    try:
        return one_line(repr(value), 60)
    except (ValueError, RecursionError):  # integers of over 4300 digits; lists nested too deeply
        return f"one {type(value).__name__} too long to show"


@dataclass(frozen=True)
class Fields:
    """Fields by name.

    Parameters
    ----------
    config
        A dict, or an object of transformers.
    raw
        Whether it is straight from config.json, so that what it leaves out is the model's own default.
    filled
        What was filled in by such a default so far, for a note.

    Examples
    --------
    >>> Fields.of({"model_type": "mistral", "sliding_window": 4}).need("sliding_window")
    4
    >>> Fields.of({"model_type": "mistral"}).need("sliding_window")
    4096
    """

    config: Any
    raw: bool
    filled: list[str] = field(default_factory=list, compare=False)

    @classmethod
    def of(cls, config: Any) -> Fields:
        """Wrap a dict or a config object."""
        return cls(config, isinstance(config, dict))

    @property
    def model_type(self) -> str:
        """The name of the model's kind.

        Raises
        ------
        PatternError
            If there is none.
        """
        name = self.get("model_type")
        if not isinstance(name, str):
            raise PatternError("names no model_type: is it the config.json of a Hugging Face model?")
        return one_line(name, 60)

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, or the default where there is none."""
        return self.config.get(name, default) if self.raw else getattr(self.config, name, default)

    def need(self, name: str) -> Any:
        """Return a field; where the configuration lacks it, the model's own default.

        Raises
        ------
        PatternError
            If it is missing and has no default.
        """
        value = self.get(name, MISSING)
        if value is MISSING:
            value = DEFAULTS.get(self.model_type, {}).get(name, MISSING)
            self.fill(f"{name}={told(value)}")
        if value is MISSING:
            raise PatternError(
                f"a {self.model_type} configuration without {name} says nothing about its attention"
            )
        return value

    def fill(self, what: str) -> None:
        """Note, once, that `what` is the model's default."""
        if what not in self.filled:
            self.filled.append(what)

    def number(self, name: str, least: int = 1) -> int:
        """Return a field that has to be a whole number of at least `least`."""
        value = self.need(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise PatternError(f"{name} must be a whole number of at least {least}, got {told(value)}")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """Return a field that has to be true or false; null and a missing field are the default."""
        value = self.get(name)
        if value is not None and not isinstance(value, bool):
            raise PatternError(f"{name} must be true or false, got {told(value)}")
        return default if value is None else value

    def names(self, name: str) -> list[str] | None:
        """Return a field that has to be a list of words, such as layer_types; None where there is none."""
        value = self.get(name)
        if value is not None and not (
            isinstance(value, (list, tuple)) and all(isinstance(word, str) for word in value)
        ):
            raise PatternError(f"{name} must be a list of words, got {told(value)}")
        return None if value is None else list(value)

    def check_layers(self, name: str, listed: int, count: str = "num_hidden_layers") -> None:
        """Refuse a list with one entry a layer that has another length than the number of layers says."""
        said = self.get(count)
        if said is not None and self.number(count) != listed:
            raise PatternError(f"{name} has {listed} entries, but {count} is {told(said)}")

    def text(self, known: Container[str]) -> Fields:
        """Return the configuration of the text model inside that of a multimodal one, or itself."""
        inner = self.get("text_config")
        if inner is None or self.model_type in known or self.get("layer_types") is not None:
            return self
        if self.raw and not isinstance(inner, dict):
            raise PatternError(f"text_config must be the configuration of a model, got {told(inner)}")
        if self.raw and "model_type" not in inner and self.model_type in TEXT_MODELS:
            inner = {"model_type": TEXT_MODELS[self.model_type], **inner}
        return Fields.of(inner)
