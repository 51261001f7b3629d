"""The exact solver of one game: threads that prove the value of a position, and the result.

A proof is a series of null-window searches, each of which asks whether the value reaches some
bound.  A depth-limited search before it guesses the first bound and leaves its moves in the
table: in games whose estimates predict values, it costs a thousandth of the proof.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from cutnode.compiler.memory import Memory
from cutnode.compiler.rules import as_plain_python
from cutnode.contract.bits import Bits, mix
from cutnode.contract.derived import legal_moves, most_value
from cutnode.contract.dispatch import defines, game_constant, game_name, is_plain, value_limit
from cutnode.contract.errors import ContractError, GameError
from cutnode.contract.messages import contract_violation, too_long
from cutnode.contract.native import plain_view, records
from cutnode.contract.positions import as_words, coerce
from cutnode.contract.stop import CALLED, MOVES, NODES, PLIES, RUNNING, TIME, VALUE
from cutnode.contract.verbs import INFINITE, bounds, moves_again, outcome, play, scout, settled
from cutnode.kernels.clock import Clock, seconds_per_tick
from cutnode.kernels.parameters import MOST_DEPTH, SCOUTING_NODES, SCOUTING_SHARE, SHARED_PLIES
from cutnode.kernels.profiles import plies_for, profile_of
from cutnode.kernels.solver import (
    ENLARGE_TABLE,
    PREPARE_TABLE,
    SHARED_TABLE,
    SINGLE_THREADED,
    result_dtype,
    search_dtype,
    solve_batch,
)
from cutnode.kernels.table import BUCKETS, FILLED, probe, work_of
from cutnode.runtime.running import UNLIMITED, KernelLoop, Limits, ThreadTask, run
from cutnode.runtime.threads import SHARED_WORKERS, Workers
from cutnode.search.options import require_book, thread_count
from cutnode.search.results import Result, TableUse
from cutnode.search.searcher import Searcher
from cutnode.storage.books import Book
from cutnode.storage.tables import Table, holding
from cutnode.tablebases.layer_tables import POINTS
from cutnode.tablebases.tablebase import Tablebase

LINE_FACTOR = 2
"""The node limit of a proof and the search for its line together, in node limits of the proof
alone.  If a game's ``bounds`` know who wins, finding the line is all the work."""


def solver_memory(
    cls: Any, tablebase: Tablebase | None = None, *, interpreted: bool = False
) -> Memory:
    """Return the memory of a thread that solves positions of a class.

    Lines end in the *tablebase* if it knows values, and not just the winner of a game in points.
    """
    memory = Memory(cls, search_dtype(cls), interpreted)
    if tablebase is not None and (tablebase.kind == POINTS or value_limit(cls) == 1):
        tablebase.lend(memory.words)
    set_plies(memory, cls)
    return memory


def set_plies(memory: Memory, cls: Any) -> None:
    """Write into a solver's memory what a class of positions declares about plies and its table."""
    memory["plies"] = game_constant(cls, "MAX_PLIES", 512)
    profile = profile_of(cls)
    memory["table_plies"], memory["enhanced_plies"] = profile.solver_plies(cls)
    memory["shared_plies"] = plies_for(cls, SHARED_PLIES)
    memory["crowding"] = profile.crowding


def solving_kernel(cls: Any, interpreted: bool) -> Callable[..., Any]:
    """Return the solver's kernel for a class: compiled, or *interpreted* with compiled rules."""
    return as_plain_python(solve_batch, cls) if interpreted else solve_batch.specialise(cls)


class Goal(NamedTuple):
    """The goal of a proof: a position, and what to prove about it."""

    position: Any
    weak: bool
    scores: bool = False
    """Whether to prove the values of all moves as well."""
    at_least: int | None = None
    """The value to ask about, if the proof is only of whether the value reaches it."""


class ProofSettings(NamedTuple):
    """The settings of a proof, as ``cutnode.kernels.solver.solve_batch`` explains them."""

    weak: bool = False
    line: int = 0
    cold: bool = False
    sharing: int = SINGLE_THREADED


