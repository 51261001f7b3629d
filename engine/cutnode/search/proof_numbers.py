"""The df-pn solver: proof-number searches until the value of a position is known.

Each search answers a question: is the value at least some target?  The solver has the interface of
a :class:`~cutnode.search.solving.Solver`, and suits games that are won or lost by narrow lines in
wide trees: see :mod:`cutnode.kernels.proof_numbers`.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any, NamedTuple

from cutnode.compiler.jit import Kernel
from cutnode.compiler.memory import Memory
from cutnode.contract.derived import legal_moves, most_value
from cutnode.contract.dispatch import defines, game_constant, game_name, value_limit
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.messages import contract_violation, position_text
from cutnode.contract.positions import coerce
from cutnode.contract.repetition import needs_line
from cutnode.contract.stop import CALLED, MOVES, NODES, RUNNING, VALUE
from cutnode.contract.verbs import INFINITE, NO_MOVE, bounds, moves_again, outcome, play
from cutnode.kernels.clock import Clock
from cutnode.kernels.proof_numbers import address, proof_dtype, proof_root
from cutnode.kernels.solver import PREPARE_TABLE, SHARED_TABLE, SINGLE_THREADED
from cutnode.kernels.table import probe, work_of
from cutnode.runtime.running import UNLIMITED, KernelCall, Limits, is_stopped, run
from cutnode.search.loops import has_loops
from cutnode.search.options import thread_count
from cutnode.search.results import Result, TableUse, question_text
from cutnode.search.solving import (
    Goal,
    Resources,
    lines_too_long,
    require_solvable,
    with_scores,
)
from cutnode.tablebases.layer_tables import POINTS
from cutnode.tablebases.tablebase import Tablebase

SHORT_NODES = 2_000
"""The nodes of a first attempt in the caller's thread: see ``INLINE_NODES``."""

FIRST_ROUND = 1 << 15
"""The nodes of the first round of threads.  Each round uses only as much of the table as it needs,
because memory that nothing has touched yet is slow.  Breakthrough 5x5 in a table of 512 MiB,
processor time of two threads relative to one: 1.2 with rounds, 3.4 with the whole table from the
start."""

ROUND_GROWTH = 4
"""The factor by which each round has more nodes than the one before."""

UNIT_PART = 6
"""The part of a decisive advantage (``UNIT``) that doubles the initial number of a leaf: a sixth.
Breakthrough 5x5, nodes to the proof: 3.05 M without estimates, 2.47 M with a half, 1.40 M with a
quarter, 1.56 M with an eighth."""


class Interval(NamedTuple):
    """The proven bounds of the value of a position."""

    lower: int
    upper: int

    def within(self, lower: int, upper: int) -> Interval:
        """Return the intersection with another interval."""
        return Interval(max(self.lower, lower), min(self.upper, upper))

    def target(self, at_least: int | None = None) -> int:
        """Return the next target: *at_least*, or a win, then a draw, then by bisection."""
        if at_least is not None:
            return at_least
        if self.lower < 1 <= self.upper:
            return 1
        if self.lower < 0 <= self.upper:
            return 0
        return (self.lower + self.upper) // 2 + 1

    def is_open(self, at_least: int | None = None) -> bool:
        """Return whether the value is unknown; with *at_least*, whether this question is open."""
        least = self.upper if at_least is None else at_least
        return self.lower < least <= self.upper


