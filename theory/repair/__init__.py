"""The smallest repair: which connections to add so that a theorem applies to a pattern."""

from theory.repair.causal import CausalPlan, causal_plan
from theory.repair.decide import THEOREMS, Theorem, repair
from theory.repair.orders import OrderPlan, best_order
from theory.repair.result import Repair
from theory.repair.strong import strong_additions

__all__ = [
    "THEOREMS",
    "CausalPlan",
    "OrderPlan",
    "Repair",
    "Theorem",
    "best_order",
    "causal_plan",
    "repair",
    "strong_additions",
]
