"""The public Connect Four test sets: nodes and time per position, beside a peer.

    python benchmarks/sets.py                  # cutnode alone
    python benchmarks/sets.py --peer bitbully  # and BitBully in turn (pip install bitbully)

Every position starts from an empty table, without an opening book, on one core.  The two
solve each set in turn, and the ratio is that of the medians of their CPU times.  Clearing
the peer's table (32 ms) is not counted.  An answer that differs from the published one
ends the run.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from positions import SETS, connect4_set

from engine import Table, solve_many

Run = Callable[[Sequence[str], Sequence[Any]], tuple[list[int], float, float]]
"""Solves a set; returns the values, the nodes per position, and the CPU seconds spent."""


def cutnode_solver() -> Run:
    table = Table(256)

    def run(texts: Sequence[str], positions: Sequence[Any]) -> tuple[list[int], float, float]:
        started = time.process_time()
        batch = solve_many(positions, table=table, cold=True)
        spent = time.process_time() - started
        return batch.values.tolist(), float(batch.nodes.mean()), spent

    return run


def bitbully_solver() -> Run:
    from bitbully import BitBully, Board

    agent = BitBully(opening_book=None)

    def run(texts: Sequence[str], positions: Sequence[Any]) -> tuple[list[int], float, float]:
        boards = [Board([int(column) - 1 for column in text]) for text in texts]
        agent.reset_node_counter()
        values, spent = [], 0.0
        for board in boards:
            agent.reset_transposition_table()
            started = time.process_time()
            values.append(agent.mtdf(board))
            spent += time.process_time() - started
        return values, agent.get_node_counter() / len(boards), spent

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peer", choices=["bitbully"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--every", type=int, default=1, help="take every so many positions")
    options = parser.parse_args()
    solvers = {"cutnode": cutnode_solver()}
    if options.peer:
        solvers["bitbully"] = bitbully_solver()
    print(f"{'set':8}{'solver':10}{'nodes':>12}{'CPU us':>12}{'min':>12}{'max':>12}{'ratio':>8}")
    for name in SETS:
        texts, positions, values = connect4_set(name, options.every)
        times: dict[str, list[float]] = {solver: [] for solver in solvers}
        nodes = {}
        for round_ in range(options.rounds + 1):
            for solver, run in solvers.items():
                found, nodes[solver], spent = run(texts, positions)
                if round_ > 0:
                    times[solver].append(spent / len(texts) * 1e6)
                if found != values:
                    sys.exit(f"{solver} is wrong about a position of {name}")
        last = statistics.median(list(times.values())[-1])
        for solver, rounds in times.items():
            middle = statistics.median(rounds)
            print(
                f"{name:8}{solver:10}{nodes[solver]:12,.1f}{middle:12,.2f}"
                f"{min(rounds):12,.2f}{max(rounds):12,.2f}{middle / last:8.3f}"
            )


if __name__ == "__main__":
    main()