class ProofTask(KernelLoop):
    """One thread's proofs of the values of some positions, with its table and memory."""

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
        interpreted: bool = False,
    ):
        self.example = coerce(positions[0])
        self.words = [*map(coerce, positions)] if interpreted else as_words(positions)
        self.table = table
        table.claim(type(self.example))
        self.settings = settings
        cls: Any = type(self.example)
        self.run = solving_kernel(cls, interpreted)
        self._rows = records(len(positions), result_dtype(cls))
        self.rows = plain_view(self._rows)
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
        """Tasks with the same position, stopped when this one has proven its value."""

    def work(self) -> None:
        """Solve the positions.

        Raise :class:`ContractError` if the search meets a position that breaks the contract.
        """
        self.clock.release()
        self._call(self._rows, self.settings.sharing)
        self._require_sound()
        if self.rivals and self.rows[0]["reason"] == RUNNING:
            for rival in self.rivals:
                rival.stop()

    def attempt(self, nodes: int) -> bool:
        """Solve the only position in this thread, with at most *nodes* nodes.

        Return whether it was solved, or the limits allow no more nodes.  Proven bounds are kept.
        """
        self.search["node_limit"][0] = min(nodes, self.most_nodes) - 1
        self.search["line_limit"][0] = nodes
        weak, line, cold, _ = self.settings
        memory, table = self.memory.argument, self.table.words
        self.run(self.example, self.words, self._rows, weak, line, cold, 0, memory, table)
        self._require_sound()
        done = self.search["stop"][0] == RUNNING or nodes >= self.most_nodes
        self.search["node_limit"][0] = self.most_nodes - 1
        self.search["line_limit"][0] = self.most_with_line - 1
        self.search["stop"][0], self.search["stop_at"][0] = RUNNING, -1
        return bool(done)

    def _require_sound(self) -> None:
        """Read the times; raise :class:`ContractError` if a position broke the contract."""
        if self.search["stop"][0] in (VALUE, MOVES):
            violation = self.memory.position("violation", self.example)
            raise contract_violation(violation, int(self.search["stop"][0]))
        self.seconds = self.rows["ticks"] * self.seconds_per_tick()

    def seconds_per_tick(self) -> float:
        """Return the seconds per tick of the counter, measured once per process."""
        if not ProofTask.rate:
            ProofTask.rate = seconds_per_tick(self._read_counter)
        return ProofTask.rate

    def _read_counter(self) -> int:
        self._call(self._rows[:0], SINGLE_THREADED)
        return int(self.search["ticks"][0])

    def open_table(self) -> None:
        """Prepare the table for several threads, before any of them starts."""
        self._call(self._rows[:0], PREPARE_TABLE)

    def enlarge_table(self, entries: int) -> None:
        """Make room for *entries* more entries, before threads continue a search."""
        self.search["node_limit"][0] = entries
        self._call(self._rows[:0], ENLARGE_TABLE)
        self.search["node_limit"][0] = self.most_nodes - 1

    def _call(self, rows: np.ndarray, sharing: int) -> None:
        memory, table = self.memory.argument, self.table.words
        weak, line, cold, _ = self.settings
        self.run(self.example, self.words, rows, weak, line, cold, sharing, memory, table)


@dataclass(frozen=True, slots=True)
class Presearch:
    """The results of the depth-limited searches before the proofs of positions."""

    guesses: list[int]
    """The score of each position, or ``INFINITE`` if it was not searched."""
    purpose: int
    """The word in the table keys of the moves that the searches left."""
    nodes: list[int]
    """Nodes visited for each position."""
    seconds: list[float]
    """Seconds spent on each position."""
    left: Limits
    """The limits that remain for each proof."""
    ended: str
    """Why the searches, and so the proofs, ended early; "" if they did not."""


def presearch(
    positions: Sequence[Any],
    table: Table,
    limits: Limits,
    *,
    cold: bool = False,
    searcher: Searcher | None = None,
) -> Presearch | None:
    """Search positions of one class to their game's ``scout`` depth; return None if it has none.

    Each search takes at most ``SCOUTING_NODES`` and ``1 / SCOUTING_SHARE`` of the *limits* of its
    position, and leaves the rest to the proof.  With *cold*, the table is emptied before each
    position.  *searcher* uses the same table and the game's techniques; by default, a new one is
    made.
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
                nodes=min(SCOUTING_NODES, (limits.nodes or UNLIMITED) // SCOUTING_SHARE),
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
"""The nodes of a first attempt, in the caller's thread if it is compiled: see ``INLINE_NODES``."""

LEAST_ROUND = 1 << 16
"""The least nodes of a round of threads, which ends when the region of the table should grow."""

ROUND_GROWTH = 4
"""The most nodes of a round, in nodes before it: these tell how many nodes fill the region."""

DEFAULT_MEGABYTES = 256
"""The size in MiB of the table of proofs that are given none."""


class Resources(NamedTuple):
    """The resources for the proofs of a game: its positions, a table, and threads."""

    cls: Any
    table: Table
    threads: int = 1
    workers: Workers = SHARED_WORKERS
    interpreted: bool = False
    """Whether the kernels run as plain Python, for a first answer before they are compiled."""


