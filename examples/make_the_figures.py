"""Draw every figure of the proof into a folder: SVG with text as text, the same bytes on every run."""

import sys

from sparseuap.cli import main

folder = sys.argv[1] if len(sys.argv) > 1 else "out/figures"
main(["figures", "--out", folder, "--format", "svg"])
