"""The exact solver of one game: threads that prove the value of a position, and the result.

A proof is a series of null-window searches, one of which asks whether the value is at least a
bound.  Before it, a search of limited depth guesses the first bound and leaves its moves in the
table: in games whose estimates predict values, at a thousandth of the cost of the proof.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from cutnode.compiler.memory import Memory
from cutnode.contract.derived import legal_moves, most_value
from cutnode.contract.dispatch import defines, game_constant, game_name, value_limit
from cutnode.contract.errors import ContractError, GameError
from cutnode.contract.messages import contract_violation, too_long
from cutnode.contract.native import records
from cutnode.contract.positions import as_words, coerce
from cutnode.contract.stop import CALLED, MOVES, NODES, PLIES, RUNNING, TIME, VALUE
from cutnode.contract.verbs import INFINITE, bounds, moves_again, outcome, play, scout
from cutnode.kernels.clock import Clock, seconds_per_tick
from cutnode.kernels.parameters import MOST_DEPTH, SCOUTING_SHARE
from cutnode.kernels.profiles import profile_of
from cutnode.kernels.solver import (
    ENLARGE_TABLE,
    PREPARE_TABLE,
    SHARED_TABLE,
    SINGLE_THREADED,
    result_dtype,
    search_dtype,
    solve_batch,
)
from cutnode.kernels.table import BUCKETS
from cutnode.runtime.running import UNLIMITED, KernelLoop, Limits, run
from cutnode.runtime.threads import SHARED_WORKERS, Workers
from cutnode.search.options import require_book, thread_count
from cutnode.search.results import Result, TableUse
from cutnode.search.searcher import Searcher
from cutnode.storage.books import Book
from cutnode.storage.tables import Table, holding
from cutnode.tablebases.layer_tables import POINTS
from cutnode.tablebases.tablebase import Tablebase

LINE_FACTOR = 2
"""The proof of a value and the search for its line may together visit so many times the nodes to
which the proof is limited: where a game's ``bounds`` know who wins, the line is all the work."""


def solver_memory(cls: Any, tablebase: Tablebase | None = None) -> Memory:
    """Return the memory of a thread that solves positions of a class.

    Lines end in the *tablebase* if it has values, and not only who wins where they are larger.
    """
    memory = Memory(cls, search_dtype(cls))
    if tablebase is not None and (tablebase.kind == POINTS or value_limit(cls) == 1):
        tablebase.lend(memory.words)
    memory["plies"] = game_constant(cls, "MAX_PLIES", 512)
    profile = profile_of(cls)
    memory["table_plies"], memory["enhanced_plies"] = profile.solver_plies(cls)
    memory["crowding"] = profile.crowding
    return memory


class Goal(NamedTuple):
    """What is to be proven of a position."""

    position: Any
    weak: bool
    scores: bool = False
    """Whether the values of all moves are wanted, too."""
    at_least: int | None = None
    """The only question: is the value at least this?"""


class ProofSettings(NamedTuple):
    """The settings of a proof, explained at ``cutnode.kernels.solver.solve_batch``."""

    weak: bool = False
    line: int = 0
    cold: bool = False
    sharing: int = SINGLE_THREADED


