"""Studies that take minutes: matches, soaks, ablations; see ``benchmarks/__init__.py``."""
