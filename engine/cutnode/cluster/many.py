"""Many positions on a cluster: :func:`solve_many` and :func:`search_many`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from cutnode.batches.results import BatchResult, row_dtype
from cutnode.batches.running import Job, run_batch
from cutnode.cluster.tasks import IN_FLIGHT, PATIENCE, Tasks, require_client
from cutnode.contract.dispatch import game_name, is_plain
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.runtime.running import is_stopped

TASK_SECONDS = 1.0
"""The target duration of a task, by the mean time per position so far.  A killed driver loses about
this much of each worker's time."""

MOST_IN_TASK = 4096
"""The most positions of a task."""

PARTS_EACH = 4
"""The parts per thread into which the remaining positions are divided; a task has at most one of
them, so that the last tasks end together."""


def solve_many(client: Any, positions: Sequence[Any], **options: Any) -> BatchResult:
    """Solve positions of one class on a Dask cluster, with limits for each position.

    *client* is a ``distributed.Client``.  The options, journal and results are the same as for
    :func:`cutnode.batches.run_batch`, so a batch begun with one can be resumed with the other.
    Results are in the order of *positions*.  Each thread of a worker has its own table.
    """
    return run_batch(positions, "solve", threads=1, elsewhere=Cluster(client), **options)


def search_many(client: Any, positions: Sequence[Any], **options: Any) -> BatchResult:
    """Search positions to a limited depth, as :func:`solve_many` solves them."""
    return run_batch(positions, "search", threads=1, elsewhere=Cluster(client), **options)


class Cluster:
    """A function that does the work of a batch by tasks on a cluster."""

    def __init__(self, client: Any):
        self.client = require_client(client)

    def __call__(self, job: Job) -> str:
        """Do the job; return why it ended early, or ""."""
        from cutnode.cluster.worker import GameOnWorker, SentGame, batch

        cls = type(job.positions.example)
        if not isinstance(job.options.get("tablebase"), str | os.PathLike | None):
            raise CutnodeError("workers open the tablebase themselves: pass the path of its folder")
        if is_plain(cls):
            raise GameError(f"{game_name(cls)} is plain Python: a cluster needs a compiled game")
        spans = job.todo[::-1]
        left = sum(last - first for first, last in spans)
        done, busy = 0, 0.0
        if not left:
            return ""
        row = row_dtype(cls, job.options["task"], job.options.get("engine", "alphabeta"))
        with Tasks(self.client, batch, GameOnWorker(SentGame.of(cls))) as tasks:
            try:
                while spans or len(tasks):
                    if is_stopped(job.stops):
                        return "stopped"
                    threads = max(tasks.threads, 1)
                    parts: list[Any] = []
                    while spans and len(tasks) + len(parts) < IN_FLIGHT * threads:
                        first, last = spans.pop()
                        size = int(tasks.lasting(TASK_SECONDS) * done / busy) if busy else 1
                        size = min(size, left // (threads * PARTS_EACH), MOST_IN_TASK)
                        end = min(last, first + max(size, 1))
                        if end < last:
                            spans.append((end, last))
                        left -= end - first
                        words = job.positions[first:end].words.tobytes()
                        parts.append((first, (tasks.plugin, words, job.options)))
                    tasks.send(parts)
                    for first, (rows, seconds) in tasks.wait(PATIENCE):
                        found = np.frombuffer(rows, row)
                        job.put(first, found)
                        done += len(found)
                        busy += seconds
                    job.look()
            except KeyboardInterrupt:
                return "interrupted"
        return ""
