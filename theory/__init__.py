"""What the theorems are about: patterns, assumptions, bounds; no network is built here."""
