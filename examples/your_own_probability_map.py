"""Put probability maps of your own to Assumption 2.

Is there a t from which the leader gets nearly everything?
"""

import numpy as np

from theory.assumption_2 import check_assumption_2


def softplus_squared(scores):
    """Normalise softplus(v)^2: grows with v, but only quadratically."""
    weights = np.logaddexp(0, scores) ** 2
    return weights / weights.sum()


def exp_cubed(scores):
    """Softmax of 3 v."""
    weights = np.exp(3 * (scores - scores.max()))
    return weights / weights.sum()


for rho in (softplus_squared, exp_cubed):
    found = check_assumption_2(rho, zeta=0.5, eta=0.01, m=8)
    print(f"{rho.__name__}: {found.answer.value}: {found.why}")