class Solver:
    """Proves the values of positions of one game, one after another, with some threads.

    It keeps its memory and compiled code ready.  Before each proof it stores the whole *book* in
    the table, which takes 50 nanoseconds per position.  Lines of play end where the *tablebase* has
    values.
    """

    def __init__(
        self, resources: Resources, book: Book | None = None, tablebase: Tablebase | None = None
    ):
        cls, self.table, threads, self.workers, self.interpreted = resources
        require_solvable(cls)
        require_book(book, cls)
        self.book = book
        self.threads = thread_count(threads, cls)
        solving_kernel(cls, self.interpreted)  # compiles before a clock runs
        self.memories = [
            solver_memory(cls, tablebase, interpreted=self.interpreted) for _ in range(self.threads)
        ]
        self.presearcher: Searcher | None = None
        if defines(cls, "scout"):
            # Helper threads would open the whole table, and proofs in a small region are faster.
            self.presearcher = Searcher(
                cls,
                table=self.table,
                workers=self.workers,
                interpreted=self.interpreted,
            )
        self.running: list[ProofTask] = []
        """The running tasks."""
        self.spent = 0
        """The nodes of the rounds before the running tasks."""
        self.stopped = False
        """Whether :meth:`stop` was called during the proof."""

    def stop(self) -> None:
        """End the running proof, from any thread."""
        self.stopped = True
        if self.presearcher is not None:
            self.presearcher.stop()
        for task in self.running:
            task.stop()

    def progress(self) -> tuple[int, int | None, int | None]:
        """Return the nodes of the running proof, and the bounds proven so far."""
        tasks = self.running
        if not tasks:
            return 0, None, None
        nodes = self.spent + sum(int(task.search["nodes"][0]) for task in tasks)
        lower = max(int(task.rows[0]["lower"]) for task in tasks)
        return nodes, lower, min(int(task.rows[0]["upper"]) for task in tasks)

    def work(self, position: Any, target: int) -> int:
        """Return the work that the table has on a position, whatever the *target*; 0 for none."""
        _, word = settled(position)
        return int(work_of(probe(self.table.words, mix(Bits(word)))))

    def prove(
        self, goal: Goal, limits: Limits, known: tuple[int, int] | None = None, line: int = 2
    ) -> Result:
        """Prove the value of a position within *known* bounds; *line* is as in ``solve_batch``."""
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
            if self.interpreted and not ended:
                short = ThreadTask(lambda: first.attempt(SHORT_NODES), first.stop)
                ended = run([short], limits.stops, workers=self.workers)
                done = short.answer and not ended
            else:
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
        row = tasks[0].rows[0] if len(tasks) == 1 else _joined([task.rows for task in tasks])
        # The node limit of a round need not be the node limit of the search.
        reasons = {int(task.rows[0]["reason"]) for task in rounds[-1]}
        row["reason"] = CALLED if self.stopped else max(reasons - {NODES}, default=NODES)
        seconds = sum(max(float(task.seconds[0]) for task in each) for each in rounds)
        if presearched is not None:
            row["nodes"] += presearched.nodes[0]
            seconds += presearched.seconds[0]
        result = proof_result(weak, ended, position, row, seconds)
        if ended == "interrupted":  # callers that solve in a loop need to know, proven or not
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
        """Continue the proof in rounds of all threads; return why it ended early.

        One thread needs a single round, and the round with the whole table is the last.
        """
        threads = 1 if ended else self.threads
        clock = Clock(limits.seconds)
        while True:
            rows = np.concatenate([task.rows for each in rounds for task in each])
            known = int(rows["lower"].max()), int(rows["upper"].min())
            left = None if limits.nodes is None else max(1, limits.nodes - int(rows["nodes"].sum()))
            most = left
            if threads > 1:
                settings = settings._replace(sharing=SHARED_TABLE)
                try:
                    share = self._enlarge_table(rounds)
                except KeyboardInterrupt:
                    share, ended = None, "interrupted"
                most = min((n for n in (share, left) if n is not None), default=None)
            each = None if most is None else max(1, most // threads)
            seconds = limits.seconds and max(1e-3, limits.seconds - clock.elapsed())
            these = Limits(each, seconds, limits.stop, limits.whole or limits.nodes or UNLIMITED)
            tasks = [
                self._task(position, these, settings, known, presearched, thread)
                for thread in range(threads)
            ]
            if len(rounds) > 1 and presearched is None:  # earlier rounds asked the distant bounds
                for task in tasks:
                    task.rows["guess"] = min(max(0, known[0]), known[1])
            self.spent = int(rows["nodes"].sum())
            self.running = tasks
            rounds.append(tasks)
            if self.stopped:
                self.stop()
            ended = self._run(these, ended)
            over = any(int(task.rows[0]["reason"]) != NODES for task in tasks)
            if ended or over or most == left:
                return ended

    def _enlarge_table(self, rounds: list[list[ProofTask]]) -> int | None:
        """Enlarge the region of the table if the last round has filled it, as one thread would.

        Return the nodes of the next round, which will fill it again; None if all of it is in use.
        """
        tasks = [task for each in rounds for task in each]
        nodes = sum(int(task.rows[0]["nodes"]) for task in tasks)
        stores = sum(int(task.rows[0]["stores"]) for task in tasks)
        tasks[0].enlarge_table(sum(int(task.rows[0]["stores"]) for task in rounds[-1]))
        buckets, filled = int(self.table.words[BUCKETS]), int(self.table.words[FILLED])
        if buckets == self.table.buckets:
            return None
        room = max(buckets * int(self.memories[0]["crowding"]) - filled, 0)
        return max(min(room * nodes // max(stores, 1), ROUND_GROWTH * nodes), LEAST_ROUND)

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
        set_plies(memory, type(position))
        return ProofTask(
            [position],
            self.table,
            limits,
            settings,
            known=known,
            presearched=presearched,
            memory=memory,
            interpreted=self.interpreted,
        )

    def _run(self, limits: Limits, ended: str) -> str:
        """Run the tasks, or end at once if *ended* is set; return why they ended early."""
        for task in self.running:
            task.rivals = [rival for rival in self.running if rival is not task]
        return run(self.running, limits.stops, reason=ended, workers=self.workers)

    def ask(self, goal: Goal, limits: Limits) -> Result:
        """Prove in one null window whether the value of a position reaches ``goal.at_least``."""
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


def _joined(all_rows: Sequence[np.ndarray]) -> Any:
    """Return what several tasks found about one position, as the row of one."""
    rows = np.concatenate(all_rows)
    # If two tasks have a proof, one may have been stopped before it found its line.
    row = rows[int(np.lexsort((-rows["length"], rows["upper"] - rows["lower"]))[0])]
    row["lower"], row["upper"] = rows["lower"].max(), rows["upper"].min()
    for name in ("nodes", *TableUse.__slots__):
        row[name] = rows[name].sum()
    return row


def with_scores(
    prove: Callable[..., Result], goal: Goal, limits: Limits, known: tuple[int, int] | None
) -> Result:
    """Prove the values of a position and of every legal move, within the limits in total.

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
    return replace(result, scores=scores, nodes=spent, seconds=clock.elapsed(), reason=reason)


REASONS = {NODES: "node limit", TIME: "time limit"}


def write_row(row: Any, result: Result) -> None:
    """Write a result into a row as the kernel does: the inverse of :func:`proof_result`."""
    row["lower"], row["upper"], row["nodes"] = result.lower, result.upper, result.nodes
    codes = {text: code for code, text in REASONS.items()}
    row["reason"] = RUNNING if result.proven else codes.get(result.reason, CALLED)
    line = result.pv or (() if result.best_move is None else (result.best_move,))
    row["length"] = len(line)
    row["line"][: len(line)] = line


def proof_result(
    weak: bool, ended: str, position: Any, row: Any, seconds: float, engine: str = "alphabeta"
) -> Result:
    """Make a result from the row that the kernel wrote about a position."""
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
        compiled=not is_plain(type(position)),
    )


def lines_too_long(cls: Any) -> ContractError:
    """Return the error for lines of play longer than ``MAX_PLIES``."""
    return ContractError(f"{game_name(cls)} breaks the contract: {too_long(cls)}")


def require_solvable(cls: type) -> None:
    """Raise :class:`GameError` if the solvers do not support the game of a class."""
    if defines(cls, "chance"):
        raise GameError(
            f"{game_name(cls)} has chance: iterate() solves such games, not the exact solver"
        )


def require_batches(cls: type) -> None:
    """Raise :class:`GameError` if batches of the game of a class cannot be solved."""
    require_solvable(cls)
    for verb, reason in (
        ("reversible", "repetition"),
        ("drawn", "draws by rule"),
    ):
        if defines(cls, verb):
            raise GameError(
                f"{game_name(cls)} has {reason}: solve its positions one by one with solve(), "
                f"or in a batch with a tablebase that has them all"
            )


@functools.cache
def shared_table() -> Table:
    """Return the table of proofs that are given none."""
    return Table(DEFAULT_MEGABYTES)


@contextlib.contextmanager
def table_for(table: Table | int | None) -> Iterator[Table]:
    """Yield a table for exclusive use: the given one, a new one, or an empty one.

    A number is the size of a new table in MiB.  Raise :class:`CutnodeError` if the given table is
    in use, or not a table.
    """
    if table is not None:
        with holding(table) as held:
            yield held
        return
    table = shared_table()
    if not table.in_use.acquire(blocking=False):  # another thread searches, perhaps another game
        table = Table(DEFAULT_MEGABYTES)
        table.in_use.acquire()
    try:
        table.forget()
        yield table
    finally:
        table.in_use.release()
