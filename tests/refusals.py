"""What a source that is refused has to say."""

from __future__ import annotations

import pytest

from theory.patterns import PatternError
from theory.readers.source import read_heads


def refused(source: str, *parts: str) -> None:
    """Check that reading is refused in one line with all these parts."""
    with pytest.raises(PatternError) as caught:
        read_heads(source)
    for part in parts:
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)
