"""The house: public names exist, notes point at things that exist."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import sparseuap

ROOT = Path(__file__).parent.parent
FLOORS = ("sparseuap", "figures", "verify", "constructions", "theory")
MODULES = [
    module.name
    for floor in FLOORS
    for module in pkgutil.walk_packages([str(ROOT / floor)], prefix=f"{floor}.")
    if not module.name.endswith("sat_worker")
]
NOTES = (ROOT / "paper_notes.md").read_text()


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_exists(name: str) -> None:
    if name == "constructions.torch_module":
        pytest.importorskip("torch")
    module = importlib.import_module(name)
    for public in getattr(module, "__all__", ()):
        assert hasattr(module, public)


def test_the_door_offers_what_it_names() -> None:
    for name in sparseuap.__all__:
        assert getattr(sparseuap, name) is not None
    assert set(sparseuap.__all__) <= set(dir(sparseuap))
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        sparseuap.missing  # noqa: B018


@pytest.mark.parametrize(
    "name", sorted(set(re.findall(r"`((?:theory|constructions|verify|figures)\.[\w.]+)`", NOTES)))
)
def test_declarations_named_in_the_notes_exist(name: str) -> None:
    home, _, attribute = name.rpartition(".")
    if home == "constructions.torch_module":
        pytest.importorskip("torch")
    try:
        importlib.import_module(name)
    except ImportError:
        assert hasattr(importlib.import_module(home), attribute)


@pytest.mark.parametrize("name", sorted(set(re.findall(r"`(tests/[\w/]+\.py(?:::\w+)?)`", NOTES))))
def test_tests_named_in_the_notes_exist(name: str) -> None:
    file, _, function = name.partition("::")
    assert f"def {function}(" in (ROOT / file).read_text()
