"""Tablebases on a cluster: :func:`build_tablebase`, in a folder that all machines share.

Layers that do not lead to each other are solved at the same time, each by one worker.  Dependencies
are discovered on the way: a worker that needs an unsolved layer abandons its own until the other
is solved.  A large layer is solved by all workers together, each doing a share of its positions in
each pass: see :mod:`cutnode.tablebases.shares`.  All results are in the folder, so a worker or
driver that dies loses only its current work.
"""

from __future__ import annotations

import contextlib
import os
import threading
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from cutnode.cluster.tasks import PATIENCE, Tasks, require_client
from cutnode.contract.choices import LARGE_LAYER
from cutnode.contract.dispatch import game_name, is_plain
from cutnode.contract.errors import CutnodeError, GameError, require_integer
from cutnode.contract.positions import as_words, coerce
from cutnode.runtime.running import is_stopped
from cutnode.tablebases import building
from cutnode.tablebases.building import BuildProgress, LayerJob
from cutnode.tablebases.layer_tables import DISTANCES, kind_of
from cutnode.tablebases.solving import Settings

SHARES_EACH = 8
"""The shares of a large layer, for each worker present when it is begun."""


def build_tablebase(
    client: Any,
    root: Any,
    folder: str | os.PathLike[str],
    *,
    layers: Sequence[str] = (),
    through: str | None = None,
    settings: Settings | None = None,
    large: int = LARGE_LAYER,
    stop: threading.Event | None = None,
    progress: Callable[[BuildProgress], None] | None = None,
) -> str:
    """Solve a game's positions on a Dask cluster, and keep them in a folder.

    *client* is a ``distributed.Client``.  The arguments, files and result are the same as for
    :func:`cutnode.tablebases.building.build_tablebase`, so a tablebase begun with one can be
    continued with the other.  Every worker must reach the folder by the same path.  If the
    tablebase has wins, draws, losses and distances, all workers with all their threads solve a
    layer of *large* indices or more together.  Every other layer is one task, and a worker runs one
    task per thread; ``threads`` and ``memory`` of the *settings* apply to each task.
    """
    if is_plain(type(coerce(root))):
        raise GameError(f"{game_name(type(root))} is plain Python: a cluster needs a compiled game")
    require_integer(large, "a number of indices")
    return building.build_tablebase(
        root,
        folder,
        layers=layers,
        through=through,
        settings=settings,
        stop=stop,
        progress=progress,
        elsewhere=LayersOnCluster(client, large),
    )


class LayersOnCluster:
    """A function that solves the layers of a job by tasks on a cluster."""

    def __init__(self, client: Any, large: int):
        self.client = require_client(client)
        self.large = large

    def __call__(self, job: LayerJob) -> str:
        """Do the job; return why it ended."""
        from cutnode.cluster.layer_worker import FolderOnWorker, forget_layer, solve_layer
        from cutnode.cluster.worker import GameOnWorker, SentGame

        game = GameOnWorker(SentGame.of(job.builder.cls))
        order = FolderOnWorker(
            plugin=game.name,
            job=uuid.uuid4().hex,
            example=as_words([job.root]).tobytes(),
            path=str(job.builder.folder.path.absolute()),
            settings=job.builder.settings,
        )
        with Tasks(self.client, solve_layer, game) as tasks:
            try:
                return _Driver(job, order, tasks, self.large).run()
            except KeyboardInterrupt:
                return "interrupted"
            finally:
                with contextlib.suppress(Exception):  # nothing to free if the cluster is gone
                    self.client.run(forget_layer)


class _Stopped(Exception):  # noqa: N818
    """The error that ends a job which was stopped."""


class _Driver:
    """The driver: decides which tasks to send next, and takes their answers."""

    def __init__(self, job: LayerJob, order: Any, tasks: Tasks, large: int):
        self.job, self.order, self.tasks = job, order, tasks
        self.builder = job.builder
        self.sizes = job.builder.space.sizes
        self.names = job.builder.space.names
        shared = kind_of(job.builder.cls) == DISTANCES
        self.large = large if shared else max(self.sizes) + 1
        self.needs: dict[int, int] = {}
        """The layers that were abandoned, and the layer that each needs first."""

    def run(self) -> str:
        try:
            while waiting := self._waiting():
                small = [number for number in waiting if self.sizes[number] < self.large]
                if small:
                    self._solve_whole(small)
                else:
                    self._solve_shared(waiting[0])
        except _Stopped:
            return "stopped"
        return "done"

    def _waiting(self) -> list[int]:
        """Return the unsolved layers, without those known to wait for another."""
        self.builder.load()
        solved = self.builder.directory.layers
        missing = [number for number in sorted(self.job.wanted) if number not in solved]
        return [number for number in missing if self.needs.get(number, -1) in (-1, *solved)]

    def _wait(self, label: str, done: float) -> list[tuple[Any, Any]]:
        """Wait briefly and return the answers; raise :class:`_Stopped` if the job was stopped."""
        if is_stopped(self.builder.stops):
            raise _Stopped
        answers = self.tasks.wait(PATIENCE)
        self.job.report(label, "on the cluster", done)
        return answers

    def _note(self, number: int, missing: int | None) -> None:
        """Note that a layer was abandoned because it leads to an unsolved one."""
        if missing is not None:
            if missing >= number:
                raise CutnodeError(f"layer {self.names[number]} leads to a later one")
            self.needs[number] = missing
            self.job.wanted.add(missing)

    def _solve_whole(self, waiting: list[int]) -> None:
        """Solve small layers, one task for each, until none is waiting."""
        sent: set[int] = set()
        while waiting or sent:
            free = max(self.tasks.threads, 1) - len(sent)
            chosen, waiting = waiting[: max(free, 0)], waiting[max(free, 0) :]
            self.tasks.send([(number, (self.order, number, None)) for number in chosen])
            sent.update(chosen)
            names = ", ".join(self.names[number] for number in sorted(sent))
            for number, (missing, _) in self._wait(names, 0.0):
                sent.discard(number)
                self._note(number, missing)
                waiting = [
                    number
                    for number in self._waiting()
                    if number not in sent and self.sizes[number] < self.large
                ]

    def _solve_shared(self, number: int) -> None:
        """Solve a layer by passes over its shares; all shares finish a pass before the next."""
        shares = self.builder.folder.shares_of(number)
        while not shares:
            shares = SHARES_EACH * len(self.tasks.client.nthreads())
            self._wait(f"{self.names[number]}, waiting for workers", 0.0)
        step = farthest = 0
        while step <= farthest + 1:
            done = 0
            parts = [(self.order, number, (step, share, shares)) for share in range(shares)]
            self.tasks.send([(number, part) for part in parts])
            while done < shares:
                label = f"{self.names[number]}, pass {step}"
                for _, (missing, found) in self._wait(label, done / shares):
                    if missing is not None:
                        self.tasks.cancel(list(self.tasks.labels()))
                        self._note(number, missing)
                        return
                    done += 1
                    farthest = max(farthest, found)
            step += 1
        self.tasks.send([(number, (self.order, number, (step, None, shares)))])
        while not self._wait(f"{self.names[number]}, writing", 1.0):
            pass
