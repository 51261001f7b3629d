"""The benchmarks: one pytest-benchmark suite, and studies that take longer.

    python -m pytest benchmarks --benchmark-disable     # the quick form: answers and node counts
    python -m pytest benchmarks                         # and CPU times
    python -m pytest benchmarks -m ""                   # and those that take minutes
    python -m pytest benchmarks -k "chess and perft"    # selected by name

Every benchmark checks its answer, and its nodes against ``baseline.json``, before anything is
timed; ``--update-baseline`` writes that file.  Node counts are the same on every machine.  Times
are not, so times to compare with are kept outside the repository:

    python -m pytest benchmarks --benchmark-save=before
    python -m pytest benchmarks --benchmark-compare=0001 --benchmark-compare-fail=min:5%

Other programs are timed in the same group if they are installed:
``pip install bitbully rust_reversi easyAI open_spiel``; ``--uci stockfish`` names a chess program.
``signature.py`` prints node counts that move only if a search changes.  Run a study as
``python -m benchmarks.studies.soak``.
"""
