"""Builds the proof's layers and runs them."""
