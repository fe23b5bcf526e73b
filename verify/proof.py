"""Run the proof on a case: build the network, run it, check every numbered statement (§4.1, App. E)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from constructions.backends import NUMPY
from constructions.cells import cell_count
from constructions.contextual_mapping import check_sizes
from constructions.network import Network, choose_mapping, compose, dense_layers
from constructions.numbers import INT64_BITS, ProofError
from constructions.targets import as_target
from theory.checks import flag
from theory.readers.guard import one_line
from theory.verdicts import Answer
from verify.exhaustive.decide import Decision, SweepPlan, decide_ids
from verify.inputs import AdversarialInputs, AllInputs, fitted
from verify.lemmas import check_ids, check_lemmas
from verify.literal_ends import run_quantization, run_values
from verify.literal_mapping import run_mapping
from verify.target_check import target_within_reach

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from constructions.backends import Backend
    from constructions.mapping import StagedMapping
    from constructions.targets import Target
    from theory.patterns import SparsityPattern
    from verify.contextual_mapping import Injectivity
    from verify.exhaustive.run import SweepResult
    from verify.input_set import InputSet
    from verify.lemma_check import LemmaCheck
    from verify.literal_budget import LiteralRun

__all__ = ["MOST_CELLS", "Proof", "choose_inputs", "grid_levels", "prove", "run_proof"]

MOST_CELLS = 2**18
"""Cells up to which the value mapping is built: its table of windows needs every one of the K^{dn} cells."""
EXHAUSTIVE_CELLS = 2**16
SWEPT = 2**20
"""Inputs beyond which the ids of all are streamed, and the other statements are checked on adversarial samples."""
DEFAULT_SAMPLES = 4096
DEFAULT_ENTRIES = 2**24  # of all samples together: fewer samples of inputs with thousands of entries
LONGEST_EXPONENT = 2  # digits; a fraction with 10^8 digits takes minutes to write down


@dataclass(frozen=True, eq=False)
class Proof:
    """What a run of the proof showed.

    Parameters
    ----------
    mapping
        g_c.
    network
        g_v . g_c . g_q; None where there are too many cells, or the target is out of the pattern's reach.
    inputs
        What was run.
    ids
        7.1 and 7.2 with witnesses, the smallest gap, the largest id.
    checks
        One result a statement, in the order of the proof; each says on how many inputs.
    sample
        What the statements other than those about ids were checked on: `inputs`, or some of them.
    sweep
        What the sweep of all inputs showed; None where the ids were compared without one.
    literal
        The blocks of g_q, g_c and g_v, run one after another; their checks are among `checks`.
    """

    mapping: StagedMapping
    network: Network | None
    inputs: InputSet
    ids: Injectivity
    checks: tuple[LemmaCheck, ...]
    sample: InputSet
    sweep: SweepResult | None = None
    literal: tuple[LiteralRun, ...] = ()

    @property
    def answer(self) -> Answer:
        """FAILS if some statement does, UNDECIDED if some could not be checked, else HOLDS."""
        return Answer.of_all([self.ids.answer, *(check.answer for check in self.checks)])

    @property
    def holds(self) -> bool:
        """Whether every statement holds."""
        return self.answer is Answer.HOLDS

    @property
    def exact_on_cells(self) -> bool | None:
        """Whether gbar = fbar on every cell that was run (Lemma 3); None without a network."""
        for check in self.checks:
            if check.name == "Lemma 3":
                return check.answer is Answer.HOLDS
        return None

    @property
    def dense_layers(self) -> dict[str, int]:
        """Layers of the dense counterpart (Yun et al. 2019)."""
        return dense_layers(self.mapping.d, self.mapping.pattern.n, self.mapping.K)


def grid_levels(delta: str | float | Fraction) -> int:
    """Return K of delta = 1/K, given as ``1/K``, a decimal or a number.

    Raises
    ------
    ProofError
        If delta is not 1/K for an integer K >= 2.

    Examples
    --------
    >>> grid_levels("1/4"), grid_levels("0.25"), grid_levels(0.5)
    (4, 4, 2)
    """
    exponent = str(delta).lower().partition("e")[2].strip().lstrip("+-").replace("_", "")
    if exponent.isdecimal() and len(exponent.lstrip("0")) > LONGEST_EXPONENT:
        raise ProofError(f"delta = {one_line(delta, 60)} is no 1/K for a K below 2^{INT64_BITS}, such as 1/4")
    try:
        step = Fraction(delta)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        step = Fraction(0)
    if step <= 0 or step.numerator != 1 or step.denominator < 2:
        raise ProofError(f"delta must be 1/K for an integer K >= 2, such as 1/4, got {one_line(delta, 60)}")
    return step.denominator


def choose_inputs(d: int, n: int, levels: int, *, exhaustive: bool, samples: int | None, seed: int) -> InputSet:
    """Return all inputs if asked for, or if there are at most 2^16 of them; otherwise adversarial samples.

    Raises
    ------
    ProofError
        If d, n or K is out of range, or all inputs are asked for and too many to number.

    Examples
    --------
    >>> choose_inputs(1, 4, 2, exhaustive=False, samples=None, seed=0).description
    'all 2^4 = 16 inputs'
    """
    check_sizes(d, levels)
    count = cell_count(d, n, levels)
    if flag("exhaustive", exhaustive) and count.bit_length() > INT64_BITS:
        raise ProofError(f"all {levels}^{d * n} inputs are too many to number: leave --exhaustive out")
    if exhaustive or (samples is None and count <= EXHAUSTIVE_CELLS):
        return AllInputs(d, n, levels)
    fitting = min(DEFAULT_SAMPLES, max(1, DEFAULT_ENTRIES // (d * n)))
    return AdversarialInputs(d, n, levels, samples or fitting, seed)


def prove(
    pattern: SparsityPattern,
    *,
    d: int,
    delta: str | float | Fraction,
    target: Target | str | Callable[[Any], Any] = "identity",
    construction: str = "paper",
    exhaustive: bool = False,
    samples: int | None = None,
    seed: int = 0,
    backend: Backend = NUMPY,
    jobs: int | None = None,
    dask: str | None = None,
    checkpoint: Path | None = None,
    progress: Callable[[str, float | None], None] | None = None,
    **constants: Any,
) -> Proof:
    """Run the proof on a pattern: `choose_inputs` and `run_proof` in one call.

    Parameters
    ----------
    d, delta
        Embedding size and grid step 1/K.
    target
        A named target function, ``module:callable``, or a callable on arrays (..., d, n).
    construction, **constants
        As for `constructions.network.choose_mapping`.
    exhaustive, samples, seed
        As for `choose_inputs`.
    backend
        Where the mapping runs.
    jobs, dask, checkpoint
        As for `verify.exhaustive.run.sweep`. If one is given, or a backend other than NumPy, an exhaustive run
        streams the ids however few the inputs are.

    Raises
    ------
    ProofError, TargetError
        As `run_proof`, or if delta is not 1/K, or one of `jobs`, `dask`, `checkpoint` comes without `exhaustive`.

    Examples
    --------
    >>> from theory.patterns import SparsityPattern
    >>> prove(SparsityPattern.from_lists([[0, 1], [0, 1]]), d=1, delta="1/3", target="mean").holds
    True
    """
    inputs = choose_inputs(d, pattern.n, grid_levels(delta), exhaustive=exhaustive, samples=samples, seed=seed)
    plan = None
    if (jobs, dask, checkpoint) != (None, None, None):
        if not exhaustive:
            raise ProofError("--jobs, --dask and --checkpoint are for a run over all inputs: add --exhaustive")
        plan = SweepPlan(1 if jobs is None else jobs, dask, checkpoint)
    elif exhaustive and backend != NUMPY:
        plan = SweepPlan()
    return run_proof(
        pattern,
        inputs,
        as_target(target),
        construction,
        backend=backend,
        plan=plan,
        seed=seed,
        progress=progress,
        **constants,
    )


def run_proof(
    pattern: SparsityPattern,
    inputs: InputSet,
    target: Target,
    construction: str = "paper",
    *,
    backend: Backend = NUMPY,
    plan: SweepPlan | None = None,
    seed: int = 0,
    progress: Callable[[str, float | None], None] | None = None,
    **constants: Any,
) -> Proof:
    """Build the construction, run it on the inputs and check every statement that speaks of it.

    Parameters
    ----------
    inputs
        Grids for d, n and K = 1/delta.
    target
        f. On a pattern that is not strongly connected its output k has to depend on reach(k) only; that is checked
        and reported as a statement.
    construction, **constants
        As for `constructions.network.choose_mapping`.
    backend
        Where the mapping runs.
    plan
        Stream the ids of all inputs so; where not given they are streamed, by this process, if there are more than
        `SWEPT`.
    seed
        Of the samples on which the other statements are checked then, and of those run block by block.

    Raises
    ------
    ProofError
        If Theorem 1 does not apply and the construction needs it.
    TargetError
        If the target is no function on arrays (..., d, n).

    Examples
    --------
    >>> from constructions.targets import as_target
    >>> from theory.patterns import SparsityPattern
    >>> ring = SparsityPattern.from_lists([[0, 2], [0, 1], [1, 2]])
    >>> proof = run_proof(ring, AllInputs(1, 3, 2), as_target("sort"), "relay")
    >>> proof.holds, proof.exact_on_cells, proof.ids.gap.across
    (True, True, 1)
    """
    say = progress or (lambda _step, _share: None)
    say("building the contextual mapping", None)
    mapping = choose_mapping(pattern, inputs.d, inputs.K, construction, **constants).on(backend)
    inputs = fitted(inputs, mapping.bound.bit_length())
    checks: list[LemmaCheck] = []
    network: Network | None = None
    if construction == "relay":
        checks.append(target_within_reach(target, pattern, inputs.d, inputs.K))
    if cell_count(inputs.d, pattern.n, inputs.K) <= MOST_CELLS and all(c.answer is Answer.HOLDS for c in checks):
        say("building the value mapping", None)
        network = compose(mapping, target)
    sample = inputs
    if isinstance(inputs, AllInputs) and inputs.count > SWEPT:
        sample, plan = AdversarialInputs(inputs.d, inputs.n, inputs.K, DEFAULT_SAMPLES, seed), plan or SweepPlan()
    say("comparing the ids", None)
    if plan is None:
        decision = Decision(check_ids(mapping, inputs), inputs, None)
    else:
        decision = decide_ids(mapping, inputs, sample, plan, progress=progress)
    subject = mapping if network is None else network
    checks.extend(
        check_lemmas(
            subject,
            sample,
            found=decision.ids,
            compared=decision.inputs,
            say=lambda name: say(f"checking the statements: {name}", None),
        )
    )
    say("running the blocks one after another", None)
    literal = [run_quantization(mapping, inputs, seed), run_mapping(mapping, inputs, seed)]
    literal += [run_values(network, inputs, seed)] if network is not None else []
    checks.extend(run.check for run in literal)
    return Proof(mapping, network, inputs, decision.ids, tuple(checks), sample, decision.sweep, tuple(literal))
