"""The house's five packages, claimed before anything else is imported: `import sparseuap.own_packages` does it.

A file theory.py or verify.py of the user's own, in a folder that Python searches first (the working directory for
``python -m sparseuap`` and for ``module:`` sources, or PYTHONPATH), would otherwise stand in for the package.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

__all__ = ["NAMES", "claim"]

NAMES = ("theory", "constructions", "verify", "figures")
HOME = Path(__file__).resolve().parent.parent


def claim() -> None:
    """Import the packages that lie beside this one, whatever else has their names."""
    for name in NAMES:
        place = HOME / name / "__init__.py"
        held = getattr(sys.modules.get(name), "__file__", None)
        if held is not None and Path(held).resolve() == place:
            continue
        spec = spec_from_file_location(name, place, submodule_search_locations=[str(place.parent)])
        if spec is None or spec.loader is None:
            raise ImportError(f"the installation of sparseuap is broken: there is no {place}")
        sys.modules[name] = package = module_from_spec(spec)
        spec.loader.exec_module(package)


claim()
