"""The search of one thread: deepening, windows, limits, several lines, ties.

A :class:`Searcher` owns a table, what its searches learn, and the choice of techniques, and
drives the compiled search: one call of a kernel for each depth and window.  Short calls
run in the caller's thread, longer ones in a thread of their own that is watched.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b
from random import Random
from typing import TYPE_CHECKING, Any

from engine.compiler.memory import Memory
from engine.contract.derived import is_free_move
from engine.contract.dispatch import (
    MAX_VALUE,
    defines,
    game_constant,
    game_name,
    longest_line,
    value_limit,
)
from engine.contract.errors import (
    ContractError,
    CutnodeError,
    GameError,
    PositionError,
    require_integer,
)
from engine.contract.legal import legal_moves
from engine.contract.loading import Game
from engine.contract.messages import contract_violation
from engine.contract.positions import coerce
from engine.contract.stop import (
    CALLED,
    MOVES,
    NODES,
    PLIES,
    PROBABILITIES,
    RUNNING,
    VALUE,
    counts_turns,
)
from engine.contract.text import quoted
from engine.contract.verbs import (
    INFINITE,
    NO_MOVE,
    canonical,
    chance,
    original_move,
    outcome,
    play,
    recurrence,
    reversible,
)
from engine.kernels import chance_table
from engine.kernels.chance import chance_address, chance_root
from engine.kernels.clock import Clock
from engine.kernels.evaluation import Evaluation, evaluation_of
from engine.kernels.node import COUNTERS, PREPARE_TABLE, address, search_dtype
from engine.kernels.optionality import Optionality
from engine.kernels.parameters import (
    ASPIRATION_DEPTH,
    ASPIRATION_WINDOW,
    INLINE_NODES,
    MOST_BEFORE,
    MOST_DEPTH,
    SHORT_NODES,
)
from engine.kernels.profiles import MARGINS, NUMBERS, profile_of
from engine.kernels.scores import WIN, final_score, is_decisive, limited
from engine.kernels.search import search_root
from engine.kernels.table import ENTRY_WORDS, move_of, probe
from engine.kernels.techniques import TECHNIQUES, choose
from engine.search.results import Iteration, Line, SearchResult
from engine.search.running import UNLIMITED, Limits, require_limit, run_watched
from engine.search.statistics import Statistics
from engine.search.threads import SHARED_WORKERS, Workers
from engine.storage.tables import Table, holding

if TYPE_CHECKING:
    from engine.search.helper_threads import Crew
    from engine.storage.books import Book

__all__ = [
    "DRIVERS",
    "Searcher",
    "chosen_moves",
    "class_of",
    "drawing_words",
    "require_book",
    "require_history",
    "search",
]

DRIVERS = ("alphabeta", "mtdf")
"""How a depth is searched: with a window around the last score, or with null windows only,
from the last score on (MTD(f), A. Plaat et al., 1996)."""

SAME_SCORE = 1e-9
"""Scores of games of chance that differ by less are the same: sums are rounded."""


class Searcher:
    """A search of limited depth for one game.

    *game* is a game, a position or a position class.  *table* is a :class:`Table` or its
    size in MiB.  *evaluation* names one of the game's estimates (``"cells"`` is
    ``evaluate_cells``, ``"balanced"`` a style of ``engine.kernels.optionality``), or is an
    :class:`Evaluation` or :class:`Optionality`.  *techniques* are names of
    ``engine.kernels.techniques``, by default all that suit the game; *exact* leaves out those
    that can change scores.  *soonest* counts quicker wins higher.  *depth_in* says what
    a ply of depth is in games in which a player can move again: a turn (a move costs
    depth unless it is a ``free_move``), or each of its ``"actions"``.

    Games of chance are searched by expectiminimax, and scores are floats.  Their search is
    always exact but for the table: unless *exact*, what was searched deeper counts as well.
    *debug* watches while searching that probabilities sum to one, that no value is beyond
    the game's ``VALUE_LIMIT``, and that lines of play end; :class:`GameError` says where not.
    A position whose value is proven in the *book* is not searched: its move is the book's.

    One thread at a time may use a searcher.  Who gives one table to several sees to it that they
    do not use it at the same time for different games.
    """

    def __init__(
        self,
        game: Any,
        *,
        table: Table | int = 64,
        evaluation: str | Evaluation | Optionality | None = None,
        techniques: Iterable[str] | None = None,
        exact: bool = False,
        driver: str = "alphabeta",
        soonest: bool = True,
        depth_in: str = "turns",
        debug: bool = False,
        book: Book | None = None,
        workers: Workers = SHARED_WORKERS,
        ready: bool = True,
    ):
        self.cls: Any = class_of(game)
        require_book(book, self.cls)
        self.book = book
        self._options: dict[str, Any] = {
            "evaluation": evaluation,
            "exact": exact,
            "driver": driver,
            "soonest": soonest,
            "depth_in": depth_in,
            "debug": debug,
        }
        self.has_chance = defines(self.cls, "chance")
        if driver not in DRIVERS:
            raise CutnodeError(f"a driver is one of {', '.join(DRIVERS)}, not {driver!r}")
        if self.has_chance and driver != "alphabeta":
            raise GameError(f"{game_name(self.cls)} has chance: {driver} cannot search it")
        if debug and not self.has_chance:
            raise GameError(f"{game_name(self.cls)} has no chance: debug has nothing to watch")
        self.debug = debug
        self.evaluation = evaluation_of(self.cls, evaluation)
        self.techniques = choose(self.cls, techniques, exact=exact)
        self._options["techniques"] = self.techniques
        self.driver = driver
        self.exact = not self.techniques - choose(self.cls, None, exact=True)
        if self.has_chance:
            self.exact = exact or "table" not in self.techniques
        self.win = WIN if is_decisive(self.cls) else 0
        self.step = int(soonest)
        self.turns = counts_turns(depth_in)
        self.workers = workers
        if ready:
            self.prepare()
        self.table = table if isinstance(table, Table) else Table(table)
        self.memory = Memory(self.cls, search_dtype(self.cls))
        self.words = self.memory.words
        self._set_up()
        self.unlearn()
        self._busy = threading.Lock()
        self._stop = threading.Event()

    @functools.cached_property
    def _run(self) -> Callable[..., Any]:
        kernel = chance_root if self.has_chance else search_root
        return kernel.specialise(self.cls, self.evaluation)

    def prepare(self) -> None:
        """Have the compiled search ready; :class:`GameError` if the rules do not compile."""
        _ = self._run

    def _set_up(self) -> None:
        """Tell the kernel all that stays as it is."""
        words = self.words
        words["plies"][0] = longest_line(self.cls)
        words["win"][0], words["step"][0], words["exact"][0] = self.win, self.step, self.exact
        words["turns"][0] = self.turns
        words["purpose"][0] = self._purpose()
        for name in self.techniques:
            words[f"use_{name}"][0] = 1
        profile = profile_of(self.cls).suited_to(self.techniques)
        unit = game_constant(self.cls, "UNIT", 0)
        for name in MARGINS:
            words[f"{name}_margin"][0] = int(getattr(profile, f"{name}_margin") * unit)
        for name in NUMBERS:
            words[name][0] = getattr(profile, name)
        words["lmr_reductions"][:] = reductions(profile.reduction_base, profile.reduction_divisor)
        if self.has_chance:
            words["debug"][0] = self.debug
            words["value_limit"][0] = value_limit(self.cls)
            words["most"][0] = self.win or value_limit(self.cls)

    def _purpose(self) -> int:
        """Part of the keys of the table: scores of different meaning must not be mixed."""
        selective = () if self.exact else sorted(TECHNIQUES[name].key for name in self.techniques)
        symmetry = "symmetry" in self.techniques
        meaning = (self.evaluation.meaning, self.step, self.turns, symmetry, selective)
        name = f"{game_name(self.cls)} {meaning}"
        return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")

    def twin(self) -> Searcher:
        """Another searcher with the same options and the same table."""
        return Searcher(
            self.cls, table=self.table, workers=self.workers, ready=False, **self._options
        )

    def open_table(self, example: Any) -> None:
        """Make the table ready for several searchers; *example* is any position of the class."""
        kind = float if self.has_chance else int
        memory, table = self.memory.argument, self.table.words
        self._run(example, self.evaluation, kind(0), kind(1), 0, PREPARE_TABLE, memory, table)

    def estimate(self, position: Any) -> float:
        """The score of a position without looking ahead: an estimate, or of what it is worth."""
        over, final = outcome(position)
        if over:
            value = final_score(final, 0, self.win, self.step)
        else:
            value = limited(self.evaluation(position), self.win)
        return float(value) if self.has_chance else int(value)

    def clear(self) -> None:
        """Forget what searches stored and learned: the next is as the first."""
        self.table.forget()
        self.unlearn()

    def stop(self) -> None:
        """End the search that runs now, from any thread; it returns its best so far at once."""
        self._stop.set()
        self.memory["stop"] = CALLED

    def _remember(self, history: Sequence[Any], position: Any) -> None:
        """Write down which positions of the game so far would be a draw if they occurred again."""
        words = drawing_words(history, position) if history else []
        if words:
            self.words["path"][: len(words)] = words
        self.words["before"][0] = len(words)

    def unlearn(self) -> None:
        """Forget what earlier searches learned of moves; the table keeps what it has."""
        for name in ("history", "continuation_history"):
            self.memory.fill(name, 0)
        for name in ("killers", "countermoves"):
            self.memory.fill(name, NO_MOVE)

    def check(
        self,
        position: Any,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
        soft_seconds: float | None = None,
        stop: threading.Event | None = None,
        lines: int = 1,
        seed: int | None = None,
        moves: Iterable[int] | None = None,
    ) -> tuple[Limits, Sequence[int] | None]:
        """The limits of a search and its moves to choose from; an error if options are wrong."""
        if type(position) is not self.cls:
            given = type(position).__name__
            if hasattr(position, "_fields"):
                given = f"{game_name(type(position))} ({given})"
            raise GameError(
                f"this search is of {game_name(self.cls)} ({self.cls.__name__}), not {given}"
            )
        limits = Limits(nodes, seconds, stop)
        if soft_seconds is not None:
            Limits(None, soft_seconds)
        if depth is not None and not 0 <= require_integer(depth, "a depth") <= MOST_DEPTH:
            raise CutnodeError(f"a depth is 0..{MOST_DEPTH} plies, not {depth}")
        if require_integer(lines, "a number of lines") < 1:
            raise CutnodeError(f"a search gives at least 1 line, not {lines}")
        if seed is not None:
            require_integer(seed, "a seed")
        require_limit(depth, nodes, seconds, soft_seconds, stop)
        return limits, None if moves is None else chosen_moves(position, moves)

    def search(
        self,
        position: Any,
        *,
        depth: int | None = None,
        nodes: int | None = None,
        seconds: float | None = None,
        soft_seconds: float | None = None,
        stop: threading.Event | None = None,
        lines: int = 1,
        seed: int | None = None,
        moves: Iterable[int] | None = None,
        history: Sequence[Any] = (),
        progress: Callable[[Iteration], None] | None = None,
        bounds: Callable[[Iteration], None] | None = None,
        clock: Clock | None = None,
        crew: Crew | None = None,
    ) -> SearchResult:
        """The best move and its score, as deep as limits allow: see :meth:`engine.Engine.search`.

        *clock* is that of the search, if others know it: one that is held lets the limits of
        time count from its release on.  *crew* are searchers that help if the search takes long.
        """
        limits, allowed = self.check(
            position,
            depth=depth,
            nodes=nodes,
            seconds=seconds,
            soft_seconds=soft_seconds,
            stop=stop,
            lines=lines,
            seed=seed,
            moves=moves,
        )
        if not self._busy.acquire(blocking=False):
            raise CutnodeError("this searcher is busy: use one for each thread")
        self._stop.clear()
        try:
            self.prepare()
            clock = clock or Clock(seconds)
            clock.seconds = seconds
            known = self._in_book(position) if lines == 1 and moves is None else None
            if known is not None:
                depth, allowed, crew = 1, [known[1]], None
            task = _Task(self, coerce(position), limits, clock, soft_seconds, depth, lines, allowed)
            self._remember(history, position)
            if crew is not None and len(crew) > 1:
                task.join(crew, history)
            result = task.run(seed, progress, bounds)
            return result if known is None else _by_book(result, known[0])
        finally:
            self._busy.release()

    def _in_book(self, position: Any) -> tuple[int, int] | None:
        """The value and a best move of a position, if the book knows both."""
        answer = None if self.book is None else self.book.answer(position)
        if answer is None or answer[0] != answer[1] or answer[2] is None:
            return None
        return answer[0], answer[2]

    def help(
        self,
        position: Any,
        start: int,
        depth: int | None,
        *,
        nodes: int | None,
        moves: Sequence[int] | None,
        history: Sequence[Any],
        stop: threading.Event,
    ) -> None:
        """Search for another searcher, in this thread, from the depth *start* on."""
        with self._busy:
            self._stop.clear()
            limits = Limits(nodes, stop=stop)
            task = _Task(self, position, limits, Clock(None), None, depth, 1, moves)
            self._remember(history, position)
            task.assist(start)


class _Task:
    """One search: what was found so far, and why it ended."""

    def __init__(
        self,
        searcher: Searcher,
        position: Any,
        limits: Limits,
        clock: Clock,
        soft_seconds: float | None,
        depth: int | None,
        lines: int,
        allowed: Sequence[int] | None,
    ):
        self.searcher = searcher
        self.position = position
        self.over = bool(outcome(position)[0])
        self.allowed = allowed
        self.limits = limits
        self.soft_seconds = soft_seconds
        self.depth = depth
        self.lines = lines
        self.clock = clock
        self.reason = ""
        self.first = 1
        self.stops = [stop for stop in (limits.stop, searcher._stop) if stop is not None]
        self.researches = 0
        self.proven = False
        self.iterations: list[Iteration] = []
        self.interim: Line | None = None
        """The best move so far of a depth that is not done, if one was found to be good."""
        self.reached: float = 0
        """What the last call of the search returned, and where it was stopped."""
        self.bounds: Callable[[Iteration], None] | None = None
        self.crew: Crew | None = None
        self.history: Sequence[Any] = ()
        self.assisting = False
        self.words = searcher.words
        entry_words = chance_table.ENTRY_WORDS if searcher.has_chance else ENTRY_WORDS
        searcher.table.claim(searcher.cls, entry_words)
        searcher.memory.clear(COUNTERS)
        searcher.memory.fill("excluded_move", NO_MOVE)
        for name in ("stop", "root_excluded", "probcut_level", "shared"):
            self.words[name][0] = 0

    def join(self, crew: Crew, history: Sequence[Any]) -> None:
        """Be led by this task: the crew, which gets its share of the limit of nodes."""
        self.crew, self.history = crew, history
        crew.began = False
        if self.limits.nodes is not None:
            self.limits = replace(self.limits, nodes=max(1, self.limits.nodes // len(crew)))

    def assist(self, start: int) -> None:
        """Search without a result, from a depth on, with a table that others use as well."""
        self.assisting = True
        self.first = 0
        self.words["shared"][0] = 1
        for depth in self._depths():
            if depth >= start and not self._iterate(depth):
                break

    def nodes(self) -> int:
        """The nodes of all threads."""
        nodes = int(self.words["nodes"][0])
        return nodes if self.crew is None else nodes + self.crew.nodes()

    def run(
        self,
        seed: int | None,
        progress: Callable[[Iteration], None] | None,
        bounds: Callable[[Iteration], None] | None,
    ) -> SearchResult:
        self.bounds = bounds
        try:
            for depth in self._depths():
                if not self._iterate(depth):
                    break
                if progress is not None:
                    progress(self.iterations[-1])
                if self.iterations[-1].proven and depth != self.depth:
                    self.reason = self.reason or "proven"
                    break
                if self._is_over_softly():
                    break
            if seed is not None and self.iterations and self.reason in ("", "proven"):
                if self.iterations[-1].lines:
                    self._choose_among_ties(seed)
        except KeyboardInterrupt:
            self.reason = "interrupted"
        finally:
            self._dismiss()
        return self._result()

    def _dismiss(self) -> None:
        if self.crew is not None and self.crew.end():
            self.reason = "interrupted"

    def _depths(self) -> Iterator[int]:
        """The depths to search: single, in steps of two to a given one, or without end."""
        if self.over or self.depth == 0:
            return
        if "deepening" not in self.searcher.techniques:
            yield MOST_DEPTH if self.depth is None else self.depth
        elif self.depth is None:
            yield from range(1, MOST_DEPTH + 1)
        else:
            step = int(self.words["parity"][0])
            yield from range(self.depth % step or step, self.depth + 1, step)

    def _is_over_softly(self) -> bool:
        soft = self.soft_seconds
        if soft is not None and self.clock.spent() >= soft:
            self.reason = "time limit"
        return bool(self.reason)

    def _iterate(self, depth: int) -> bool:
        """Search one depth; False if the search ended before that was done."""
        words = self.words
        found: list[Line] = []
        proven = True
        excluded = self._excluded()
        if excluded:
            words["root_excluded_moves"][: len(excluded)] = excluded
        words["root_excluded"][0] = len(excluded)
        choices = len(self.moves()) if self.lines > 1 else 1
        best: float | None = None
        self.interim = None
        for number in range(min(self.lines, choices) or 1):
            value = self._score(depth, number)
            if value is None:
                words["root_excluded"][0] = 0
                return False
            proven &= self.proven
            best = value if best is None else max(best, value)
            line = tuple(int(move) for move in words["line"][: words["length"][0]])
            if not line:
                break  # chance decides
            found.append(Line(line[0], value, line))
            words["root_excluded_moves"][len(excluded) + number] = line[0]
            words["root_excluded"][0] += 1
        words["root_excluded"][0] = 0
        found.sort(key=lambda line: -line.value)
        spent = self.clock.elapsed()
        assert best is not None
        self.iterations.append(
            Iteration(
                depth,
                best,
                proven,
                tuple(found),
                self.nodes(),
                spent,
                deepest=int(words["deepest"][0]),
            )
        )
        self.interim = None
        return True

    def moves(self) -> Sequence[int]:
        """The moves to choose from."""
        return legal_moves(self.position) if self.allowed is None else self.allowed

    def _excluded(self) -> list[int]:
        """The moves that are not to choose from."""
        if self.allowed is None:
            return []
        return [move for move in legal_moves(self.position) if move not in self.allowed]

    def _score(self, depth: int, number: int) -> float | None:
        """The score of the best move that is not excluded; None after a stop."""
        if self.searcher.driver == "mtdf":
            return self._score_by_null_windows(depth, number)
        words = self.words
        known = self._last_score(depth, number)
        window = ASPIRATION_WINDOW
        low: float = -INFINITE
        high: float = INFINITE
        if known is not None and "aspiration" in self.searcher.techniques:
            low, high = known - window, known + window
        while True:
            low, high = max(low, -INFINITE), min(high, INFINITE)
            value = self._call(low, high, depth)
            if number == 0:
                self._note(low)
            if value is None:
                return None
            if not abs(value) < INFINITE:
                raise self._broken_contract()
            if low < value < high:
                self.proven = not words["estimates"][0]
                return value
            if number == 0 and self.bounds is not None:
                self.bounds(self._bound(depth, value, 1 if value >= high else -1))
            window *= 4
            self.researches += 1
            if value <= low:
                low = value - window if window < MAX_VALUE else -INFINITE
            else:
                high = value + window if window < MAX_VALUE else INFINITE

    def _note(self, low: float) -> None:
        """Keep the move that this depth has found to score more than *low*, if it has."""
        length = int(self.words["length"][0])
        if length and self.reached > low and not self.searcher.has_chance:
            line = tuple(int(move) for move in self.words["line"][:length])
            self.interim = Line(line[0], self.reached, line)

    def _bound(self, depth: int, value: float, bound: int) -> Iteration:
        """What is known of a depth when its score is a bound: the line that shows it, if any."""
        line = self.interim if bound > 0 else None
        if line is None and self.iterations:
            line = self.iterations[-1].lines[0]
        lines = () if line is None else (Line(line.move, value, line.pv),)
        nodes, deepest = self.nodes(), int(self.words["deepest"][0])
        spent = self.clock.elapsed()
        return Iteration(depth, value, False, lines, nodes, spent, deepest=deepest, bound=bound)

    def _score_by_null_windows(self, depth: int, number: int) -> float | None:
        lower: float = -MAX_VALUE
        upper: float = MAX_VALUE
        self.proven = True
        value = self._last_score(depth, number, at_least=0) or 0
        line: Any = None
        length = 0
        words = self.words
        while lower < upper:
            beta = max(value, lower + 1)
            found = self._call(beta - 1, beta, depth)
            if found is None:
                return None
            if not abs(found) < INFINITE:
                raise self._broken_contract()
            value = found
            self.proven &= not words["estimates"][0]
            if value >= beta:
                lower = value
                length = int(words["length"][0])
                line = words["line"][:length].copy()
            else:
                upper = value
        if line is None:
            # Every answer was "less": ask once more, for the move.
            if self._call(lower - 1, lower, depth) is None:
                return None
        else:
            words["length"][0] = length
            words["line"][:length] = line
        return value

    def _broken_contract(self) -> ContractError:
        game = game_name(self.searcher.cls)
        return ContractError(
            f"{game} breaks the contract: a position without moves that is not over, or a value "
            f"beyond {MAX_VALUE}; see cutnode check {game}"
        )

    def _last_score(
        self, depth: int, number: int, at_least: int = ASPIRATION_DEPTH
    ) -> float | None:
        """The score of the same line at the last depth of the same parity."""
        if depth < at_least:
            return None
        for iteration in reversed(self.iterations):
            if (depth - iteration.depth) % 2 == 0 and number < len(iteration.lines):
                return iteration.lines[number].value
        return None

    def _call(self, low: float, high: float, depth: int) -> float | None:
        """One call of the compiled search; None after a stop."""
        words = self.words
        limit = min(self.limits.nodes or UNLIMITED, UNLIMITED)
        spent = int(words["nodes"][0])
        task = functools.partial(self._search, low, high, depth)
        self.reached = -INFINITE
        if self.reason not in ("", "proven"):
            return None  # Ctrl-C, say, as the last call ended by itself
        if any(stop.is_set() for stop in self.stops):
            self.reason = "stopped"
            return None
        if self.assisting:
            words["node_limit"][0] = limit - 1
            self.reached = task()
            if words["stop"][0] == RUNNING:
                return self.reached
            return None
        if self._is_short(depth):
            words["node_limit"][0] = min(limit - 1, spent + INLINE_NODES)
            self.reached = task()
            if words["stop"][0] == RUNNING:
                return self.reached
            words["stop"][0] = RUNNING
        if int(words["nodes"][0]) < limit or limit <= spent:
            words["node_limit"][0] = limit - 1
            if self.crew is not None and not self.crew.working:
                self.crew.begin(self, depth)
            answers: list[float] = []
            self.reason = run_watched(
                lambda: answers.append(task()),
                self.searcher.memory,
                self.clock,
                self.stops,
                self.searcher.workers,
            )
            self.reached = answers[0]
            if words["stop"][0] == RUNNING:
                return self.reached
        else:
            words["stop"][0] = NODES
        if words["stop"][0] == NODES:
            self.reason = "node limit"
        elif words["stop"][0] in (PLIES, PROBABILITIES, VALUE, MOVES):
            violation = self.searcher.memory.position("violation", self.position)
            raise contract_violation(violation, int(words["stop"][0]), self.searcher.evaluation)
        elif not self.reason:
            self.reason = "stopped"
        words["stop"][0] = RUNNING
        return None

    def _is_short(self, depth: int) -> bool:
        """Whether a search of some depth will surely be done in a moment."""
        if self.clock.is_over(0):
            return False
        return depth <= 1 or (bool(self.iterations) and self.iterations[-1].nodes < SHORT_NODES)

    def _search(self, low: float, high: float, depth: int) -> float:
        searcher = self.searcher
        kind = float if searcher.has_chance else int
        self.words["estimates"][0] = 0
        first, self.first = self.first, 0
        memory, table = searcher.memory.argument, searcher.table.words
        return searcher._run(  # type: ignore[no-any-return]
            self.position, searcher.evaluation, kind(low), kind(high), depth, first, memory, table
        )

    def _choose_among_ties(self, seed: int) -> None:
        """Put a move of the best score in front, chosen by *seed* among all that have it."""
        last = self.iterations[-1]
        words = self.words
        least = last.value - SAME_SCORE if self.searcher.has_chance else last.value
        ties = [last.lines[0]]
        moves = legal_moves(self.position)
        for move in self.moves():
            if move == ties[0].move:
                continue
            others = [other for other in moves if other != move]
            words["root_excluded_moves"][: len(others)] = others
            words["root_excluded"][0] = len(others)
            value = self._call(last.value - 1, least, last.depth)
            line = tuple(int(m) for m in words["line"][: words["length"][0]])
            words["root_excluded"][0] = 0
            if value is None:
                return
            if value >= least:
                ties.append(Line(move, last.value, line))
        ties.sort(key=lambda line: line.move)
        chosen = Random(seed).choice(ties)
        rest = [line for line in last.lines if line.move != chosen.move]
        lines = (chosen, *rest)[: len(last.lines)]
        spent = self.clock.elapsed()
        self.iterations[-1] = replace(last, lines=lines, nodes=self.nodes(), seconds=spent)

    def _result(self) -> SearchResult:
        searcher = self.searcher
        seconds = self.clock.elapsed()
        depth, proven = 0, self.over
        lines: tuple[Line, ...] = ()
        if self.iterations:
            last = self.iterations[-1]
            depth, value, proven = last.depth, last.value, last.proven
            lines = last.lines
        else:
            value = searcher.estimate(self.position)
            lines = tuple(Line(move, value, (move,)) for move in self.moves()[:1])
        if self.interim is not None and self.interim.move != lines[0].move:
            rest = [line for line in lines if depth and line.move != self.interim.move]
            lines, value = (self.interim, *rest)[: len(lines)], self.interim.value
        lines = tuple(self._complete(line, depth) for line in lines)
        crew = self.crew
        counts = searcher.memory.numbers(COUNTERS) if crew is None else crew.counts()
        return SearchResult(
            position=self.position,
            value=value,
            proven=proven,
            exact=searcher.exact,
            decisive=searcher.win > 0,
            lines=lines,
            depth=depth,
            iterations=tuple(self.iterations),
            statistics=Statistics(
                **counts,
                aspiration_researches=self.researches,
                depth=depth,
                seconds=seconds,
                fill=searcher.table.fill(),
            ),
            seconds=seconds,
            reason=self.reason or ("proven" if proven else "depth limit"),
        )

    def _complete(self, line: Line, depth: int) -> Line:
        """A line that the table cut short, continued from the table."""
        searcher = self.searcher
        if len(line.pv) >= depth or "table" not in searcher.techniques:
            return line
        moves: list[int] = []
        position, actions = self.position, 0

        def follow(move: int) -> None:
            nonlocal position, actions
            child = play(position, move)
            is_free = is_free_move(position, move, child, actions, searcher.turns)
            position, actions = child, actions + 1 if is_free else 0
            moves.append(move)

        for move in line.pv:
            follow(move)
        search, words = searcher.memory.record, searcher.table.words
        while len(moves) < depth and not outcome(position)[0] and not chance(position):
            if searcher.has_chance:
                left = depth - len(moves)
                word = chance_address(position, actions, left, len(moves), search)
                data = chance_table.probe(words, word).data
            else:
                data = probe(words, address(position, actions, search))
            move = move_of(data) if data != 0 else NO_MOVE
            if move == NO_MOVE:
                break
            if "symmetry" in searcher.techniques:
                move = original_move(position, int(move), canonical(position)[1])
            if move not in legal_moves(position):
                break
            follow(int(move))
        return Line(line.move, line.value, tuple(moves))


@functools.cache
def reductions(base: float, divisor: float) -> list[int]:
    """By how many plies late moves are searched less deep: at ``depth * 64 + number``."""
    less = [0] * ((MOST_DEPTH + 1) * 64)
    for depth in range(1, MOST_DEPTH + 1):
        for number in range(1, 64):
            less[depth * 64 + number] = int(base + math.log(depth) * math.log(number) / divisor)
    return less


def _by_book(result: SearchResult, value: int) -> SearchResult:
    """What a search of a book's move found, with the value that the book knows.

    Where scores say how soon a game is won, a value does not say it: there the score stays.
    """
    if not result.decisive and result.lines:
        best = replace(result.lines[0], value=value)
        result = replace(result, value=value, proven=True, lines=(best,))
    return result if result.reason == "interrupted" else replace(result, reason="book")


def require_history(history: Iterable[Any], cls: Any) -> None:
    """:class:`GameError` if *history* is something else than positions of a class."""
    for earlier in history:
        if type(earlier) is not cls:
            raise GameError(
                f"history is a list of earlier positions of {game_name(cls)}; "
                f"this is none: {quoted(repr(earlier))}"
            )


def drawing_words(history: Sequence[Any], position: Any) -> list[int]:
    """The words (``recurrence``) of positions of a game before *position* that must not come back.

    Those that have to occur more than once again before that is a draw are not among them.
    """
    require_history(history, type(position))
    line = [coerce(earlier) for earlier in (*history, position)]
    start = len(line) - 1
    while start > max(0, len(line) - MOST_BEFORE) and reversible(line[start - 1], line[start]):
        start -= 1
    words = [recurrence(earlier) for earlier in line[start:-1]]
    often = game_constant(type(position), "REPETITIONS", 2) - 1
    return [word for at, word in enumerate(words) if words[: at + 1].count(word) >= often]


def chosen_moves(position: Any, moves: Iterable[int]) -> list[int]:
    """The legal moves that are among *moves*; :class:`PositionError` if one is not legal."""
    legal = legal_moves(position)
    chosen = {require_integer(move, "a move") for move in moves}
    if not chosen or chosen - set(legal):
        wrong = ", ".join(map(str, sorted(chosen - set(legal)))) or "none"
        raise PositionError(f"the moves to choose from are legal ones, not {wrong}")
    return [move for move in legal if move in chosen]


def search(
    position: Any,
    *,
    depth: int | None = None,
    nodes: int | None = None,
    seconds: float | None = None,
    table: Table | int = 64,
    **options: Any,
) -> SearchResult:
    """:meth:`Searcher.search` with a searcher of its own.

    *options* are those of :class:`Searcher` and of its ``search``.
    """
    limits = ("soft_seconds", "stop", "lines", "seed", "moves", "history", "progress", "bounds")
    more = {name: options.pop(name) for name in limits if name in options}
    with holding(table) as table:
        searcher = Searcher(position, table=table, **options)
        return searcher.search(position, depth=depth, nodes=nodes, seconds=seconds, **more)


def require_book(book: Any, cls: Any) -> None:
    """:class:`CutnodeError` if a book is no book, or not about positions of a class."""
    if book is None:
        return
    if not callable(getattr(book, "require", None)):
        raise CutnodeError(f"a book is what Book.load gives, not {book!r}")
    book.require(cls)


def class_of(game: Any) -> Any:
    """The position class that a game, a position, or a position class means."""
    if isinstance(game, str):
        raise GameError(f"a game is what load_game({game!r}) returns, not its name")
    meant = game.start() if isinstance(game, Game) else game
    cls: Any = meant if isinstance(meant, type) else type(meant)
    if not defines(cls, "moves"):
        raise GameError(f"{game!r} is no position, nor a game that load_game returns")
    return cls
