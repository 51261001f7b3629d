"""The benchmarks: a pytest-benchmark suite, and studies that take longer.

    python -m pytest benchmarks --benchmark-disable     # the quick form: answers and node counts
    python -m pytest benchmarks                         # with CPU times
    python -m pytest benchmarks -m ""                   # with benchmarks that take minutes
    python -m pytest benchmarks -k "chess and perft"    # selected by name

Before timing, every benchmark checks its answer, and compares its nodes with ``baseline.json``,
which ``--update-baseline`` writes.  Node counts are the same on every machine; times are not, so
reference times are kept outside the repository:

    python -m pytest benchmarks --benchmark-save=before
    python -m pytest benchmarks --benchmark-compare=0001 --benchmark-compare-fail=min:5%

Other programs, if installed, are timed in the same group as the engine:
``pip install bitbully rust_reversi easyAI open_spiel``; ``--uci stockfish`` names a chess program.
``signature.py`` prints the node counts that change with the search.  Run a study as
``python -m benchmarks.studies.soak``.
"""

import os

# Benchmarks time compiled searches, and no first answers in plain Python.
os.environ.setdefault("CUTNODE_TIERS", "0")
