"""One hard position on a cluster: :func:`solve_split`."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from cutnode.cluster.tasks import IN_FLIGHT, PATIENCE, Tasks, require_client
from cutnode.contract.choices import CLUSTER_POSITIONS
from cutnode.contract.dispatch import game_name, is_plain
from cutnode.contract.errors import GameError, require_at_least
from cutnode.contract.positions import coerce
from cutnode.contract.verbs import INFINITE, NO_MOVE, outcome
from cutnode.kernels.clock import Clock
from cutnode.runtime.running import Limits, is_stopped
from cutnode.search.api import solve
from cutnode.search.results import Result, TableUse
from cutnode.search.resuming import ProofJournal
from cutnode.search.solving import presearch, require_batches
from cutnode.search.splitting import Split
from cutnode.search.top import Top
from cutnode.storage.tables import Table

TASK_SECONDS = 0.1
"""The target duration of a task, which sets its number of questions: a task costs some
milliseconds whatever it does."""

MOST_QUESTIONS = 64
"""The most questions of a task."""

SWEEP = 0.05
"""The interval, in seconds, at which the driver looks for tasks to cancel; a new question at the
root also triggers it."""

SCOUTING_MEGABYTES = 64
"""The table size of the search that guesses the value, in games that define ``scout``."""


@dataclass(frozen=True, slots=True)
class SplitProgress:
    """The progress of a split proof."""

    lower: int
    upper: int
    asked: int
    """The current question at the root: whether its value is at least this."""
    answers: int
    in_flight: int
    threads: int
    """The threads of all workers in the cluster at this moment."""
    nodes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class SplitResult(Result):
    """The result of a split proof; *nodes* is the sum over all workers."""

    plies: int
    positions: int
    """The positions in the top of the tree, which the driver holds."""
    leaves: int
    """The positions in the last layer of the top."""
    tasks: int
    """The tasks that answered."""
    answers: int
    """The answers of all tasks."""
    cancelled: int
    """The tasks that were cancelled because their answers were no longer needed."""
    restored: int
    """The answers that came from the journal."""
    busy: float
    """The seconds of all tasks, summed."""

    def to_dict(self) -> dict[str, Any]:
        own = [field.name for field in fields(self) if field.name not in Result.__slots__]
        # Not super(): slots=True replaces the class.
        return Result.to_dict(self) | {name: getattr(self, name) for name in own}


def solve_split(
    client: Any,
    position: Any,
    *,
    plies: int,
    journal: str | os.PathLike[str] | None = None,
    weak: bool = False,
    seconds: float | None = None,
    stop: threading.Event | None = None,
    table: int = 256,
    questions: int | None = None,
    most_positions: int = CLUSTER_POSITIONS,
    progress: Callable[[SplitProgress], None] | None = None,
) -> SplitResult:
    """Prove the value of a position, and a best move, by tasks on a Dask cluster.

    *client* is a ``distributed.Client``.  The driver expands the tree for *plies* choices; the
    positions below are the subproblems.  A task asks, for up to *questions* subproblems, whether
    the value is at least a threshold; with None, for as many as take a tenth of a second.  Each
    worker has a table of *table* MiB, which it keeps between tasks.

    Answers are kept in the file *journal*; a later call for the same position resumes from them,
    even with other *plies*, and so does :func:`cutnode.solve`, also at the same time.  *weak* finds
    only the winner.  When *seconds* have passed, *stop* is set, or Ctrl-C arrives, the bounds
    proven so far are returned.

    :class:`CutnodeError` if the top has more than *most_positions* positions, if a task fails
    repeatedly, or if the cluster is gone; the answers so far are then in the journal.
    """
    limits = Limits(None, seconds, stop)
    clock = Clock(None)
    require_client(client)
    from cutnode.cluster.worker import GameOnWorker, SentGame, answer

    cls: Any = type(position)
    require_batches(cls)
    if is_plain(cls):
        raise GameError(f"{game_name(cls)} is plain Python: a cluster needs a compiled game")
    require_at_least(plies, 1, "plies")
    require_at_least(table, 1, "the size of a table in MiB")
    if questions is not None:
        require_at_least(questions, 1, "questions")
    top = Top(position, plies, most_positions)
    presearched = presearch([position], Table(SCOUTING_MEGABYTES), limits)
    split = Split(top, weak=weak, guess=None if presearched is None else presearched.guesses[0])
    driver = Driver(split, questions, clock, progress)
    reason = ""
    kept = None if journal is None else ProofJournal(journal, position)
    with contextlib.nullcontext() if kept is None else kept:
        driver.restore(kept)
        if not split.done:
            game = GameOnWorker(SentGame.of(cls))
            with Tasks(client, answer, game) as tasks:
                reason = driver.run(tasks, kept, table, limits)
    return driver.result(position, reason)


class Driver:
    """The driver: keeps tasks in flight until a :class:`Split` has the value or a limit is hit."""

    def __init__(
        self,
        split: Split,
        questions: int | None,
        clock: Clock,
        progress: Callable[[SplitProgress], None] | None,
    ):
        self.split = split
        self.questions = questions
        self.clock = clock
        self.progress = progress
        self.answers = self.tasks = self.cancelled = self.restored = self.nodes = 0
        self.busy = 0.0
        self._asked, self._looked = split.asked, 0.0

    def restore(self, journal: ProofJournal | None) -> None:
        """Give bounds from the journal to the split, if there are new ones."""
        if journal is not None and len(entries := journal.news()):
            self.restored += self.split.restore(entries)

    def run(self, tasks: Tasks, journal: ProofJournal | None, table: int, limits: Limits) -> str:
        """Ask until the value is proven; return why it ended early, or ""."""
        self.table = table
        try:
            while not self.split.done:
                if is_stopped(limits.stops):
                    return "stopped"
                if limits.seconds is not None and self.clock.elapsed() >= limits.seconds:
                    return "time limit"
                self._fill(tasks)
                for leaves, (yes, nodes, seconds) in tasks.wait(PATIENCE):
                    self._answered(leaves, np.frombuffer(yes, np.uint8), nodes, journal)
                    self.tasks += 1
                    self.busy += seconds
                self._cancel(tasks)
                if journal is not None and journal.file.sync():
                    self.restore(journal)
                self._report(tasks)
        except KeyboardInterrupt:
            return "interrupted"
        return ""

    def _fill(self, tasks: Tasks) -> None:
        """Send tasks while there are questions to ask and threads to answer them."""
        threads = max(tasks.threads, 1)
        self._send(tasks, self.split.take, IN_FLIGHT * threads - len(tasks))
        self._send(tasks, self.split.take_ahead, threads - len(tasks), priority=-1)

    def _send(
        self,
        tasks: Tasks,
        take: Callable[[int], list[tuple[int, int]]],
        count: int,
        priority: int = 0,
    ) -> None:
        """Send at most *count* tasks."""
        if count < 1:
            return
        questions = take(count * self._each(tasks))
        parts = []
        for part in range(min(count, len(questions))):
            label = questions[part::count]
            words = b"".join(self.split.top.words_of(leaf).tobytes() for leaf, _ in label)
            asked = np.array([asked for _, asked in label], np.int32)
            expected = bytes(self.split.expects(leaf) for leaf, _ in label)
            parts.append((label, (tasks.plugin, words, asked.tobytes(), expected, self.table)))
        tasks.send(parts, priority)

    def _each(self, tasks: Tasks) -> int:
        """Return the number of questions for a task."""
        if self.questions is not None:
            return self.questions
        lasting = tasks.lasting(TASK_SECONDS)
        fitting = lasting * self.answers / self.busy if self.busy > 0 else 1
        return max(1, min(int(fitting), MOST_QUESTIONS))

    def _answered(
        self,
        label: list[tuple[int, int]],
        yes: np.ndarray,
        nodes: int,
        journal: ProofJournal | None,
    ) -> None:
        """Take the answers of a task, which took *nodes*."""
        work = max(nodes // max(len(yes), 1), 1).bit_length() - 1
        entries = np.zeros((len(yes), 2), np.uint64)
        for entry, (leaf, asked), at_least in zip(entries, label, yes, strict=False):
            lower, upper = (asked, INFINITE) if at_least else (-INFINITE, asked - 1)
            self.split.take_answer(leaf, lower, upper)
            entry[:] = self.split.entry(leaf, lower, upper, work)
        for leaf, _ in label[len(yes) :]:
            self.split.put_back(leaf)
        self.answers += len(yes)
        self.nodes += nodes
        if journal is not None:
            journal.append(entries, self.nodes)

    def _cancel(self, tasks: Tasks) -> None:
        """Cancel the tasks whose answers are no longer needed.

        Finding them takes a pass over the whole top, so this does not happen after each answer.
        """
        now = self.clock.elapsed()
        if self.split.asked == self._asked and now - self._looked < SWEEP:
            return
        self._asked, self._looked = self.split.asked, now
        idle = set(self.split.idle())
        if not idle:
            return
        labels = tasks.labels()
        useless = [k for k, label in labels.items() if all(leaf in idle for leaf, _ in label)]
        tasks.cancel(useless)
        self.cancelled += len(useless)
        for key in useless:
            for leaf, _ in labels[key]:
                self.split.put_back(leaf)

    def _report(self, tasks: Tasks) -> None:
        if self.progress is not None:
            split = self.split
            figures = (split.asked, self.answers, len(tasks), tasks.threads, self.nodes)
            now = self.clock.elapsed()
            self.progress(SplitProgress(split.lower, split.upper, *figures, now))

    def result(self, position: Any, reason: str) -> SplitResult:
        """Return the result so far."""
        split = self.split
        best: int | None = split.best_move()
        if split.done and best == NO_MOVE and not outcome(position)[0]:
            best = solve(position, weak=split.weak).best_move  # the game's bounds decided the value
        return SplitResult(
            position=coerce(position),
            value=split.lower if split.proven else None,
            lower=split.lower,
            upper=split.upper,
            weak=split.weak,
            best_move=None if best == NO_MOVE else best,
            scores=None,
            pv=(),
            nodes=self.nodes,
            seconds=self.clock.elapsed(),
            table=TableUse(0, 0, 0, 0, 0),
            reason="proven" if split.proven else reason,
            plies=split.top.plies,
            positions=len(split.nodes),
            leaves=split.top.leaves.stop - split.top.leaves.start,
            tasks=self.tasks,
            answers=self.answers,
            cancelled=self.cancelled,
            restored=self.restored,
            busy=self.busy,
        )
