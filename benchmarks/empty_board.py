"""Solve the empty 7x6 board from nothing: one thread, no book; strongly, then weakly.

    python benchmarks/empty_board.py [--table-mb 2048]

Prints the CPU seconds and the nodes of each, and ends with an error if the value is not
the published one (the first player wins with his last stone, in the centre).
"""

from __future__ import annotations

import argparse
import sys
import time

from engine import Table, load_game, solve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table-mb", type=int, default=2048)
    table = Table(parser.parse_args().table_mb)
    game = load_game("connect4")
    solve(game.parse("444444"), table=table, nodes=1000)  # compile before the clock starts
    for weak in (False, True):
        table.forget()
        started = time.process_time()
        result = solve(game.start(), table=table, weak=weak)
        spent = time.process_time() - started
        if result.value != 1 or result.best_move != 3:
            sys.exit(f"wrong: {result}")
        kind = "weakly" if weak else "strongly"
        print(f"{kind:9} {spent:6.1f} s of CPU time, {result.nodes:,} nodes, {result.table}")


if __name__ == "__main__":
    main()
