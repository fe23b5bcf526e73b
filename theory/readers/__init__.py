"""Sparsity patterns from outside: files, families by name, Python callables. Nothing is ever unpickled."""
