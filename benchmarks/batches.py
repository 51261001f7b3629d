"""What a batch costs beside the compiled loop that it runs: ``python benchmarks/batches.py``.

Connect Four positions of some plies at random are solved by one call of the kernel, and as a
batch on one thread and on all, with a journal and without, and from an empty table each or not.
Figures are medians of interleaved rounds: positions per second, and per second of the processors'
time, which other programs disturb less.  Values are compared.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from engine import Table, legal_moves, load_game
from engine.batches import run_batch
from engine.contract.positions import Packed
from engine.contract.verbs import play
from engine.search.proving import ProofSettings, ProofTask
from engine.search.running import Limits

GAME = load_game("connect4")


def positions(count: int, plies: int) -> Packed:
    """Positions after so many random plies, without those where the game is over."""
    chooser = random.Random(1)
    found: list[Any] = []
    while len(found) < count:
        position = GAME.start()
        for _ in range(plies):
            moves = legal_moves(position)
            if not moves:
                break
            position = play(position, chooser.choice(moves))
        if legal_moves(position):
            found.append(position)
    return Packed.of(found)


def kernel(given: Packed, cold: bool) -> Any:
    """One call of compiled code, on one thread; the values."""
    table = Table(256)
    task = ProofTask(given, table, Limits(), ProofSettings(cold=cold))
    task.work()
    return task.rows["lower"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--plies", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    given = positions(arguments.count, arguments.plies)
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "journal"

        def batch(cold: bool, threads: int | None, keep: bool) -> Any:
            journal.unlink(missing_ok=True)
            return run_batch(
                given,
                cold=cold,
                threads=threads,
                moves=False,
                journal=journal if keep else None,
            ).values

        tasks: dict[str, Callable[[], Any]] = {}
        for cold in (True, False):
            kind = "cold" if cold else "warm"
            tasks[f"{kind}, the kernel alone"] = lambda cold=cold: kernel(given, cold)
            tasks[f"{kind}, one thread"] = lambda cold=cold: batch(cold, 1, False)
            tasks[f"{kind}, one thread, journal"] = lambda cold=cold: batch(cold, 1, True)
            tasks[f"{kind}, all threads"] = lambda cold=cold: batch(cold, None, False)
            tasks[f"{kind}, all threads, journal"] = lambda cold=cold: batch(cold, None, True)
        spent: dict[str, list[tuple[float, float]]] = {name: [] for name in tasks}
        wanted: Any = None
        for _ in range(arguments.rounds):
            for name, task in tasks.items():
                started, used = time.perf_counter(), time.process_time()
                values = task()
                spent[name].append((time.perf_counter() - started, time.process_time() - used))
                wanted = values if wanted is None else wanted
                if not np.array_equal(values, wanted):
                    sys.exit(f"{name}: other values")
    print(f"{len(given):,} positions, {arguments.plies} plies from the start of Connect Four")
    alone = 0.0
    print(f"{'':30}{'per second':>12}{'of its own':>12}{'kernel':>8}")
    for name, times in spent.items():
        wall, used = median(each[0] for each in times), median(each[1] for each in times)
        alone = used if name.endswith("alone") else alone
        rates = f"{len(given) / wall:12,.0f}{len(given) / used:12,.0f}"
        print(f"{name:30}{rates}{alone / used:8.3f}")


if __name__ == "__main__":
    main()
