"""The cost of splitting a position for a cluster, and how well that scales.

    python -m benchmarks.studies.cluster [nodes] [tasks] [runs] [model]

These are the figures of ``engine/docs/explanation/splitting.md``, which explains them.  Every value
is compared with a single solve of the position.  ``runs`` needs two otherwise idle cores.
"""

from __future__ import annotations

import contextlib
import heapq
import logging
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import cloudpickle
from distributed import Client, LocalCluster

from cutnode import Table, load_game, solve
from cutnode.cluster import solve_split
from cutnode.cluster.tasks import IN_FLIGHT, Tasks
from cutnode.cluster.worker import GameOnWorker, SentGame, answer
from cutnode.contract.positions import Packed
from cutnode.runtime.running import Limits
from cutnode.search.solving import ProofSettings, ProofTask
from cutnode.search.splitting import Split
from cutnode.search.top import Top

POSITIONS = (("connect4", "44444"), ("kalah:5x4", ""))
PLIES = (2, 4, 6, 8, 10)
MOST = 5_000_000
TASK = 0.005
"""The seconds between two tasks of a worker: see ``tasks``."""


class Workers:
    """Workers that answer questions about a top's leaves, each with its own table."""

    def __init__(self, top: Top, megabytes: int, cold: bool = False):
        self.positions = Packed(top.words, top.position)
        self.megabytes = megabytes
        self.cold = cold
        self.tables: dict[int, Table] = {}

    def ask(self, leaf: int, asked: int, worker: int = 0) -> tuple[bool, int]:
        """Return whether a leaf is worth at least *asked* to its player to move, and the nodes."""
        if worker not in self.tables:
            self.tables[worker] = Table(self.megabytes)
        task = ProofTask(
            self.positions[leaf : leaf + 1],
            self.tables[worker],
            Limits(),
            ProofSettings(cold=self.cold),
            known=(asked - 1, asked),
        )
        task.work()
        row = task.rows[0]
        return bool(row["lower"] >= asked), int(row["nodes"])


def tell(split: Split, leaf: int, asked: int, yes: bool) -> None:
    split.take_answer(leaf, *((asked, 1000) if yes else (-1000, asked - 1)))


def measure_nodes() -> None:
    """Compare the nodes of the split search, with one worker and no Dask, to a single solve."""
    print("nodes of the split search relative to a single solve; the driver's own time")
    for name, text in POSITIONS:
        position = load_game(name).parse(text)
        single = solve(position, table=Table(256))
        print(f"{name} {text}: {single.nodes:,} nodes")
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
                    driver += time.perf_counter() - started
                if split.lower != single.value:
                    sys.exit(f"{split.lower}, not {single.value}")
                figures.append((nodes / single.nodes, questions, driver / questions))
                top.nodes[:] = clean
            (warm, questions, each), (cold_ratio, _, _) = figures
            started = time.perf_counter()
            split.idle()
            sweep = time.perf_counter() - started
            print(
                f"  {plies:2} plies  {len(top.nodes):>9,} positions  {expanded:6.2f} s  "
                f"{top.bytes / len(top.nodes):4.0f} bytes each  {questions:>6,} questions  "
                f"{each * 1e3:6.3f} ms each, a sweep {sweep * 1e3:5.1f}  "
                f"nodes {warm:5.2f}, each cold {cold_ratio:5.2f}"
            )


