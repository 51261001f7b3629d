"""The nodes and time of Othello's solver without each of its parts.

    python -m benchmarks.studies.othello_ablation               # FFO 40 and 41
    python -m benchmarks.studies.othello_ablation 40 41 42 44

Each line is a separate process, which leaves out a part before it compiles the kernels (so it takes
some twenty seconds longer than it reports).  All values are checked.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time

from benchmarks.positions import ffo_endgames
from cutnode import Bits, Table, solve
from cutnode.games import othello as game

NEVER = 1000

PARTS = {
    "all": {},
    "no scouting": {"endings.SCOUTED": NEVER},
    "no patterns in the order": {"endings.ESTIMATED": NEVER, "endings.SCOUTED": NEVER},
    "no stable discs": {"endings.STABLE": NEVER},
    "no odd regions": {"endings.QUADRANTS": [0]},
    "no code for the last squares": {"endings.LAST": 0},
    "no children looked up": {"PROFILE": game.PROFILE | {"solver.enhanced_plies": NEVER}},
    "no table": {
        "PROFILE": game.PROFILE | {"solver.table_plies": NEVER, "solver.enhanced_plies": NEVER},
        "endings.SCOUTED": NEVER,
    },
}


def measure(part: str, numbers: list[int]) -> tuple[int, float]:
    """Return the nodes and seconds without one part, in this process."""
    for name, value in PARTS[part].items():
        place, _, name = name.rpartition(".")
        module = importlib.import_module(f"cutnode.games.othello.{place}".rstrip("."))
        setattr(module, name, tuple(map(Bits, value)) if isinstance(value, list) else value)
    table = Table(256)
    for endgame, limit in zip(ffo_endgames((1, 40)), (None, 1000), strict=True):  # compiles
        solve(endgame.position, table=table, nodes=limit)
    nodes, seconds = 0, 0.0
    for endgame in ffo_endgames(tuple(numbers)):
        table.forget()
        started = time.process_time()
        result = solve(endgame.position, table=table)
        seconds += time.process_time() - started
        nodes += result.nodes
        if result.value != endgame.value:
            sys.exit(f"FFO {endgame.number} is {endgame.value}, not {result.value}, with {part}")
    return nodes, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("numbers", nargs="*", type=int, default=[40, 41], metavar="NUMBER")
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        print(json.dumps(measure(options.part, options.numbers)))
        return
    print(f"{'FFO ' + ' '.join(map(str, options.numbers)):30}    million nodes   seconds")
    for part in PARTS:
        with tempfile.TemporaryDirectory() as cache:  # the default kernels have all parts
            module = [sys.executable, "-m", "benchmarks.studies.othello_ablation"]
            command = [*module, *map(str, options.numbers), "--part", part]
            environment = {**os.environ, "CUTNODE_CACHE": cache}
            said = subprocess.run(
                command, env=environment, check=True, stdout=subprocess.PIPE, text=True
            )
        nodes, seconds = json.loads(said.stdout)
        print(f"{part:30}{nodes / 1e6:15.2f}{seconds:12.2f}", flush=True)


if __name__ == "__main__":
    main()
