"""The named sparsity patterns (mathematics of the paper, §3.2 and §5, and of BigBird), one function a family.

Formulas count tokens from 1 as the papers do; code and patterns count from 0. `parse_family` builds from text
such as ``star:n=16,w=1``; `FAMILIES` is the table of what it accepts.
"""

from theory.families.bigbird import bigbird, longformer
from theory.families.clustered import (
    documents,
    equal_documents,
    reformer,
    routing,
    seeded_reformer,
    seeded_routing,
)
from theory.families.draws import random
from theory.families.factorised import fixed, strided
from theory.families.heads import HEADS, arrange_heads
from theory.families.local import causal, causal_part, dense, ring, window
from theory.families.registry import FAMILIES, Family, Parameter
from theory.families.relay import hub, star
from theory.families.spec import connection_formula, parse_family

__all__ = [
    "FAMILIES",
    "HEADS",
    "Family",
    "Parameter",
    "arrange_heads",
    "bigbird",
    "causal",
    "causal_part",
    "connection_formula",
    "dense",
    "documents",
    "equal_documents",
    "fixed",
    "hub",
    "longformer",
    "parse_family",
    "random",
    "reformer",
    "ring",
    "routing",
    "seeded_reformer",
    "seeded_routing",
    "star",
    "strided",
    "window",
]
