"""What the dimensions of a mask mean: one rule for arrays, tensors, .npy, .npz and what a module returns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import brute_force
import numpy as np
import pytest
from click.testing import CliRunner
from refusals import refused

import theory.conversions
from sparseuap.commands.check import command
from theory.mask_shapes import masks_of_heads, reading_of
from theory.masks import boolean_heads
from theory.patterns import PatternError, SparsityPattern
from theory.readers.objects import heads_of
from theory.readers.source import read_heads, read_source
from theory.readers.torch_masks import from_torch_mask

INPUTS = Path(__file__).parent / "cases" / "inputs"
LOWER = np.tril(np.ones((5, 5), dtype=bool))
NEAR = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) <= 1
HEADS = np.stack([LOWER, NEAR, LOWER])
BATCH = np.stack([HEADS, HEADS[[1, 0, 0]], HEADS])


def lists(mask: Any) -> list[list[int]]:
    return [[key for key, attends in enumerate(row) if attends] for row in mask.tolist()]


ROWS = [[lists(mask)] for mask in HEADS]


def check(source: str, *arguments: str) -> tuple[int, Any]:
    result = CliRunner().invoke(command, [source, "--json", *arguments], standalone_mode=False)
    assert result.exception is None, result.exception
    return result.return_value, json.loads(result.output)


def test_a_mask_as_attention_takes_it_is_read_head_by_head() -> None:
    source = f"{INPUTS}/F2_blockbert_1hnn.npy?true=attend"
    code, union = check(source, "--heads", "union")
    assert (code, union["p"], union["s"], union["connections"], union["reach"]) == (0, 1, 2, 384, "all")
    assert union["notes"] == ["shape (1, 2, 24, 24) is read as (batch, head, query, key): 2 heads"]
    code, each = check(source)
    assert code == 1
    assert [head["heads"] for head in each["heads"]] == [[0], [1]]
    tokens = np.arange(24)
    block = (tokens[:, None] // 8) == (tokens[None, :] // 8)
    mask = np.load(INPUTS / "F2_blockbert_1hnn.npy")
    assert (mask[0, 0] == block).all()
    for head, verdict in zip(mask[0], each["heads"], strict=True):
        assert verdict["reach"] == brute_force.reach_kind([lists(head)])
        assert verdict["assumption_1_1"] == bool(np.diag(head).all())


def test_heads_to_the_left_and_to_the_right_need_half_the_layers() -> None:
    source = f"{INPUTS}/F2_heads_left_right.npy?true=attend"
    mask = np.load(INPUTS / "F2_heads_left_right.npy")[0]
    assert brute_force.smallest_s([lists(mask[0] | mask[1])], 40) == 15
    assert brute_force.smallest_s([lists(mask[0]), lists(mask[1])], 40) == 30  # the same masks taken for layers
    code, data = check(source, "--heads", "union", "--layers", "15")
    assert (code, data["s"], data["p"], data["connections"]) == (0, 15, 1, 46)
    assert data["holds_within_layers"] is True
    assert read_source(f"{source}&head=union") == read_heads(source).union()
    assert [head.to_lists() for head in read_heads(source).heads] == [[lists(one)] for one in mask]


@pytest.mark.parametrize("save", [np.save, np.savez])
def test_four_dimensions_are_batch_head_query_key(here: Path, save: Any) -> None:
    name = "m.npy" if save is np.save else "m.npz"
    save(name, BATCH[[0, 0]])
    alike = read_heads(f"{name}?true=attend")
    assert [head.to_lists() for head in alike.heads] == ROWS
    assert "3 heads, the entries of the batch being alike" in alike.notes[0]
    save(name, BATCH)
    refused(f"{name}?true=attend", "the masks of this batch differ", "entry 1 from entry 0", "batch=0")
    for batch in (0, 1, 2):
        read = read_heads(f"{name}?true=attend&batch={batch}")
        assert [head.to_lists() for head in read.heads] == [[lists(mask)] for mask in BATCH[batch]]
        assert f"entry {batch} of the batch" in read.notes[0]
    refused(f"{name}?true=attend&batch=3", "batch must be one of 0..2, got 3")
    refused(f"{name}?true=attend&batch=-1", "batch must be a whole number, got '-1'")
    refused(
        f"{name}?true=attend&batch=0&axis=heads", "shape (3, 3, 5, 5) is (batch, head, query, key): leave axis out"
    )
    assert read_source(f"{name}?true=attend&batch=1&head=0").to_lists() == ROWS[1]


@pytest.mark.parametrize("save", [np.save, np.savez])
def test_three_dimensions_have_to_be_named(here: Path, save: Any) -> None:
    name = "m.npy" if save is np.save else "m.npz"
    save(name, np.where(HEADS, 0.0, -np.inf))
    both = "shape (3, 5, 5) may be 3 heads of one layer (axis=heads) or a cycle of 3 layers (axis=layers)"
    refused(f"{name}?zero=attend", both)
    refused(f"{name}?zero=attend&axis=batch", "axis must be heads or layers, got 'batch'")
    heads = read_heads(f"{name}?zero=attend&axis=heads")
    assert [head.to_lists() for head in heads.heads] == ROWS
    assert heads.notes == ("shape (3, 5, 5) is read as 3 heads of one layer",)
    layers = read_heads(f"{name}?zero=attend&axis=layers")
    assert layers.only().to_lists() == [rows for (rows,) in ROWS]
    assert layers.notes == ("shape (3, 5, 5) is read as a cycle of 3 layers",)
    refused(f"{name}?zero=attend&axis=layers&batch=0", "batch=0 chooses among (batch, head, query, key)")
    save(name, LOWER[None])
    assert read_source(f"{name}?true=attend").to_lists() == ROWS[0]
    save(name, LOWER)
    refused(f"{name}?true=attend&axis=layers", "shape (5, 5) is (query, key): leave axis out")


def test_windows_of_a_vision_transformer_are_asked_about(here: Path) -> None:
    np.save("swin.npy", np.ones((64, 49, 49), dtype=bool))
    refused("swin.npy?true=attend", "(64, 49, 49)", "64 heads", "axis=heads", "64 layers", "axis=layers")
    assert read_heads("swin.npy?true=attend&axis=heads").notes == (
        "shape (64, 49, 49) is read as 64 heads of one layer",
    )


def test_several_arrays_of_an_archive_are_layers_unless_they_are_heads(here: Path) -> None:
    np.savez("m.npz", *HEADS)
    layers = read_heads("m.npz?true=attend")
    assert layers.only().to_lists() == [rows for (rows,) in ROWS]
    assert layers.notes == ("the 3 arrays arr_0, arr_1, arr_2 are read as the layers of one cycle",)
    assert read_heads("m.npz?true=attend&axis=layers") == layers
    heads = read_heads("m.npz?true=attend&axis=heads")
    assert [head.to_lists() for head in heads.heads] == ROWS
    refused("m.npz?true=attend&axis=both", "axis must be heads or layers")
    np.savez("m.npz", first=HEADS, second=HEADS[[1, 0, 0]])
    cycle = read_heads("m.npz?true=attend&axis=heads")
    assert [head.to_lists() for head in cycle.heads] == [
        [*a, *b] for a, b in zip(ROWS, [ROWS[1], ROWS[0], ROWS[0]], strict=True)
    ]
    refused("m.npz?true=attend", "array 'first': a mask of shape (3, 5, 5)")


MODULE = """
import numpy as np
LOWER = np.tril(np.ones((5, 5), dtype=bool))
NEAR = np.abs(np.subtract.outer(np.arange(5), np.arange(5))) <= 1
def heads(): return np.stack([LOWER, NEAR, LOWER])[None]
def stacked(): return np.stack([LOWER, NEAR, LOWER])
def listed(): return [LOWER, NEAR, LOWER]
def one(): return LOWER
def own(axis, batch=1): return np.stack([LOWER] * batch + [NEAR]) if axis == "mine" else None
"""


def test_what_a_module_returns_follows_the_same_rule(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    Path("masks_of_a_shape_test.py").write_text(MODULE)
    place = "masks_of_a_shape_test"
    assert [head.to_lists() for head in read_heads(f"{place}:heads?true=attend").heads] == ROWS
    union = read_source(f"{place}:heads?true=attend&head=union")
    assert union.to_lists() == [lists(LOWER | NEAR)]
    refused(f"{place}:stacked?true=attend", "axis=heads", "axis=layers")
    assert len(read_heads(f"{place}:stacked?true=attend&axis=heads").heads) == 3
    assert read_source(f"{place}:stacked?true=attend&axis=layers").p == 3
    assert read_source(f"{place}:listed?true=attend").p == 3
    assert len(read_heads(f"{place}:listed?true=attend&axis=heads").heads) == 3
    refused(f"{place}:one?true=attend&head=union", "head=union chooses among heads, but this has one pattern")
    refused(f"{place}:listed?true=attend&head=0", "head=0 chooses among heads, but this has one pattern")
    refused(f"{place}:own?axis=mine&batch=2&true=attend", "shape (3, 5, 5) may be 3 heads")


def test_an_option_that_changes_nothing_is_refused_or_said(here: Path) -> None:
    np.save("m.npy", LOWER)
    for head in ("0", "union"):
        refused(f"m.npy?true=attend&head={head}", "m.npy: head=", "one pattern for all: leave head out")
    _, data = check("m.npy?true=attend", "--heads", "union")
    assert data["notes"] == ["--heads union changes nothing: all heads attend alike"]
    assert "notes" not in check("m.npy?true=attend")[1]


@pytest.mark.parametrize("name", ["from_boolean_mask", "from_additive_mask"])
def test_the_functions_take_axis_and_batch_and_give_one_pattern(name: str) -> None:
    def read(mask: Any, **said: Any) -> SparsityPattern:
        convert = getattr(theory.conversions, name)
        if name == "from_boolean_mask":
            pattern: SparsityPattern = convert(mask, true_means="attend", **said)
        else:
            additive = [np.where(one, 0.0, -1e9) for one in mask] if isinstance(mask, list) else None
            pattern = convert(
                np.where(mask, 0.0, -1e9) if additive is None else additive, zero_means="attend", **said
            )
        return pattern

    assert read(HEADS, axis="layers").to_lists() == [rows for (rows,) in ROWS]
    assert read(HEADS[[0, 2]], axis="heads").to_lists() == ROWS[0]
    assert read(BATCH[:, [0]][[0, 0]]).to_lists() == ROWS[0]
    assert read(BATCH[:, [0]], batch=1).to_lists() == ROWS[1]
    assert read(list(HEADS)).p == 3
    for mask, said, message in (
        (HEADS, {}, r"axis=heads\) or a cycle of 3 layers \(axis=layers\)"),
        (HEADS, {"axis": "heads"}, "head 1 attends otherwise than head 0"),
        (BATCH[:1], {}, "head 1 attends otherwise than head 0"),
        (BATCH[:, [0]], {}, "batch differ"),
        (BATCH, {"batch": True}, r"batch must be one of 0\.\.2, got True"),
        (BATCH, {"batch": 3}, r"batch must be one of 0\.\.2, got 3"),
        (LOWER, {"batch": 0}, "leave batch out"),
        (LOWER, {"axis": "heads"}, "leave axis out"),
        (HEADS, {"axis": 0}, "axis must be heads or layers, got 0"),
        (list(HEADS), {"batch": 0}, "this is a list of masks"),
        (BATCH[None], {}, r"or \(batch, heads, n, n\); this one has \(1, 3, 3, 5, 5\)"),
        (BATCH[:0], {}, "no mask given"),
        (BATCH[:, :0], {}, "no mask given"),
    ):
        with pytest.raises(PatternError, match=message):
            read(mask, **said)


def test_heads_that_are_alike_share_one_pattern() -> None:
    first, second, third = boolean_heads(BATCH[:1], attends=True)
    assert first is third
    assert first != second
    assert [len(layers) for layers in masks_of_heads(HEADS, axis="layers")] == [3]
    assert reading_of((1, 1, 5, 5), None, None) == reading_of((5, 5), None, None) == ()


class Lent:
    """An array of another library: NumPy may look at it, but it is no ndarray."""

    def __init__(self, array: Any) -> None:
        self.array, self.ndim, self.shape = array, array.ndim, array.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.array


def test_arrays_of_other_libraries_follow_the_same_rule() -> None:
    assert [head.to_lists() for head in heads_of(Lent(BATCH[:1]), {"true": "attend"}).heads] == ROWS
    assert heads_of([Lent(LOWER), Lent(NEAR)], {"true": "attend"}).only().p == 2
    with pytest.raises(PatternError, match="masked array"):
        heads_of(np.ma.masked_array(LOWER, mask=NEAR), {"true": "attend"})


def test_tensors_follow_the_same_rule() -> None:
    torch = pytest.importorskip("torch")
    mask = torch.tensor(BATCH)
    assert [head.to_lists() for head in heads_of(mask[:1], {"true": "attend"}).heads] == ROWS
    assert heads_of(mask[:1], {"true": "attend", "head": "union"}).only().to_lists() == [lists(LOWER | NEAR)]
    assert [head.to_lists() for head in heads_of(list(mask[0]), {"true": "attend", "axis": "heads"}).heads] == ROWS
    with pytest.raises(PatternError, match="axis=heads"):
        heads_of(mask[0], {"true": "attend"})
    assert [head.to_lists() for head in from_torch_mask(mask[0], convention="sdpa").heads] == ROWS
    turned = from_torch_mask(mask[:, :2], convention="sdpa", batch=1)
    assert [head.to_lists() for head in turned.heads] == [ROWS[1], ROWS[0]]
    assert turned.notes == (
        "shape (3, 2, 5, 5) is read as (batch, head, query, key): 2 heads, entry 1 of the batch",
    )
