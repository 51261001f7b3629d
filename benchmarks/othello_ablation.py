"""What each part of Othello's solver is worth: nodes and time without it.

    python benchmarks/othello_ablation.py               # FFO 40 and 41
    python benchmarks/othello_ablation.py 40 41 42 44

Each line is a process of its own, in which a part is left out before the kernels are compiled
(so each takes some twenty seconds more than it says).  Every answer is seen to be right.
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

from othello import GAME, suite

from engine import Bits, Table, solve
from games import othello as game

NEVER = 1000

PARTS = {
    "all": {},
    "no scouting": {"endings.SCOUTED": NEVER},
    "no patterns in the order": {"endings.ESTIMATED": NEVER, "endings.SCOUTED": NEVER},
    "no stable discs": {"endings.STABLE": NEVER},
    "no odd regions": {"endings.QUADRANTS": [0]},
    "no code for the last squares": {"endings.LAST": 0},
    "no children looked up": {"PROFILE": game.PROFILE | {"enhanced_plies": NEVER}},
    "no table": {
        "PROFILE": game.PROFILE | {"table_plies": NEVER, "enhanced_plies": NEVER},
        "endings.SCOUTED": NEVER,
    },
}


def measure(part: str, numbers: list[int]) -> tuple[int, float]:
    """Nodes and seconds of one part's absence, in this process."""
    for name, value in PARTS[part].items():
        place, _, name = name.rpartition(".")
        module = importlib.import_module(f"games.othello.{place}".rstrip("."))
        setattr(module, name, tuple(map(Bits, value)) if isinstance(value, list) else value)
    table = Table(256)
    for number, limit in ((1, None), (40, 1000)):  # compiles
        for _, text, _, _ in suite(range(number, number + 1)):
            solve(GAME.parse(text), table=table, nodes=limit)
    nodes, seconds = 0, 0.0
    for number, text, value, _ in suite(range(1, 50)):
        if number in numbers:
            table.forget()
            started = time.process_time()
            result = solve(GAME.parse(text), table=table)
            seconds += time.process_time() - started
            nodes += result.nodes
            if result.value != value:
                sys.exit(f"FFO {number} is {value}, not {result.value}, with {part}")
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
        with tempfile.TemporaryDirectory() as cache:  # the usual kernels have all parts
            command = [sys.executable, __file__, *map(str, options.numbers), "--part", part]
            environment = {**os.environ, "CUTNODE_CACHE": cache}
            said = subprocess.run(
                command, env=environment, check=True, stdout=subprocess.PIPE, text=True
            )
        nodes, seconds = json.loads(said.stdout)
        print(f"{part:30}{nodes / 1e6:15.2f}{seconds:12.2f}", flush=True)


if __name__ == "__main__":
    main()
