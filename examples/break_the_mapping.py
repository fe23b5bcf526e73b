"""Change a constant of the proof and watch statement 7.2 break: c of the all-max-shifts, from the paper's down."""

from constructions.contextual_mapping import build_mapping
from theory.families import strided
from verify.contextual_mapping import check_contextual_mapping
from verify.inputs import AllInputs

pattern, inputs = strided(5, 3), AllInputs(1, 5, 2)
for c in (None, 14, 13, 3):
    mapping = build_mapping(pattern, 1, 2, c=c)
    found = check_contextual_mapping(mapping, inputs)
    within, across = found.distinct_within.value, found.distinct_across.value
    print(f"c = {'as in the paper' if c is None else c}: 7.1 {within}, 7.2 {across}")
    if found.collision is not None:
        print(f"  {found.collision.why}")
