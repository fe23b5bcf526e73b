"""Measures and certifies what the floors below claim."""
