"""What it costs to split a position for a cluster, and how far that scales.

    python benchmarks/cluster.py [nodes] [tasks] [runs] [model]

The figures of ``engine/docs/cluster.md``, which says what they mean.  Every value is checked
against one solve of the position.  ``runs`` wants two cores that have nothing else to do.
"""

from __future__ import annotations

import argparse
import heapq
import statistics
import sys
import time
from typing import Any

import cloudpickle
import numpy as np

from engine import Table, load_game, solve
from engine.cluster import solve_split
from engine.cluster.driver import IN_FLIGHT
from engine.cluster.splitting import Split
from engine.cluster.tasks import Tasks
from engine.cluster.top import Top
from engine.positions import Packed
from engine.runner import Limits, Solver
from engine.solver import ALONE

POSITIONS = (("connect4", "44444"), ("connect4", "4444"), ("connect4:8x6", "4444443"))
PLIES = (2, 4, 6, 8, 10)
WORKERS = (1, 2, 4, 16, 64, 256, 1024, 4096, 10_000)
MOST = 5_000_000


class Workers:
    """Answers to questions about the leaves of a top, by workers with a table each."""

    def __init__(self, top: Top, megabytes: int, cold: bool = False):
        self.positions = Packed(top.words, top.position)
        self.megabytes = megabytes
        self.cold = cold
        self.tables: dict[int, Table] = {}

    def ask(self, leaf: int, asked: int, worker: int = 0) -> tuple[bool, int]:
        """Whether the value of a leaf for who moves there is at least this, and the nodes."""
        if worker not in self.tables:
            self.tables[worker] = Table(self.megabytes)
        solver = Solver(
            self.positions[leaf : leaf + 1],
            self.tables[worker],
            Limits(),
            weak=False,
            line=0,
            cold=self.cold,
            sharing=ALONE,
            known=(asked - 1, asked),
        )
        solver()
        row = solver.rows[0]
        return bool(row["lower"] >= asked), int(row["nodes"])


def tell(split: Split, leaf: int, asked: int, yes: bool) -> None:
    split.tell(leaf, *((asked, 1000) if yes else (-1000, asked - 1)))


def measure_nodes() -> None:
    """One worker, without Dask: nodes of the split search over those of one solve."""
    print("nodes of the split search over those of one solve; the driver's own time")
    for name, text in POSITIONS:
        position = load_game(name).parse(text)
        whole = solve(position, table=Table(256))
        print(f"{name} {text}: {whole.nodes:,} nodes")
        for plies in PLIES:
            started = time.perf_counter()
            top = Top(position, plies, MOST)
            expanded = time.perf_counter() - started
            figures = []
            for cold in (False, True):
                split, leaves = Split(top), Workers(top, 256, cold)
                clean = top.nodes.copy()
                driver, nodes, questions = 0.0, 0, 0
                while not split.done:
                    started = time.perf_counter()
                    ((leaf, asked),) = split.take(1)
                    driver += time.perf_counter() - started
                    yes, spent = leaves.ask(leaf, asked)
                    nodes, questions = nodes + spent, questions + 1
                    started = time.perf_counter()
                    tell(split, leaf, asked, yes)
                    split.idle()
                    driver += time.perf_counter() - started
                if split.lower != whole.value:
                    sys.exit(f"{split.lower}, not {whole.value}")
                figures.append((nodes / whole.nodes, questions, driver / questions))
                top.nodes[:] = clean
            (warm, questions, each), (cold_ratio, _, _) = figures
            print(
                f"  {plies:2} plies  {len(top.nodes):>9,} positions  {expanded:6.2f} s  "
                f"{top.bytes / len(top.nodes):4.0f} bytes each  {questions:>6,} questions  "
                f"{each * 1e3:6.3f} ms each  nodes {warm:5.2f}, each cold {cold_ratio:5.2f}"
            )


def simulate(
    top: Top, workers: int, second: float, task: float, latency: float
) -> tuple[float, float, int]:
    """The run of the real driver on so many workers, whose clocks are only pretended.

    Their searches are real, each with a table of its own.  *second* is how many nodes a worker
    visits in a second, *task* the seconds that the scheduler and the driver spend on a task, one
    after the other, and *latency* those from an answer to the next task.  Returns the seconds,
    those of all workers together, and the tasks.
    """
    clean = top.nodes.copy()
    split = Split(top)
    crew = Workers(top, 16 if workers <= 64 else 4)
    now = serial = busy = 0.0
    events: list[tuple[float, int, int, bool, float, int]] = []
    waiting: list[tuple[int, int]] = []
    running: dict[int, tuple[float, int]] = {}
    free = list(range(workers))[::-1]
    tasks = 0
    while not split.done:
        waiting += split.take(IN_FLIGHT * workers - len(waiting) - len(running))
        waiting += split.take_ahead(workers - len(waiting) - len(running))
        while free and waiting:
            leaf, asked = waiting.pop(0)
            worker = free.pop()
            serial = max(serial, now) + task
            yes, nodes = crew.ask(leaf, asked, worker)
            end = serial + latency + nodes / second
            heapq.heappush(events, (end, leaf, asked, yes, serial, worker))
            running[leaf] = end, worker
            tasks += 1
        now, leaf, asked, yes, begun, worker = heapq.heappop(events)
        if running.get(leaf) != (now, worker):
            continue  # it was cancelled
        del running[leaf]
        busy += now - begun
        free.append(worker)
        tell(split, leaf, asked, yes)
        for other in split.idle():
            if other in running:
                free.append(running.pop(other)[1])
            split.put_back(other)
        waiting = [entry for entry in waiting if entry[0] in split.in_flight]
    top.nodes[:] = clean
    return now, busy, tasks


def model(plies: list[int], workers: list[int]) -> None:
    """The driver as it is, with workers that are only pretended, up to ten thousand."""
    name, text = POSITIONS[0]
    position = load_game(name).parse(text)
    whole = solve(position, table=Table(256))
    print(f"model: {name} {text}, {whole.nodes:,} nodes in one solve; seconds are in units of it")
    for ply in plies:
        top = Top(position, ply, MOST)
        for count in workers:
            started = time.perf_counter()
            seconds, busy, tasks = simulate(top, count, whole.nodes, 0.0, 0.0)
            print(
                f"  {ply:2} plies  {count:>6,} workers  time {seconds:9.5f}  speed-up "
                f"{1 / seconds:8.1f}  efficiency {1 / seconds / count:6.3f}  "
                f"work {busy:6.2f}  {tasks:>7,} tasks ({time.perf_counter() - started:.0f} s)",
                flush=True,
            )


if __name__ == "__main__":
    if "model" in sys.argv:
        model([6, 8], [1, 2, 16, 64, 256, 1024])
    else:
        measure_nodes()
