"""The engine that programs hold: one game, its table and its threads, and every kind of search.

An :class:`Engine` keeps what searches need from one to the next, so that a call costs
microseconds, and what they have stored, so that the next move of a game builds on the last.
Calls either wait for their result, in a thread that may be that of Ctrl-C, or return a
:class:`~engine.search.handles.Handle` at once.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self

from engine.contract.dispatch import defines, game_name, is_plain
from engine.contract.errors import CutnodeError, GameError
from engine.kernels.clock import Clock
from engine.kernels.evaluation import Evaluation
from engine.kernels.node import search_dtype
from engine.kernels.optionality import Optionality
from engine.kernels.solver import search_dtype as solver_dtype
from engine.search.api import perft
from engine.search.handles import Handle, Progress, Stop
from engine.search.helper_threads import Crew
from engine.search.results import Iteration, Result, SearchResult
from engine.search.running import Limits, require_limit
from engine.search.searcher import Searcher, class_of, require_history
from engine.search.solving import Solvers, require_solvable, thread_count
from engine.search.threads import Workers, interrupts
from engine.storage.tables import Table

if TYPE_CHECKING:
    from engine.storage.books import Book

__all__ = ["Engine"]

MEBIBYTE = 1 << 20

LOOK = 0.1
"""Who closes an engine tells its search to end every so many seconds, until it has."""


class Engine:
    """Searches and proofs for one game, with a table and threads of its own.

    *game* is a game, a position or a position class.  *table* is a :class:`Table`, or its size in
    MiB.  *threads* work together on one position by what each finds in the table (without
    the technique ``table`` only one searches), and have equal shares of limits of nodes.  The rest
    is as for :class:`~engine.search.searcher.Searcher`, and of no meaning for proofs; but a *book*
    helps these, too.

    One search at a time: a call while another is under way is refused with a
    :class:`CutnodeError`, also if it is by another engine with the same :class:`Table`.  A process
    may hold many engines, and any thread may use one.  What
    a search stores is there for the next, until :meth:`new_game`.  :meth:`close`, or the end of
    a ``with`` statement, gives memory and threads back.  Memory is reserved at once and touched
    as searches need it; :attr:`megabytes` is what it can come to.  A process that is forked may
    use an engine that was idle then, and only close one that was not.  An engine is not copied.
    """

    def __init__(
        self,
        game: Any,
        *,
        table: Table | int = 64,
        threads: int = 1,
        evaluation: str | Evaluation | Optionality | None = None,
        techniques: Iterable[str] | None = None,
        exact: bool = False,
        driver: str = "alphabeta",
        soonest: bool = True,
        depth_in: str = "turns",
        debug: bool = False,
        book: Book | None = None,
    ):
        cls = class_of(game)
        self.threads = thread_count(threads, cls)
        self._workers = Workers()
        leader = Searcher(
            cls,
            table=table,
            evaluation=evaluation,
            techniques=techniques,
            exact=exact,
            driver=driver,
            soonest=soonest,
            depth_in=depth_in,
            debug=debug,
            book=book,
            workers=self._workers,
            ready=False,
        )
        self._crew: Crew | None = Crew(leader, threads)
        self.cls: Any = cls
        self.techniques = leader.techniques
        self.exact = leader.exact
        self.megabytes = self.room(cls, table=leader.table, threads=threads)
        self._solvers: Solvers | None = None
        self._busy = threading.Lock()
        self._lock = threading.Lock()
        self._spare = Stop()
        self._stop: Stop | None = None
        """That of the search that is under way."""
        self._thread = 0
        """Where it is carried out, and callbacks are called."""

    @staticmethod
    def room(game: Any, *, table: Table | int = 64, threads: int = 1) -> int:
        """The memory in MiB that an engine may take: its table, and that of each thread."""
        cls = class_of(game)
        each = 0
        if not is_plain(cls):
            each = search_dtype(cls).itemsize
            if not any(defines(cls, verb) for verb in ("chance", "reversible", "drawn")):
                each += solver_dtype(cls).itemsize
        megabytes = table.megabytes if isinstance(table, Table) else table
        return megabytes + -(-each * thread_count(threads, cls) // MEBIBYTE)

    def prepare(self, *kinds: str) -> None:
        """Have compiled code ready, so that the first call is not late.

        For a ``"search"``, which is usual, or to ``"solve"`` or ``"analyse"``.
        """
        self._begin(None)
        try:
            for kind in kinds or ("search",):
                if kind == "search":
                    self._opened().leader.prepare()
                else:
                    _require_kind(kind)
                    self._ready_solvers()
        finally:
            self._finish()

    # Calls that wait

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
    ) -> SearchResult:
        """The best move and its score, as deep as limits allow.

        *depth* is in plies, to 63; *seconds* ends a search in its middle, *soft_seconds*
        only between depths; *stop* is an event that ends it.  The result is that of the
        last depth that was completed, with the reason why none followed; if the next was
        ended after it had found another move to be better, that comes first.  *lines* asks
        for the best so many moves, and *moves* are the only ones to choose from.  *seed* picks
        one among moves of equal score, at the price of looking at all of them, unless a limit
        ends the search; without it the first found is taken.  *history* are the positions of
        the game before this one, the first first: what may repeat.  *progress* is called after
        each depth, and *bounds* where a score turns out to be beyond what was expected, with
        the bound that is known by then.  What a callback raises ends the search.
        """
        require_limit(depth, nodes, seconds, soft_seconds, stop)
        running = self._begin(stop)
        try:
            return self._opened().search(
                position,
                depth=depth,
                nodes=nodes,
                seconds=seconds,
                soft_seconds=soft_seconds,
                stop=running,
                lines=lines,
                seed=seed,
                moves=moves,
                history=history,
                progress=progress,
                bounds=bounds,
            )
        finally:
            self._finish()

    def solve(
        self,
        position: Any,
        *,
        weak: bool = False,
        nodes: int | None = None,
        seconds: float | None = None,
        stop: threading.Event | None = None,
    ) -> Result:
        """Prove the value of a position, a best move, and the line of best play.

        As :func:`engine.solve` does, and with what earlier proofs have stored.
        """
        running = self._begin(stop)
        try:
            limits = Limits(nodes, seconds, running)
            return self._prover(position).solve(position, weak=weak, limits=limits)
        finally:
            self._finish()

    def analyse(
        self,
        position: Any,
        *,
        weak: bool = False,
        nodes: int | None = None,
        seconds: float | None = None,
        stop: threading.Event | None = None,
    ) -> Result:
        """:meth:`solve`, and prove the value of every legal move as well."""
        running = self._begin(stop)
        try:
            limits = Limits(nodes, seconds, running)
            return self._prover(position).analyse(position, weak=weak, limits=limits)
        finally:
            self._finish()

    def evaluate(self, position: Any) -> float:
        """The score of a position without looking ahead: the estimate for the mover."""
        self._require_mine(position)
        return self._opened().leader.estimate(position)

    def perft(self, position: Any, depth: int, *, finished: bool = False, bulk: bool = True) -> int:
        """The number of lines of so many moves, counted by all threads: see :func:`perft`."""
        running = self._begin(None)
        try:
            self._require_mine(position)
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

    def start(self, position: Any, kind: str = "search", **options: Any) -> Handle:
        """Begin a ``"search"``, or to ``"solve"`` or ``"analyse"``, and return a handle at once.

        *options* are those of the method of that name.  Callbacks are called in the thread that
        searches.
        """
        return self._start(position, kind, Clock(None), options)

    def ponder(self, position: Any, **options: Any) -> Handle:
        """Begin a search whose limits of time count only from ``hit()`` of its handle on.

        For the time in which the other player thinks: *position* is the one that is expected.  If
        another comes, ``stop()`` the handle.
        """
        return self._start(position, "search", Clock(None, held=True), options)

    async def search_async(self, position: Any, **options: Any) -> SearchResult:
        """:meth:`search` without blocking the event loop; cancelling the task ends the search."""
        result: SearchResult = await self.start(position, "search", **options)
        return result

    async def solve_async(self, position: Any, **options: Any) -> Result:
        """:meth:`solve` without blocking the event loop; cancelling the task ends the proof."""
        result: Result = await self.start(position, "solve", **options)
        return result

    async def analyse_async(self, position: Any, **options: Any) -> Result:
        """:meth:`analyse` without blocking the event loop; cancelling the task ends it."""
        result: Result = await self.start(position, "analyse", **options)
        return result

    # What is kept

    @property
    def table(self) -> Table:
        return self._opened().leader.table

    def new_game(self) -> None:
        """Forget what searches have stored and learned: the next is as the first."""
        self._begin(None)
        try:
            self._opened().clear()
        finally:
            self._finish()

    def stop(self) -> None:
        """End the search that is under way, if there is one; it returns its best so far."""
        stop = self._stop
        if stop is not None:
            self._end(stop)

    def close(self) -> None:
        """End the search that is under way, and give memory and threads back."""
        if self._crew is None:
            return
        if self._thread == threading.get_ident():
            raise CutnodeError("a callback cannot close the engine that calls it: stop() it")
        self.stop()
        while not self._busy.acquire(timeout=LOOK):
            if self._workers.left_behind:
                break
            self.stop()
        self._crew = self._solvers = None
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

    def __reduce__(self) -> NoReturn:
        raise TypeError("an engine cannot be copied or sent: make another")

    def __repr__(self) -> str:
        state = "closed" if self._crew is None else f"{self.megabytes} MiB"
        return f"<Engine for {game_name(self.cls)}, {state}, {self.threads} threads>"

    # One search at a time

    def _opened(self) -> Crew:
        if self._crew is None:
            raise CutnodeError("this engine is closed")
        return self._crew

    def _prover(self, position: Any) -> Solvers:
        self._require_mine(position)
        return self._ready_solvers()

    def _ready_solvers(self) -> Solvers:
        if self._solvers is None:
            leader = self._opened().leader
            self._solvers = Solvers(
                self.cls, leader.table, self.threads, self._workers, leader.book
            )
        return self._solvers

    def _require_mine(self, position: Any) -> None:
        if type(position) is not self.cls:
            given = game_name(type(position)) if hasattr(position, "_fields") else repr(position)
            raise GameError(f"this engine is for {game_name(self.cls)}, not {given}")

    def _begin(self, stop: threading.Event | None, own: Stop | None = None) -> Stop:
        """Take the engine for a search, which the event that is returned ends.

        It is a handle's *own*, or one for all calls that have no handle.
        """
        if stop is not None:
            Limits(stop=stop)
        if not self._busy.acquire(blocking=False):
            raise CutnodeError("this engine is searching already: stop() it, or use another")
        try:
            if not self._opened().leader.table.in_use.acquire(blocking=False):
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
        self._opened().leader.table.in_use.release()
        self._busy.release()

    def _end(self, stop: Stop) -> None:
        """End a search, at once if it is the one that is under way."""
        with self._lock:
            stop.set()
            if self._stop is stop:
                if self._crew is not None:
                    self._crew.leader.stop()
                if self._solvers is not None:
                    self._solvers.stop()

    def _start(self, position: Any, kind: str, clock: Clock, options: dict[str, Any]) -> Handle:
        _require_options(kind, options)
        call = self._call(position, kind, clock, dict(options))
        running = self._begin(options.get("stop"), Stop())
        self._opened().reset()
        handle = Handle(position, kind, clock, running, self._end, self._progress)

        def run() -> None:
            result, failure = None, None
            with self._lock:
                self._thread = handle.thread = threading.get_ident()
            try:
                result = call(running, handle)
            except BaseException as error:
                failure = error
            handle.rest(self._progress(handle, result))
            self._finish()
            handle.finish(result, failure)

        with interrupts() as pressed:
            try:
                self._workers.start(run)
            except RuntimeError:  # there are no more threads to be had
                self._finish()
                raise
        if pressed:
            handle.stop()
            raise KeyboardInterrupt
        return handle

    def _progress(self, handle: Handle, result: Any = None) -> Progress:
        """How far a search is that is under way, or at its end."""
        crew = self._opened()
        fill, seconds = crew.leader.table.fill(), handle.clock.elapsed()
        if handle.kind != "search":
            if result is not None:
                value, bounds = result.value, (result.lower, result.upper)
                return Progress(0, value, *bounds, result.pv, result.nodes, seconds, fill)
            nodes, lower, upper = (
                (0, None, None) if self._solvers is None else self._solvers.progress()
            )
            return Progress(0, None, lower, upper, (), nodes, seconds, fill)
        nodes = int(crew.leader.memory["nodes"]) + crew.nodes()
        depth, value = 0, None
        line: tuple[int, ...] = ()
        if result is not None:
            depth, value, line = result.depth, result.value, result.pv
        elif handle.iterations:
            last = handle.iterations[-1]
            depth, value = last.depth, last.value
            line = last.lines[0].pv if last.lines else ()
        return Progress(depth, value, None, None, line, nodes, seconds, fill)

    def _call(
        self, position: Any, kind: str, clock: Clock, options: dict[str, Any]
    ) -> Callable[[Stop, Handle], Any]:
        """What a call of some kind does, once its options are known to be good."""
        crew = self._opened()
        options.pop("stop", None)
        if kind == "search":
            told, bounds = (options.pop(name, None) for name in ("progress", "bounds"))
            history = tuple(options.pop("history", ()))
            require_history(history, self.cls)
            if options.get("moves") is not None:
                options["moves"] = tuple(options["moves"])
            crew.leader.check(position, **options, stop=Stop())

            def search(running: Stop, handle: Handle) -> SearchResult:
                def follow(iteration: Iteration) -> None:
                    handle.note(iteration)
                    if told is not None:
                        told(iteration)

                return crew.search(
                    position,
                    stop=running,
                    progress=follow,
                    bounds=bounds,
                    history=history,
                    clock=clock,
                    **options,
                )

            return search
        require_solvable(self.cls)
        self._require_mine(position)
        weak = options.pop("weak", False)
        Limits(**options)

        def prove(running: Stop, handle: Handle) -> Result:
            limits = Limits(**options, stop=running)
            method = getattr(self._prover(position), kind)
            result: Result = method(position, weak=weak, limits=limits)
            return result

        return prove


def _require_kind(kind: str) -> None:
    if kind not in ("search", "solve", "analyse"):
        raise CutnodeError(f"what an engine does is search, solve or analyse, not {kind!r}")


@functools.cache
def _options_of(kind: str) -> list[str]:
    """The names of the options of a method."""
    _, _, *options = inspect.signature(getattr(Engine, kind)).parameters
    return options


def _require_options(kind: str, options: Iterable[str]) -> None:
    """See that a method has options of these names."""
    _require_kind(kind)
    known = _options_of(kind)
    for name in options:
        if name not in known:
            raise TypeError(f"{kind}() takes {', '.join(known)}; there is no option {name!r}")
