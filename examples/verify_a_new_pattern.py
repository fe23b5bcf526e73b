"""Is my new pattern universal? A dilated window that forgets every other token, and the change that repairs it."""

import sparseuap


def dilated(query, key):
    """Attend to every second token of a window, which never joins the even and the odd tokens."""
    return (abs(query - key) <= 4) & ((query - key) % 2 == 0)


def mended(query, key):
    """Add the neighbour before."""
    return dilated(query, key) | (query - key == 1)


for rule in (dilated, mended):
    pattern = sparseuap.from_callable(rule, 24)
    verdict = sparseuap.assess(pattern)
    print(f"{rule.__name__}: {pattern}")
    print(f"  universal: {verdict.universal.value}; s: {verdict.hops.s}; 1.2: {verdict.path.answer.value}")
    if verdict.advice:
        print(f"  {verdict.advice}")
    evidence = sparseuap.certificate(verdict, rule.__name__)
    print(f"  certificate valid: {sparseuap.recheck(evidence).valid}")