def simulate(
    top: Top, workers: int, sharing: int, second: float, task: float, latency: float
) -> tuple[float, float, int]:
    """Run the real driver on *workers* workers with simulated clocks.

    Their searches are real; *sharing* of them share a table.  *second* is the number of nodes that
    a worker visits per second, *task* the seconds that scheduler and driver spend on each task, one
    after the other, and *latency* the seconds from an answer to the next task.  Return the elapsed
    seconds, the total seconds of all workers, and the number of tasks.
    """
    clean = top.nodes.copy()
    split = Split(top)
    simulated = Workers(top, 64)
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
            yes, nodes = simulated.ask(leaf, asked, worker // sharing)
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


def measure_model(
    name: str, text: str, plies: Sequence[int], workers: Sequence[int], sharing: int
) -> None:
    """Run the driver with simulated workers, up to ten thousand."""
    position = load_game(name).parse(text)
    single = solve(position, table=Table(256))
    print(f"model: {name} {text}, {single.nodes:,} nodes in one solve, whose time is 1;")
    print(f"{sharing} workers share a table; tasks cost nothing")
    for ply in plies:
        top = Top(position, ply, MOST)
        for count in workers:
            seconds, busy, tasks = simulate(top, count, sharing, single.nodes, 0.0, 0.0)
            print(
                f"  {ply:2} plies  {count:>6,} workers  time {seconds:9.5f}  speed-up "
                f"{1 / seconds:7.1f}  work {busy:6.2f}  {tasks:>7,} tasks",
                flush=True,
            )


def nothing(plugin: str, number: int) -> int:
    """Do nothing."""
    return number


def slow(plugin: str, number: int) -> int:
    """Wait for a moment."""
    time.sleep(0.2)
    return number


def memory() -> int:
    """Return the resident memory of this process in bytes."""
    time.sleep(2)
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measure_tasks() -> None:
    """Measure Dask's own time per task, with one worker and with two."""
    cls = type(load_game("tictactoe").start())
    for workers in (1, 2):
        with cluster(workers) as client:
            for in_flight in (1, 2, 8, 32):
                with Tasks(client, nothing, GameOnWorker(SentGame.of(cls))) as tasks:
                    started, done, sent, total = time.perf_counter(), 0, 0, 200 * in_flight**0.5
                    while done < total:
                        count = int(in_flight * workers - len(tasks))
                        tasks.send([(n, (tasks.plugin, n)) for n in range(sent, sent + count)])
                        sent += count
                        done += len(tasks.wait(1))
                    each = (time.perf_counter() - started) / done
                    print(f"  {workers} workers, {in_flight:2} in flight each: {each * 1e3:.2f} ms")
    with cluster(1) as client, Tasks(client, slow, GameOnWorker(SentGame.of(cls))) as tasks:
        tasks.send([(-1, (tasks.plugin, -1))])
        before = memory()
        tasks.send([(number, (tasks.plugin, number)) for number in range(2000)])
        print(f"  {(memory() - before) / 2000 / 1024:.1f} KiB a task, of client and scheduler")
    for name, text in POSITIONS:
        top = Top(load_game(name).parse(text), 2, MOST)
        plugin = GameOnWorker(SentGame.of(top.cls)).name
        for count in (1, 64):
            words = top.words[:1].tobytes() * (len(top.words) // len(top.nodes)) * count
            data = cloudpickle.dumps((answer, (plugin, words, b"1234" * count, b"1" * count, 256)))
            print(f"  {name}: a task of {count} questions is {len(data):,} bytes")


@contextlib.contextmanager
def cluster(workers: int, threads: int = 1) -> Iterator[Client]:
    """Start a local cluster of processes with *threads* threads each."""
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            dashboard_address=":0",
            memory_limit=0,
            silence_logs=logging.ERROR,
        ) as here,
        Client(here) as client,
    ):
        yield client


def measure_runs(name: str, text: str, plies: Sequence[int], rounds: int) -> None:
    """Time complete runs with one worker and with two, each from empty tables."""
    position = load_game(name).parse(text)
    solve(position, table=Table(256))
    single = solve(position, table=Table(256))
    print(f"runs: {name} {text}, one solve {single.nodes:,} nodes, {single.seconds:.2f} s")
    for ply in plies:
        for workers, threads in ((1, 1), (2, 1), (1, 2)):
            with cluster(workers, threads) as client:
                megabytes = 128
                for _ in range(rounds + 1):  # the first loads compiled code
                    megabytes += 1  # another table, which is empty
                    run = solve_split(client, position, plies=ply, table=megabytes)
                    if run.value != single.value:
                        sys.exit(f"{run.value}, not {single.value}")
                    if megabytes == 129:
                        continue
                    rate = run.nodes / run.busy
                    print(
                        f"  {ply:2} plies  {workers} x {threads} threads {run.seconds:6.2f} s, "
                        f"work {run.busy:6.2f} s  nodes {run.nodes / single.nodes:.2f}, "
                        f"{rate / 1e6:.2f} M/s  {run.tasks:>5,} tasks  {run.answers:>6,} answers  "
                        f"model {(run.busy + run.tasks * TASK) / (workers * threads):6.2f} s",
                        flush=True,
                    )


def main() -> None:
    chosen = sys.argv[1:] or ["nodes", "tasks", "runs", "model"]
    if "nodes" in chosen:
        measure_nodes()
    if "tasks" in chosen:
        measure_tasks()
    if "runs" in chosen:
        measure_runs("connect4", "44444", (4, 6, 8), 2)
    if "model" in chosen:
        measure_model("connect4", "44444", (4, 6, 8), (1, 2, 16, 64, 256, 1024, 10_000), 64)


if __name__ == "__main__":
    main()
