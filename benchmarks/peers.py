"""The same trees in other Python packages: nodes that agree, and CPU time.

    pip install easyAI open_spiel
    python benchmarks/peers.py             # Connect Four 6 and 8 plies deep, tic-tac-toe
    python benchmarks/peers.py --depth 10  # takes a minute and more

Each program counts first; one that visits other positions, or finds another move or score,
ends the run with an error.  Then all are timed in turn.  See engine/lab/peers.py.
"""

from __future__ import annotations

import argparse
import sys

from engine.lab.peers import peers
from engine.lab.report import print_study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depth", type=int, nargs="+", default=[6, 8])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    study = peers(depths=options.depth, runs=options.runs)
    print_study(study)
    wrong = [row["program"] for row in study.rows if row.get("agrees") == "NO"]
    if wrong:
        sys.exit(f"not the same work: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
