"""Modules whose doctests need an optional package are collected only where it is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["constructions/torch_module.py"]
