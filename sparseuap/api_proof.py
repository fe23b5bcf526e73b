"""The door to the proof: `sparseuap prove` and `sparseuap error`, for whatever a caller has for a pattern."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from constructions.backends import Backend, choose_backend
from constructions.numbers import ProofError
from constructions.targets import as_target
from sparseuap.patterns import PatternLike, Reading, as_pattern
from theory.checks import real, whole
from theory.probability_maps import probability_map
from verify import error_study, proof
from verify.lp_box import UNIT_BOX

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from constructions.targets import Target
    from theory.probability_maps import ProbabilityMap

    Say = Callable[[str, float | None], None]

__all__ = ["measure_error", "prove", "temperatures_of"]


def prove(
    pattern: PatternLike,
    *,
    d: int,
    delta: str | float | Fraction,
    target: Target | str | Callable[[Any], Any] = "identity",
    construction: str = "paper",
    exhaustive: bool = False,
    samples: int | None = None,
    seed: int = 0,
    backend: Backend | Literal["numpy", "torch"] = "numpy",
    device: Literal["cpu", "cuda"] = "cpu",
    jobs: int | None = None,
    dask: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    progress: Say | None = None,
    **constants_and_reading: Any,
) -> proof.Proof:
    """Build the construction on a pattern, run it exactly and check every lemma: `verify.proof.prove`.

    Parameters
    ----------
    target
        A name, ``module:callable``, or a function of float64 arrays (..., d, n) that keeps their shape.
    samples, seed
        Run that many adversarial samples, drawn with this seed.
    backend, device
        Where the mapping runs, as for `constructions.backends.choose_backend`.
    **constants_and_reading
        Constants of `constructions.network.choose_mapping`, and the keywords of `sparseuap.patterns.as_pattern`.

    Raises
    ------
    PatternError, ProofError, TargetError
        As there, or as `as_pattern`.

    Examples
    --------
    >>> prove("ring:n=4", d=1, delta="1/2", target=lambda x: x[..., ::-1]).exact_on_cells
    True
    """
    given = dict(constants_and_reading)
    reading = {name: given.pop(name) for name in Reading.__annotations__ if name in given}
    return proof.prove(
        as_pattern(pattern, **reading),
        d=d,
        delta=delta,
        target=target,
        construction=construction,
        exhaustive=exhaustive,
        samples=None if samples is None else whole("samples", samples, 1),
        seed=whole("seed", seed),
        backend=_backend(backend, device),
        jobs=jobs,
        dask=dask,
        checkpoint=None if checkpoint is None else Path(checkpoint),
        progress=progress,
        **given,
    )


def measure_error(
    pattern: PatternLike,
    *,
    d: int,
    delta: str | float | Fraction,
    target: Target | str | Callable[[Any], Any] = "identity",
    rho: ProbabilityMap | str | Callable[[Any], Any] = "softmax",
    construction: str = "paper",
    t: float | Sequence[float] | None = None,
    alpha: float | None = None,
    p: float = 2.0,
    box: tuple[float, float] = UNIT_BOX,
    seed: int = 0,
    backend: Backend | Literal["numpy", "torch"] = "numpy",
    device: Literal["cpu", "cuda"] = "cpu",
    progress: Say | None = None,
    **reading: Unpack[Reading],
) -> error_study.ErrorStudy:
    """Put rho[t .] for hardmax and measure d_p(f, g) over t beside its bound: `verify.error_study.study_error`.

    Parameters
    ----------
    target
        f: a name, ``module:callable``, or a function of float64 arrays (..., d, n) that keeps their shape.
    rho
        The probability map: a name, ``module:callable``, or a function from m float64 scores to m weights.
    t
        One temperature, or several; None takes some around the measured and the guaranteed one.
    box
        The ends a, b: the domain is [a, b)^{d x n}.

    Raises
    ------
    PatternError, ProofError, TargetError
        As there, or as `as_pattern`.

    Examples
    --------
    >>> study = measure_error("star:n=3,w=1", d=1, delta="1/2", construction="relay", rho="sparsemax", t=64)
    >>> study.rows[0].errors.good.value
    0.0
    """
    return error_study.study_error(
        as_pattern(pattern, **reading),
        d=d,
        levels=proof.grid_levels(delta),
        target=as_target(target),
        rho=probability_map(rho),
        construction=construction,
        t=temperatures_of(t),
        alpha=None if alpha is None else real("alpha", alpha),
        p=real("p", p),
        box=box,
        seed=whole("seed", seed),
        backend=_backend(backend, device),
        progress=progress,
    )


def temperatures_of(t: float | Sequence[float] | None) -> list[float] | None:
    """Return one or several temperatures as a list; None stays None.

    Examples
    --------
    >>> temperatures_of(4), temperatures_of((1, 2.5))
    ([4.0], [1.0, 2.5])
    """
    if t is None:
        return None
    several = [t] if isinstance(t, (str, bytes)) or not hasattr(t, "__iter__") else list(t)
    if not several:
        raise ProofError("t is None, a positive number or several, got none")
    return [real("t", one) for one in several]


def _backend(backend: Backend | str, device: str) -> Backend:
    return backend if isinstance(backend, Backend) else choose_backend(backend, device)
