"""sparseuap: a constructive universal-approximation proof simulator for sparse Transformers.

The public names are loaded on first use, so that ``import sparseuap`` costs nothing. The stub beside this file
lists each once, with its home: type checkers read it, and so does this file.

Examples
--------
>>> import sparseuap
>>> verdict = sparseuap.assess("star:n=16,w=1")
>>> verdict.universal, verdict.hops.s
(<Answer.HOLDS: 'holds'>, 2)
"""

from importlib import import_module

with open(f"{__file__.removesuffix('.py')}.pyi", encoding="utf-8") as _stub:
    _HOMES = {words[3]: words[1] for words in map(str.split, _stub) if words and words[0] == "from"}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        value: object = version("sparseuap")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'sparseuap' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
