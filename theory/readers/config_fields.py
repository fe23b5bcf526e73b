"""The fields of a model configuration, whether a dict from config.json or an object of transformers."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from theory.patterns import PatternError
from theory.readers.guard import one_line
from theory.readers.heads import MAX_LAYERS

if TYPE_CHECKING:
    from collections.abc import Container

__all__ = ["Fields"]


@dataclass(frozen=True)
class Fields:
    """Fields by name. `raw`: straight from config.json, so that transformers may still convert or default some.

    Examples
    --------
    >>> Fields.of({"model_type": "mistral", "sliding_window": 4}).need("sliding_window")
    4
    """

    config: Any
    raw: bool

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
        return name

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, or the default where there is none."""
        return self.config.get(name, default) if self.raw else getattr(self.config, name, default)

    def need(self, name: str) -> Any:
        """Return a field; where config.json lacks it, the default of transformers.

        Raises
        ------
        PatternError
            If it is missing and transformers does not know it or is not installed.
        """
        missing = object()
        value = self.get(name, missing)
        if value is missing and self.raw:
            value = self.completed().get(name, missing)
        if value is missing:
            raise PatternError(
                f"a {self.model_type} configuration without {name} says nothing about its attention"
            )
        return value

    def number(self, name: str, least: int = 1) -> int:
        """Return a field that has to be a whole number of at least `least`."""
        value = self.need(name)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise PatternError(f"{name} must be a whole number of at least {least}, got {value!r}")
        return value

    def names(self, name: str) -> list[str] | None:
        """Return a field that has to be a list of words, such as layer_types; None where there is none."""
        value = self.get(name)
        if value is not None and not (
            isinstance(value, (list, tuple)) and all(isinstance(word, str) for word in value)
        ):
            raise PatternError(f"{name} must be a list of words, got {one_line(value, 60)}")
        return None if value is None else list(value)

    def completed(self) -> Fields:
        """Return the configuration as transformers loads it, with its defaults and conversions.

        Raises
        ------
        PatternError
            If transformers is not installed, or does not know or refuses the configuration.
        """
        if not self.raw:
            return self
        if importlib.util.find_spec("transformers") is None:
            raise PatternError(
                f"this {self.model_type} configuration leaves fields to the defaults of transformers, which is not"
                " installed: install it, or write layer_types into config.json"
            )
        for name, value in self.config.items():
            if "layer" in str(name) and isinstance(value, int) and value > MAX_LAYERS:
                raise PatternError(f"{name}={value} is over the limit of {MAX_LAYERS} layers")
        from transformers import CONFIG_MAPPING

        try:
            return Fields(CONFIG_MAPPING[self.model_type].from_dict(dict(self.config)), raw=False)
        except KeyError as error:
            raise PatternError(f"transformers knows no model {self.model_type!r}") from error
        except Exception as error:  # its strict validation raises its own kinds
            raise PatternError(f"transformers refuses the configuration: {one_line(error)}") from error

    def text(self, known: Container[str]) -> Fields:
        """Return the configuration of the text model inside that of a multimodal one, or itself."""
        inner = self.get("text_config")
        if inner is None or self.model_type in known or self.get("layer_types") is not None:
            return self
        if self.raw and not isinstance(inner, dict):
            raise PatternError("text_config must be the configuration of a model")
        return Fields.of(inner)
