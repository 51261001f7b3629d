"""Engines in programs: what a call costs, what threads gain, and what is given back.

python benchmarks/embedding.py [--rounds 3] [--only calls,start,memory,probes,threads]

Each measurement checks the answers that it gets.  Times are CPU times where other programs would
disturb those of the clock: of two threads the speed-up is also said as it would be if both had a
core for themselves all the time, the CPU time of one thread over the mean of two.
"""

from __future__ import annotations

import argparse
import functools
import gc
import math
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np

from engine import Bits, Engine, Table, load_game, solve
from engine.kernels.table import begin, open_whole, probe, store
from engine.search.deepening import HelperTask
from engine.search.proving import ProofTask

CONNECT4 = load_game("connect4")
OPENINGS = {"4": -1, "44": 1, "45": 2, "24": 0, "22": 0}
"""Openings of Connect Four and their values, seconds of one thread each."""

ENDGAMES = range(40, 45)
FIRST = """
import time
from engine import Engine, load_game
game = load_game("connect4")
with Engine(game) as engine:
    assert engine.solve(game.parse("44444326555535")).value == 2
"""


def least(task: Callable[[], Any], calls: int, rounds: int) -> float:
    """Microseconds of a call, of so many rounds the least."""
    spent = []
    for _ in range(rounds):
        started = time.perf_counter()
        for _ in range(calls):
            task()
        spent.append(time.perf_counter() - started)
    return 1e6 * min(spent) / calls


def calls(rounds: int) -> None:
    print("calls of a warm engine, microseconds (the least of some rounds)")
    start, late = CONNECT4.start(), CONNECT4.parse("2252576253462244111563365343671351441")
    with Engine(CONNECT4, table=16) as engine:
        assert engine.search(start, depth=1).depth == 1
        assert engine.solve(late).value == -1
        searcher = engine._opened().leader
        kernel = functools.partial(
            searcher._run,
            *(start, searcher.evaluation, -30000, 30000, 1, 0),
            *(searcher.memory.argument, searcher.table.words),
        )
        alone = least(kernel, 50, 100 * rounds)
        search = least(lambda: engine.search(start, depth=1), 50, 100 * rounds)
        handle = least(lambda: engine.start(start, depth=1).wait(), 50, 100 * rounds)
        proof = least(lambda: engine.solve(late), 50, 100 * rounds)
    print(f"  search of a ply {search:8.1f}, {search - alone:.1f} more than the compiled search")
    print(f"  started, waited {handle:8.1f}")
    print(f"  solve           {proof:8.1f}")


def start(rounds: int) -> None:
    subprocess.run([sys.executable, "-c", FIRST], check=True)
    walls, cpus = [], []
    for _ in range(3 * rounds):
        before, began = os.times(), time.perf_counter()
        subprocess.run([sys.executable, "-c", FIRST], check=True)
        walls.append(time.perf_counter() - began)
        after = os.times()
        cpus.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
    wall, cpu = statistics.median(walls), statistics.median(cpus)
    print(f"first answer in a fresh process: {wall:.2f} s, {cpu:.2f} s of CPU time")


