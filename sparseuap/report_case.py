"""The case that a report is about: which proof and which error sweep are run, or why none is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from constructions.numbers import ProofError
from constructions.targets import Target, TargetError, as_target
from sparseuap.command_line import command_line
from theory.checks import PatternError, choice, flag, whole
from theory.probability_maps import probability_map
from theory.theorems import Says
from verify.lp_box import check_box, on_box
from verify.lp_norm import check_p
from verify.proof import Proof, choose_inputs, grid_levels, run_proof

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from sparseuap.remedy import Remedy
    from theory.probability_maps import ProbabilityMap
    from verify.error_study import ErrorStudy
    from verify.pattern_verdict import PatternVerdict

    Say = Callable[[str, float | None], None]

__all__ = ["SMALL", "Case", "command_lines", "error_of", "make_case", "read_case", "run_case"]

SMALL = 12
"""Tokens up to which the proof is run without being asked for, with d = 1 and delta = 1/2."""
CONSTRUCTIONS = ("auto", "paper", "merged", "relay")


@dataclass(frozen=True, eq=False)
class Case:
    """What is built and run; see `sparseuap prove` and `sparseuap error`.

    Parameters
    ----------
    d, levels
        Embedding size and K = 1/delta; None where nobody asked for a proof and the pattern is not small.
    construction
        `auto` takes the paper's where its Theorem 1 applies, else relay.
    """

    d: int | None
    levels: int
    target: Target
    construction: str
    exhaustive: bool
    samples: int | None
    seed: int
    rho: ProbabilityMap
    t: list[float] | None
    alpha: float | None
    p: float
    box: tuple[float, float]


def read_case(options: dict[str, Any], n: int) -> Case:
    """Read the options of the command line before any long work is done.

    Raises
    ------
    PatternError, ProofError, TargetError
        If one is out of range, or not known.
    """
    from sparseuap.commands.error import ends, temperatures

    names = ("d", "delta", "target", "construction", "exhaustive", "samples", "seed", "rho", "alpha", "p")
    given = {name: options[name] for name in names}
    return make_case(n, t=temperatures(options["t"]), box=ends(options["box"]), **given)


def make_case(
    n: int,
    *,
    d: int | None,
    delta: str | float | Fraction | None,
    target: Target | str | Callable[[Any], Any],
    construction: str,
    exhaustive: bool,
    samples: int | None,
    seed: int,
    rho: ProbabilityMap | str | Callable[[Any], Any],
    t: list[float] | None,
    alpha: float | None,
    p: float,
    box: tuple[float, float],
) -> Case:
    """Check what a report of a pattern of n tokens is to be about, before any long work is done.

    Raises
    ------
    PatternError, ProofError, TargetError
        If something is out of range, or not known.
    """
    if t is not None and not all(0 < value < float("inf") for value in t):
        raise PatternError(f"t must be positive and finite, got {', '.join(f'{value:g}' for value in t)}")
    if alpha is not None and not 0 < alpha < 1:
        raise PatternError(f"alpha must lie between 0 and 1, got {alpha:g}")
    if flag("exhaustive", exhaustive) and samples is not None:
        raise PatternError("all inputs (exhaustive) and some of them (samples) exclude each other: leave one out")
    if d is None and (delta is not None or n <= SMALL):
        d = 1
    return Case(
        d=None if d is None else whole("d", d, 1),
        levels=grid_levels("1/2" if delta is None else delta),
        target=as_target(target),
        construction=choice("construction", construction, CONSTRUCTIONS),
        exhaustive=exhaustive,
        samples=None if samples is None else whole("samples", samples, 1),
        seed=whole("seed", seed),
        rho=probability_map(rho),
        t=t,
        alpha=alpha,
        p=check_p(p),
        box=check_box(box),
    )


def run_case(case: Case, verdict: PatternVerdict, say: Say) -> Proof | str:
    """Run the proof, or return the sentence that says why not."""
    pattern = verdict.pattern
    if case.d is None:
        return (
            f"The proof is run unasked for at most {SMALL} tokens; this pattern has {pattern.n}. "
            "Give --d and --delta to run it."
        )
    construction = case.construction
    if construction == "auto":
        construction = "paper" if verdict.statements[0].says is Says.UNIVERSAL else "relay"
    try:
        inputs = choose_inputs(
            case.d, pattern.n, case.levels, exhaustive=case.exhaustive, samples=case.samples, seed=case.seed
        )
        return run_proof(pattern, inputs, on_box(case.target, case.box), construction, progress=say)
    except (ProofError, TargetError, PatternError) as error:
        return f"The proof was not run: {error}."


def error_of(case: Case, proof: Proof | str, say: Say) -> ErrorStudy | str:
    """Measure the error of the relaxed network, or return the sentence that says why not."""
    if isinstance(proof, str):
        return "The error was not measured: there is no network without the proof."
    if proof.network is None:
        return "The error was not measured: the value mapping was not built, see the proof."
    from verify.error_study import study_error

    mapping = proof.mapping
    try:
        return study_error(
            mapping.pattern,
            d=mapping.d,
            levels=mapping.K,
            target=case.target,
            rho=case.rho,
            construction=mapping.construction,
            t=case.t,
            alpha=case.alpha,
            p=case.p,
            box=case.box,
            seed=case.seed,
            progress=say,
        )
    except (ProofError, TargetError) as error:
        return f"The error was not measured: {error}."


SHARED = ("d", "delta", "target", "construction")
OPTIONS = {
    "report": (
        "for_",
        "layers",
        "time_limit",
        *SHARED,
        "exhaustive",
        "samples",
        "seed",
        "rho",
        "t",
        "alpha",
        "p",
        "box",
    ),
    "check": ("for_", "layers", "time_limit"),
    "prove": (*SHARED, "exhaustive", "samples", "seed"),
    "error": (*SHARED, "rho", "t", "alpha", "p", "box", "seed"),
}
FLAGS = {"for_": "--for", "time_limit": "--time-limit"}


def command_lines(
    source: str,
    options: dict[str, Any],
    given: frozenset[str],
    *,
    proof: Proof | str,
    study: ErrorStudy | str,
    remedy: Remedy | None,
) -> dict[str, str]:
    """Return the command lines that do the report, or one part of it, again; none for a part that was not done.

    Parameters
    ----------
    options, given
        All options by name, and the names of those that differ from their default.
    proof
        Names the construction, d and delta that were taken.
    study, remedy
        The error sweep, and what helps a failing pattern.
    """
    if isinstance(proof, Proof):
        taken = {"d": proof.mapping.d, "delta": f"1/{proof.mapping.K}", "construction": proof.mapping.construction}
        options, given = {**options, **taken}, given | set(taken)
    absent = {"prove": isinstance(proof, str), "error": isinstance(study, str)}
    lines = {}
    for name, known in OPTIONS.items():
        if absent.get(name):
            continue
        words = ["--out", "report"] if name == "report" else []
        for option in known:
            if option in given:
                words += [FLAGS.get(option, f"--{option}")]
                words += [] if options[option] is True else [str(options[option])]
        lines[name] = command_line(name, source, *words)
    if remedy is not None:
        lines["repair"] = remedy.repair_command
    return lines
