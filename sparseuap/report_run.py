"""The work behind a report, and the page and certificate that come of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from sparseuap.api_proof import temperatures_of
from sparseuap.patterns import PatternLike, Reading, as_pattern, name_of
from sparseuap.remedy import find_remedy
from sparseuap.report_case import command_lines, error_of, make_case, run_case
from sparseuap.report_page import Report, page
from theory.checks import real
from theory.files import check_folder, make_folder, write_text
from theory.theorems import FunctionClass
from theory.wording import printable
from verify.lp_box import UNIT_BOX
from verify.pattern_certificate import certificate
from verify.pattern_verdict import assess

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence
    from fractions import Fraction

    from constructions.targets import Target
    from sparseuap.report_case import Case
    from theory.patterns import SparsityPattern
    from theory.probability_maps import ProbabilityMap
    from verify.error_study import ErrorStudy
    from verify.pattern_verdict import PatternVerdict
    from verify.proof import Proof

    Say = Callable[[str, float | None], None]

__all__ = ["FILES", "WrittenReport", "report", "write_report"]

FILES = ("index.html", "certificate.json")


@dataclass(frozen=True, eq=False)
class WrittenReport:
    """A page that was written, and what it tells.

    Parameters
    ----------
    page, certificate
        The files.
    verdict
        On the pattern.
    proof, study
        The run of the proof and the error sweep, or the sentence that says why there is none.
    """

    page: Path
    certificate: Path
    verdict: PatternVerdict
    proof: Proof | str
    study: ErrorStudy | str


def report(
    pattern: PatternLike,
    out: str | os.PathLike[str],
    *,
    for_: FunctionClass | str = FunctionClass.ALL,
    layers: int | None = None,
    time_limit: float = 10.0,
    d: int | None = None,
    delta: str | float | Fraction | None = None,
    target: Target | str | Callable[[Any], Any] = "identity",
    construction: Literal["auto", "paper", "merged", "relay"] = "auto",
    exhaustive: bool = False,
    samples: int | None = None,
    seed: int = 0,
    rho: ProbabilityMap | str | Callable[[Any], Any] = "softmax",
    t: float | Sequence[float] | None = None,
    alpha: float | None = None,
    p: float = 2.0,
    box: tuple[float, float] = UNIT_BOX,
    progress: Say | None = None,
    **reading: Unpack[Reading],
) -> WrittenReport:
    """Write one page that needs nothing else, index.html, and the certificate: verdict, proof, figures, error.

    Parameters
    ----------
    out
        The folder; made if absent.
    for_, layers, time_limit
        As for `sparseuap.assess`.
    d, delta
        Embedding size and grid step; without them the proof is run for small patterns only.
    target, construction, exhaustive, samples, seed
        As for `sparseuap.prove`; "auto" is the paper's construction where its Theorem 1 applies, else relay.
    rho, t, alpha, p, box
        As for `sparseuap.measure_error`.
    **reading
        As for `sparseuap.patterns.as_pattern`.

    Raises
    ------
    PatternError, ProofError, TargetError
        If the pattern cannot be read, an argument is out of range, or the folder cannot be written to; nothing has
        been written then.
    """
    folder = Path(out)
    check_folder(folder, FILES)
    read = as_pattern(pattern, **reading)
    case = make_case(
        read.n,
        d=d,
        delta=delta,
        target=target,
        construction=construction,
        exhaustive=exhaustive,
        samples=samples,
        seed=seed,
        rho=rho,
        t=temperatures_of(t),
        alpha=None if alpha is None else real("alpha", alpha),
        p=real("p", p),
        box=box,
    )
    return write_report(
        read,
        name_of(pattern),
        case,
        folder,
        for_=for_,
        layers=layers,
        time_limit=time_limit,
        progress=progress,
    )


def write_report(
    pattern: SparsityPattern,
    name: str,
    case: Case,
    folder: Path,
    *,
    for_: FunctionClass | str,
    layers: int | None,
    time_limit: float,
    options: Mapping[str, Any] | None = None,
    given: frozenset[str] = frozenset(),
    progress: Say | None = None,
) -> WrittenReport:
    """Do the work of a case and write the files.

    Parameters
    ----------
    name
        What the page calls the pattern.
    options, given
        All options of the command line, and the names of those that differ from their default: the page then
        shows command lines that do it again. None where there was no command line.

    Raises
    ------
    OutputError
        If the files cannot be written.
    """
    say = progress or (lambda _step, _share: None)
    verdict = assess(pattern, for_=for_, layers=layers, time_limit=time_limit, progress=progress)
    proof = run_case(case, verdict, say)
    study = error_of(case, proof, say)
    made = certificate(verdict, name)
    say("what would repair it", None)
    remedy = find_remedy(verdict, None if options is None else name)
    commands = {}
    if options is not None:
        commands = command_lines(name, dict(options), given, proof=proof, study=study, remedy=remedy)
    target, shown = case.target.name, printable(name)
    text = page(Report(shown, verdict, made, proof, study, target, commands, case.seed, remedy), progress)
    make_folder(folder)
    write_text(folder / "certificate.json", json.dumps(made) + "\n")
    write_text(folder / "index.html", text)
    return WrittenReport(folder / "index.html", folder / "certificate.json", verdict, proof, study)
