"""``name:key=value,...``: what is accepted, what is refused, and what the table says of itself."""

from __future__ import annotations

import inspect
import re

import pytest

from theory import families
from theory.families import FAMILIES, connection_formula, parse_family
from theory.patterns import PatternError


@pytest.mark.parametrize("name", FAMILIES)
def test_the_table_says_what_is_so(name: str) -> None:
    family = FAMILIES[name]
    assert family.name == name
    assert family.formula.endswith(".")
    assert family.source
    assert parse_family(family.example).n >= 1
    arguments = inspect.signature(family.build).parameters
    assert set(arguments) == {parameter.argument for parameter in family.parameters}
    for parameter in family.parameters:
        assert parameter.meaning
        assert parameter.required == (arguments[parameter.argument].default is inspect.Parameter.empty)
        if not parameter.required:
            assert parameter.default == arguments[parameter.argument].default


@pytest.mark.parametrize("name", FAMILIES)
def test_the_smallest_number_accepted_is_the_functions_own(name: str) -> None:
    family = FAMILIES[name]
    values = {p.argument: max(p.least, 1) for p in family.parameters if p.kind == "whole number" and p.required}
    for parameter in family.parameters:
        if parameter.kind == "whole number":
            small = {"n": 1, "globals": 0}.get(parameter.name, parameter.least)
            family.build(
                **{**values, parameter.argument: small} | ({"globals_": 0} if "globals_" in values else {})
            )
            with pytest.raises(PatternError, match=f"{parameter.name} must be a whole number of at least"):
                family.build(**{**values, parameter.argument: parameter.least - 1})


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("star:n=16,w=1", families.star(16, 1)),
        ("strided:n=64,w=8", families.strided(64, 8)),
        ("fixed:n=20,w=8", families.fixed(20, 8)),
        ("fixed:n=20,w=8,heads=sequential,causal=false", families.fixed(20, 8)),
        ("window:n=9,w=2", families.window(9, 2)),
        ("window:n=9,window=2", families.window(9, 2)),
        ("dense:n=9", families.dense(9)),
        ("hub:n=9", families.hub(9)),
        ("ring:n=9", families.ring(9)),
        ("causal:n=9", families.causal(9)),
        ("causal:n=9,w=2", families.causal(9, 2)),
        (" causal : w = 2 , n = 9 ", families.causal(9, 2)),
        ("random:n=9,r=2,seed=3", families.random(9, 2, 3)),
        ("random:n=9,random=2,seed=3,layers=2", families.random(9, 2, 3, layers=2)),
        ("longformer:n=20,window=4,dilation=2,globals=1", families.longformer(20, 4, 2, 1)),
        ("longformer:n=20,w=4", families.longformer(20, 4)),
        ("bigbird:n=40,window=3,random=3,globals=2", families.bigbird(40, 3, 3, 2, seed=0)),
        ("bigbird:n=40,w=1,r=1,g=1,seed=5,block=4,layers=2", families.bigbird(40, 1, 1, 1, 5, block=4, layers=2)),
        ("bigbird:n=40,w=1,r=1,g=1,extended=True", families.bigbird(40, 1, 1, 1, extended=True)),
        ("reformer:n=20,buckets=3,rounds=2,seed=1", families.seeded_reformer(20, 3, 2, 1)),
        ("documents:n=9,length=4,causal=true", families.equal_documents(9, 4, causal=True)),
    ],
)
def test_text_means_the_function(spec: str, expected: object) -> None:
    assert parse_family(spec) == expected


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "unknown family ''; there are dense, causal, window"),
        ("bigbrid:n=64", "unknown family 'bigbrid', did you mean 'bigbird'? there are dense"),
        ("Star:n=5,w=1", "unknown family 'Star', did you mean 'star'?"),
        ("ca\nusal:n=3", "unknown family 'ca\\nusal', did you mean 'causal'?"),
        (
            "star",
            "star needs n (a whole number >= 1), w (a whole number >= 0), as in star:n=16,w=1; star accepts n, w",
        ),
        ("star:n=16", "star needs w (a whole number >= 0), as in star:n=16,w=1"),
        (
            "strided:n=4",
            "strided needs w (a whole number >= 1), as in strided:n=16,w=4; strided accepts n, w, [causal], [h",
        ),
        ("bigbird:n=64,window=3,random=3", "bigbird needs globals (a whole number >= 0)"),
        ("star:n=16,w=1,k=3", "star has no key 'k'; star accepts n, w"),
        (
            "longformer:n=16,widow=1",
            "longformer has no key 'widow', did you mean 'window'? longformer accepts n, window,",
        ),
        ("star:n=16,w", "star: expected key=value, got 'w'; star accepts n, w"),
        ("star:n=16,,w=1", "star: expected key=value, got ''"),
        ("star:n=16,w=1,", "star: expected key=value, got ''"),
        ("star:n=16,w=1,=2", "star: expected key=value, got '=2'"),
        ("star:n=16,w=1,w=2", "star: w is given twice, the second time as 'w=2'"),
        ("bigbird:n=9,window=1,w=1,r=0,g=0", "bigbird: window is given twice"),
        ("star:n=0,w=1", "star: n must be a whole number >= 1, got '0'"),
        ("star:n=16,w=-1", "star: w must be a whole number >= 0, got '-1'"),
        ("star:n=1e3,w=1", "star: n must be a whole number >= 1, got '1e3'"),
        ("star:n=16.0,w=1", "got '16.0'"),
        ("star:n=,w=1", "got ''"),
        ("star:n=\u0661\u0662,w=1", "star: n must be a whole number"),
        ("star:n=1_000,w=1", "star: n must be a whole number"),
        ("star:n=" + "9" * 5000 + ",w=1", "star: n must be a whole number >= 1, got '" + "9" * 40 + "...'"),
        ("strided:n=16,w=0", "strided: w must be a whole number >= 1, got '0'"),
        ("bigbird:n=9,w=1,r=1,g=1,seed=-1", "bigbird: seed must be a whole number >= 0"),
        ("bigbird:n=9,w=1,r=1,g=1,extended=1", "bigbird: extended must be true or false, got '1'"),
        ("bigbird:n=9,w=1,r=1,g=10", "bigbird: globals=10 is more than the text has: 9 tokens"),
        ("bigbird:n=9,w=1,r=1,g=4,block=3", "bigbird: globals=4 is more than the text has: 3 blocks"),
        ("fixed:n=16,w=4,heads=both", "fixed: heads must be sequential | union | multihead, got 'both'"),
        (
            "dense:n=1000000",
            "dense: n=1000000 means up to 1000000000000 connections, 3726 GiB; the limit is 2 GiB: take",
        ),
    ],
)
def test_bad_text_gets_one_clear_line(spec: str, message: str) -> None:
    with pytest.raises(PatternError, match=re.escape(message)) as error:
        parse_family(spec)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ("bigbird:n=4096,window=3,random=3,globals=2,seed=0", 4096 * (2 * 3 + 3 + 2)),
        ("bigbird:n=100,w=3,r=3,g=2,extended=true", 102 * 11),
        ("bigbird:n=100,w=3,r=3,g=2,layers=4", 4 * 100 * 11),
        ("bigbird:n=100,w=1,r=2,g=1,block=8", 13 * 5 * 64),
        ("longformer:n=100,window=5,dilation=2,globals=3", 100 * (2 * 2 + 3)),
        ("window:n=100,w=5", 1000),
        ("window:n=100,window=5", 1000),
        ("random:n=100,r=7", 700),
        ("star:n=16,w=1", None),
        ("dense:n=16", None),
        ("causal:n=16,w=2", None),
        ("pattern.json", None),
        ("bigbird:n=oops", None),
    ],
)
def test_the_explainers_count(spec: str, count: int | None) -> None:
    assert connection_formula(spec) == count


def test_the_explainers_count_is_not_the_exact_one() -> None:
    spec = "bigbird:n=4096,window=3,random=3,globals=2,seed=0"
    # 2 full rows; of the 4094 others each has 2 globals, 3 random, and its window of 7 cut to the other tokens.
    exact = 2 * 4096 + 4094 * (2 + 3 + 7) - 2 * (1 + 2 + 3)
    assert parse_family(spec).connections == exact
    assert connection_formula(spec) == 45056 != exact


def test_all_names_are_there() -> None:
    assert len(set(families.__all__)) == len(families.__all__)
    assert all(hasattr(families, name) for name in families.__all__)