class ProofTask(KernelLoop):
    """One thread's proofs of the values of some positions, with a table and a memory."""

    rate = 0.0

    def __init__(
        self,
        positions: Sequence[Any],
        table: Table,
        limits: Limits,
        settings: ProofSettings,
        *,
        known: tuple[int, int] | None = None,
        presearched: Presearch | None = None,
        memory: Memory | None = None,
    ):
        self.example = coerce(positions[0])
        self.words = as_words(positions)
        self.table = table
        table.claim(type(self.example))
        self.settings = settings
        cls: Any = type(self.example)
        self.run = solve_batch.specialise(cls)
        self.rows = records(len(positions), result_dtype(cls))
        limit = most_value(self.example)
        self.rows["lower"], self.rows["upper"] = known or (-limit, limit)
        self.rows["guess"] = INFINITE if presearched is None else presearched.guesses
        self.rows["reason"] = CALLED
        memory = solver_memory(cls) if memory is None else memory
        super().__init__(memory, memory, Clock(limits.seconds, held=True))
        self.search = memory.words
        self.search["stop"][0] = RUNNING
        self.most_nodes = min(limits.nodes or UNLIMITED, UNLIMITED)
        in_all = limits.whole or limits.nodes or UNLIMITED
        self.most_with_line = min(in_all * LINE_FACTOR, UNLIMITED)
        self.search["node_limit"][0] = self.most_nodes - 1
        self.search["line_limit"][0] = self.most_with_line - 1
        self.search["scouted"][0] = 0 if presearched is None else presearched.purpose
        self.search["stop_at"][0] = -1
        self.seconds = np.zeros(len(positions))
        self.rivals: Sequence[ProofTask] = ()
        """Tasks with the same position, which end when this one has proven its value."""

    def work(self) -> None:
        """Solve the positions.

        :class:`ContractError` if one of those that are met breaks the contract.
        """
        self.clock.release()
        self._call(self.rows, self.settings.sharing)
        self._require_sound()
        if self.rivals and self.rows[0]["reason"] == RUNNING:
            for rival in self.rivals:
                rival.stop()

    def attempt(self, nodes: int) -> bool:
        """Solve the only position in this thread, with so many nodes at most.

        Return whether that was enough, or all that the limits allow.  What is proven stays.
        """
        self.search["node_limit"][0] = min(nodes, self.most_nodes) - 1
        self.search["line_limit"][0] = nodes
        weak, line, cold, _ = self.settings
        memory, table = self.memory.argument, self.table.words
        self.run(self.example, self.words, self.rows, weak, line, cold, 0, memory, table)
        self._require_sound()
        done = self.search["stop"][0] == RUNNING or nodes >= self.most_nodes
        self.search["node_limit"][0] = self.most_nodes - 1
        self.search["line_limit"][0] = self.most_with_line - 1
        self.search["stop"][0], self.search["stop_at"][0] = RUNNING, -1
        return bool(done)

    def _require_sound(self) -> None:
        """Take the times; :class:`ContractError` if a position that was met breaks the contract."""
        if self.search["stop"][0] in (VALUE, MOVES):
            violation = self.memory.position("violation", self.example)
            raise contract_violation(violation, int(self.search["stop"][0]))
        self.seconds = self.rows["ticks"] * self.seconds_per_tick()

    def seconds_per_tick(self) -> float:
        """Return the rate of the counter, measured once in a process."""
        if not ProofTask.rate:
            ProofTask.rate = seconds_per_tick(self._read_counter)
        return ProofTask.rate

    def _read_counter(self) -> int:
        self._call(self.rows[:0], SINGLE_THREADED)
        return int(self.search["ticks"][0])

    def open_table(self) -> None:
        """Make the table ready for several threads; before any of them starts."""
        self._call(self.rows[:0], PREPARE_TABLE)

    def enlarge_table(self, entries: int) -> None:
        """Make room for so many more entries of threads that go on with a search."""
        self.search["node_limit"][0] = entries
        self._call(self.rows[:0], ENLARGE_TABLE)
        self.search["node_limit"][0] = self.most_nodes - 1

    def _call(self, rows: np.ndarray, sharing: int) -> None:
        memory, table = self.memory.argument, self.table.words
        weak, line, cold, _ = self.settings
        self.run(self.example, self.words, rows, weak, line, cold, sharing, memory, table)


@dataclass(frozen=True, slots=True)
class Presearch:
    """The results of searches of limited depth that go before the proofs of positions."""

    guesses: list[int]
    """The score of each position, or ``INFINITE`` if it was not searched."""
    purpose: int
    """Part of the keys under which the searches left their moves in the table."""
    nodes: list[int]
    seconds: list[float]
    left: Limits
    """The limits that are left to the proof of each."""
    ended: str
    """Why the searches, and so the proofs, were ended early; "" if they were not."""


def presearch(
    positions: Sequence[Any],
    table: Table,
    limits: Limits,
    *,
    cold: bool = False,
    searcher: Searcher | None = None,
) -> Presearch | None:
    """Search positions of one class as deep as their game says; return None if it does not.

    It takes at most ``1 / SCOUTING_SHARE`` of the *limits* of each position, and the proof has
    the rest.  *cold*: what is found of a position does not depend on the others.  *searcher* is one
    with that table and the techniques of the game, by default a new one.
    """
    cls = type(positions[0])
    if not defines(cls, "scout"):
        return None
    depths = [0 if outcome(position)[0] else scout(position) for position in positions]
    if not any(depths) or (limits.nodes is not None and limits.nodes < SCOUTING_SHARE):
        return None
    table.claim(cls)
    if searcher is None:
        searcher = Searcher(cls, table=table)
    guesses = [INFINITE] * len(positions)
    nodes, seconds = [0] * len(positions), [0.0] * len(positions)
    ended = ""
    for number, (position, depth) in enumerate(zip(positions, depths, strict=True)):
        if depth > 0 and not ended:
            if cold:
                table.forget()
            if cold or number == 0:
                searcher.unlearn()
            result = searcher.search(
                coerce(position),
                depth=min(depth, MOST_DEPTH),
                nodes=limits.nodes and limits.nodes // SCOUTING_SHARE,
                seconds=limits.seconds and limits.seconds / SCOUTING_SHARE,
                stop=limits.stop,
            )
            nodes[number], seconds[number] = result.nodes, result.seconds
            if result.depth > 0:
                guesses[number] = int(result.value)
            if result.reason in ("stopped", "interrupted"):
                ended = result.reason
    left = replace(
        limits,
        nodes=limits.nodes and max(1, limits.nodes - max(nodes)),
        seconds=limits.seconds and max(1e-3, limits.seconds - max(seconds)),
    )
    return Presearch(guesses, int(searcher.words["purpose"][0]), nodes, seconds, left, ended)


