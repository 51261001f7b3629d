"""The worker side of a cluster: a game, its table, and the search for answers.

:class:`GameOnWorker` is a plugin that the client registers once for each game.  Dask installs it on
every worker, including workers that join later or replace dead ones.  It holds the table that all
tasks of the worker share, and stops a running task that is cancelled.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from distributed import WorkerPlugin, get_worker

from cutnode.batches.running import run_batch
from cutnode.compiler.sources import own_sources
from cutnode.contract.dispatch import game_name, module_of
from cutnode.contract.errors import GameError
from cutnode.contract.loading import load_game
from cutnode.contract.messages import contract_violation
from cutnode.contract.positions import Packed, words_each
from cutnode.contract.stop import PLIES
from cutnode.kernels.solver import SHARED_TABLE, SINGLE_THREADED
from cutnode.runtime.running import Limits, run
from cutnode.search.solving import ProofSettings, ProofTask, presearch, solver_memory
from cutnode.storage.arrays import rules_digest
from cutnode.storage.tables import Table


@dataclass(frozen=True)
class SentGame:
    """A class of positions, as the client describes it to its workers.

    The games of this package, and of packages installed on the workers, are sent by name.  A game
    in a file of its own is sent with its source, and with the modules that it imports from the
    same folder.
    """

    name: str
    module: str
    cls: str
    rules: str
    """The digest of the rules, which must be the same on the worker."""
    sources: tuple[tuple[str, bytes], ...]
    """The files to send, the game's own first; empty if the workers have the module."""

    @classmethod
    def of(cls, positions: Any) -> SentGame:
        """Describe the game of a class; :class:`GameError` if it cannot be sent."""
        module = module_of(positions)
        digest = rules_digest(positions)
        sources: tuple[tuple[str, bytes], ...] = ()
        if "." not in module.__name__:
            path = Path(str(module.__file__))
            files = dict.fromkeys([path, *own_sources(module)])
            sources = tuple((p.name, p.read_bytes()) for p in files if p.parent == path.parent)
        return cls(game_name(positions), module.__name__, positions.__qualname__, digest, sources)

    def load(self) -> Any:
        """Load the class of positions; :class:`GameError` if it is not the same here."""
        module = sys.modules.get(self.module)
        if module is None:
            try:
                module = (
                    self._of_sources() if self.sources else importlib.import_module(self.module)
                )
            except ModuleNotFoundError as error:
                raise GameError(
                    f"{self.name} cannot be loaded on a worker: {error}; install the module there, "
                    f"or put the game into one file"
                ) from None
        positions = getattr(module, self.cls, None)
        if positions is None or rules_digest(positions) != self.rules:
            raise GameError(
                f"a worker and the client have different rules of {self.name}: install the same "
                f"version on the workers, and restart them"
            )
        return positions

    def _of_sources(self) -> Any:
        """Load the module from the files that were sent."""
        folder = Path(tempfile.mkdtemp(prefix="cutnode-"))
        for name, data in self.sources:
            (folder / name).write_bytes(data)
            os.utime(folder / name, (0, 0))  # so that no stale bytecode is loaded
        return load_game(str(folder / self.sources[0][0])).module


class GameOnWorker(WorkerPlugin):
    """A game on a worker: its class of positions, its table, and the tasks that run."""

    idempotent = True

    def __init__(self, game: SentGame):
        self.game = game
        self.name = f"cutnode-{game.name}-{game.rules}"

    def setup(self, worker: Any) -> None:
        """Set up the plugin; Dask calls this when it installs it on a worker."""
        self.threads = worker.state.nthreads
        self.shared = self.threads > 1
        self.running: dict[Any, threading.Event] = {}
        self._lock = threading.Lock()
        self._class: Any = None
        self._table: Table | None = None

    def transition(self, key: Any, start: str, finish: str, **details: Any) -> None:
        """Stop a running task that is released; Dask calls this at each transition."""
        if finish == "released" and (stop := self.running.get(key)) is not None:
            stop.set()

    def positions(self, words: bytes) -> Packed:
        """Return the positions packed in *words*."""
        with self._lock:
            self._class = self._class or self.game.load()
        example = self._class(*(0,) * words_each(self._class))
        return Packed(np.frombuffer(words, np.uint64), example)

    def table(self, megabytes: int, positions: Packed) -> Table:
        """Return the table of this worker."""
        with self._lock:
            if self._table is None or self._table.megabytes != megabytes:
                self._table = None  # free it before allocating another
                self._table = Table(megabytes)
                if self.shared:
                    ProofTask(positions[:1], self._table, Limits(), ProofSettings()).open_table()
            return self._table


@contextlib.contextmanager
def on_worker(plugin: str) -> Iterator[tuple[GameOnWorker, threading.Event]]:
    """Yield the plugin of this worker, and an event that is set when the task is cancelled."""
    worker = get_worker()
    game: Any = worker.plugins[plugin]
    key, stop = worker.get_current_task(), threading.Event()
    game.running[key] = stop
    try:
        yield game, stop
    finally:
        del game.running[key]


def answer(
    plugin: str, words: bytes, asked: bytes, expected: bytes, megabytes: int
) -> tuple[bytes, int, float]:
    """Answer for each position whether its value for the mover is at least a threshold.

    *asked* has an int32 threshold for each position, and *expected* the expected answers: after an
    unexpected answer the rest may not matter, and is skipped.  Return a byte for each answer (1
    yes, 0 no), the nodes, and the seconds of the proofs.
    """
    answers, nodes, seconds = bytearray(), 0, 0.0
    with on_worker(plugin) as (game, stop):
        positions = game.positions(words)
        limits = Limits(stop=stop)
        table = game.table(megabytes, positions)
        memory = solver_memory(type(positions.example))
        for number, least in enumerate(np.frombuffer(asked, np.int32).tolist()):
            position = positions[number : number + 1]
            presearched = None if game.shared else presearch(position, table, limits)
            sharing = SHARED_TABLE if game.shared else SINGLE_THREADED
            task = ProofTask(
                position,
                table,
                limits,
                ProofSettings(sharing=sharing),
                known=(least - 1, least),
                presearched=presearched,
                memory=memory,
            )
            started = time.perf_counter()  # everything is compiled by now
            run([task], limits.stops, reason="" if presearched is None else presearched.ended)
            seconds += time.perf_counter() - started
            if stop.is_set():
                break  # the answer is no longer wanted
            row = task.rows[0]
            if row["reason"] == PLIES:
                raise contract_violation(position[0], PLIES)
            answers.append(int(row["lower"] >= least))
            nodes += int(row["nodes"])
            if answers[number] != expected[number]:
                break
    return bytes(answers), nodes, seconds


def batch(plugin: str, words: bytes, options: dict[str, Any]) -> tuple[bytes, float]:
    """Run a batch of positions; return its rows and the seconds it took."""
    started = time.perf_counter()
    with on_worker(plugin) as (game, stop):
        result = run_batch(game.positions(words), threads=1, stop=stop, **options)
    return result.rows.tobytes(), time.perf_counter() - started
