"""The measurement of searches: exact counts and times, position by position, in processes.

Code is compiled before the clock starts.  Node counts do not depend on the number of processes.
"""

from __future__ import annotations

import functools
import math
import pickle
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Generic, Self, TypeVar

from cutnode.contract.derived import legal_moves
from cutnode.contract.errors import CutnodeError
from cutnode.contract.loading import Game, load_game
from cutnode.contract.messages import move_text, position_text
from cutnode.kernels.evaluation import AnyEvaluation
from cutnode.kernels.techniques import choose, parameters_for, reference, technique_of
from cutnode.lab.measuring import Experiment, search_afresh
from cutnode.lab.statistics import Interval, quartiles
from cutnode.lab.study import Study
from cutnode.runtime.processes import Processes
from cutnode.search.api import alphabeta, minimax
from cutnode.search.results import PlainResult, SearchResult
from cutnode.search.searcher import Searcher
from cutnode.storage.tables import Table

ENOUGH = 0.05
"""The CPU seconds, over all positions, until which short searches are repeated."""

MOST_RUNS = 25
"""The most runs of a short search."""

LONGEST = 5.0
"""The CPU seconds, over all positions, after which no search is repeated, whatever ``runs`` is."""

SHORT_NODES = 10_000
"""The nodes below which a search's time mostly measures the overhead of the call."""

WORTHWHILE = 2.0
"""The CPU seconds of work after which other processes take a share of the rest."""

BUSY = 0.05
"""The share of its time waiting for a core above which a search ran on a busy machine."""

Sample = dict[str, Any]
"""The measurement of one position: see :attr:`Study.samples`."""

Task = TypeVar("Task")
Answer = TypeVar("Answer")


# One position, in the process that searches it


@dataclass(frozen=True, slots=True)
class _Task:
    """The measurement to make of one position."""

    position: int
    """The number of the position."""
    search: str
    """``search``, ``best moves`` (the scores of all moves), ``minimax`` or ``alphabeta``."""
    depth: int
    runs: int
    nodes: int
    """The node limit; minimax and alphabeta have none."""
    options: dict[str, Any]
    """Keywords for :class:`Searcher`."""


class _Bench:
    """A bench that measures searches of positions, one at a time, with one table."""

    def __init__(
        self,
        positions: Sequence[Any],
        evaluation: AnyEvaluation,
        table_mb: int,
        parameters: Mapping[str, float],
    ):
        self.positions = positions
        self.evaluation = evaluation
        self.table = Table(table_mb)
        self.parameters = parameters
        self._searcher: tuple[dict[str, Any], Searcher] | None = None

    def searcher(self, options: dict[str, Any]) -> Searcher:
        """Return a compiled searcher with these options."""
        if self._searcher is None or self._searcher[0] != options:
            cls: Any = type(self.positions[0])
            chosen = choose(cls, options.get("techniques"), exact=options.get("exact", False))
            parameters = parameters_for(chosen, self.parameters)
            keywords = {"evaluation": self.evaluation, "parameters": parameters, **options}
            self._searcher = options, Searcher(cls, table=self.table, **keywords)
        return self._searcher[1]

    def __call__(self, task: _Task) -> Sample | None:
        """Return the measurement; None if the search exceeds the task's node limit."""
        position = self.positions[task.position]
        if task.search == "best moves":
            return self._best_moves(task, position)
        if task.search == "search":
            searcher = self.searcher(task.options)
            return self._timed(
                task, lambda: search_afresh(searcher, position, task.depth, nodes=task.nodes)
            )
        plain = {"minimax": minimax, "alphabeta": alphabeta}[task.search]
        plain(position, 0, evaluation=self.evaluation)  # compiles
        return self._timed(task, lambda: plain(position, task.depth, evaluation=self.evaluation))

    def _timed(self, task: _Task, once: Callable[[], Any]) -> Sample | None:
        """Repeat the search until its time is known well; with ``runs`` 1, search only once."""
        share = len(self.positions)
        most = max(task.runs, MOST_RUNS) if task.runs > 1 else 1
        spent: list[float] = []
        began = time.perf_counter()
        while True:
            started = time.process_time()
            result = once()
            spent.append(time.process_time() - started)
            if getattr(result, "reason", "") == "node limit":
                return None
            total, count = sum(spent), len(spent)
            is_enough = count >= task.runs and (total > ENOUGH / share or count == most)
            if is_enough or total > LONGEST / share:
                break
        elapsed = time.perf_counter() - began
        low, middle, high = quartiles(spent)
        sample = {"nodes": result.nodes, "leaves": leaves_of(result), "seconds": middle}
        if count > 1:
            sample |= {"seconds_low": low, "seconds_high": high}
        sample |= {"runs": count, "waited": max(0.0, 1 - total / elapsed), "value": result.value}
        if isinstance(result, SearchResult):
            best = result.best_move  # None at a chance node
            counts = result.statistics
            sample |= {
                "move": None if best is None else move_text(result.position, best),
                "meaning": result.meaning(),
                "cutoffs": counts.cutoffs,
                "first_cutoffs": counts.first_cutoffs,
            }
        return sample

    def _best_moves(self, task: _Task, position: Any) -> Sample | None:
        searcher = self.searcher(task.options)
        lines = len(legal_moves(position))
        result = search_afresh(searcher, position, task.depth, nodes=task.nodes, lines=lines)
        if result.reason == "node limit":
            return None
        return {"scores": {move_text(position, line.move): line.value for line in result.lines}}


