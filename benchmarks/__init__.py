"""Measurements, as ratios from one run on one machine; never part of the tests."""
