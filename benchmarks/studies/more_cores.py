"""Predict the speed-up of a search on more cores, by a model fitted to runs on this machine.

    python -m benchmarks.studies.more_cores [--rounds 5] [--threads 16]

Threads that share a search visit more nodes than one thread, and a node takes longer because they
share caches and memory.  The model lets both grow as powers of the number of threads: *n* threads
visit ``n ** a`` times the nodes, and a node takes ``n ** b`` times the CPU time.  On *n* cores the
search is then ``n ** (1 - a - b)`` times as fast.

``a`` is fitted to runs with up to ``--threads`` threads, which take turns where they are more than
the cores.  ``b`` is measured with two threads, so the machine should be quiet.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.positions import ffo_endgames, lines
from benchmarks.studies.threads import OPENINGS, PROOFS
from cutnode import Engine, Table, load_game, solve
from cutnode.search.monte_carlo import MonteCarlo

Run = Callable[[int, int], int]
"""A function of a number of threads and a seed: it searches, and returns the nodes visited."""

PREDICTED = (2, 4, 8, 16)
"""The numbers of cores to predict the speed-up for."""


def proofs(positions: Mapping[Any, int], **options: Any) -> Run:
    """Return the run that proves the values of positions."""
    table = Table(256)

    def run(threads: int, seed: int) -> int:
        nodes = 0
        for position, value in positions.items():
            table.forget()
            result = solve(position, table=table, threads=threads, **options)
            if result.value != value:
                sys.exit(f"the value is {value}, not {result.value}: {position}")
            nodes += result.nodes
        return nodes

    return run


def searches(game: str, texts: Sequence[str], depth: int) -> Run:
    """Return the run that searches positions to a depth."""
    engines: dict[int, Engine] = {}

    def run(threads: int, seed: int) -> int:
        if threads not in engines:
            engines[threads] = Engine(game, table=64, threads=threads)
        engine = engines[threads]
        nodes = 0
        for text in texts:
            engine.new_game()
            nodes += engine.search(text, depth=depth).nodes
        return nodes

    return run


def playouts(game: str, count: int) -> Run:
    """Return the run that makes playouts from a game's start: their number is given."""
    start = load_game(game).start()
    trees: dict[int, MonteCarlo] = {}

    def run(threads: int, seed: int) -> int:
        if threads not in trees:
            trees[threads] = MonteCarlo(game, memory=1 << 29, threads=threads)
        tree = trees[threads]
        tree.clear()
        return tree.search(start, playouts=count, seed=seed).playouts

    return run


def runs() -> dict[str, Run]:
    """Return the runs by what the page calls them."""
    connect4 = load_game("connect4")
    openings = {connect4.parse(text): OPENINGS[text] for text in ("44", "45", "24")}
    endgames = {each.position: each.value for each in ffo_endgames(range(40, 43))}
    names = ("mnk:5x5x4", "connect4:6x6", "breakthrough:4x6", "domineering:9x7")
    boards = {load_game(name).start(): PROOFS[name] for name in names}
    return {
        "exact, Connect Four": proofs(openings),
        "exact, Othello": proofs(endgames),
        "df-pn, four games": proofs(boards, engine="pn", weak=True),
        "selective, chess": searches("chess", lines("chess_openings.epd")[:24], 15),
        "playouts, Connect Four": playouts("connect4", 500_000),
    }


def exponent(ratios: Mapping[int, float]) -> float:
    """Return the power of the number of threads that fits ratios best (least squares of logs)."""
    logs = [(math.log(count), math.log(ratio)) for count, ratio in ratios.items()]
    return sum(x * y for x, y in logs) / sum(x * x for x, _ in logs)


def measure(name: str, run: Run, rounds: int, counts: Sequence[int]) -> None:
    """Print a row of the page's table."""
    nodes: dict[int, list[int]] = {count: [] for count in counts}
    costs: dict[int, list[float]] = {count: [] for count in counts}
    for count in counts:
        run(count, 0)  # compiles, and touches the memory
    for seed in range(rounds):
        for count in counts:
            began = time.process_time()
            nodes[count].append(run(count, seed))
            costs[count].append((time.process_time() - began) / nodes[count][-1])
    mean = {count: statistics.mean(nodes[count]) / statistics.mean(nodes[1]) for count in counts}
    cost = statistics.median(costs[2]) / statistics.median(costs[1])
    a = max(exponent({count: mean[count] for count in counts[1:]}), 0)
    b = max(exponent({2: cost}), 0)
    ratios = ", ".join(f"{mean[count]:.2f}" for count in counts[1:])
    gains = " | ".join(f"{count ** (1 - a - b):.1f}" for count in PREDICTED)
    print(f"| {name} | {ratios} | {cost:.2f} | {a:.2f} | {b:.2f} | {gains} |", flush=True)


def main() -> None:
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--only", default="", help="runs whose names contain this")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    print("what | nodes of 2, 4 ... threads | cost of a node | a | b | speed-up of 2, 4, 8, 16")
    counts = [1 << power for power in range(max(options.threads, 2).bit_length())]
    for name, run in runs().items():
        if options.only in name:
            measure(name, run, options.rounds, counts)


if __name__ == "__main__":
    main()
