"""sparseuap: a constructive universal-approximation proof simulator for sparse Transformers.

The public names are loaded on first use, so that ``import sparseuap`` costs nothing.

Examples
--------
>>> import sparseuap
>>> verdict = sparseuap.assess(sparseuap.read_source("star:n=16,w=1"))
>>> verdict.universal, verdict.hops.s
(<Answer.HOLDS: 'holds'>, 2)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from theory.conversions import (
        from_additive_mask,
        from_boolean_mask,
        from_callable,
        from_networkx,
        from_scipy,
        to_additive_mask,
        to_boolean_mask,
        to_callable,
        to_networkx,
        to_scipy,
    )
    from theory.families import parse_family
    from theory.hamiltonian import hamiltonian_path
    from theory.hops import growth, hop_count
    from theory.measures import measure
    from theory.patterns import Connections, PatternError, SparsityPattern
    from theory.readers.source import read_source
    from theory.repair import repair
    from theory.theorems import FunctionClass
    from theory.verdicts import Answer
    from verify.pattern_certificate import certificate
    from verify.pattern_verdict import PatternVerdict, assess
    from verify.proof import prove
    from verify.recheck import recheck

__all__ = [
    "Answer",
    "Connections",
    "FunctionClass",
    "PatternError",
    "PatternVerdict",
    "SparsityPattern",
    "assess",
    "certificate",
    "from_additive_mask",
    "from_boolean_mask",
    "from_callable",
    "from_networkx",
    "from_scipy",
    "growth",
    "hamiltonian_path",
    "hop_count",
    "measure",
    "parse_family",
    "prove",
    "read_source",
    "recheck",
    "repair",
    "to_additive_mask",
    "to_boolean_mask",
    "to_callable",
    "to_networkx",
    "to_scipy",
]

_HOMES = {
    "theory.conversions": [name for name in __all__ if name.startswith(("from_", "to_"))],
    "theory.families": ["parse_family"],
    "theory.hamiltonian": ["hamiltonian_path"],
    "theory.hops": ["growth", "hop_count"],
    "theory.measures": ["measure"],
    "theory.patterns": ["Connections", "PatternError", "SparsityPattern"],
    "theory.readers.source": ["read_source"],
    "theory.repair": ["repair"],
    "theory.theorems": ["FunctionClass"],
    "theory.verdicts": ["Answer"],
    "verify.pattern_certificate": ["certificate"],
    "verify.pattern_verdict": ["PatternVerdict", "assess"],
    "verify.proof": ["prove"],
    "verify.recheck": ["recheck"],
}


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'sparseuap' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
