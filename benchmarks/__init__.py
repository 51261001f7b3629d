"""The benchmarks: one pytest-benchmark suite, and studies that take longer.

    python -m pytest benchmarks --benchmark-disable     # the quick form: answers and node counts
    python -m pytest benchmarks                         # and CPU times
    python -m pytest benchmarks -m ""                   # and what takes minutes
    python -m pytest benchmarks -k "chess and perft"    # what the names say

Every benchmark checks its answer, and its nodes against ``baseline.json``, before anything is
timed; ``--update-baseline`` writes that file.  Node counts are the same on every machine.  Times
are not, so those to compare with are kept outside the repository:

    python -m pytest benchmarks --benchmark-save=before
    python -m pytest benchmarks --benchmark-compare=0001 --benchmark-compare-fail=min:5%

Other programs are timed beside the engine, in the same group, where they are installed:
``pip install bitbully rust_reversi easyAI open_spiel``, and ``--uci stockfish`` names a chess
program.  ``signature.py`` prints the node counts that a change of the search moves; the studies
are run as ``python -m benchmarks.studies.soak``.
"""