class ProofNumberSolver:
    """Proves the values of positions of one game by df-pn, with some threads.

    Lines of play end where the *tablebase* has values.
    """

    engine = "pn"

    def __init__(self, resources: Resources, tablebase: Tablebase | None = None):
        cls, self.table, threads, self.workers, _ = resources
        require_solvable(cls)
        self.cls = cls
        self.threads = thread_count(threads, cls)
        self.search = self.kernel.specialise(cls)  # compiles before a clock runs
        self.memories = [self.memory(tablebase) for _ in range(self.threads)]
        self.table.claim(cls)
        self.calls: list[KernelCall] = []
        self.interval = Interval(-INFINITE, INFINITE)

    @property
    def kernel(self) -> Kernel:
        """The kernel that answers questions."""
        return proof_root

    def memory(self, tablebase: Tablebase | None) -> Memory:
        """Return the memory of a thread, which looks positions up in the *tablebase*."""
        memory = Memory(self.cls, proof_dtype(self.cls))
        if tablebase is not None and (tablebase.kind == POINTS or value_limit(self.cls) == 1):
            tablebase.lend(memory.words)
        memory["plies"] = game_constant(self.cls, "MAX_PLIES", 512)
        memory["purpose"] = self.purpose()
        unit = int(game_constant(self.cls, "UNIT", 0))
        if unit and defines(self.cls, "evaluate"):
            memory["unit"] = max(1, unit // UNIT_PART)
        return memory

    def purpose(self) -> int:
        """Return a word that keeps this game's questions apart in the table."""
        meaning = f"proof numbers of {game_name(self.cls)}".encode()
        return int.from_bytes(blake2b(meaning, digest_size=8).digest(), "little")

    def work(self, position: Any, target: int) -> int:
        """Return the work that the table has on a question, 0 for none."""
        word = address(position, target, self.memories[0].record)
        return int(work_of(probe(self.table.words, word)))

    def call(self, question: tuple[Any, int, bool], sharing: int, memory: Memory) -> int:
        """Call the kernel with a thread's memory, and return its answer."""
        return int(self.search(*question, sharing, memory.argument, self.table.words))

    def stop(self) -> None:
        """End the running proof, from any thread."""
        for call in self.calls:
            call.stop()

    def progress(self) -> tuple[int, int | None, int | None]:
        """Return the nodes of the running proof, and the bounds proven so far."""
        return sum(int(memory["nodes"]) for memory in self.memories), *self.interval

    def prove(
        self, goal: Goal, limits: Limits, known: tuple[int, int] | None = None, line: int = 2
    ) -> Result:
        """Prove the value of a position, or whether it reaches a target, within *known* bounds.

        *line* 0 means that no best play is wanted.
        """
        if goal.scores and needs_line(goal.position):
            raise GameError(
                f"the values of moves of {game_name(self.cls)} depend on the line of play: use "
                f"engine=alphabeta"
            )
        if goal.scores:
            return with_scores(self.prove, goal, limits, known)
        questions = Questions(self, coerce(goal.position), goal.weak, limits)
        return questions.result(known, line > 0, goal.at_least)


class Ended(Exception):  # noqa: N818
    """The proof ended at a limit, which the message names."""


class Questions:
    """Questions about a position and those below it, with limits for all of them."""

    def __init__(self, solver: ProofNumberSolver, position: Any, weak: bool, limits: Limits):
        self.solver = solver
        self.position = position
        self.weak = weak
        self.limits = limits
        self.clock = Clock(limits.seconds)
        self.nodes = 0
        self.most_nodes = limits.nodes or UNLIMITED
        self.move: int | None = None
        """The move that proves the last question, or comes nearest to it."""
        self.keeping: int | None = None
        """The move that proved the lower bound."""
        self.target: int | None = None
        """The target of the last question, if it is still open."""
        self.numbers: tuple[int, int] | None = None
        """The proof and disproof numbers of that question."""

    def result(self, known: tuple[int, int] | None, line: bool, at_least: int | None) -> Result:
        """Ask until the answer is known or a limit is reached, and return the result."""
        over, value = outcome(self.position)
        most = most_value(self.position)
        interval = Interval(*(value, value) if over else bounds(self.position, -INFINITE, INFINITE))
        interval = interval.within(-most, most)
        if known is not None:
            interval = interval.within(*known)
        pv: list[int] = []
        reason, nodes, seconds = "proven", None, 0.0
        try:
            interval = self.narrowed(interval, at_least)
            nodes, seconds = self.nodes, self.clock.elapsed()
            if line and not over:
                self.most_nodes += self.nodes
                if needs_line(self.position):  # best play below the root depends on the line
                    best = self.move if self.keeping is None else self.keeping
                    pv += [] if interval.is_open() or best is None else [best]
                elif not interval.is_open():
                    for move in self.best_play(interval.lower):
                        pv.append(move)
                elif self.keeping is None and interval.lower >= interval.target(at_least):
                    self.keeping = self.move_for(self.position, interval.target(at_least))
        except Ended as ended:
            reason = str(ended)
        except KeyboardInterrupt:
            reason = "interrupted"
        if nodes is None:
            nodes, seconds, interval = self.nodes, self.clock.elapsed(), self.solver.interval
        elif reason != "interrupted":
            reason = "proven"
        lost = -1 if self.weak else -most
        kept = lost if at_least is None else at_least - 1
        if interval.is_open(at_least) or interval.lower <= kept:
            self.keeping = self.move
        return Result(
            position=self.position,
            value=None if interval.is_open() else interval.lower,
            lower=interval.lower,
            upper=interval.upper,
            weak=self.weak,
            best_move=pv[0] if pv else self.keeping,
            scores=None,
            pv=tuple(pv),
            nodes=nodes,
            seconds=seconds,
            table=TableUse(0, 0, 0, 0, 0),
            reason=reason,
            engine=self.solver.engine,
            target=self.target,
            numbers=self.numbers,
            at_least=at_least,
        )

    def holds(self, position: Any, least: int) -> bool:
        """Return whether the value is at least *least*; raise :class:`CutnodeError` at a limit."""
        try:
            yes, _ = self.ask(position, least, True)
        except Ended as ended:
            raise CutnodeError(f"no proof yet: {ended}; {self.open_text(position)}") from None
        return yes

    def move_for(self, position: Any, least: int) -> int:
        """Return a move that secures a value of at least *least*.

        Raise :class:`CutnodeError` if there is none, or if a limit is reached first.
        """
        if not self.holds(position, least) or self.move is None:
            raise CutnodeError(f"the value is less than {least} at {position_text(position)}")
        return self.move

    def open_text(self, position: Any) -> str:
        """Return in words the open question and the bounds of the value."""
        most = most_value(position)
        interval = Interval(*bounds(position, -INFINITE, INFINITE)).within(-most, most)
        words = f"its value is between {interval.lower} and {interval.upper}"
        if self.target is not None and self.numbers is not None:
            words = f"{words}, {question_text(self.target, self.numbers)}"
        return f"at {position_text(position)} {words}"

    def narrowed(self, interval: Interval, at_least: int | None) -> Interval:
        """Ask about the position until the answer is known; raise :class:`Ended` at a limit."""
        if self.weak:
            interval = Interval(*(min(max(bound, -1), 1) for bound in interval))
        self.solver.interval = interval
        while interval.is_open(at_least):
            target = interval.target(at_least)
            yes, margin = self.ask(self.position, target, True)
            if self.weak:
                margin = min(max(margin, -1), 1)
            if yes:
                self.keeping = self.move
            lower, upper = (margin, interval.upper) if yes else (interval.lower, margin)
            interval = self.solver.interval = interval.within(lower, upper)
        return interval

    def ask(self, position: Any, target: int, move_wanted: bool = False) -> tuple[bool, int]:
        """Return whether the value of an unfinished position is at least *target*.

        Return also the bound that follows: a lower one if it is, else an upper one.
        """
        least, most = (self.solver.table.margins or {}).get(target, (INFINITE, -INFINITE))
        question = position, target, move_wanted
        calls = [_Question(self, memory, question) for memory in self.solver.memories]
        for call in calls:
            call.memory.clear(("nodes", "stop"))
            call.memory["least"], call.memory["most"] = least, most
        left = self.most_nodes - self.nodes
        reason = "time limit" if self.clock.is_over(0) else ""
        if is_stopped(self.limits.stops):
            reason = "stopped"
        if reason:
            if self.nodes:
                raise Ended(reason)
            left = 1  # for the root's initial numbers and most promising move
        calls[0].memory["node_limit"] = min(left, SHORT_NODES)
        calls[0].memory["brief"] = left > SHORT_NODES
        calls[0].work()
        if calls[0].memory["stop"] == NODES and left > SHORT_NODES:
            reason = self.run(calls, left)
        return self.answer(calls, target, reason)

    def run(self, calls: list[_Question], left: int) -> str:
        """Answer a question in threads with *left* nodes; return why it ended early."""
        for call in calls:
            call.memory["brief"] = 0
            call.memory["proof"] = call.memory["disproof"] = 1
            call.sharing = SINGLE_THREADED if len(calls) == 1 else SHARED_TABLE
        # Threads cannot enlarge a table while they share it, so they return between rounds.
        limit = left if len(calls) == 1 else min(FIRST_ROUND, left)
        self.solver.calls = [*calls]
        try:
            while True:
                reason = self.go_on(calls, limit)
                if reason or limit == left or calls[0].ended[0]["stop"] != NODES:
                    return reason
                limit = min(ROUND_GROWTH * limit, left)
        finally:
            self.solver.calls = []

    def go_on(self, calls: list[_Question], limit: int) -> str:
        """Search until a question has cost *limit* nodes; return why it ended early."""
        nodes = limit - sum(int(call.memory["nodes"]) for call in calls)
        if len(calls) > 1:
            calls[0].prepare_table(nodes // 2)
        ended: list[Memory] = []
        for call in calls:
            call.ended = ended
            call.memory["stop"] = RUNNING
            call.memory["node_limit"] = int(call.memory["nodes"]) + nodes // len(calls)
        return run([*calls], self.limits.stops, workers=self.solver.workers)

    def answer(self, calls: list[_Question], target: int, reason: str) -> tuple[bool, int]:
        """Return the answer of a thread; raise :class:`Ended` if no thread has one."""
        self.nodes += sum(int(call.memory["nodes"]) for call in calls)
        self.keep_margins(calls, target)
        ended = calls[0].ended
        if ended[0]["stop"] in (MOVES, VALUE):
            violation = ended[0].position("violation", self.position)
            raise contract_violation(violation, int(ended[0]["stop"]))
        answered = [memory for memory in ended if memory["proof"] == 0 or memory["disproof"] == 0]
        found = answered[0] if answered else ended[-1]
        if found["move"] != NO_MOVE:
            self.move = int(found["move"])
        self.target = self.numbers = None
        if not answered:
            self.target, self.numbers = target, (int(found["proof"]), int(found["disproof"]))
        if reason == "interrupted":
            raise KeyboardInterrupt
        if not answered:
            raise Ended(reason or "node limit")
        yes = found["proof"] == 0
        if not yes and any(call.memory["cut"] for call in calls):
            if has_loops(self.solver.cls):
                raise Ended("lines too long")
            raise lines_too_long(self.solver.cls)
        return yes, self.margin(target, yes)

    def keep_margins(self, calls: list[_Question], target: int) -> None:
        """Keep the margins of the finished games on which answers in the table rest.

        Do so even after a stop: answers found by then stay in the table, and later searches do not
        see their lines again.  Where points are settled, an answer serves several targets, and
        margins are unknown.
        """
        if any(call.memory["points"] for call in calls):
            self.solver.table.margins = None
        margins = self.solver.table.margins
        if margins is not None:
            least = min(int(call.memory["least"]) for call in calls)
            most = max(int(call.memory["most"]) for call in calls)
            # The opponent's question is whether he gets one more than this leaves him.
            margins[target] = least, most
            margins[1 - target] = -most, -least

    def margin(self, target: int, yes: bool) -> int:
        """Return the bound of the value that follows from an answer."""
        margins = self.solver.table.margins
        if margins is None:
            return target if yes else target - 1
        least, most = margins[target]
        return least if yes else most

    def best_play(self, value: int) -> Iterator[int]:
        """Yield best play for a proven *value*, to the end of the game or a repetition."""
        position = self.position
        seen = set()
        while not outcome(position)[0] and position not in seen:
            seen.add(position)
            least = -1 if self.weak else -most_value(position)
            if value > least:
                self.ask(position, value, True)
            move = self.hardest(position, value) if value == least else self.move
            if move is None:
                return
            yield move
            child = play(position, move)
            if not moves_again(position, child):
                value = -value
            position = child

    def hardest(self, position: Any, value: int) -> int:
        """Return the move of a lost position that took the most work to refute."""

        def work(move: int) -> int:
            child = play(position, move)
            if outcome(child)[0]:
                return -1
            target = value + 1 if moves_again(position, child) else -value
            return self.solver.work(child, target)

        return max(legal_moves(position), key=work)


class _Question(KernelCall):
    """A thread's work on a question; *question* holds the first arguments of its kernel.

    The first thread to end, with the answer or out of nodes, stops the others.  No reference leads
    back to a question: its memory and table are large, and given back as soon as it is answered.
    """

    def __init__(self, proof: Questions, memory: Memory, question: tuple[Any, int, bool]):
        super().__init__(lambda: None, memory, proof.clock)
        self.solver = proof.solver
        self.question = question
        self.sharing = SINGLE_THREADED
        self.ended: list[Memory] = []
        """The memory of each thread that has ended, in this order."""

    def work(self) -> None:
        """Search until the question is answered or the thread is stopped."""
        self.solver.call(self.question, self.sharing, self.memory)
        self.ended.append(self.memory)
        if self.ended[0] is self.memory:
            for memory in self.solver.memories:
                if memory is not self.memory:
                    memory["stop"] = CALLED

    def prepare_table(self, entries: int) -> None:
        """Prepare the table for several threads, with room for *entries* more entries."""
        self.memory["node_limit"] = entries
        self.solver.call(self.question, PREPARE_TABLE, self.memory)
