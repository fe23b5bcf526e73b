"""`python -m sparseuap`: the command line."""

from __future__ import annotations

from sparseuap.cli import main

if __name__ == "__main__":
    main()
