"""The gain of a second thread: hard positions, df-pn proofs, searches of chess, playouts.

    python -m benchmarks.studies.threads [--rounds 3] [--parts playouts]

Values are checked.  Other programs disturb wall-clock time, so the speed-up of the ten positions is
also given for threads with a core of their own: the CPU time of one thread over the mean of two.
Probes of a table are timed with one thread, and with two that share it.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.compiled import fill, look_up
from benchmarks.positions import ffo_endgames, lines
from cutnode import Engine, Table, load_game, solve
from cutnode.search.deepening import Deepening
from cutnode.search.monte_carlo import MonteCarlo
from cutnode.search.solving import ProofTask

OPENINGS = {"4": -1, "44": 1, "45": 2, "24": 0, "22": 0}
"""Openings of Connect Four with their values, which take one thread seconds each."""

PROOFS = {
    "mnk:5x5x4": 0,
    "connect4:6x6": -1,
    "connect4:7x5": 0,
    "breakthrough:4x6": 1,
    "breakthrough:5x5": -1,
    "domineering:9x7": -1,
}
"""Games whose starts df-pn decides in a tenth of a second to twelve seconds, and the winners."""

SEARCHED, DEPTH = 40, 17
"""The number of openings of chess, and how deep they are searched: about .1 s each."""

PLAYOUTS = {
    "tictactoe": 200_000,
    "connect4": 1_000_000,
    "breakthrough:6x6": 500_000,
    "othello": 200_000,
    "kalah": 500_000,
    "hex:11x11": 100_000,
    "oware": 200_000,
}
"""Games, and the number of playouts from the start that take a tenth of a second to a second."""


def hard_positions() -> Iterator[tuple[str, Any, int]]:
    """Yield positions that take one thread about a second or more, with their values."""
    connect4 = load_game("connect4")
    for text, value in OPENINGS.items():
        yield f"connect4 {text}", connect4.parse(text), value
    for endgame in ffo_endgames(range(40, 45)):
        yield f"othello FFO {endgame.number}", endgame.position, endgame.value


class ThreadTimes:
    """A recorder of the CPU seconds of solvers and of their helper threads."""

    def __init__(self) -> None:
        self.solving: list[float] = []
        self.helping: list[float] = []
        for cls, name, times in (
            (ProofTask, "work", self.solving),
            (Deepening, "assist", self.helping),
        ):
            setattr(cls, name, self.timed(getattr(cls, name), times))

    @staticmethod
    def timed(method: Any, times: list[float]) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            began = time.thread_time()
            result = method(*arguments, **options)
            times.append(time.thread_time() - began)
            return result

        return call

    def clear(self) -> None:
        self.solving.clear()
        self.helping.clear()


def measure_solves(rounds: int) -> None:
    print("time to solution with one thread and with two; nodes of two relative to one")
    times = ThreadTimes()
    table = Table(256)
    ratios, ideals = [], []
    for name, position, value in hard_positions():
        figures: dict[int, list[tuple[float, float, int]]] = {1: [], 2: []}
        for count in figures:
            solve(position, table=table, threads=count, nodes=1)
        for _ in range(rounds):
            for count, runs in figures.items():
                table.forget()
                times.clear()
                process, began = time.process_time(), time.perf_counter()
                result = solve(position, table=table, threads=count)
                wall = time.perf_counter() - began
                if result.value != value:
                    sys.exit(f"{name} is {value}, not {result.value}")
                used = time.process_time() - process
                serial = used - sum(times.solving) - sum(times.helping)
                runs.append((wall, serial + statistics.mean(times.solving), result.nodes))
        one, two = (
            [statistics.median(column) for column in zip(*runs, strict=True)]
            for runs in figures.values()
        )
        ratios.append(one[0] / two[0])
        ideals.append(one[1] / two[1])
        print(
            f"  {name:16} {one[0]:7.2f} s {two[0]:7.2f} s  {ratios[-1]:.2f} times as fast"
            f" ({ideals[-1]:.2f} by CPU time), nodes {two[2] / one[2]:.2f}"
        )
    means = (math.exp(statistics.mean(map(math.log, each))) for each in (ratios, ideals))
    print("  geometric mean {:.2f} ({:.2f} by CPU time)".format(*means))


def measure_proofs(rounds: int) -> None:
    print("df-pn: time to a proof with one thread and with two; nodes and CPU time relative to one")
    for name, value in PROOFS.items():
        game = load_game(name)
        figures: dict[int, list[tuple[float, float, int]]] = {1: [], 2: []}
        for _ in range(rounds):
            for count, runs in figures.items():
                process, began = time.process_time(), time.perf_counter()
                result = solve(game, engine="pn", weak=True, threads=count)
                wall = time.perf_counter() - began
                if result.value != value:
                    sys.exit(f"{name} is {value}, not {result.value}")
                runs.append((wall, time.process_time() - process, result.nodes))
        one, two = (
            [statistics.median(column) for column in zip(*runs, strict=True)]
            for runs in figures.values()
        )
        print(
            f"  {name:16} {one[0]:7.2f} s {two[0]:7.2f} s  {one[0] / two[0]:.2f} times as fast,"
            f" nodes {two[2] / one[2]:.2f}, CPU time {two[1] / one[1]:.2f}"
        )


def measure_searches(rounds: int) -> None:
    print(f"chess: time to depth {DEPTH} in {SEARCHED} positions with one thread and with two")
    engines = {count: Engine("chess", table=256, threads=count) for count in (1, 2)}
    medians: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    for engine in engines.values():
        engine.search(depth=6)  # compiles
    for text in lines("chess_openings.epd")[:SEARCHED]:
        for count, engine in engines.items():
            runs = []
            for _ in range(rounds):
                engine.new_game()
                began = time.perf_counter()
                result = engine.search(text, depth=DEPTH)
                runs.append((time.perf_counter() - began, result.nodes))
                if result.depth != DEPTH:
                    sys.exit(f"{text} was searched to depth {result.depth}, not {DEPTH}")
            seconds, nodes = (statistics.median(column) for column in zip(*runs, strict=True))
            medians[count].append((seconds, nodes))
    (one, one_nodes), (two, two_nodes) = (zip(*each, strict=True) for each in medians.values())
    faster = statistics.geometric_mean(a / b for a, b in zip(one, two, strict=True))
    nodes = statistics.geometric_mean(b / a for a, b in zip(one_nodes, two_nodes, strict=True))
    print(
        f"  {sum(one):.2f} s {sum(two):.2f} s  {sum(one) / sum(two):.2f} times as fast by the sums,"
        f" geometric mean {faster:.2f}, nodes {nodes:.2f}"
    )


def measure_playouts(rounds: int) -> None:
    print("Monte Carlo tree search: playouts per second of wall time, with one thread and with two")
    for name, playouts in PLAYOUTS.items():
        game = load_game(name)
        searches = {count: MonteCarlo(game, memory=1 << 30, threads=count) for count in (1, 2)}
        rates: dict[int, list[float]] = {1: [], 2: []}
        for number in range(rounds + 1):
            for count, search in searches.items():
                search.clear()
                began = time.perf_counter()
                result = search.search(game.start(), playouts=playouts, seed=number)
                if number:  # the first round warms up
                    rates[count].append(result.playouts / (time.perf_counter() - began))
        one, two = (statistics.median(each) for each in rates.values())
        print(f"  {name:16} {one:12,.0f} {two:12,.0f}  {two / one:.2f} times")


def measure_probes(rounds: int) -> None:
    """Time probes of a table larger than any cache."""
    table, random = Table(256), np.random.default_rng(1)
    words = random.integers(0, 1 << 63, 1 << 22, np.uint64)
    fill(table.words, words)
    wanted = look_up(table.words, words)
    halves = random.permutation(words), random.permutation(words)
    spent: dict[int, list[float]] = {1: [], 2: []}

    def look(half: Any, times: list[float]) -> None:
        began = time.thread_time()
        assert look_up(table.words, half) == wanted
        times.append(time.thread_time() - began)

    for _ in range(3 * rounds):
        for count, means in spent.items():
            times: list[float] = []
            threads = [threading.Thread(target=look, args=(half, times)) for half in halves[:count]]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            means.append(statistics.mean(times))
    one, both = (1e9 * statistics.median(times) / len(words) for times in spent.values())
    print(f"a probe: {one:.1f} ns, and {both:.1f} ns where two threads share the table")


PARTS = {
    "probes": measure_probes,
    "solves": measure_solves,
    "proofs": measure_proofs,
    "searches": measure_searches,
    "playouts": measure_playouts,
}


def main() -> None:
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    for part in options.parts:
        PARTS[part](options.rounds)


if __name__ == "__main__":
    main()