def resident() -> float:
    """The memory that this process has, in MiB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def memory(rounds: int) -> None:
    position = CONNECT4.parse("4444")
    with Engine(CONNECT4, table=16, threads=2) as engine:

        def work(count: int) -> None:
            for number in range(count):
                engine.search(position, nodes=2000)
                engine.start(position, depth=5).wait()
                if number % 10 == 0:
                    engine.solve(position, nodes=20_000)
                    engine.new_game()

        work(100)
        gc.collect()
        before, threads = resident(), threading.active_count()
        work(1000)
        gc.collect()
        after = resident()
        print(f"memory: {before:.1f} MiB, and {after:.1f} MiB after 1,000 searches of each kind")
        if after > before + 4 or threading.active_count() > threads:
            sys.exit("memory or threads were not given back")


@numba.njit(nogil=True, error_model="numpy")
def _fill(table: Any, words: Any) -> None:
    begin(table, True)
    open_whole(table)
    for word in words:
        store(table, Bits(word), -1, 1, 3, 5)


@numba.njit(nogil=True, error_model="numpy")
def _look_up(table: Any, words: Any) -> int:
    hits = 0
    for word in words:
        if probe(table, Bits(word)) != Bits(0):
            hits += 1
    return hits


def probes(rounds: int) -> None:
    table = Table(256)
    random = np.random.default_rng(1)
    words = random.integers(0, 1 << 63, 1 << 22, np.uint64)
    _fill(table.words, words)
    wanted = _look_up(table.words, words)
    assert wanted > 0.9 * len(words)
    halves = random.permutation(words), random.permutation(words)
    spent: dict[int, list[float]] = {1: [], 2: []}

    def look(half: Any) -> None:
        began = time.thread_time()
        assert _look_up(table.words, half) == wanted
        times.append(time.thread_time() - began)

    for _ in range(3 * rounds):
        for count in spent:
            times: list[float] = []
            threads = [threading.Thread(target=look, args=(half,)) for half in halves[:count]]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            spent[count].append(statistics.mean(times))
    alone, both = (1e9 * statistics.median(times) / len(words) for times in spent.values())
    print(f"a probe: {alone:.1f} ns, and {both:.1f} ns where two threads share the table")
    print(f"  {100 * (both / alone - 1):+.1f} %")


def hard_positions() -> Iterator[tuple[str, Any, int]]:
    """Ten positions that take one thread about a second or more, with their values."""
    for text, value in OPENINGS.items():
        yield f"connect4 {text}", CONNECT4.parse(text), value
    othello = load_game("othello")
    data = Path(__file__).parent / "data" / "othello_ffo.txt"
    for line in data.read_text().splitlines():
        if not line.startswith("#"):
            text, number, value, _ = (field.strip() for field in line.split(";"))
            if int(number) in ENDGAMES:
                yield f"othello FFO {number}", othello.parse(text), int(value)


def threads(rounds: int) -> None:
    print("time to solution of one thread and of two; nodes of two over those of one")
    ran, helped = ProofTask.work, HelperTask.work
    busy: list[float] = []

    def timed(task: ProofTask) -> None:
        began = time.thread_time()
        ran(task)
        busy.append(time.thread_time() - began)

    def helping(task: HelperTask) -> None:
        began = time.thread_time()
        helped(task)
        aside.append(time.thread_time() - began)

    aside: list[float] = []
    ProofTask.work = timed  # type: ignore[method-assign]
    HelperTask.work = helping  # type: ignore[method-assign]
    table = Table(256)
    ratios, ideals = [], []
    for name, position, value in hard_positions():
        figures: dict[int, list[tuple[float, float, int]]] = {1: [], 2: []}
        for count in figures:
            solve(position, table=table, threads=count, nodes=1)
        for _ in range(rounds):
            for count, rows in figures.items():
                table.forget()
                busy.clear()
                aside.clear()
                process, began = time.process_time(), time.perf_counter()
                result = solve(position, table=table, threads=count)
                wall = time.perf_counter() - began
                if result.value != value:
                    sys.exit(f"{name} is {value}, not {result.value}")
                serial = time.process_time() - process - sum(busy) - sum(aside)
                rows.append((wall, serial + statistics.mean(busy), result.nodes))
        one, two = (
            [statistics.median(row) for row in zip(*r, strict=True)] for r in figures.values()
        )
        ratios.append(one[0] / two[0])
        ideals.append(one[1] / two[1])
        print(
            f"  {name:16} {one[0]:7.2f} s {two[0]:7.2f} s  {ratios[-1]:.2f} times as fast"
            f" ({ideals[-1]:.2f} by CPU time), nodes {two[2] / one[2]:.2f}"
        )
    ProofTask.work = ran  # type: ignore[method-assign]
    HelperTask.work = helped  # type: ignore[method-assign]
    both = (math.exp(statistics.mean(map(math.log, all_of))) for all_of in (ratios, ideals))
    print("  geometric mean {:.2f} ({:.2f} by CPU time)".format(*both))


MEASUREMENTS = {
    "calls": calls,
    "start": start,
    "memory": memory,
    "probes": probes,
    "threads": threads,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default=",".join(MEASUREMENTS))
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    for name in options.only.split(","):
        MEASUREMENTS[name](options.rounds)


if __name__ == "__main__":
    main()
