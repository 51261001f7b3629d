"""The workers' side of a cluster: a game, its table, and the search for answers.

:class:`GameOnWorker` is a plugin that the client registers once for a game.  Dask brings it to
each worker, also to one that joins later or takes the place of one that died.  It holds the
table that all tasks of this worker share, and stops a task that is cancelled while it runs.
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
from cutnode.compiler.cache import own_sources
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
    """A class of positions, as a client describes it to its workers.

    The games of this package, and those in packages that are installed on the workers, go by
    name.  A game in a file of its own goes with its source, and with what it imports from the
    same folder.
    """

    name: str
    module: str
    cls: str
    rules: str
    """The digest of the rules, which have to be the same on the worker."""
    sources: tuple[tuple[str, bytes], ...]
    """The files to send, the game's own first; none if the workers have the module."""

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
                    f"{self.name} cannot be loaded on a worker: {error}; install it there, or put "
                    f"the game into one file"
                ) from None
        positions = getattr(module, self.cls, None)
        if positions is None or rules_digest(positions) != self.rules:
            raise GameError(
                f"a worker has other rules of {self.name} than the client: install the same "
                f"version there, and restart the workers"
            )
        return positions

    def _of_sources(self) -> Any:
        """Load the module of the files that were sent."""
        folder = Path(tempfile.mkdtemp(prefix="cutnode-"))
        for name, data in self.sources:
            (folder / name).write_bytes(data)
            os.utime(folder / name, (0, 0))  # what is loaded is what is there
        return load_game(str(folder / self.sources[0][0])).module


class GameOnWorker(WorkerPlugin):
    """A game on a worker: its class of positions, its table, and the tasks that run."""

    idempotent = True

    def __init__(self, game: SentGame):
        self.game = game
        self.name = f"cutnode-{game.name}-{game.rules}"

    def setup(self, worker: Any) -> None:
        """Get ready; Dask calls this when the plugin is on a worker."""
        self.threads = worker.state.nthreads
        self.shared = self.threads > 1
        self.running: dict[Any, threading.Event] = {}
        self._lock = threading.Lock()
        self._class: Any = None
        self._table: Table | None = None

    def transition(self, key: Any, start: str, finish: str, **details: Any) -> None:
        """Stop a task that is released while it runs; Dask calls this at each transition."""
        if finish == "released" and (stop := self.running.get(key)) is not None:
            stop.set()

    def positions(self, words: bytes) -> Packed:
        """Return positions of the game that were sent."""
        with self._lock:
            self._class = self._class or self.game.load()
        example = self._class(*(0,) * words_each(self._class))
        return Packed(np.frombuffer(words, np.uint64), example)

    def table(self, megabytes: int, positions: Packed) -> Table:
        """Return the table of this worker."""
        with self._lock:
            if self._table is None or self._table.megabytes != megabytes:
                self._table = None  # before there is another
                self._table = Table(megabytes)
                if self.shared:
                    ProofTask(positions[:1], self._table, Limits(), ProofSettings()).open_table()
            return self._table


@contextlib.contextmanager
def on_worker(plugin: str) -> Iterator[tuple[GameOnWorker, threading.Event]]:
    """Give the plugin of the worker on which this runs, and an event set on cancellation."""
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
    """Answer whether the value of each position for its mover is at least so much.

    *asked* is an int32 each, *expected* the answers that the rest depends on: after one that
    is different the rest may not matter, and is left.  Returns a byte for each answer (1 yes, 0
    no), the nodes, and the seconds of the proofs.
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
            started = time.perf_counter()  # now all is compiled
            run([task], limits.stops, reason="" if presearched is None else presearched.ended)
            seconds += time.perf_counter() - started
            if stop.is_set():
                break  # the answer is not wanted any more
            row = task.rows[0]
            if row["reason"] == PLIES:
                raise contract_violation(position[0], PLIES)
            answers.append(int(row["lower"] >= least))
            nodes += int(row["nodes"])
            if answers[number] != expected[number]:
                break
    return bytes(answers), nodes, seconds


def batch(plugin: str, words: bytes, options: dict[str, Any]) -> tuple[bytes, float]:
    """Do a batch of positions; return its rows, and the seconds."""
    started = time.perf_counter()
    with on_worker(plugin) as (game, stop):
        result = run_batch(game.positions(words), threads=1, stop=stop, **options)
    return result.rows.tobytes(), time.perf_counter() - started
