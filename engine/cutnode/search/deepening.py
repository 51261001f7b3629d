"""Iterative deepening: one search, from its first depth to its result.

A call of the kernel searches one depth within one window.  Short calls run in the caller's thread,
longer ones in a watched thread of their own; helper threads start with the first long call.
Lines of play that a table cutoff ended early are extended with moves from the table.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any, Protocol

from cutnode.contract.choices import DRIVERS
from cutnode.contract.derived import is_free_move, legal_moves
from cutnode.contract.dispatch import MAX_VALUE, game_name, is_plain
from cutnode.contract.errors import ContractError, CutnodeError
from cutnode.contract.messages import contract_violation
from cutnode.contract.repetition import bans_repetition
from cutnode.contract.stop import MOVES, NODES, PLIES, PROBABILITIES, RUNNING, VALUE
from cutnode.contract.verbs import (
    INFINITE,
    NO_MOVE,
    canonical,
    chance,
    original_move,
    outcome,
    play,
)
from cutnode.kernels import chance_table
from cutnode.kernels.aspiration import aspiration_window, iteration_depths, widened_window
from cutnode.kernels.chance import chance_address
from cutnode.kernels.clock import Clock
from cutnode.kernels.node import COUNTERS, address
from cutnode.kernels.parameters import INLINE_NODES, MOST_DEPTH, SHORT_NODES
from cutnode.kernels.table import move_of, probe
from cutnode.runtime.running import UNLIMITED, KernelCall, Limits, ThreadTask, is_stopped, run
from cutnode.search.compiled_search import CompiledSearch
from cutnode.search.helper_threads import HelperThreads
from cutnode.search.results import Iteration, Line, SearchResult, Statistics

LEAST_ABOVE = 100
"""The probes of an iteration after which the frontier may move."""

LEAST_BELOW, MOST_BELOW = 40, 250
"""The nodes below the frontier, for each one above, between which it stays where it is."""

MOST_FRONTIER = 6
"""The greatest depth of the frontier."""

EXTENDED_AFTER = 0.1
"""Seconds after which a search with a time limit extends the lines that it reports.  Rules are
played in Python for that: in chess it would take 6 % of a search of 0.1 s."""


class LimitedCalls:
    """The kernel calls of one search, with its limits and the reason why it ended."""

    def __init__(self, search: CompiledSearch, position: Any, limits: Limits, clock: Clock):
        self.search = search
        self.position = position
        self.clock = clock
        self.most_nodes = min(limits.nodes or UNLIMITED, UNLIMITED)
        self.stops = [*limits.stops, search.stopped]
        self.reason = ""
        self.first = 1
        self.assisting = False
        self.reached: float = 0
        """The return value of the last kernel call, even if it was stopped."""
        self.words = search.words
        search.claim_table()
        search.count_from_zero()
        search.reset_frontier()
        search.memory.fill("excluded_move", NO_MOVE)
        for name in ("stop", "root_excluded", "probcut_level", "shared", "looked"):
            self.words[name][0] = 0

    def is_short(self, depth: int) -> bool:
        """Return whether a call of *depth* is sure to be short."""
        raise NotImplementedError

    def begin_long_call(self, depth: int) -> None:
        """Prepare for a long call."""

    def line(self) -> tuple[int, ...]:
        """Return the line of play that the last call found."""
        return tuple(int(move) for move in self.words["line"][: self.words["length"][0]])

    def call(self, low: float, high: float, depth: int) -> float | None:
        """Search a depth once within a window; return None if the search was stopped.

        Short calls, and all calls of helpers, run in this thread if they are compiled.  A short
        call that exceeds ``INLINE_NODES`` is repeated in a watched thread, where long calls run
        from the start.
        """
        words, search = self.words, self.search
        spent = int(words["nodes"][0])
        self.reached = -INFINITE
        if self.reason not in ("", "proven"):
            return None  # for example Ctrl-C, just after the last call ended by itself
        if is_stopped(self.stops):
            self.reason = "stopped"
            return None
        kind = float if search.has_chance else int
        kernel = functools.partial(
            search.kernel, self.position, search.evaluation, kind(low), kind(high), depth
        )
        limit = self.most_nodes - 1
        stopped = ""
        if self.assisting or self.is_short(depth):
            words["node_limit"][0] = limit if self.assisting else min(limit, spent + INLINE_NODES)
            if search.interpreted:
                self.reached, stopped = self._watch(kernel)
                self.reason = stopped or self.reason
            else:
                self.reached = kernel(*self._rest())
            if words["stop"][0] == RUNNING:
                return self.reached
            if self.assisting:
                return None
            if not stopped:
                words["stop"][0] = RUNNING
        if stopped:
            pass
        elif int(words["nodes"][0]) <= limit or limit < spent:
            words["node_limit"][0] = limit
            self.begin_long_call(depth)
            self.reached, self.reason = self._watch(kernel)
            if words["stop"][0] == RUNNING:
                return self.reached
        else:
            words["stop"][0] = NODES
        self._note_stop(int(words["stop"][0]))
        words["stop"][0] = RUNNING
        return None

    def _watch(self, kernel: Callable[..., float]) -> tuple[float, str]:
        """Call the kernel in a watched thread; return its answer, and why it was stopped or ""."""
        search = self.search
        call = KernelCall(functools.partial(kernel, *self._rest()), search.memory, self.clock)
        reason = run([call], self.stops, workers=search.workers)
        return call.answer, reason

    def _rest(self) -> tuple[Any, ...]:
        """Begin a call of the kernel, and return its last three arguments."""
        self.words["estimates"][0] = 0
        first, self.first = self.first, 0
        return first, self.search.memory.argument, self.search.table.words

    def _note_stop(self, code: int) -> None:
        """Record why the kernel stopped; raise :class:`ContractError` if the game is at fault."""
        if code == NODES:
            self.reason = "node limit"
        elif code in (PLIES, PROBABILITIES, VALUE, MOVES):
            violation = self.search.memory.position("violation", self.position)
            raise contract_violation(violation, code, self.search.evaluation)
        elif not self.reason:
            self.reason = "stopped"


SAME_SCORE = 1e-9
"""Scores of games of chance that differ by less are equal, as sums are rounded."""

Report = Callable[[Iteration], None]


class Attempt(Protocol):
    """An attempt to prove the value, between the depths of a search."""

    def __call__(self, deepening: Deepening) -> Line | None:
        """Return a proven best line of play; None if no proof was found (yet)."""

    def explained(self, result: SearchResult) -> SearchResult:
        """Return the result of the search with the outcome of the attempt added."""


class Deepening(LimitedCalls):
    """One search: its limits, what it has found so far, and why it ended.

    *moves* restricts the choice at the root, and *history* holds the positions before it.
    *helpers* take part if the search is long; all threads get equal shares of the node limit.  The
    *attempt* is called after each depth that is not the last, and after one that proves the value;
    a proof ends the search.
    """

    def __init__(
        self,
        search: CompiledSearch,
        position: Any,
        limits: Limits,
        *,
        depth: int | None,
        clock: Clock,
        lines: int = 1,
        moves: Sequence[int] | None = None,
        history: Sequence[Any] = (),
        helpers: HelperThreads | None = None,
        attempt: Attempt | None = None,
    ):
        helpers = helpers if helpers else None
        if helpers is not None:
            helpers.began = False
            if limits.nodes is not None:
                limits = replace(limits, nodes=max(1, limits.nodes // (len(helpers) + 1)))
        super().__init__(search, position, limits, clock)
        self.over = bool(outcome(position)[0])
        self.chosen = moves
        self.history = history
        self.depth = depth
        self.lines = lines
        self.helpers = helpers
        self.attempt = attempt
        self.proof_nodes = 0
        """Nodes of the attempt at a proof, not included in the nodes of the search."""
        self.researches = 0
        self.proven = False
        self.iterations: list[Iteration] = []
        self.interim: Line | None = None
        """The best move so far of an unfinished depth, if it raised alpha."""
        self.on_bound: Report | None = None
        search.remember(history, position)

    def run(
        self,
        *,
        seed: int | None = None,
        soft_seconds: float | None = None,
        progress: Report | None = None,
        bounds: Report | None = None,
    ) -> SearchResult:
        """Search one depth after another until a limit or a proof ends the search.

        The attempt at a proof runs between depths; the line that it proves is the last iteration.
        """
        self.on_bound = bounds
        proof = None
        try:
            for depth in self._depths():
                if not self._iterate(depth):
                    break
                if progress is not None:
                    self._tell(progress)
                ended = self.iterations[-1].proven and depth != self.depth
                if not ended and soft_seconds is not None and self.clock.spent() >= soft_seconds:
                    self.reason = "time limit"
                if not self.reason and self.attempt is not None:
                    proof = self.attempt(self)
                if proof is not None:
                    self._add_proof(proof, progress)
                if ended:
                    self.reason = self.reason or "proven"
                if self.reason:
                    break
            if seed is not None and self.iterations and self.reason in ("", "proven"):
                if self.iterations[-1].lines and proof is None:
                    self._choose_among_ties(seed)
        except KeyboardInterrupt:
            self.reason = "interrupted"
        finally:
            self.rest()
        return self._result()

    def _add_proof(self, proof: Line, progress: Report | None) -> None:
        """End the search with a proven line as its last iteration."""
        self.iterations.append(self._iteration(len(proof.pv), proof.value, (proof,), True))
        self.reason = self.reason or "proven"
        if progress is not None:
            self._tell(progress)

    def _tell(self, progress: Report) -> None:
        """Report the last depth, after extending lines that a table cutoff ended early.

        Where time is limited, the first reports have their lines as they are.
        """
        if self.clock.seconds is None or self.clock.elapsed() >= EXTENDED_AFTER:
            last = self.iterations[-1]
            self.iterations[-1] = replace(last, lines=self._completed(last.lines, last.depth))
        progress(self.iterations[-1])

    def assist(self, start: int) -> None:
        """Search as a helper, from depth *start* on: fill the shared table, return no result."""
        self.assisting = True
        self.first = 0
        self.words["shared"][0] = 1
        for depth in self._depths():
            if depth >= start and not self._iterate(depth):
                break

    def nodes(self) -> int:
        """Return the nodes of all threads, including the attempt at a proof."""
        nodes = self.proof_nodes + int(self.words["nodes"][0])
        return nodes if self.helpers is None else nodes + self.helpers.nodes()

    def rest(self) -> None:
        """Stop the helpers, if they run; the next long call starts them again."""
        if self.helpers is not None:
            self._end_helpers(self.helpers)

    def spend(self, nodes: int) -> None:
        """Count the *nodes* of an attempt at a proof, and charge them to the node limit."""
        self.proof_nodes += nodes
        threads = 1 if self.helpers is None else len(self.helpers) + 1
        self.most_nodes = max(1, self.most_nodes - nodes // threads)

    def moves(self) -> Sequence[int]:
        """Return the moves to choose from."""
        return legal_moves(self.position) if self.chosen is None else self.chosen

    # Depths

    def _depths(self) -> Sequence[int]:
        if self.over:
            return ()
        deepening = "deepening" in self.search.techniques
        return iteration_depths(self.depth, deepening, int(self.words["deepening_parity"][0]))

    def _iterate(self, depth: int) -> bool:
        """Search one depth; return False if the search ended before it was complete."""
        found: list[Line] = []
        proven = True
        excluded: list[int] = []
        if self.chosen is not None:
            excluded = [move for move in legal_moves(self.position) if move not in self.chosen]
        choices = len(self.moves()) if self.lines > 1 else 1
        score = self._score if self.search.driver == DRIVERS[0] else self._score_by_null_windows
        best: float = -INFINITE
        before = self._work()
        self.interim = None
        for number in range(min(self.lines, choices) or 1):
            if excluded:
                self.words["root_excluded_moves"][: len(excluded)] = excluded
            self.words["root_excluded"][0] = len(excluded)
            value = score(depth, number)
            self.words["root_excluded"][0] = 0
            if value is None:
                return False
            proven &= self.proven
            best = max(best, value)
            line = self.line()
            if not line:
                break  # chance decides
            found.append(Line(line[0], value, line))
            excluded.append(line[0])
        if self.words["frontier"][0]:
            self._move_frontier(*before)
        found.sort(key=lambda line: -line.value)
        self.iterations.append(self._iteration(depth, best, tuple(found), proven))
        self.interim = None
        return True

    def _work(self) -> tuple[int, int]:
        """Return the nodes of this thread, and how often they looked positions up."""
        return int(self.words["nodes"][0]), int(self.words["probes"][0])

    def _move_frontier(self, nodes: int, probes: int) -> None:
        """Move the frontier by a ply if one of its two sides took most of the time since a count.

        A node above it takes the time of about eight below.
        """
        words = self.words
        below, above = int(words["nodes"][0]) - nodes, int(words["probes"][0]) - probes
        if above < LEAST_ABOVE:
            return
        depth = int(words["frontier"][0])
        if below < above * LEAST_BELOW:
            words["frontier"][0] = max(depth, min(depth + 1, MOST_FRONTIER))
        elif below > above * MOST_BELOW:
            words["frontier"][0] = max(depth - 1, 1)

    def _iteration(
        self, depth: int, value: float, lines: tuple[Line, ...], proven: bool, bound: int = 0
    ) -> Iteration:
        nodes, spent = self.nodes(), self.clock.elapsed()
        deepest = int(self.words["deepest"][0])
        return Iteration(depth, value, proven, lines, nodes, spent, deepest=deepest, bound=bound)

    def _last_score(self, depth: int, number: int) -> float | None:
        """Return the same line's score at the last depth of the same parity."""
        for iteration in reversed(self.iterations):
            if (depth - iteration.depth) % 2 == 0 and number < len(iteration.lines):
                return iteration.lines[number].value
        return None

    # Windows

    def _score(self, depth: int, number: int) -> float | None:
        """Return a score, with an aspiration window around the last one."""
        width = int(self.words["aspiration_window"][0])
        narrow = "aspiration" in self.search.techniques
        narrow &= depth >= self.words["aspiration_depth"][0]
        expected = self._last_score(depth, number) if narrow else None
        low, high = aspiration_window(INFINITE if expected is None else expected, width)
        researches = 0
        while True:
            value = self.call(low, high, depth)
            if number == 0:
                self._note(low)
            if value is None:
                return None
            self._require_finite(value)
            if low < value < high:
                self.proven = not self.words["estimates"][0]
                return value
            if number == 0 and self.on_bound is not None:
                self.on_bound(self._bound(depth, value, 1 if value >= high else -1))
            researches += 1
            self.researches += 1
            low, high = widened_window(low, high, value, width, researches)

    def _note(self, low: float) -> None:
        """Keep the move that scored more than *low* at this depth, if there is one."""
        line = self.line()
        if line and self.reached > low and not self.search.has_chance:
            self.interim = Line(line[0], self.reached, line)

    def _bound(self, depth: int, value: float, bound: int) -> Iteration:
        """Return what is known about a depth after a fail high (1) or a fail low (-1)."""
        line = self.interim if bound > 0 else None
        if line is None and self.iterations:
            line = self.iterations[-1].lines[0]
        lines = () if line is None else (Line(line.move, value, line.pv),)
        return self._iteration(depth, value, lines, False, bound)

    def _score_by_null_windows(self, depth: int, number: int) -> float | None:
        """Return a score by null-window searches only: MTD with the driver's first guess."""
        lower: float = -MAX_VALUE
        upper: float = MAX_VALUE
        self.proven = True
        guesses = {"mtdf": self._last_score(depth, number) or 0, "sss": upper, "dual": lower}
        value = guesses[self.search.driver]
        line: tuple[int, ...] | None = None
        words = self.words
        while lower < upper:
            beta = max(value, lower + 1)
            found = self.call(beta - 1, beta, depth)
            if found is None:
                return None
            self._require_finite(found)
            value = found
            self.proven &= not words["estimates"][0]
            if value >= beta:
                lower = value
                line = self.line()
            else:
                upper = value
        if line is None:
            # All searches failed low: one more call, for the move.
            if self.call(lower - 1, lower, depth) is None:
                return None
        else:
            words["length"][0] = len(line)
            words["line"][: len(line)] = line
        return value

    def _require_finite(self, value: float) -> None:
        if not abs(value) < INFINITE:
            game = game_name(self.search.cls)
            raise ContractError(
                f"{game} breaks the contract: a position without moves is not over, or a value is "
                f"beyond {MAX_VALUE}; run cutnode check {game}"
            )

    # Helpers

    def is_short(self, depth: int) -> bool:
        """Return whether a search to *depth* is sure to be short."""
        if self.clock.is_over(0):
            return False
        return depth <= 1 or (bool(self.iterations) and self.iterations[-1].nodes < SHORT_NODES)

    def begin_long_call(self, depth: int) -> None:
        """Start the helpers at *depth*, if they are not running yet."""
        if self.helpers is None or self.helpers.working:
            return
        self.search.open_table(self.position)
        self.words["shared"][0] = 1
        tasks = []
        for number, search in enumerate(self.helpers.searches):
            search.table = self.search.table
            start = depth + (number + 1) % 2 * self.search.has_chance
            tasks.append(helper_task(self, search, min(start, MOST_DEPTH)))
        self.helpers.begin(tasks)

    def _end_helpers(self, helpers: HelperThreads) -> None:
        try:
            if helpers.end():
                self.reason = "interrupted"
        finally:
            self.words["shared"][0] = 0

    # Results

    def _completed(self, lines: tuple[Line, ...], depth: int) -> tuple[Line, ...]:
        return tuple(completed(self.search, self.position, line, depth) for line in lines)

    def _choose_among_ties(self, seed: int) -> None:
        """Put one of the moves with the best score first, chosen by *seed*."""
        last = self.iterations[-1]
        least = last.value - SAME_SCORE if self.search.has_chance else last.value
        ties = [last.lines[0]]
        moves = legal_moves(self.position)
        words = self.words
        for move in self.moves():
            if move == ties[0].move:
                continue
            others = [other for other in moves if other != move]
            words["root_excluded_moves"][: len(others)] = others
            words["root_excluded"][0] = len(others)
            value = self.call(last.value - 1, least, last.depth)
            words["root_excluded"][0] = 0
            if value is None:
                return
            if value >= least:
                ties.append(Line(move, last.value, self.line()))
        ties.sort(key=lambda line: line.move)
        chosen = Random(seed).choice(ties)
        rest = [line for line in last.lines if line.move != chosen.move]
        lines = (chosen, *rest)[: len(last.lines)]
        spent = self.clock.elapsed()
        self.iterations[-1] = replace(last, lines=lines, nodes=self.nodes(), seconds=spent)

    def _result(self) -> SearchResult:
        search = self.search
        seconds = self.clock.elapsed()
        depth, proven = 0, self.over
        lines: tuple[Line, ...] = ()
        if self.iterations:
            last = self.iterations[-1]
            depth, value, proven = last.depth, last.value, last.proven
            lines = last.lines
        else:
            value = search.estimate(self.position)
            lines = tuple(Line(move, value, (move,)) for move in self.moves()[:1])
        if self.interim is not None and self.interim.move != lines[0].move:
            rest = [line for line in lines if depth and line.move != self.interim.move]
            lines, value = (self.interim, *rest)[: len(lines)], self.interim.value
        helpers = self.helpers
        counts = search.memory.numbers(COUNTERS) if helpers is None else helpers.counts(search)
        counters = search.outside_counts() if helpers is None else helpers.outside_counts(search)
        return SearchResult(
            position=self.position,
            value=value,
            proven=proven,
            exact=search.exact,
            decisive=search.win > 0,
            lines=self._completed(lines, depth),
            depth=depth,
            iterations=tuple(self.iterations),
            statistics=Statistics(
                **counts,
                aspiration_researches=self.researches,
                depth=depth,
                seconds=seconds,
                fill=search.table.fill(),
                counters=counters,
                proof_nodes=self.proof_nodes,
            ),
            seconds=seconds,
            reason=self.reason or ("proven" if proven else "depth limit"),
            compiled=not is_plain(search.cls),
        )