# Processes


class Workbench(Generic[Task, Answer]):
    """A pool that answers tasks in this process, or in worker processes prepared the same way.

    ``prepare(positions, *args)`` returns the function that answers a task.  With more than one
    worker it is also called in each worker process, so it and its arguments must pickle;
    :class:`CutnodeError` otherwise.  Your own *techniques* are registered there under the names
    they have here.  As a context manager, it ends the processes.

    The first :data:`WORTHWHILE` CPU seconds of work are done in this process: starting others
    takes about as long.
    """

    def __init__(
        self,
        workers: int,
        prepare: Callable[..., Callable[[Task], Answer]],
        positions: Sequence[Any],
        *args: Any,
        techniques: Iterable[str] = (),
    ):
        self.here: Any = prepare(positions, *args)
        """This process's answering function; the workers reuse the code that it compiles."""
        self.shares = False
        """Whether worker processes are sharing the work."""
        self._spent = 0.0
        self._processes: Processes[Task, Answer] | None = None
        if workers > 1:
            texts = list(map(reference, techniques))
            try:
                content = pickle.dumps((texts, prepare, positions, args))
            except Exception as error:
                raise CutnodeError(
                    f"the search cannot be sent to other processes ({error}): use 1 worker"
                ) from None
            # A process must import the game's module before it unpickles positions.
            send = functools.partial(_received, Game.of(positions[0]).source, content)
            self._processes = Processes(send, workers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        if self._processes is not None:
            self._processes.__exit__(*failure)

    def answers(self, tasks: Iterable[Task]) -> Generator[Answer, None, None]:
        """Yield the answers to tasks, in order; tasks are taken only when a worker is free."""
        waiting = iter(tasks)
        if not self.shares:
            for task in waiting:
                yield self._answer_here(task)
                self.shares = self._processes is not None and self._spent >= WORTHWHILE
                if self.shares:
                    break
        if self._processes is not None and self.shares:
            with closing(self._processes.answers(waiting)) as answers:
                yield from answers

    def _answer_here(self, task: Task) -> Answer:
        began = time.process_time()
        answer: Answer = self.here(task)
        self._spent += time.process_time() - began
        return answer


def _received(source: str, content: bytes) -> Any:
    load_game(source)
    try:
        texts, prepare, positions, args = pickle.loads(content)
    except (AttributeError, ImportError) as error:
        raise CutnodeError(
            f"another process cannot import the code to search with ({error}): put it into a "
            f"file, or use 1 worker"
        ) from None
    for text in texts:
        technique_of(text)  # registers techniques from outside
    return prepare(positions, *args)


def leaves_of(result: SearchResult | PlainResult) -> int:
    """Return the leaves that a search has visited."""
    return result.statistics.leaves if isinstance(result, SearchResult) else result.leaves


# All positions


@dataclass(frozen=True, slots=True)
class Measured:
    """The measurement of the same search on one or several positions."""

    samples: tuple[Sample, ...]
    depth: int

    @property
    def each(self) -> list[int]:
        """The nodes of each position."""
        return [sample["nodes"] for sample in self.samples]

    @property
    def nodes(self) -> int:
        """The nodes of all positions."""
        return sum(self.each)

    @property
    def leaves_each(self) -> list[int]:
        """The leaves of each position."""
        return [sample["leaves"] for sample in self.samples]

    @property
    def leaves(self) -> int:
        """The leaves of all positions."""
        return sum(self.leaves_each)

    @property
    def seconds(self) -> float:
        """The CPU time of all positions."""
        return sum(self.times)

    @property
    def runs(self) -> int:
        """The fewest runs of any position."""
        runs: int = min(sample["runs"] for sample in self.samples)
        return runs

    @property
    def times(self) -> list[float]:
        """The CPU time of each position: the median of its runs."""
        return [sample["seconds"] for sample in self.samples]

    @property
    def spread(self) -> float | None:
        """The sum of the times' interquartile ranges / the sum of their medians.

        None if a position was timed only once.
        """
        ranges: list[float] = [
            sample["seconds_high"] - sample["seconds_low"]
            for sample in self.samples
            if "seconds_low" in sample
        ]
        if len(ranges) < len(self.samples) or not self.seconds:
            return None
        return sum(ranges) / self.seconds

    @property
    def first_cutoff_rate(self) -> float | None:
        """The share of cutoffs by the first move searched; None without cutoffs."""
        cutoffs = sum(sample.get("cutoffs", 0) for sample in self.samples)
        first = sum(sample.get("first_cutoffs", 0) for sample in self.samples)
        return first / cutoffs if cutoffs else None


def figures_of(found: Measured) -> dict[str, Any]:
    """Return the nodes and the figures of :data:`FIGURES` of a measurement."""
    seconds = found.seconds
    row = {
        "nodes": found.nodes,
        "leaves": found.leaves,
        "seconds": seconds,
        "spread": found.spread,
        "ebf": (found.nodes / len(found.samples)) ** (1 / found.depth),
        "first": found.first_cutoff_rate,
        "rate": found.nodes / seconds / 1e6 if seconds else None,
        "runs": found.runs,
    }
    return {name: figure for name, figure in row.items() if figure is not None}


def same_value(a: float | None, b: float | None) -> bool:
    """Return whether two values are the same, up to the rounding of expected values."""
    if a is None or b is None:
        return False
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


def with_interval(name: str, interval: Interval) -> dict[str, float]:
    """Return the figures of a column with an interval, without unknown ones."""
    ends = zip((name, f"{name}_low", f"{name}_high"), interval, strict=True)
    return {each: figure for each, figure in ends if figure is not None}


class Laboratory:
    """The bench of an experiment: measures searches of its positions, and adds samples to a study.

    As a context manager, it ends the processes that it started.
    """

    def __init__(self, experiment: Experiment, study: Study):
        self.experiment = experiment
        self.study = study
        self.texts = [position_text(position) for position in experiment.positions]
        self.workers = min(experiment.workers, len(experiment.positions))
        self._workbench: Workbench[_Task, Any] = Workbench(
            self.workers,
            _Bench,
            *(experiment.positions, experiment.evaluation, experiment.table_mb),
            experiment.parameters,
            techniques=experiment.techniques,
        )
        self._waited = self._busy = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self._workbench.__exit__(*failure)

    def compile(self, **options: Any) -> None:
        """Compile the search with these options of :class:`Searcher`."""
        self._workbench.here.searcher(options)

    def search(
        self, key: dict[str, Any], depth: int, *, runs: int | None = None, **options: Any
    ) -> Measured | None:
        """Search all positions with these options of :class:`Searcher`.

        *key* has the fields that name the table row; each sample begins with them.  Return None if
        the positions together reach the node limit of a row.
        """
        most = self.experiment.most_nodes
        return self._measure(key, "search", depth, runs, most, options)

    def alphabeta(self, key: dict[str, Any], depth: int) -> Measured:
        """Search all positions with textbook alpha-beta, without a node limit."""
        found = self._measure(key, "alphabeta", depth, None, None, {})
        assert found is not None
        return found

    def minimax(self, most_nodes: int) -> tuple[Measured, int]:
        """Search all positions by minimax, to the greatest depth expected within *most_nodes*.

        Also return the nodes expected at the experiment's depth.  Both estimates extrapolate from
        the node counts of the last two depths.  The row is called ``minimax``, or
        ``minimax 4 deep``.
        """
        depth = self.experiment.depth
        reached, before, nodes = 0, len(self.texts), len(self.texts)
        samples: list[Sample] = []
        while not reached or (reached < depth and nodes * nodes / before <= most_nodes):
            reached += 1
            samples = list(self._answers(_Task(0, "minimax", reached, self.experiment.runs, 0, {})))
            before, nodes = nodes, sum(sample["nodes"] for sample in samples)
        name = "minimax" if reached == depth else f"minimax {reached} deep"
        pairs = zip(self.texts, samples, strict=True)
        samples = [{"step": name, "position": text} | sample for text, sample in pairs]
        for sample in samples:
            self.study.add_sample(sample)
        return Measured(tuple(samples), reached), round(
            nodes * (nodes / before) ** (depth - reached)
        )

    def best_moves(self, numbers: Sequence[int], **options: Any) -> list[dict[str, float] | None]:
        """Return the scores of all moves of some positions, by the moves' texts.

        None for a position that exceeds the node limit of a row.
        """
        experiment = self.experiment
        task = _Task(0, "best moves", experiment.depth, 1, experiment.most_nodes, options)
        found = self._answers(task, numbers)
        return [None if sample is None else sample["scores"] for sample in found]

    def note_conditions(self) -> None:
        """Note the conditions that make times less reliable."""
        if self._workbench.shares:
            self.study.add_note(
                f"Times: up to {self.workers} searches ran at once, each in its own process, "
                f"sharing caches and memory bandwidth. With --workers 1 they would run alone."
            )
        if self._busy and self._waited / self._busy > BUSY:
            self.study.add_note(
                f"Times: the machine was busy, and searches spent {self._waited / self._busy:.0%} "
                f"of the time waiting for a core: compare nodes."
            )

    def _measure(
        self,
        key: dict[str, Any],
        search: str,
        depth: int,
        runs: int | None,
        most: int | None,
        options: dict[str, Any],
    ) -> Measured | None:
        recalled = [self.study.recall(**key, position=text) for text in self.texts]
        samples: dict[int, Sample] = {at: it for at, it in enumerate(recalled) if it is not None}
        missing = [number for number in range(len(self.texts)) if number not in samples]
        runs = self.experiment.runs if runs is None else runs
        task = _Task(0, search, depth, runs, 0, options)

        def left() -> int | None:
            return None if most is None else most - sum(it["nodes"] for it in samples.values())

        with closing(self._answers(task, missing, left)) as answers:
            for number, sample in zip(missing, answers, strict=True):
                if sample is None:
                    return None
                samples[number] = key | {"position": self.texts[number]} | sample
                if (rest := left()) is not None and rest <= 0:  # others used some nodes meanwhile
                    return None
                self.study.add_sample(samples[number])
                self._look_at_load(sample)
        return Measured(tuple(samples[number] for number in sorted(samples)), depth)

    def _answers(
        self,
        task: _Task,
        numbers: Iterable[int] | None = None,
        left: Callable[[], int | None] = lambda: None,
    ) -> Generator[Any, None, None]:
        """Yield the measurements of the positions with these numbers, by default all."""
        chosen = range(len(self.texts)) if numbers is None else numbers
        tasks = (
            replace(
                task,
                position=number,
                nodes=task.nodes if (most := left()) is None else max(1, most),
            )
            for number in chosen
        )
        return self._workbench.answers(tasks)

    def _look_at_load(self, sample: Sample) -> None:
        if sample["nodes"] > SHORT_NODES:
            elapsed = sample["seconds"] * sample["runs"]
            self._busy += elapsed
            self._waited += sample["waited"] * elapsed
