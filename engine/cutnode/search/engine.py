"""The engine that programs hold: one game, its table and its threads, and every kind of search.

An :class:`Engine` keeps its memory and threads between searches, so that a call costs
microseconds, and what searches stored, so that the next move of a game builds on the last.
Calls either wait for their result, in any thread (in the main thread Ctrl-C ends them), or return
a :class:`~cutnode.search.handles.Handle` at once.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, Unpack, cast, overload

from cutnode.contract.dispatch import defines, game_name, is_plain
from cutnode.contract.errors import CutnodeError, GameError, require_callable, require_integer
from cutnode.contract.loading import Game
from cutnode.kernels.clock import Clock
from cutnode.kernels.node import search_dtype
from cutnode.kernels.solver import search_dtype as solver_dtype
from cutnode.runtime.options import check
from cutnode.runtime.threads import Workers, interrupts
from cutnode.runtime.unpickled import Unpickled
from cutnode.search.api import perft
from cutnode.search.board import Board, class_of, given_history, given_position
from cutnode.search.game_solver import GameSolver
from cutnode.search.handles import Handle, Progress, Stop
from cutnode.search.loops import has_loops
from cutnode.search.monte_carlo import MonteCarlo
from cutnode.search.options import (
    ProofKeywords,
    ProofOptions,
    ProvingKeywords,
    QuestionKeywords,
    SearchKeywords,
    SearchOptions,
    TreeKeywords,
    proof_options,
    thread_count,
)
from cutnode.search.proving_searcher import ProvingSearcher
from cutnode.search.results import Iteration, MonteCarloResult, Result, SearchResult
from cutnode.search.searcher import Searcher
from cutnode.search.solving import require_solvable
from cutnode.search.trials import AutoSearcher
from cutnode.storage.tables import Table

MEBIBYTE = 1 << 20

CLOSING_PATIENCE = 0.1
"""Seconds after which :meth:`Engine.close` tells a running search to stop once more."""


class EngineKeywords(ProvingKeywords, TreeKeywords, total=False):
    """Keywords of an engine: for alpha-beta, or for Monte Carlo tree search."""


if TYPE_CHECKING:
    from typing_extensions import TypeVar

    R_co = TypeVar("R_co", covariant=True, default=SearchResult | MonteCarloResult)
else:
    from typing import TypeVar

    R_co = TypeVar("R_co", covariant=True)


class Engine(Unpickled, Generic[R_co]):
    """Searches and proofs for one game, with a table and threads of its own.

    *game* is a game or its name, a position or a position class.  The methods take a position, a
    text in the game's notation, or a :class:`~cutnode.search.board.Board`, whose history a search
    takes into account; by default, the position that the engine was made with, or the game's
    start.

    *engine* is ``"alphabeta"``, with the options of :class:`~cutnode.search.searcher.Searcher`;
    ``"mcts"``, with the options of :class:`~cutnode.search.monte_carlo.MonteCarlo`; or ``"auto"``,
    whichever of the two does better in a trial, which takes a quarter of the first search of a
    game.  Proofs use only the *book* and the *tablebase* among these options.

    *table* is a :class:`Table`, or its size in MiB.  *threads* search one position together through
    the table (without the technique ``table`` only one searches), and split node limits equally.

    *proof_share* is the part of its time and node limits, up to 0.9, that an alpha-beta search
    spends on a proof of the value, after its first depths; None takes the share from the game's
    ``PROFILE`` (``solver.proof_share``), and 0 turns proofs off.  A search tries no proof if it has
    a depth limit, several lines or restricted moves, or while its clock is held (:meth:`ponder`);
    nor in games of chance.  With a seed it tries to prove all moves in that time.  In a
    ``DECISIVE`` game a proof tells who wins but not how soon, and its score is below the scores of
    wins that a search has followed to the end.  In a ``DECISIVE`` game with cycles that defines
    ``check``, a search of at least 100,000 nodes or 0.2 s attempts a forced win instead, and a win
    that it finds is the quickest; other games with cycles have no proofs.  There the share, by
    default a tenth, is a tenth of itself for a player who is behind, and four times itself for one
    who is ahead by five ``UNIT``; once the search has proven a win, the rest of the limits is spent
    on finding a quicker one.

    An engine runs one search at a time: a call during another one raises :class:`CutnodeError`,
    also if another engine with the same :class:`Table` is searching.  A process may hold many
    engines, and any thread may use one.  Stored results stay until :meth:`new_game`.
    :meth:`close`, or the end of a ``with`` statement, frees memory and threads.  Memory is reserved
    at once and touched as searches need it; :attr:`megabytes` is its upper limit.  A forked process
    may use an engine that was idle at the fork; one that was searching it may only close.  An
    engine can be neither copied nor pickled.
    """

    @overload
    def __init__(
        self: Engine[SearchResult],
        game: Any,
        *,
        engine: Literal["alphabeta"] = ...,
        table: Table | int = ...,
        threads: int = ...,
        **options: Unpack[EngineKeywords],
    ): ...
    @overload
    def __init__(
        self: Engine[MonteCarloResult],
        game: Any,
        *,
        engine: Literal["mcts"],
        table: Table | int = ...,
        threads: int = ...,
        **options: Unpack[EngineKeywords],
    ): ...
    @overload
    def __init__(
        self: Engine[SearchResult | MonteCarloResult],
        game: Any,
        *,
        engine: str,
        table: Table | int = ...,
        threads: int = ...,
        **options: Unpack[EngineKeywords],
    ): ...
    def __init__(
        self,
        game: Any,
        *,
        engine: str = "alphabeta",
        table: Table | int = 64,
        threads: int = 1,
        **options: Unpack[EngineKeywords],
    ):
        check("engine", engine)
        cls = class_of(game)
        self.engine = engine
        self.threads = threads = thread_count(threads, cls)
        self._workers = Workers()
        given: Any = options
        common: Any = {"threads": threads, "workers": self._workers, "ready": False}
        table = table if isinstance(table, Table) else Table(table)
        self._table: Table | None = table
        searcher: Searcher | MonteCarlo | AutoSearcher
        if engine == "mcts":
            searcher = MonteCarlo(cls, **common, **given)
        elif engine == "auto":
            searcher = AutoSearcher(cls, table=table, **common, **given)
        else:
            searcher = ProvingSearcher(cls, table=table, **common, **given)
        self._searcher: Searcher | MonteCarlo | AutoSearcher | None = searcher
        self.cls: Any = cls
        self._first = Game.of(cls).start() if isinstance(game, type) else given_position(game)
        self.techniques = searcher.techniques
        self.exact = searcher.exact
        self.megabytes = self.room(cls, table=table, threads=threads)
        if not isinstance(searcher, Searcher):
            self.megabytes += searcher.megabytes
        self._solver: GameSolver | None = None
        self._busy = threading.Lock()
        self._lock = threading.Lock()
        self._spare = Stop()
        self._stop: Stop | None = None
        """The stop event of the running search."""
        self._thread = 0
        """The thread that runs the search and its callbacks; 0 if there is none."""

    @staticmethod
    def room(game: Any, *, table: Table | int = 64, threads: int = 1) -> int:
        """Return the most memory in MiB that an engine takes: its table and its threads' memory.

        In games with cycles, positions that a proof solves in memory can take as much as the table.
        """
        cls = class_of(game)
        each = 0
        if not is_plain(cls):
            each = search_dtype(cls).itemsize
            if not any(defines(cls, verb) for verb in ("chance", "reversible", "drawn")):
                each += 2 * solver_dtype(cls).itemsize  # for proofs, and for proofs within searches
        size = table.megabytes if isinstance(table, Table) else table
        megabytes = require_integer(size, "the size of a table in MiB")
        if has_loops(cls) and not defines(cls, "chance"):
            megabytes *= 2
        return megabytes + -(-each * thread_count(threads, cls) // MEBIBYTE)

    def prepare(self, *kinds: str) -> None:
        """Compile the code of some *kinds* of call now, so that the first call need not wait.

        A kind is ``"search"`` (the default), ``"solve"`` or ``"analyse"``.
        """
        self._begin(None)
        try:
            for kind in kinds or ("search",):
                if kind == "search":
                    self._opened().prepare()
                else:
                    _require_kind(kind)
                    self._ready_solver().prepare()
        finally:
            self._finish()

    # Calls that wait

    def search(self, position: Any = None, **options: Unpack[SearchKeywords]) -> R_co:
        """Return the best move and its score, searched as deep as the limits allow.

        At least one limit is needed: *depth* in plies, up to 63 (Monte Carlo tree search takes
        *playouts* instead); *nodes*; *seconds*, which can end the search within a depth;
        *soft_seconds*, which ends it only between depths; or the event *stop*.  The result is that
        of the last completed depth, with the reason why no other followed.  If the search ended
        within a depth that had already found a better move, that move comes first.

        *lines* is the number of best moves to return, and *moves* restricts the choice to these
        moves.  *seed* picks one of the moves of equal score, which costs one more search of every
        other move; without it, or if a limit ends the search, the first one found is taken.
        *history* holds the positions of the game before this one, oldest first, for repetitions.

        *progress* is called after each depth, and *bounds* with a bound when a score falls outside
        the aspiration window.  An exception in a callback ends the search and is raised here.
        """
        options["history"] = given_history(position, options.get("history", ()))
        position = self._mine(position)
        chosen = SearchOptions.of("search", options)
        chosen.require_limit(self.engine)
        running = self._begin(chosen.stop)
        try:
            return cast(R_co, self._opened().run(position, chosen, stop=running))
        finally:
            self._finish()

    def solve(self, position: Any = None, **options: Unpack[QuestionKeywords]) -> Result:
        """Prove the value of a position, a best move, and the line of best play.

        Options are as for :func:`cutnode.solve`; a proof builds on what earlier ones stored.
        """
        return self._prove(position, "solve", proof_options("solve", options))

    def analyse(self, position: Any = None, **options: Unpack[ProofKeywords]) -> Result:
        """Prove the values of a position and of every legal move: see :meth:`solve`."""
        return self._prove(position, "analyse", proof_options("analyse", options))

    def _prove(self, position: Any, kind: str, options: ProofOptions) -> Result:
        position = self._mine(position)
        running = self._begin(options.stop)
        try:
            return self._ready_solver().prove(kind, position, options, running)
        finally:
            self._finish()

    def evaluate(self, position: Any = None) -> float:
        """Return the static evaluation of a position, as a score for the player to move."""
        return self._opened().estimate(self._mine(position))

    def perft(self, position: Any, depth: int, *, finished: bool = False, bulk: bool = True) -> int:
        """Return the number of lines of *depth* moves, with all threads: see :func:`perft`."""
        position = self._mine(position)
        running = self._begin(None)
        try:
            return perft(
                position,
                depth,
                finished=finished,
                bulk=bulk,
                threads=self.threads,
                stop=running,
                workers=self._workers,
            )
        finally:
            self._finish()

    # Calls that do not wait

    @overload
    def start(
        self, position: Any = ..., kind: Literal["search"] = ..., **options: Any
    ) -> Handle[R_co]: ...
    @overload
    def start(
        self, position: Any = ..., *, kind: Literal["solve", "analyse"], **options: Any
    ) -> Handle[Result]: ...
    @overload
    def start(
        self, position: Any, kind: Literal["solve", "analyse"], **options: Any
    ) -> Handle[Result]: ...
    @overload
    def start(self, position: Any = ..., kind: str = ..., **options: Any) -> Handle: ...
    def start(self, position: Any = None, kind: str = "search", **options: Any) -> Handle[Any]:
        """Start a ``"search"``, ``"solve"`` or ``"analyse"`` call, and return its handle at once.

        *options* are as for the method of that name.  Callbacks run in the searching thread.
        """
        return self._start(position, kind, Clock(None), options)

    def ponder(self, position: Any = None, **options: Unpack[SearchKeywords]) -> Handle[R_co]:
        """Start a search of the expected *position* while the opponent thinks.

        Its time limits count from the ``hit()`` of its handle on: call it when the expected
        position arises.  If another one does, ``stop()`` the handle.
        """
        return self._start(position, "search", Clock(None, held=True), dict(options))

    async def search_async(self, position: Any = None, **options: Unpack[SearchKeywords]) -> R_co:
        """Run :meth:`search` without blocking the event loop; cancelling the task ends it."""
        return await self.start(position, "search", **options)

    async def solve_async(
        self, position: Any = None, **options: Unpack[QuestionKeywords]
    ) -> Result:
        """Run :meth:`solve` without blocking the event loop; cancelling the task ends it."""
        return await self.start(position, "solve", **options)

    async def analyse_async(self, position: Any = None, **options: Unpack[ProofKeywords]) -> Result:
        """Run :meth:`analyse` without blocking the event loop; cancelling the task ends it."""
        return await self.start(position, "analyse", **options)

    # Resources

    @property
    def table(self) -> Table:
        """The transposition table of the engine's searches."""
        self._opened()
        assert self._table is not None
        return self._table

    def new_game(self) -> None:
        """Forget what searches stored and learned: the next one behaves like the first."""
        self._begin(None)
        try:
            self._opened().clear()
            self.table.forget()
        finally:
            self._finish()

    def stop(self) -> None:
        """End the running search, if any; it returns the best that it has found."""
        stop = self._stop
        if stop is not None:
            self._end(stop)

    def close(self) -> None:
        """End the running search, if any, and free memory and threads."""
        if self._searcher is None:
            return
        if self._thread == threading.get_ident():
            raise CutnodeError("a callback cannot close the engine that calls it; use stop()")
        self.stop()
        while not self._busy.acquire(timeout=CLOSING_PATIENCE):
            if self._workers.left_behind:
                break
            self.stop()
        self._searcher = self._solver = self._table = None
        self._busy.release()
        self._workers.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self._searcher is None else f"{self.megabytes} MiB"
        return f"<Engine for {game_name(self.cls)}, {state}, {self.threads} threads>"

    # One search at a time

    def _opened(self) -> Searcher | MonteCarlo | AutoSearcher:
        if self._searcher is None:
            raise CutnodeError("this engine is closed")
        return self._searcher

    def _ready_solver(self) -> GameSolver:
        if self._solver is None:
            searcher = self._opened()
            self._solver = GameSolver(
                self.cls,
                self.table,
                self.threads,
                self._workers,
                book=searcher.book,
                tablebase=searcher.tablebase,
                memory=self.table.megabytes << 20,
            )
        return self._solver

    def _mine(self, position: Any) -> Any:
        """Return the position of a call; raise :class:`GameError` if it is of another game."""
        if position is None:
            return self._first
        if isinstance(position, str):
            return Game.of(self.cls).parse(position)
        if isinstance(position, Game | Board):
            position = given_position(position)
        if type(position) is not self.cls:
            given = game_name(type(position)) if hasattr(position, "_fields") else repr(position)
            raise GameError(f"this engine is for {game_name(self.cls)}, not {given}")
        return position

    def _begin(self, stop: threading.Event | None, own: Stop | None = None) -> Stop:
        """Take the engine for a search, and return the event that ends this search.

        It is a handle's *own* event, or the spare one, which calls without a handle share.
        """
        if not self._busy.acquire(blocking=False):
            raise CutnodeError("this engine is already searching; stop() it, or use another")
        try:
            if not self.table.in_use.acquire(blocking=False):
                raise CutnodeError("another search uses this engine's table")
        except CutnodeError:
            self._busy.release()
            raise
        running = own or self._spare
        if running.is_set():
            running = self._spare = Stop()
        running.other = stop
        with self._lock:
            self._stop = running
            self._thread = threading.get_ident() if own is None else 0
        return running

    def _finish(self) -> None:
        with self._lock:
            self._stop, self._thread = None, 0
        self.table.in_use.release()
        self._busy.release()

    def _end(self, stop: Stop) -> None:
        """Set a search's stop event; if that search is running, interrupt it at once."""
        with self._lock:
            stop.set()
            if self._stop is stop:
                if self._searcher is not None:
                    self._searcher.stop()
                if self._solver is not None:
                    self._solver.stop()

    def _start(
        self, position: Any, kind: str, clock: Clock, keywords: dict[str, Any]
    ) -> Handle[Any]:
        _require_kind(kind)
        if kind == "search":
            keywords["history"] = given_history(position, keywords.get("history", ()))
            told = keywords.get("progress")
            require_callable(told, "progress")

            def follow(iteration: Iteration) -> None:
                handle.note(iteration)
                if told is not None:
                    told(iteration)

            keywords["progress"] = follow
        position = self._mine(position)
        stop, call = self._call(position, kind, clock, keywords)
        running = self._begin(stop, Stop())
        self._opened().reset()
        handle: Handle[Any] = Handle(position, kind, clock, running, self._end, self._progress)

        def run() -> None:
            result, failure = None, None
            with self._lock:
                self._thread = handle.thread = threading.get_ident()
            try:
                result = call(running)
            except BaseException as error:
                failure = error
            handle.rest(self._progress(handle, result))
            self._finish()
            handle.finish(result, failure)

        with interrupts() as pressed:
            try:
                self._workers.start(run)
            except RuntimeError:  # no more threads can be started
                self._finish()
                raise
        if pressed:
            handle.stop()
            raise KeyboardInterrupt
        return handle

    def _progress(self, handle: Handle[Any], result: Any = None) -> Progress:
        """Return the progress of a running search, or of one that has its *result*."""
        searcher = self._opened()
        fill, seconds = searcher.fill(), handle.clock.elapsed()
        if handle.kind != "search":
            if result is not None:
                value, bounds = result.value, (result.lower, result.upper)
                return Progress(0, value, *bounds, result.pv, result.nodes, seconds, fill)
            solver = self._solver
            nodes, lower, upper = (0, None, None) if solver is None else solver.progress()
            return Progress(0, None, lower, upper, (), nodes, seconds, fill)
        depth, value = 0, None
        line: tuple[int, ...] = ()
        if result is not None:
            depth, value, line = result.depth, result.value, result.pv
        elif handle.iterations:
            last = handle.iterations[-1]
            depth, value = last.depth, last.value
            line = last.lines[0].pv if last.lines else ()
        return Progress(depth, value, None, None, line, searcher.nodes(), seconds, fill)

    def _call(
        self, position: Any, kind: str, clock: Clock, keywords: dict[str, Any]
    ) -> tuple[threading.Event | None, Callable[[Stop], Any]]:
        """Check the options of a call of some kind; return its stop event and a function to run."""
        if kind != "search":
            options = proof_options(kind, keywords)
            require_solvable(self.cls)

            def prove(running: Stop) -> Result:
                return self._ready_solver().prove(kind, position, options, running)

            return options.stop, prove
        chosen = SearchOptions.of(kind, keywords)
        searcher = self._opened()
        searcher.check(position, chosen)

        def search(running: Stop) -> SearchResult | MonteCarloResult:
            return searcher.run(position, chosen, stop=running, clock=clock)

        return chosen.stop, search


def _require_kind(kind: str) -> None:
    if kind not in ("search", "solve", "analyse"):
        raise CutnodeError(f"kind must be 'search', 'solve' or 'analyse', got {kind!r}")