def helper_task(leader: Deepening, search: CompiledSearch, start: int) -> ThreadTask:
    """Return the task of a helper thread: search the leader's position from depth *start* on."""
    ended = threading.Event()
    known = tuple(leader.iterations)

    def assist() -> None:
        limits = Limits(leader.most_nodes, stop=ended)
        search.stopped.clear()
        with contextlib.suppress(CutnodeError):  # the leader meets the same error
            helper = Deepening(
                search,
                leader.position,
                limits,
                depth=leader.depth,
                clock=Clock(None),
                moves=leader.chosen,
                history=leader.history,
            )
            helper.iterations += known
            helper.assist(start)

    def end() -> None:
        ended.set()
        search.stop()

    return ThreadTask(assist, end)


def completed(search: CompiledSearch, position: Any, line: Line, depth: int) -> Line:
    """Return a line of play, extended to *depth* moves from the table."""
    # An entry of the table knows no illegal repetition.
    if len(line.pv) >= depth or "table" not in search.techniques or bans_repetition(position):
        return line
    moves: list[int] = []
    actions = 0
    move: int | None
    for move in line.pv:
        position, actions = _after(search, position, actions, move)
        moves.append(move)
    while len(moves) < depth and not outcome(position)[0] and not chance(position):
        move = _table_move(search, position, actions, depth - len(moves), len(moves))
        if move is None:
            break
        position, actions = _after(search, position, actions, move)
        moves.append(move)
    return Line(line.move, line.value, tuple(moves))


def _after(search: CompiledSearch, position: Any, actions: int, move: int) -> tuple[Any, int]:
    """Return the position after a move, and the number of free moves in its turn so far."""
    child = play(position, move)
    return child, actions + 1 if is_free_move(position, move, child, actions, search.turns) else 0


def _table_move(
    search: CompiledSearch, position: Any, actions: int, left: int, ply: int
) -> int | None:
    """Return the table's move for a position, if it holds a legal one."""
    record, words = search.memory.record, search.table.words
    if search.has_chance:
        word = chance_address(position, actions, left, ply, record)
        data = chance_table.probe(words, word).data
    else:
        data = probe(words, address(position, actions, record))
    move = move_of(data) if data != 0 else NO_MOVE
    if move == NO_MOVE:
        return None
    if "symmetry" in search.techniques:
        move = original_move(position, int(move), canonical(position)[1])
    return int(move) if move in legal_moves(position) else None