SHORT_NODES = 1_000
"""What is proven in so many nodes is proven in the caller's thread: see ``INLINE_NODES``."""

FIRST_ROUND = 1 << 17
ROUND_GROWTH = 4
"""Threads search so many nodes, and then so many times as many: they come back so that the region
of the table that they share grows with the search."""

DEFAULT_MEGABYTES = 256
"""The size of the table of searches that are given none."""


class Solver:
    """Proves the values of positions of one game, one after the other, with some threads.

    Its memory and the compiled code stay ready.  All of a *book* is put into the table before each
    proof, in 50 nanoseconds for each position.  Lines of play end where the *tablebase* has values.
    """

    def __init__(
        self,
        cls: Any,
        table: Table,
        threads: int = 1,
        workers: Workers = SHARED_WORKERS,
        book: Book | None = None,
        tablebase: Tablebase | None = None,
    ):
        require_solvable(cls)
        require_book(book, cls)
        self.book = book
        self.table = table
        self.threads = thread_count(threads, cls)
        self.workers = workers
        solve_batch.specialise(cls)  # compiles before a clock runs
        self.memories = [solver_memory(cls, tablebase) for _ in range(self.threads)]
        self.presearcher: Searcher | None = None
        if defines(cls, "scout"):
            self.presearcher = Searcher(cls, table=table, threads=threads, workers=workers)
        self.running: list[ProofTask] = []
        """Those of the position that is being solved,"""
        self.spent = 0
        """the nodes before them,"""
        self.stopped = False
        """and whether it was to end."""

    def stop(self) -> None:
        """End what runs now, from any thread."""
        self.stopped = True
        if self.presearcher is not None:
            self.presearcher.stop()
        for task in self.running:
            task.stop()

    def progress(self) -> tuple[int, int | None, int | None]:
        """Return the nodes of the proof that runs, and the bounds proven so far."""
        tasks = self.running
        if not tasks:
            return 0, None, None
        nodes = self.spent + sum(int(task.search["nodes"][0]) for task in tasks)
        lower = max(int(task.rows[0]["lower"]) for task in tasks)
        return nodes, lower, min(int(task.rows[0]["upper"]) for task in tasks)

    def prove(
        self, goal: Goal, limits: Limits, known: tuple[int, int] | None = None, line: int = 2
    ) -> Result:
        """Prove the value of a position; *known* bounds it.  *line* is as for ``solve_batch``."""
        if goal.scores:
            return with_scores(self.prove, goal, limits, known)
        if goal.at_least is not None:
            return self.ask(goal, limits)
        position, weak = goal.position, goal.weak
        self.stopped = False
        if self.book is not None:
            self.book.fill(self.table)
        presearched = presearch([position], self.table, limits, searcher=self.presearcher)
        if presearched is not None:
            limits = presearched.left
        ended = "" if presearched is None else presearched.ended
        first = self._task(position, limits, ProofSettings(weak, line), known, presearched, 0)
        tasks = [first]
        try:
            done = not ended and first.attempt(SHORT_NODES)
        except KeyboardInterrupt:
            done, ended = False, "interrupted"
        rounds = [tasks]
        if not done:
            settings = ProofSettings(weak, line)
            try:
                ended = self._go_on(rounds, position, limits, settings, presearched, ended)
            finally:
                self.running = []
            tasks = [task for each in reversed(rounds) for task in each]
        rows = np.concatenate([task.rows.view(np.ndarray) for task in tasks])
        # Of two that have a proof, one may have been ended before its line was found.
        row = rows[int(np.lexsort((-rows["length"], rows["upper"] - rows["lower"]))[0])]
        row["lower"], row["upper"] = rows["lower"].max(), rows["upper"].min()
        # Threads of a round come back at a number of nodes, which may be no limit of the search.
        reasons = {int(reason) for reason in rows["reason"][: len(rounds[-1])]}
        row["reason"] = CALLED if self.stopped else max(reasons - {NODES}, default=NODES)
        for name in ("nodes", *TableUse.__slots__):
            row[name] = rows[name].sum()
        seconds = sum(max(float(task.seconds[0]) for task in each) for each in rounds)
        if presearched is not None:
            row["nodes"] += presearched.nodes[0]
            seconds += presearched.seconds[0]
        result = proof_result(weak, ended, position, row, seconds)
        if ended == "interrupted":  # a loop that solves has to hear of it, proven or not
            result = replace(result, reason=ended)
        return result

    def _go_on(
        self,
        rounds: list[list[ProofTask]],
        position: Any,
        limits: Limits,
        settings: ProofSettings,
        presearched: Presearch | None,
        ended: str,
    ) -> str:
        """Prove in rounds of threads what the first did not; return why that ended early.

        One thread needs one round, and none comes after that with the whole table.
        """
        threads = 1 if ended else self.threads
        clock, share = Clock(limits.seconds), FIRST_ROUND
        while True:
            rows = np.concatenate([task.rows.view(np.ndarray) for each in rounds for task in each])
            known = int(rows["lower"].max()), int(rows["upper"].min())
            left = None if limits.nodes is None else max(1, limits.nodes - int(rows["nodes"].sum()))
            most = left
            if threads > 1:
                settings = settings._replace(sharing=SHARED_TABLE)
                if int(self.table.words[BUCKETS]) < self.table.buckets:
                    most = share if left is None else min(share, left)
            each = None if most is None else max(1, most // threads)
            seconds = limits.seconds and max(1e-3, limits.seconds - clock.elapsed())
            these = Limits(each, seconds, limits.stop, limits.whole or limits.nodes or UNLIMITED)
            tasks = [
                self._task(position, these, settings, known, presearched, thread)
                for thread in range(threads)
            ]
            if len(rounds) > 1 and presearched is None:  # far questions were asked before
                for task in tasks:
                    task.rows["guess"] = min(max(0, known[0]), known[1])
            self.spent = int(rows["nodes"].sum())
            self.running = tasks
            rounds.append(tasks)
            if self.stopped:
                self.stop()
            ended = self._run(these, ended, most or UNLIMITED)
            over = any(int(task.rows[0]["reason"]) != NODES for task in tasks)
            if ended or over or most == left:
                return ended
            share *= ROUND_GROWTH

    def _task(
        self,
        position: Any,
        limits: Limits,
        settings: ProofSettings,
        known: tuple[int, int] | None,
        presearched: Presearch | None,
        thread: int,
    ) -> ProofTask:
        memory = self.memories[thread]
        return ProofTask(
            [position],
            self.table,
            limits,
            settings,
            known=known,
            presearched=presearched,
            memory=memory,
        )

    def _run(self, limits: Limits, ended: str, nodes: int) -> str:
        """Run the tasks, to end at once if it has *ended*; return why they ended early."""
        if len(self.running) > 1:
            try:
                self.running[0].enlarge_table(nodes // 2)
            except KeyboardInterrupt:
                ended = "interrupted"
        for task in self.running:
            task.rivals = [rival for rival in self.running if rival is not task]
        return run(self.running, limits.stops, reason=ended, workers=self.workers)

    def ask(self, goal: Goal, limits: Limits) -> Result:
        """Prove whether a position has a value at least, in one null window."""
        position, at_least = coerce(goal.position), goal.at_least
        assert at_least is not None
        whole = Goal(position, weak=False)
        over, value = outcome(position)
        lower, upper = (value, value) if over else bounds(position, -INFINITE, INFINITE)
        lower, upper = max(lower, -most_value(position)), min(upper, most_value(position))
        cls: Any = type(position)
        row = records(1, result_dtype(cls))[0]
        result = proof_result(False, "", position, row, 0.0)
        if lower < at_least <= upper:
            window = at_least - 1, at_least
            result = self.prove(whole, limits, window, line=0)
            if result.value is not None:
                reached = result.value == at_least
                lower, upper = (at_least, upper) if reached else (lower, at_least - 1)
        if lower >= at_least and not over:
            kept = self.prove(whole, limits, (lower, lower), line=1)
            result = replace(result, best_move=kept.best_move)
        answered = not lower < at_least <= upper
        return replace(
            result,
            value=lower if lower == upper else None,
            lower=lower,
            upper=upper,
            reason="proven" if answered and result.reason != "interrupted" else result.reason,
        )


def with_scores(
    prove: Callable[..., Result], goal: Goal, limits: Limits, known: tuple[int, int] | None
) -> Result:
    """Prove the value of a position, and that of every legal move; the limits are for all of it.

    *known* bounds the value of the position.
    """
    clock = Clock(None)
    result = prove(goal._replace(scores=False), limits, known)
    scores: dict[int, int | None] = dict.fromkeys(legal_moves(result.position))
    if result.proven and result.best_move is not None:
        scores[result.best_move] = result.value
    spent = result.nodes
    reason = result.reason
    most = most_value(result.position)
    for move, score in scores.items():
        if score is not None or reason != "proven":
            continue
        left = Limits(
            limits.nodes and max(1, limits.nodes - spent),
            limits.seconds and max(1e-3, limits.seconds - clock.elapsed()),
            limits.stop,
        )
        child = play(result.position, move)
        again = moves_again(result.position, child)
        best = most if result.value is None else result.value
        of_move = (-most, best) if again else (-best, most)
        of_child = prove(Goal(child, goal.weak), left, of_move, line=0)
        spent += of_child.nodes
        reason = of_child.reason
        if of_child.value is not None:
            scores[move] = of_child.value if again else -of_child.value
    return replace(result, scores=scores, reason=reason)


REASONS = {NODES: "node limit", TIME: "time limit"}


def write_row(row: Any, result: Result) -> None:
    """Write a result as the kernel writes it: the inverse of :func:`proof_result`."""
    row["lower"], row["upper"], row["nodes"] = result.lower, result.upper, result.nodes
    codes = {text: code for code, text in REASONS.items()}
    row["reason"] = RUNNING if result.proven else codes.get(result.reason, CALLED)
    line = result.pv or (() if result.best_move is None else (result.best_move,))
    row["length"] = len(line)
    row["line"][: len(line)] = line


def proof_result(
    weak: bool, ended: str, position: Any, row: Any, seconds: float, engine: str = "alphabeta"
) -> Result:
    """Make a result of what the kernel wrote about a position."""
    lower, upper = int(row["lower"]), int(row["upper"])
    proven = lower == upper
    if row["reason"] == PLIES and not proven:
        raise lines_too_long(type(position))
    limit = REASONS.get(int(row["reason"]), ended)
    line = tuple(int(move) for move in row["line"][: row["length"]])
    return Result(
        position=coerce(position),
        value=lower if proven else None,
        lower=lower,
        upper=upper,
        weak=weak,
        best_move=line[0] if line else None,
        scores=None,
        pv=line if proven else (),
        nodes=int(row["nodes"]),
        seconds=seconds,
        table=TableUse(*(int(row[name]) for name in TableUse.__slots__)),
        reason="proven" if proven else limit,
        engine=engine,
    )


def lines_too_long(cls: Any) -> ContractError:
    """Return the error of lines of play longer than ``MAX_PLIES``."""
    return ContractError(f"{game_name(cls)} breaks the contract: {too_long(cls)}")


def require_solvable(cls: type) -> None:
    """:class:`GameError` if no proof is for the game of a class."""
    if defines(cls, "chance"):
        raise GameError(
            f"{game_name(cls)} has chance: iterate() solves such games, not the exact solver"
        )


def require_batches(cls: type) -> None:
    """:class:`GameError` if the solver of batches is not for the game of a class."""
    require_solvable(cls)
    for verb, reason in (
        ("reversible", "repetition"),
        ("drawn", "draws by rule"),
    ):
        if defines(cls, verb):
            raise GameError(
                f"{game_name(cls)} has {reason}: its positions are solved one by one, by solve(), "
                f"or in a batch with a tablebase that has them all"
            )


@functools.cache
def _shared_table() -> Table:
    return Table(DEFAULT_MEGABYTES)


@contextlib.contextmanager
def table_for(table: Table | int | None) -> Iterator[Table]:
    """Hold a table that nobody else uses meanwhile: the given one, or one with nothing in it.

    A number is the size of a new one in MiB.  :class:`CutnodeError` if the one that is given is in
    use, or is none.
    """
    if table is not None:
        with holding(table) as held:
            yield held
        return
    table = _shared_table()
    if not table.in_use.acquire(blocking=False):  # another thread searches, perhaps another game
        table = Table(DEFAULT_MEGABYTES)
        table.in_use.acquire()
    try:
        table.forget()
        yield table
    finally:
        table.in_use.release()
