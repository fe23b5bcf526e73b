"""Float masks of exact 0.0 and 1.0, as a tensor library saves them: read once their polarity is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from theory.families import parse_family
from theory.patterns import PatternError
from theory.readers import float_masks
from theory.readers.float_masks import zero_one
from theory.readers.source import read_source

WINDOW = parse_family("window:n=5,w=1")
MASK = (np.abs(np.subtract.outer(np.arange(5), np.arange(5))) <= 1).astype(float)


def saved(folder: Path, array: Any) -> str:
    np.save(folder / "mask.npy", array)
    return str(folder / "mask.npy")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_exact_floats_are_a_mask_with_its_polarity(tmp_path: Path, dtype: Any, order: Any) -> None:
    file = saved(tmp_path, np.array(MASK, dtype=dtype, order=order))
    assert read_source(f"{file}?true=attend") == WINDOW
    file = saved(tmp_path, np.array(1 - MASK, dtype=dtype, order=order))
    assert read_source(f"{file}?true=masked") == WINDOW


@pytest.mark.parametrize("value", [0.5, -1.0, 2.0, np.nan, np.inf, -np.inf, 1 + 1e-15])
def test_anything_else_is_named_by_its_index(
    tmp_path: Path, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(float_masks, "CHUNK", 3)
    wrong = MASK.copy()
    wrong[3, 4] = value
    wrong[4, 0] = 7
    with pytest.raises(PatternError, match=r"holds exact 0.0 and 1.0, but its entry \(3, 4\) is "):
        read_source(f"{saved(tmp_path, wrong)}?true=attend")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("", r"add \?zero=attend for an additive mask, \?true=attend for one of exact 0.0 and 1.0"),
        ("?true=attend&zero=attend", "must say what .* means"),
        ("?zero=attend", "entry"),
    ],
)
def test_what_is_said_of_floats_has_to_fit(tmp_path: Path, options: str, message: str) -> None:
    with pytest.raises(PatternError, match=message):
        read_source(f"{saved(tmp_path, MASK)}{options}")


def test_every_piece_of_a_large_array_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(float_masks, "CHUNK", 7)
    dice = np.random.default_rng(0)
    for shape in ((9, 9), (3, 4, 4), (2, 3, 5, 5)):
        ones = dice.random(shape) < 0.5
        for array in (ones.astype(float), np.asfortranarray(ones.astype(float)), ones.astype(float)[..., ::-1]):
            assert np.array_equal(zero_one(array), array == 1)
    assert zero_one(np.zeros((0, 0))).shape == (0, 0)
