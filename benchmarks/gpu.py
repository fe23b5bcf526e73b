"""A CUDA GPU beside two cores: bit for bit the same numbers, and how much sooner. ``python -m benchmarks.gpu``.

Without a GPU it says so and stops. ``--device cpu`` puts PyTorch on the processor through the same checks, and
``--tiny`` takes reduced sizes and compiles nothing. Five minutes.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.report import scaled
from benchmarks.soft import start, two_blocks
from constructions.backends import NUMPY, Backend, choose_backend
from constructions.network import choose_mapping
from constructions.numbers import ProofError
from constructions.stage import run_literal
from theory.families import parse_family
from verify.exhaustive.case import sweep_case
from verify.exhaustive.engines import choose_sweep_engine
from verify.exhaustive.run import sweep

if TYPE_CHECKING:
    from collections.abc import Iterator

    from constructions.mapping import StagedMapping
    from verify.exhaustive.engines import Prefer

__all__ = ["Check", "Speed", "checks", "main", "speeds"]

PATTERNS = (  # pattern, d, K: all numbers fit int64, for paper and merged as digits
    ("dense:n=3", 2, 2),
    ("strided:n=5,w=3", 1, 4),
    ("star:n=6,w=1", 1, 8),
    ("window:n=8,w=1", 1, 4),
    ("bigbird:n=24,window=1,random=1,globals=1,seed=3", 1, 2),
)
CONSTRUCTIONS = ("paper", "merged", "relay")
SWEPT, SOFT = "star:n=6,w=1", "window:n={n},w=25"
GROWING = (4, 8, 12, 16, 24, 32)  # K of the sweeps that are timed, until one takes long enough


class Check(NamedTuple):
    """What was compared, on which case, how many numbers, and whether all were equal."""

    what: str
    case: str
    numbers: int
    equal: bool


class Speed(NamedTuple):
    """A work, and how many units of it a second two cores and the backend do."""

    work: str
    unit: str
    cores: float
    there: float


def checks(backend: Backend, inputs: int, levels: int, prefer: Prefer = "auto") -> Iterator[Check]:
    """Iterate all checks.

    Parameters
    ----------
    backend
        What is compared with NumPy.
    inputs
        Random inputs a mapping.
    levels
        K of the exhaustive sweeps.
    prefer
        The engine of the processor's sweeps.
    """
    for construction in CONSTRUCTIONS:
        for text, d, K in PATTERNS:  # noqa: N806 - the paper's 1/delta
            mapping = choose_mapping(parse_family(text), d, K, construction)
            yield from _runs(mapping, f"{text}, d = {d}, K = {K}", backend, inputs)
        yield _shards(choose_mapping(parse_family(SWEPT), 1, levels, construction), backend, prefer)
    yield _soft(backend, inputs)


def _runs(mapping: StagedMapping, case: str, backend: Backend, inputs: int) -> Iterator[Check]:
    """Compare the blocks of the first stage, one after another, and the fused run of all stages."""
    grids = np.random.default_rng(0).integers(0, mapping.K, (inputs, mapping.d, mapping.pattern.n))
    start, stage = mapping.project(grids), mapping.stages[0]
    literal = backend.fetch(run_literal(stage, backend.put(start), mapping.pattern))
    same = np.array_equal(literal, stage.apply(start, mapping.pattern))
    yield Check(f"{mapping.construction}: blocks of the {stage.name}", case, literal.size, same)
    ids = mapping.on(backend).ids(grids)
    yield Check(f"{mapping.construction}: ids, fused", case, ids.size, np.array_equal(ids, mapping.ids(grids)))


def _shards(mapping: StagedMapping, backend: Backend, prefer: Prefer) -> Check:
    """Compare the first and the last shard of a sweep: on NumPy, compiled where it can be, and on the backend."""
    case = sweep_case(mapping)
    choices: tuple[tuple[Backend, Prefer], ...] = ((NUMPY, "numpy"), (NUMPY, prefer), (backend, "auto"))
    engines = [choose_sweep_engine(case, *choice) for choice in choices]
    first, *others = [[engine.shard(case, number) for number in (0, case.shards - 1)] for engine in engines]
    same = all(other == first for other in others) and not any(result.stopped for result in first)
    swept = sum(result.inputs for result in first) * mapping.pattern.n
    return Check(f"{mapping.construction}: shards of a sweep", f"{SWEPT}, K = {mapping.K}", swept, same)


def _soft(backend: Backend, inputs: int) -> Check:
    """Compare the relaxed blocks, in floats: to 1e-9."""
    pattern = parse_family(SOFT.format(n=64))
    values = start(pattern.n, inputs)
    found, wanted = (two_blocks(pattern, where).run(values) for where in (backend, NUMPY))
    return Check("softmax blocks, to 1e-9", SOFT, values.size, np.allclose(found, wanted, rtol=1e-9, atol=1e-9))


def speeds(backend: Backend, seconds: float, prefer: Prefer = "auto") -> Iterator[Speed]:
    """Iterate what is timed; each work grows until it takes some seconds, and stays below twelve times as many."""
    cpu: tuple[tuple[str, Prefer, str], ...] = (
        ("merged", prefer, "compiled"),
        ("merged", "numpy", "NumPy"),
        ("relay", prefer, "NumPy"),
    )
    for construction, means, name in cpu:
        rates = [_sweep_rate(construction, *where, seconds) for where in ((NUMPY, means), (backend, "auto"))]
        yield Speed(f"exhaustive sweep, {construction}, {SWEPT}; two cores: {name}", "inputs", *rates)
    soft = [_soft_rate(where, seconds) for where in (Backend("torch"), backend)]
    yield Speed(f"softmax blocks, {SOFT.format(n=512)}", "inputs", *soft)


def _sweep_rate(construction: str, backend: Backend, prefer: Prefer, seconds: float) -> float:
    """Return the inputs a second of the first sweep that takes long enough; those before it compile and warm."""
    rate = 0.0
    for levels in GROWING:
        case = sweep_case(choose_mapping(parse_family(SWEPT), 1, levels, construction))
        result = sweep(case, choose_sweep_engine(case, backend, prefer), jobs=2 if backend == NUMPY else 1)
        rate = case.count / result.seconds
        if result.seconds >= seconds:
            break
    return rate


def _soft_rate(backend: Backend, seconds: float) -> float:
    """Return the inputs a second of the first batch that takes long enough; PyTorch uses all cores."""
    pattern, rate = parse_family(SOFT.format(n=512)), 0.0
    blocks = two_blocks(pattern, backend)
    for inputs in (2**exponent for exponent in range(6, 20, 2)):
        values = backend.put(start(pattern.n, inputs))
        began = time.perf_counter()
        backend.fetch(blocks.run(values))
        taken = time.perf_counter() - began
        rate = inputs / taken
        if taken >= seconds:
            break
    return rate


def main(arguments: list[str] | None = None) -> int:
    """Print two tables, or why there is nothing to compare; return 1 where numbers differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda", help="where PyTorch runs")
    parser.add_argument("--tiny", action="store_true", help="reduced sizes")
    options = parser.parse_args(arguments)
    try:
        backend = choose_backend("torch", options.device)
    except ProofError as reason:
        print(f"skipped: {reason}")
        return 0
    inputs, levels, seconds = (20, 4, 0.0) if options.tiny else (5000, 16, 2.0)
    prefer: Prefer = "numpy" if options.tiny else "auto"
    where = name_of(backend)
    found = list(checks(backend, inputs, levels, prefer))
    print(f"| {where} against NumPy | numbers | |\n|---|---|---|")
    for what in dict.fromkeys(check.what for check in found):
        same = [check for check in found if check.what == what]
        wrong = [check.case for check in same if not check.equal]
        answer = f"**differ** on {'; '.join(wrong)}" if wrong else "equal"
        print(f"| {what} | {sum(check.numbers for check in same):,} | {answer} |")
    print(f"\n| work | two cores | {where} | ratio | goal |\n|---|---|---|---|---|", flush=True)
    for speed in speeds(backend, seconds, prefer):
        rates = " | ".join(f"{scaled(rate)} {speed.unit}/s" for rate in (speed.cores, speed.there))
        print(f"| {speed.work} | {rates} | {speed.there / speed.cores:.3g} | >= 50 |", flush=True)
    return int(not all(check.equal for check in found))


def name_of(backend: Backend) -> str:
    """Return the name of the GPU, or say that there is none."""
    if backend.device == "cpu":
        return "PyTorch on the CPU"
    import torch

    return str(torch.cuda.get_device_name())


if __name__ == "__main__":
    sys.exit(main())
