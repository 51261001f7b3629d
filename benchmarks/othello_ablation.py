"""What each part of Othello's solver is worth: nodes and time without it.

    python benchmarks/othello_ablation.py               # FFO 40 and 41
    python benchmarks/othello_ablation.py 40 41 42 44

Each line is a process of its own, in which a part is left out before the kernels are compiled
(so each takes some twenty seconds more than it says).  Every answer is seen to be right.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DATA = Path(__file__).parent / "data" / "othello_ffo.txt"

NEVER = 1000

PARTS = {
    "all": {},
    "no scouting": {"endings.SCOUTED": NEVER},
    "no patterns in the order": {"endings.ESTIMATED": NEVER, "endings.SCOUTED": NEVER},
    "no stable discs": {"endings.STABLE": NEVER},
    "no odd regions": {"endings.QUADRANTS": [0]},
    "no code for the last squares": {"endings.LAST": 0},
    "no children looked up": {"ENHANCED_PLIES": NEVER},
    "no table": {"TABLE_PLIES": NEVER, "ENHANCED_PLIES": NEVER, "endings.SCOUTED": NEVER},
}


def positions(numbers: list[int]) -> list[tuple[str, int]]:
    """The boards of the suite with these numbers, and their values."""
    fields = [line.split(";") for line in DATA.read_text().splitlines() if line[0] != "#"]
    return [(board.strip(), int(value)) for board, n, value, _ in fields if int(n) in numbers]


def measure(part: str, numbers: list[int]) -> tuple[int, float]:
    """Nodes and seconds of one part's absence, in this process."""
    import games.othello
    import games.othello.endings
    from engine import Bits, Table, load_game, solve

    for name, value in PARTS[part].items():
        module = games.othello.endings if name.startswith("endings.") else games.othello
        value = tuple(map(Bits, value)) if isinstance(value, list) else value
        setattr(module, name.removeprefix("endings."), value)
    game, table = load_game("othello"), Table(256)
    solve(game.parse(positions([1])[0][0]), table=table)
    solve(game.parse(positions([40])[0][0]), table=table, nodes=1000)
    nodes, seconds = 0, 0.0
    for board, value in positions(numbers):
        table.forget()
        started = time.process_time()
        result = solve(game.parse(board), table=table)
        seconds += time.process_time() - started
        nodes += result.nodes
        if result.value != value:
            sys.exit(f"{board} is {value}, not {result.value}, with {part}")
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
