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
"""A task has as many positions as take so long by the mean until then: what a driver that is
killed loses is about that much of each worker's time."""

MOST_IN_TASK = 4096
PARTS_EACH = 4
"""A task has no more positions than that, and no more than one of so many equal parts, for each
thread, of those that are left: the last ones end together."""


def solve_many(client: Any, positions: Sequence[Any], **options: Any) -> BatchResult:
    """Solve positions of one class on a Dask cluster, with limits for each; results in order.

    *client* is a ``distributed.Client``.  The options, the journal and the results are those of
    :func:`cutnode.batches.run_batch`, so that a batch which was begun here or there can go on in
    the other place.  Each thread of a worker has a table of its own.
    """
    return run_batch(positions, "solve", threads=1, elsewhere=Cluster(client), **options)


def search_many(client: Any, positions: Sequence[Any], **options: Any) -> BatchResult:
    """Search positions to a limited depth, as :func:`solve_many` solves them."""
    return run_batch(positions, "search", threads=1, elsewhere=Cluster(client), **options)


class Cluster:
    """Does the work of a batch by tasks."""

    def __init__(self, client: Any):
        self.client = require_client(client)

    def __call__(self, job: Job) -> str:
        """Do the job; return why it was ended early, or ""."""
        from cutnode.cluster.worker import GameOnWorker, SentGame, batch

        cls = type(job.positions.example)
        if not isinstance(job.options.get("tablebase"), str | os.PathLike | None):
            raise CutnodeError("workers open a tablebase themselves: give the path of its folder")
        if is_plain(cls):
            raise GameError(f"{game_name(cls)} is plain Python: a cluster takes compiled games")
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
