"""Searches of limited depth of one game: what programs call, and what they give.

A :class:`Searcher` owns a table, what its searches learn, and the choice of techniques;
:mod:`cutnode.search.deepening` is what one of its searches does.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any, Unpack

from cutnode.contract.derived import require_moves
from cutnode.contract.dispatch import game_name
from cutnode.contract.errors import CutnodeError, GameError
from cutnode.contract.positions import coerce
from cutnode.kernels.clock import Clock
from cutnode.runtime.running import Limits
from cutnode.runtime.threads import SHARED_WORKERS, Workers
from cutnode.runtime.unpickled import Unpickled
from cutnode.search.board import class_of
from cutnode.search.compiled_search import CompiledSearch
from cutnode.search.deepening import Attempt, Deepening
from cutnode.search.helper_threads import HelperThreads
from cutnode.search.options import (
    SearcherKeywords,
    SearcherOptions,
    SearchKeywords,
    SearchOptions,
    chosen_moves,
    require_book,
    thread_count,
)
from cutnode.search.record import require_history
from cutnode.search.results import SearchResult, Statistics
from cutnode.search.tablebase_results import lines_of
from cutnode.storage.tables import Table


class Searcher(CompiledSearch, Unpickled):
    """A search of limited depth for one game.

    *game* is a game, a position or a position class.  *table* is a :class:`Table` or its
    size in MiB.  *threads* search one position together.  Further keywords:

    *evaluation* names one of the game's estimates (``"cells"`` is ``evaluate_cells``,
    ``"balanced"`` a style of ``cutnode.kernels.optionality``), or is an :class:`Evaluation` or
    :class:`Optionality`.  *techniques* are names of ``cutnode.kernels.techniques``, by default all
    that suit the game; *exact* leaves out those that can change scores.  *driver* is
    ``"alphabeta"`` or ``"mtdf"``.  *soonest* (the default) counts quicker wins higher.  *depth_in*
    says what a ply of depth is in games in which a player can move again: one of the ``"turns"`` (a
    move costs depth unless it is a ``free_move``), or each of its ``"actions"``.

    Games of chance are searched by expectiminimax, and scores are floats.  Their search is
    always exact but for the table: unless *exact*, what was searched deeper counts as well.
    *debug* watches while searching that probabilities sum to one, that no value is beyond
    the game's ``VALUE_LIMIT``, and that lines of play end; :class:`GameError` says where not.
    A position whose value is proven in the *book* is not searched: its move is the book's.  Nor is
    one that is in the *tablebase*, a folder or what ``Tablebase.open`` gives; lines of a search end
    where they come to one, if the game numbers its positions (``index``).

    One thread at a time may use a searcher, and searchers with one table must not use it at the
    same time for different games.
    """

    def __init__(
        self,
        game: Any,
        *,
        table: Table | int = 64,
        threads: int = 1,
        workers: Workers = SHARED_WORKERS,
        ready: bool = True,
        **options: Unpack[SearcherKeywords],
    ):
        chosen = SearcherOptions.of("Searcher", options)
        cls = class_of(game)
        self.threads = thread_count(threads, cls)
        require_book(chosen.book, cls)
        super().__init__(cls, chosen, table, workers, ready=ready)
        self.book = chosen.book
        self.helpers = HelperThreads(self, self.threads)
        self._busy = threading.Lock()

    def search(self, position: Any, **options: Unpack[SearchKeywords]) -> SearchResult:
        """Return the best move and its score: see :meth:`cutnode.Engine.search`."""
        chosen = SearchOptions.of("search", options)
        chosen.require_limit()
        return self.run(position, chosen)

    def run(
        self,
        position: Any,
        options: SearchOptions,
        *,
        stop: threading.Event | None = None,
        clock: Clock | None = None,
    ) -> SearchResult:
        """Search with options that are checked.

        *stop*, if given, takes the place of theirs, and *clock* is that of the search: one that is
        held lets the limits of time count from its release on.
        """
        self.check(position, options)
        if not self._busy.acquire(blocking=False):
            raise CutnodeError("this searcher is busy: use one for each thread")
        self.stopped.clear()
        try:
            self.prepare()
            clock = clock or Clock(options.seconds)
            clock.seconds = options.seconds
            limits = options.limits if stop is None else replace(options.limits, stop=stop)
            moves = None if options.moves is None else chosen_moves(position, options.moves)
            depth = options.depth
            answer = self._in_tablebase(position, options, moves, clock)
            if answer is not None:
                return answer
            helpers: HelperThreads | None = self.helpers
            attempt = None
            known = self._in_book(position) if options.lines == 1 and moves is None else None
            if known is not None:
                depth, moves, helpers = 1, [known[1]], None
            else:
                attempt = self._attempt(position, options, limits)
            deepening = Deepening(
                self,
                coerce(position),
                limits,
                depth=depth,
                clock=clock,
                lines=options.lines,
                moves=moves,
                history=options.history,
                helpers=helpers,
                attempt=attempt,
            )
            result = deepening.run(
                seed=options.seed,
                soft_seconds=options.soft_seconds,
                progress=options.progress,
                bounds=options.bounds,
            )
            if attempt is not None:
                result = attempt.explained(result)
            return result if known is None else _by_book(result, known[0])
        finally:
            self._busy.release()

    def _attempt(self, position: Any, options: SearchOptions, limits: Limits) -> Attempt | None:
        """Return what tries to prove the value in the course of a search; None for nothing."""
        return None

    def check(self, position: Any, options: SearchOptions) -> None:
        """Raise :class:`GameError` or :class:`PositionError` if options do not suit a position."""
        if type(position) is not self.cls:
            given = type(position).__name__
            if hasattr(position, "_fields"):
                given = f"{game_name(type(position))} ({given})"
            raise GameError(
                f"this search is of {game_name(self.cls)} ({self.cls.__name__}), not {given}"
            )
        require_moves(position)
        if options.playouts is not None:
            raise CutnodeError("playouts limit Monte Carlo tree search: say engine='mcts'")
        require_history(options.history, self.cls)
        if options.moves is not None:
            chosen_moves(position, options.moves)

    def _in_tablebase(
        self, position: Any, options: SearchOptions, moves: list[int] | None, clock: Clock
    ) -> SearchResult | None:
        """Return what the tablebase says of a position and its moves, if it knows all of them."""
        if self.tablebase is None or options.history:  # a repetition would be a draw
            return None
        lines = lines_of(self.tablebase, position, moves, options.lines, self.win, self.step)
        if lines is None:
            return None
        return SearchResult(
            position=coerce(position),
            value=lines[0].value,
            proven=True,
            exact=True,
            decisive=self.win != 0,
            lines=lines,
            depth=1,
            iterations=(),
            statistics=Statistics.nothing(),
            seconds=clock.elapsed(),
            reason="tablebase",
        )

    def _in_book(self, position: Any) -> tuple[int, int] | None:
        """Return the value and a best move of a position, if the book knows both."""
        answer = None if self.book is None else self.book.answer(position)
        if answer is None or answer[0] != answer[1] or answer[2] is None:
            return None
        return answer[0], answer[2]

    def nodes(self) -> int:
        """Return the nodes of the search that runs, or of the last, by all threads."""
        return int(self.memory["nodes"]) + self.helpers.nodes()

    def fill(self) -> float:
        """Return the part of the table's entries that are in use."""
        return self.table.fill()

    def reset(self) -> None:
        """Count nodes from zero again, before a search begins."""
        self.memory["nodes"] = 0
        self.helpers.began = False

    def unlearn(self) -> None:
        """Forget what earlier searches learned of moves; the table keeps what it has."""
        super().unlearn()
        self.helpers.unlearn()

    def clear(self) -> None:
        """Forget what searches stored and learned: the next is as the first."""
        self.table.forget()
        self.unlearn()


def _by_book(result: SearchResult, value: int) -> SearchResult:
    """Return the result of a search of a book's move, with the value that the book knows.

    Where scores say how soon a game is won, a value does not say it: there the score stays.
    """
    if not result.decisive and result.lines:
        best = replace(result.lines[0], value=value)
        result = replace(result, value=value, proven=True, lines=(best,))
    return result if result.reason == "interrupted" else replace(result, reason="book")
